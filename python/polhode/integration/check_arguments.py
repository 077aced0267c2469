"""The arguments of `integrate`, checked."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._axes import to_body
from polhode.bodies.inertia import PrincipalInertia
from polhode.integration.record import Settings
from polhode.integration.thermostat import NoseHoover, Thermostat
from polhode.integrators.splittings import NO_SPLITTING, Splitting, as_splitting
from polhode.integrators.table import (
    METHODS,
    corrects_energy,
    direct_facts,
    method_index,
    option_values,
)
from polhode.integrators.tableaus import MuntheKaas
from polhode.torques import Function, TorqueLike, as_terms


def settings_of(
    inertia: ArrayLike | PrincipalInertia,
    m0: ArrayLike,
    q0: AttitudeLike,
    h: ArrayLike,
    n_steps: int | None,
    torque: TorqueLike,
    splitting: str | Splitting | Sequence[Sequence[float]] | None,
    method: str | MuntheKaas,
    t0: float,
    save_every: int,
    compensated: bool,
    threads: int | None,
    options: dict[str, Any],
    breaks: ArrayLike | None = None,
    *,
    in_memory: bool,
    mass: ArrayLike | None = None,
    x0: ArrayLike | None = None,
    p0: ArrayLike | None = None,
    state0: ArrayLike | None = None,
    thermostat: Thermostat | NoseHoover | None = None,
) -> Settings:
    """The settings of a run, from the arguments of `integrate`.

    With a `PrincipalInertia`, m0, q0 and the torque are in body axes that are not the principal
    ones. A run `in_memory` may use the arrays m0 and q0 themselves. A run without `n_steps` has no
    end.
    """
    given = {}
    if isinstance(inertia, PrincipalInertia):
        given["axes"] = Operand("axes", inertia.axes, 3, 3)
        inertia = inertia.moments
    axes = given.get("axes")
    row = method_index(method, options)
    scheme = NO_SPLITTING if splitting is None else as_splitting(splitting)
    terms = as_terms(torque)
    count = 0 if n_steps is None else _arrays.step_count(n_steps)
    every = _arrays.whole("save_every", save_every, 1)

    given |= {"inertia": Operand("inertia", inertia, 3), "m0": Operand("m0", m0, 3)}
    given["q0"] = _arrays.attitude_operand("q0", q0)
    given |= _companions(mass, x0, p0, state0)
    batches = {name: o.batch for name, o in given.items()}
    batches |= {f"torque[{i}]": term.batch for i, term in enumerate(terms) if term.batch}
    shape = _arrays.broadcast(batches)
    moments, momenta, attitude = (given[name].array for name in ("inertia", "m0", "q0"))
    principal = momenta if axes is None else to_body(axes.array, momenta.astype(np.float64))
    _core.validate(("inertia", moments), ("m0", principal, momenta), ("q0", attitude))
    for term in terms:
        term.check_attitude(given["q0"].core == (3, 3))
    borrowed = in_memory and axes is None and all(term.in_core for term in terms)
    arrays: dict[str, Any] = {}
    for name, o in given.items():
        shared = name in ("inertia", "axes", "mass") and o.array.size == prod(o.core)
        arrays[name] = _whole(o, () if shared else shape, borrowed and name in ("m0", "q0"))
    steps = _arrays.real_array("h", h).astype(np.float64)
    if steps.shape not in ((), (count,)):
        raise ValueError(f"h must be a number or have shape ({count},), not {steps.shape}")
    settings = Settings(
        method=row,
        options=option_values(row, options, method),
        splitting=scheme,
        torque=terms,
        h=steps,
        t0=_arrays.one_number("t0", t0),
        n_steps=count,
        save_every=min(every, _arrays.MOST_STEPS),
        compensated=bool(compensated),
        threads=_arrays.thread_count(threads),
        polhode=_core.build["version"],
        isa=_core.build["isa"],
        breaks=_breaks(breaks),
        **_heat(thermostat, moments, arrays["m0"], mass),
        **arrays,
    )
    saves = settings.saves(count)
    if 8 * saves * (1 + sum(start.size for start in settings.starts)) >= 2**62:
        states = f"save_every = {settings.save_every} saves {saves} states"
        raise ValueError(f"n_steps = {count} with {states}, more than any memory holds")
    check(settings, endless=n_steps is None)
    return settings


def times_of(settings: Settings, t_eval: ArrayLike, last: float | None = None) -> Array:
    """The argument `t_eval`, checked; `last` is the time at the end, if steps do not give it."""
    if settings.save_every != 1:
        raise ValueError("t_eval replaces the saves: give no save_every")
    given = _arrays.real_array("t_eval", t_eval)
    if given.ndim != 1:
        raise ValueError(f"t_eval must have one axis, not shape {given.shape}")
    first, sign = settings.t0, settings.direction
    last = settings.time(settings.n_steps) if last is None else last
    if sign == 0:
        raise ValueError("t_eval needs steps of one sign")
    _arrays.refuse("t_eval", given, np.isnan(given), 0, f"must be between {first} and {last}")
    t = _arrays.times_between("t_eval", given, first, last, settings.h.size)
    back = np.diff(sign * t, prepend=-np.inf) < 0.0
    _arrays.refuse("t_eval", given, back, 0, "is before the time that precedes it")
    return t


def check(settings: Settings, endless: bool = False) -> None:
    """Raise ValueError if method, splitting, torque and number of steps do not fit together."""
    _check_method(settings, endless)
    _check_breaks(settings)
    _check_companions(settings)
    _check_thermostat(settings)
    if settings.events is not None and settings.direction == 0:
        raise ValueError("events need steps of one sign")
    _check_terms(settings)
    _check_span(settings)


def _whole(operand: Operand, shape: tuple[int, ...], borrows: bool) -> Array:
    """A copy for all bodies of the batch, or the array itself where the core can read it."""
    array = operand.array
    if borrows and array.shape == shape + operand.core and _arrays.is_c_doubles(array):
        return array
    whole = np.empty(shape + operand.core)
    whole[...] = array if shape else array.reshape(operand.core)
    return whole


def _companions(
    mass: ArrayLike | None, x0: ArrayLike | None, p0: ArrayLike | None, state0: ArrayLike | None
) -> dict[str, Operand]:
    """The start of what moves with the bodies besides m and q."""
    operands = {}
    if mass is not None:
        operands["mass"] = Operand("mass", mass)
        masses = operands["mass"].array
        bad = ~((masses > 0) & np.isfinite(masses))
        _arrays.refuse("mass", masses, bad, 0, "must be positive and finite")
        zero = np.zeros(3)
        operands["x0"] = Operand("x0", zero if x0 is None else x0, 3)
        operands["p0"] = Operand("p0", zero if p0 is None else p0, 3)
    elif x0 is not None or p0 is not None:
        raise TypeError("x0 and p0 are for bodies that move: give their mass")
    if state0 is not None:
        given = _arrays.real_array("state0", state0)
        if given.ndim == 0 or given.shape[-1] == 0:
            raise ValueError(
                f"state0 must have shape (..., k), k numbers per body, not {given.shape}"
            )
        operands["state0"] = Operand("state0", given, given.shape[-1])
    return operands


def _check_companions(settings: Settings) -> None:
    """Raise an error if the bodies lack what a torque takes, or the method cannot move it."""
    for kind, given, how in (
        ("x", settings.mass, "mass=, x0= and p0="),
        ("s", settings.state0, "state0="),
    ):
        takers = [term for term in settings.terms if kind in term.takes]
        if takers and given is None:
            raise TypeError(f"{takers[0]!r} asks for {kind}: give {how}")
        if kind == "s" and given is not None and not takers:
            raise TypeError("state0 is for a torque that asks for s, and none does")
    if settings.mass is None and settings.state0 is None:
        return
    what = "the state of a torque (state0)" if settings.mass is None else "a centre of mass (mass)"
    if settings.direct:
        name = METHODS[settings.method].name
        raise ValueError(
            f"the direct integrator {name!r} does not move {what}: give a splitting, with which "
            "every method that has no history does"
        )
    if settings.compensated:
        raise ValueError(f"compensated is for rotation alone, without {what}")
    if settings.splitting.modified:
        name = settings.splitting.name
        raise ValueError(f"splitting {name!r} needs W, which is not known with {what}")


def _heat(
    thermostat: Thermostat | NoseHoover | None, moments: Array, m0: Array, mass: Any
) -> dict[str, Array]:
    """The argument `thermostat` as it is stored."""
    if isinstance(thermostat, NoseHoover):
        return {"nose_hoover": thermostat.numbers(moments, m0, mass)}
    if isinstance(thermostat, Thermostat):
        return {"thermostat": thermostat.numbers()}
    if thermostat is not None:
        kind = type(thermostat).__name__
        raise TypeError(f"thermostat must be a polhode.Thermostat or NoseHoover, not {kind}")
    return {}


def _check_thermostat(settings: Settings) -> None:
    """Raise ValueError if a heat bath cannot enclose the steps."""
    has_noise = settings.thermostat is not None
    if settings.nose_hoover is None and not has_noise:
        return
    for bad, why in (
        (settings.direct, f"a splitting, and {METHODS[settings.method].name!r} has none"),
        (settings.compensated, "sums that are not compensated"),
        (settings.breaks is not None, "whole steps, and breaks divide them"),
        (has_noise and not (settings.h >= 0.0).all(), "steps forward in time"),
        (settings.observed, "saves of whole steps: no events, no t_eval"),
    ):
        if bad:
            raise ValueError(f"a thermostat needs {why}")


def _breaks(breaks: ArrayLike | None) -> Array | None:
    """The argument `breaks`; None if there are none."""
    if breaks is None:
        return None
    given = _arrays.real_array("breaks", breaks)
    times = np.unique(given.astype(np.float64))
    _arrays.refuse("breaks", given, ~np.isfinite(given), 0, "must be finite")
    return times if times.size else None


def _check_breaks(settings: Settings) -> None:
    """Raise ValueError if steps cannot be done in parts."""
    if settings.breaks is None:
        return
    if METHODS[settings.method].history:
        raise ValueError("a multistep method needs equal steps, and breaks divide them")
    if settings.direction == 0:
        raise ValueError("breaks need steps of one sign")
    times = settings.splitting.kick_times()
    if times and not (min(times) >= 0.0 and max(times) <= 1.0 + 1e-12):
        raise ValueError(
            f"splitting {settings.splitting.name!r} evaluates the torque outside the step, from "
            f"{min(times):.6g} h to {max(times):.6g} h, thus on the wrong side of breaks: take one "
            "whose `times` are within (0, 1)"
        )


def _check_method(settings: Settings, endless: bool) -> None:
    """Raise ValueError if the method does not fit the splitting, the steps or the torque."""
    row = settings.method
    least = METHODS[row].history
    if not settings.direct:
        if least:
            why = "is a multistep method and cannot be used in a splitting: give splitting=None"
            raise ValueError(f"method {METHODS[row].name!r} {why}")
        return
    facts = direct_facts(row)
    if settings.compensated and not facts["compensated"]:
        raise ValueError(
            f"compensated is for splittings; of the direct integrators, those of order 8 and more "
            f"always keep their rounding errors, {facts['name']!r} does not"
        )
    if settings.n_steps < least and not endless:
        raise ValueError(
            f"method {facts['name']!r} has a history of {least} steps and needs n_steps of at "
            f"least as many, not {settings.n_steps}"
        )
    if least and settings.h.ndim:
        raise ValueError("a multistep method needs equal steps: h must be a number")
    if facts["series"]:
        _check_series(settings, facts)
    alone = len(settings.terms) == 1 and settings.terms[0].gives_momentum
    needed = int(facts["given" if alone else "derivatives"])
    if alone and corrects_energy(row, settings.options):
        needed = max(needed, 1)
    for term in settings.terms:
        if term.known_derivatives < needed:
            raise ValueError(
                f"method {facts['name']!r} needs {needed} derivatives of the angular momentum in "
                f"space, the torque being the first; {term!r} has {term.known_derivatives}: give "
                "torques.SpatialMomentum(L, *derivatives) or a method that needs fewer"
            )


def _check_series(settings: Settings, facts: dict[str, Any]) -> None:
    """Raise ValueError if a Taylor method does not have the series of the torque."""
    unknown = [repr(term) for term in settings.terms if term.series not in facts["series"]]
    if len(settings.terms) > 1 and not unknown:
        unknown = ["a sum"]
    if unknown:
        raise ValueError(
            f"method {facts['name']!r} needs a torque whose Taylor series it has: one HeavyTop, "
            "LagrangeTop, Dipole in a constant field, GravityGradient on a circle or Damping in "
            f"the body frame, not {unknown[0]}; rk8 and the Adams methods take any torque"
        )
    if settings.axes is not None:
        raise ValueError(
            f"method {facts['name']!r} needs body axes that are the principal axes; rk8 and the "
            "Adams methods take any axes"
        )


def _check_terms(settings: Settings) -> None:
    """Raise ValueError if the scheme cannot be used with a torque."""
    scheme, terms = settings.splitting, settings.terms
    for term in terms:
        modified = scheme.modified
        compensated = settings.compensated and not settings.direct
        if term.depends_on_m and (compensated or scheme.attitude_only or modified):
            who = "compensated" if compensated else f"splitting {scheme.name!r}"
            raise ValueError(
                f"{who} needs a torque that does not depend on m, and {term!r} does"
                + (
                    ": a function that does not need m is written as torque(t, q)"
                    if isinstance(term, Function)
                    else ""
                )
            )
        if term.splits_only and settings.direct:
            raise ValueError(
                f"method {METHODS[settings.method].name!r} integrates a torque; {term!r} has none "
                "and needs a splitting"
            )
        if modified and not term.has_modified:
            raise ValueError(
                f"splitting {scheme.name!r} has a modified potential and needs W; {term!r} has none"
            )
        if term.known_derivatives == 0 and scheme.b:
            what = "the torque, the first derivative of the momentum: SpatialMomentum(L, dL)"
            raise ValueError(f"a splitting needs {what}")
    if len(terms) > 1 and scheme.modified and not settings.in_core:
        raise ValueError("W of a sum with Python functions is not known: give one function")


def _check_span(settings: Settings) -> None:
    """Raise ValueError if a run needs a torque at times at which it is not given."""
    spans = {i: term.span for i, term in enumerate(settings.terms) if term.span is not None}
    if not spans or settings.n_steps == 0:
        return
    row, name = settings.method, f"splitting {settings.splitting.name!r}"
    offsets = settings.splitting.kick_times()
    if settings.direct:
        name = f"method {METHODS[row].name!r}"
        stages = [s for n in (0, 2**31) for s in _core.direct_stages(row, n, settings.options)]
        offsets = sorted({time for time, derivatives, _ in stages if derivatives})
    if not offsets or not np.isfinite(settings.h).all() or not np.isfinite(settings.t0):
        return
    visited, whole = settings.reach(offsets), settings.reach((0.0, 1.0))
    for i, (first, last) in spans.items():
        slack = 8 * np.spacing(max(abs(first), abs(last)))  # times t0 + n h are rounded
        early, late = visited[0] < first - slack, visited[1] > last + slack
        if settings.terms[i].held:  # only schemes need times outside both
            early &= whole[0] >= first - slack
            late &= whole[1] <= last + slack
        if early or late:
            raise ValueError(
                f"torque[{i}] is given from t = {first} to {last}, but {name} asks for it "
                f"from t = {visited[0]} to {visited[1]}, in a run from {whole[0]} to {whole[1]}"
            )
