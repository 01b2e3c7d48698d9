#!/usr/bin/env bash
# Guess:     When a seat moves illegally in Pgx, the game ends with its loss, and the rewards still
#            sum to zero, as they do in every game that ends by the rules.
# Behaviour: The mover gets -1 and each of the others gets 1 for every opponent it has. With two
#            players that is -1 and 1. In sparrow mahjong, with three, it is -1, 2, 2: the table
#            gains 3.
# Version:   Pgx 2.6.0, JAX 0.10.2
# Seen:      tic_tac_toe: [-1.0, 1.0], sum 0.0
#            sparrow_mahjong: [-1.0, 2.0, 2.0], sum 3.0
# Matters:   While masks are on, nothing shows. Where they are not (a debug run, an opponent pool, a
#            human), one illegal move pays the others more than most won games do (0.77 was the most
#            in 20 random games), a shared network learns that others' mistakes are the best prize,
#            and zero-sum checks or value targets scaled to legal rewards break.
# Cost:      10 seconds of CPU after the installation; 531 MB installed.
set -eu
pins="pgx==2.6.0 jax==0.10.2 numpy==2.4.6"
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
import pgx

key = jax.random.key(0)
sums = {}
for name in ("tic_tac_toe", "sparrow_mahjong"):
    env = pgx.make(name)
    step = jax.jit(env.step)
    state = jax.jit(env.init)(key)
    while state.legal_action_mask.all():
        state = step(state, 0, key)
    rewards = sorted(step(state, int(jnp.argmin(state.legal_action_mask)), key).rewards.tolist())
    sums[name] = sum(rewards)
    print(f"{name}: {rewards}, sum {sums[name]}")
if sums != {"tic_tac_toe": 0.0, "sparrow_mahjong": 3.0}:
    sys.exit("Changed: an illegal move of one of three players no longer makes the rewards sum to 3.")
EOF
