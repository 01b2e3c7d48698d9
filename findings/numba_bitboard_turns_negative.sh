#!/usr/bin/env bash
# Guess:     In a compiled function a uint64 bitboard stays uint64 if it is combined with a small
#            constant, as in NumPy 2: `board & (board - 1)` removes the lowest piece, and `>> 63`
#            reads the last square as 0 or 1.
# Behaviour: In Numba, `+`, `-` and `|` of a uint64 and a constant give an int64. A board with a
#            piece on square 63 becomes negative, and the last square reads -1. NumPy, and the same
#            function without the compiler, read 1. `board & -board` keeps its type, so some of the
#            usual bit tricks still work.
# Version:   Numba 0.68.1, NumPy 2.4.6
# Seen:      drop the lowest piece:            NumPy 9223372036854775808  Numba -9223372036854775808
#            is a piece left on square 63:     NumPy 1  Numba -1
#            lowest piece of square 63 alone:  NumPy 9223372036854775808  Numba 9223372036854775808
# Matters:   Square 63 is a corner of every 8x8 board. With a piece there, a feature plane contains
#            -1, `if bit == 1` misses the piece, and -1 as an index reads the last entry of a table.
#            The error needs a piece on this one square, so few tests find it. Write np.uint64(1)
#            for every constant, and test a board with all 64 bits set.
# Cost:      2 seconds of CPU after the installation; 246 MB installed.
set -eu
pins="numba==0.68.1 numpy==2.4.6"
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

import numba
import numpy as np


def drop_lowest(board):
    return board & (board - 1)


def last_square(board):
    return (board & (board - 1)) >> 63


def lowest(board):
    return board & -board


corner = np.uint64(1) << np.uint64(63)
seen = []
for name, rule, board in (
    ("drop the lowest piece:", drop_lowest, corner | np.uint64(2)),
    ("is a piece left on square 63:", last_square, corner | np.uint64(2)),
    ("lowest piece of square 63 alone:", lowest, corner),
):
    plain, compiled = int(rule(board)), int(numba.njit(rule)(board))
    seen.append((plain, compiled))
    print(f"{name:<33} NumPy {plain}  Numba {compiled}")
if seen != [(2**63, -(2**63)), (1, -1), (2**63, 2**63)]:
    sys.exit("Changed: Numba no longer makes a uint64 board signed when it meets a constant.")
EOF
