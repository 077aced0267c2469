"""The attitude of a body whose angular velocity is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core, so3
from polhode._arrays import Array, AttitudeLike

__all__ = ["attitude_from_rate"]

_STEPS = {order: getattr(_core, f"rate_magnus{order}") for order in (2, 4, 6, 8)}


def attitude_from_rate(
    omega: Callable[[float], ArrayLike] | ArrayLike,
    q0: AttitudeLike,
    h: ArrayLike,
    n_steps: int = 1,
    *,
    order: int = 4,
    t0: float = 0.0,
) -> Array:
    """Attitude from an angular velocity given in the body frame: q' = q (0, omega(t))/2.

    Parameters
    ----------
    omega : callable or array_like
        Angular velocity, body frame, radians per time: a function of the time, a float, that
        returns shape (..., 3) for the whole batch; or its values at the Gauss nodes of every step,
        shape (n_steps, order/2, ..., 3), in the order of time. The nodes of a step that begins at t
        are ``t + h * (1 + numpy.polynomial.legendre.leggauss(order // 2)[0]) / 2``.
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude at `t0`, body to space: unit quaternions, scalar first, or rotation matrices.
        Normalized as in `step`, which also says how a SciPy `Rotation` or a 4x4 pose is taken.
    h : array_like, shape (...)
        Time step, the same for all steps: one number, or one per body if `omega` is an array, of
        either sign. All broadcast together. With more than one step, shape (n,) raises an error,
        since it could mean steps in time. Steps of each of n bodies are written (n, 1), with `q0`
        and the bodies of `omega` in shapes (n, 1, ...).
    n_steps : int, optional
        Number of steps.
    order : {2, 4, 6, 8}, optional
        Order of the method: order/2 evaluations of `omega` per step.
    t0 : float, optional
        Time at the start, for a function.

    Returns
    -------
    q : ndarray, shape (..., 4) or (..., 3, 3)
        Attitude at the end, in the form of `q0`. A quaternion is the end of the continuous path
        that starts at the given one; its sign is not changed.

    Raises
    ------
    ValueError, TypeError
        As `step`; also for another order, several h with a function, and one-dimensional `h` with
        more than one step.

    Notes
    -----
    Units are any consistent set. The Magnus schemes with the fewest commutators, [Gus10] eqs (22)
    to (25); the error is of the given order in h, and the rounding error at most 2 eps per step
    plus 3/2 eps per radian (orders 2 and 4: 1/2 eps). Symmetric: a step with -h returns to the
    start. If the direction of `omega` is fixed, the only error is that of Gauss's rule. The series
    converge if omega turns the body by less than a whole turn per step. If omega is that of a free
    body, `step` with a method "magnus..." does the same and computes the rates at the nodes. NaN or
    infinity in one body's omega or h makes only that body NaN.

    Examples
    --------
    A quarter turn about axis 3 with a rate that grows, 2 t radians per time:

    >>> import numpy as np, polhode as ph
    >>> rate = lambda t: [0.0, 0.0, 2 * t]
    >>> ph.attitude_from_rate(rate, [1.0, 0.0, 0.0, 0.0], np.sqrt(np.pi / 2)).round(6)
    array([0.707107, 0.      , 0.      , 0.707107])
    """
    order = _arrays.whole("order", order)
    if order not in _STEPS:
        raise ValueError(f"order must be 2, 4, 6 or 8, not {order!r}")
    count = _arrays.step_count(n_steps)
    attitude = _arrays.attitude_operand("q0", q0)
    _arrays.check_attitude(attitude.array, "q0")
    start = attitude.array.astype(np.float64, copy=False)
    q = so3.to_quaternion(start) if attitude.core == (3, 3) else start
    step = _arrays.real_array("h", h).astype(np.float64)
    if count > 1 and step.ndim == 1:
        raise ValueError(
            f"h of shape {step.shape} with n_steps = {count} could mean bodies or steps in time: "
            f"for a step length of each body write shape ({len(step)}, 1), with q0 and the bodies "
            "of omega in shapes (n, 1, ...); steps of different lengths in time take one call each"
        )
    if callable(omega):
        if step.ndim != 0:
            raise ValueError(f"h must be one number where omega is a function, not {step.shape}")
        rates = _rates(omega, float(step), count, order, _arrays.one_number("t0", t0))
        batch: tuple[int, ...] = ()
    else:
        samples = _sampled(omega, count, order)
        rates = map(list, samples)
        batch = samples.shape[2:-1]
    for nodes in rates:
        batches = {"q0": q.shape[:-1], "h": step.shape}
        batches |= {f"omega at node {i}": w.shape[:-1] for i, w in enumerate(nodes)}
        _arrays.broadcast(batches)
        q = _STEPS[order](q, step, *nodes)
    if count == 0:
        shape = _arrays.broadcast({"q0": q.shape[:-1], "h": step.shape, "omega": batch})
        q = _STEPS[2](q, np.zeros(shape), np.zeros(3))  # normalised
    return so3.to_matrix(q) if attitude.core == (3, 3) else np.asarray(q)


def _rates(
    omega: Callable[[float], Any], h: float, count: int, order: int, t0: float
) -> Iterator[list[Array]]:
    """The rate at the nodes, one step after another."""
    distances = _core.gauss_distances(order // 2)  # of the nodes from the middle of the step
    nodes = [0.5 - x for x in reversed(distances)]
    nodes += [0.5 + x for x in distances[order // 2 % 2 :]]
    for n in range(count):
        yield [_arrays.components("omega(t)", omega(t0 + (n + c) * h), 3) for c in nodes]


def _sampled(omega: ArrayLike, count: int, order: int) -> Array:
    samples = _arrays.real_array("omega", omega)
    expected = (count, order // 2)
    if samples.ndim < 3 or samples.shape[-1] != 3 or samples.shape[:2] != expected:
        raise ValueError(
            f"omega must have shape (n_steps, order/2, ..., 3) = ({count}, {order // 2}, ..., 3), "
            f"not {samples.shape}"
        )
    return samples.astype(np.float64, copy=False)
