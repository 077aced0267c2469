"""The list of splitting schemes, read from the core, and users' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode import _core
from polhode._methods import unknown_name

#: How far the coefficients of a user's scheme may be from adding up to 1.
CONSISTENT = 1e-12


@dataclass(frozen=True)
class Splitting:
    """What a splitting scheme is.

    Attributes
    ----------
    name : str
        As `integrate(splitting=...)` takes it.
    order : int or None
        Order of accuracy in the step; None where it is not known.
    kind : str
        Its family.
    invariants : tuple of str
        What it keeps to rounding whatever the torque: nothing.
    symmetric : bool
        Whether a step of -h undoes a step of h.
    options : dict
        Names and defaults of the options it takes: none.
    source : str
        Paper and equation, keys as in REFERENCES.md.
    attitude_only : bool
        Whether its order needs a torque that depends on the attitude alone.
    generalised_order : tuple of int
        Of schemes for a small torque, of size e: (8, 6, 4) says that the error is of the order of
        e h**8 + e**2 h**6 + e**3 h**4. Empty for others.
    effective_order : int or None
        Order of the scheme between a processing step and its inverse, which `integrate` does not
        apply: what grows with time is of this order, what oscillates of `order`. None where the
        order is not known.
    stages : tuple of (str, float, float)
        One step: "flow" (free motion) or "kick" (torque), the part of the step it lasts, and the
        coefficient c of a kick with modified potential, ``m += b h f - c h**3 W``.
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

    def table(self) -> NDArray[np.float64]:
        """The stages as the core takes them: (0 flow, 1 kick), coefficient, c."""
        return np.array([(kind == "kick", b, c) for kind, b, c in self.stages], np.float64)


def _read() -> dict[str, Splitting]:
    return {
        row["name"]: Splitting(
            name=row["name"],
            order=row["order"] or None,
            kind=row["kind"],
            invariants=(),
            symmetric=row["symmetric"],
            options={},
            source=row["source"],
            attitude_only=row["attitude_only"],
            stages=row["stages"],
            generalised_order=row["generalised_order"],
            effective_order=row["effective_order"],
        )
        for row in _core.splittings()
    }


_SPLITTINGS = _read()


def splittings() -> list[Splitting]:
    """All splitting schemes that `integrate` knows, as a list of frozen dataclasses.

    Returns
    -------
    list of Splitting
        Name, order, kind, symmetry, source and stages of each.

    Examples
    --------
    >>> import polhode as ph
    >>> strang = ph.splittings()[0]
    >>> strang.name, strang.order, strang.a, strang.b
    ('strang', 2, (1.0,), (0.5, 0.5))
    """
    return list(_SPLITTINGS.values())


def as_splitting(splitting: str | Splitting | Sequence[Sequence[float]]) -> Splitting:
    """The `splitting` argument: a name, a `Splitting`, or coefficients (a, b)."""
    if isinstance(splitting, Splitting):
        return splitting
    if isinstance(splitting, str):
        try:
            return _SPLITTINGS[splitting]
        except KeyError:
            raise unknown_name("splitting", splitting, list(_SPLITTINGS)) from None
    if not isinstance(splitting, (tuple, list)) or len(splitting) != 2:
        raise TypeError(
            "splitting must be a name, a Splitting or a pair (a, b) of coefficients of the free "
            f"flows and of the kicks, not {splitting!r}"
        )
    a, b = (np.atleast_1d(np.asarray(part, np.float64)) for part in splitting)
    if a.ndim != 1 or b.ndim != 1 or abs(len(a) - len(b)) > 1:
        raise ValueError(
            f"splitting: flows a and kicks b alternate, but there are {a.shape} and {b.shape}"
        )
    for name, part in (("a", a), ("b", b)):
        with np.errstate(over="ignore", invalid="ignore"):
            total = part.sum()
        if not abs(total - 1) <= CONSISTENT:
            raise ValueError(f"splitting: {name} must add up to 1, not {total}")
    letters, parts = ("flow", "kick"), (a, b)
    if len(b) > len(a):
        letters, parts = ("kick", "flow"), (b, a)
    stages = tuple(
        (letters[i % 2], float(parts[i % 2][i // 2]), 0.0) for i in range(len(a) + len(b))
    )
    return Splitting(
        name="own",
        order=None,
        kind="own",
        invariants=(),
        symmetric=stages == stages[::-1],
        options={},
        source="",
        attitude_only=False,
        stages=stages,
    )
