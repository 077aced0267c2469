"""The helper modules of the tests (reference, states, tolerances) are imported by their names."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
