#!/usr/bin/env bash
# Guess:     Sampling an action under a mask that allows no action fails, or gives NaN, because
#            there is nothing to sample.
# Behaviour: sb3-contrib's MaskableCategorical samples uniformly from all actions, whatever the
#            network prefers, and reports an entropy of 0. JAX's categorical with all logits at
#            minus infinity always returns action 0. Neither gives a warning.
# Version:   sb3-contrib 2.9.2, PyTorch 2.13.0, JAX 0.10.2
# Seen:      sb3-contrib: probabilities [0.25, 0.25, 0.25, 0.25], entropy 0.0
#            JAX: actions of 100 keys [0]
# Matters:   A waiting or finished seat has an empty mask in many environments. An off-by-one in a
#            self-play loop then plays illegal moves. These moves look like exploration
#            (sb3-contrib) or like a policy that prefers action 0 (JAX). Assert that each row of a
#            mask has a legal action.
# Cost:      6 seconds of CPU after the installation; 1500 MB installed with PyTorch for the CPU.
set -eu
pins="sb3-contrib==2.9.2 stable-baselines3==2.9.2 torch==2.13.0 jax==0.10.2 numpy==2.4.6"
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

import jax
import jax.numpy as jnp
import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableCategorical

policy = MaskableCategorical(logits=torch.tensor([[5.0, 0.0, 0.0, 0.0]]))
policy.apply_masking(np.zeros((1, 4), dtype=bool))
probabilities, entropy = policy.probs[0].tolist(), abs(policy.entropy().item())
print(f"sb3-contrib: probabilities {probabilities}, entropy {entropy}")

logits = jnp.where(jnp.zeros(4, dtype=bool), jnp.array([0.0, 0.0, 0.0, 5.0]), -jnp.inf)
keys = jax.random.split(jax.random.key(0), 100)
actions = sorted(set(jax.vmap(jax.random.categorical, (0, None))(keys, logits).tolist()))
print("JAX: actions of 100 keys", actions)
if probabilities != [0.25] * 4 or entropy != 0:
    sys.exit("Changed: sb3-contrib no longer turns an empty mask into a uniform choice of entropy 0.")
if actions != [0]:
    sys.exit("Changed: JAX no longer plays action 0 under an empty mask.")
EOF
