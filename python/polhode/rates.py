"""The attitude of a body whose angular velocity is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core, so3
from polhode._arrays import Array, AttitudeLike

__all__ = ["attitude_from_rate"]

#: Turns of intervals that are accumulated at a time.
CHUNK = 2048
_STEPS = {order: getattr(_core, f"rate_magnus{order}") for order in (2, 4, 6, 8)}
_SAMPLES = {order: getattr(_core, f"rate_samples{order}") for order in (1, 2, 4, 6)}
_INCREMENTS = {order: getattr(_core, f"rate_increments{order}") for order in (2, 4, 6)}


def attitude_from_rate(
    omega: Callable[[float], ArrayLike] | ArrayLike,
    q0: AttitudeLike,
    h: ArrayLike | None = None,
    n_steps: int = 1,
    *,
    order: int = 4,
    t0: float = 0.0,
    t: ArrayLike | None = None,
    increments: bool = False,
    save_every: int = 1,
    max_gap: float | None = None,
) -> Array:
    """Attitude from an angular velocity given in the body frame: q' = q (0, omega(t))/2.

    Either `n_steps` steps `h`, with the attitude at the end; or, with `t`, the log of a gyroscope,
    with the attitude at all stamps.

    Parameters
    ----------
    omega : callable or array_like
        Angular velocity, body frame, radians per time.

        With `h`: a function of the time, a float, that returns shape (..., 3) for the whole batch;
        or its values at the Gauss nodes of every step, shape (n_steps, order/2, ..., 3), in the
        order of time. The nodes of a step that begins at t are
        ``t + h * (1 + numpy.polynomial.legendre.leggauss(order // 2)[0]) / 2``.

        With `t`: its values at the stamps, shape (T, ..., 3); or, with ``increments=True``, its
        integrals from each stamp to the next, radians, shape (T - 1, ..., 3).
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude at `t0` or at the first stamp, body to space: unit quaternions, scalar first, or
        rotation matrices, as in `step`.
    h : array_like, shape (...)
        Time step, the same for all steps: one number, or one per body if `omega` is an array, of
        either sign. All broadcast together. With more than one step, steps of each of n bodies are
        written (n, 1), with `q0` and the bodies of `omega` in shapes (n, 1, ...): shape (n,), which
        could mean steps in time, raises an error.
    n_steps : int, optional
        Number of steps.
    order : int, optional
        Order of the method. With `h`: 2, 4, 6 or 8, with order/2 evaluations of `omega` per step.
        With `t`: 1, the rate at a stamp holds until the next stamp; 2, 4 or 6, the polynomial
        through so many stamps. For increments: 2, 4 or 6, the last two with a coning correction.
    t0 : float, optional
        Time at the start, for a function.
    t : array_like, shape (T,), optional
        Stamps, the same for all bodies, increasing; the intervals may have any lengths.
    increments : bool, default False
        `omega` holds angle increments.
    save_every : int, default 1
        With `t`: return the attitude at the first stamp, at each stamp `save_every` further on, and
        at the last one.
    max_gap : float, optional
        With `t`: the longest interval between stamps that is accepted. Default: any.

    Returns
    -------
    q : ndarray, shape (..., 4) or (..., 3, 3); with `t` (S, ..., 4) or (S, ..., 3, 3)
        Attitude at the end; or at S = 1 + ceil((T - 1)/save_every) stamps. In the form of `q0`. A
        quaternion is on the continuous path that starts at the given one.

    Raises
    ------
    ValueError, TypeError
        As `step`; also for another order, several h with a function, and one-dimensional `h` with
        more than one step; for stamps that do not increase or are not finite, fewer rows than the
        order combines, and an interval above `max_gap`, with its index and length.

    Notes
    -----
    Units are any consistent set. The Magnus schemes with the fewest commutators, [Gus10] eqs (22)
    to (25); the error is of the given order in h, and the rounding error at most 2 eps per step
    plus 3/2 eps per radian (orders 2 and 4: 1/2 eps). Symmetric: a step with -h returns to the
    start. If the direction of `omega` is fixed, the only error is that of Gauss's rule. The series
    converge if omega turns the body by less than a whole turn per step. NaN or infinity in one
    body's omega or h makes only that body NaN.

    With `t` the error is of the given order in the longest interval; increments about a fixed
    direction have no error but rounding, about 4 eps of the turn in an interval. A NaN in a row
    makes the attitudes of its body NaN from the first interval that takes this row; order 1 does
    not take the last row.

    Examples
    --------
    A quarter turn about axis 3 with a rate that grows, 2 t radians per time:

    >>> import numpy as np, polhode as ph
    >>> rate = lambda t: [0.0, 0.0, 2 * t]
    >>> ph.attitude_from_rate(rate, [1.0, 0.0, 0.0, 0.0], np.sqrt(np.pi / 2)).round(6)
    array([0.707107, 0.      , 0.      , 0.707107])
    """
    order = _arrays.whole("order", order)
    attitude = _arrays.attitude_operand("q0", q0)
    _arrays.check_attitude(attitude.array, "q0")
    start = attitude.array.astype(np.float64, copy=False)
    q = so3.to_quaternion(start) if attitude.core == (3, 3) else start
    if t is not None:
        if h is not None or n_steps != 1 or t0 != 0.0:
            raise TypeError(
                "h, n_steps and t0 are for steps, t is for a log: give one or the other"
            )
        path = _path(omega, q, _stamps(t, max_gap), order, bool(increments), save_every)
        return so3.to_matrix(path) if attitude.core == (3, 3) else path
    if h is None:
        raise TypeError("attitude_from_rate needs the step h or the stamps t")
    if increments or save_every != 1 or max_gap is not None:
        raise TypeError("increments, save_every and max_gap are for a log: they need the stamps t")
    if order not in _STEPS:
        raise ValueError(f"order must be 2, 4, 6 or 8, not {order!r}")
    count = _arrays.step_count(n_steps)
    step = _arrays.real_array("h", h).astype(np.float64)
    if count > 1 and step.ndim == 1:
        raise ValueError(
            f"h of shape {step.shape} with n_steps = {count} could mean bodies or steps in time: "
            f"for a step length of each body write shape ({len(step)}, 1); "
            "steps of different lengths in time take one call each"
        )
    if callable(omega):
        if step.ndim != 0:
            raise ValueError(f"h must be one number where omega is a function, not {step.shape}")
        rates = _rates(omega, float(step), count, order, _arrays.one_number("t0", t0))
        batch: tuple[int, ...] = ()
    else:
        samples = _table(omega, (count, order // 2), "n_steps, order/2").astype(np.float64)
        rates = map(list, samples)
        batch = samples.shape[2:-1]
    for nodes in rates:
        batches = {"q0": q.shape[:-1], "h": step.shape}
        batches |= {f"omega at node {i}": w.shape[:-1] for i, w in enumerate(nodes)}
        _arrays.broadcast(batches)
        q = _STEPS[order](q, step, *nodes)
    if count == 0:
        shape = _arrays.broadcast({"q0": q.shape[:-1], "h": step.shape, "omega": batch})
        q = _unit(q, shape)
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


def _table(omega: ArrayLike, first: tuple[int, ...], what: str) -> NDArray[Any]:
    """An array of rates whose first axes are these, the axes `what`."""
    table = _arrays.real_array("omega", omega)
    n = len(first)
    if table.ndim <= n or table.shape[-1] != 3 or table.shape[:n] != first:
        expected = ", ".join(map(str, first))
        raise ValueError(
            f"omega must have shape ({what}, ..., 3) = ({expected}, ..., 3), not {table.shape}"
        )
    return table


def _unit(q: Array, shape: tuple[int, ...]) -> Any:
    """The attitudes of a batch, normalised as at the start of a step."""
    return _STEPS[2](q, np.zeros(shape), np.zeros(3))


def _stamps(t: ArrayLike, max_gap: float | None) -> Array:
    """The stamps, checked."""
    stamps = _arrays.real_array("t", t)
    if stamps.ndim != 1 or len(stamps) == 0:
        raise ValueError(f"t must have shape (T,) with at least one stamp, not {stamps.shape}")
    _arrays.refuse("t", stamps, ~np.isfinite(stamps), 0, "stamps must be finite")
    after = np.concatenate([[False], stamps[1:] <= stamps[:-1]])
    _arrays.refuse("t", stamps, after, 0, "stamps must increase, each above the one before")
    if stamps.dtype.kind in "iu" and stamps.dtype.itemsize == 8:
        stamps = stamps - stamps[0]  # exact, before large integers are rounded
    stamps = stamps.astype(np.float64, copy=False)
    if max_gap is not None:
        longest = _arrays.one_number("max_gap", max_gap)
        if not longest > 0.0:
            raise ValueError(f"max_gap must be positive, not {longest}")
        gaps = np.diff(stamps)
        if (gaps > longest).any():
            i = int(np.argmax(gaps > longest))
            raise ValueError(
                f"a gap of {gaps[i]} between t[{i}] and t[{i + 1}], above max_gap = {longest}"
            )
    return stamps


def _path(
    omega: Any, q: Array, stamps: Array, order: int, increments: bool, save_every: int
) -> Array:
    """Attitudes at the stamps: turns of the intervals, accumulated."""
    count = len(stamps) - 1
    turns, rows, shape = _SAMPLES, count + 1, "T"
    if increments:
        turns, rows, shape = _INCREMENTS, count, "T - 1"
    if order not in turns:
        *others, last = turns
        allowed = f"{', '.join(map(str, others))} or {last}"
        raise ValueError(f"order must be {allowed} with t and increments={increments}, not {order}")
    if callable(omega):
        raise TypeError("omega must be an array where stamps t are given, not a function")
    table = _table(omega, (rows,), shape)
    width = order - increments
    if count > 0 and rows < width:
        raise ValueError(f"order {order} combines {width} rows of omega, which has {rows}")
    every = _arrays.whole("save_every", save_every, 1)
    batch = _arrays.broadcast({"q0": q.shape[:-1], "omega": table.shape[1:-1]})
    q = _unit(q, batch)
    path = np.empty((1 - (-count // every), *batch, 4))
    path[0] = q
    piece = max(1, CHUNK // max(1, prod(batch)))
    times = stamps.reshape(-1, *(1,) * (table.ndim - 2))
    for begin in range(0, count, piece):
        k = np.arange(begin, min(begin + piece, count))
        # The interval in the middle of the rows, at the ends of the log as near to it as possible.
        first = np.clip(k - (width - 1) // 2, 0, rows - width)
        around = [times[first + j] for j in range(width + increments)]
        vectors = [table[first + j].astype(np.float64, copy=False) for j in range(width)]
        dq = turns[order](times[k], times[k + 1], *around, *vectors)
        steps = _core.so3_accumulate(q, dq, axes=[-1, (0, -1), (0, -1)])
        q = steps[-1]
        path[(begin + every) // every : (k[-1] + 1) // every + 1] = steps[
            every - 1 - begin % every :: every
        ]
    path[-1] = q
    return path
