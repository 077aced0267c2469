"""Functions of the benchmarks: timing in turns, and a description of the machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph

EPS = 2.0**-52


def least_times(runs: int, *functions: Callable[[], Any]) -> list[float]:
    """Least time in seconds of each function over `runs` calls, the functions called in turn.

    The machines are shared: the least of many short windows is what the code can do, and taking
    turns puts every function into the same weather.
    """
    least = [float("inf")] * len(functions)
    for function in functions:
        function()
    for _ in range(runs):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            least[i] = min(least[i], time.perf_counter() - start)
    return least


def processor() -> str:
    """Name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """The data without which a measured figure is meaningless."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        **{k: str(v) for k, v in ph.build_info().items()},
    }
