"""Free steps of batches of bodies."""

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
        moments are allowed, and one zero moment (a rod; the other two are then equal). The triangle
        inequality is not required.
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
        two are zero), a rod has momentum about its axis, a quaternion is zero, a matrix is not a
        rotation, or the method is unknown. The message names the first bad index and value. Nothing
        has been written then.
    TypeError
        If an argument is not of real numbers, or the method does not have an option.

    Notes
    -----
    Any consistent units. A NaN or infinity in m, q or h of one body makes that body NaN and does
    not affect other bodies. The result for a body does not depend on the other bodies, on its
    position in the batch or on the number of threads, bit for bit.

    "exact" and "frb": the error of m/|m| and of q is at most 8 eps (1 + angle), angle = |h|
    |omega|, plus four times the effect of the last bit of the input. They return NaN for a step of
    2^50 radians or more, where no digit would be correct. They also return NaN for a step of more
    than 300 growth times that starts less than 1e-135 |m| away from the axis of the middle moment,
    but not on it. A growth time is 1/sqrt((1/I1 - 1/I2) (1/I2 - 1/I3)) / |m|.

    "dmv2" ... "dmv18" solve an implicit equation. Its correct solution exists up to a rotation of
    pi/2 per step for order 2, and of about pi for the others. From |h| |m| / I1 = pi on, with I1
    the least moment, the body is NaN. For shorter steps a solution is rejected, and the body is
    NaN, if it differs from a Runge-Kutta estimate of the attitude by more than 0.15 rad (orders
    below 8: 0.6 rad). Two solutions meet for a rotation of pi/2 per step about a principal axis.
    Within 1e-4 rad of this point the wrong one may be returned, with an error of up to 2e-4 rad,
    also for orders whose error is smaller elsewhere. A solution always exists for |h| |m| / I1 <= 1
    - 1e-13. "midpoint" has a solution for every step. It is found up to |h| |m| / I1 = 3; beyond,
    not for every body (NaN), and it may be another one than that of short steps.

    "rotations231" rotates about the body axes 2, 3, 1, 3, 2 in this order; the other five names are
    similar. The error depends on the order of the axes by a factor of up to 300; the axis of the
    least moment should be the first. "symmetric_rotation" chooses the axes automatically. It has
    the same order, is more accurate, and is exact for symmetric bodies. The option ``axes`` sets
    other axes; ``cayley=True`` rotates by 2 atan(angle/2) instead of the angle.

    "taylor1" ... "taylor6" make one rotation per step, by the Taylor series of the rotation vector
    ([Buss01] Sec. 2, 5). The number is the order; "taylor2_augmented" and "taylor3_false" have
    order 2. "rk4" integrates the quaternion as a vector (order 4), "rk4_rotation" averages angular
    velocities (order 2, [Buss01] Sec. 3). The multistep methods "abam_rotation" and
    "simo_wong_explicit" (order 2) compute their first steps with ``start="rk4"``, or with
    ``start="buss"``, which uses steps of order 1.

    "trap", "imid", "trapm", "imidm", "swc1", "akw", "bbtrap", "bbtrapwd" (order 2) and
    "euler_forward", "euler_backward" (order 1) are the methods of [Krysl07] Sec. 3. The last two
    have the option ``form="rate"``, which integrates m' = m x omega directly and does not conserve
    the spatial momentum. Munthe-Kaas methods have the order of their tableau, see `rkmk`.

    The implicit ones of these methods can have several solutions in a long step. polhode returns
    the solution connected to h = 0: near the start for a short step, else by continuation in h. If
    that branch ends before h, or needs more than 65,536 parts, the body becomes NaN. Among 300,000
    random bodies this did not happen up to |h| |m| / I1 = 2, and for "trap", "imid", "imidm" and
    "akw" not up to 5 (``python -m benchmarks --only implicit_roots``).

    With ``energy_correction=True`` the body is rotated after each step so that its energy equals
    the energy at the start of the call. The spatial momentum does not change. To first order in the
    energy error, the angle is the smallest possible. If no momentum of size |m| has the target
    energy, the nearest possible energy is used. ``"buss"`` uses the formula of [Buss01] Sec. 4
    where it has a solution.

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
