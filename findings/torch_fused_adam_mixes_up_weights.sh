#!/usr/bin/env bash
# Guess:     `Adam(fused=True)` on a CPU takes the same steps as `Adam` in any memory order of the
#            tensors: torch's operations respect strides, or raise an error if they cannot.
# Behaviour: The fused step reads weight, gradient and moments as flat memory. If the gradient's order
#            differs from the weight's, each weight is updated by the gradient of another weight. No
#            error is raised, and the loss may still fall.
# Version:   torch 2.13.0 (CPU), NumPy 2.4.6
# Seen:      orders alike:   fused is off by 0.000
#            orders differ:  fused is off by 0.529
# Matters:   Engines that update the first layer from move to move (such as NNUE) store the weights
#            of an input together, so this layer is transposed in memory. `backward` writes
#            gradients in the weight's order. A gradient that is computed by hand, or taken from
#            `torch.autograd.grad`, may have the other order. Copy it into the weight's order first:
#            `torch.empty_like(weight).copy_(gradient)`.
# Cost:      3 seconds of CPU after the installation; about 900 MB installed with PyTorch for the CPU.
set -eu
pins="torch==2.13.0 numpy==2.4.6"
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

import torch


def trained(fused, alike):
    """Take three steps with a weight that is stored by input, and return it."""
    weight = torch.ones(5, 7).t().contiguous().t().requires_grad_()
    optimiser = torch.optim.Adam([weight], lr=0.1, fused=fused)
    for step in range(3):
        gradient = torch.randn(5, 7, generator=torch.Generator().manual_seed(step))
        weight.grad = gradient.t().contiguous().t() if alike else gradient
        optimiser.step()
    return weight.detach()


seen = []
for alike, name in ((True, "orders alike:"), (False, "orders differ:")):
    apart = (trained(True, alike) - trained(False, alike)).abs().max().item()
    seen.append(apart)
    print(f"{name:<15} fused is off by {apart:.3f}")
if not (seen[0] < 1e-6 and seen[1] > 0.1):
    sys.exit("Changed: the fused step of Adam copes with gradients in another memory order.")
EOF
