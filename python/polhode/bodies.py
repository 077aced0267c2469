"""Rigid bodies given by a full inertia tensor, by moments and axes, or by point masses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _core, quantities
from polhode._arrays import (
    ORTHOGONAL,
    ZERO_MOMENT,
    attitude_core,
    check_attitude,
    check_inertia,
    components,
    outputs,
    polar,
    real_array,
    refuse,
)
from polhode._integrate import integrate_in
from polhode._steps import step
from polhode.motion import TorqueFreeMotion

__all__ = ["BodyMotion", "RigidBody"]

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Relative to the largest entry, or the largest moment.
ASYMMETRY = 1e-9
TRIANGLE = 1e-9
# What the rounding of a full tensor's entries makes of a zero moment: 3 eps measured, the solver's
# part included, for tensors formed as A diag A^T or J (1 - u u^T), four times that for sums of a
# thousand points taken one after another.  A diagonal tensor has no such noise.
ZERO_OF_FULL_TENSOR = 16 * EPS


class RigidBody:
    """Rigid bodies by their inertia tensors, in the body axes of the user's choice.

    The tensors are diagonalised once. `step`, `motion` and `integrate` take and return momenta and
    attitudes in the user's own body axes, whatever the principal ones are.

    Parameters
    ----------
    tensor : array_like, shape (..., 3, 3)
        Inertia tensors about the centre of mass in body axes; products of inertia with the tensor's
        sign, ``I_xy = -sum(m x y)`` (many CAD programs print ``+sum(m x y)``). Symmetric to
        1e-9 of the largest entry; the mean of the two halves is used. One (3, 3) array is one
        tensor; for principal moments see `from_moments`.
    physical : bool, default True
        Refuse a body that no distribution of mass has: a moment larger than the sum of the other
        two by more than 1e-9 of the largest.

    Attributes
    ----------
    moments : ndarray, shape (..., 3)
        Principal moments; of a tensor in ascending order, of `from_moments` as given.
    axes : ndarray, shape (..., 3, 3)
        Principal axes: column ``k`` is the axis of ``moments[..., k]`` in body coordinates. Right-
        handed, determinant +1.
    tensor : ndarray, shape (..., 3, 3)
        The inertia tensors, symmetric.

    Raises
    ------
    ValueError
        If a tensor is not finite, not symmetric, has a negative moment, more than one zero moment
        or, with `physical`, breaks the triangle inequality; the message names the first one and the
        value.

    Notes
    -----
    Moments are within 4 eps of the largest (eps = 2.2e-16), axes orthonormal within 4 eps and
    ``tensor @ axes - axes * moments`` within 8 eps of the largest moment, for equal and nearly
    equal moments too, where the axes are one choice of many. A diagonal tensor gives its entries
    and the body axes exactly. Method: cyclic Jacobi. The sign of an axis has no meaning; where
    moments change places to ascend, one of their axes is reversed to keep the triad right-handed.

    A rod is a body with one zero moment. The zero of a full tensor comes out of rounding as
    some eps of the largest moment of either sign, so within 16 eps of the largest it counts as zero
    and is set to it (within 4 eps where the tensor is diagonal, as everywhere else); the other
    two must then be equal to 1e-9. A body truly that slender needs `from_moments`.

    Where the body axes are not the principal ones, `step`, `energy`, the motions and the rest turn
    the whole batch to the principal axes and back: temporaries of a few times the batch's size,
    not the 1 MB of `polhode.step`. `moments` and `axes` are there for a call without them.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.RigidBody([[4.5, -1.0, 0.0], [-1.0, 6.0, 0.0], [0.0, 0.0, 2.5]])
    >>> body.moments.round(12)
    array([2.5, 4. , 6.5])
    """

    __slots__ = ("_aligned", "_axes", "_moments", "_tensor", "_turn")

    def __init__(self, tensor: ArrayLike, *, physical: bool = True) -> None:
        given = components("tensor", tensor, 3, 3)
        name = "principal moments of tensor"
        transposed = np.swapaxes(given, -2, -1)
        if bool((given == transposed).all()):  # false for NaN too
            symmetric = given.copy()
        else:
            symmetric = _symmetric_half(given, transposed)
        moments, axes = _core.symmetric_eigen(symmetric)
        least, largest = moments[..., 0], moments[..., 2]
        # Nothing near zero, the usual case, needs no look body by body.  False for an infinite
        # tensor, whose moments are NaN.
        if not bool((least > ZERO_OF_FULL_TENSOR * largest).all()):
            _refuse_infinite(given)
            off_diagonal = symmetric[..., [0, 0, 1], [1, 2, 2]].any(axis=-1)
            zero = np.where(off_diagonal, ZERO_OF_FULL_TENSOR, ZERO_MOMENT)
            zero = (zero * np.maximum(np.abs(least), np.abs(largest)))[..., None]
            moments[np.abs(moments) <= zero] = 0.0
            why = "the tensor is indefinite, a body has no negative moment"
            refuse(name, moments, (moments < 0.0).any(axis=-1), 1, why)
            check_inertia(moments, name)
        if physical:
            _refuse_unphysical(name, moments, least, moments[..., 1], largest)
        self._set(moments, axes, symmetric)

    @classmethod
    def from_moments(
        cls, moments: ArrayLike, axes: ArrayLike | None = None, *, physical: bool = True
    ) -> RigidBody:
        """Bodies by their principal moments and axes.

        Parameters
        ----------
        moments : array_like, shape (..., 3)
            Principal moments, in any order, which is kept.
        axes : array_like, shape (..., 3, 3), optional
            Principal axes, column by column in body coordinates; broadcasts against `moments`.
            Orthonormal to 1e-5 and projected to orthonormal ones; of a left-handed triad the third
            axis is reversed. Without it the body axes are the principal axes.
        physical : bool, default True
            As for the class.

        Returns
        -------
        body : RigidBody
            Its `moments` are the given ones, in the given order.

        Raises
        ------
        ValueError
            If moments are not those of a body, or axes are not orthonormal.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.RigidBody.from_moments([3.0, 1.0, 2.5]).tensor
        array([[3. , 0. , 0. ],
               [0. , 1. , 0. ],
               [0. , 0. , 2.5]])
        """
        values = components("moments", moments, 3).copy()
        check_inertia(values, "moments")
        if axes is None:
            triads = np.broadcast_to(np.eye(3), (*values.shape, 3)).copy()
        else:
            triads = _orthonormal(components("axes", axes, 3, 3))
            batch = np.broadcast_shapes(values.shape[:-1], triads.shape[:-2])
            values = np.broadcast_to(values, (*batch, 3)).copy()
            triads = np.broadcast_to(triads, (*batch, 3, 3)).copy()
        if physical:
            ordered = np.sort(values, axis=-1)
            _refuse_unphysical("moments", values, *np.moveaxis(ordered, -1, 0))
        tensor = (triads * values[..., None, :]) @ np.swapaxes(triads, -2, -1)
        body = cls.__new__(cls)
        body._set(values, triads, 0.5 * tensor + 0.5 * np.swapaxes(tensor, -2, -1))
        return body

    @classmethod
    def from_points(cls, mass: ArrayLike, r: ArrayLike, *, physical: bool = True) -> RigidBody:
        """Bodies of point masses, about their centre of mass.

        Parameters
        ----------
        mass : array_like, shape (..., N) or ()
            Masses, none negative, not all zero. Broadcasts against the points.
        r : array_like, shape (..., N, 3)
            Positions in body axes, from any origin: the centre of mass is taken off.
        physical : bool, default True
            As for the class.

        Returns
        -------
        body : RigidBody
            ``I_xx = sum(m (y^2 + z^2))``, ``I_xy = -sum(m x y)`` with r from the centre of mass.

        Raises
        ------
        ValueError
            If a mass is negative or not finite, all are zero, a position is not finite, or the
            points have no body's tensor (a single point).

        Examples
        --------
        >>> import polhode as ph
        >>> points = [[1.0, 0.5, 0.0], [-1.0, -0.5, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
        >>> ph.RigidBody.from_points([1.0, 1.0, 2.0, 2.0], points).tensor
        array([[ 4.5, -1. ,  0. ],
               [-1. ,  6. ,  0. ],
               [ 0. ,  0. ,  2.5]])
        """
        position = real_array("r", r)
        if position.ndim < 2:
            raise ValueError(f"r must have shape (..., N, 3), got {position.shape}")
        position = components("r", position, position.shape[-2], 3)
        mass = np.broadcast_to(
            components("mass", mass), np.broadcast_shapes(np.shape(mass), position.shape[:-1])
        )
        position = np.broadcast_to(position, (*mass.shape, 3))
        refuse("r", position, ~np.isfinite(position).all(axis=-1), 1, "not finite")
        refuse("mass", mass, ~((mass >= 0.0) & np.isfinite(mass)), 0, "no mass")
        # Powers of two out of the way of squares, put back in two factors.
        mass_scale = _power_of_two(mass.max(axis=-1, initial=0.0))
        refuse("largest mass of body", mass_scale, mass_scale == 0.0, 0, "a body has some mass")
        weight = mass / mass_scale[..., None]
        # Axes (..., 3, N), so that NumPy sums along contiguous memory, which it does in pairs.
        # A point without mass is nowhere.
        x = np.where(weight[..., None, :] > 0.0, np.swapaxes(position, -2, -1), 0.0)
        x = np.ascontiguousarray(x)
        length = _power_of_two(np.abs(x).max(axis=(-2, -1), initial=0.0))
        length = np.where(length == 0.0, 1.0, length)
        x = x / length[..., None, None]
        weight_of_all = weight.sum(axis=-1)[..., None, None]
        for _ in range(2):  # the second time takes off the rounding of a far origin
            x = x - (weight[..., None, :] * x).sum(axis=-1, keepdims=True) / weight_of_all
        second = (weight[..., None, None, :] * x[..., :, None, :] * x[..., None, :, :]).sum(axis=-1)
        diagonal = np.diagonal(second, axis1=-2, axis2=-1)
        tensor = -second
        for i in range(3):
            tensor[..., i, i] = diagonal[..., (i + 1) % 3] + diagonal[..., (i + 2) % 3]
        with np.errstate(over="ignore"):  # the class refuses what is infinite
            tensor *= (mass_scale * length)[..., None, None]
            tensor *= length[..., None, None]
        return cls(tensor + 0.0, physical=physical)

    @property
    def moments(self) -> Array:
        """Principal moments, shape (..., 3)."""
        return self._moments

    @property
    def axes(self) -> Array:
        """Principal axes, shape (..., 3, 3): columns in body coordinates, determinant +1."""
        return self._axes

    @property
    def tensor(self) -> Array:
        """Inertia tensors in body axes, shape (..., 3, 3)."""
        return self._tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of bodies; () for one."""
        return self._moments.shape[:-1]

    def __getstate__(self) -> tuple[Array, Array, Array]:
        return self._moments, self._axes, self._tensor

    def __setstate__(self, state: tuple[Array, Array, Array]) -> None:
        # Copies of read-only arrays are writeable.
        self._set(*state)

    def __repr__(self) -> str:
        if self.shape:
            return f"<RigidBody: {self.shape} bodies>"
        return f"<RigidBody: moments {self._moments}>"

    def momentum(self, omega: ArrayLike) -> Array:
        """Angular momentum of an angular velocity, ``tensor @ omega``.

        Parameters
        ----------
        omega : array_like, shape (..., 3)
            Angular velocity in the user's body axes, radians per time.

        Returns
        -------
        m : ndarray, shape (..., 3)
            Angular momentum in the user's body axes.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.RigidBody([[2, 0, 0], [0, 3, 1], [0, 1, 3]]).momentum([1, 1, 0])
        array([2., 3., 1.])
        """
        return np.asarray(_core.so3_rotate_by_matrix(self._tensor, components("omega", omega, 3)))

    def omega(self, m: ArrayLike) -> Array:
        """Angular velocity of an angular momentum, ``inverse(tensor) @ m``.

        Parameters
        ----------
        m : array_like, shape (..., 3)
            Angular momentum in the user's body axes.

        Returns
        -------
        omega : ndarray, shape (..., 3)
            Angular velocity in the user's body axes; nothing about the axis of a rod.

        Raises
        ------
        ValueError
            If a rod has momentum about itself of more than 1e-12 ``|m|``.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.RigidBody([[0.1, 0.1, 0], [0.1, 0.1, 0], [0, 0, 0.2]]).omega([0.1, 0.1, 0]).round(12)
        array([0.5, 0.5, 0. ])
        """
        principal = self._to_principal(components("m", m, 3))
        return self._from_principal(quantities.omega(self._moments, principal))

    def energy(self, m: ArrayLike) -> Array:
        """Kinetic energy of an angular momentum.

        Parameters
        ----------
        m : array_like, shape (..., 3)
            Angular momentum in the user's body axes.

        Returns
        -------
        energy : ndarray, shape (...)
            Kinetic energy.

        Raises
        ------
        ValueError
            If a rod has momentum about itself of more than 1e-12 ``|m|``.

        Examples
        --------
        >>> import polhode as ph
        >>> float(ph.RigidBody([[2, 0, 0], [0, 4, 0], [0, 0, 4]]).energy([2, 0, 0]))
        1.0
        """
        principal = self._to_principal(components("m", m, 3))
        return quantities.energy(self._moments, principal)

    def step(
        self,
        m: ArrayLike,
        q: ArrayLike,
        h: ArrayLike,
        *,
        out: tuple[Array, Array] | None = None,
        **options: Any,
    ) -> tuple[Array, Array]:
        """Step the bodies freely, in the user's own body axes.

        Parameters
        ----------
        m : array_like, shape (..., 3)
            Angular momentum in the user's body axes.
        q : array_like, shape (..., 4) or (..., 3, 3)
            Attitude of the user's body axes, body to space.
        h : array_like, shape (...)
            Step length, of either sign.
        out : tuple of two ndarrays, optional
            Where to put the results; the arguments themselves are allowed.
        **options : Any
            What `polhode.step` takes: ``method``, ``n_steps``, ``threads`` and the method's own;
            those that name axes mean the principal ones.

        Returns
        -------
        m : ndarray, shape (..., 3)
            Angular momentum after the step, user's body axes.
        q : ndarray, shape (..., 4) or (..., 3, 3)
            Attitude after the step, continued from the given one (sign included).

        Raises
        ------
        ValueError
            As `polhode.step`.

        Notes
        -----
        The turn to the principal axes and back adds 4 eps of ``|m|`` and 4 eps of `q` a call, not
        once a step: ask for many steps by ``n_steps``.

        Examples
        --------
        >>> import numpy as np
        >>> import polhode as ph
        >>> body = ph.RigidBody([[0.1, 0.1, 0], [0.1, 0.1, 0], [0, 0, 0.2]])
        >>> m, q = body.step([0.1, 0.1, 0.0], [1.0, 0.0, 0.0, 0.0], 3.0)
        >>> q.round(6)
        array([0.488296, 0.617077, 0.617077, 0.      ])
        """
        if self._aligned:
            return step(self._moments, m, q, h, out=out, **options)
        m_user = components("m", m, 3)
        m_principal = self._to_principal(m_user)
        attitude = self._attitude_to_principal(q)
        m_end, q_end = step(self._moments, m_principal, attitude, h, **options)
        return self._placed(m_user, m_principal, m_end, q_end, out)

    def motion(self, m0: ArrayLike, q0: ArrayLike) -> BodyMotion:
        """Free motion of the bodies in closed form, in the user's own body axes.

        Parameters
        ----------
        m0 : array_like, shape (..., 3)
            Angular momentum at time 0, user's body axes.
        q0 : array_like, shape (..., 4) or (..., 3, 3)
            Attitude of the user's body axes at time 0, body to space.

        Returns
        -------
        motion : BodyMotion
            ``motion(t)`` gives momentum and attitude at the times `t`.

        Raises
        ------
        ValueError
            As `polhode.TorqueFreeMotion`.

        Examples
        --------
        >>> import polhode as ph
        >>> body = ph.RigidBody([[0.1, 0.1, 0], [0.1, 0.1, 0], [0, 0, 0.2]])
        >>> motion = body.motion([0.1, 0.1, 0.0], [1.0, 0.0, 0.0, 0.0])
        >>> motion.regime.name
        'PERMANENT'
        >>> m, q = motion([0.0, 3.0])
        >>> q.round(6) + 0.0
        array([[1.      , 0.      , 0.      , 0.      ],
               [0.488296, 0.617077, 0.617077, 0.      ]])
        """
        return BodyMotion(self, m0, q0)

    def integrate(
        self,
        m0: ArrayLike,
        q0: ArrayLike,
        h: ArrayLike,
        n_steps: int,
        *,
        torque: Any = None,
        callback: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Any:
        """Integrate the bodies, with torque or without, in the user's own body axes.

        Parameters
        ----------
        m0 : array_like, shape (..., 3)
            Angular momentum at the start, user's body axes.
        q0 : array_like, shape (..., 4) or (..., 3, 3)
            Attitude of the user's body axes at the start, body to space.
        h : array_like, shape () or (n_steps,)
            Step length.
        n_steps : int
            Number of steps.
        torque : model, list of models or callable, optional
            As `polhode.integrate` takes it; it sees and gives components in the user's body axes.
        callback : callable, optional
            As `polhode.integrate` takes it, called in the user's body axes.
        **options : Any
            Whatever else `polhode.integrate` takes.

        Returns
        -------
        trajectory : Trajectory
            As `polhode.integrate` gives it, momenta and attitudes in the user's body axes. It has
            `body` in place of `inertia`, where these are not the principal axes.

        Raises
        ------
        ValueError
            As `polhode.integrate`.
        TypeError
            As `polhode.integrate`.

        Notes
        -----
        Where the body axes are not the principal ones, a model that can't be written in other axes
        is called from Python once a kick instead of in the core.
        """
        body = None if self._aligned else self
        return integrate_in(
            body, self._moments, m0, q0, h, n_steps, torque=torque, callback=callback, **options
        )

    def _set(self, moments: Array, axes: Array, tensor: Array) -> None:
        for array in (moments, axes, tensor):
            array.flags.writeable = False
        self._moments, self._axes, self._tensor = moments, axes, tensor
        # One body's axes tell, as a rule, that they are not all the body axes.
        first = axes.reshape(-1, 3, 3)[:1]
        self._aligned = bool((first == np.eye(3)).all() and (axes == np.eye(3)).all())
        self._turn: Array | None = None

    def _turned(self) -> Array:
        """Quaternions of the axes, made when first asked for."""
        if self._turn is None:
            self._turn = np.asarray(_core.so3_to_quaternion(self._axes))
        return self._turn

    def _to_principal(self, v: Array) -> Array:
        if self._aligned:
            return v
        return np.asarray(_core.so3_rotate_by_matrix(np.swapaxes(self._axes, -2, -1), v))

    def _from_principal(self, v: Array) -> Array:
        if self._aligned:
            return v
        return np.asarray(_core.so3_rotate_by_matrix(self._axes, v))

    def _attitude_to_principal(self, q: ArrayLike) -> Array:
        """Attitude of the principal axes: of the user's body axes, after the axes in the body."""
        attitude = real_array("q", q)
        core = attitude_core("q", attitude)
        attitude = components("q", attitude, *core)
        if self._aligned:
            return attitude
        check_attitude(attitude, core)
        if attitude.shape[-1] == 4:
            return np.asarray(_core.so3_multiply(attitude, self._turned()))
        return np.asarray(attitude @ self._axes)

    def _attitude_from_principal(self, attitude: Array) -> Array:
        if self._aligned:
            return attitude
        if attitude.shape[-1] == 4:
            return np.asarray(_core.so3_multiply(attitude, _core.so3_conjugate(self._turned())))
        return np.asarray(attitude @ np.swapaxes(self._axes, -2, -1))

    def _momentum_from_principal(self, m0: Array, principal0: Array, principal: Array) -> Array:
        # The change is turned, not the momentum: what the axes are off orthonormal by, an eps, then
        # does not add up over many calls.
        return np.asarray(m0 + self._from_principal(principal - principal0))

    def _placed(
        self,
        m0: Array,
        principal0: Array,
        principal: Array,
        attitude: Array,
        out: tuple[Array, Array] | None,
    ) -> tuple[Array, Array]:
        m = self._momentum_from_principal(m0, principal0, principal)
        q = self._attitude_from_principal(attitude)
        if out is None:
            return m, q
        m_out, q_out = outputs(out, [("m", m.shape), ("q", q.shape)])
        m_out[...] = m
        q_out[...] = q
        return m_out, q_out


class BodyMotion:
    """Free motion of a `RigidBody`, in the user's own body axes.

    Made by `RigidBody.motion`.

    Parameters
    ----------
    body : RigidBody
        The bodies.
    m0 : array_like, shape (..., 3)
        Angular momentum at time 0, user's body axes.
    q0 : array_like, shape (..., 4) or (..., 3, 3)
        Attitude of the user's body axes at time 0, body to space.

    Attributes
    ----------
    shape : tuple of int
        Shape of the batch of bodies; () for one.
    period : ndarray
        Period of m, as of `polhode.TorqueFreeMotion`.
    regime : Regime or ndarray of Regime
        How m moves, as of `polhode.TorqueFreeMotion`; AXIS1 and AXIS3 are principal axes.
    """

    __slots__ = ("_body", "_m0", "_principal", "_principal0")

    def __init__(self, body: RigidBody, m0: ArrayLike, q0: ArrayLike) -> None:
        self._body = body
        self._m0 = components("m0", m0, 3).copy()
        self._principal0 = body._to_principal(self._m0)
        self._principal = TorqueFreeMotion(
            body.moments, self._principal0, body._attitude_to_principal(q0)
        )

    def __call__(
        self,
        t: ArrayLike,
        *,
        out: tuple[Array, Array] | None = None,
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """Momentum and attitude at the times `t`.

        Parameters
        ----------
        t : array_like, shape (...)
            Times, of either sign. They broadcast against the bodies.
        out : tuple of two float64 arrays, optional
            Where the results go, of the results' shapes.
        threads : int, optional
            Number of threads, as `polhode.step` takes it.

        Returns
        -------
        m : ndarray, shape (..., 3)
            Angular momentum, user's body axes.
        q : ndarray, shape (..., 4) or (..., 3, 3)
            Attitude, continuous in `t` from the given one.

        Raises
        ------
        ValueError, TypeError
            As `polhode.TorqueFreeMotion`.
        """
        body = self._body
        if body._aligned:
            return self._principal(t, out=out, threads=threads)
        m, q = self._principal(t, threads=threads)
        return body._placed(self._m0, self._principal0, m, q, out)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of bodies; () for one."""
        return self._principal.shape

    @property
    def period(self) -> Array:
        """Period of m in the body frame; inf where m does not return or does not move."""
        return self._principal.period

    @property
    def regime(self) -> Any:
        """How m moves: an array of `Regime`, one `Regime` for a single body."""
        return self._principal.regime

    def __repr__(self) -> str:
        return repr(self._principal).replace("TorqueFreeMotion", "BodyMotion")


def _refuse_infinite(tensor: Array) -> None:
    refuse("tensor", tensor, ~np.isfinite(tensor).all(axis=(-2, -1)), 2, "not finite")


def _symmetric_half(tensor: Array, transposed: Array) -> Array:
    """The mean of tensors and their transposes, where they differ by rounding only."""
    _refuse_infinite(tensor)
    difference = np.abs(tensor - transposed).max(axis=(-2, -1))
    bad = difference > ASYMMETRY * np.abs(tensor).max(axis=(-2, -1))
    refuse("tensor", tensor, bad, 2, "not symmetric to 1e-9 of its largest entry")
    return np.asarray(0.5 * tensor + 0.5 * transposed)


def _refuse_unphysical(
    name: str, moments: Array, least: Array, middle: Array, largest: Array
) -> None:
    why = (
        "the largest exceeds the sum of the other two, which no distribution of mass has; "
        "physical=False takes it all the same"
    )
    refuse(name, moments, (largest - middle) - least > TRIANGLE * largest, 1, why)


def _orthonormal(axes: Array) -> Array:
    """Axes projected to orthonormal ones, right-handed."""
    gram = np.swapaxes(axes, -2, -1) @ axes
    refuse(
        "axes",
        axes,
        ~(np.abs(gram - np.eye(3)) <= ORTHOGONAL).all(axis=(-2, -1)),
        2,
        "not orthonormal to 1e-5",
    )
    axes = polar(axes)
    handed = np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)
    axes[..., :, 2] *= handed[..., None]
    return axes


def _power_of_two(x: Array) -> Array:
    """Largest power of two not above x >= 0; 0 for 0."""
    _, exponent = np.frexp(x)
    return np.where(x == 0.0, 0.0, np.ldexp(1.0, np.maximum(exponent - 1, -1022)))
