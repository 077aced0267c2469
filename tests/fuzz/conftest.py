"""The fuzzers are imported by their names, and run as scripts too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
