"""`polhode.Trajectory`: the saved states of an integration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _core
from polhode._arrays import Array
from polhode._axes import to_body, to_space
from polhode.integration.thermostat import bath_energy, turning_axes
from polhode.integrators.table import warn_user
from polhode.torques import Torque

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure

#: Bodies evaluated at a time, so that memmaps are not read whole.
CHUNK = 2**14


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of bodies at saved times, as `integrate` returns them.

    Attributes
    ----------
    t : ndarray, shape (T,)
        Times: the start, every save, the end.
    m : ndarray, shape (T, ..., 3)
        Angular momentum, body frame.
    q : ndarray, shape (T, ..., 4) or (T, ..., 3, 3)
        Attitude, body to space, in the form in which it was given.
    inertia : ndarray, shape (..., 3)
        Principal moments. Only if the body axes are the principal axes: a trajectory with `axes`
        does not have it, since m is in other axes. With `moments` of `integrate` those of each
        state, (T, ..., 3).
    torque : tuple of Torque
        The terms of the torque.
    axes : ndarray, shape (..., 3, 3), or None
        Principal axes in the body frame, in columns, if the body axes are others
        (`RigidBody.integrate`).
    x, p : ndarray, shape (T, ..., 3), or None
        Centre of mass and its momentum, space frame, if the bodies have a mass.
    state : ndarray, shape (T, ..., k), or None
        State of the torques, if they have one.
    mass : ndarray, shape (...) or (), or None
    chains : ndarray, shape (T, 2, chain, 2), or None
        Of a `NoseHoover`, for rotation and translation: position and velocity of each link.
    t_events, m_events, q_events : list or None
        Times, momenta and attitudes of the events of `integrate`, with one entry for each event:
        an array, (K,), (K, 3) and (K, 4) or (K, 3, 3); for a batch a list of such arrays, one for
        each body, in C order. ``x_events``, ``p_events``, ``state_events``: x, p and state.
    n_steps, n_rejected : ndarray of int, shape (...), or None
        Adaptive steps of each body, and those that were repeated with a shorter one, of a body that
        a terminal event ended also some after it.

    Notes
    -----
    With ``integrate(save_to=...)`` the arrays are memmaps; the methods read them in pieces.
    """

    t: Array
    m: Array
    q: Array
    inertia: Array
    torque: tuple[Torque, ...] = field(default=(), repr=False)
    axes: Array | None = field(default=None, repr=False)
    x: Array | None = field(default=None, repr=False)
    p: Array | None = field(default=None, repr=False)
    state: Array | None = field(default=None, repr=False)
    mass: Array | None = field(default=None, repr=False)
    chains: Array | None = field(default=None, repr=False)
    t_events: list[Any] | None = field(default=None, repr=False)
    m_events: list[Any] | None = field(default=None, repr=False)
    q_events: list[Any] | None = field(default=None, repr=False)
    x_events: list[Any] | None = field(default=None, repr=False)
    p_events: list[Any] | None = field(default=None, repr=False)
    state_events: list[Any] | None = field(default=None, repr=False)
    n_steps: NDArray[np.int64] | None = field(default=None, repr=False)
    n_rejected: NDArray[np.int64] | None = field(default=None, repr=False)
    #: The `Settings` of the integration, or the function of the trajectory that returns them; and
    #: when a terminal event ended each body.
    _settings: Any = field(default=None, repr=False)
    _ended: Array | None = field(default=None, repr=False)

    #: `load`, put here by the module that reads what trajectories are made of.
    _read: ClassVar[Callable[..., Trajectory]]

    #: The states at any times, put here by the module that knows the steps.
    _at: ClassVar[Callable[..., tuple[Array, ...]]]

    #: Principal moments, in the order of `axes`.
    _moments: ClassVar[Array]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_moments", self.inertia)
        if self.axes is not None:
            object.__delattr__(self, "inertia")

    @classmethod
    def of_parts(
        cls,
        t: Array,
        m: Array,
        q: Array,
        inertia: Array,
        torque: tuple[Torque, ...],
        settings: Any,
        **more: Any,
    ) -> Trajectory:
        """The same as `Trajectory(t, m, q, inertia, torque, _settings=settings)`, but faster."""
        made = object.__new__(cls)
        fields = {
            "t": t, "m": m, "q": q, "inertia": inertia, "torque": torque, "_settings": settings,
            "_moments": inertia, **more,
        }  # fmt: skip
        object.__setattr__(made, "__dict__", fields)
        return made

    def __getattr__(self, name: str) -> Any:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name == "inertia":
            text += ": m is not along the principal axes; see body.tensor, or omega() and energy()"
        raise AttributeError(text, name=name, obj=self)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} ... {self.t[-1]:g}" if len(self) else "empty"
        return f"{type(self).__name__}({len(self)} states of shape {self.m.shape[1:-1]}, {span})"

    @staticmethod
    def load(
        path: str | os.PathLike[str], torque: Any = None, *, moments: Any = None
    ) -> Trajectory:
        """The states that ``integrate(save_to=path)`` has saved so far, possibly 0 of them.

        The run may still be going on, or may have been killed. The arguments are those of `resume`,
        which also lists the errors; of torques that were not stored only the potential is used. The
        arrays are read-only memmaps.
        """
        return Trajectory._read(path, torque, moments)

    def __call__(self, t: ArrayLike) -> tuple[Array, ...]:
        """Momentum and attitude at any times between the first and the last state.

        Parameters
        ----------
        t : array_like, shape (...)
            Times. They broadcast against the bodies, as in `TorqueFreeMotion`: shape (T, 1) with N
            bodies gives all T times of all N, shape (N,) one time for each body.

        Returns
        -------
        m, q : ndarray, shape (..., 3) and (..., 4) or (..., 3, 3)
            Angular momentum, body frame, and attitude.
        x, p, state : ndarray
            As far as the bodies have them.

        Raises
        ------
        ValueError
            If a time is outside of the trajectory (the message names the first), the steps have
            both signs, there is a thermostat, or the trajectory was not made by `integrate`. A
            torque that was not stored must have been given to `resume` or `load`.

        Notes
        -----
        From the last saved state at or before a time the bodies take the steps of the integration,
        the last of them shorter, so that the result has the order of the scheme. See also
        "Trajectories" in the manual.
        """
        settings = self._settings(self) if callable(self._settings) else self._settings
        return self._at(self, t, settings, self._ended)

    def energy(self) -> Array:
        """Kinetic energy plus the potential of every torque that has one, shape (T, ...).

        Of bodies with a mass also the kinetic energy of their centres of mass.

        Warns
        -----
        RuntimeWarning
            Once per call, with the names of the user-defined torques without a potential, which is
            missing. For a torque that has none, such as damping, give one that returns zeros.
        """
        missing = [repr(term) for term in self.torque if term.lacks_potential]
        if missing:
            names = ", ".join(missing)
            warn_user(f"the energy leaves out the potential of {names}: give potential=")
        energy = np.empty(self.m.shape[:-1])
        for at in self._pieces():
            m, q = np.asarray(self.m[at]), np.asarray(self.q[at])
            energy[at] = self._kinetic(m, at)
            if self.p is not None:
                energy[at] += self._translation(at)
            for term in self.torque:
                if not term.has_potential:
                    continue
                if term.any_batch and not term.depends_on_t:
                    energy[at] += term.potential(0.0, q)
                else:
                    for k, t in enumerate(self.t[at], at.start):
                        moving = self.x if "x" in term.takes else None
                        parts = [each[k] for each in (self.q, moving) if each is not None]
                        energy[k] += term.potential(float(t), *map(np.asarray, parts))
        return energy

    def temperature(self) -> tuple[Array | None, Array]:
        """k T of translation and of rotation, each of shape (T,): means over all bodies.

        The unit is that of energy; divide by Boltzmann's constant. A body has 3 degrees of freedom
        of rotation, a rod 2. Of translation it is None without a mass, and the momentum of the
        whole system is not removed.
        """
        rotation = np.concatenate(
            [self._kinetic(np.asarray(self.m[at]), at) for at in self._pieces()]
        )
        bodies = int(np.prod(self.m.shape[1:-1])) or np.nan
        moments = self._moments_of(slice(0, 1))
        axes = np.broadcast_to(turning_axes(moments), self.m[:1].shape).sum() or np.nan
        translation = None
        if self.p is not None:
            each = np.concatenate([self._translation(at) for at in self._pieces()])
            translation = each.sum(axis=tuple(range(1, each.ndim))) / (1.5 * bodies)
        return translation, rotation.sum(axis=tuple(range(1, rotation.ndim))) / (0.5 * axes)

    def bath_energy(self) -> Array:
        """Energy of the chains of a `NoseHoover`, shape (T,), 0 at the start.

        Its sum with the energies of all bodies is conserved. Raises ValueError without such a bath.
        """
        if self.chains is None:
            raise ValueError("bath_energy is for a run with thermostat=NoseHoover(...)")
        return bath_energy(self._settings.nose_hoover, self.chains)

    def omega(self) -> Array:
        """Angular velocity in the body frame, shape (T, ..., 3), radians per time.

        It is along the axes of `m`, and zero about the axis of a rod.
        """
        m = np.asarray(self.m)
        if self.axes is None:
            return np.asarray(_core.omega(self._moments, m))
        return to_space(self.axes, np.asarray(_core.omega(self._moments, to_body(self.axes, m))))

    def casimir(self) -> Array:
        """Half the square of the momentum, |m|^2/2, shape (T, ...)."""
        return np.asarray(_core.casimir(np.asarray(self.m)))

    def momentum_spatial(self) -> Array:
        """Angular momentum in the space frame, Q m, shape (T, ..., 3)."""
        return to_space(np.asarray(self.q), np.asarray(self.m))

    def plot(
        self,
        body: int | tuple[int, ...] = 0,
        *,
        panels: Sequence[str] | None = None,
        ax: Any = None,
        time_unit: str | None = None,
        degrees: bool = False,
    ) -> Figure:
        """Picture of one body: its momentum on the sphere, its attitude, its invariants.

        Parameters
        ----------
        body : int or tuple of int, optional
            Which body of a batch.
        panels : str or sequence of str, optional
            Panels in their order; by default the first three and the last of these:

            - "momentum": m on the sphere |m| = const, with the curves of constant energy
              (polhodes; the separatrix is dashed) on which it would move without torque.
            - "axes": the tips of the body axes on the unit sphere of the space frame.
            - "attitude": the components of the quaternion.
            - "omega": the angular velocity in the body frame.
            - "herpolhode": the tip of the angular velocity in space, in the plane normal to the
              momentum at the start.
            - "invariants": the relative change of energy, |m| and the momentum in space. Under a
              torque only of the energy, or of the kinetic energy if a torque has no potential;
              torques that depend on time change it.
        ax : matplotlib.axes.Axes or a sequence of them, optional
            Where to draw, one per panel; "momentum" and "axes" need ``projection="3d"``. None: a
            new figure.
        time_unit : str, optional
            Unit of time for the labels, such as "s".
        degrees : bool, optional
            Angular velocities in degrees.

        Returns
        -------
        matplotlib.figure.Figure
            One axes object per panel.

        Raises
        ------
        ImportError, IndexError, ValueError
            If Matplotlib is missing (``pip install "polhode[plot]"``); if there is no such body; if
            a panel is unknown, `ax` does not fit, or the trajectory is empty.
        """
        from polhode.display.plot import plot

        return plot(self, body, panels, ax=ax, time_unit=time_unit, degrees=degrees)

    def animate(
        self,
        body: int | tuple[int, ...] = 0,
        *,
        interval: float = 40.0,
        time_unit: str | None = None,
    ) -> FuncAnimation:
        """Moving picture of the attitude of one body, as the homogeneous box with its moments.

        Parameters
        ----------
        body, time_unit
            As in `plot`, which also lists the errors.
        interval : float, optional
            Milliseconds between two pictures.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            One picture for each saved state, of at most 1000 that are evenly spaced. Keep it in a
            variable while it runs. A side of less than a fiftieth of the longest is drawn as one.
            Lines: the axes of m, and dashed the direction of the angular momentum in space.
        """
        from polhode.display.animate import animate
        from polhode.display.plot import saved_states

        return animate(saved_states(self, body, most=1000), interval, time_unit)

    def to_xarray(self) -> xarray.Dataset:
        """The states as an `xarray.Dataset`.

        Variables ``m`` (t, body, axis), ``q`` (t, body, component), or for matrices (t, body,
        space_axis, axis), and ``inertia`` (axis) or (body, axis); for a trajectory in the axes of a
        `RigidBody` ``tensor`` (axis, other_axis). With a mass also ``x``, ``p`` (t, body,
        space_axis) and ``mass``, with a state ``state`` (t, body, number). A batch of several axes
        has ``body_1``, ``body_2`` and so on; a single body no such dimension. Attributes say the
        frames and the torque. Arrays are not copied. Raises ImportError without xarray
        (``pip install "polhode[tables]"``).
        """
        from polhode.display.tables import to_xarray

        return to_xarray(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The states as a `pandas.DataFrame`, one row for each time and body.

        Columns m1, m2, m3 (body frame) and qw, qx, qy, qz, or q11, q12 ... q33 for matrices, with a
        mass x1 ... p3, with a state state1, state2 ...; index ``t``, with levels for a batch that
        are named as in `to_xarray`, as are the errors.
        """
        from polhode.display.tables import to_pandas

        return to_pandas(self)

    @property
    def _frame(self) -> str:
        """The body axes of m and q."""
        return "principal axes" if self.axes is None else "axes of the inertia tensor"

    def _kinetic(self, m: Array, at: slice) -> Array:
        principal = m if self.axes is None else to_body(self.axes, m)
        return np.asarray(_core.energy(self._moments_of(at), principal))

    def _moments_of(self, at: slice) -> Array:
        """The moments of these saves, or of all if they are constant."""
        return self._moments[at] if self._moments.ndim == self.m.ndim else self._moments

    def _translation(self, at: slice) -> Array:
        """Kinetic energy of the centres of mass."""
        assert self.p is not None
        p = np.asarray(self.p[at])
        return np.asarray(0.5 * (p * p).sum(axis=-1) / self.mass)

    def _pieces(self) -> Iterator[slice]:
        """The saves, a bounded number of bodies at a time."""
        step = max(1, CHUNK // max(1, int(np.prod(self.m.shape[1:-1]))))
        for k in range(0, len(self), step):
            yield slice(k, min(k + step, len(self)))
