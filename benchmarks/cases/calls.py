"""Small calls: one body, a few steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case

BODY = {"inertia": [1.0, 1.7, 2.3], "m": [0.3, 0.5, 0.8], "q": [1.0, 0.0, 0.0, 0.0]}
TOP = ph.torques.HeavyTop([0.1, -0.2, 0.4])
DAMPING = ph.torques.Damping(0.01)


@case("calls", "Calls with one body", time="ns per call")
def calls(run: Run) -> Iterator[Row]:
    """One body, given as arrays or as lists; h = 0.1 or one adaptive step, one thread, all in turn.

    "top": under the torque of a heavy top. The time is mostly that of the call: a step takes 100 to
    250 ns. A call with damping, which uses the moments of inertia, is no short call.
    """
    arrays = {name: np.array(part) for name, part in BODY.items()}
    works: dict[str, Any] = {}
    kinds: dict[str, Any] = {"arrays": arrays, "lists": BODY}
    for kind, body in kinds.items():
        inertia, m, q = body.values()
        integrate = partial(ph.integrate, inertia, m, q, 0.1, 10)
        works |= {
            f"step, {kind}": partial(ph.step, inertia, m, q, 0.1),
            f"TorqueFreeMotion, {kind}": partial(ph.TorqueFreeMotion, inertia, m, q),
            f"integrate, 10 steps, {kind}": integrate,
            f"integrate, 10 steps, top, {kind}": partial(integrate, torque=TOP),
            f"integrate, 10 steps, damping, {kind}": partial(integrate, torque=DAMPING),
            f"integrate, adaptive, top, {kind}": partial(
                ph.integrate, inertia, m, q, t_end=0.001, torque=TOP
            ),
        }
    prepared = ph.Run(arrays["inertia"], arrays["m"], arrays["q"], 0.1, torque=TOP)
    for n in (1, 10):
        works[f"Run.advance({n}), top"] = partial(prepared.advance, n)
    works["Run.reset, top"] = partial(prepared.reset, arrays["m"], arrays["q"])
    times = run.timer.measure(works, 1).times
    for name in works:
        yield Row({"call": name}, {"polhode": times[name]})
