"""Methods that take the torque themselves: `integrate(..., method=name, splitting=None)`.

A step is a list of stages in the core. Before each the torque is evaluated, in the core for models
and here for functions, and the stage makes of it the state at which it is wanted next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polhode import _core
from polhode._arrays import Array
from polhode._splittings import Splitting
from polhode.torques import Model, SpatialMomentum, Torque, _fitting, _to_body

if TYPE_CHECKING:
    from polhode._integrate import Run

_ROWS = _core.torqued_methods()
_INDEX = {row["name"]: i for i, row in enumerate(_ROWS)}

#: What stands for a splitting where there is none.
NO_SPLITTING = Splitting("", None, "none", (), False, {}, "", False, ())


def torqued_index(name: str) -> int:
    """Row of a method in the core's list of those that take the torque themselves."""
    if name not in _INDEX:
        known = [method for method in _INDEX if method != "rkmk"]
        raise ValueError(
            f"method {name!r} does not take a torque itself and needs a splitting; "
            f"splitting=None is for {', '.join(known)}"
        )
    return _INDEX[name]


def takes_torque(name: str) -> bool:
    """Whether a method takes the torque itself."""
    return name in _INDEX


def columns(torqued: int) -> int:
    """Numbers of a body that a method keeps from step to step."""
    return int(_ROWS[torqued]["columns"])


def check_terms(torqued: int, terms: Sequence[Torque], corrects_energy: bool) -> None:
    """Refuse torques that have fewer derivatives than the method needs."""
    row = _ROWS[torqued]
    alone = _given_momentum(terms) is not None
    needed = int(row["given" if alone else "derivatives"])
    if alone and corrects_energy:
        needed = max(needed, 1)
    for term in terms:
        has = _derivatives(term)
        if has < needed:
            raise ValueError(
                f"method {row['name']!r} needs {needed} derivatives of the angular momentum in "
                f"space, the torque being the first; {term!r} has {has}: give "
                "torques.SpatialMomentum(L, *derivatives) or a method that needs fewer"
            )


def _derivatives(term: Torque) -> int:
    """How many derivatives of the momentum in space there are."""
    if isinstance(term, SpatialMomentum):
        return len(term.derivatives)
    rate = isinstance(term, Model) and term.has_modified and not term.depends_on_t
    return 2 if rate else 1


def _given_momentum(terms: Sequence[Torque]) -> SpatialMomentum | None:
    if len(terms) == 1 and isinstance(terms[0], SpatialMomentum):
        return terms[0]
    return None


class Evaluation:
    """The derivatives of the momentum in space at the state of a run, seen from the bodies."""

    def __init__(self, run: Run, m: Array, q: Array) -> None:
        """`m` and `q` are the state, not to be written to."""
        self.run, self.m, self.q = run, m, q
        self.given = _given_momentum(run.terms)
        self.offset = run.extra.get("offset")

    def start(self, t: float) -> None:
        """Where L(t) is given, m may differ from it by a constant vector of space."""
        if self.given is not None:
            offset = _to_space(self.q, self.m) - self._momentum(t)
            self.offset = self.run.extra["offset"] = np.ascontiguousarray(offset)

    def set_momentum(self, t: float) -> None:
        """m at time t, where L is given."""
        if self.given is not None and self.offset is not None:
            self.run.m[...] = _to_body(self.q, self._momentum(t) + self.offset)

    def derivatives(self, t: float, wanted: int) -> Array:
        """L' and so on, shape (bodies, 3 wanted)."""
        bodies = self.m.size // 3
        result = np.zeros((bodies, wanted, 3))
        for term in self.run.terms:
            if isinstance(term, SpatialMomentum):
                for k, part in enumerate(term.derivatives[:wanted]):
                    value = _fitting(f"derivatives[{k}]", part(t), self.m.shape)
                    result[:, k] += _to_body(self.q, value).reshape(bodies, 3)
                continue
            force = term.torque(t, self.m, self.q)
            result[:, 0] += force.reshape(bodies, 3)
            if wanted > 1:
                assert isinstance(term, Model)
                moments = self.run.inertia
                zero = np.zeros_like(self.m)
                omega = np.divide(self.m, moments, out=zero, where=moments != 0)
                rate = term.derivative(t, omega, self.q) + np.cross(omega, force)
                result[:, 1] += rate.reshape(bodies, 3)
        return result.reshape(bodies, 3 * wanted)

    def _momentum(self, t: float) -> Array:
        assert self.given is not None
        return _fitting("L", self.given.L(t), self.m.shape)


def _to_space(attitude: Array, v: Array) -> Array:
    """Q @ v."""
    rotate = _core.so3_rotate if attitude.shape[-1] == 4 else _core.so3_rotate_by_matrix
    return np.asarray(rotate(attitude, v))


class Steps:
    """The steps of a method, the torque evaluated in Python over the whole batch."""

    def __init__(self, run: Run, m: Array, q: Array) -> None:
        self.run = run
        self.starting = int(_ROWS[run.torqued]["starting"])
        self.evaluation = Evaluation(run, m, q)
        self.now = run.t0
        self.stages: dict[bool, list[tuple[float, int, int]]] = {
            first: _core.torqued_stages(run.torqued, 0 if first else self.starting, run.options)
            for first in (True, False)
        }

    def step(self, n: int) -> None:
        """Step n of the run."""
        run, evaluation = self.run, self.evaluation
        h, t, t_end = run.step(n)
        if n == 0:
            self.now = t
            evaluation.start(t)
        torque = np.zeros((run.m.size // 3, 3))
        matrix = run.q.shape[run.m.ndim - 1 :] == (3, 3)
        stages = self.stages[n < self.starting]
        k = 0
        while k < len(stages):
            time, wanted, back = stages[k]
            self.now = t_end if time == 1.0 else t + time * h
            if wanted:
                evaluation.set_momentum(self.now)
                torque = evaluation.derivatives(self.now, wanted)
            done = _core.torqued_stage(
                run.row,
                run.torqued,
                k,
                run.inertia,
                run.m,
                run.q,
                matrix,
                torque,
                run.extra["own"],
                h,
                n,
                run.threads,
                run.options,
            )
            k += 1 if done else -back
        self.now = t_end
        evaluation.set_momentum(t_end)
