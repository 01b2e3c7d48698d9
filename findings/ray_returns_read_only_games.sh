#!/usr/bin/env bash
# Guess:     A vector environment that can be pickled also works after a trip through Ray.
# Behaviour: Ray stores the environment's arrays outside the pickle, in shared memory, and returns
#            them read-only. SyncVectorEnv writes into its arrays, so neither step nor reset works.
# Version:   Ray 2.60.0, Gymnasium 1.4.0, NumPy 2.4.6
# Seen:      pickle: step returns observations of shape (2, 4)
#            Ray: step raises ValueError: assignment destination is read-only
#            Ray: reset raises ValueError: assignment destination is read-only
# Matters:   Code that keeps half-played games in Ray's object store, or returns them from a task,
#            fails at the first step, far from the cause. Give the class a __setstate__ that copies
#            arrays that cannot be written to, or send the games as bytes of an ordinary pickle.
# Cost:      5 seconds of CPU after the installation; 362 MB installed.
set -eu
pins="ray==2.60.0 gymnasium==1.4.0 numpy==2.4.6"
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
import functools
import pickle
import sys

import gymnasium
import numpy as np
import ray
from gymnasium.vector import SyncVectorEnv

games = SyncVectorEnv([functools.partial(gymnasium.make, "CartPole-v1")] * 2)
games.reset(seed=1)
copy = pickle.loads(pickle.dumps(games))
shape = copy.step(np.array([0, 1]))[0].shape
print(f"pickle: step returns observations of shape {shape}")

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
copy = ray.get(ray.put(games))
seen = []
for name, call in (
    ("step", lambda: copy.step(np.array([0, 1]))),
    ("reset", lambda: copy.reset(seed=3)),
):
    try:
        call()
    except ValueError as error:
        print(f"Ray: {name} raises ValueError: {error}")
        seen.append("read-only" in str(error))
    else:
        print(f"Ray: {name} works")
        seen.append(False)
ray.shutdown()
if seen != [True, True]:
    sys.exit("Changed: a vector environment works after a trip through Ray.")
EOF
