"""The cost of polhode.hpp in a C++ program, linked and header-only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import Row, Run, case

SOURCE = Path(__file__).with_name("_embedding.cpp")
#: Processors for which the header-only program is compiled.
TARGETS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")


def _flags(*asked: str) -> list[str]:
    """The output of `python -m polhode`."""
    run = [sys.executable, "-m", "polhode", *asked]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()


def _ways() -> Iterator[tuple[str, list[str]]]:
    yield "linked", ["-std=c++20", "-O2", *_flags("--includes", "--libs")]
    for target in TARGETS:
        yield f"header-only, {target}", [f"-march={target}", *_flags("--cflags")]


@case(
    "embedding",
    "polhode.hpp in a C++ program, linked with libpolhode or header-only",
    units={
        "compile": "s, wall time of the compiler for the whole program",
        "one_body": "ns, polhode::step of one body",
        "1000_bodies": "ns per body, polhode::step of spans, moments of inertia of each body",
        "heavy_top": "ns per step, integrate by strang with a lambda as torque, one body",
        "motion": "ns, TorqueFreeMotion of one body at one time",
    },
)
def embedding(run: Run) -> Iterator[Row]:
    """The least of 20 windows of 10,000 steps or more; the compiler is that of CXX, or c++."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if not compiler:
        yield Row({"way": "linked"}, note="no C++ compiler")
        return
    for way, flags in _ways():
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            begun = time.perf_counter()
            built = subprocess.run(
                [compiler, SOURCE, *flags, "-o", program],
                capture_output=True,
                text=True,
                check=False,
            )
            seconds = time.perf_counter() - begun
            if built.returncode:
                yield Row({"way": way}, note=f"not compiled: {built.stderr.strip()[-200:]}")
                continue
            ran = subprocess.run(
                [program, "2" if run.quick else "20"], capture_output=True, text=True, check=False
            )
            if ran.returncode:
                yield Row({"way": way}, note="not for this processor")
                continue
            times = {name: float(x) for name, x in re.findall(r"(\w+) ([\d.]+)", ran.stdout)}
            yield Row({"way": way}, values={"compile": round(seconds, 1), **times})
            if run.quick:
                return
