"""Quantities of a rigid body in a state: momentum, angular velocity, energy, Casimir."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._axes import to_space

__all__ = ["casimir", "energy", "momentum", "momentum_spatial", "omega"]


def momentum(inertia: ArrayLike, omega: ArrayLike) -> Array:
    """Angular momentum (..., 3), body frame, ``m_i = I_i omega_i``, components correctly rounded.

    `inertia` (..., 3) are the principal moments in the order of the body axes. One (a rod) or two
    (a planar rotor) may be zero; a moment below 4 eps times the largest counts as zero (eps =
    2.2e-16). `omega` (..., 3), body frame, radians per time, broadcasts against them. Any
    consistent units. ValueError is raised if a moment is negative or not finite, all three are
    zero, or the shapes do not fit. A NaN in `omega` raises no error and gives NaN.
    """
    moments, rates = Operand("inertia", inertia, 3), Operand("omega", omega, 3)
    result = _result((3,), moments, rates)
    _arrays.check_inertia(moments.array)
    return np.asarray(_core.momentum(moments.doubles, rates.doubles, out=result))


def omega(inertia: ArrayLike, m: ArrayLike) -> Array:
    """Angular velocity in the body frame, ``omega_i = m_i / I_i``, radians per time.

    Arguments (..., 3) and result (..., 3) are those of `momentum`, each component correctly rounded
    and zero about the axis of a zero moment. Raises ValueError as `momentum`, and if m has more
    than 1e-12 ``|m|`` about an axis of zero moment.
    """
    return _of_state(_core.omega, (3,), inertia, m)


def energy(inertia: ArrayLike, m: ArrayLike) -> Array:
    """Kinetic energy ``sum(m_i**2 / I_i) / 2``, shape (...).

    Arguments (..., 3) and errors are those of `omega`. The relative error is below 2 eps
    (eps = 2.2e-16); the energy overflows or underflows only if it is out of the range of doubles.
    """
    return _of_state(_core.energy, (), inertia, m)


def casimir(m: ArrayLike) -> Array:
    """Casimir ``|m|**2 / 2``, shape (...), of m (..., 3), its gradient; constant without torque.

    Error and range are as of `energy`. Raises ValueError if the last axis of m does not have three
    components.
    """
    return np.asarray(_core.casimir(_arrays.components("m", m, 3)))[()]


def momentum_spatial(m: ArrayLike, q: AttitudeLike) -> Array:
    """Angular momentum (..., 3) in the space frame, ``Q m``; constant without torque.

    `m` (..., 3) is in the body frame, the attitude `q` (..., 4) or (..., 3, 3) body to space, as in
    `step`; they broadcast. A quaternion is normalized; a matrix that is off by more than 8 eps (eps
    = 2.2e-16) is replaced by the nearest rotation. Error at most 4 eps ``|m|`` for a quaternion, 16
    eps ``|m|`` for a matrix. ValueError is raised if an attitude is invalid as in `step`, or the
    shapes do not fit. A NaN raises no error and gives NaN for that body.
    """
    attitude, momenta = _arrays.attitude_operand("q", q), Operand("m", m, 3)
    _arrays.broadcast({"m": momenta.batch, "q": attitude.batch})
    _arrays.check_attitude(attitude.array)
    q = attitude.doubles
    return to_space(_arrays.orthogonal(q) if attitude.core == (3, 3) else q, momenta.doubles)


def _result(core: tuple[int, ...], *operands: Operand) -> Array:
    """An array for the results, made before all bodies are checked: there may be no memory."""
    return np.empty(_arrays.broadcast({o.name: o.batch for o in operands}) + core)


def _of_state(
    function: Callable[..., Array], core: tuple[int, ...], inertia: ArrayLike, m: ArrayLike
) -> Array:
    """A function of moments and momenta, which are checked."""
    moments, momenta = Operand("inertia", inertia, 3), Operand("m", m, 3)
    result = _result(core, moments, momenta)
    _core.validate(("inertia", moments.array), ("m", momenta.array))
    return function(moments.doubles, momenta.doubles, out=result)[()]
