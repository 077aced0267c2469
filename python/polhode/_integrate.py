"""Bodies with torque through many steps: splitting methods around a free step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode._carry_out import Callback, carry_out
from polhode._frame import Frame
from polhode._prepare import prepare
from polhode._rkmk import MuntheKaas
from polhode._run import Run
from polhode._saved import Saved
from polhode._splittings import Splitting
from polhode._store import new_store
from polhode._trajectory import Trajectory
from polhode.torques import TorqueLike

if TYPE_CHECKING:
    from polhode.bodies import RigidBody


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
        Once a call, with the number of bodies that a torque made NaN, because it was not finite
        where their momentum was, and of those that an implicit method leaves NaN because a step did
        not converge. Also where a function answers equal arguments with different numbers, see
        `torques.Function`.

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
    return integrate_in(
        None,
        inertia,
        m0,
        q0,
        h,
        n_steps,
        torque=torque,
        splitting=splitting,
        method=method,
        t0=t0,
        save_every=save_every,
        save_to=save_to,
        compensated=compensated,
        threads=threads,
        progress=progress,
        callback=callback,
        **options,
    )


def integrate_in(
    body: RigidBody | None,
    inertia: ArrayLike,
    m0: ArrayLike,
    q0: ArrayLike,
    h: ArrayLike,
    n_steps: int,
    *,
    save_to: str | os.PathLike[str] | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **arguments: Any,
) -> Trajectory:
    """`integrate` in the axes of a body; None: in principal axes."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    frame = None
    if body is not None:
        m_user = _arrays.components("m0", m0, 3).copy()
        frame = Frame(body, m_user, body._to_principal(m_user))
        m0, q0 = frame.principal0, body._attitude_to_principal(q0)
    run = prepare(frame, inertia, m0, q0, h, n_steps, **arguments)
    t = run.saved_times()
    if save_to is not None:
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
    saved = Saved(run, t[:1], run.m[None].copy(), run.q[None].copy(), None)
    saved.enter()
    return saved.trajectory()
