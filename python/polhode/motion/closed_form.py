"""The free motion of bodies in closed form: what it keeps, and its evaluation at any times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._axes import to_body
from polhode.bodies.inertia import orthonormal
from polhode.integrators.table import warn_user


def _warn_of_lost(count: int) -> None:
    """The warning for results that are NaN although m0, q0 and t are finite, if there are any."""
    if count:
        where = "1 result is" if count == 1 else f"{count} results are"
        warn_user(
            "no digit is correct: t is too long, or m0 too close to the axis of the middle moment; "
            f"{where} NaN"
        )


class ClosedForm:
    """See `TorqueFreeMotion`."""

    __slots__ = ("_axes", "_constants", "_inertia", "_m0", "_q0", "_shape")

    _shape: tuple[int, ...]

    def __init__(
        self,
        inertia: ArrayLike,
        m0: ArrayLike,
        q0: AttitudeLike,
        *,
        axes: ArrayLike | None = None,
    ) -> None:
        self._axes: Array | None = None
        if axes is None:
            made = _core.motion_of(inertia, m0, q0)
            if made is not None:
                self._inertia, self._m0, self._q0, self._constants, self._shape = made
                return
        bodies = Operand("inertia", inertia, 3)
        momenta = Operand("m0", m0, 3)
        attitudes = _arrays.attitude_operand("q0", q0)
        batches = {o.name: o.batch for o in (bodies, momenta, attitudes)}
        if axes is not None:
            columns = orthonormal("axes", axes)
            batches["axes"] = columns.shape[:-2]
            self._axes = np.ascontiguousarray(columns)
        self._shape = _arrays.broadcast(batches)
        principal = momenta.array.astype(np.float64, copy=False)
        if self._axes is not None:
            principal = to_body(self._axes, principal)
        _core.validate(
            ("inertia", bodies.array),
            ("m0", principal, momenta.array),
            ("q0", attitudes.array),
        )
        self._inertia, self._m0, self._q0 = (
            np.array(o.array, np.float64, order="C") for o in (bodies, momenta, attitudes)
        )
        self._constants = np.asarray(_core.motion_facts(self._inertia, principal))

    def __call__(
        self,
        t: ArrayLike,
        *,
        out: tuple[Array, Array] | None = None,
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """Momentum and attitude at times `t`.

        Parameters
        ----------
        t : array_like, shape (...)
            Times, of either sign.  They broadcast against the bodies: shape (T, 1) with N bodies
            gives all T times of all N.
        out, threads
            As in `step`, which also says the errors.

        Returns
        -------
        m, q : ndarray, shape (..., 3) and (..., 4) or (..., 3, 3)
            Angular momentum, body frame, and attitude; a quaternion is the end of the continuous
            path that starts at q0.
        """
        cores = _arrays.thread_count(threads)
        if out is None and type(t) in (float, np.ndarray):
            done = _core.motion_at(*self._bodies(), t, None, None, cores)
            if done is not None:
                _warn_of_lost(done[2])
                return done[0], done[1]
        times = _arrays.real_array("t", t)
        shape = _arrays.broadcast({"t": times.shape, "bodies": self._shape})
        core = self._q0.shape[self._q0.ndim - (1 if self._q0.shape[-1] == 4 else 2) :]
        results = _arrays.outputs(out, [("m", (*shape, 3)), ("q", shape + core)])
        times = np.array(times, np.float64)  # a copy: `out` may be the times
        done = _core.motion_at(*self._bodies(), times, results[0], results[1], cores)
        if done is None:  # outputs that the core cannot reach, such as fields of a packed record
            done = _core.motion_at(*self._bodies(), times, None, None, cores)
            for target, values in zip(results, done[:2], strict=True):
                target[...] = values
        _warn_of_lost(done[2])
        return results[0], results[1]

    def _bodies(
        self, at: tuple[int, ...] = (), shape: tuple[int, ...] = ()
    ) -> tuple[Array, Array, Array, Array, Array | None]:
        """The arrays of the bodies: of all, or of one in a batch of this shape."""
        attitude_axes = 1 if self._q0.shape[-1] == 4 else 2

        def part(a: Array, n: int) -> Array:
            return np.broadcast_to(a, shape + a.shape[a.ndim - n :])[at] if at else a

        axes = None if self._axes is None else part(self._axes, 2)
        return (
            part(self._inertia, 1),
            part(self._m0, 1),
            part(self._q0, attitude_axes),
            part(self._constants, 2),
            axes,
        )

    def _principal(self) -> Array:
        """m0 along the principal axes."""
        return self._m0 if self._axes is None else to_body(self._axes, self._m0)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # Arrays may arrive at odd addresses, which the core does not read.
        for name, value in state[1].items():
            array = isinstance(value, np.ndarray)
            setattr(self, name, np.require(value, requirements=["C", "A"]) if array else value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of bodies; () for one."""
        return self._shape
