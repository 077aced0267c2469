"""`polhode.torques.SpatialMomentum`: the angular momentum in space as a function of time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import Array, AttitudeLike
from polhode.torques._base import Torque
from polhode.torques._function import check_functions, fitting, in_body


class SpatialMomentum(Torque):
    """A torque given by the angular momentum in space, as a function of time.

    Parameters
    ----------
    L : callable
        ``L(t) -> (..., 3)``: angular momentum, space frame.
    *derivatives : callable
        L', L'', ... as functions of the same kind; a Taylor method of order N needs N - 1 of them,
        a splitting scheme the first.

    Notes
    -----
    The torque is Q.T @ L'(t) in the body frame. The kicks of a splitting scheme integrate it.
    Direct integrators set m = Q.T @ (L(t) + c), where the constant c, in the space frame, is the
    difference of `m0` from L(t0). Source: [Buss01] Sec. 2.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> L = ph.torques.SpatialMomentum(
    ...     lambda t: np.array([np.cos(t), np.sin(t), 1.0]),
    ...     lambda t: np.array([-np.sin(t), np.cos(t), 0.0]),
    ... )
    >>> traj = ph.integrate([1, 2, 3], L.L(0.0), [1, 0, 0, 0], 0.01, 100, torque=L, save_every=100)
    >>> bool(abs(traj.momentum_spatial()[-1] - L.L(1.0)).max() < 1e-4)
    True
    """

    gives_momentum = True
    lacks_potential = False

    def __init__(
        self, L: Callable[[float], ArrayLike], *derivatives: Callable[[float], ArrayLike]
    ) -> None:
        check_functions(
            {"L": L, **{f"derivatives[{i}]": d for i, d in enumerate(derivatives)}}, " of time"
        )
        self.L = L
        self.derivatives = derivatives
        self.known_derivatives = len(derivatives)

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame, shape (..., 3): Q.T @ L'(t)."""
        if not self.derivatives:
            raise ValueError("SpatialMomentum needs the derivative of L to give a torque")
        return in_body("space", "derivative", self.derivatives[0](t), m, attitude)

    def spatial_momentum(self, order: int, t: float, shape: tuple[int, ...]) -> Array:
        """Derivative number `order` of L at t, of this shape; zero beyond those given."""
        if order > len(self.derivatives):
            return np.zeros(shape)
        if order > 0:
            return fitting(f"derivatives[{order - 1}]", self.derivatives[order - 1](t), shape)
        return fitting("L", self.L(t), shape)

    def all_values(self, t: float, m: Array, attitude: Array, **others: Array) -> Array:
        """L and its derivatives."""
        orders = range(len(self.derivatives) + 1)
        return np.concatenate([self.spatial_momentum(k, t, m.shape) for k in orders], axis=-1)

    def __repr__(self) -> str:
        return f"SpatialMomentum({self.L!r}, {len(self.derivatives)} derivatives)"
