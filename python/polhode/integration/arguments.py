"""The arguments of `integrate`, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._step import step
from polhode.bodies.frame import Frame, terms_of_bodies
from polhode.integration.direct import NO_SPLITTING, check_terms
from polhode.integration.probe import with_known_dependence
from polhode.integration.state import Run
from polhode.integrators.splittings import Splitting, as_splitting
from polhode.integrators.table import (
    direct_facts,
    history,
    method_index,
    method_name,
    option_values,
)
from polhode.integrators.tableaus import MuntheKaas
from polhode.torques import Torque, TorqueLike, as_terms


def prepare(
    inertia: ArrayLike | Frame,
    m0: ArrayLike,
    q0: AttitudeLike,
    h: ArrayLike,
    n_steps: int,
    torque: TorqueLike,
    splitting: str | Splitting | Sequence[Sequence[float]] | None,
    method: str | MuntheKaas,
    t0: float,
    save_every: int,
    compensated: bool,
    threads: int | None,
    options: dict[str, Any],
    in_memory: bool,
) -> Run:
    """Check the arguments of `integrate`.

    A `Frame` in place of `inertia` means that attitudes and torques are in the axes of its body.
    """
    frame = inertia if isinstance(inertia, Frame) else None
    if isinstance(inertia, Frame):
        m0, q0 = inertia.principal0, inertia.body._attitude_to_principal("q0", q0)
        inertia = inertia.body._moments
    given = as_terms(torque)
    row = method_index(method, options)
    values = option_values(row, options, method)
    scheme = NO_SPLITTING if splitting is None else as_splitting(splitting)
    terms = given if frame is None else frame.principal_terms(given)
    count = _arrays.step_count(n_steps)
    if splitting is None:
        check_terms(row, values, terms)
        _check_history(row, count, h)
        if compensated:
            raise ValueError("compensated is for splittings")
    elif history(row):
        raise ValueError(
            f"method {method!r} has a history and is no flow of a splitting: give splitting=None"
        )
    _check_scheme(scheme, terms, compensated)
    every = _arrays.whole("save_every", save_every)
    if every < 1:
        raise ValueError(f"save_every must be at least 1, not {every}")
    cores = _arrays.thread_count(threads)
    t0 = _arrays.one_number("t0", t0)

    operands = [Operand("inertia", inertia, 3), Operand("m0", m0, 3)]
    operands.append(_arrays.attitude_operand("q0", q0))
    batches = {o.name: o.batch for o in operands}
    batches |= {f"torque[{i}]": term.batch for i, term in enumerate(terms) if term.batch}
    shape = _arrays.broadcast(batches)
    _arrays.check_bodies(operands[0], operands[1], operands[2])
    borrows = in_memory and frame is None and all(term.in_core for term in terms)
    m, q = (_whole(o, shape, borrows) for o in operands[1:])
    shared = operands[0].array.size == 3
    moments = (
        operands[0].array.astype(np.float64).reshape(3)
        if shared
        else _whole(operands[0], shape, False)
    )
    for term in given:
        term.check_attitude(operands[2].core == (3, 3))
    steps = _arrays.real_array("h", h).astype(np.float64)
    if steps.shape not in ((), (count,)):
        raise ValueError(f"h must be a number or have shape ({count},), not {steps.shape}")
    every = min(every, max(count, 1))
    _arrays.save_count(count, every, m.size + q.size)
    if any(term.depends_on_m is None for term in terms) and scheme.b and count > 0:
        unit = step(moments, m, q, 0.0)[1]
        given = with_known_dependence(given, terms, t0, moments, m, unit, steps)
    terms, shown = terms_of_bodies(given, moments, frame)
    _check_scheme(scheme, terms, compensated)
    run = Run(
        row,
        values,
        scheme,
        terms,
        moments,
        m,
        q,
        steps,
        t0,
        count,
        every,
        cores,
        given,
        shown,
        frame,
    )
    run.borrows = borrows
    if run.direct:
        run.extra["own"] = np.zeros((m.size // 3, direct_facts(row)["columns"]))
    if compensated:
        run.extra["lost"] = np.zeros_like(m)
    _check_span(run)
    return run


def _whole(operand: Operand, shape: tuple[int, ...], borrows: bool) -> Array:
    """A copy for all bodies of the batch, or the array itself where the core can read it."""
    array = operand.array
    if borrows and array.shape == shape + operand.core and _arrays.is_c_doubles(array):
        return array
    whole = np.broadcast_to(operand.array, shape + operand.core)
    return np.array(whole, np.float64, order="C")


def _check_history(row: int, count: int, h: ArrayLike) -> None:
    """A multistep method needs at least as many steps as its history, all of equal length."""
    if count < history(row):
        raise ValueError(
            f"method {method_name(row)!r} has a history of {history(row)} steps and needs n_steps "
            f"of at least as many, not {count}"
        )
    if history(row) and np.ndim(h) != 0:
        raise ValueError("a multistep method needs equal steps: h must be a number")


def _check_scheme(scheme: Splitting, terms: Sequence[Torque], compensated: bool) -> None:
    for term in terms:
        if compensated and term.depends_on_m:
            raise ValueError(
                "compensated needs a torque that does not depend on m, under which energy is kept; "
                f"{term!r} does"
            )
        if scheme.attitude_only and term.depends_on_m:
            raise ValueError(
                f"splitting {scheme.name!r} needs a torque that depends on the attitude alone; "
                f"{term!r} depends on m"
            )
        if not term.has_modified and scheme.modified:
            raise ValueError(
                f"splitting {scheme.name!r} has a modified potential and needs W; {term!r} has none"
            )
        if term.known_derivatives == 0 and scheme.b:
            raise ValueError(
                "a splitting needs the torque, the first derivative of the momentum: "
                "SpatialMomentum(L, dL)"
            )
    if len(terms) > 1 and scheme.modified and not all(term.in_core for term in terms):
        raise ValueError("W of a sum with Python functions is not known: give one function")


def _check_span(run: Run) -> None:
    """Raise an error if a run needs a torque at times at which it is not given."""
    spans = {i: term.span for i, term in enumerate(run.terms) if term.span is not None}
    if not spans or run.count == 0:
        return
    offsets = _offsets(run)
    if not offsets or not np.isfinite(run.h).all() or not np.isfinite(run.t0):
        return
    visited, whole = run.reach(offsets), run.reach((0.0, 1.0))
    for i, (first, last) in spans.items():
        slack = 8 * np.spacing(max(abs(first), abs(last)))  # times t0 + n h are rounded
        early, late = visited[0] < first - slack, visited[1] > last + slack
        if run.terms[i].held:  # only schemes need times outside both
            early &= whole[0] >= first - slack
            late &= whole[1] <= last + slack
        if early or late:
            scheme = f"splitting {run.scheme.name!r}"
            raise ValueError(
                f"torque[{i}] is given from t = {first} to {last}, but "
                f"{f'method {method_name(run.row)!r}' if run.direct else scheme} asks for it "
                f"from t = {visited[0]} to {visited[1]}, in a run from {whole[0]} to {whole[1]}"
            )


def _offsets(run: Run) -> list[float]:
    """The times at which a step evaluates the torque, in units of h from its start."""
    if not run.direct:
        return run.scheme.kick_times()
    stages = [stage for n in (0, 2**31) for stage in _core.direct_stages(run.row, n, run.options)]
    return sorted({time for time, derivatives, _ in stages if derivatives})
