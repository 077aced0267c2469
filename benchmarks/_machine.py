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


def no_commit() -> str:
    """Why the installed package is not known to be of the checkout in the current directory.

    The empty string if all Python files of the checkout are in the package byte for byte; what was
    compiled cannot be compared.
    """
    source, package = Path("python/polhode"), Path(ph.__file__).parent
    if not (source.is_dir() and Path("cpp/include/polhode").is_dir()):
        return "the current directory is not a checkout of polhode"
    for file in sorted(source.rglob("*.py")):
        name = file.relative_to(source)
        installed = package / name
        if not installed.is_file() or installed.read_bytes() != file.read_bytes():
            return f"the installed package is not that of the checkout: {name} differs"
    return ""


def commit() -> str | None:
    """The commit of the checkout in the current directory, or None: see `no_commit`."""
    if no_commit():
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
    """Mean number of programs that ran or waited in the last minute; None if not known."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """Processor, level, compiler, versions, commit, time and load."""
    info, version = ph.build_info(), platform.release().partition("-")[0]
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "level": info["isa"],
        "levels of this processor": _core.build["isa_supported"],
        "compiler": info["compiler"],
        "system": " ".join((platform.system(), version, platform.machine())),
        "python": platform.python_version(),
        "polhode": ph.__version__,
        "commit": commit(),
        **({"no commit": why} if (why := no_commit()) else {}),
        "versions": versions(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "load at the start": load(),
    }
