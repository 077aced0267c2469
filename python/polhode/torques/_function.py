"""`polhode.torques.Function`: a torque in Python; cpp/bindings/python_torque.hpp calls it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array, AttitudeLike
from polhode._axes import to_body
from polhode.torques._base import Torque


def check_functions(parts: dict[str, Any], of: str = "") -> None:
    """Raise an error for arguments that are not functions."""
    for name, part in parts.items():
        if not callable(part):
            raise TypeError(f"{name} must be a function{of}, not {type(part).__name__}")


def returned(name: str, value: ArrayLike | None) -> Array:
    """The result of a user-defined function, as doubles."""
    if value is None:
        raise TypeError(f"the {name} function must return real numbers, not None")
    array = _arrays.real_array(f"what the {name} function returns", value)
    return array.astype(np.float64, copy=False)


def exactly(
    name: str, value: ArrayLike | None, shape: tuple[int, ...], of_all: bool = False
) -> Array:
    """The result of a function of the whole batch, with exactly this shape.

    `of_all`: the bodies may share what is returned, an energy.
    """
    array = returned(name, value)
    if array.shape != shape:
        bodies = math.prod(shape)
        spread = f"; one for all bodies is numpy.broadcast_to(value, {shape})" if shape else ""
        if of_all and shape:
            spread = f"; an energy of all bodies is shared by numpy.full({shape}, U / {bodies})"
        raise ValueError(
            f"the {name} function must return shape {shape}, not {array.shape}{spread}"
        )
    return array


def fitting(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """Vectors (..., 3) that a function of time returned: for each body, or one for all."""
    array = returned(name, value)
    with contextlib.suppress(ValueError):
        if array.shape[-1:] == (3,):
            return np.broadcast_to(array, shape)
    raise ValueError(
        f"the {name} function must return shape {shape}, or (3,) for all bodies, not {array.shape}"
    )


def in_body(frame: str, name: str, value: Any, m: ArrayLike, attitude: AttitudeLike) -> Array:
    """The torque in the body frame that a function of time returned in the frame `frame`."""
    momenta, q = _arrays.Operand("m", m, 3), _arrays.attitude_operand("attitude", attitude)
    shape = _arrays.broadcast({"m": momenta.batch, "attitude": q.batch})
    vectors = fitting(name, value, (*shape, 3))
    return vectors if frame == "body" else to_body(q.array, vectors)


class UserDefined(Torque):
    """A torque with a potential that is a Python function of the whole batch, or None."""

    def _set_potential(self, potential: Callable[..., ArrayLike] | None) -> None:
        if potential is not None:
            check_functions({"potential": potential})
        self._potential = potential
        self.has_potential = potential is not None

    def potential(self, t: float, attitude: Array, x: Array | None = None) -> Array:
        """Potential energy, shape (...); of a torque that takes x, at these centres of mass."""
        if self._potential is None:
            raise ValueError("the torque has been given no potential")
        batch = attitude.shape[: -len(_arrays.attitude_core("attitude", attitude))]
        given = (t, attitude, x) if "x" in self.takes else (t, attitude)
        return exactly("potential", self._potential(*given), batch, "x" in self.takes)


#: The arguments that a torque function can ask for by the names of its parameters: their place in
#: (t, m, attitude, x, p, s).
ARGUMENTS = {"t": 0, "m": 1, "q": 2, "attitude": 2, "x": 3, "p": 4, "s": 5}


class Function(UserDefined):
    """A user-defined torque: a Python function of the whole batch.

    Parameters
    ----------
    f : callable
        Returns the torque in the body frame, shape (..., 3), that of m: it is not broadcast. The
        names of its parameters, in any order, say what it needs: ``t``, the time; ``m``, the
        momenta (..., 3), body frame; ``q`` or ``attitude``, the attitudes (..., 4) or (..., 3, 3),
        body to space. The arrays are read-only and change after the call. Bodies with `mass`
        also have ``x``, the centres of mass (..., 3), and ``p``, their momenta, both in the space
        frame: a function that asks for one returns ``(force, torque)``, the force in the space
        frame. With `state0` there is ``s`` (..., k): a function that asks for it also returns the
        rate of s, last: ``(torque, ds)`` or ``(force, torque, ds)``.
    depends_on_m : bool, optional
        Whether f depends on m, p or s; by default it does if it asks for one. Its kick is then one
        step of the midpoint rule for schemes of order 2, of the classical Runge-Kutta method for
        others. Schemes that need a torque of attitude and time only raise an error.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``: potential energy, for `Trajectory.energy`. If f asks
        for x or p: ``potential(t, attitude, x)``; the sum over the bodies is the energy:
        ``numpy.full(N, U / N)`` for an energy U of all N bodies.
    W : callable, optional
        ``W(t, attitude) -> (..., 3)`` for schemes with a modified potential,
        ``W = 2 (f x v - Df[Q hat(v)])``, ``v = f / inertia``.
    arguments : sequence of str, optional
        What f takes, in its order, such as ``("t", "q")``, for a callable without a signature or
        whose parameters have other names.

    Raises
    ------
    TypeError
        If f is not callable, or asks for an argument of another name. Parameters with a default
        are left out unless they have one of these names.

    Examples
    --------
    A top pulled along the third axis of space:

    >>> import numpy as np, polhode as ph
    >>> def pull(q):
    ...     return np.cross(q[..., 2, :], [0.0, 0.0, 1.0])
    >>> top = ph.torques.Function(pull, potential=lambda t, Q: Q[..., 2, 2])
    >>> traj = ph.integrate([1.0, 1.0, 0.5], [0.0, 0.0, 4.0], np.eye(3), 0.01, 100, torque=top)
    >>> traj.m[-1]
    array([0., 0., 4.])
    """

    def __init__(
        self,
        f: Callable[..., ArrayLike],
        depends_on_m: bool | None = None,
        potential: Callable[..., ArrayLike] | None = None,
        W: Callable[[float, Array], ArrayLike] | None = None,
        *,
        arguments: Sequence[str] | None = None,
    ) -> None:
        check_functions({"f": f} if W is None else {"f": f, "W": W})
        self._set_potential(potential)
        self.function = f
        #: The places in (t, m, attitude, x, p, s) of the arguments of f.
        self.asked = _places(f, arguments)
        self._w = W
        asked = {name for name, place in ARGUMENTS.items() if place in self.asked}
        asks = bool(asked & {"m", "p", "s"})
        self.takes = frozenset(("x",) * bool(asked & {"x", "p"}) + ("s",) * ("s" in asked))
        self.depends_on_m = asks if depends_on_m is None else bool(depends_on_m)
        self.has_modified = W is not None

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        return self._values(t, m, attitude)[0]

    def _values(
        self,
        t: float,
        m: Array,
        attitude: Array,
        x: Array | None = None,
        p: Array | None = None,
        s: Array | None = None,
    ) -> tuple[Array, ...]:
        given = t, m, attitude, x, p, s
        return self.results(self.function(*(given[k] for k in self.asked)), m.shape, s)

    def results(self, value: Any, shape: tuple[int, ...], s: Array | None) -> tuple[Array, ...]:
        """What f returned for m of this shape: the torque, the force and the rate of s."""
        if not self.takes:
            return (exactly("torque", value, shape),)
        wanted = {"force": shape} if "x" in self.takes else {}
        wanted["torque"] = shape
        if "s" in self.takes and s is not None:
            wanted["rate of s"] = s.shape
        if not isinstance(value, (tuple, list)) or len(value) != len(wanted):
            names = ", ".join(wanted)
            several = f" of {len(value)}" if isinstance(value, (tuple, list)) else ""
            raise TypeError(
                f"a torque function that asks for {' and '.join(sorted(self.takes))} must return "
                f"({names}), not {type(value).__name__}{several}"
            )
        parts = {
            name: exactly(name, each, size)
            for (name, size), each in zip(wanted.items(), value, strict=True)
        }
        return (parts.pop("torque"), *parts.values())

    def modified(self, t: float, attitude: Array, shape: tuple[int, ...]) -> Array:
        """W in the body frame, shape (..., 3)."""
        assert self._w is not None
        return exactly("W", self._w(t, attitude), shape)

    def all_values(self, t: float, m: Array, attitude: Array, **others: Array) -> Array:
        """The torque, if f returns them force and rate of s, and W if it is given."""
        values = self._values(t, m, attitude, **others)
        if self._w is not None:
            values += (self.modified(t, attitude, m.shape),)
        return np.concatenate(values, axis=-1)

    def __repr__(self) -> str:
        return f"Function({self.function!r}, depends_on_m={self.depends_on_m})"


def _places(f: Callable[..., Any], names: Sequence[Any] | None) -> tuple[int, ...]:
    """The places in (t, m, attitude, x, p, s) of what a torque function asks for."""
    who = f"the torque function {getattr(f, '__name__', f)!s}"
    known = f"the arguments of a torque are {', '.join(ARGUMENTS)}"
    if names is None:
        try:
            parameters = inspect.signature(f).parameters.values()
        except ValueError:
            raise TypeError(
                f"{who} has no signature: give Function(f, arguments=('t', 'q'))"
            ) from None
        # Those that functools.partial sets by name, which makes the ones after them keywords.
        bound = f.keywords if isinstance(f, functools.partial) else {}
        for each in parameters:
            if each.kind is each.KEYWORD_ONLY and each.name in ARGUMENTS and each.name not in bound:
                advice = f"set {', '.join(bound)} by position, or last" if bound else "drop the *"
                raise TypeError(f"{who} takes {each.name!r} by name only: {advice}")
        names = [
            each.name
            for each in parameters
            if (each.name in ARGUMENTS and each.name not in bound)
            or (each.default is each.empty and each.kind is not each.VAR_KEYWORD)
        ]
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise TypeError(f"arguments must be a list or tuple of names, not {names!r}")
    unknown = [name for name in names if not isinstance(name, str) or name not in ARGUMENTS]
    if unknown:
        raise TypeError(
            f"{who} asks for {unknown[0]!r}; {known}: rename the parameter, or give "
            "Function(f, arguments=('t', 'q'))"
        )
    places = tuple(ARGUMENTS[name] for name in names)
    if len(set(places)) < len(places):
        raise TypeError(f"{who} asks for the same argument twice: {', '.join(names)}")
    return places
