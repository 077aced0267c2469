"""`polhode.bodies.BodyMotion`: free motion in closed form, in the user's body axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from polhode._arrays import Array, AttitudeLike, components
from polhode.motion import TorqueFreeMotion

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure

    from polhode.bodies.rigid_body import RigidBody


class BodyMotion:
    """Free motion of a `RigidBody`, in the user's body axes.

    Made by `RigidBody.motion`.

    Parameters
    ----------
    body : RigidBody
        The bodies.
    m0 : array_like, shape (..., 3)
        Angular momentum at time 0, user's body axes.
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude of the user's body axes at time 0, body to space.

    Attributes
    ----------
    shape : tuple of int
        Shape of the batch of bodies; () for one.
    period : ndarray
        Period of m, as of `polhode.TorqueFreeMotion`.
    regime : Regime or ndarray of Regime
        How m moves, as of `polhode.TorqueFreeMotion`; AXIS1 and AXIS3 are principal axes.
    """

    __module__ = "polhode.bodies"
    __slots__ = ("_body", "_m0", "_principal", "_principal0")

    def __init__(self, body: RigidBody, m0: ArrayLike, q0: AttitudeLike) -> None:
        self._body = body
        self._m0 = components("m0", m0, 3).copy()
        self._principal0 = body._to_principal("m0", self._m0)
        self._principal = TorqueFreeMotion(
            body.moments, self._principal0, body._attitude_to_principal("q0", q0)
        )

    def __call__(
        self,
        t: ArrayLike,
        *,
        out: tuple[Array, Array] | None = None,
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """Momentum and attitude at the times `t`.

        Parameters
        ----------
        t : array_like, shape (...)
            Times, of either sign. They broadcast against the bodies.
        out : tuple of two float64 arrays, optional
            Where the results go, of the results' shapes.
        threads : int, optional
            Number of threads, as `polhode.step` takes it.

        Returns
        -------
        m : ndarray, shape (..., 3)
            Angular momentum, user's body axes.
        q : ndarray, shape (..., 4) or (..., 3, 3)
            Attitude, continuous in `t` from the given one.

        Raises
        ------
        ValueError, TypeError
            As `polhode.TorqueFreeMotion`.
        """
        body = self._body
        if body._aligned:
            return self._principal(t, out=out, threads=threads)
        m, q = self._principal(t, threads=threads)
        return body._placed(self._m0, self._principal0, m, q, out)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of bodies; () for one."""
        return self._principal.shape

    @property
    def period(self) -> Array:
        """Period of m in the body frame; inf where m does not return or does not move."""
        return self._principal.period

    @property
    def regime(self) -> Any:
        """How m moves: an array of `Regime`, one `Regime` for a single body."""
        return self._principal.regime

    def plot(
        self,
        t: ArrayLike | None = None,
        body: int | tuple[int, ...] = 0,
        *,
        panels: Sequence[str] | None = None,
        time_unit: str | None = None,
    ) -> Figure:
        """Picture of one body in its user's axes, see `polhode.TorqueFreeMotion.plot`."""
        from polhode.display.plot import plot_motion

        return plot_motion(self, t, body, panels, time_unit)

    def animate(
        self,
        t: ArrayLike | None = None,
        body: int | tuple[int, ...] = 0,
        *,
        interval: float = 40.0,
        time_unit: str | None = None,
    ) -> FuncAnimation:
        """Moving picture of the attitude, see `polhode.TorqueFreeMotion.animate`."""
        from polhode.display.animate import animate
        from polhode.display.plot import states_at

        return animate(states_at(self, t, body, 200), interval, time_unit)

    def _repr_html_(self) -> str:
        return self._principal._repr_html_().replace("TorqueFreeMotion", "BodyMotion")

    def __repr__(self) -> str:
        return repr(self._principal).replace("TorqueFreeMotion", "BodyMotion")
