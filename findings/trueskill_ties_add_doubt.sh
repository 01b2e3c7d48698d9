#!/usr/bin/env bash
# Guess:     A game is information, so it never makes a rating less certain than before, apart from
#            tau (0.083), which adds a little uncertainty before each game. For a game that seems to
#            have no ties, draw_probability=0 is the right setting.
# Behaviour: With draw_probability=0 a tie is accepted without a warning, and each tie makes sigma
#            larger, without end. Players who tied do not even get the same sigma: it depends on
#            their place in the list. With 0.001, ties make sigma smaller, equally for all players.
# Version:   trueskill 0.4.5
# Seen:      draw_probability=0: sigma of three players after each tie
#            [8.33, 8.33, 8.33] [9.32, 10.7, 9.32] [10.13, 13.51, 10.13] [10.74, 16.8, 10.74]
#            draw_probability=0.001: sigma of three players after each tie
#            [8.33, 8.33, 8.33] [5.69, 5.69, 5.69] [4.28, 4.28, 4.28] [3.47, 3.47, 3.47]
# Matters:   Games between three or four policies often end with equal scores, most often for the
#            last places. One wrong setting then undoes the information of the earlier games, and
#            matchmaking by sigma chooses the same policies again.
# Cost:      1 second of CPU after the installation; 1 MB installed.
set -eu
pins="trueskill==0.4.5"
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

import trueskill


def sigmas_after_ties(draw_probability):
    env = trueskill.TrueSkill(draw_probability=draw_probability)
    ratings = [(env.create_rating(),) for _ in range(3)]
    rows = [[round(team[0].sigma, 2) for team in ratings]]
    for _ in range(3):
        ratings = env.rate(ratings, ranks=[0, 0, 0])
        rows.append([round(team[0].sigma, 2) for team in ratings])
    print(f"draw_probability={draw_probability}: sigma of three players after each tie")
    print(*rows)
    return rows


never, rarely = sigmas_after_ties(0), sigmas_after_ties(0.001)
if not all(b[1] > a[1] for a, b in zip(never, never[1:])):
    sys.exit("Changed: with draw_probability=0 ties no longer raise sigma.")
if not all(b[1] < a[1] for a, b in zip(rarely, rarely[1:])):
    sys.exit("Changed: with draw_probability=0.001 ties no longer lower sigma.")
EOF
