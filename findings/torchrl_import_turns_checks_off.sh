#!/usr/bin/env bash
# Guess:     An import of a library changes nothing for code that does not use the library.
#            torch.distributions.Categorical always refuses logits that define no probabilities,
#            such as those of an empty mask.
# Behaviour: `import torchrl.modules` switches off the validation of arguments for every
#            distribution of PyTorch in the process. A line that raises ValueError before the import
#            returns NaN probabilities after the import.
# Version:   TorchRL 0.14.1, PyTorch 2.13.0
# Seen:      before the import: ValueError
#            after the import:  [nan, nan, nan, nan]
# Matters:   The check finds a seat without a legal move, or logits that became NaN, at the step
#            where this happens. A script that mixes its own masked policy with one class of TorchRL
#            loses the check, depending on the order of imports. Pass validate_args=True, or call
#            Distribution.set_default_validate_args(True) after the imports.
# Cost:      6 seconds of CPU after the installation; 823 MB installed with PyTorch for the CPU.
set -eu
pins="torchrl==0.14.1 torch==2.13.0 numpy==2.4.6"
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


def empty_mask():
    try:
        policy = torch.distributions.Categorical(logits=torch.full((4,), -torch.inf))
    except ValueError:
        return "ValueError"
    return policy.probs.tolist()


before = empty_mask()
import torchrl.modules  # noqa: E402, F401

after = empty_mask()
print("before the import:", before)
print("after the import: ", after)
if before != "ValueError":
    sys.exit("Changed: PyTorch alone no longer refuses logits without a probability.")
if after == "ValueError":
    sys.exit("Changed: importing torchrl.modules no longer turns the checks off.")
EOF
