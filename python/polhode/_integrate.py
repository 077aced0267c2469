"""Bodies with torque through many steps: splitting methods around a free step."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, Operand, closed
from polhode._methods import (
    corrects_energy,
    history,
    may_lack_root,
    method_index,
    method_name,
    option_values,
    warn_without_root,
)
from polhode._probe import with_known_dependence
from polhode._rkmk import MuntheKaas
from polhode._splittings import Splitting, as_splitting
from polhode._steps import step
from polhode._store import Store
from polhode._torqued import NO_SPLITTING, Called, check_terms, columns, note, torqued_index
from polhode._trajectory import Trajectory
from polhode.torques import SpatialMomentum, Torque, TorqueLike, as_terms

if TYPE_CHECKING:
    from polhode.bodies import RigidBody

Callback = Callable[[int, float, Array, Array], object]

#: Seconds between two looks at Ctrl-C and the progress bar.
SLICE = 0.1


def integrate(
    inertia: ArrayLike,
    m0: ArrayLike,
    q0: ArrayLike,
    h: ArrayLike,
    n_steps: int,
    *,
    torque: TorqueLike = None,
    splitting: str | Splitting | Sequence[Sequence[float]] | None = "strang",
    method: str | MuntheKaas = "exact",
    t0: float = 0.0,
    save_every: int = 1,
    save_to: str | os.PathLike[str] | None = None,
    compensated: bool = False,
    threads: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Any,
) -> Trajectory:
    """Integrate m' = m x omega + torque, q' = q (0, omega)/2.

    By a splitting around free motion, or by a method that takes the torque itself.

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
        body frame, or a compiled function, see `torques.Compiled`; a list is their sum. A splitting
        calls a bare function twice more at the start, with other momenta, to find out whether it
        depends on m, see `torques.Function`.
    splitting : str, Splitting, (a, b), (a, b, c) or None, optional
        A name of `splittings()`, or coefficients of the free flows (a) and of the kicks (b), which
        alternate; the longer list begins, a where they are equally long. c are those of a modified
        potential, one beside each of b: m += b h torque - c h**3 W. None: the method takes the
        torque itself, see `Method.takes_torque`.
    method : str or MuntheKaas, optional
        The free flow, or the whole step: a name of `methods()`, or what `rkmk` makes.
    t0 : float, optional
        Time at the start.
    save_every : int, optional
        Steps from one save to the next; the start and the end are always saved.
    save_to : path, optional
        A directory to be made (an empty one may be there, but not the working directory), into
        which the trajectory is written as it goes, as NumPy memmaps t.npy, m.npy and q.npy: a run
        that is killed keeps what it had, and `resume` goes on with it. What exists is not written
        over.
    compensated : bool, optional
        Carry along what rounding takes from m, so that in long runs the energy errs by no more than
        the scheme does; for torques that do not depend on m. About a tenth slower.
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
        or (T, ..., 3, 3); with `save_to` they are the memmaps, read-only.

    Warns
    -----
    RuntimeWarning
        Once a call, with the number of bodies that an implicit method leaves NaN because a step has
        no root, or that a torque made NaN.

    Raises
    ------
    ValueError
        Bodies or attitudes that are none, shapes that do not fit, an unknown method or splitting,
        a scheme that the torque does not serve, because it depends on m, has no W, or is not given
        at the times that the scheme visits (`Splitting.times`, `torques.Prescribed`); with
        ``splitting=None`` a method that takes no torque, fewer derivatives of it than the method
        wants, `compensated`, and for a multistep method fewer steps than its history or steps that
        are not all alike. Nothing has been done then. Also a torque that does not have the shape of
        m, where it is called.
    TypeError
        Arguments of a wrong type; an option that the method does not have.
    FileExistsError
        What `save_to` names is there already.

    Any exception of a torque or callback, and KeyboardInterrupt, carries the states so far as its
    attribute ``trajectory``; a note tells step and time.

    Notes
    -----
    A step applies free flows and kicks m += b h torque in turn; time runs with the free flow, and a
    kick sees the time reached. A torque about the axis of a rod has nothing to turn: what a kick
    gives m there the next free flow drops, and a saved m may hold it. Results do not depend on the
    other bodies, on `save_every` or on `threads`, bit for bit. Units are any consistent set.

    With ``splitting=None`` the method has the order that `methods` gives under a torque too. What
    it wants of the torque: "taylor3" and "taylor3_false" a model that does not depend on time or
    SpatialMomentum with two derivatives, "taylor4" ... "taylor6" SpatialMomentum with one
    derivative less than the order, all others any torque. Implicit methods ask for the torque at
    the state that they look for, up to 1000 times a step; Krysl's follow the root from a step of
    length 0 where the step is long, Munthe-Kaas's see `rkmk`. A body is NaN also after 524,288
    parts of paths in one step, see `step`. Sources: [Buss01], [Krysl07] Sec. 3 and, for the
    repetition, [Bro65].

    Under a torque the target of ``energy_correction`` moves with the work, by the formula of
    Hermite of the order of the method (Taylor) or by its own quadrature. The order stays, but the
    error of the work turns the body: of heavy tops the attitude comes out better by "taylor1",
    "euler_forward" and "rk4_rotation", as good by "imidm" and Gauss's rules, and
    worse by "trapm", "bbtrapwd", "taylor3", "rkmk_midpoint" and "euler_backward". A step whose work
    is a tenth of the energy or more is not corrected, and a body that starts at rest loses up to
    one order.

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
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    run = prepare(
        inertia,
        m0,
        q0,
        h,
        n_steps,
        given=as_terms(torque),
        splitting=splitting,
        method=method,
        options=options,
        t0=t0,
        save_every=save_every,
        compensated=compensated,
        threads=threads,
    )
    return begin(run, save_to, progress, callback)


