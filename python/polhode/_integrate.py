"""Bodies with torque through many steps: splitting methods around a free step."""

from __future__ import annotations

import contextlib
import math
import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, Operand
from polhode._methods import may_lack_root, method_index, option_values, warn_without_root
from polhode._splittings import Splitting, as_splitting
from polhode._trajectory import Trajectory
from polhode.torques import Torque, TorqueLike, as_terms

Callback = Callable[[int, float, Array, Array], object]

#: Seconds between two looks at Ctrl-C and the progress bar.
SLICE = 0.1
#: Numbers of one array of a few that stay in the first-level cache together.
CACHED = 3 * 2048


def integrate(
    inertia: ArrayLike,
    m0: ArrayLike,
    q0: ArrayLike,
    h: ArrayLike,
    n_steps: int,
    *,
    torque: TorqueLike = None,
    splitting: str | Splitting | Sequence[Sequence[float]] = "strang",
    method: str = "exact",
    t0: float = 0.0,
    save_every: int = 1,
    threads: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Any,
) -> Trajectory:
    """Integrate m' = m x omega + torque, q' = q (0, omega)/2 by splitting.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments in the order of the body axes, as in `step`.
    m0 : array_like, shape (..., 3)
        Angular momentum at `t0`, body frame.
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude at `t0`, body to space: quaternions, scalar first, or rotation matrices; brought to
        unit norm (orthogonality) where it is more than a few eps off. `inertia`, `m0`, `q0` and the
        parameters of torque models broadcast together.
    h : array_like, shape () or (n_steps,)
        Time step, of either sign; one for all steps or one per step, the same for all bodies.
    n_steps : int
        Number of steps.
    torque : None, model, callable, compiled function or list of these, optional
        A model of `polhode.torques`, or ``f(t, m, attitude) -> (..., 3)`` over the whole batch,
        body frame, or a compiled function, see `torques.Compiled`; a list is their sum.
    splitting : str, Splitting or (a, b), optional
        A name of `splittings()`, or coefficients of the free flows (a) and of the kicks (b), which
        alternate; the longer list begins, a where they are equally long.
    method : str, optional
        The free flow: a name of `methods()`.
    t0 : float, optional
        Time at the start.
    save_every : int, optional
        Steps from one save to the next; the start and the end are always saved.
    threads : int, optional
        Number of threads; None is POLHODE_NUM_THREADS or 1, -1 all cores.
    progress : bool, optional
        Show a progress bar (tqdm).
    callback : callable, optional
        ``callback(step, t, m, attitude)``, called at each save, the start included; the arrays are
        read-only.
    **options
        Options of the method, see `methods()`.

    Returns
    -------
    Trajectory
        T = 1 + ceil(n_steps / save_every) states: ``t`` (T,), ``m`` (T, ..., 3), ``q`` (T, ..., 4)
        or (T, ..., 3, 3).

    Raises
    ------
    ValueError
        Bodies or attitudes that are none, shapes that do not fit, an unknown method or splitting,
        a scheme that the torque does not serve. Nothing has been done then.
    TypeError
        Arguments of a wrong type; an option that the method does not have.

    Any exception of a torque or callback, and KeyboardInterrupt, carries the states so far as its
    attribute ``trajectory``.

    Notes
    -----
    A step applies free flows and kicks m += b h torque in turn; time runs with the free flow, and a
    kick sees the time reached. Results do not depend on the other bodies, on `save_every` or on
    `threads`, bit for bit. Units are any consistent set.

    Examples
    --------
    The heavy top of [CZ08] Sec. 4.3, sixth order:

    >>> import polhode as ph
    >>> traj = ph.integrate(
    ...     [1.0, 1.0126869887825154, 3.3062374224730378],
    ...     [-0.34790957088547336, -0.19822914599675923, -0.9163318919276364],
    ...     [1.0, 0.0, 0.0, 0.0],
    ...     0.5,
    ...     100,
    ...     torque=ph.torques.HeavyTop(
    ...         u0=[9.558630354723854e-05, 0.00048777318247201465, -0.0008677214881719239]
    ...     ),
    ...     splitting="rkn6_14",
    ...     save_every=50,
    ... )
    >>> traj.t
    array([ 0., 25., 50.])
    >>> traj.m[-1].round(6)
    array([-0.388261, -0.095514, -0.916637])
    """
    row = method_index(method, options)
    values = option_values(row, options)
    scheme = as_splitting(splitting)
    terms = as_terms(torque)
    _check_scheme(scheme, terms)
    count = _arrays.step_count(n_steps)
    every = operator.index(save_every)
    if every < 1:
        raise ValueError(f"save_every must be at least 1, not {every}")
    cores = _arrays.thread_count(threads)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")

    operands = [Operand("inertia", inertia, 3), Operand("m0", m0, 3)]
    operands.append(_arrays.attitude_operand("q0", q0))
    batches = {o.name: o.batch for o in operands}
    batches |= {f"torque[{i}]": term.batch for i, term in enumerate(terms) if term.batch}
    shape = _arrays.broadcast(batches)
    _arrays.check_bodies(operands[0], operands[1], operands[2], shape)
    moments, m, q = (
        np.array(np.broadcast_to(o.array, shape + o.core), np.float64, order="C") for o in operands
    )
    if operands[0].array.size == 3:
        moments = np.array(operands[0].array, np.float64).reshape(3)
    terms = [term.with_inertia(moments) for term in terms]

    steps = _arrays.real_array("h", h).astype(np.float64)
    if steps.shape not in ((), (count,)):
        raise ValueError(f"h must be a number or have shape ({count},), not {steps.shape}")
    start = float(t0)
    times = None if steps.ndim == 0 else start + np.concatenate([[0.0], np.cumsum(steps)])
    every = min(every, max(count, 1))
    saves = _arrays.save_count(count, every, m.size + q.size)
    saved = np.minimum(np.arange(saves) * every, count)
    t = start + saved * float(steps) if times is None else times[saved]

    trajectory = Trajectory(
        t=t,
        m=np.empty((saves, *m.shape)),
        q=np.empty((saves, *q.shape)),
        inertia=np.broadcast_to(moments, m.shape) if shape else moments,
        torque=tuple(terms),
    )
    run = _Run(row, values, scheme, terms, moments, m, q, steps, start, times, count, every, cores)
    advance = _Core(run) if all(term.in_core for term in terms) else _Python(run)
    done = 0  # steps whose saves are in the trajectory
    begun = False
    try:
        with _bar(progress, count) as bar:
            advance.to(0, trajectory)
            begun = True
            if callback is not None:
                callback(0, float(t[0]), *_seen(trajectory, 0))
            while done < count:
                next_save = count if callback is None else min(done + every - done % every, count)
                before = done
                done = advance.to(next_save, trajectory)
                bar.update(done - before)
                if callback is not None and (done % every == 0 or done == count):
                    k = -(-done // every)
                    callback(done, float(t[k]), *_seen(trajectory, k))
    except BaseException as error:
        done = max(done, advance.saved_steps)
        rows = (done // every + 1 if done < count else saves) if begun else 0
        with contextlib.suppress(AttributeError, TypeError):
            error.trajectory = Trajectory(  # type: ignore[attr-defined]
                t[:rows], trajectory.m[:rows], trajectory.q[:rows], trajectory.inertia, tuple(terms)
            )
        raise
    if may_lack_root(row):
        lost = np.isnan(trajectory.m[-1, ..., 0]) & np.isfinite(trajectory.m[0]).all(-1)
        if lost.any():
            warn_without_root(row, int(np.count_nonzero(lost)))
    return trajectory


def _check_scheme(scheme: Splitting, terms: Sequence[Torque]) -> None:
    for term in terms:
        if scheme.attitude_only and term.depends_on_m:
            raise ValueError(
                f"splitting {scheme.name!r} needs a torque that depends on the attitude alone; "
                f"{term!r} depends on m"
            )
        if scheme.modified and not term.has_modified:
            raise ValueError(
                f"splitting {scheme.name!r} has a modified potential and needs W; {term!r} has none"
            )


def _seen(trajectory: Trajectory, k: int) -> tuple[Array, Array]:
    """Momenta and attitudes of one save, for a callback: views that it cannot write to."""
    views = trajectory.m[k].view(), trajectory.q[k].view()
    for view in views:
        view.flags.writeable = False
    return views


@contextlib.contextmanager
def _bar(progress: bool, count: int) -> Any:
    if not progress:
        yield _NoBar()
        return
    from tqdm import tqdm

    with tqdm(total=count, unit=" steps", unit_scale=True) as bar:
        yield bar


class _NoBar:
    def update(self, n: int) -> None:
        pass


@dataclass
class _Run:
    """What an integration is about; m and q are the state."""

    row: int
    options: tuple[float, ...]
    scheme: Splitting
    terms: list[Torque]
    inertia: Array
    m: Array
    q: Array
    h: Array
    t0: float
    times: Array | None
    count: int
    every: int
    threads: int

    def step(self, n: int) -> tuple[float, float, float]:
        """h of step n, the time at its start and at its end."""
        if self.times is None:
            h = float(self.h)
            return h, self.t0 + n * h, self.t0 + (n + 1) * h
        return float(self.h[n]), float(self.times[n]), float(self.times[n + 1])

    def in_core(
        self,
        first: int,
        n: int,
        stages: Array,
        terms: list[tuple[Any, ...]],
        trajectory: Trajectory,
    ) -> None:
        """Steps `first` ... `first` + `n` - 1 and their saves; none: the start is saved."""
        _core.integrate(
            self.row,
            self.inertia,
            self.m,
            self.q,
            self.q.shape[self.m.ndim - 1 :] == (3, 3),
            stages,
            terms,
            self.h,
            self.t0,
            self.times,
            first,
            n,
            self.count,
            self.every,
            trajectory.m,
            trajectory.q,
            self.threads,
            self.options,
        )


class _Core:
    """Steps in the core, a slice of time after another."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.stages = run.scheme.table()
        batch, matrix = run.m.shape[:-1], run.q.shape[run.m.ndim - 1 :] == (3, 3)
        self.terms = [term.core_term(batch, matrix) for term in run.terms]
        self.saved_steps = 0
        flows = len(run.scheme.a) * max(run.m.size // 3, 16)
        self.slice = max(1, 100_000 // flows)

    def to(self, target: int, trajectory: Trajectory) -> int:
        """Go on to step `target` or for one slice; returns the steps done."""
        run, first = self.run, self.saved_steps
        n = min(self.slice, target - first)
        if n == 0 and first > 0:
            return first
        begun = time.perf_counter()
        run.in_core(first, n, self.stages, self.terms, trajectory)
        self.saved_steps = first + n
        spent = time.perf_counter() - begun
        if n == self.slice:
            growth = min(10.0, SLICE / max(spent, 1e-9))
            self.slice = max(1, math.ceil(self.slice * growth))
        return self.saved_steps


def _add_scaled(m: Array, s: float, force: Array) -> None:
    """m += s force, in pieces that stay in the cache."""
    if m.size <= CACHED:
        m += s * force
        return
    rows, forces = m.reshape(-1, 3), force.reshape(-1, 3)
    work = np.empty((CACHED // 3, 3))
    for i in range(0, len(rows), len(work)):
        row, force = rows[i : i + len(work)], forces[i : i + len(work)]
        row += np.multiply(force, s, out=work[: len(row)])


class _Python:
    """Steps with kicks in Python: one call of the torque a kick, over the whole batch."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.depends_on_m = any(term.depends_on_m for term in run.terms)
        self.last_flow = max(
            (i for i, stage in enumerate(run.scheme.stages) if stage[0] == "flow"), default=-1
        )
        self.saved_steps = 0
        self.force: tuple[float, Array] | None = None
        self.m = run.m.view()
        self.q = run.q.view()
        self.m.flags.writeable = self.q.flags.writeable = False

    def to(self, target: int, trajectory: Trajectory) -> int:
        """Go on to step `target` for one slice; returns the steps done."""
        run = self.run
        until = time.perf_counter() + SLICE
        if target == 0:
            run.in_core(0, 0, run.scheme.table(), [], trajectory)
            return 0
        while self.saved_steps < target:
            n = self.saved_steps
            self._step(n)
            if (n + 1) % run.every == 0 or n + 1 == run.count:
                k = -(-(n + 1) // run.every)
                trajectory.m[k], trajectory.q[k] = run.m, run.q
            self.saved_steps = n + 1
            if time.perf_counter() > until:
                break
        return self.saved_steps

    def _step(self, n: int) -> None:
        h, t, t_end = self.run.step(n)
        elapsed = 0.0
        now = t
        try:
            for i, (kind, coefficient, c) in enumerate(self.run.scheme.stages):
                if kind == "flow":
                    self._flow(coefficient * h)
                    elapsed += coefficient
                    now = t_end if i == self.last_flow else t + elapsed * h
                else:
                    self._kick(now, coefficient * h, c * h**3)
        except Exception as error:
            error.add_note(f"in step {n} of the integration, at t = {now}")
            raise

    def _flow(self, h: float) -> None:
        run = self.run
        state = (run.inertia, run.m, run.q, h, run.m, run.q)
        done = _core.step(run.row, *state, 1, run.threads, True, run.options)
        if type(done) is not tuple:
            raise RuntimeError("the core refused a state that had passed the checks")
        self.force = None

    def _torque(self, t: float, m: Array) -> Array:
        terms = self.run.terms
        total = terms[0].torque(t, m, self.q)
        for term in terms[1:]:
            total = total + term.torque(t, m, self.q)
        return total

    def _kick(self, t: float, s: float, ch3: float) -> None:
        m = self.run.m
        if self.depends_on_m:
            k1 = self._torque(t, self.m)
            k2 = self._torque(t, m + (s / 2) * k1)
            k3 = self._torque(t, m + (s / 2) * k2)
            k4 = self._torque(t, m + s * k3)
            m += (s / 6) * (k1 + 2 * (k2 + k3) + k4)
            return
        # Two kicks with no flow between them see the same torque.
        if self.force is None or self.force[0] != t:
            force = self._torque(t, self.m)
            # A function may give back what it was given.
            mine = np.may_share_memory(force, m) or np.may_share_memory(force, self.run.q)
            self.force = t, np.array(force) if mine else force
        _add_scaled(m, s, self.force[1])
        if ch3 != 0:
            m -= ch3 * self._modified(t)

    def _modified(self, t: float) -> Array:
        """W = 2 (f x v - Df[Q hat(v)]), v = f / inertia; of a function, what it gives."""
        terms = self.run.terms
        if len(terms) == 1:
            return terms[0].modified(t, self.q, self.run.m.shape)  # type: ignore[attr-defined, no-any-return]
        raise ValueError("W of a sum with Python functions is not known: give one function")
