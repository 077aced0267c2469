"""`polhode.integrate`: its arguments are checked in `integration`, files are in `run_directory`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import AttitudeLike
from polhode.integration import adaptive
from polhode.integration.check_arguments import check, settings_of, times_of
from polhode.integration.events import Event, as_functions, facts_of
from polhode.integration.loop import Callback
from polhode.integration.moments import Moments, varying_settings
from polhode.integration.observed import run_in_memory
from polhode.integration.record import Settings, State
from polhode.integration.short_call import at_once
from polhode.integration.thermostat import NoseHoover, Thermostat
from polhode.integration.torque_callback import interrupted
from polhode.integration.trajectory import Trajectory
from polhode.integrators.splittings import Splitting
from polhode.integrators.tableaus import MuntheKaas
from polhode.quantities import momentum
from polhode.run_directory.files import as_path, is_free
from polhode.run_directory.resume import StoredRun, new_run, old_run
from polhode.torques import TorqueLike


def integrate(
    inertia: ArrayLike,
    m0: ArrayLike | None = None,
    q0: AttitudeLike | None = None,
    h: ArrayLike | None = None,
    n_steps: int | None = None,
    *,
    omega0: ArrayLike | None = None,
    mass: ArrayLike | None = None,
    x0: ArrayLike | None = None,
    p0: ArrayLike | None = None,
    state0: ArrayLike | None = None,
    thermostat: Thermostat | NoseHoover | None = None,
    moments: Moments | None = None,
    torque: TorqueLike = None,
    splitting: str | Splitting | Sequence[Sequence[float]] | None = "strang",
    method: str | MuntheKaas = "exact",
    t0: float = 0.0,
    t_end: float | None = None,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
    save_every: int = 1,
    t_eval: ArrayLike | None = None,
    breaks: ArrayLike | None = None,
    events: Event | Sequence[Event] | None = None,
    save_to: str | os.PathLike[str] | None = None,
    resume: bool = False,
    compensated: bool = False,
    threads: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Any,
) -> Trajectory:
    """Integrate m' = m x omega + torque, q' = q (0, omega)/2.

    A splitting alternates free motion and kicks; a direct integrator evaluates the torque itself.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments in the order of the body axes, as in `step`.
    m0 : array_like, shape (..., 3)
        Angular momentum at `t0`, body frame.
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude at `t0`, body to space: quaternions, scalar first, or rotation matrices, normalized
        as in `step`, which also says how a SciPy `Rotation` or a 4x4 pose is taken. `inertia`,
        `m0`, `q0` and the parameters of torque models broadcast together.
    h : array_like, shape () or (n_steps,)
        Time step, one number or one per step, the same for all bodies, of either sign. In place of
        `h` and `n_steps`, `t_end` chooses adaptive steps.
    n_steps : int
        Number of steps.
    omega0 : array_like, shape (..., 3), optional
        Angular velocity at `t0`, body frame, radians per time: in place of `m0`, which is then
        ``inertia * omega0``.
    mass : array_like, shape (...), optional
        Mass: with it the centres of mass move too, x' = p / mass, p' = force. Free flows move x
        uniformly, kicks change p by the force.
    x0, p0 : array_like, shape (..., 3), optional
        Centre of mass and its momentum at `t0`, space frame; zero if they are not given.
    state0 : array_like, shape (..., k), optional
        State of the torques at `t0`, k numbers for each body: of a controller, a filter. A function
        that asks for ``s`` also returns its rate, see `torques.Function`. m, p and s then advance
        together in the kicks: by the midpoint rule in schemes of order 2, by the classical
        Runge-Kutta method in others.
    thermostat : Thermostat or NoseHoover, optional
        A heat bath.
    moments : callable, optional
        Principal moments that vary in time, along constant principal axes: ``moments(t) -> (...,
        3)``, those of each body or (3,) for all; `inertia` are those at `t0`. Between kicks the
        angular momentum in space is constant, and the angular velocity is m / moments. See Notes.
    torque : None, model, callable, compiled function or list of these, optional
        A model of `polhode.torques`; or a function of the whole batch, body frame, such as
        ``f(t, q) -> (..., 3)`` or ``f(t, m, q) -> (..., 3)``, which asks by the names of its
        parameters for what it needs, see `torques.Function`; or a compiled function, see
        `torques.Compiled`. A list is the sum of its torques.
    splitting : str, Splitting, (a, b), (a, b, c) or None, optional
        A name of `splittings()`, or coefficients of the free flows (a) and of the kicks (b), which
        alternate. The longer list begins; if they have equal length, a begins. c has one
        coefficient of the modified potential for each of b: m += b h torque - c h**3 W. None: the
        method integrates the torque directly, see `Method.takes_torque`.
    method : str or MuntheKaas, optional
        The method of the free flow, or of the whole step: a name of `methods()`, or a method from
        `rkmk`.
    t0 : float, optional
        Time at the start.
    t_end : float, optional
        Time at the end, before or after `t0`, in place of `h` and `n_steps`: the lengths of the
        steps follow from their errors. The method is then "rk8", with ``splitting=None``; these
        are the defaults. States are saved at `t0` and `t_end`, or at `t_eval`. See Notes.
    rtol : float, optional
        With `t_end`: the error of a step relative to |m| and to the length 1 of q, by its
        estimate. 1e-9.
    atol : float or (float, float), optional
        With `t_end`: absolute errors of a step in m, in its unit, and in q, in addition to `rtol`.
        1e-12. For momenta much below 1e-3 in their unit give less.
    save_every : int, optional
        Number of steps between saved states. The start and the end are always saved.
    t_eval : array_like, shape (T,), optional
        Times at which states are saved in place of each `save_every`-th step, as `Trajectory` gives
        them between its saves; in the order of time. Adaptive steps end at these times.
    breaks : array_like, shape (K,), optional
        Times at which the torque jumps. A step that holds one is done in parts and counts as one;
        before the break the torque is evaluated at times below it, then at times above. So the
        scheme keeps its order. Times outside the run have no effect.
    events : callable or sequence of callables, optional
        Functions ``event(t, m, attitude) -> (...)`` of the whole batch whose zeros are located, as
        in `scipy.integrate.solve_ivp`: with the attributes ``direction`` (only zeros where the
        function increases, > 0, or decreases, < 0) and ``terminal`` (True, or the number of the
        zero that ends the body). ``t`` has the shape of the batch, (...): bodies are located at
        different times; for a single body it is a number. With `mass` it also gets x and p, with
        `state0` s. See Notes.
    save_to : path, optional
        A new directory for the trajectory, or an empty one other than the working directory. The
        states are written during the run; if it is killed, `polhode.resume` continues it.
    resume : bool, optional
        If `save_to` already has a run, continue it, or return its trajectory if it is finished. It
        must be the run of this call: other arguments, apart from `threads`, are an error.
    compensated : bool, optional
        Compensated summation of m: in long runs the energy error is then that of the scheme,
        without accumulated rounding errors. For torques that do not depend on m.
    threads : int, optional
        Number of threads. None: POLHODE_NUM_THREADS or 1; -1: all cores.
    progress : bool, optional
        Show a progress bar (tqdm).
    callback : callable, optional
        ``callback(step, t, m, attitude)``, called at each saved state, including the start; with
        `mass` it also gets x and p, with `state0` s, with a `NoseHoover` its chains, in this order.
        The arrays are read-only. If it returns True, Python's or NumPy's, the run stops there: the
        result is the trajectory so far. A stored run can be resumed.
    **options
        Options of the method, see `methods()`.

    Returns
    -------
    Trajectory
        T = 1 + ceil(n_steps / save_every) states: ``t`` (T,), ``m`` (T, ..., 3), ``q`` (T, ..., 4)
        or (T, ..., 3, 3). With `save_to` they are the memmaps, read-only. With `events` also
        ``t_events``, ``m_events`` and ``q_events``, with `mass` ``x`` and ``p`` (T, ..., 3), with
        `state0` ``state`` (T, ..., k), with a `NoseHoover` ``chains``. With `t_end` T is 2 or the
        length of `t_eval`, and ``n_steps`` and ``n_rejected`` count the steps of each body.

    Warns
    -----
    RuntimeWarning
        Once per call, with the number of bodies that became NaN because the torque was not finite
        at a finite momentum, and of those for which an implicit method did not converge, whose
        steps were too long, or whose adaptive steps became too short. Also if the file system of
        `save_to` has no locks.

    Raises
    ------
    ValueError, TypeError
        As `step`. Also if the splitting is unknown, `save_to` has another run (with `resume`), or
        the scheme cannot be used with the torque: the torque depends on m, has no W, or is not
        defined at the times of the stages (`Splitting.times`, `torques.Prescribed`). With
        ``splitting=None``: if the method is not a direct integrator, the torque has fewer
        derivatives than the method needs, `compensated` is set, or a multistep method gets fewer
        steps than its history or steps of different length. With `t_end`: if `h`, `n_steps`,
        `save_every`, `mass`, `state0` or `thermostat` is given, or another method. If `t_eval` or
        `events` is given with `thermostat`. If `moments` is given with `t_end`, a direct
        integrator, a splitting that needs a torque of the attitude alone, or a model that depends
        on the moments. These errors are raised before any work. Also, when the
        torque is called, if its result does not have the shape of m.
    FileExistsError
        If `save_to` exists and is not an empty directory, without `resume`.
    BlockingIOError
        With `resume`, if another process or thread is integrating this run.

    An exception of a torque or callback, and KeyboardInterrupt, has the states so far as its
    attribute ``trajectory`` and a note with step and time.

    Notes
    -----
    A step alternates free flows and kicks m += b h torque. Time advances with the free flow, and a
    kick uses the time reached. A torque about the axis of a rod has no effect. Results do not
    depend on the other bodies, on `save_every` or on `threads`, bit for bit. Any consistent units.

    With ``splitting=None`` the method has the order in `methods`, also under a torque. "taylor3"
    and "taylor3_false" need a model that does not depend on time, or SpatialMomentum with two
    derivatives; "taylor4" ... "taylor6" need SpatialMomentum with one derivative less than the
    order; all others accept any torque. Implicit methods evaluate the torque at the unknown state,
    up to 1000 times per step, and find solutions as in `step`. Sources: [Buss01], [Krysl07] Sec. 3
    and, for the iteration, [Bro65].

    With `moments` each free flow has constant moments, those of the time that the kicks have
    reached [BC06], and a splitting for torques that depend on m has its order. The motion of the
    parts within the body has no angular momentum of its own in the body frame.

    Events are located to rounding, where the sign of the function differs between the ends of a
    step: two zeros within a step are not seen. After a terminal event a body is NaN in later saves.

    Adaptive steps are the method of Dormand and Prince with the error estimate of [HNW93] Sec.
    II.5. Errors of steps add up, so the error at the end is larger than that of a step.

    In the manual: "Trajectories" on events and adaptive steps, "Mass properties" on `moments`,
    "Energy correction" on its target under a torque.

    Examples
    --------
    The heavy top of [CZ08] Sec. 4.3, sixth order:

    >>> import polhode as ph
    >>> inertia = [1.0, 1.0126869887825154, 3.3062374224730378]
    >>> m0 = [-0.34790957088547336, -0.19822914599675923, -0.9163318919276364]
    >>> u0 = [9.558630354723854e-05, 0.00048777318247201465, -0.0008677214881719239]
    >>> run = dict(torque=ph.torques.HeavyTop(u0), splitting="rkn6_14", save_every=50)
    >>> traj = ph.integrate(inertia, m0, [1.0, 0.0, 0.0, 0.0], 0.5, 100, **run)
    >>> traj.t
    array([ 0., 25., 50.])
    >>> traj.m[-1].round(6)
    array([-0.388261, -0.095514, -0.916637])
    """
    plain = save_to is None and callback is None and omega0 is None
    plain = plain and (threads is None or (type(threads) is int and threads == 1))
    plain = plain and t_eval is None and breaks is None and events is None
    plain = plain and mass is None and x0 is None and p0 is None
    plain = plain and state0 is None and thermostat is None and moments is None
    if plain and not (options or compensated or resume or progress):
        short = at_once(
            torque, splitting, method, h, n_steps, t0, save_every, inertia, m0, q0, t_end, rtol,
            atol,
        )  # fmt: skip
        if short is not None:
            return short
    if t_end is not None:
        every = None if save_every == 1 else save_every
        h = adaptive.whole_way(
            t0, t_end, h=h, n_steps=n_steps, save_every=every, mass=mass, state0=state0,
            thermostat=thermostat, moments=moments,
        )  # fmt: skip
        n_steps, (splitting, method) = 1, adaptive.scheme(splitting, method)
    elif rtol is not None or atol is not None:
        raise TypeError("rtol and atol are for adaptive steps: give t_end in place of h, n_steps")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    if resume and save_to is None:
        raise ValueError("resume=True needs save_to, the directory of the run")
    if omega0 is not None:
        if m0 is not None:
            raise TypeError("give m0 or omega0, not both")
        m0 = momentum(inertia, omega0)
    if m0 is None or q0 is None or h is None or n_steps is None:
        start = {"m0 (or omega0)": m0, "q0": q0, "h (or t_end)": h, "n_steps": n_steps}
        missing = ", ".join(name for name, value in start.items() if value is None)
        raise TypeError(f"integrate needs {missing}")
    settings = settings_of(
        inertia, m0, q0, h, n_steps, torque, splitting, method, t0, save_every, compensated,
        threads, options, breaks, in_memory=save_to is None, mass=mass, x0=x0, p0=p0, state0=state0,
        thermostat=thermostat,
    )  # fmt: skip
    if moments is not None:
        settings = varying_settings(settings, moments)
    functions = as_functions(events)
    facts = facts_of(functions)
    if t_end is not None:
        tolerance = adaptive.tolerance_of(rtol, atol)
        settings = adaptive.adaptive_settings(settings, t_end, tolerance, t_eval, facts)
    elif functions or t_eval is not None:
        times = None if t_eval is None else times_of(settings, t_eval)
        settings = replace(settings, t_eval=times, events=facts)
        check(settings)
    if save_to is None:
        return run_in_memory(settings, functions, progress, callback)
    state = State.begin(settings)
    try:
        stored, state = _stored(settings, state, save_to, resume)
    except KeyboardInterrupt as error:
        begun = (each[None].copy() for each in settings.starts)
        place = f"before the first step of the integration, at t = {settings.t0}"
        interrupted(error, place, settings.trajectory(np.array([settings.t0]), *begun))
        raise
    return stored.run(state, progress, callback, functions)


def _stored(
    settings: Settings, state: State, save_to: str | os.PathLike[str], resume: bool
) -> tuple[StoredRun, State]:
    """The files of a new run, or with `resume` of the run that is there."""
    if not resume or is_free(as_path(save_to)):
        try:
            return new_run(settings, state, save_to), state
        except FileExistsError:  # with `resume`: another process began the run meanwhile
            if not resume:
                raise
    return old_run(settings, save_to)
