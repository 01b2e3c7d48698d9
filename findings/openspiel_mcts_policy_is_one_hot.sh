#!/usr/bin/env bash
# Guess:     step_with_policy of MCTSBot returns the search's policy: the visit counts as
#            probabilities. ISMCTSBot returns visit counts, and the two bots share an interface.
# Behaviour: MCTSBot gives the chosen action probability 1 and all other actions 0 (in C++ it lists
#            only the chosen action), however close the second-best move is. ISMCTSBot in its
#            default mode gives visit counts.
# Version:   open-spiel 2.0.2
# Seen:      MCTSBot:     [(0, 0.0), (1, 0.0), (2, 1.0), (3, 0.0), (5, 0.0), (6, 0.0), (7, 0.0), (8, 0.0)]
#            C++ MCTSBot: [(2, 1.0)]
#            ISMCTSBot:   [(0, 0.56), (1, 0.44)]   (these counts differ from run to run)
# Matters:   A learner that imitates these policies (distillation, expert iteration) fits single moves
#            instead of the search's preferences, without any error. To get the counts of MCTSBot,
#            call mcts_search(state) and read each child.
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
import sys

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts

game = pyspiel.load_game("tic_tac_toe")
state = game.new_initial_state()
state.apply_action(4)
rng = np.random.RandomState(0)
rollouts = mcts.RandomRolloutEvaluator(1, rng)
policy, _ = mcts.MCTSBot(game, 2, 200, rollouts, random_state=rng, solve=False).step_with_policy(state)
print("MCTSBot:    ", policy)
rollouts = pyspiel.RandomRolloutEvaluator(1, 0)
cpp_policy, _ = pyspiel.MCTSBot(game, rollouts, 2.0, 200, 100, False, 0, False).step_with_policy(state)
print("C++ MCTSBot:", cpp_policy)

state = pyspiel.load_game("kuhn_poker").new_initial_state()
state.apply_action(1)
state.apply_action(0)
kind = pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT
bot = pyspiel.ISMCTSBot(0, rollouts, 2.0, 200, -1, kind, False, False)
is_policy = sorted(bot.step_with_policy(state)[0])
print("ISMCTSBot:  ", [(a, round(p, 2)) for a, p in is_policy])
if {p for _, p in policy} != {0.0, 1.0} or [p for _, p in cpp_policy] != [1.0]:
    sys.exit("Changed: MCTSBot no longer puts all probability on the chosen action.")
if any(p in (0.0, 1.0) for _, p in is_policy):
    sys.exit("Changed: ISMCTSBot no longer returns visit counts.")
EOF
