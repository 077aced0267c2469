"""Runs in files: how they begin, continue and are compared."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode import _arrays, _core
from polhode._arrays import closed
from polhode.integration import loop
from polhode.integration.check_arguments import check
from polhode.integration.events import FACTS, Event, as_functions, facts_of
from polhode.integration.loop import Callback
from polhode.integration.moments import Moments, varying_settings
from polhode.integration.observed import observer
from polhode.integration.record import Settings, State
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import METHODS, warn_user
from polhode.run_directory import schema
from polhode.run_directory.files import Arrays, RunFiles, as_path, naming_file, require
from polhode.torques import Torque, TorqueLike, as_terms
from polhode.torques._function import ARGUMENTS, check_functions

#: The argument `events`.
Events = Event | Sequence[Event] | None
#: Differences below this part of the largest component of a torque are rounding.
ROUNDING = 1e-9
#: Instruction-set levels that give the same bits.
_SAME_BITS = {"v3", "v4", "scalar"}


class StoredRun:
    """The files of a run with its settings."""

    def __init__(self, files: RunFiles, settings: Settings) -> None:
        self.files, self.settings = files, settings
        self.rows = files.t, *files.saved
        self.count, self.due = files.count, files.due
        self._where = f"the run in {str(files.path)!r}"
        self._user_defined = {
            i: settings.terms[i]
            for i, term in enumerate(settings.torque)
            if not schema.is_stored(term)
        }
        #: What these return at the start, once it is known.
        self._start = {k: v for k, v in files.state.items() if k.endswith(".start")}

    def commit(self, state: State) -> None:
        """Record the state and the values of the user-defined torques there."""

        def arrays() -> Arrays:
            values = self._values(state, self._start)
            self._start = {k: v for k, v in values.items() if k.endswith(".start")}
            return {**schema.write_state(state), **values}

        self.files.write_state(arrays)

    def _values(self, state: State, start: Arrays) -> Arrays:
        """What the user-defined torques return at the start, unless `start` has it, and at a state.

        Nothing for one that fails.
        """
        found = dict(start)
        varies = self.settings.moments
        if not state.begun or not (self._user_defined or varies):
            return found
        names = [name for name in self.settings.companions if name in ARGUMENTS]
        now = *self.settings.in_body_axes(state), *(getattr(state, name) for name in names)
        points = [("state", state.step, now)]
        if not start:
            saved = self.settings.t_eval is None  # else the first row is any state
            rows = [each[0] for each in self.files.saved] if saved else self.settings.starts
            points.insert(0, ("start", 0, tuple(rows)))
        for when, step, at in points:
            m, q, *rest = (closed(np.array(each)) for each in at)
            others = dict(zip(names, rest, strict=False))
            t = self.settings.time(step)
            if varies is not None:
                with contextlib.suppress(Exception), np.errstate(all="ignore"):
                    found[f"moments.{when}"] = np.array(varies(t))
            for i, term in self._user_defined.items():
                with contextlib.suppress(Exception), np.errstate(all="ignore"):
                    value = term.all_values(t, m, q, **others)
                    found[f"torque.{i}.{when}"] = np.array(value, np.float64)
        return found

    def compare_values(self, state: State) -> None:
        """Raise ValueError if a torque or moments of the user have other values than before."""
        where = self._where
        for name, new in self._values(state, {}).items():
            of_moments = name.startswith("moments.")
            term = "moments" if of_moments else f"torque[{name.split('.')[1]}]"
            t = self.settings.time(state.step if name.endswith(".state") else 0)
            old = self.files.state.get(name, new)
            if new.shape != old.shape:
                numbers = f"{new.shape[-1]} numbers for a body, but in {where} {old.shape[-1]}"
                raise ValueError(f"{term} returns {numbers}")
            with np.errstate(invalid="ignore", over="ignore"):
                size = np.maximum(np.abs(new), np.abs(old)).max(axis=-1, keepdims=True)
                alike = (new == old) | (np.isnan(new) & np.isnan(old))
                alike |= np.abs(new - old) <= ROUNDING * size
            for body in np.argwhere(~alike.all(axis=-1))[:1].tolist():
                at = tuple(body)
                label = f" for body [{', '.join(map(str, body))}]" if body else ""
                raise ValueError(
                    f"{term} returns {new[at].tolist()}{label} at t = {t}, but in {where} it "
                    f"returned {old[at].tolist()}: it is not the same "
                    + ("function" if of_moments else "torque")
                )

    def trajectory(self, state: State) -> Trajectory:
        """The saved states, read-only."""
        parts = [array[: self.files.rows] for array in self.rows]
        for part in parts:
            part.flags.writeable = False
        return self.settings.trajectory(*parts, **self.settings.findings(state))

    def run(
        self,
        state: State,
        progress: bool,
        callback: Callback | None,
        events: Events = None,
    ) -> Trajectory:
        """Continue the run; a finished run is only read."""
        with self.files:
            if not self.files.writing:
                return self.trajectory(state)
            observe = None
            if self.settings.observed:
                functions = as_functions(events)
                _compare("events", facts_of(functions), self.settings.events, self._where)
                observe = observer(self.settings, functions, True)
            return loop.run(self.settings, state, self.rows, self, progress, callback, observe)


def new_run(settings: Settings, state: State, save_to: str | os.PathLike[str]) -> StoredRun:
    """The files of a run that has not begun."""
    content, setup = schema.write(settings)
    t = settings.saved_times()
    files = RunFiles.create(as_path(save_to), content, setup, t, schema.write_state(state))
    return StoredRun(files, settings)


def old_run(settings: Settings, save_to: str | os.PathLike[str]) -> tuple[StoredRun, State]:
    """The files of this run, and the state that they have.

    Raises ValueError if they are those of a run with other settings.
    """
    files = RunFiles(as_path(save_to), True)
    try:
        where = f"the run in {str(files.path)!r}"
        varying = settings.moments and settings.moments.function
        old = _read_settings(files, settings.torque, varying)
        for each in dataclasses.fields(Settings):
            if each.metadata["compared"]:
                _compare(each.name, getattr(settings, each.name), getattr(old, each.name), where)
        run = StoredRun(files, dataclasses.replace(old, threads=settings.threads))
        return run, _continued(run)
    except BaseException:
        files.close()
        raise


def _compare(name: str, now: Any, before: Any, where: str) -> None:
    """Raise ValueError if the values of a field differ."""
    if name == "torque":  # the terms are compared when they are read
        count = f"{len(now)} terms, but {where} has {len(before)}"
        require(len(now) == len(before), f"torque has {count}")
    elif name == "events" and now is None and before is not None:
        raise ValueError(f"{where} has {len(before)} events, which must be given again: events=")
    elif (now is None) != (before is None):
        found = [value if value is None else value.tolist() for value in (now, before)]
        raise ValueError(f"{name} is {found[0]}, but {where} has {found[1]}")
    elif isinstance(now, np.ndarray):
        shapes = f"{now.shape}, but in {where} it is of shape {before.shape}"
        require(now.shape == before.shape, f"{name} is of shape {shapes}")
        same = (now == before) | (np.isnan(now) & np.isnan(before))
        for index in np.argwhere(~same)[:1].tolist():
            at, label = tuple(index), f"[{', '.join(map(str, index))}]" if index else ""
            if name == "events":
                label = f"[{at[0]}].{FACTS[at[1]]}"
            raise ValueError(f"{name}{label} is {now[at]}, but {where} has {before[at]}")
    elif isinstance(now, (tuple, list)):
        require(len(now) == len(before), f"{name} are {now}, but {where} has {before}")
        for one, other in zip(now, before, strict=True):
            _compare(name, one, other, where)
    elif now != before:
        more = ""
        if name == "splitting":
            now, before = now.name or None, before.name or None
            now = f"{now} of other coefficients" if now == before else now
        if name == "n_steps" and now > before:
            more = f": polhode.resume(path, n_steps={now}) makes it longer"
        if name == "method":
            now, before = METHODS[now].name, METHODS[before].name
        raise ValueError(f"{name} is {now}, but {where} has {before}{more}")


def resume(
    path: str | os.PathLike[str],
    torque: TorqueLike = None,
    *,
    moments: Moments | None = None,
    n_steps: int | None = None,
    events: Events = None,
    threads: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
) -> Trajectory:
    """Continue an integration that `integrate(save_to=path)` began.

    Parameters
    ----------
    path : path
        The directory that was `save_to`.
    torque : None, model, callable or list of these, optional
        Models and their parameters are stored. Python functions and compiled functions are not
        stored and must be given here again: either only these, or the whole torque as before. They
        are recognised by their values, see Notes.
    moments : callable, optional
        The moments of a run with `moments`, which are not stored; recognised in the same way.
    n_steps : int, optional
        The number of steps in all, at least as many as before: the run goes on beyond its end, and
        is then the run of that many steps, bit for bit. Its end before is no longer saved unless it
        is a `save_every`-th step. None: as many as before.
    events : callable or sequence of callables, optional
        The events of the run, as in `integrate`, which are not stored; what was found is.
    threads : int, optional
        Number of threads; None: the same as before.
    progress : bool, optional
        Show a progress bar (tqdm).
    callback : callable, optional
        As in `integrate`, called at the saves that are still to come.

    Returns
    -------
    Trajectory
        The whole trajectory, from the start, as `integrate` would have returned it: the same bits
        at the same instruction-set level. Its arrays are read-only memmaps. For a finished run, its
        result, which is only read; `torque` is then only needed for its potential.

    Raises
    ------
    FileNotFoundError
        If nothing is at `path`.
    BlockingIOError
        If another process or thread is integrating this run. The system releases the lock when the
        process ends for any reason. On NFS the lock is valid between machines only if the lock
        service of the server runs.
    ValueError
        If the files are damaged, belong to several runs or are not an integration of polhode (the
        message names the file), or if a required torque is missing or returns other values. Also
        if `n_steps` is smaller than before, or the run has an `h` for each step, adaptive steps or
        `t_eval`; or if the events or the moments are missing or others.

    Warns
    -----
    RuntimeWarning
        If the instruction-set level is not that of the start, so that the last bits differ, or if
        the version of polhode is not that of the start. Also if the file system has no locks.

    Notes
    -----
    A run records its progress every 0.2 s or less often; if it is killed, later steps are lost. The
    checksums of all files are compared first, which reads the saved rows once.

    A user-defined torque is recognised by what it returns for all bodies at the start and at the
    stored state. A difference of more than 1e-9 of the largest component of a body is refused, also
    for a torque of random numbers. A change that has an effect only at other states is not found.

    Examples
    --------
    >>> import tempfile, polhode as ph
    >>> path = tempfile.mkdtemp()
    >>> def stop(step, t, m, q):
    ...     if step == 60:
    ...         raise RuntimeError("enough")
    >>> try:
    ...     ph.integrate([1, 2, 4], [1, 2, 2], [1, 0, 0, 0], 0.1, 100, save_to=path, callback=stop)
    ... except RuntimeError as error:
    ...     print(len(error.trajectory))
    61
    >>> len(ph.resume(path))
    101
    """
    if callback is not None:
        check_functions({"callback": callback})
    with RunFiles(as_path(path), True, n_steps is not None) as files:
        settings = _read_settings(files, torque, moments)
        if threads is not None:
            settings = dataclasses.replace(settings, threads=_arrays.thread_count(threads))
        run = StoredRun(files, settings)
        state = _continued(run)
        if files.writing:
            for term in settings.torque:
                if isinstance(term, schema.Absent):
                    term.missing()
        if n_steps is not None and n_steps != settings.n_steps:
            run = _longer(run, state, n_steps)
        return run.run(state, progress, callback, events)


def _longer(run: StoredRun, state: State, n_steps: int) -> StoredRun:
    """The same run with more steps in all."""
    old, count = run.settings, _arrays.step_count(n_steps)
    where = f"the run in {str(run.files.path)!r}"
    if old.t_eval is not None:
        raise ValueError(f"n_steps: {where} saves states at given times")
    if count < old.n_steps:
        raise ValueError(f"n_steps must be at least {old.n_steps}, the steps of {where}")
    if old.h.ndim:
        raise ValueError(f"n_steps: {where} has an h for each of its {old.n_steps} steps")
    settings = dataclasses.replace(old, n_steps=count)
    check(settings)
    state.rows = min(settings.saves(state.step), state.rows)
    run.files.lengthen(
        schema.write(settings)[0],
        settings.saved_times(),
        {**run.files.state, "rows": np.array(state.rows)},
    )
    longer = StoredRun(run.files, settings)
    longer.commit(state)
    return longer


def load(
    path: str | os.PathLike[str], torque: TorqueLike = None, moments: Moments | None = None
) -> Trajectory:
    """The states that an integration has saved, see `Trajectory.load`."""
    files = RunFiles(as_path(path), False)
    run = StoredRun(files, _read_settings(files, torque, moments))
    return run.trajectory(_continued(run))


Trajectory._read = staticmethod(load)


def _continued(run: StoredRun) -> State:
    """The state from which a run continues, checked and with warnings."""
    files, settings = run.files, run.settings
    with naming_file(files.path / "state.npz"):
        state = schema.read_state(files.state)
        found, fitting = (
            {name: array.shape for name, array in each.arrays().items()}
            for each in (state, State.begin(settings))
        )
        if state.found is not None and "found" in fitting:
            fitting["found"] = (len(state.found), *fitting["found"][1:])
        require(found == fitting, f"arrays of the shapes {found}, not {fitting}")
        fits = 0 <= state.step <= settings.n_steps and state.rows == files.rows
        every = state.step // settings.save_every + 1  # of a run that is being made longer
        saves = settings.saves(state.step), every, 0
        fits = fits and (state.rows in saves or (settings.observed and state.rows <= len(files.t)))
        require(fits, f"{state.rows} rows after {state.step} steps")
    run.compare_values(state)
    if files.writing:
        _warn_of_other_bits(run)
    return state


def _read_settings(files: RunFiles, torque: TorqueLike, moments: Moments | None) -> Settings:
    with naming_file(files.path / "run.json"):
        values = schema.read(Settings, files.content, files.setup)
        stored = values["torque"]
        count, every, h = values["n_steps"], values["save_every"], values["h"]
        fits = h.shape in ((), (count,)) and every >= 1 and count >= 0
        stops, tolerance = values["stops"], values["tolerance"]
        fits = fits and (stops is None) == (tolerance is None)
        fits = fits and (stops is None or (stops.shape, tolerance.shape) == ((count + 1,), (3,)))
        require(fits, "steps that do not fit each other")
        m, q, inertia = (values[name].shape for name in ("m0", "q0", "inertia"))
        others = (values[name] for name in ("x0", "p0", "state0"))
        starts = [m, q, *(start.shape for start in others if start is not None)]
        if (bath := values["nose_hoover"]) is not None:
            require(bath.shape == (5,) and 1 <= bath[2] <= 1000, f"chains of {bath.tolist()}")
            starts.append((2, int(bath[2]), 2))
        fits = starts == [each.shape[1:] for each in files.saved]
        require(fits, "the start does not fit the files of rows")
        fits = m[:-1] in (q[:-1], q[:-2]) and m[-1:] == (3,)
        require(fits, f"m0 of shape {m} and q0 of shape {q}")
        require(inertia in ((3,), m), f"the inertia has shape {inertia}")
        values["threads"] = _arrays.thread_count(values["threads"] or None)
    values["torque"] = _terms(files, stored, as_terms(torque))
    with naming_file(files.path / "run.json"):
        settings = Settings(**values)
        files.shorten(settings.saves(count), count)
    where = f"the run in {str(files.path)!r}"
    if (moments is None) != (settings.moments0 is None):
        why = "constant moments" if moments else "moments that vary, which must be given again"
        raise ValueError(f"{where} has {why}: moments=")
    return settings if moments is None else varying_settings(settings, moments)


def _terms(
    files: RunFiles, stored: Sequence[Torque | None], given: Sequence[Torque]
) -> list[Torque]:
    """All terms of the torque: those that were not stored come from `given`, or are `Absent`.

    `given` is the whole torque or only these terms.
    """
    where = f"the run in {str(files.path)!r}"
    missing = list(stored).count(None)
    if given and len(given) == len(stored) != missing:
        for i, (old, new) in enumerate(zip(stored, given, strict=True)):
            if old is not None and not schema.same_model(old, new):
                raise ValueError(f"torque[{i}] = {new!r}, but {where} has {old!r}")
        given = [new for old, new in zip(stored, given, strict=True) if old is None]
    elif given and len(given) != missing:
        raise ValueError(
            f"torque has {len(given)} terms, but {where} has {len(stored)}, of which {missing} are "
            "to be given"
        )
    own = iter(given)
    terms: list[Torque] = []
    for item, kept in zip(files.content["torque"], stored, strict=True):
        term = kept or next(own, None) or schema.Absent(item)
        if kept is None and term.depends_on_m != item["depends_on_m"]:
            raise ValueError(
                f"{term!r} has depends_on_m = {term.depends_on_m}, but {item['function']} of "
                f"{where} had {item['depends_on_m']}"
            )
        terms.append(term)
    return terms


def _warn_of_other_bits(run: StoredRun) -> None:
    """A warning if the version or the level is not that of the start."""
    for kind, before, now, alike in (
        ("version of polhode", run.settings.polhode, _core.build["version"], set()),
        ("instruction-set level", run.settings.isa, _core.build["isa"], _SAME_BITS),
    ):
        if before != now and not {before, now} <= alike:
            warn_user(
                f"the run in {str(run.files.path)!r} began with the {kind} {before}, and continues "
                f"with {now}: last bits may differ"
            )
