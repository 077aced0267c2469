"""Torque-free motion in closed form: conserved quantities, and its evaluation at any times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core, so3
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._axes import to_body
from polhode.bodies.inertia import orthonormal
from polhode.integrators.table import warn_user
from polhode.motion import crossings as passages
from polhode.motion import tumblers
from polhode.motion.nutation import Regime, nutation

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure


def _warn_of_lost(count: int) -> None:
    """The warning for results that are NaN although m0, q0 and t are finite, if there are any."""
    if count:
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
        As in `step`.
    axes : array_like, shape (..., 3, 3), (..., 4) or Rotation, optional
        Principal axes in the body frame, as in `RigidBody.from_moments`; `m0`, `q0` and the results
        are in the body frame. None: the body axes. All arguments broadcast together and are copied.

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

    Source: [CZ08] equation (16) with complete integrals; the exact step computes the rest.

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

    @classmethod
    def from_periods(
        cls,
        inertia: ArrayLike,
        rotation: ArrayLike,
        precession: ArrayLike,
        *,
        mode: str | Sequence[str],
        phi0: ArrayLike = 0.0,
        psi0: ArrayLike = 0.0,
        pole: ArrayLike = (0.0, 0.0, 1.0),
    ) -> TorqueFreeMotion:
        """Motions from the published numbers of tumbling bodies.

        Parameters
        ----------
        inertia : array_like, shape (..., 3)
            Principal moments in the order of the body axes; their ratios determine the motion.
        rotation, precession : array_like, shape (...)
            `period` P_psi of the rotation about the axis that m circles, and mean period P_phi of
            the turn of that axis about the momentum, ``2 pi / precession_rate``.
        mode : {"long-axis", "short-axis"} or a sequence of them
            The axis that m circles, see `mode`.
        phi0, psi0 : array_like, shape (...), optional
            Euler angles at time 0, see `euler_angles`. The angle theta follows from the periods.
        pole : array_like, shape (..., 3), optional
            Direction of the angular momentum in space; (cos b cos l, cos b sin l, sin b) for
            longitude l and latitude b.

        Returns
        -------
        motion : TorqueFreeMotion
            ``motion(0.0)`` are m0 and q0; the unit of m0 is that of `inertia` over time. As m0 is
            rounded, the relative error of the periods is a few eps over the squared cosine of the
            greatest angle of `nutation`; less if psi0 puts m near the middle axis.

        Raises
        ------
        ValueError
            If no motion has these periods: P_psi / P_phi has a least value for given moments.
            Also as the class.

        Notes
        -----
        Periods as in [Kaa01]; the manual, "Tumbling bodies", has those of [SA91].
        """
        placed = {"phi0": phi0, "psi0": psi0, "pole": pole}
        return cls(*tumblers.from_periods(inertia, rotation, precession, mode, **placed))

    @classmethod
    def from_energy(
        cls,
        inertia: ArrayLike,
        energy: ArrayLike,
        size: ArrayLike,
        *,
        phi0: ArrayLike = 0.0,
        psi0: ArrayLike = 0.0,
        pole: ArrayLike = (0.0, 0.0, 1.0),
    ) -> TorqueFreeMotion:
        """Motions of given kinetic energy and size ``|m|`` of the momentum.

        Parameters
        ----------
        inertia : array_like, shape (..., 3)
            Principal moments in the order of the body axes, none zero.
        energy, size : array_like, shape (...)
            Kinetic energy and size of the momentum. ``size**2 / (2 energy)`` lies between the least
            and the greatest moment; above the middle moment the mode is "short-axis".
        phi0, psi0, pole : array_like, optional
            As in `from_periods`.

        Raises
        ------
        ValueError
            If the energy is out of its range. Also as the class.
        """
        return cls(*tumblers.from_energy(inertia, energy, size, phi0=phi0, psi0=psi0, pole=pole))

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
            As in `step`, which also lists the errors.

        Returns
        -------
        m, q : ndarray, shape (..., 3) and (..., 4) or (..., 3, 3)
            Angular momentum, body frame, and attitude; a quaternion is the end of the continuous
            path that starts at q0.
        """
        cores = _arrays.thread_count(threads)
        if out is None and type(t) in (float, np.ndarray):
            done = _core.motion_at(*self._bodies(), t, None, None, cores)
            if done is not None:
                _warn_of_lost(done[2])
                return done[0], done[1]
        times = _arrays.real_array("t", t)
        shape = _arrays.broadcast({"t": times.shape, "bodies": self._shape})
        core = self._q0.shape[self._q0.ndim - (1 if self._q0.shape[-1] == 4 else 2) :]
        results = _arrays.outputs(out, [("m", (*shape, 3)), ("q", shape + core)])
        times = np.array(times, np.float64)  # a copy: `out` may be the times
        done = _core.motion_at(*self._bodies(), times, results[0], results[1], cores)
        if done is None:  # outputs that the core cannot reach, such as fields of a packed record
            done = _core.motion_at(*self._bodies(), times, None, None, cores)
            for target, values in zip(results, done[:2], strict=True):
                target[...] = values
        _warn_of_lost(done[2])
        return results[0], results[1]

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
        if not self._shape:
            return Regime(int(self._regime_numbers()))
        return np.array([None, *Regime], dtype=object)[self._regime_numbers()]

    @property
    def mode(self) -> Any:
        """Name of the regime for tumbling bodies: an array of strings, one for one body.

        "long-axis" in the regime AXIS1, "short-axis" in AXIS3, as a body is long along the axis of
        its least moment; "separatrix"; "principal-axis" in PERMANENT and SPHERE, where m is on a
        principal axis.
        """
        names = np.array(["", "long-axis", "separatrix", "short-axis", *2 * ["principal-axis"]])
        return names[self._regime_numbers()] if self._shape else str(names[self._regime_numbers()])

    @property
    def precession_rate(self) -> Array:
        """Mean rate (...) at which the axis that m circles turns about the momentum, rad/time.

        On the separatrix and where m does not move, the rate of the body's turn about the momentum,
        at late times. Relative error a few eps, as `period`.
        """
        return np.broadcast_to(self._constants[..., 2, 2], self._shape).copy()[()]

    @property
    def precession(self) -> Array:
        """Angle (...) of that turn in one `period`, in rad; not reduced by whole turns.

        After a period the attitude is the first one turned by this angle about the momentum:
        [CZ08] eq. (16) with complete integrals. inf where `period` is, 0 for a body at rest.
        """
        rate = self.precession_rate
        return np.multiply(rate, self.period, out=np.zeros(self._shape), where=rate != 0.0)[()]

    @property
    def nutation(self) -> Array:
        """Least and greatest angle (..., 2) between m and the axis that it circles, rad.

        The axis of the regime, its end that is nearer to m: at most pi/2. On the separatrix the
        axis of the greatest moment; zero where m does not move.
        """
        m = self._m0 if self._axes is None else to_body(self._axes, self._m0)
        return nutation(self._inertia, m, self._regime_numbers())

    def euler_angles(self, t: ArrayLike = 0.0) -> Array:
        """Euler angles (..., 3) of the principal axes against the momentum, at times t (...).

        phi, theta, psi in radians: the attitude is ``P Rz(phi) Rx(theta) Rz(psi)``, from the
        principal axes (a + 1, a + 2, a), cyclic, a the axis that m circles (short on the separatrix
        and where m does not move). P = ``Rz(l) Ry(pi/2 - b)`` takes axis 3 to the momentum at
        longitude l and latitude b. theta is from 0 to pi, phi and psi from 0 to 2 pi.
        """
        m, q = self(t)
        if self._axes is not None:
            q = q if q.shape[-1] == 4 else so3.to_quaternion(q)
            m, q = to_body(self._axes, m), so3.multiply(q, so3.to_quaternion(self._axes))
        return tumblers.euler_angles(self._inertia, self._regime_numbers(), m, q)

    def crossings(
        self,
        t0: ArrayLike,
        t1: ArrayLike,
        *,
        body: ArrayLike,
        space: ArrayLike | None = None,
        level: ArrayLike = 0.0,
        direction: int = 0,
    ) -> Any:
        """Times at which a component of m, or a body axis in space, passes a level.

        Parameters
        ----------
        t0, t1 : array_like, shape (...)
            First and last time. They broadcast against the bodies, as do the other arguments.
        body, space : array_like, shape (..., 3)
            A vector b fixed in the body, body frame, and a vector s fixed in space, space frame, as
            the direction to the Sun: the passages of ``b . Q^T s``. Without s those of ``b . m``.
        level : array_like, shape (...), optional
            The level; for unit vectors the cosine of the angle between them.
        direction : {0, 1, -1}, optional
            1: only where the value rises through the level; -1: only where it falls.

        Returns
        -------
        times : ndarray, shape (n,), or array of objects, shape (...)
            The times in rising order; for a batch one such array for each body.

        Raises
        ------
        ValueError, TypeError
            As the class; also for a time that is not finite, t1 < t0, or more than 2^50 radians.

        Notes
        -----
        No passage is left out, but two between which the value leaves the level by rounding only,
        ``8 eps (1 + angle)`` of its size, may be, and one at t0 or t1. The error of a time is that
        of the motion over the slope. A body with NaN has no passages.
        """
        return passages.times(self._bodies(), self._shape, t0, t1, body, space, level, direction)

    def _regime_numbers(self) -> NDArray[np.intp]:
        return np.broadcast_to(self._constants[..., 2, 1], self._shape).astype(np.intp)

    def plot(
        self,
        t: ArrayLike | None = None,
        body: int | tuple[int, ...] = 0,
        *,
        panels: Sequence[str] | None = None,
        ax: Any = None,
        time_unit: str | None = None,
        degrees: bool = False,
    ) -> Figure:
        """Picture of one body at times t (n,), as `Trajectory.plot` makes it.

        Its panels are "momentum", "axes", "attitude" and "omega" by default. None: 400 times over
        two periods of m, or over four rotations at the initial rate if m is not periodic or is
        constant. Errors are those of `Trajectory.plot`; ValueError also if t is not of shape (n,).
        """
        from polhode.display.plot import plot_motion

        return plot_motion(self, t, body, panels, ax=ax, time_unit=time_unit, degrees=degrees)

    def animate(
        self,
        t: ArrayLike | None = None,
        body: int | tuple[int, ...] = 0,
        *,
        interval: float = 40.0,
        time_unit: str | None = None,
    ) -> FuncAnimation:
        """Moving picture of one body at times t (n,), as `Trajectory.animate` makes it.

        None: 200 times, as in `plot`.
        """
        from polhode.display.animate import animate
        from polhode.display.plot import states_at

        return animate(states_at(self, t, body, 200), interval, time_unit)

    def _bodies(self) -> tuple[Array, Array, Array, Array, Array | None]:
        return self._inertia, self._m0, self._q0, self._constants, self._axes

    def _of_body(self, at: tuple[int, ...]) -> TorqueFreeMotion:
        """The motion of one body of the batch."""
        attitude = self._q0.shape[-1:] if self._q0.shape[-1] == 4 else (3, 3)
        inertia, m0, q0 = (
            np.broadcast_to(a, self._shape + core)[at]
            for a, core in ((self._inertia, (3,)), (self._m0, (3,)), (self._q0, attitude))
        )
        axes = None if self._axes is None else np.broadcast_to(self._axes, (*self._shape, 3, 3))[at]
        return TorqueFreeMotion(inertia, m0, q0, axes=axes)

    __setstate__ = _arrays.set_state

    def __repr__(self) -> str:
        if self._shape:
            return f"<TorqueFreeMotion: {self._shape} bodies>"
        return f"<TorqueFreeMotion: {self.regime.name}, period {self.period:.6g}>"
