"""The command line: ``python -m polhode``."""

import sys

from polhode._cli import main

if __name__ == "__main__":
    sys.exit(main())
