"""The record of an integration: its settings, which do not change, and its state.

Each field is declared once. Its type says how it is stored in a file, its metadata under which name
the core takes it and whether a continued run compares it. Writing, reading, comparing and the
arguments of the core are loops over the fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polhode._arrays import Array
from polhode._axes import attitude_to_body, to_space
from polhode.bodies.inertia import tensor_of
from polhode.integration.trajectory import Trajectory
from polhode.integrators.splittings import Splitting
from polhode.integrators.table import direct_facts
from polhode.torques import Torque

#: What a trajectory calls the companions.
NAMES = {"x": "x", "p": "p", "s": "state", "chains": "chains"}
#: A row of the list of methods; in files the name of the method.
Row: TypeAlias = int
#: Values of the options of a method, in the form of the core.
Options: TypeAlias = tuple[Any, ...]


def _field(core: str = "", *, compared: bool = True, stored: bool = True, **options: Any) -> Any:
    """A field that the core takes under the name `core`, if any."""
    return field(metadata={"core": core, "compared": compared, "stored": stored}, **options)


@dataclass(frozen=True, eq=False)
class Settings:
    """What does not change during an integration."""

    method: Row = _field()
    options: Options = _field()
    #: Without stages and name if the method integrates the torque directly.
    splitting: Splitting = _field()
    #: The terms as they were given.
    torque: list[Torque] = _field()
    inertia: Array = _field("inertia")
    #: The start as it was given, for all bodies.
    m0: Array = _field()
    q0: Array = _field()
    h: Array = _field("h")
    t0: float = _field("t0")
    n_steps: int = _field("total_steps")
    save_every: int = _field("save_every")
    compensated: bool = _field()
    threads: int = _field("threads", compared=False)
    #: The version of polhode and the instruction-set level at the start.
    polhode: str = _field(compared=False)
    isa: str = _field(compared=False)
    #: Principal axes in the body frame, in columns; None: they are the body axes.
    axes: Array | None = _field("axes", default=None)
    #: Times at which the torque jumps, each once; None if there are none.
    breaks: Array | None = _field(default=None)
    #: Mass, () or by body, centre of mass and its momentum at the start; None: bodies only rotate.
    mass: Array | None = _field("mass", default=None)
    x0: Array | None = _field(default=None)
    p0: Array | None = _field(default=None)
    #: State of the torques at the start.
    state0: Array | None = _field(default=None)
    #: kT, gamma and seed of a `Thermostat`.
    thermostat: Array | None = _field("thermostat", default=None)
    #: `NoseHoover.numbers`.
    nose_hoover: Array | None = _field("nose_hoover", default=None)
    #: A `MomentsInTime`, and its moments at t0; None: `inertia` are those of all times.
    moments: Any = _field("moments", compared=False, stored=False, default=None)
    moments0: Array | None = _field(compared=False, default=None)
    #: Times at which states are saved, in place of every `save_every`-th step.
    t_eval: Array | None = _field(default=None)
    #: Of adaptive steps: rtol and atol of m and of q; and the start and all times that end a step,
    #: (n_steps + 1,): the "steps" of the record go from one to the next.
    tolerance: Array | None = _field(default=None)
    stops: Array | None = _field(default=None)
    #: Direction and terminal count of each event, (events, 2).
    events: Array | None = _field(default=None)

    #: Whether the method integrates the torque directly, without a splitting.
    direct: ClassVar[bool]
    #: Times at the starts of all steps and at the end; None if they are t0 + n h.
    times: ClassVar[Array | None]
    #: The steps that hold a break, in parts: rows of step, start, end, length; or None.
    parts: ClassVar[Array | None]
    #: The torques on these bodies.
    terms: ClassVar[list[Torque]]
    #: Whether no step needs Python.
    in_core: ClassVar[bool]
    #: Whether each body can be stepped alone, in the core.
    per_body: ClassVar[bool]

    def __post_init__(self) -> None:
        self._derive("direct", not self.splitting.stages and not self.splitting.name)
        times = self.t0 + np.concatenate([[0.0], np.cumsum(self.h)]) if self.h.ndim else None
        self._derive("times", self.stops if self.adaptive else times)
        holds = self.breaks is not None and self.direction and not self.adaptive
        self._derive("parts", self._parts(self.breaks) if holds else None)
        if self.axes is None:
            terms = [term.with_inertia(self.inertia) for term in self.torque]
        else:
            tensor = tensor_of(self.inertia, self.axes)
            terms = [term.with_inertia(tensor=tensor) for term in self.torque]
        self._derive("terms", terms)
        self._derive("in_core", self.moments is None and all(term.in_core for term in terms))
        alone = self.nose_hoover is None and all(term.independent for term in terms)
        self._derive("per_body", self.in_core and alone)

    @property
    def adaptive(self) -> bool:
        """Whether steps follow from tolerances."""
        return self.tolerance is not None

    @property
    def observed(self) -> bool:
        """Whether the rows are not the saves of the core: `integration/observed.py`."""
        return self.t_eval is not None or self.events is not None

    @property
    def starts(self) -> list[Array]:
        """The start of all that moves: m, q and the companions."""
        return [self.m0, self.q0, *self.companions.values()]

    @property
    def bodies(self) -> int:
        """The number of bodies."""
        return self.m0.size // 3

    @cached_property
    def cores(self) -> list[tuple[int, ...]]:
        """The shapes of m, q and the companions of one body."""
        return [start.shape[self.m0.ndim - 1 :] for start in self.starts]

    def flat(self, states: Sequence[Array], rows: int = -1) -> list[Array]:
        """Rows of states of the batch, of m, q and so on, with the bodies along one axis."""
        pairs = zip(states, self.cores, strict=True)
        return [a.reshape(rows, self.bodies, *core) for a, core in pairs]

    @property
    def companions(self) -> dict[str, Array]:
        """What moves with the bodies besides m and q, at the start."""
        bath = self.nose_hoover
        chains = None if bath is None else np.zeros((2, int(bath[2]), 2))
        named = {"x": self.x0, "p": self.p0, "s": self.state0, "chains": chains}
        return {name: start for name, start in named.items() if start is not None}

    def empty_rows(self) -> tuple[Array, ...]:
        """Unwritten rows of all saves: m, q and the companions."""
        return tuple(np.empty((len(self.saved_times()), *each.shape)) for each in self.starts)

    def _derive(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def borrows(self) -> bool:
        """Whether a run in memory leaves the state to the core, which needs no copy of the start.

        A user-defined function could change the arrays m0 and q0.
        """
        return self.axes is None and self.in_core

    def reach(self, offsets: Sequence[float]) -> tuple[float, float]:
        """The least and the largest time at these fractions of a step, over all steps."""
        if self.times is None:  # for equal steps, the first and the last
            starts = self.t0 + np.array([0.0, self.n_steps - 1.0]) * self.h
        else:
            starts = self.times[:-1]
        with np.errstate(invalid="ignore", over="ignore"):
            reached = np.array([starts + c * self.h for c in offsets])
        return float(reached.min()), float(reached.max())

    def saved_times(self) -> Array:
        """Times of all saves."""
        if self.t_eval is not None:
            return self.t_eval
        steps = np.arange(self.saves(self.n_steps)) * self.save_every
        steps[-1] = self.n_steps
        return self.times_at(steps)

    def times_at(self, steps: NDArray[np.int64]) -> Array:
        """The times after these numbers of steps."""
        if self.times is not None:
            return np.asarray(self.times[steps])
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(steps > 0, self.t0 + steps * self.h, self.t0)

    def saves(self, step: int) -> int:
        """The number of saves after this number of steps."""
        if self.t_eval is not None:
            sign, t = self.direction, self.time(step)
            return int(np.searchsorted(sign * self.t_eval, sign * t, side="right"))
        if step < self.n_steps:
            return step // self.save_every + 1
        return 1 + -(-self.n_steps // self.save_every)

    def next_save(self, step: int) -> int:
        """The step of the first save after this step."""
        return min(step + self.save_every - step % self.save_every, self.n_steps)

    def time(self, step: int) -> float:
        """The time after this number of steps."""
        return self.t0 + step * float(self.h) if self.times is None else float(self.times[step])

    def _parts(self, breaks: Any) -> Array:
        """The steps that hold a break, in parts, with the torque at its proper side.

        No part reaches a break: one of two ulps crosses it.
        """
        sign, last = self.direction, self.n_steps - 1
        first, final = sign * self.time(0), sign * self.time(self.n_steps)
        held = breaks[(sign * breaks >= first) & (sign * breaks <= final)][::sign]
        sides = np.stack([np.nextafter(held, -sign * np.inf), np.nextafter(held, sign * np.inf)])
        at = self.step_at(held) if last >= 0 else np.empty(0, np.int64)
        rows: list[tuple[float, ...]] = []
        for n in sorted({k for i in at.tolist() for k in (i - 1, i) if k >= 0}):
            times = [self.time(n), self.time(n + 1)]
            inside = (sign * held > sign * times[0]) & (sign * held < sign * times[1])
            for i in np.flatnonzero(inside):
                times[-1:-1] = sides[:, i]
            for end, side in ((0, 1), (-1, 0)):  # a break at an end of the step
                on = np.flatnonzero(held == times[end])
                times[end] = float(sides[side, on[0]]) if len(on) else times[end]
            lengths = np.diff(times)
            lengths[-1] = float(self.h[n] if self.h.ndim else self.h) - lengths[:-1].sum()
            rows += [(n, *ends) for ends in zip(times, times[1:], lengths, strict=False)]
        return np.array(rows).reshape(-1, 4)

    @property
    def direction(self) -> int:
        """The sign of the steps; 0 if they have both signs."""
        if (self.h >= 0.0).all():
            return 1
        return -1 if (self.h <= 0.0).all() else 0

    def step_at(self, t: Array) -> NDArray[np.int64]:
        """The numbers of the steps that begin at these times or hold them."""
        if self.times is not None:
            sign = self.direction
            n = np.searchsorted(sign * self.times, sign * t, side="right") - 1
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                at = np.nan_to_num((t - self.t0) / self.h)
                n = np.clip(np.floor(at), 0, self.n_steps).astype(np.int64)
                n -= (self.t0 + n * self.h - t) * self.h > 0.0  # the quotient was rounded
                n += (self.t0 + (n + 1) * self.h - t) * self.h <= 0.0
        return np.clip(n, 0, max(self.n_steps - 1, 0))

    def trajectory(self, t: Array, m: Array, q: Array, *others: Array, **more: Any) -> Trajectory:
        """The trajectory of these states; `others` are those of the companions."""
        terms = tuple(self.terms)
        more |= {NAMES[k]: rows for k, rows in zip(self.companions, others, strict=True)}
        more |= {"mass": self.mass, "_settings": self}
        inertia = self.inertia if self.moments is None else self.moments.rows(t)
        return Trajectory(t, m, q, inertia, terms, self.axes, **more)

    def split(self, columns: Array) -> list[Array]:
        """The states m, q and so on, whose components follow each other in columns (R, columns)."""
        cuts = np.cumsum([prod(core) for core in self.cores])[:-1]
        split = np.split(columns, cuts, axis=1)
        return [a.reshape(len(a), *core) for a, core in zip(split, self.cores, strict=True)]

    def findings(self, state: State) -> dict[str, Any]:
        """What a trajectory has of events and of adaptive steps, from the last record of it."""
        result: dict[str, Any] = {}
        batch, bodies = self.m0.shape[:-1], self.bodies
        if self.events is not None:
            assert state.found is not None
            assert state.ended is not None
            result["_ended"] = None if np.isnan(state.ended).all() else state.ended
            key = (state.found[:, 0] * bodies + state.found[:, 1]).astype(np.int64)
            order = np.argsort(key, kind="stable")
            numbers = np.arange(len(self.events) * bodies + 1)
            cuts = np.searchsorted(key[order], numbers).tolist()
            values = state.found[order, 2], *self.split(state.found[order, 3:])
            names = ("t", "m", "q", *(NAMES[k] for k in self.companions))
            for name, value in zip(names, values, strict=True):
                each = [value[a:b] for a, b in pairwise(cuts)]
                lists = [each[k * bodies : (k + 1) * bodies] for k in range(len(self.events))]
                result[f"{name}_events"] = lists if batch else each
        if state.costs is not None:
            costs = state.costs.astype(np.int64).reshape(2, *batch)
            result["n_steps"], result["n_rejected"] = costs
        return result

    def in_body_axes(self, state: State) -> tuple[Array, Array]:
        """m and q of a state, which are along the principal axes from the first step on."""
        if self.axes is None or state.step == 0:
            return state.m, state.q
        return to_space(self.axes, state.m), attitude_to_body(self.axes, state.q)


@dataclass(eq=False)
class State:
    """What the next steps depend on, after `step` steps and `rows` saves.

    All data that a method carries from step to step are fields here. The core changes the arrays
    in place.
    """

    m: Array = _field("m")
    q: Array = _field("attitude")
    #: What a direct integrator stores from step to step, (columns, bodies).
    work: Array | None = _field("work", default=None)
    #: Rounding errors of m, with `compensated`.
    compensation: Array | None = _field("compensation", default=None)
    #: Numbers per body that a torque stores from step to step, constants in the space frame: of a
    #: given momentum its difference from m, of one that turns bodies the momentum.
    torque_state: Array | None = _field("torque_state", default=None)
    #: Centre of mass and its momentum, space frame; state of the torques.
    x: Array | None = _field("x", default=None)
    p: Array | None = _field("p", default=None)
    s: Array | None = _field("s", default=None)
    #: Position and velocity of each link of the chains of a `NoseHoover`, (2, chain, 2).
    chains: Array | None = _field("chains", default=None)
    #: Of an observed run: m, q and the companions after the last step, (bodies, columns); values of
    #: the events there; the events found, (found, 3 + columns): event, body, time, state; and when
    #: a terminal event ended each body, else NaN.
    now: Array | None = _field(default=None)
    values: Array | None = _field(default=None)
    found: Array | None = _field(default=None)
    ended: Array | None = _field(default=None)
    #: Of adaptive steps: the time of each body, and its steps that were accepted and rejected.
    t: Array | None = _field(default=None)
    costs: Array | None = _field(default=None)
    step: int = _field(default=0)
    rows: int = _field(default=0)

    def __post_init__(self) -> None:
        #: The start, if the state is the last row of the trajectory, to which the core saves it.
        self.start: tuple[Array, Array] | None = None
        self._kept: tuple[int, dict[str, Array]] = -1, {}

    @classmethod
    def begin(cls, settings: Settings, m: Array | None = None, q: Array | None = None) -> State:
        """The state before the first step, kept in the last of the rows m and q, if given."""
        m0, q0 = settings.m0, settings.q0
        if m is None or q is None:
            state = cls(m0.copy(), q0.copy())
        else:
            state = cls(m[-1], q[-1])
            state.start = m0, q0
        if settings.direct:
            columns = direct_facts(settings.method)["columns"]
            state.work = np.zeros((columns, settings.bodies))
            if any(term.gives_momentum for term in settings.terms):
                state.torque_state = np.zeros_like(m0)
        if states := sum(term.states for term in settings.terms):
            state.torque_state = np.zeros((*m0.shape[:-1], states))
        if settings.compensated and not settings.direct:
            state.compensation = np.zeros_like(m0)
        for name, start in settings.companions.items():
            setattr(state, name, start.copy())
        bodies = settings.bodies
        if settings.observed:
            columns = sum(prod(core) for core in settings.cores)
            state.now = np.zeros((bodies, columns))
        if settings.events is not None:
            state.values = np.zeros((len(settings.events), bodies))
            state.found = np.empty((0, 3 + columns))
            state.ended = np.full(bodies, np.nan)
        if settings.adaptive:
            state.t = np.full(bodies, settings.t0)
            state.costs = np.zeros((2, bodies))
        return state

    @property
    def begun(self) -> bool:
        """Whether the start has been normalised."""
        return self.rows > 0 or self.step > 0 or (self.now is not None and bool(self.now.any()))

    def arrays(self) -> dict[str, Array]:
        """The arrays of the state that are used."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}

    def keep(self) -> None:
        """Copy the state before steps that an exception may interrupt; `restore` returns to it."""
        kept = {k: array.copy() for k, array in self.arrays().items() if k != "found"}
        self._kept = self.step, kept

    def restore(self) -> None:
        """Return to the state after `step` steps, if it was kept."""
        step, kept = self._kept
        for name, array in kept.items() if step == self.step else ():
            getattr(self, name)[...] = array


#: The fields that the core takes, and their names there.
_IN_CORE = {
    record: [(each.name, each.metadata["core"]) for each in fields(record) if each.metadata["core"]]
    for record in (Settings, State)
}


def core_arguments(*records: Settings | State) -> dict[str, Any]:
    """The fields of the record that the core takes, by their names there."""
    return {
        core: getattr(record, name) for record in records for name, core in _IN_CORE[type(record)]
    }


def step_arguments(settings: Settings) -> dict[str, Any]:
    """What a step does with any bodies, as the core takes it."""
    return {
        "method": settings.method,
        "options": settings.options,
        "direct": settings.direct,
        "stages": settings.splitting.table(),
        "processor": settings.splitting.processor_table(),
        "order": settings.splitting.order,
    }
