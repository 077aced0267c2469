"""`polhode.torques.Function`: a user-defined torque in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._base import Torque
from polhode.torques._evaluate import check_functions, exactly

if TYPE_CHECKING:
    from polhode.run_directory.fingerprint import Record


class UserDefined(Torque):
    """A torque with a potential that is a Python function of the whole batch, or None."""

    def _set_potential(self, potential: Callable[[float, Array], ArrayLike] | None) -> None:
        if potential is not None:
            check_functions({"potential": potential})
        self._potential = potential
        self.has_potential = potential is not None

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        if self._potential is None:
            raise ValueError("the torque has been given no potential")
        batch = attitude.shape[: -len(_arrays.attitude_core("attitude", attitude))]
        return exactly("potential", self._potential(t, attitude), batch)


class Function(UserDefined):
    """A user-defined torque: a Python function of the whole batch.

    Parameters
    ----------
    f : callable
        ``f(t, m, attitude) -> (..., 3)``: torque in the body frame at time t, from the momenta
        (..., 3), body frame, and the attitudes (..., 4) or (..., 3, 3), body to space, as given to
        `integrate`. The arrays are read-only and change after the call: copy them if you need them
        later. The result must have the shape of m; it is not broadcast.
    depends_on_m : bool or None, optional
        Whether f depends on m. Its kick is then one classical Runge-Kutta step of order 4, and
        schemes that need a torque that depends only on attitude and time raise an error. None: a
        splitting tests it at the start, see Notes.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``: potential energy, for `Trajectory.energy`.
    W : callable, optional
        ``W(t, attitude) -> (..., 3)`` for schemes with a modified potential,
        ``W = 2 (f x v - Df[Q hat(v)])``, ``v = f / inertia``.

    Notes
    -----
    With ``depends_on_m=None``, also for a function passed directly, a splitting calls f twice more
    before the first step, with two other momenta of every body. If the results differ by more than
    1e-12 of the larger, f depends on m. It is then called a third time: if equal arguments give
    different results, a RuntimeWarning is given and f is treated as independent of m. A dependence
    that begins at a threshold of ``|m|`` or at a later time is not found: give
    ``depends_on_m=True``. Direct integrators (``splitting=None``) do not need to know and make no
    such calls.

    Examples
    --------
    A top pulled along the third axis of space:

    >>> import numpy as np, polhode as ph
    >>> def pull(t, m, Q):
    ...     return np.cross(Q[..., 2, :], [0.0, 0.0, 1.0])
    >>> top = ph.torques.Function(pull, potential=lambda t, Q: Q[..., 2, 2])
    >>> traj = ph.integrate([1.0, 1.0, 0.5], [0.0, 0.0, 4.0], np.eye(3), 0.01, 100, torque=top)
    >>> traj.m[-1]
    array([0., 0., 4.])
    """

    def __init__(
        self,
        f: Callable[[float, Array, Array], ArrayLike],
        depends_on_m: bool | None = None,
        potential: Callable[[float, Array], ArrayLike] | None = None,
        W: Callable[[float, Array], ArrayLike] | None = None,
    ) -> None:
        check_functions({"f": f} if W is None else {"f": f, "W": W})
        self._set_potential(potential)
        self._f = f
        self._w = W
        self.depends_on_m = None if depends_on_m is None else bool(depends_on_m)
        self.has_modified = W is not None

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque in the body frame, shape (..., 3): f(t, m, attitude)."""
        return exactly("torque", self._f(t, m, attitude), m.shape)

    def modified(self, t: float, attitude: Array, shape: tuple[int, ...]) -> Array:
        """W in the body frame, shape (..., 3)."""
        assert self._w is not None
        return exactly("W", self._w(t, attitude), shape)

    def record(self, where: str, record: Record) -> None:
        """The functions that move the bodies."""
        record.function(where, self._f)
        if self._w is not None:
            record.function("W", self._w)

    def __repr__(self) -> str:
        return f"Function({self._f!r}, depends_on_m={self.depends_on_m})"
