"""Run the command line: `python -m armarl` does the same as the command `armarl`."""

import runpy

if __name__ == "__main__":
    # `runpy` avoids an import: every module imports this package, so this package must not import
    # the command line, which is a higher layer (`scripts/checks/check_layers.py`).
    runpy.run_module("armarl.cli", run_name="__main__", alter_sys=True)
