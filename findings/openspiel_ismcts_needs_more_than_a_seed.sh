#!/usr/bin/env bash
# Guess:     Two ISMCTSBots in C++ with equal seeds, with equally seeded rollouts, on one thread,
#            give the same visit counts for the same state, as two MCTSBots in C++ do.
# Behaviour: With the same seed in one process, ISMCTSBot in C++ gives different visit counts, and
#            sometimes another move. The maintainers fixed the same kind of error in the Python bot
#            in August 2026 (pull request 1584) and assumed that the C++ bot is correct.
# Version:   open-spiel 2.0.2
# Seen:      MCTSBot:   20 bots with seed 0 have 1 opinion
#            ISMCTSBot: 20 bots with seed 0 have 8 opinions, moves Counter({1: 16, 2: 4})   (numbers differ from run to run)
# Matters:   This bot is the usual baseline in games with hidden cards. A match against it cannot be
#            replayed from its seeds, and two policies measured on "the same" games did not meet the
#            same opponent. Record the moves, and widen confidence intervals accordingly.
# Cost:      1 second of CPU after the installation; 233 MB installed.
set -eu
pins="open-spiel==2.0.2 numpy==2.4.6"
python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fill() {
    if command -v uv >/dev/null; then
        uv venv -q --python "$python" "$dir" && uv pip install -q --python "$dir/bin/python" $pins
    else
        "$python" -m venv "$dir" && "$dir/bin/pip" install -q $pins
    fi
}
fill || { echo "Could not install $pins, so nothing was tried." >&2; exit 2; }
cd "$dir" && OMP_NUM_THREADS=1 bin/python -W ignore - <<'EOF'
import collections
import sys

import pyspiel

game = pyspiel.load_game("leduc_poker")
state = game.new_initial_state()
state.apply_action(1)
state.apply_action(3)


def opinion_of_mcts():
    rollouts = pyspiel.RandomRolloutEvaluator(1, 0)
    root = pyspiel.MCTSBot(game, rollouts, 2.0, 200, 100, False, 0, False).mcts_search(state)
    return tuple((child.action, child.explore_count) for child in root.children)


def opinion_of_ismcts():
    bot = pyspiel.ISMCTSBot(0, pyspiel.RandomRolloutEvaluator(1, 0), 2.0, 200)
    policy, action = bot.step_with_policy(state)
    return tuple(sorted(policy)), action


plain = {opinion_of_mcts() for _ in range(20)}
print("MCTSBot:   20 bots with seed 0 have", len(plain), "opinion")
hidden = [opinion_of_ismcts() for _ in range(20)]
moves = collections.Counter(action for _, action in hidden)
print("ISMCTSBot: 20 bots with seed 0 have", len({policy for policy, _ in hidden}), "opinions, moves", moves)
if len(plain) != 1:
    sys.exit("Changed: MCTSBot no longer follows from its seed.")
if len(set(hidden)) == 1:
    sys.exit("Changed: ISMCTSBot now follows from its seed.")
EOF
