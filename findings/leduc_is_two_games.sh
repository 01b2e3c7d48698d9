#!/usr/bin/env bash
# Guess:     Leduc poker is the standard small benchmark, so RLCard and OpenSpiel play the same
#            game, and you can compare exploitability or winnings across libraries.
# Behaviour: RLCard, and therefore PettingZoo's leduc_holdem, has blinds of 1 and 2 and a random
#            first player, and pays in big blinds. OpenSpiel has antes of 1 each, player 0 is always
#            first, and it pays in chips. The first player may fold immediately in RLCard, but not
#            in OpenSpiel.
# Version:   RLCard 1.2.0, OpenSpiel 2.0.2
# Seen:      RLCard:    pot [1, 2], first move call/fold/raise, largest win 7.0, first movers [0, 1]
#            OpenSpiel: pot [1, 1], first move call/raise, largest win 13.0, first movers [0]
# Matters:   The two games have different trees, equilibria and units. A value of 0.1 in one paper's
#            Leduc is therefore not 0.1 in another's, and a strategy from one game does not fit the
#            decisions of the other. State the version of Leduc and the unit.
# Cost:      1 second of CPU after the installation; 234 MB installed.
set -eu
pins="rlcard==1.2.0 open-spiel==2.0.2 numpy==2.4.6"
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
import random
import sys

import pyspiel
import rlcard

rng = random.Random(0)
env = rlcard.make("leduc-holdem", config={"seed": 0})
movers, wins = set(), []
for _ in range(300):
    state, mover = env.reset()
    pot, first = sorted(p.in_chips for p in env.game.players), "/".join(sorted(state["raw_legal_actions"]))
    movers.add(mover)
    while not env.is_over():
        state, _ = env.step(rng.choice(list(state["legal_actions"])))
    wins.append(max(env.get_payoffs()))
rlcard_game = (pot, first, float(max(wins)), sorted(movers))
print("RLCard:    pot {}, first move {}, largest win {}, first movers {}".format(*rlcard_game))

game = pyspiel.load_game("leduc_poker")
state = game.new_initial_state()
while state.is_chance_node():
    state.apply_action(state.legal_actions()[0])
money = state.observation_tensor(0)[-2:]  # what each player has put into the pot
first = "/".join(sorted(state.action_to_string(a).lower() for a in state.legal_actions()))
open_spiel = ([int(x) for x in money], first, game.max_utility(), [state.current_player()])
print("OpenSpiel: pot {}, first move {}, largest win {}, first movers {}".format(*open_spiel))
if rlcard_game != ([1, 2], "call/fold/raise", 7.0, [0, 1]):
    sys.exit("Changed: RLCard no longer plays Leduc with blinds, in big blinds.")
if open_spiel != ([1, 1], "call/raise", 13.0, [0]):
    sys.exit("Changed: OpenSpiel no longer plays Leduc with antes, in chips.")
EOF
