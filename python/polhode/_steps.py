"""Free steps of batches of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, Operand
from polhode._methods import (
    history,
    may_lack_root,
    method_index,
    option_values,
    warn_of_lost,
)
from polhode._rkmk import MuntheKaas

_core_step = _core.step


def step(
    inertia: ArrayLike,
    m: ArrayLike,
    q: ArrayLike,
    h: ArrayLike,
    *,
    method: str | MuntheKaas = "exact",
    n_steps: int = 1,
    out: tuple[Array, Array] | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """Step free rigid bodies: m' = m x omega, q' = q (0, omega)/2, omega = m/inertia.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments of inertia in the order of the body axes: any order, equal ones and one
        zero moment (a rod, the other two equal) allowed; the triangle inequality is not asked for.
    m : array_like, shape (..., 3)
        Angular momentum, body frame.
    q : array_like, shape (..., 4) or (..., 3, 3)
        Attitude, body to space: unit quaternions, scalar first, or rotation matrices.  Brought to
        unit norm (orthogonality) where it is more than a few eps off.
    h : array_like, shape (...)
        Time step, of either sign, one for all or one per body.  All four broadcast together.
    method : str or MuntheKaas, optional
        A name of `methods()`, or what `rkmk` makes.
    n_steps : int, optional
        Number of steps of `h` each, done in the core; the last state is returned, bit for bit what
        as many calls give.  (Not so with `energy_correction`, whose target is the energy at the
        start of each call, nor for multistep methods, which each call starts anew and which make no
        fewer steps than their history.)
    out : tuple of two float64 arrays, optional
        Where the results go, of the results' shapes; the inputs themselves are allowed.
    threads : int, optional
        Number of threads; None is POLHODE_NUM_THREADS or 1, -1 all cores.
    **options
        Options of the method, see `methods()`.

    Returns
    -------
    m : ndarray, shape (..., 3)
        Angular momentum, body frame.
    q : ndarray, shape (..., 4) or (..., 3, 3)
        Attitude.  A quaternion is the end of the continuous path that starts at the given one; it
        is never made positive.

    Warns
    -----
    RuntimeWarning
        Once a call, with the number of bodies that become NaN though their input is finite: an
        implicit method finds no root, or a step is too long to have a correct digit.

    Raises
    ------
    ValueError
        Shapes that do not fit; a moment that is negative, not finite, or a second zero; momentum
        about the axis of a rod; a zero quaternion; a matrix that is no rotation; an unknown method.
        The message names the first bad index and value, and nothing has been written.
    TypeError
        Arguments that are not real numbers; an option that the method does not have.

    Notes
    -----
    Units are any consistent set.  NaN or infinity in a body's m, q or h makes that body NaN and no
    other.  A body's result does not depend on the rest of the batch, on its place in it or on the
    number of threads, bit for bit.  "exact" errs by at most 8 eps (1 + angle), angle = |h| |omega|,
    in m/|m| and in q, plus four times what the last bit of the input does, and so does "frb". Both
    return NaN for a step of 2^50 radians and more, of which no digit would be right, and for one of
    more than 300 growth times that starts less than 1e-135 |m| off the axis of the middle moment,
    but not on it: a growth time is 1/sqrt((1/I1 - 1/I2) (1/I2 - 1/I3)) / |m|.

    "dmv2" ... "dmv18" solve an equation whose right root ends at a quarter turn a step for order 2
    and at about a half turn for the others: from |h| |m| / I1 = pi on, I1 the least moment, the
    body is NaN at once.  Below, a root more than 0.15 rad (orders below 8: 0.6 rad) from a
    Runge-Kutta estimate of the attitude is refused, and the body is NaN too.  Where two roots meet,
    about an axis at a quarter turn a step, the wrong one of a pair may be taken within 1e-4 rad of
    there, an error of up to 2e-4 rad also at orders that err by less elsewhere.  Steps short of
    |h| |m| / I1 = 1 by 1e-13 always have a root.  "midpoint" has one for every step; it is found up
    to |h| |m| / I1 = 3, beyond not for every body (NaN), and it may be another than that of short
    steps.

    "rotations231" turns about the body's axes 2, 3, 1, 3, 2 in this order, and likewise the other
    five; the error depends on the order by up to a factor 300, and the axis of the least moment
    belongs outside (first).  "symmetric_rotation" chooses its axes by itself; it is of the same
    order, more accurate, and exact for symmetric bodies.  Option ``axes`` gives other axes,
    ``cayley=True`` turns by 2 atan(angle/2) in place of the angle.

    "taylor1" ... "taylor6" turn once a step, by the Taylor series of the rotation vector ([Buss01]
    Sec. 2, 5; the number is the order, "taylor2_augmented" and "taylor3_false" are of order 2);
    "rk4" takes the quaternion as a vector (order 4), "rk4_rotation" averages angular velocities
    (order 2, [Buss01] Sec. 3).  The multistep "abam_rotation" and "simo_wong_explicit" (order 2)
    make their first steps themselves: option ``start="rk4"``, or "buss" by first-order ones.

    "trap", "imid", "trapm", "imidm", "swc1", "akw", "bbtrap", "bbtrapwd" (order 2) and
    "euler_forward", "euler_backward" (order 1) are those of [Krysl07] Sec. 3; of the last two
    ``form="rate"`` takes m' = m x omega as it stands and does not keep the momentum in space.  The
    methods of Munthe-Kaas have the order of their tableau, see `rkmk`.

    All of these but the explicit ones solve an equation that may have several roots in long steps:
    taken is one near by where the step is short, and the one that a path from a step of length 0
    leads to elsewhere; a body whose path folds back before, or has more than 65,536 parts, is NaN.
    Of 300,000 random bodies none was up to |h| |m| / I1 = 2, and up to 5 none by "trap", "imid",
    "imidm" and "akw" (``benchmarks/implicit_roots.py``).

    Option ``energy_correction=True`` turns the body after each step so that its energy becomes what
    it was at the start of the call, the momentum in space left as it is: by an angle that is the
    least to first order in the defect.  A target that |m| cannot
    have is brought to the nearest that it can.  ``"buss"`` does so by the formula of [Buss01]
    Sec. 4 where that has an answer.

    Examples
    --------
    A quarter turn about the third axis, at one radian per second:

    >>> import numpy as np, polhode as ph
    >>> m, q = ph.step([1.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0, 0.0], np.pi / 2)
    >>> q.round(6)
    array([0.707107, 0.      , 0.      , 0.707107])
    """
    row = method_index(method, options)
    values = option_values(row, options, method)
    m_out, q_out = (None, None) if out is None else _two(out)
    plain = type(n_steps) is int and 0 <= n_steps <= _arrays.MOST_STEPS
    count = n_steps if plain else _arrays.step_count(n_steps)
    if count < history(row):
        raise ValueError(
            f"method {method!r} has a history of {history(row)} steps and needs n_steps of at "
            f"least as many, not {count}"
        )
    cores = _arrays.thread_count(threads)
    result = _core_step(row, inertia, m, q, h, m_out, q_out, count, cores, False, values)
    if type(result) is tuple:
        if len(result) == 2:
            return result
        m_out, q_out, lost = result
    else:
        m_out, q_out, lost = _step_converted(row, inertia, m, q, h, out, count, cores, values)
    if lost:
        warn_of_lost(row, lost, implicit=may_lack_root(row, values))
    return m_out, q_out


def _two(out: Any) -> tuple[Any, Any]:
    if not isinstance(out, tuple) or len(out) != 2:
        raise TypeError("out must be a tuple of 2 arrays (m, q)")
    return out


def _step_converted(
    row: int,
    inertia: ArrayLike,
    m: ArrayLike,
    q: ArrayLike,
    h: ArrayLike,
    out: tuple[Array, Array] | None,
    n_steps: int,
    threads: int,
    options: tuple[Any, ...],
) -> tuple[Array, Array, int]:
    """`step` for arguments that the core does not take as they are, or refuses.

    Returns the results and the number of bodies that became NaN.
    """
    operands = [
        Operand("inertia", inertia, 3),
        Operand("m", m, 3),
        _arrays.attitude_operand("q", q),
        Operand("h", h),
    ]
    shape = _arrays.broadcast({o.name: o.batch for o in operands})
    attitude = operands[2]
    _arrays.check_bodies(operands[0], operands[1], attitude, shape)
    results = _arrays.outputs(out, [("m", (*shape, 3)), ("q", shape + attitude.core)])
    if out is not None:
        for operand in operands:
            for role, result in (("m", results[0]), ("q", results[1])):
                itself = role == operand.name and _arrays.same_elements(operand.array, result)
                if not itself and np.shares_memory(operand.array, result):
                    operand.array = operand.array.copy()
    lost = 0
    for at in _arrays.chunks(shape):
        pieces = [np.asarray(o.piece(shape, at), np.float64) for o in operands]
        targets = [result[at] for result in results]
        arguments: list[Any] = [row, *pieces, *targets, n_steps, threads, True, options]
        done = _core_step(*arguments)
        if type(done) is not tuple:
            # Outputs the core cannot write to directly, such as fields of a packed record.
            arguments[1:7] = [*map(np.array, pieces), None, None]
            fresh = _core_step(*arguments)
            if type(fresh) is not tuple:
                raise RuntimeError("the core refused values that had passed the checks")
            for target, values in zip(targets, fresh[:2], strict=True):
                target[...] = values
            done = fresh
        lost += sum(done[2:])
    return results[0], results[1], lost
