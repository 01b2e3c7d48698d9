"""`python -m armarl`: the same as the command `armarl`."""

import sys

from armarl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
