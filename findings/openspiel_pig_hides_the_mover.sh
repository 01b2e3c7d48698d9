#!/usr/bin/env bash
# Guess:     In a game of perfect information observation_tensor() is different for any two states
#            with different values. At least it shows whose turn it is, or shows the board from the
#            side of the given player.
# Behaviour: In pig both players get the same tensor, the scores are in a fixed order, and nothing
#            shows who moves. Two states with equal tensors and equal legal actions have opposite
#            values: after `stop` the mover leads by 96 points in the first state and trails by 84
#            in the second, with 100 to win.
# Version:   open-spiel 2.0.2
# Seen:      scores 90-0, turn total 6, player 0 to move: after stop it is 96 ahead
#            scores 90-0, turn total 6, player 1 to move: after stop it is -84 ahead
#            same tensor: True, same legal actions: True, same text: False
# Matters:   A network trained by self-play on this tensor, as the library's own agents do, cannot
#            play the game, because both seats have the same input. In an experiment with random
#            play, both seats always got equal tensors in 25 of 34 games of perfect information. In
#            most of these games something else shows the mover. Check the tensor before training.
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

import pyspiel

ROLL, STOP, SIX = 0, 1, 5


def play(*moves):
    state = pyspiel.load_game("pig").new_initial_state()
    for move in moves:
        state.apply_action(move)
    return state


ninety = [ROLL, SIX] * 15
states = [play(*ninety, STOP, STOP, ROLL, SIX), play(*ninety, STOP, ROLL, SIX)]
leads = []
for mover, state in enumerate(states):
    after = str(state.child(STOP)).split(",")[0].split()[1:]
    leads.append(int(after[mover]) - int(after[1 - mover]))
    text = f"player {state.current_player()} to move: after stop it is {leads[-1]} ahead"
    print(f"scores 90-0, turn total 6, {text}")
tensors = [s.observation_tensor(s.current_player()) for s in states]
same = tensors[0] == tensors[1]
same_actions = states[0].legal_actions() == states[1].legal_actions()
same_text = str(states[0]) == str(states[1])
print(f"same tensor: {same}, same legal actions: {same_actions}, same text: {same_text}")
if [s.current_player() for s in states] != [0, 1] or leads != [96, -84] or not same_actions:
    sys.exit("Changed: the two states of pig are no longer what this finding describes.")
if not same:
    sys.exit("Changed: the tensor of pig now tells who moves.")
EOF
