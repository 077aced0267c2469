"""Short calls of `integrate`: few steps, or adaptive ones, by a single call of the core."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from numpy.typing import ArrayLike

from polhode import _core
from polhode.integration import adaptive
from polhode.integration.check_arguments import check, settings_of
from polhode.integration.observed import run_in_memory
from polhode.integration.record import Settings, step_arguments
from polhode.integration.torque_callback import interrupted
from polhode.integration.trajectory import Trajectory
from polhode.integrators.splittings import NO_SPLITTING, as_splitting
from polhode.integrators.table import may_lack_root, method_index, option_values
from polhode.integrators.tableaus import MuntheKaas
from polhode.torques import Model, Torque, TorqueLike


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
    """A run in memory by `_core.integrate`: few steps of given length, or adaptive ones.

    None for other runs, and for unusual or wrong arguments: `settings_of` has the messages.
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
    if integrator is None:
        return None
    given = h, n_steps, terms, splitting, method, t0, save_every, way
    try:
        parts = _core.integrate(integrator, h, n_steps, t0, save_every, inertia, m0, q0, *way)
    except BaseException as error:  # of the handler of a signal: only the start is saved
        settings = _settings(*given, inertia, m0, q0)
        start = run_in_memory(settings, (), False, lambda *_: True)
        interrupted(error, f"after 0 steps of the integration, at t = {settings.t0}", start)
        raise
    if not parts:
        return None
    t, m, q, inertia, costs = parts
    more = {"n_steps": costs[0], "n_rejected": costs[1]} if way else {}
    again = functools.partial(_again, given)
    return Trajectory.of_parts(t, m, q, inertia, terms, again, **more)


_tolerance = functools.lru_cache(maxsize=64, typed=True)(adaptive.tolerance_of)


def _again(given: tuple[Any, ...], trajectory: Trajectory) -> Settings:
    """The settings of a trajectory."""
    return _settings(*given, trajectory.inertia, trajectory.m[0], trajectory.q[0])


def _settings(*given: Any) -> Settings:
    h, n_steps, terms, splitting, method, t0, save_every, way, inertia, m0, q0 = given
    if way:
        h, n_steps = adaptive.whole_way(t0, way[0]), 1
    settings = settings_of(
        inertia, m0, q0, h, n_steps, list(terms) or None, splitting, method, t0, save_every, False,
        None, {}, in_memory=True,
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
