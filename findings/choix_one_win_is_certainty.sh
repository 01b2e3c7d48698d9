#!/usr/bin/env bash
# Guess:     A maximum-likelihood rating of a player that never lost does not exist. Every solver of
#            the library therefore refuses such data, or warns, unless you give it a prior (alpha).
# Behaviour: The solvers ilsr_pairwise and rank_centrality refuse. opt_pairwise returns finite
#            strengths without a warning: the point where its optimiser happened to stop. After a
#            single game the winner is 77,000 times as strong as the loser.
# Version:   choix 0.4.1, SciPy 1.17.1
# Seen:      1 to 0: refused by ['ilsr_pairwise', 'rank_centrality'], opt_pairwise says odds of 76979 to 1
#            10 to 0: refused by ['ilsr_pairwise', 'rank_centrality'], opt_pairwise says odds of 622326 to 1
#            1 to 0: with alpha=0.1 opt_pairwise says odds of 5.1 to 1
# Matters:   In self-play the newest policy often beats an old policy in every game. Its rating is
#            then an artefact of the optimiser's tolerance, and it distorts the rating of every
#            player that met this policy. Always give a prior.
# Cost:      2 seconds of CPU after the installation; 241 MB installed.
set -eu
pins="choix==0.4.1 numpy==2.4.6 scipy==1.17.1"
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

import choix
import numpy as np


def refuses(solver, games):
    try:
        solver(2, games)
    except ValueError:
        return True
    return False


odds = {}
for wins in (1, 10):
    games = [(0, 1)] * wins
    refusing = [s.__name__ for s in (choix.ilsr_pairwise, choix.rank_centrality) if refuses(s, games)]
    strengths = choix.opt_pairwise(2, games)
    odds[wins] = float(np.exp(strengths[0] - strengths[1]))
    print(f"{wins} to 0: refused by {refusing}, opt_pairwise says odds of {odds[wins]:.0f} to 1")
    if len(refusing) != 2:
        sys.exit("Changed: a spectral solver no longer refuses data without a loss.")
strengths = choix.opt_pairwise(2, [(0, 1)], alpha=0.1)
print(f"1 to 0: with alpha=0.1 opt_pairwise says odds of {np.exp(strengths[0] - strengths[1]):.1f} to 1")
if not all(1_000 < x < np.inf for x in odds.values()):
    sys.exit("Changed: opt_pairwise no longer gives an unbeaten player a huge finite strength.")
EOF
