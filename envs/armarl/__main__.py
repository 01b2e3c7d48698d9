"""Run the command line: `python -m armarl` does the same as the command `armarl`."""

import runpy

if __name__ == "__main__":
    # An import of the command line would put this folder, which everybody imports, above it.
    runpy.run_module("armarl.cli", run_name="__main__", alter_sys=True)
