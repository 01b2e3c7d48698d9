#!/usr/bin/env bash
# Guess:     All of PettingZoo's classic games have the same mask for a seat that cannot act: all
#            zeros while the seat waits (as in tic-tac-toe) and after the end.
# Behaviour: A waiting seat gets zeros in tic-tac-toe, connect four and chess, but the mover's mask
#            in Leduc. After the end, connect four and chess still show legal moves for a game that
#            is over. The other two games show zeros.
# Version:   PettingZoo 1.27.0
# Seen:      tictactoe_v3      waiting: all zeros       after the end: zeros
#            connect_four_v3   waiting: all zeros       after the end: legal moves
#            chess_v6          waiting: all zeros       after the end: legal moves
#            leduc_holdem_v4   waiting: the mover's     after the end: zeros
# Matters:   Code that finds the mover by its non-empty mask works in three games and fails in
#            Leduc. Leduc's parallel form (turn_based_aec_to_parallel) does not name the first mover
#            either. After the end, a masked maximum over the next state is -inf in some games and a
#            number in others, and -inf times (1 - done) is NaN. Exclude waiting and finished seats
#            by `done` and agent_selection, not by the mask.
# Cost:      2 seconds of CPU after the installation; 95 MB installed.
set -eu
pins="pettingzoo==1.27.0 pygame-ce==2.5.8 rlcard==1.2.0 chess==1.11.2 numpy==2.4.6"
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
import importlib
import sys

import numpy as np

seen = {}
for name in ("tictactoe_v3", "connect_four_v3", "chess_v6", "leduc_holdem_v4"):
    env = importlib.import_module(f"pettingzoo.classic.{name}").raw_env()
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    mover = env.agent_selection
    waiting = next(a for a in env.agents if a != mover)
    masks = {a: env.observe(a)["action_mask"] for a in (mover, waiting)}
    wait = "all zeros" if not masks[waiting].any() else "other"
    if wait == "other" and (masks[waiting] == masks[mover]).all():
        wait = "the mover's"
    while not (all(env.terminations.values()) or all(env.truncations.values())):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    end = "legal moves" if any(env.observe(a)["action_mask"].any() for a in env.agents) else "zeros"
    seen[name] = (wait, end)
    print(f"{name:<17} waiting: {wait:<15} after the end: {end}")
expected = {
    "tictactoe_v3": ("all zeros", "zeros"),
    "connect_four_v3": ("all zeros", "legal moves"),
    "chess_v6": ("all zeros", "legal moves"),
    "leduc_holdem_v4": ("the mover's", "zeros"),
}
if seen != expected:
    sys.exit("Changed: the masks of seats that cannot act are no longer as described.")
EOF
