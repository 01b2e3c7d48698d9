#!/usr/bin/env bash
# Guess:     If a seat moves illegally in Pgx, this seat loses and the game ends. The rewards still
#            sum to zero, as in every game that ends by the rules.
# Behaviour: The mover gets -1, and each other player gets a reward of 1 for each of its opponents.
#            With two players the rewards are -1 and 1. In sparrow mahjong, with three players, they
#            are -1, 2 and 2: their sum is 3.
# Version:   Pgx 2.6.0, JAX 0.10.2
# Seen:      tic_tac_toe: [-1.0, 1.0], sum 0.0
#            sparrow_mahjong: [-1.0, 2.0, 2.0], sum 3.0
# Matters:   With masks, this never happens. Without masks (a debug run, an opponent pool, a human),
#            one illegal move pays the other players more than most won games (the highest reward in
#            20 random games was 0.77). A shared network learns that others' mistakes pay best.
#            Zero-sum checks, and value targets scaled to legal rewards, break.
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
