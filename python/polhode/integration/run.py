"""`polhode.Run`: an integration whose arguments are checked once, and that is carried out often."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike
from polhode.integration import loop
from polhode.integration.check_arguments import settings_of
from polhode.integration.record import State
from polhode.integration.thermostat import NoseHoover, Thermostat
from polhode.integrators.splittings import Splitting
from polhode.integrators.tableaus import MuntheKaas
from polhode.torques import TorqueLike


class Run:
    """A prepared integration: its arguments are checked once, then it is advanced often.

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

    _integration: _core.Integration
    #: Whether the core itself can begin again; all bodies, which are then finite.
    _restarts = False
    _all: NDArray[np.bool_]

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
        """Begin again from another state, checked as in the constructor.

        Takes less time than ``advance(1)`` if m0 and q0 have the shapes of before and are arrays of
        doubles in C order (of one body also lists). Takes about as long as a new `Run` for other
        arrays and nested lists, if a body is a rod, and for runs with a mass, a state of the
        torque, a thermostat or a torque in Python.
        """
        plain = self._restarts and x0 is None and p0 is None and state0 is None
        if plain and self._integration.restart(m0, q0, t0):
            self._t0 = float(t0)
            self._finite = self._whole = self._all
            return
        settings = self._settings_of(m0=m0, q0=q0, t0=t0, x0=x0, p0=p0, state0=state0)
        state = State.begin(settings)
        whole = settings.splitting.saves_whole_state
        if settings.borrows and whole and len(state.arrays()) == 2:  # m and q, which the core shows
            state.start = settings.m0, settings.q0
        self._settings, self._state, self._t0 = settings, state, settings.t0
        self._nonfinite_torque = np.zeros(state.m.shape[:-1], np.bool_)
        self._integration = loop.in_core(settings, state, (), self._nonfinite_torque)
        self._integration.advance(0)
        self._finite = loop.are_finite(settings, self.m, self.q)
        self._whole = self._finite & loop.finite_companions(settings, state)
        self._rates = [name for name in ("p", "s") if name in settings.companions]
        self._all = np.ones(state.m.shape[:-1], np.bool_)
        bath = settings.thermostat is not None or bool(settings.companions)
        self._restarts = settings.in_core and not bath

    @property
    def t(self) -> float:
        """Time, ``t0 + n_steps * h``."""
        return self._t0 + self.n_steps * float(self._settings.h)

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
        if not fine or (self._rates and not self._rates_are_finite()):
            self._warn_of_lost()

    # Of its own: in `advance` self would be slower, as a variable of two functions.
    def _rates_are_finite(self) -> bool:
        return all(np.isfinite(getattr(self._state, name)).all() for name in self._rates)

    def _warn_of_lost(self) -> None:
        finite = self._finite & loop.are_finite(self._settings, self.m, self.q)
        whole = finite & self._whole & loop.finite_companions(self._settings, self._state)
        lost, by_others = self._finite & ~finite, finite & self._whole & ~whole
        self._finite, self._whole = finite, whole
        loop.warn(self._settings, lost, self._nonfinite_torque, by_others)

    def __repr__(self) -> str:
        return f"Run(t = {self.t:g} after {self.n_steps} steps, bodies {self.m.shape[:-1]})"
