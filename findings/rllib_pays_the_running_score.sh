#!/usr/bin/env bash
# Guess:     RLlib's OpenSpielEnv gives the rewards of each step, and their sum is the game's
#            returns().
# Behaviour: The reward of each step is returns(), the score so far. If a game gives points before
#            the end, each point is paid again at every later step. In most games the score is zero
#            until the end, so the error does not show.
# Version:   Ray 2.60.0, OpenSpiel 2.0.2
# Seen:      leduc_poker: rewards add up to [11.0, -11.0], returns [11.0, -11.0]
#            repeated_leduc_poker: rewards add up to [99.0, -88.0], returns [11.0, -11.0]
# Matters:   An agent is paid for early points and for long games, so it learns to score soon and
#            then to delay the end. In a game of several hands the sums are not even zero-sum. Write
#            a wrapper that subtracts the returns of the step before.
# Cost:      8 seconds of CPU after the installation; 676 MB installed.
set -eu
pins="ray[rllib]==2.60.0 open-spiel==2.0.2 numpy==2.4.6"
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
import logging
import random
import sys

import numpy as np
import pyspiel

logging.disable(logging.WARNING)
from ray.rllib.env.wrappers.open_spiel import OpenSpielEnv  # noqa: E402

seen = {}
for name in ("leduc_poker", "repeated_leduc_poker"):
    np.random.seed(0)  # the environment deals with NumPy's global generator
    rng = random.Random(0)
    env = OpenSpielEnv(pyspiel.load_game(name))
    env.reset()
    totals, over = [0.0, 0.0], False
    while not over:
        action = rng.choice(env.state.legal_actions())
        _, rewards, terminateds, _, _ = env.step({env.state.current_player(): action})
        totals = [a + b for a, b in zip(totals, rewards.values())]
        over = terminateds["__all__"]
    seen[name] = totals == env.state.returns()
    print(f"{name}: rewards add up to {totals}, returns {env.state.returns()}")
if seen != {"leduc_poker": True, "repeated_leduc_poker": False}:
    sys.exit("Changed: the rewards of a game that scores on the way now add up to its returns.")
EOF
