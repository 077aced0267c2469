"""The list of splitting schemes of cpp/include/polhode/splitting/schemes.hpp; schemes of users."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode import _arrays, _core
from polhode.display.notebook import NotebookList
from polhode.integrators.table import unknown_name

#: How far the coefficients of a user's scheme may be from adding up to 1.
CONSISTENT = 1e-12


@dataclass(frozen=True)
class Splitting:
    """A splitting scheme.

    Attributes
    ----------
    name : str
        The name for ``integrate(splitting=...)``.
    order : int or None
        Order of accuracy in the step; None if it is not known.
    kind : str
        Its family.
    invariants, options : tuple, dict
        As of a `Method`; always empty.
    symmetric : bool
        Whether a step of -h inverts a step of h.
    source : str
        Paper and equation, keys as in REFERENCES.md.
    attitude_only : bool
        Whether its order needs a torque that depends only on attitude (and time).
    generalised_order : tuple of int
        Of schemes for a small torque, of size e: (8, 6, 4) says that the error is of the order of
        e h**8 + e**2 h**6 + e**3 h**4. Empty for others.
    effective_order : int or None
        Order of the scheme between a processing step and its inverse: what grows with time is of
        this order, what oscillates of `order`. None where the order is not known.
    stages : tuple of (str, float, float)
        One step: "flow" (free motion) or "kick" (torque), the part of the step it lasts, and the
        coefficient c of a kick with modified potential, ``m += b h f - c h**3 W``.
    processor : tuple of (str, float, float)
        Stages as of a step, whose flows add up to 0; empty for most schemes. With a processor P, n
        steps are P K**n P**-1, K the step of `stages`: `integrate` applies the inverse of P before
        the first step, and P to a copy of the state at each save and at the end. Orders are those
        with the processor.
    """

    name: str
    order: int | None
    kind: str
    invariants: tuple[str, ...]
    symmetric: bool
    options: dict[str, Any] = field(hash=False)
    source: str
    attitude_only: bool
    stages: tuple[tuple[str, float, float], ...]
    generalised_order: tuple[int, ...] = ()
    effective_order: int | None = None
    processor: tuple[tuple[str, float, float], ...] = ()

    @property
    def a(self) -> tuple[float, ...]:
        """Coefficients of the free flows."""
        return tuple(c for kind, c, _ in self.stages if kind == "flow")

    @property
    def b(self) -> tuple[float, ...]:
        """Coefficients of the kicks."""
        return tuple(c for kind, c, _ in self.stages if kind == "kick")

    @property
    def modified(self) -> bool:
        """Whether it needs the W of the torque."""
        return any(c != 0 for _, _, c in self.stages)

    @property
    def times(self) -> tuple[float, float]:
        """Least and largest time visited, in units of h from the start of the step.

        (0, 1), or wider where a scheme goes back or ahead. The torque has to be given there.
        """
        visited = (0.0, *self._reached(), *self._processed(), 1.0)
        return min(visited), max(visited)

    def kick_times(self) -> list[float]:
        """Times at which the torque is evaluated, in units of h from the start of the step."""
        kicks = zip(self.stages, self._reached(), strict=True)
        times = {time for (kind, _, _), time in kicks if kind == "kick"}
        return sorted(times.union(self._processed()))

    def _processed(self) -> list[float]:
        """Least and largest time of the processor, before the first step and after the last."""
        flows = [x if kind == "flow" else 0.0 for kind, x, _ in self.processor]
        reached = np.cumsum([0.0, *flows])
        return [float(reached.min()), float(1 + reached.max())] if flows else []

    def _reached(self) -> list[float]:
        """The time after each stage, free of rounding at 0 and 1; the last flow ends at 1."""
        flows = [x if kind == "flow" else 0.0 for kind, x, _ in self.stages]
        last = max((i for i, x in enumerate(self.stages) if x[0] == "flow"), default=-1)
        sums = [1.0 if i >= last >= 0 else sum(flows[: i + 1]) for i in range(len(flows))]
        return [round(x) + 0.0 if abs(x - round(x)) < CONSISTENT else x for x in sums]

    @property
    def saves_whole_state(self) -> bool:
        """Whether a step begins with the state that the one before has saved."""
        joined = len(self.stages) > 1 and self.stages[0][0] == self.stages[-1][0] == "flow"
        return not self.processor and not joined

    def table(self) -> NDArray[np.float64]:
        """The stages as the core takes them: (0 flow, 1 kick), coefficient, c."""
        return _table(self.stages)

    def processor_table(self) -> NDArray[np.float64]:
        """The stages of the processor in the same form."""
        return _table(self.processor)


@functools.lru_cache(64)
def _table(stages: tuple[tuple[str, float, float], ...]) -> NDArray[np.float64]:
    rows = [(kind == "kick", b, c) for kind, b, c in stages]
    return np.array(rows, np.float64).reshape(-1, 3)


#: The splitting of a direct integrator.
NO_SPLITTING = Splitting("", None, "none", (), False, {}, "", False, ())


_SPLITTINGS = {
    row["name"]: Splitting(
        **{**row, "order": row["order"] or None, "invariants": (), "options": {}}
    )
    for row in _core.splittings()
}


def splittings() -> list[Splitting]:
    """All schemes that `integrate` knows, a list of `Splitting`; a table in a notebook.

    Examples
    --------
    >>> import polhode as ph
    >>> strang = ph.splittings()[0]
    >>> strang.name, strang.order, strang.a, strang.b, strang.times
    ('strang', 2, (1.0,), (0.5, 0.5), (0.0, 1.0))
    """
    columns = ("name", "order", "kind", "symmetric", "attitude_only", "modified", "times", "source")
    return NotebookList(_SPLITTINGS.values(), "splittings", columns)


def as_splitting(splitting: str | Splitting | Sequence[Sequence[float]]) -> Splitting:
    """The `splitting` argument: a name, a `Splitting`, or coefficients (a, b) or (a, b, c)."""
    if isinstance(splitting, Splitting):
        _check_stages(splitting)
        return splitting
    if isinstance(splitting, str):
        try:
            return _SPLITTINGS[splitting]
        except KeyError:
            if any(name in splitting.lower() for name in ("verlet", "leapfrog")):
                raise ValueError(
                    f"unknown splitting {splitting!r}: velocity Verlet (leapfrog) is 'strang', "
                    "position Verlet is 'strang_free'"
                ) from None
            raise unknown_name("splitting", splitting, list(_SPLITTINGS)) from None
    if not isinstance(splitting, (tuple, list)) or len(splitting) not in (2, 3):
        raise TypeError(
            "splitting must be a name, a Splitting or coefficients (a, b) or (a, b, c) of the free "
            f"flows, of the kicks and of their modified potential, not {splitting!r}"
        )
    a, b = (_coefficients(name, part) for name, part in zip("ab", splitting, strict=False))
    if abs(len(a) - len(b)) > 1:
        counts = f"there are {len(a)} and {len(b)}"
        raise ValueError(f"splitting: flows a and kicks b alternate, but {counts}")
    for name, part in (("a", a), ("b", b)):
        with np.errstate(over="ignore", invalid="ignore"):
            total = part.sum()
        if not abs(total - 1) <= CONSISTENT:
            raise ValueError(f"splitting: {name} must add up to 1, not {total}")
    c = _coefficients("c", splitting[2]) if len(splitting) == 3 else np.zeros(len(b))
    if len(c) != len(b):
        counts = f"there are {len(b)} and {len(c)} of them"
        raise ValueError(f"splitting: each kick b has its c, but {counts}")
    if not np.isfinite(c).all():
        raise ValueError(f"splitting: c must be finite, not {c.tolist()}")
    flows = [("flow", float(x), 0.0) for x in a]
    kicks = [("kick", float(x), float(y)) for x, y in zip(b, c, strict=True)]
    first, second = (kicks, flows) if len(b) > len(a) else (flows, kicks)
    stages = tuple((first, second)[i % 2][i // 2] for i in range(len(a) + len(b)))
    symmetric = stages == stages[::-1]
    return Splitting("own", None, "own", (), symmetric, {}, "", bool(c.any()), stages)


def _coefficients(name: str, part: Any) -> NDArray[np.float64]:
    """One list of coefficients."""
    if isinstance(part, (list, tuple)):
        part = [float(x) if isinstance(x, Fraction) else x for x in part]
    array = np.atleast_1d(_arrays.real_array(f"splitting: {name}", part))
    if array.ndim != 1:
        raise ValueError(f"splitting: {name} must have shape (n,), not {array.shape}")
    return array.astype(np.float64)


def _check_stages(scheme: Splitting) -> None:
    """Raise ValueError for invalid stages."""
    if scheme is _SPLITTINGS.get(scheme.name):
        return
    for i, stage in enumerate((*scheme.stages, *scheme.processor)):
        given: tuple[Any, ...] = stage
        good = len(given) == 3 and given[0] in ("flow", "kick")
        if not good or not np.isfinite(np.asarray(given[1:], np.float64)).all():
            raise ValueError(
                f"splitting {scheme.name!r}: stage {i} must be ('flow' or 'kick', coefficient, c), "
                f"finite numbers, not {stage!r}"
            )
        if stage[0] == "flow" and stage[2] != 0:
            raise ValueError(f"splitting {scheme.name!r}: stage {i}, a flow, has no c: {stage!r}")
    if not scheme.a:
        raise ValueError(f"splitting {scheme.name!r} has no flow")
    total = sum(x for kind, x, _ in scheme.processor if kind == "flow")
    if not abs(total) <= CONSISTENT:
        raise ValueError(
            f"splitting {scheme.name!r}: the flows of the processor must add up to 0, not {total}"
        )