def integrate_body(
    body: RigidBody,
    m0: ArrayLike,
    q0: ArrayLike,
    h: ArrayLike,
    n_steps: int,
    torque: TorqueLike,
    callback: Callback | None,
    *,
    splitting: str | Splitting | Sequence[Sequence[float]] | None = "strang",
    method: str | MuntheKaas = "exact",
    t0: float = 0.0,
    save_every: int = 1,
    save_to: str | os.PathLike[str] | None = None,
    compensated: bool = False,
    threads: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Trajectory:
    """`integrate` in body axes that are not the principal ones."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    m_user = _arrays.components("m0", m0, 3).copy()
    principal0 = body._to_principal(m_user)
    run = prepare(
        body.moments,
        principal0,
        body._attitude_to_principal(q0),
        h,
        n_steps,
        given=as_terms(torque),
        splitting=splitting,
        method=method,
        options=options,
        t0=t0,
        save_every=save_every,
        compensated=compensated,
        threads=threads,
        frame=Frame(body, m_user, principal0),
    )
    return begin(run, save_to, progress, callback)


def prepare(
    inertia: ArrayLike,
    m0: ArrayLike,
    q0: ArrayLike,
    h: ArrayLike,
    n_steps: int,
    *,
    given: list[Torque],
    splitting: str | Splitting | Sequence[Sequence[float]] | None,
    method: str | MuntheKaas,
    options: dict[str, Any],
    t0: float,
    save_every: int,
    compensated: bool,
    threads: int | None,
    frame: Frame | None = None,
) -> Run:
    """Check the arguments of `integrate`; all but the torques are in principal axes."""
    row = method_index(method, options)
    values = option_values(row, options, method)
    scheme = NO_SPLITTING if splitting is None else as_splitting(splitting)
    terms = given if frame is None else frame.principal_terms(given)
    count = _arrays.step_count(n_steps)
    if splitting is None:
        check_terms(torqued_index(method_name(row)), terms, corrects_energy(row, values))
        _check_history(row, count, h)
        if compensated:
            raise ValueError("compensated is for splittings")
    elif history(row):
        raise ValueError(
            f"method {method!r} has a history and is no flow of a splitting: give splitting=None"
        )
    _check_scheme(scheme, terms, compensated)
    every = operator.index(save_every)
    if every < 1:
        raise ValueError(f"save_every must be at least 1, not {every}")
    cores = _arrays.thread_count(threads)
    _arrays.refuse_units("t0", t0)

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
    for term in given:
        term.check_attitude(operands[2].core == (3, 3))
    steps = _arrays.real_array("h", h).astype(np.float64)
    if steps.shape not in ((), (count,)):
        raise ValueError(f"h must be a number or have shape ({count},), not {steps.shape}")
    every = min(every, max(count, 1))
    _arrays.save_count(count, every, m.size + q.size)
    if scheme.b and count > 0 and any(term.depends_on_m is None for term in terms):
        unit = step(moments, m, q, 0.0)[1]
        given = with_known_dependence(given, terms, float(t0), moments, m, unit, steps)
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
        float(t0),
        count,
        every,
        cores,
        given,
        shown,
        frame,
    )
    if run.torqued >= 0:
        run.extra["own"] = np.zeros((m.size // 3, columns(run.torqued)))
    if compensated:
        run.extra["lost"] = np.zeros_like(m)
    _check_span(run)
    return run


def terms_of_bodies(
    given: Sequence[Torque], moments: Array, frame: Frame | None
) -> tuple[list[Torque], list[Torque]]:
    """The torques on these bodies, in principal axes and as a trajectory shows them."""
    if frame is None:
        terms = [term.with_inertia(moments) for term in given]
        return terms, terms
    shown = [term.with_inertia(tensor=frame.body.tensor) for term in given]
    return [term.with_inertia(moments) for term in frame.principal_terms(given)], shown


def begin(
    run: Run,
    save_to: str | os.PathLike[str] | None,
    progress: bool,
    callback: Callback | None,
) -> Trajectory:
    """Run from the start, into new arrays or files."""
    t = run.saved_times()
    if save_to is not None:
        from polhode._resume import new_store

        try:
            store = new_store(run, t, save_to)
        except KeyboardInterrupt as error:
            error.add_note(f"before the first step of the integration, at t = {run.t0}")
            error.trajectory = _start(run, t)  # type: ignore[attr-defined]
            raise
        with store:
            return carry_out(run, store.t, store.m, store.q, store, progress, callback)
    m, q = np.empty((len(t), *run.m.shape)), np.empty((len(t), *run.q.shape))
    return carry_out(run, t, m, q, None, progress, callback)


def _start(run: Run, t: Array) -> Trajectory:
    """The trajectory up to the start."""
    saved = _Saved(run, t[:1], run.m[None].copy(), run.q[None].copy(), None)
    saved.enter()
    return saved.trajectory()


def carry_out(
    run: Run,
    t: Array,
    m: Array,
    q: Array,
    store: Store | None,
    progress: bool,
    callback: Callback | None,
) -> Trajectory:
    """Do what is left of the run; all rows of the trajectory are `t`, `m` and `q`."""
    saved = _Saved(run, t, m, q, store)
    steps = _Steps(run, saved)
    try:
        with _bar(progress, run.count, run.done) as bar:
            if saved.rows == 0:
                steps.start()
                saved.enter()
                _call(callback, run, saved)
            while run.done < run.count:
                before = run.done
                steps.to(run.next_save() if callback is not None else run.count)
                saved.enter()
                bar.update(run.done - before)
                if run.at_save():
                    _call(callback, run, saved)
    except BaseException as error:
        trajectory = saved.rescue()
        if not isinstance(error, Exception):  # Ctrl-C, which comes anywhere
            now = run.step(run.done)[1] if run.done < run.count else float(saved.t[-1])
            note(error, f"after {run.done} steps of the integration, at t = {now}")
        with contextlib.suppress(Exception):  # an exception may refuse attributes
            error.trajectory = trajectory  # type: ignore[attr-defined]
        raise
    trajectory = saved.trajectory()
    if may_lack_root(run.row, run.options):
        lost = np.isnan(trajectory.m[-1, ..., 0]) & np.isfinite(trajectory.m[0]).all(-1)
        start = trajectory.q[0]
        lost &= np.isfinite(start).all(tuple(range(lost.ndim, start.ndim)))
        if lost.any() and np.isfinite(run.h).all():
            warn_without_root(run.row, int(np.count_nonzero(lost)), torque=bool(run.terms))
    return trajectory


def _call(callback: Callback | None, run: Run, saved: _Saved) -> None:
    if callback is None:
        return
    k = saved.rows - 1
    t = float(saved.t[k])
    try:
        callback(run.done, t, closed(saved.m[k]), closed(saved.q[k]))
    except Exception as error:
        note(error, f"in the callback after step {run.done} of the integration, at t = {t}")
        raise


class Frame:
    """Body axes of the user's that are not the principal ones.

    The state is in principal axes, as are the arrays that a run begins with; rows of the trajectory
    are turned when they are saved.
    """

    def __init__(self, body: RigidBody, m0: Array, principal0: Array) -> None:
        self.body = body
        self.m0 = m0
        self.principal0 = principal0

    def principal_terms(self, given: Sequence[Torque]) -> list[Torque]:
        """The torques, written in principal axes."""
        return [self.body._torque_to_principal(term) for term in given]

    def turned(self, m: Array, q: Array) -> tuple[Array, Array]:
        """Rows of a trajectory in the user's axes."""
        turned_m = self.body._momentum_from_principal(self.m0, self.principal0, m)
        return turned_m, self.body._attitude_from_principal(q)


class _Saved:
    """The rows of a trajectory and how many of them are filled."""

    def __init__(self, run: Run, t: Array, m: Array, q: Array, store: Store | None) -> None:
        self.run = run
        self.t, self.m, self.q = t, m, q
        self.store = store
        self.rows = 0 if store is None else store.rows
        #: Rows in the user's axes that are being written in place of those in principal axes.
        self._turned: tuple[slice, Array, Array] | None = None
        if store is not None:
            run.keeps = True

    def enter(self, commit: bool = False) -> None:
        """Count the rows that the run has filled; write down how far it is when it is time."""
        run = self.run
        rows = run.rows(run.done)
        if run.frame is not None:
            self._write_turned()
            for at in _pieces(self.rows, rows, run.m.size):
                self._turned = at, *run.frame.turned(self.m[at], self.q[at])
                self._write_turned()
        self.rows = rows
        if self.store is not None:
            self.store.count(rows)
            if commit or run.done == run.count or self.store.due():
                self.store.commit(run.done, rows, run.state())

    def _write_turned(self) -> None:
        """Write and count turned rows; if that is interrupted, it is done again as a whole."""
        if self._turned is not None:
            at, m, q = self._turned
            self.m[at], self.q[at] = m, q
            self.rows = at.stop
            self._turned = None

    def rescue(self) -> Trajectory:
        """What there is after an exception."""
        run = self.run
        run.restore()
        if run.started:
            with contextlib.suppress(OSError):  # a full disk: the exception at hand says more
                self.enter(commit=True)
        return self.trajectory()

    def trajectory(self) -> Trajectory:
        """The filled rows; of files, read-only."""
        parts = [array[: self.rows] for array in (self.t, self.m, self.q)]
        if self.store is not None:
            parts = [part.view() for part in parts]  # memmaps still
            for part in parts:
                part.flags.writeable = False
        return self.run.trajectory(*parts)


def _pieces(first: int, end: int, numbers: int) -> list[slice]:
    """Rows `first` ... `end` - 1 in pieces of bounded size."""
    step = max(1, 2**13 // max(numbers, 1))
    return [slice(k, min(k + step, end)) for k in range(first, end, step)]


def _check_history(row: int, count: int, h: ArrayLike) -> None:
    """A multistep method needs as many steps as its history, all alike."""
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
        if scheme.modified and not term.has_modified:
            raise ValueError(
                f"splitting {scheme.name!r} has a modified potential and needs W; {term!r} has none"
            )
        if scheme.b and isinstance(term, SpatialMomentum) and not term.derivatives:
            raise ValueError(
                "a splitting needs the torque, the first derivative of the momentum: "
                "SpatialMomentum(L, dL)"
            )
    if scheme.modified and len(terms) > 1 and not all(term.in_core for term in terms):
        raise ValueError("W of a sum with Python functions is not known: give one function")


def _check_span(run: Run) -> None:
    """Refuse a run that asks a torque for times at which it is not given."""
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
        if run.terms[i].held:  # beyond both data and run only a scheme asks
            early &= whole[0] >= first - slack
            late &= whole[1] <= last + slack
        if early or late:
            scheme = f"splitting {run.scheme.name!r}"
            raise ValueError(
                f"torque[{i}] is given from t = {first} to {last}, but "
                f"{scheme if run.torqued < 0 else f'method {method_name(run.row)!r}'} asks for it "
                f"from t = {visited[0]} to {visited[1]}, in a run from {whole[0]} to {whole[1]}"
            )


def _offsets(run: Run) -> list[float]:
    """When a step asks for the torque, in units of h from its start."""
    if run.torqued < 0:
        return run.scheme.kick_times()
    stages = [
        stage for n in (0, 2**31) for stage in _core.torqued_stages(run.torqued, n, run.options)
    ]
    return sorted({time for time, derivatives, _ in stages if derivatives})


def _bar(progress: bool, count: int, done: int) -> Any:
    if not progress:
        return _NoBar()
    from tqdm import tqdm

    return tqdm(total=count, initial=done, unit=" steps", unit_scale=True)


class _NoBar:
    # No generator: its context manager sets attributes of an exception, and some allow none.
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, n: int) -> None:
        pass


@dataclass
class Run:
    """What an integration is about.

    `m`, `q` and the arrays of `extra` are the state after `done` steps: what a method carries from
    step to step besides m and q belongs into `extra`, changed in place, and is stored and restored
    with them.
    """

    row: int
    options: tuple[Any, ...]
    scheme: Splitting
    terms: list[Torque]
    inertia: Array
    m: Array
    q: Array
    h: Array
    t0: float
    count: int
    every: int
    threads: int
    given: list[Torque]
    shown: list[Torque]
    frame: Frame | None = None
    done: int = 0
    started: bool = False
    extra: dict[str, Array] = field(default_factory=dict)
    keeps: bool = False

    def __post_init__(self) -> None:
        self.times: Array | None = None
        if self.h.ndim:
            self.times = self.t0 + np.concatenate([[0.0], np.cumsum(self.h)])
        self._kept: dict[str, Array] = {}
        self._kept_at = -1
        #: Row of the method that takes the torque itself; -1: a splitting.
        self.torqued = -1
        if not self.scheme.stages and not self.scheme.name:
            self.torqued = torqued_index(method_name(self.row))

    def reach(self, offsets: Sequence[float]) -> tuple[float, float]:
        """Least and largest time that lies at one of these parts of a step from its start."""
        if self.times is None:  # of equal steps the first and the last
            starts = self.t0 + np.array([0.0, self.count - 1.0]) * self.h
        else:
            starts = self.times[:-1]
        with np.errstate(invalid="ignore", over="ignore"):
            reached = np.array([starts + c * self.h for c in offsets])
        return float(reached.min()), float(reached.max())

    def saved_times(self) -> Array:
        """Times of all saves."""
        saves = self.rows(self.count)
        steps = np.minimum(np.arange(saves) * self.every, self.count)
        if self.times is not None:
            return np.asarray(self.times[steps])
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(steps == 0, self.t0, self.t0 + steps * float(self.h))

    def rows(self, done: int) -> int:
        """How many saves there are after so many steps."""
        return done // self.every + 1 if done < self.count else 1 + -(-self.count // self.every)

    def next_save(self) -> int:
        """The step after which the next save is."""
        return min(self.done + self.every - self.done % self.every, self.count)

    def at_save(self) -> bool:
        """Whether the last step has been saved."""
        return self.done % self.every == 0 or self.done == self.count

    def step(self, n: int) -> tuple[float, float, float]:
        """h of step n, the time at its start and at its end."""
        if self.times is None:
            h = float(self.h)
            return h, self.t0 + n * h, self.t0 + (n + 1) * h
        return float(self.h[n]), float(self.times[n]), float(self.times[n + 1])

    def state(self) -> dict[str, Array]:
        """All that the next steps depend on."""
        return {"m": self.m, "q": self.q, **self.extra}

    def keep(self) -> None:
        """Before steps that an exception may cut: `restore` comes back to here."""
        if not self.keeps:
            return
        self._kept_at = -1
        for name, array in self.state().items():
            if name in self._kept:
                self._kept[name][...] = array
            else:
                self._kept[name] = array.copy()
        self._kept_at = self.done

    def restore(self) -> None:
        """Back to the state after `done` steps, wherever an exception came."""
        if self._kept_at == self.done:
            for name, array in self.state().items():
                array[...] = self._kept[name]

    def trajectory(self, t: Array, m: Array, q: Array) -> Trajectory:
        """These states of the bodies."""
        if self.frame is None:
            return Trajectory(t, m, q, self.inertia, tuple(self.shown))
        from polhode._body_trajectory import BodyTrajectory

        return BodyTrajectory(t, m, q, tuple(self.shown), body=self.frame.body)


class _Steps:
    """The steps of a run in the core, a slice of time after another."""

    def __init__(self, run: Run, saved: _Saved) -> None:
        self.run = run
        batch, matrix = run.m.shape[:-1], run.q.shape[run.m.ndim - 1 :] == (3, 3)
        #: Steps of one call of the core: of torques in Python, which may take any time, one.
        self.calls = not all(term.in_core for term in run.terms)
        flows = max(len(run.scheme.a), 1) * max(run.m.size // 3, 16)
        self.slice = 1 if self.calls else max(1, 100_000 // flows)
        self.integration = _core.Integration(
            method=run.row,
            options=run.options,
            torqued=run.torqued,
            inertia=run.inertia,
            m=run.m,
            attitude=run.q,
            matrix=matrix,
            lost=run.extra.get("lost"),
            own=run.extra.get("own"),
            stages=run.scheme.table(),
            terms=[
                term.core_term(batch, matrix) if term.in_core else Called(run, term)
                for term in run.terms
            ],
            h=run.h,
            t0=run.t0,
            times=run.times,
            total_steps=run.count,
            save_every=run.every,
            m_saved=saved.m,
            attitude_saved=saved.q,
            threads=run.threads,
        )

    def start(self) -> None:
        """Save the start."""
        self.integration.run(0, 0)
        self.run.started = True

    def to(self, target: int) -> None:
        """Go on to step `target` or for one slice."""
        run = self.run
        begun = time.perf_counter()
        while run.done < target:
            n = min(self.slice, target - run.done)
            run.keep()
            self.integration.run(run.done, n)
            run.done += n
            spent = time.perf_counter() - begun
            if not self.calls:
                if n == self.slice:
                    growth = min(10.0, SLICE / max(spent, 1e-9))
                    self.slice = max(1, math.ceil(self.slice * growth))
                break
            if spent > SLICE:
                break
