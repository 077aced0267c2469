"""Tables 1 to 3 and Figures 1 to 4 of Gustafsson's thesis on torqued rigid bodies."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

import polhode as ph
from polhode import _core
from polhode.reproduce._listings import Counted, Vector, factorization, magnus
from polhode.reproduce._registry import Cell, Result, Run, Table, item

ORDERS = (2, 4, 6, 8)

# Table 1 ----------------------------------------------------------------------------------------

#: The state that the loops run at: inertia, momentum, attitude, and the step.
BODY = (np.array([1.0, 1.5, 2.2]), np.array([0.3, 0.5, 0.8]) / math.sqrt(0.98))
ATTITUDE = np.array([0.6, -0.48, 0.0, 0.64])


def operations_of_the_listings(order: int, h: float) -> dict[str, tuple[dict[str, int], float]]:
    """Operations by row, and the error of q, of one step of each of the two loops."""
    (inertia, m), q = BODY, ATTITUDE
    motion = ph.TorqueFreeMotion(inertia, m, q)
    nodes = (1 + np.polynomial.legendre.leggauss(order // 2)[0]) / 2

    def counted(x: Any) -> Vector:
        return [Counted(v) for v in x]

    momenta = [counted(motion(c * h)[0]) for c in nodes]
    ends = (counted(m), counted(motion(h)[0]))
    energy = float(np.sum(m * m / inertia) / 2)
    conjugate = np.array([1.0, -1.0, -1.0, -1.0])
    exact = motion(h)[1]
    results = {}
    for family in ("magnus", "factorization"):
        Counted.operations = Counter()
        if family == "magnus":
            end = magnus(order, h, momenta, counted(inertia), counted(q * conjugate))
        else:
            end = factorization(order, h, momenta, ends, counted(inertia), energy, counted(q))
        operations = dict(Counted.operations)
        operations["total"] = sum(operations.values())
        values = np.array([x.value for x in end]) * (conjugate if family == "magnus" else 1.0)
        results[family] = operations, float(np.abs(values - exact).max())
    return results


def our_operations(name: str, h: float) -> tuple[int, float]:
    """Operations of a whole step of the library by the rule of `flops`, and its error of q."""
    (inertia, m), q = BODY, ATTITUDE
    error = np.abs(ph.step(inertia, m, q, h, method=name)[1] - ph.step(inertia, m, q, h)[1]).max()
    count: Any = _core.flops
    return int(count(name, *inertia.tolist(), *m.tolist(), h, False)["total"]), float(error)


@item("gustafsson-table-1")
def table_1(published: dict[str, Any], run: Run) -> Result:
    """Operations counted by running the loops of the listings on numbers that count."""
    h = 0.2
    tables = []
    listings = {order: operations_of_the_listings(order, h) for order in ORDERS}
    for family, title in (("magnus", "Magnus method"), ("factorization", "Factorization method")):
        cells = [
            Cell(
                f"order {order}, {name}",
                float(row[i]),
                float(listings[order][family][0].get(name, 0)),
                unit="operations",
            )
            for name, row in published[family].items()
            for i, order in enumerate(published["orders"])
        ]
        tables.append(Table(title, cells, "none: these are counts."))
    ours = ", ".join(
        f"{family}{order} {our_operations(f'{family}{order}', h)[0]}"
        for family in ("magnus", "factorization")
        for order in ORDERS
    )
    notes = [
        "Counted by running the loop bodies of the listings on numbers that count: + - * / and "
        "every elementary function 1, a change of sign 0, repeated expressions again; the momentum "
        "at the nodes, the normalisation of q and the printed output are left out, as there.",
        f"Whole steps of this library, momentum at the nodes included, by the rule of `ph.flops` "
        f"(at h |m|/I1 = {h}): {ours}, exact {our_operations('exact', h)[0]} operations.",
    ]
    return Result(tables, notes=notes)
