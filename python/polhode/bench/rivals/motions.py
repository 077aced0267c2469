"""The cases of moving bodies: free ones, and heavy tops."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polhode.bench import Row, Run, absent, case
from polhode.bench._machine import PACKAGES
from polhode.bench.rivals import _diffrax, _heyoka, _lammps, _mujoco, _numba, _pinocchio, _scipy
from polhode.bench.rivals._polhode import OURS
from polhode.bench.rivals._problem import Problem, free_bodies, heavy_tops
from polhode.bench.rivals._work_precision import compare

RIVALS = [x.RIVAL for x in (_numba, _heyoka, _scipy, _diffrax, _mujoco, _pinocchio, _lammps)]
PACKAGES += [x.packages[0][1] for x in RIVALS if x.packages[0][1] not in PACKAGES]

TARGETS = (1e-3, 1e-6, 1e-9, 1e-12)
UNITS = {
    "error": "the larger of |m - reference| / |m| and the angle to the reference attitude in rad, "
    "the largest over the bodies",
    "at": "setting of the program, or error at which its time is interpolated",
    "over polhode": "time over that of the fastest of polhode's at the same error",
}


def _rows(run: Run, problem: Callable[[int], Problem], quick: tuple[int, ...]) -> Iterator[Row]:
    for bodies in quick if run.quick else (1, 1000):
        try:
            bodies_of_run = problem(bodies)
        except ImportError as error:
            yield Row({"bodies": bodies}, {"time": absent(str(error))})
            continue
        yield from compare(run, bodies_of_run, OURS, RIVALS, TARGETS)


@case(
    "rivals-free",
    "Free bodies for 100 units of time: polhode and other programs at equal error",
    time="ns per body, from t = 0 to the end",
    units=UNITS,
)
def free(run: Run) -> Iterator[Row]:
    """Move bodies of inertia (1, 1.5, 2.2) and unit momentum to t = 100 (some 80 rad).

    Only the end is asked for.  Each program at several settings, ours in turn with it window by
    window, and the times at equal errors between them (linear in the logarithms).  A ratio stands
    only at an equal error.  Ours takes one exact step.  Setting up and compiling are not timed.
    """
    yield from _rows(run, free_bodies, (1, 100))


@case(
    "rivals-heavy-top",
    "The heavy top of the report for 50 units of time: polhode and other programs at equal error",
    time="ns per body, from t = 0 to the end",
    units=UNITS,
)
def heavy_top(run: Run) -> Iterator[Row]:
    """Move the heavy top of [CZ08] Sec. 4.3 to t = 50, as `rivals-free` does free bodies.

    A thousand tops are the same one turned about the vertical by angles of their own.
    """
    yield from _rows(run, heavy_tops, (1,))
