"""Time two installations of polhode against each other, such as two commits.

`python benchmarks/compare_commits.py OLD_PYTHON NEW_PYTHON` takes the interpreters of two virtual
environments.  Each runs in a process of its own; windows alternate between the two, and a window is
the thread's CPU time of one call.  Prints ns per body and step (minimum of the windows), the ratio
new / old of the minima, the quartiles of the ratios of neighbouring windows, and how many numbers
of the results differ in a bit.  POLHODE_ISA chooses the level of both, where they have several.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

INERTIA = np.array([1.0, 1.7, 2.3])  # a list is converted in each call
STEPS = (0.2, 1.0, 5.0)


def states(bodies):
    rng = np.random.default_rng(1)
    m, q = rng.normal(size=(bodies, 3)), rng.normal(size=(bodies, 4))
    return m / np.linalg.norm(m, axis=1)[:, None], q / np.linalg.norm(q, axis=1)[:, None]


def cases(ph, bodies):
    """Name, number of steps times bodies of a call, and the call, which returns (m, q)."""
    m, q = states(bodies)
    columns = [np.ascontiguousarray(x.T).T for x in (m, q)]
    out = np.empty_like(m), np.empty_like(q)
    for method in ("exact", "rotations231", "dmv8", "frb"):
        for h in STEPS if method == "exact" else (0.2,):
            yield (
                f"{method}, h = {h}",
                bodies,
                lambda h=h, method=method: ph.step(INERTIA, m, q, h, method=method, out=out),
            )
    yield "exact, columns, h = 0.2", bodies, lambda: ph.step(INERTIA, *columns, 0.2)
    matrices = ph.so3.to_matrix(q)
    out9 = np.empty_like(m), np.empty_like(matrices)
    for h in STEPS:
        yield (
            f"exact, matrices, h = {h}",
            bodies,
            lambda h=h: ph.step(INERTIA, m, matrices, h, out=out9),
        )
    moments, steps = np.tile(INERTIA, (bodies, 1)), np.full(bodies, 0.2)
    yield (
        "exact, own moments and steps",
        bodies,
        lambda: ph.step(moments, m, q, steps, out=out),
    )
    yield (
        "exact, 10 steps, h = 0.2",
        10 * bodies,
        lambda: ph.step(INERTIA, m, q, 0.2, n_steps=10, out=out),
    )
    few = [x[:1] for x in (m, q)]
    yield "exact, one body, h = 0.2", 1, lambda: ph.step(INERTIA, *few, 0.2)
    top = ph.torques.HeavyTop([0.0, 0.0, 0.5])
    some = [x[: min(bodies, 4096)] for x in (m, q)]
    for splitting, n, every, start in (
        ("strang", 50, 50, some),
        ("rkn6_14", 10, 10, some),
        ("strang", 50, 1, some),
        ("strang", 1, 1, (m, q)),  # with 50 steps: the cost of a call
        ("strang", 2000, 2000, few),
    ):

        def run(splitting=splitting, n=n, every=every, start=start):
            options = {"splitting": splitting, "save_every": every}
            t = ph.integrate(INERTIA, *start, 0.1, n, torque=top, **options)
            return t.m[-1], t.q[-1]

        bodies = len(start[0])
        saved = ", all saved" if every < n else ""
        yield f"top, {splitting}, {n} x {bodies}{saved}", n * bodies, run


def work(bodies):
    """Serves windows: a line with a number of a case in, one with its time out."""
    import polhode as ph

    rows = list(cases(ph, bodies))
    print(ph.build_info()["isa"], *(name for name, *_ in rows), sep="\t", flush=True)
    for line in sys.stdin:
        index, *path = line.split()
        _, body_steps, call = rows[int(index)]
        repeat = 1 + 2000 // body_steps
        begun = time.thread_time_ns()
        for _ in range(repeat):
            result = call()
        spent = time.thread_time_ns() - begun
        if path:
            np.save(path[0], np.concatenate([np.ravel(x) for x in result]))
        print(spent / (repeat * body_steps), flush=True)


class Installation:
    """A process of one interpreter that serves windows."""

    def __init__(self, python, bodies):
        command = [python, str(Path(__file__).resolve()), "--work", "--bodies", str(bodies)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.isa, *self.names = self.process.stdout.readline().strip().split("\t")

    def window(self, *words):
        """Time of a case."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(x.partition(":")[2].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--bodies", type=int, default=4096)
    parser.add_argument("--windows", type=int, default=100)
    parser.add_argument("--only", default="", help="run the cases whose names contain this text")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.bodies)
        return
    if options.new is None:
        parser.error("two interpreters are needed")
    old, new = (Installation(p, options.bodies) for p in (options.old, options.new))
    isa = os.environ.get("POLHODE_ISA", "the best")
    print(f"{processor()}; old {old.isa}, new {new.isa} (asked: {isa}); {options.bodies} bodies")
    print(f"{'':32}{'old':>9}{'new':>9}{'ratio':>8}  quartiles     differ")
    files = [Path(tempfile.gettempdir(), f"compare_{os.getpid()}_{k}.npy") for k in range(2)]
    for index, name in enumerate(new.names):
        if options.only not in name:
            continue
        ends = []
        for side, path in zip((old, new), files, strict=True):
            side.window(index, path)
            ends.append(np.load(path).view(np.int64))
            path.unlink()
        pairs = [(old.window(index), new.window(index)) for _ in range(options.windows)]
        times = np.array(pairs)
        least = times.min(0)
        low, high = np.quantile(times[:, 1] / times[:, 0], [0.25, 0.75])
        print(
            f"{name:32}{least[0]:9.2f}{least[1]:9.2f}{least[1] / least[0]:8.3f}"
            f"  {low:.3f} {high:.3f}{np.count_nonzero(ends[0] != ends[1]):9d}",
            flush=True,
        )


if __name__ == "__main__":
    main()
