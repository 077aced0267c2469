"""Moments of inertia that vary in time; the core evaluates them before each free flow."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.integration.record import Settings
from polhode.integration.torque_callback import note_of_step
from polhode.torques._function import check_functions, fitting
from polhode.torques._model import ModelOfInertia

Moments = Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class MomentsInTime:
    """Principal moments of bodies, of the shape (..., 3), as a user-defined function of time."""

    function: Moments
    shape: tuple[int, ...]

    def __call__(self, t: float, step: int | None = None) -> Array:
        """The moments at time t, checked, for all bodies."""
        try:
            moments = fitting("moments", self.function(t), self.shape)
            _arrays.check_inertia(moments, f"moments at t = {t}")
        except Exception as error:
            if step is not None:
                note_of_step(error, step, t)
            raise
        return moments

    def rows(self, t: Array) -> Array:
        """The moments at these times (T,), shape (T, ..., 3), NaN where the function fails.

        After an exception the trajectory has the states so far.
        """
        rows = np.full((len(t), *self.shape), np.nan)
        for row, time in zip(rows, t.tolist(), strict=True):
            with contextlib.suppress(Exception):
                row[...] = fitting("moments", self.function(time), self.shape)
        return rows


def varying_settings(settings: Settings, moments: Moments) -> Settings:
    """These settings with moments that are a function of time, checked."""
    check_functions({"moments": moments})
    scheme, terms = settings.splitting, settings.terms
    for bad, why in (
        (settings.direct, "a splitting, not a direct integrator"),
        (
            scheme.attitude_only or scheme.modified or bool(scheme.processor),
            f"a splitting for torques that depend on m; {scheme.name!r} is none: its order "
            "supposes a kinetic energy that does not depend on time",
        ),
        (
            any(isinstance(term, ModelOfInertia) for term in terms),
            "torques that do not depend on the moments: write it as a function of t, m and q",
        ),
    ):
        if bad:
            raise ValueError(f"moments that vary need {why}")
    made = MomentsInTime(moments, settings.m0.shape)
    start = made(settings.t0)
    largest = start.max(axis=-1, keepdims=True)
    off = (np.abs(start - settings.inertia) > 1e-9 * largest).any(axis=-1)
    _arrays.refuse("moments(t0)", start, off, 1, "inertia must be the same at t0")
    return replace(settings, moments=made, moments0=start.copy())
