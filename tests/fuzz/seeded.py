"""Cases made from seeds: what every fuzzer here runs through, in the tests and from the shell.

A fuzzer is a function of a random generator that makes one input, checks it and raises where the
result is wrong.  Case number i of seed s draws from ``default_rng([s, i])`` alone, so that

    python tests/fuzz/arrays.py --seed S --first I --count 1

repeats it, whatever ran before.
"""

from __future__ import annotations

import argparse
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

Case = Callable[[np.random.Generator], None]

SEED = 2008


class CaseError(AssertionError):
    """A case that went wrong; the text says how to repeat it."""


def run(case: Case, script: str, count: int, seed: int = SEED, first: int = 0) -> None:
    """Run cases `first` ... of `seed`; the first wrong one is raised with its command."""
    for i in range(first, first + count):
        _one(case, script, seed, i)


def _one(case: Case, script: str, seed: int, i: int) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case(np.random.default_rng([seed, i]))
    except Exception as error:
        what = error if isinstance(error, AssertionError) else traceback.format_exc()
        raise CaseError(f"{_command(script, seed, i)}\n{what}") from error


def _command(script: str, seed: int, i: int) -> str:
    return f"python tests/fuzz/{Path(script).name} --seed {seed} --first {i} --count 1"


def main(case: Case, script: str) -> None:
    """The command line of a fuzzer: a child does the work, so that a crash has its number too."""
    parser = argparse.ArgumentParser(description="Run seeded random cases against the library.")
    parser.add_argument("--count", type=int, default=1000, help="how many cases")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here is not None:
        _work(case, script, options)
        return
    begun = time.perf_counter()
    with tempfile.NamedTemporaryFile() as at:
        at.write(struct.pack("q", -1))
        at.flush()
        code = subprocess.run(
            [sys.executable, script, *sys.argv[1:], "--here", at.name], check=False
        ).returncode
        (last,) = struct.unpack("q", Path(at.name).read_bytes())
    if code != 0:
        print(f"FAILED with exit code {code} at\n{_command(script, options.seed, last)}")
        sys.exit(1)
    seconds = time.perf_counter() - begun
    print(f"{Path(script).name}: {options.count} cases of seed {options.seed} in {seconds:.0f} s")


def _work(case: Case, script: str, options: argparse.Namespace) -> None:
    with options.here.open("r+b") as file, mmap.mmap(file.fileno(), 8) as at:
        for i in range(options.first, options.first + options.count):
            at[:] = struct.pack("q", i)
            try:
                _one(case, script, options.seed, i)
            except CaseError as error:
                print(error, flush=True)
                os._exit(1)  # before destructors change what is to be seen
