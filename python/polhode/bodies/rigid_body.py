"""Rigid bodies given by a full inertia tensor, by moments and axes, points, shapes or meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core, quantities
from polhode._arrays import Array, AttitudeLike, Operand
from polhode._axes import to_body, to_space
from polhode._integrate import integrate
from polhode._step import step
from polhode.bodies.inertia import PrincipalInertia
from polhode.bodies.mass_properties import MassProperties
from polhode.motion.torque_free import TorqueFreeMotion

__all__ = ["RigidBody"]


class RigidBody(MassProperties):
    """Rigid bodies from inertia tensors, in any body axes.

    The tensors are diagonalised once. `step`, `motion` and `integrate` take and return momenta and
    attitudes in the user's body axes, which need not be principal axes.

    Parameters
    ----------
    tensor : array_like, shape (..., 3, 3)
        Inertia tensors about the centre of mass in body axes; products of inertia with the tensor's
        sign, ``I_xy = -sum(m x y)`` (many CAD programs print ``+sum(m x y)``). Symmetric to
        1e-9 of the largest entry; the mean of the two halves is used. One (3, 3) array is one
        tensor; for principal moments see `from_moments`.
    physical : bool, default True
        Check the triangle inequality: raise ValueError if a moment exceeds the sum of the other two
        by more than 1e-9 of the largest.
    linear : bool, default False
        Declare a rod: the least moment is set to zero, the other two to their mean, and momentum
        about the axis is dropped. Raises ValueError if that changes a moment by more than 1e-3 of
        the largest.
    planar : bool, default False
        Declare a flat body: the greatest moment is set to the sum of the other two. Raises
        ValueError as `linear`.
    mass : array_like, shape (...), optional
        Mass, for `about` and sums; the motion does not depend on it.
    centre : array_like, shape (..., 3), optional
        Centre of mass in body axes. None: the origin.

    Raises
    ------
    ValueError
        If a tensor is not finite, not symmetric, has a negative moment, one zero moment beside two
        that differ, three zero moments or, with `physical`, violates the triangle inequality.

    Notes
    -----
    Moments are within 4 eps of the largest (eps = 2.2e-16), axes orthonormal within 4 eps and
    ``tensor @ axes - axes * moments`` within 8 eps of the largest moment, for equal and nearly
    equal moments too, where the axes are one choice of many. A diagonal tensor gives its entries
    and the body axes exactly. Method: cyclic Jacobi.

    A moment within 16 eps of the largest is set to zero (within 4 eps if the tensor is diagonal):
    the body is a rod. The manual, "Conventions", has the limits for shorter types than double.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.RigidBody([[4.5, -1.0, 0.0], [-1.0, 6.0, 0.0], [0.0, 0.0, 2.5]])
    >>> body.moments.round(12)
    array([4. , 6.5, 2.5])
    """

    def __repr__(self) -> str:
        if self.shape:
            return f"<RigidBody: {self.shape} bodies>"
        return f"<RigidBody: moments {self._moments}>"

    def momentum(self, omega: ArrayLike) -> Array:
        """Angular momentum (..., 3) of an angular velocity (..., 3), ``tensor @ omega``.

        Both are in the user's body axes, the velocity in radians per time.
        """
        rate = _arrays.components("omega", omega, 3)
        _arrays.broadcast({"bodies": self.shape, "omega": rate.shape[:-1]})
        return np.asarray(_core.so3_rotate_by_matrix(self._tensor, rate))

    def omega(self, m: ArrayLike) -> Array:
        """Angular velocity (..., 3) of an angular momentum (..., 3), ``inverse(tensor) @ m``.

        Both are in the user's body axes; nothing about the axis of a rod. Raises ValueError if a
        rod has momentum about itself of more than 1e-12 ``|m|``.
        """
        principal = self._to_principal("m", m)
        return self._from_principal(quantities.omega(self._moments, principal))

    def energy(self, m: ArrayLike) -> Array:
        """Kinetic energy, shape (...), of an angular momentum as in `omega`, also of its errors."""
        principal = self._to_principal("m", m)
        return quantities.energy(self._moments, principal)

    def step(
        self,
        m: ArrayLike,
        q: AttitudeLike,
        h: ArrayLike,
        *,
        out: tuple[Array, Array] | None = None,
        **options: Any,
    ) -> tuple[Array, Array]:
        """Step the bodies freely, in the user's body axes.

        Parameters
        ----------
        m, q, h, out
            As in `polhode.step`; `m` (..., 3) and the attitude `q` (..., 4) or (..., 3, 3) belong
            to the user's body axes, as do the results.
        **options : Any
            Other arguments of `polhode.step`: ``method``, ``n_steps``, ``threads`` and the options
            of the method. Options that name axes refer to the principal axes.

        Returns
        -------
        m, q : ndarray
            As `polhode.step`, which also lists the errors. The rotation to principal axes and back
            adds an error of 4 eps ``|m|`` to m and of 4 eps to `q`, once per call. For many steps
            use ``n_steps``.
        """
        m = self._momentum("m", m)
        if self._aligned:
            return step(self._moments, m, q, h, out=out, **options)
        momenta, attitude = Operand("m", m, 3), _arrays.attitude_operand("q", q)
        m, q = (x.array.astype(np.float64, copy=False) for x in (momenta, attitude))
        matrix = attitude.core == (3, 3)
        to_principal = _core.to_principal_of_matrix if matrix else _core.to_principal
        _arrays.broadcast({"bodies": self.shape, "m": momenta.batch, "q": attitude.batch})
        if matrix:  # before it is projected
            _arrays.check_attitude(q, "q")
        principal = to_principal(self._axes, m, q)
        try:
            m_end, q_end = step(self._moments, principal[0], principal[1], h, **options)
        except ValueError:  # the error of the given arguments, if it is theirs
            _arrays.check_attitude(q, "q")
            self._to_principal("m", m)
            raise
        back = _core.to_body_of_matrix if matrix else _core.to_body
        results = _arrays.outputs(out, [("m", m_end.shape), ("q", q_end.shape)])
        back(self._axes, m, m_end, q_end, out=tuple(results))
        return results[0], results[1]

    def motion(self, m0: ArrayLike, q0: AttitudeLike) -> TorqueFreeMotion:
        """Free motion of the bodies in closed form, in the user's body axes.

        m0 (..., 3) and q0 (..., 4) or (..., 3, 3), body to space, are momentum and attitude at time
        0; ``motion(t)`` gives those at the times t. `TorqueFreeMotion` lists the errors.
        """
        momentum = self._momentum("m0", m0)
        axes = None if self._aligned else self._axes
        return TorqueFreeMotion(self._moments, momentum, q0, axes=axes)

    def integrate(
        self,
        m0: ArrayLike | None = None,
        q0: AttitudeLike | None = None,
        h: ArrayLike | None = None,
        n_steps: int | None = None,
        *,
        omega0: ArrayLike | None = None,
        **options: Any,
    ) -> Any:
        """Integrate the bodies, with torque or without, in the user's body axes.

        Arguments, result and errors are those of `polhode.integrate`; `m0` or `omega0` (..., 3) and
        the attitude `q0` (..., 4) or (..., 3, 3) belong to the user's body axes, as do the
        arguments and results of functions. The `axes` of the trajectory are the principal axes,
        unless these are the body axes.
        """
        inertia: Any = self._moments
        if not self._aligned:
            inertia = PrincipalInertia(self._moments, self._axes)
        if omega0 is not None and m0 is None:
            m0, omega0 = self.momentum(omega0), None
        if m0 is not None:
            m0 = self._momentum("m0", m0)
        if omega0 is not None:
            options["omega0"] = omega0
        return integrate(inertia, m0, q0, h, n_steps, **options)

    def _momentum(self, name: str, m: ArrayLike) -> ArrayLike:
        """m without momentum about the axis of a rod.

        All of it is dropped if the body is declared linear, else what is rounding error in an array
        of a shorter type than double.
        """
        if not self._some_rod:
            return m
        given = _arrays.real_array(name, m)
        short = _arrays.precision(given) > _arrays.precision(self._moments)
        if not (self._linear or short):
            return m
        momenta = _arrays.components(name, given, 3)
        _arrays.broadcast({"bodies": self.shape, name: momenta.shape[:-1]})
        principal = momenta if self._aligned else to_body(self._axes, momenta)
        along = np.where(self._moments == 0.0, principal, 0.0)
        if not self._linear:
            limit = _arrays.tolerance(1e-12, given) * np.linalg.norm(
                momenta, axis=-1, keepdims=True
            )
            along = np.where(np.abs(along) <= limit, along, 0.0)
        return np.asarray(momenta - self._from_principal(along))

    def _to_principal(self, name: str, m: ArrayLike) -> Array:
        """Momenta in principal axes, checked."""
        given = _arrays.components(name, self._momentum(name, m), 3)
        _arrays.broadcast({"bodies": self.shape, name: given.shape[:-1]})
        if self._aligned:
            return given
        principal = to_body(self._axes, given)
        if self._some_rod:
            _core.validate(("inertia", self._moments), (name, principal, given))
        return principal

    def _from_principal(self, v: Array) -> Array:
        return v if self._aligned else to_space(self._axes, v)
