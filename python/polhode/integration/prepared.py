"""What is checked once and carried out often: `polhode.Run`, short calls of `integrate`."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike
from polhode.integration import adaptive, loop
from polhode.integration.arguments import check, settings_of
from polhode.integration.state import Settings, State, step_arguments
from polhode.integration.thermostat import NoseHoover, Thermostat
from polhode.integration.trajectory import Trajectory
from polhode.integrators.splittings import NO_SPLITTING, Splitting, as_splitting
from polhode.integrators.table import may_lack_root, method_index, option_values
from polhode.integrators.tableaus import MuntheKaas
from polhode.torques import Model, Torque, TorqueLike


class Run:
    """A prepared integration: its arguments are checked once, then it is advanced in microseconds.

    For control loops, particle codes and other programs that take the steps themselves. The states
    are those of `integrate`, bit for bit.

    Parameters
    ----------
    inertia, m0, q0, mass, x0, p0, state0, thermostat, torque, splitting, method, t0, compensated, \
threads, **options
        As in `integrate`.
    h : float
        Time step, of either sign.

    Raises
    ------
    ValueError, TypeError
        As `integrate`; also if h is not one number.

    Notes
    -----
    Nothing is saved but the current state. A torque that is given on an interval of time is not
    checked ahead: outside it is NaN, see `torques.Prescribed`.
    """

    def __init__(
        self,
        inertia: ArrayLike,
        m0: ArrayLike,
        q0: AttitudeLike,
        h: float,
        *,
        mass: ArrayLike | None = None,
        x0: ArrayLike | None = None,
        p0: ArrayLike | None = None,
        state0: ArrayLike | None = None,
        thermostat: Thermostat | NoseHoover | None = None,
        torque: TorqueLike = None,
        splitting: str | Splitting | Sequence[Sequence[float]] | None = "strang",
        method: str | MuntheKaas = "exact",
        t0: float = 0.0,
        compensated: bool = False,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        self._settings_of = functools.partial(
            settings_of, copy.deepcopy(inertia), h=_arrays.one_number("h", h), n_steps=None,
            torque=torque, splitting=splitting, method=method, save_every=1,
            compensated=compensated, threads=threads, options=options, in_memory=True, mass=mass,
            thermostat=thermostat,
        )  # fmt: skip
        self.reset(m0, q0, t0, x0=x0, p0=p0, state0=state0)

    def reset(
        self,
        m0: ArrayLike,
        q0: AttitudeLike,
        t0: float = 0.0,
        *,
        x0: ArrayLike | None = None,
        p0: ArrayLike | None = None,
        state0: ArrayLike | None = None,
    ) -> None:
        """Begin anew from another state, checked as in the constructor."""
        settings = self._settings_of(m0=m0, q0=q0, t0=t0, x0=x0, p0=p0, state0=state0)
        state = State.begin(settings)
        whole = settings.splitting.saves_whole_state
        if settings.borrows and whole and len(state.arrays()) == 2:  # m and q, which the core shows
            state.start = settings.m0, settings.q0
        self._settings, self._state = settings, state
        self._nonfinite_torque = np.zeros(state.m.shape[:-1], np.bool_)
        self._integration = loop.in_core(settings, state, (), self._nonfinite_torque)
        self._integration.advance(0)
        self._finite = loop.are_finite(settings, self.m, self.q)
        self._whole = self._finite & loop.finite_companions(settings, state)
        self._rates = [name for name in ("p", "s") if name in settings.companions]

    @property
    def t(self) -> float:
        """Time, ``t0 + n_steps * h``."""
        return self._settings.time(self.n_steps)

    @property
    def m(self) -> Array:
        """Angular momentum, shape (..., 3), body frame; read-only, later steps do not change it."""
        return self._integration.m

    @property
    def q(self) -> Array:
        """Attitude, shape (..., 4) or (..., 3, 3), body to space; as `m`."""
        return self._integration.attitude

    @property
    def x(self) -> Array | None:
        """Centre of mass, shape (..., 3), space frame; None without a mass."""
        return self._copy(self._state.x)

    @property
    def p(self) -> Array | None:
        """Momentum of the centre of mass, as `x`."""
        return self._copy(self._state.p)

    @property
    def state(self) -> Array | None:
        """State of the torques, shape (..., k); None without one."""
        return self._copy(self._state.s)

    @staticmethod
    def _copy(array: Array | None) -> Array | None:
        return None if array is None else array.copy()

    @property
    def n_steps(self) -> int:
        """Number of steps so far."""
        return self._integration.done

    def advance(self, n_steps: int = 1) -> None:
        """Carry out the next steps.

        Parameters
        ----------
        n_steps : int, optional
            Their number.

        Warns
        -----
        RuntimeWarning
            As `integrate`, for bodies that became NaN in these steps.

        Raises
        ------
        ValueError, TypeError
            If `n_steps` is negative or not an integer. After an exception of a torque or
            KeyboardInterrupt the state is the one before the call.
        """
        fine = self._integration.advance(n_steps)
        if not (fine and all(np.isfinite(getattr(self._state, k)).all() for k in self._rates)):
            finite = self._finite & loop.are_finite(self._settings, self.m, self.q)
            whole = finite & self._whole & loop.finite_companions(self._settings, self._state)
            lost, by_others = self._finite & ~finite, finite & self._whole & ~whole
            self._finite, self._whole = finite, whole
            loop.warn(self._settings, lost, self._nonfinite_torque, by_others)

    def __repr__(self) -> str:
        return f"Run(t = {self.t:g} after {self.n_steps} steps, bodies {self.m.shape[:-1]})"


def at_once(
    torque: TorqueLike,
    splitting: Any,
    method: str | MuntheKaas,
    h: ArrayLike | None,
    n_steps: int | None,
    t0: float,
    save_every: int,
    inertia: Any,
    m0: Any,
    q0: Any,
    t_end: float | None = None,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
) -> Trajectory | None:
    """A short run in memory of ordinary arguments: see `_core.integrate`; None for others.

    Whatever is unusual or wrong is left to `settings_of`, which has the messages.
    """
    if isinstance(torque, (list, tuple)):
        terms = tuple(torque)
    else:
        terms = () if torque is None else (torque,)
    for term in terms:
        if not isinstance(term, Model) or term.batch:
            return None
    try:
        way = () if t_end is None else (t_end, *_tolerance(rtol, atol))  # type: ignore[arg-type]
        if way:
            splitting, method = adaptive.scheme(splitting, method)
        elif rtol is not None or atol is not None:
            return None
        integrator = _integrator(terms, splitting, method)
    except (TypeError, ValueError):  # wrong, or lists
        return None
    arguments = h, n_steps, t0, save_every, inertia, m0, q0
    parts = integrator and _core.integrate(integrator, *arguments, *way)
    if not parts:
        return None
    t, m, q, inertia, costs = parts
    again = functools.partial(_again, h, n_steps, torque, splitting, method, t0, save_every, way)
    more = {"n_steps": costs[0], "n_rejected": costs[1]} if way else {}
    return Trajectory.of_parts(t, m, q, inertia, terms, again, **more)


_tolerance = functools.lru_cache(maxsize=64, typed=True)(adaptive.tolerance_of)


def _again(*arguments: Any) -> Settings:
    """The settings of a trajectory, the last of the arguments of `settings_of`."""
    h, n_steps, torque, splitting, method, t0, save_every, way, trajectory = arguments
    if way:
        h, n_steps = adaptive.whole_way(t0, way[0]), 1
    settings = settings_of(
        trajectory.inertia, trajectory.m[0], trajectory.q[0], h, n_steps, torque, splitting, method,
        t0, save_every, False, None, {}, in_memory=True,
    )  # fmt: skip
    return adaptive.adaptive_settings(settings, way[0], way[1:], None, None) if way else settings


@functools.lru_cache(maxsize=64)
def _integrator(terms: tuple[Torque, ...], splitting: Any, method: str | MuntheKaas) -> Any:
    """What a step does with any bodies; None if that depends on them, or is an error."""
    try:
        row = method_index(method, {})
        settings = dataclasses.replace(
            _any_body(),
            method=row,
            options=option_values(row, {}, method),
            splitting=NO_SPLITTING if splitting is None else as_splitting(splitting),
            torque=list(terms),
        )
        check(settings, endless=True)
    except (ValueError, TypeError):
        return None
    if may_lack_root(row, settings.options) or settings.terms != settings.torque:
        return None
    if any(term.span is not None or not term.in_core for term in terms):
        return None
    models = tuple(term.core_term((), False) for term in terms)
    return _core.Integrator(**step_arguments(settings), models=models)


@functools.cache
def _any_body() -> Settings:
    return settings_of(
        [1, 1, 1], [0, 0, 0], [1, 0, 0, 0], 0.0, None, None, "strang", "exact", 0.0, 1, False, None,
        {}, in_memory=True,
    )  # fmt: skip
