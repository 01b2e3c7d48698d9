#!/usr/bin/env bash
# Guess:     Take Shimmy's PettingZoo form of an OpenSpiel game, and play it in the AEC loop of
#            PettingZoo's documentation. The rewards that last() returns for a seat add up to the
#            seat's returns() in OpenSpiel.
# Behaviour: The seat that makes its last (empty) step second is paid twice. A game of tic-tac-toe
#            with returns of 1 and -1 in OpenSpiel gives 1 and -2 in the loop, or -1 and 2 if the
#            second player wins.
# Version:   Shimmy 2.0.1, PettingZoo 1.27.0, OpenSpiel 2.0.2
# Seen:      first player wins:  loop {'player_0': 1.0, 'player_1': -2.0}, OpenSpiel [1.0, -1.0]
#            second player wins: loop {'player_0': -1.0, 'player_1': 2.0}, OpenSpiel [-1.0, 1.0]
# Matters:   Zero-sum games are no longer zero-sum: the second seat wins and loses double, so its
#            values, its advantages and a league table by reward are wrong. There is no error. Take
#            rewards from env.game_state.returns() when the game is over.
# Cost:      1 second of CPU after the installation; 238 MB installed.
set -eu
pins="shimmy==2.0.1 pettingzoo==1.27.0 open-spiel==2.0.2 numpy==2.4.6"
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

from shimmy import OpenSpielCompatibilityV0

seen = []
for name, moves in (("first player wins:  ", [0, 3, 1, 4, 2]), ("second player wins: ", [0, 3, 1, 4, 8, 5])):
    env = OpenSpielCompatibilityV0(game_name="tic_tac_toe")
    env.reset(seed=0)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    left = iter(moves)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        totals[agent] += reward
        env.step(None if terminated or truncated else next(left))
    returns = env.game_state.returns()
    print(f"{name}loop {totals}, OpenSpiel {returns}")
    seen.append((list(totals.values()), returns))
if seen != [([1.0, -2.0], [1.0, -1.0]), ([-1.0, 2.0], [-1.0, 1.0])]:
    sys.exit("Changed: the second seat is no longer paid twice.")
EOF
