"""Small calls: one body, a few steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case

BODY = ([1.0, 1.7, 2.3], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0])
TOP = ph.torques.HeavyTop([0.1, -0.2, 0.4])


@case("calls", "Calls with one body", time="ns per call")
def calls(run: Run) -> Iterator[Row]:
    """One body, given as arrays or as lists; h = 0.1, one thread, all in turn.

    "top": under the torque of a heavy top. The time is mostly that of the call: a step takes 100 to
    250 ns.
    """
    arrays = tuple(map(np.array, BODY))
    works: dict[str, Any] = {}
    for kind, body in {"arrays": arrays, "lists": BODY}.items():
        integrate = partial(ph.integrate, *body, 0.1, 10)
        works |= {
            f"step, {kind}": partial(ph.step, *body, 0.1),
            f"TorqueFreeMotion, {kind}": partial(ph.TorqueFreeMotion, *body),
            f"integrate, 10 steps, {kind}": integrate,
            f"integrate, 10 steps, top, {kind}": partial(integrate, torque=TOP),
        }
    prepared = ph.Run(*arrays, 0.1, torque=TOP)
    for n in (1, 10):
        works[f"Run.advance({n}), top"] = partial(prepared.advance, n)
    times = run.timer.measure(works, 1).times
    for name in works:
        yield Row({"call": name}, {"polhode": times[name]})
