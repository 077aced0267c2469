"""The command ``python -m benchmarks.papers``."""

import sys

from benchmarks.papers import main

sys.exit(main())
