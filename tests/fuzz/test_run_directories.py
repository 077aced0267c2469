"""A few dozen damaged run directories; `run_directories.py` goes on with as many as wanted."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import run_directories


def test_damage_is_told_or_does_nothing(tmp_path: Path) -> None:
    assert list(run_directories.faults(70, 1, tmp_path)) == []
