#!/usr/bin/env bash
# Guess:     MedianPruner compares a trial's current value with the median of the values of other
#            trials at the same step. A run whose win rate falls to zero is pruned.
# Behaviour: MedianPruner compares the best value that the trial has ever reported. One good early
#            value keeps the trial alive for ever. A run that is better now, but never had a lucky
#            start, is pruned.
# Version:   Optuna 5.0.0
# Seen:      three trials before: [0.5, 0.5, 0.5, 0.5]
#            collapsed [0.6, 0.0, 0.0, 0.0]: pruned [False, False, False, False]
#            steady    [0.4, 0.4, 0.45, 0.45]: pruned [True, True, True, True]
# Matters:   In self-play a value is measured against opponents that change, and a win rate against
#            early, weak opponents is high. Early values are then the best values, and the pruner
#            judges a run by its past. Report a rating against fixed opponents, or use
#            PatientPruner(None, patience=1), which prunes the collapsed run.
# Cost:      1 second of CPU after the installation; 84 MB installed.
set -eu
pins="optuna==5.0.0"
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

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
pruner = optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=0)
study = optuna.create_study(direction="maximize", pruner=pruner)


def run(values):
    trial = study.ask()
    pruned = []
    for step, value in enumerate(values):
        trial.report(value, step)
        pruned.append(bool(trial.should_prune()))
    return trial, pruned


before = [0.5, 0.5, 0.5, 0.5]
for _ in range(3):
    study.tell(run(before)[0], before[-1])
print("three trials before:", before)
collapsed, steady = [0.6, 0.0, 0.0, 0.0], [0.4, 0.4, 0.45, 0.45]
kept = run(collapsed)[1]
print(f"collapsed {collapsed}: pruned {kept}")
cut = run(steady)[1]
print(f"steady    {steady}: pruned {cut}")
if any(kept):
    sys.exit("Changed: MedianPruner now prunes a trial that collapsed after one good value.")
if not all(cut):
    sys.exit("Changed: MedianPruner no longer prunes a steady trial below the median.")
EOF
