"""Torque-free motion in closed form, at any times."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._axes import to_body
from polhode.bodies.inertia import orthonormal
from polhode.display.notebook import table_of_bodies
from polhode.integrators.table import warn_user

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure


class Regime(enum.Enum):
    """How the angular momentum moves in the body frame.

    Attributes
    ----------
    AXIS1
        m moves around the axis of the least moment (body axis 1, 2 or 3).
    SEPARATRIX
        m moves from one end of the axis of the middle moment to the other and does not return.
    AXIS3
        m moves around the axis of the greatest moment (body axis 1, 2 or 3).
    PERMANENT
        m is constant: zero, on a principal axis, normal to the axis of a symmetric body, or of a
        rod.
    SPHERE
        m is constant because all moments are equal.
    """

    AXIS1 = 1
    SEPARATRIX = 2
    AXIS3 = 3
    PERMANENT = 4
    SPHERE = 5


def _warn_of_lost(count: int) -> None:
    """The warning for results that are NaN although m0, q0 and t are finite."""
    where = "1 result is" if count == 1 else f"{count} results are"
    warn_user(
        "no digit is correct: t is too long, or m0 too close to the axis of the middle moment; "
        f"{where} NaN"
    )


class TorqueFreeMotion:
    """Free motion of rigid bodies, m' = m x omega, q' = q (0, omega)/2, omega = m/inertia.

    The constants of the period are computed once. Then the evaluation at any time costs as much as
    a step of at most a quarter period.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments of inertia in the order of the body axes, as in `step`.
    m0 : array_like, shape (..., 3)
        Angular momentum at time 0, body frame.
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude at time 0, body to space: unit quaternions, scalar first, or rotation matrices.
        Normalized as in `step`, which also says how a SciPy `Rotation` or a
        4x4 pose is taken.
    axes : array_like, shape (..., 3, 3), (..., 4) or Rotation, optional
        Principal axes in the body frame, as columns of a matrix or as the rotation to them; `m0`,
        `q0` and the results are in the body frame.  None: the body axes are the principal axes.
        All arguments broadcast together and are copied.

    Raises
    ------
    ValueError, TypeError
        As `step`.

    Warns
    -----
    RuntimeWarning
        Once per call of the motion, with the number of results that are NaN although m0, q0 and t
        are finite.

    Notes
    -----
    Any consistent units; eps = 2^-52.  The error of m/|m| and of q is at most 4 eps (1 + angle),
    angle = |t| |omega|, plus four times the effect of half an ulp in each of the inputs, for a
    million periods and more.  NaN or infinity in a body's m0, q0 or t makes that result NaN and
    does not affect others.  The same is true for t beyond 2^50 half periods, where no digit would
    be correct.  An m0 less than 1e-135 |m0| away from the axis of the middle moment, but not on it,
    gives NaN while m is far from that axis.  A result does not depend on the other bodies and
    times, bit for bit.

    PERMANENT and SPHERE are decided exactly.  With moments I1 <= I2 <= I3, SEPARATRIX is where
    I3 (I2 - I1) m1^2 and I1 (I3 - I2) m3^2 agree to 2 eps of their sum, the rounding error of their
    difference; its sign decides between AXIS1 (positive) and AXIS3.  A motion that close to the
    separatrix is assumed to stay at the axis of the middle moment once it has reached it.

    After half a period of m the body has rotated by pi about the axis around which m moves, and by
    an angle about m that is known in closed form: [CZ08] equation (16) with complete integrals.
    The exact step computes the remaining part.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> motion = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0])
    >>> motion.regime.name, round(float(motion.period), 6)
    ('AXIS3', 23.218341)
    >>> m, q = motion(np.array([0.0, 1.0, 1e6]) * motion.period)
    >>> m.round(6) + 0.0
    array([[0.3, 0.5, 0.8],
           [0.3, 0.5, 0.8],
           [0.3, 0.5, 0.8]])
    """

    __slots__ = ("_axes", "_constants", "_inertia", "_m0", "_q0", "_shape")

    _shape: tuple[int, ...]

    def __init__(
        self,
        inertia: ArrayLike,
        m0: ArrayLike,
        q0: AttitudeLike,
        *,
        axes: ArrayLike | None = None,
    ) -> None:
        self._axes: Array | None = None
        if axes is None:
            made = _core.motion_of(inertia, m0, q0)
            if made is not None:
                self._inertia, self._m0, self._q0, self._constants, self._shape = made
                return
        bodies = Operand("inertia", inertia, 3)
        momenta = Operand("m0", m0, 3)
        attitudes = _arrays.attitude_operand("q0", q0)
        batches = {o.name: o.batch for o in (bodies, momenta, attitudes)}
        if axes is not None:
            columns = orthonormal("axes", axes)
            batches["axes"] = columns.shape[:-2]
            self._axes = np.ascontiguousarray(columns)
        self._shape = _arrays.broadcast(batches)
        principal = momenta.array.astype(np.float64, copy=False)
        if self._axes is not None:
            principal = to_body(self._axes, principal)
        _core.validate(
            ("inertia", bodies.array),
            ("m0", principal, momenta.array),
            ("q0", attitudes.array),
        )
        self._inertia, self._m0, self._q0 = (
            np.array(o.array, np.float64, order="C") for o in (bodies, momenta, attitudes)
        )
        self._constants = np.asarray(_core.motion_facts(self._inertia, principal))

    def __call__(
        self,
        t: ArrayLike,
        *,
        out: tuple[Array, Array] | None = None,
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """Momentum and attitude at times `t`.

        Parameters
        ----------
        t : array_like, shape (...)
            Times, of either sign.  They broadcast against the bodies: shape (T, 1) with N bodies
            gives all T times of all N.
        out, threads
            As in `step`.

        Returns
        -------
        m : ndarray, shape (..., 3)
            Angular momentum, body frame.
        q : ndarray, shape (..., 4) or (..., 3, 3)
            Attitude.  A quaternion is the end of the continuous path that starts at q0.

        Raises
        ------
        ValueError, TypeError
            As `step`, for times and `out`.

        Examples
        --------
        A quarter turn about the third axis, at one radian per second, and five of them:

        >>> import numpy as np, polhode as ph
        >>> motion = ph.TorqueFreeMotion([1.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0, 0.0])
        >>> m, q = motion([np.pi / 2, 5 * np.pi / 2])
        >>> q.round(6)
        array([[ 0.707107,  0.      ,  0.      ,  0.707107],
               [-0.707107,  0.      ,  0.      , -0.707107]])
        """
        cores = _arrays.thread_count(threads)
        if out is None and type(t) in (float, np.ndarray):
            done = _core.motion_at(*self._bodies(), t, None, None, cores)
            if done is not None:
                if done[2]:
                    _warn_of_lost(done[2])
                return done[0], done[1]
        times = _arrays.real_array("t", t)
        shape = _arrays.broadcast({"t": times.shape, "bodies": self._shape})
        core = self._q0.shape[self._q0.ndim - (1 if self._q0.shape[-1] == 4 else 2) :]
        results = _arrays.outputs(out, [("m", (*shape, 3)), ("q", shape + core)])
        if out is not None and any(np.shares_memory(times, result) for result in results):
            times = times.copy()
        lost = 0
        for at in self._pieces(times, shape):
            piece = np.asarray(np.broadcast_to(times, shape)[at] if at else times, np.float64)
            bodies = self._bodies(at, shape)
            targets = [result[at] for result in results]
            done = _core.motion_at(*bodies, piece, targets[0], targets[1], cores)
            if done is None:
                # Times or outputs that the core cannot reach, such as fields of a packed record.
                done = _core.motion_at(*bodies, np.array(piece), None, None, cores)
                if done is None:
                    raise RuntimeError("the core refused arrays that had passed the checks")
                for target, values in zip(targets, done[:2], strict=True):
                    target[...] = values
            lost += done[2]
        if lost:
            _warn_of_lost(lost)
        return results[0], results[1]

    @staticmethod
    def _pieces(times: NDArray[Any], shape: tuple[int, ...]) -> Iterable[tuple[slice, ...]]:
        """Split into chunks to bound temporary memory."""
        if times.dtype == np.float64 and times.dtype.isnative and times.flags.aligned:
            return [()]
        return _arrays.chunks(shape)

    def _bodies(
        self, at: tuple[slice | int, ...] = (), shape: tuple[int, ...] = ()
    ) -> tuple[Array, Array, Array, Array, Array | None]:
        """The arrays of the bodies: all, or a part of them in a batch of this shape."""
        attitude_axes = 1 if self._q0.shape[-1] == 4 else 2

        def part(a: Array, n: int) -> Array:
            return np.broadcast_to(a, shape + a.shape[a.ndim - n :])[at] if at else a

        axes = None if self._axes is None else part(self._axes, 2)
        return (
            part(self._inertia, 1),
            part(self._m0, 1),
            part(self._q0, attitude_axes),
            part(self._constants, 2),
            axes,
        )

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # Arrays may arrive at odd addresses, which the core does not read.
        for name, value in state[1].items():
            array = isinstance(value, np.ndarray)
            setattr(self, name, np.require(value, requirements=["C", "A"]) if array else value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of bodies; () for one."""
        return self._shape

    @property
    def period(self) -> Array:
        """Period of m in the body frame; inf where m does not return or does not move."""
        return np.broadcast_to(self._constants[..., 2, 0], self._shape).copy()[()]

    @property
    def regime(self) -> Any:
        """How m moves: an array of `Regime`, one for one body; unclear if m0 is not finite."""
        numbers = np.broadcast_to(self._constants[..., 2, 1], self._shape).astype(np.intp)
        if not self._shape:
            return Regime(int(numbers))
        return np.array([None, *Regime], dtype=object)[numbers]

    def plot(
        self,
        t: ArrayLike | None = None,
        body: int | tuple[int, ...] = 0,
        *,
        panels: Sequence[str] | None = None,
        time_unit: str | None = None,
    ) -> Figure:
        """Picture of one body: its momentum on the sphere, its attitude, its angular velocity.

        Parameters
        ----------
        t : array_like, shape (n,), optional
            Times. None: 400 times over two periods of m, or over four rotations at the initial
            rate if m is not periodic or is constant.
        body, panels, time_unit
            As in `Trajectory.plot`; by default "momentum", "axes", "attitude" and "omega".

        Returns
        -------
        matplotlib.figure.Figure
            One axes object per panel.

        Raises
        ------
        ImportError, IndexError, ValueError
            As `Trajectory.plot`; also if `t` does not have the shape (n,).
        """
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
        """Moving picture of the attitude of one body, as a box.

        Parameters
        ----------
        t : array_like, shape (n,), optional
            Times, one picture each. None: as in `plot`, 200 times.
        body, interval, time_unit
            As in `Trajectory.animate`.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            As `Trajectory.animate`, which also says the errors.
        """
        from polhode.display.animate import animate
        from polhode.display.plot import states_at

        return animate(states_at(self, t, body, 200), interval, time_unit)

    def _of_body(self, at: tuple[int, ...]) -> TorqueFreeMotion:
        """The motion of one body of the batch."""
        inertia, m0, q0, _, axes = self._bodies(at, self._shape)
        return TorqueFreeMotion(inertia, m0, q0, axes=axes)

    def _repr_html_(self) -> str:
        columns = {"regime": np.asarray(self.regime), "period": self.period}
        shown = columns if self._shape else {"regime": self.regime, "period": float(self.period)}
        return table_of_bodies(type(self).__name__, self._shape, shown)

    def __repr__(self) -> str:
        if self._shape:
            return f"<TorqueFreeMotion: {self._shape} bodies>"
        return f"<TorqueFreeMotion: {self.regime.name}, period {self.period:.6g}>"
