"""Munthe-Kaas Runge-Kutta methods from any Butcher tableau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array

#: Largest numbers of stages in the core.
MOST_EXPLICIT, MOST_IMPLICIT = _core.tableau_stages
#: Tolerance for rounded coefficients of tableaus.
ROUNDED = 1e-9


@dataclass(frozen=True)
class MuntheKaas:
    """A Runge-Kutta method on the rotation group, made by `rkmk`; a value for ``method=``.

    `a` is the matrix of the tableau, a tuple of tuples, `b` and `c` are its weights and nodes.
    """

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]

    def __post_init__(self) -> None:
        given: dict[str, Any] = {"a": self.a, "b": self.b, "c": self.c}
        arrays = {k: _arrays.real_array(k, x).astype(np.float64) for k, x in given.items()}
        matrix, weights, nodes = arrays.values()
        s = weights.size
        if s == 0 or [x.shape for x in arrays.values()] != [(s, s), (s,), (s,)]:
            raise ValueError(
                "a tableau has a of shape (s, s), b and c of shape (s,), s at least 1, not "
                f"{matrix.shape}, {weights.shape} and {nodes.shape}"
            )
        for name, array in arrays.items():
            _arrays.refuse(name, array, ~np.isfinite(array), 0, "must be finite")
        implicit = bool(np.triu(matrix).any())
        most = MOST_IMPLICIT if implicit else MOST_EXPLICIT
        if s > most:
            kind = "implicit" if implicit else "explicit"
            raise ValueError(f"an {kind} tableau may have {most} stages, not {s}")
        if abs(weights.sum() - 1) > ROUNDED:
            raise ValueError(f"the weights b must have the sum 1, not {weights.sum()}")
        off = np.abs(matrix.sum(1) - nodes)
        if off.max() > ROUNDED:
            k = int(off.argmax())
            raise ValueError(
                f"the nodes c must be the sums of the rows of a; c[{k}] is {nodes[k]} and "
                f"the sum {matrix[k].sum()}"
            )
        # The class is frozen.
        for name, array in arrays.items():
            rows = [tuple(map(float, row)) for row in np.atleast_2d(array)]
            object.__setattr__(self, name, tuple(rows) if name == "a" else rows[0])

    @property
    def stages(self) -> int:
        """Number of stages."""
        return len(self.b)

    @property
    def implicit(self) -> bool:
        """Whether a stage depends on itself or on later ones."""
        return is_implicit(self._coefficients())

    def _coefficients(self) -> Array:
        """As the core takes it: number of stages, a, b, c."""
        return np.array([self.stages, *np.ravel(self.a), *self.b, *self.c], np.float64)


def is_implicit(coefficients: Array) -> bool:
    """Whether a tableau is, given as the core takes it."""
    s = int(coefficients[0])
    return bool(np.triu(coefficients[1 : 1 + s * s].reshape(s, s)).any())


def rkmk(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> MuntheKaas:
    """The Munthe-Kaas Runge-Kutta method with this Butcher tableau.

    Parameters
    ----------
    a : array_like, shape (s, s)
        Matrix of the tableau: explicit (zero on and above the diagonal, s at most 13) or implicit
        (s at most 8).
    b : array_like, shape (s,)
        Weights; their sum is 1.
    c : array_like, shape (s,)
        Nodes, the sums of the rows of `a`.

    Returns
    -------
    MuntheKaas
        A value for ``method=`` of `step`, `integrate` and `flops`. ValueError is raised if shapes
        do not agree, a number is not finite, there are too many stages, or a sum is wrong by more
        than 1e-9.

    Notes
    -----
    Stage k rotates the body by P_k = h sum_j a_kj dexp^-1(-P_j) omega_j from its attitude at the
    start, dexp^-1 without truncation. The spatial momentum changes by h sum_j a_kj times the torque
    of stage j ([MK98]; [Krysl07] Sec. 3.7). The tableau decides the order. Without torque the
    spatial momentum is conserved to rounding. `dexp` is singular for a rotation of 2 pi per step.

    The equations of an implicit tableau are solved as in `step`; under torque a fixed-point
    iteration updates the torques of the stages, and a body for which it does not converge is NaN.
    Ready-made: "rkmk4", "rkmk_midpoint", "rkmk_gauss2" and "rkmk_gauss4".
    """
    return MuntheKaas(a, b, c)  # type: ignore[arg-type]  # it makes them tuples
