"""`polhode.step`: cpp/bindings/register_steps.cpp checks the arguments and steps the bodies."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from polhode import _core
from polhode._arrays import Array, AttitudeLike
from polhode.integrators.table import chosen, may_lack_root, warn_of_lost
from polhode.integrators.tableaus import MuntheKaas

_core_step = _core.step


def step(
    inertia: ArrayLike,
    m: ArrayLike,
    q: AttitudeLike,
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
        Principal moments of inertia, in the order of the body axes. They need not be sorted. Equal
        moments are allowed, one zero moment (a rod; the other two are then equal) and two (a planar
        rotor). The triangle inequality is not required.
    m : array_like, shape (..., 3)
        Angular momentum, body frame.
    q : array_like, shape (..., 4) or (..., 3, 3)
        Attitude, body to space: unit quaternions, scalar first, or rotation matrices. A quaternion
        (matrix) whose norm (orthogonality) is off by more than a few eps is normalized. A
        `scipy.spatial.transform.Rotation` is accepted here and wherever polhode takes an attitude.
        A 4x4 pose would be read as four quaternions: give its rotation, ``pose[..., :3, :3]``.
    h : array_like, shape (...)
        Time step, one number or one per body, of either sign. All four arguments broadcast
        together: one body with h of shape (k,) gives k bodies, also with `n_steps`. For steps of
        different lengths one after another use `integrate`.
    method : str or MuntheKaas, optional
        A name of `methods()`, or a method from `rkmk`.
    n_steps : int, optional
        Number of steps of length `h`. Only the last state is returned. It has the same bits as
        after `n_steps` calls, with two exceptions: the target of `energy_correction` is the energy
        at the start of the call, and a multistep method starts anew in each call and needs at least
        as many steps as its history.
    out : tuple of two float64 arrays, optional
        Arrays for the results, with the shapes of the results. The inputs themselves are allowed.
    threads : int, optional
        Number of threads. None: POLHODE_NUM_THREADS or 1; -1: all cores.
    **options
        Options of the method, see `methods()`.

    Returns
    -------
    m : ndarray, shape (..., 3)
        Angular momentum, body frame.
    q : ndarray, shape (..., 4) or (..., 3, 3)
        Attitude. The sign of a quaternion is continuous along the motion from the given one; it is
        not changed to make the scalar positive. For a `Rotation` it is an array of quaternions:
        ``Rotation.from_quat(q, scalar_first=True)``.

    Warns
    -----
    RuntimeWarning
        Once per call, with the number of bodies that become NaN although their input is finite: an
        implicit method did not converge, or a step is too long to have a correct digit.

    Raises
    ------
    ValueError
        If shapes do not broadcast, the inertia is invalid (a moment is negative or not finite, or
        all are zero), m has a part about an axis of zero moment, a quaternion is zero, a matrix is
        not a rotation, or the method is unknown. The message names the first bad index and value.
        Nothing has been written then.
    TypeError
        If an argument is not of real numbers, or the method does not have an option.

    Notes
    -----
    Any consistent units. A NaN or infinity in m, q or h of one body makes that body NaN and does
    not affect other bodies. The result for a body does not depend on the other bodies, on its
    position in the batch or on the number of threads, bit for bit.

    "exact" and "frb": the error of m/|m| and of q is at most 8 eps (1 + angle), angle = |h|
    |omega|, plus four times the effect of the last bit of the input. They return NaN for a step of
    some 2^51 radians or more, where no digit would be correct, and for very long steps from less
    than 1e-135 |m| beside the axis of the middle moment.

    The pages of the families describe the methods: formulas, options, accuracy, which steps have a
    solution. Implicit methods return the solution that is connected to h = 0; where there is none,
    or it is not found, the body becomes NaN. Up to |h| |m| / I1 = 1 - 1e-13, I1 the least moment,
    all have one.

    With ``energy_correction=True`` the body is rotated after each step so that its energy equals
    the energy at the start of the call, as far as its momentum allows; the spatial momentum does
    not change.

    Examples
    --------
    A quarter turn about the first axis, at one radian per second:

    >>> import numpy as np, polhode as ph
    >>> m, q = ph.step([1.0, 2.0, 3.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], np.pi / 2)
    >>> q.round(6)
    array([0.707107, 0.707107, 0.      , 0.      ])
    """
    m_out, q_out, lost = _core_step(method, options, inertia, m, q, h, n_steps, out, threads)
    if lost:
        row, values = chosen(method, options)
        warn_of_lost(row, lost, implicit=may_lack_root(row, values))
    return m_out, q_out
