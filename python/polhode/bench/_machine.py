"""The data without which a measured figure is meaningless."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import polhode as ph
from polhode import _core

#: Packages whose versions are recorded where they are installed; the modules of rivals add theirs.
PACKAGES = ["numpy", "scipy", "mpmath", "numba", "matplotlib"]


def processor() -> str:
    """Name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of the checkout in the current directory, or None if it is none of polhode."""
    if not Path("cpp/include/polhode").is_dir():
        return None
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def versions() -> dict[str, str]:
    """Versions of the packages that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def load() -> float | None:
    """Mean number of programs that ran or waited in the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """Processor, level, compiler, versions, commit, time and load."""
    info = ph.build_info()
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "level": info["isa"],
        "levels of this build": _core.build["isa_supported"],
        "compiler": info["compiler"],
        "system": platform.platform(),
        "python": platform.python_version(),
        "polhode": ph.__version__,
        "commit": commit(),
        "versions": versions(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "load at the start": load(),
    }
