"""Mass, centre of mass and inertia of tensors, points, shapes and meshes; sums; other points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array, AttitudeLike
from polhode.bodies import shapes
from polhode.bodies.inertia import (
    TRIANGLE,
    as_declared,
    check_moments,
    of_second_moments,
    orthonormal,
    principal_axes,
    steiner,
    tensor_of,
    tensor_of_components,
    tensor_of_points,
)


class MassProperties:
    """See `RigidBody`."""

    __slots__ = (
        "_aligned", "_axes", "_central", "_centre", "_linear", "_mass", "_moments", "_some_rod",
        "_tensor",
    )  # fmt: skip

    #: The body with its tensor about its centre of mass, if this one's is about another point.
    _central: MassProperties | None

    def __init__(
        self,
        tensor: ArrayLike,
        *,
        physical: bool = True,
        linear: bool = False,
        planar: bool = False,
        mass: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ) -> None:
        self._set(*principal_axes(tensor, physical, linear, planar), linear)
        self._place(mass, centre)

    @classmethod
    def from_moments(
        cls,
        moments: ArrayLike,
        axes: AttitudeLike | None = None,
        *,
        physical: bool = True,
        linear: bool = False,
        planar: bool = False,
        mass: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ) -> Self:
        """Bodies by their principal moments and axes.

        Parameters
        ----------
        moments : array_like, shape (..., 3)
            Principal moments, in any order; the order stays.
        axes : array_like, shape (..., 3, 3) or (..., 4), or Rotation, optional
            Principal axes: columns in body coordinates, or the rotation that takes components along
            the principal axes to body components, as a quaternion (scalar first) or a SciPy
            `Rotation`. Broadcasts against `moments`. A matrix must be orthonormal to 1e-5 and is
            projected to an orthonormal one; if left-handed, the third axis is reversed. None: the
            body axes are the principal axes.
        physical, linear, planar, mass, centre : optional
            As for the class.

        Raises
        ------
        ValueError
            If moments are not those of a body, or axes are not orthonormal.
        """
        given = _arrays.real_array("moments", moments)
        values = _arrays.components("moments", given, 3).copy()
        if linear or planar:
            values = as_declared("moments", values, linear, planar)
        check_moments("moments", values, physical, _arrays.tolerance(TRIANGLE, given))
        triads = np.eye(3) if axes is None else orthonormal("axes", axes)
        batch = _arrays.broadcast({"moments": values.shape[:-1], "axes": triads.shape[:-2]})
        values = np.broadcast_to(values, (*batch, 3)).copy()
        triads = np.broadcast_to(triads, (*batch, 3, 3)).copy()
        body = cls.__new__(cls)
        aligned = bool((triads == np.eye(3)).all())
        body._set(values, triads, tensor_of(values, triads), aligned, linear)
        body._place(mass, centre)
        return body

    @classmethod
    def from_components(
        cls, components: ArrayLike, order: str, *, products: str = "negative", **options: Any
    ) -> Self:
        """Bodies by the six components of their tensors.

        Parameters
        ----------
        components : array_like, shape (..., 6)
            Moments and products of inertia.
        order : str
            Their names in this order, as "xx yy zz xy xz yz" (URDF: "xx xy xz yy yz zz"; Voigt's
            order: "xx yy zz yz xz xy").
        products : {"negative", "positive"}, optional
            What a product of inertia is: "negative" ``-sum(m x y)``, the entry of the tensor;
            "positive" ``+sum(m x y)``, as many CAD programs print.
        **options : Any
            As for the class.

        Raises
        ------
        ValueError
            If `order` does not have the six names. Also as the class.
        """
        return cls(tensor_of_components(components, order, products), **options)

    @classmethod
    def from_points(
        cls, mass: ArrayLike, r: ArrayLike, *, about: ArrayLike | None = None, **options: Any
    ) -> Self:
        """Bodies of point masses.

        Parameters
        ----------
        mass : array_like, shape (..., N) or ()
            Masses, none negative, not all zero. Broadcasts against the points.
        r : array_like, shape (..., N, 3)
            Positions in body axes, from any origin.
        about : array_like, shape (..., 3), optional
            The point that the tensor is about, see `about`. None: the centre of mass.
        **options : Any
            `physical`, `linear`, `planar` as for the class.

        Returns
        -------
        body : RigidBody
            ``I_xx = sum(m (y^2 + z^2))``, ``I_xy = -sum(m x y)`` with r from that point; `mass` and
            `centre` too.

        Raises
        ------
        ValueError
            If a mass is negative or not finite, all are zero, or a position is not finite.

        Notes
        -----
        A single point has no moments: it is a part of sums, and has a motion only `about` another
        point. `step` and the like refuse it.
        """
        tensor, whole, centre = tensor_of_points(mass, r)
        point = (tensor == 0.0).all(axis=(-2, -1), keepdims=True)[..., 0]
        some = np.where(point[..., None], np.eye(3), tensor)
        body = cls(some, mass=whole, centre=centre, **options)
        if point.any():
            moments = np.where(point, 0.0, body._moments)
            body._set(moments, body._axes, tensor, body._aligned, body._linear)
        return body if about is None else body.about(about)

    @classmethod
    def from_box(
        cls,
        mass: ArrayLike,
        sides: ArrayLike,
        *,
        hollow: ArrayLike = 0.0,
        centre: ArrayLike | None = None,
        axes: AttitudeLike | None = None,
    ) -> Self:
        """Homogeneous boxes.

        Parameters
        ----------
        mass : array_like, shape (...)
            Mass, positive. ValueError is raised if it is not, or if another number is out of range.
        sides : array_like, shape (..., 3)
            Lengths of the sides along the axes of the shape, at most two of them zero.
        hollow : array_like, shape (...), optional
            Size of a cavity of the same form and centre, as a part of the box: from 0 (solid) to 1,
            a thin shell whose thickness is proportional to the sides.
        centre : array_like, shape (..., 3), optional
            Position of the centre, body axes; None: the origin.
        axes : array_like, shape (..., 3, 3) or (..., 4), or Rotation, optional
            Axes of the shape in the body, as in `from_moments`.
        """
        second = shapes.squares("sides", sides, 3) / 12 * shapes.similar(hollow)
        return cls._of_shape(mass, second, centre, axes)

    @classmethod
    def from_ellipsoid(
        cls,
        mass: ArrayLike,
        semi_axes: ArrayLike,
        *,
        hollow: ArrayLike = 0.0,
        centre: ArrayLike | None = None,
        axes: AttitudeLike | None = None,
    ) -> Self:
        """Homogeneous ellipsoids.

        Parameters
        ----------
        mass, hollow, centre, axes
            As in `from_box`, which also lists the errors; ``hollow=1`` is the shell between two
            similar ellipsoids, for a sphere that of constant thickness.
        semi_axes : array_like, shape (..., 3)
            Half of the lengths along the axes of the shape, at most two of them zero.
        """
        second = shapes.squares("semi_axes", semi_axes, 3) / 5 * shapes.similar(hollow)
        return cls._of_shape(mass, second, centre, axes)

    @classmethod
    def from_cylinder(
        cls,
        mass: ArrayLike,
        radius: ArrayLike,
        length: ArrayLike,
        *,
        hollow: ArrayLike = 0.0,
        centre: ArrayLike | None = None,
        axes: AttitudeLike | None = None,
    ) -> Self:
        """Homogeneous cylinders about axis 3 of the shape; tubes, disks, rings and rods.

        Parameters
        ----------
        mass, centre, axes
            As in `from_box`, which also lists the errors.
        radius, length : array_like, shape (...)
            Not both zero: radius 0 is a rod, length 0 a disk.
        hollow : array_like, shape (...), optional
            Radius of a bore through the whole length, as a part of the radius: from 0 to 1, a thin
            tube or a ring.
        """
        across, along = shapes.squares("radius", radius) / 4, shapes.squares("length", length) / 12
        across, along = np.broadcast_arrays(across * (1 + shapes.part(hollow) ** 2), along)
        return cls._of_shape(mass, np.stack([across, across, along], axis=-1), centre, axes)

    @classmethod
    def from_mesh(
        cls,
        vertices: ArrayLike,
        faces: ArrayLike,
        density: ArrayLike = 1.0,
        *,
        shell: bool = False,
    ) -> Self:
        """Homogeneous bodies in a surface of triangles, or such a surface itself.

        Parameters
        ----------
        vertices : array_like, shape (..., V, 3)
            Positions in body axes, from any origin.
        faces : array_like of int, shape (F, 3)
            Indices of the vertices of each triangle, seen from outside all counterclockwise (or all
            clockwise).
        density : array_like, shape (...)
            Mass per volume, or per area of a shell.
        shell : bool, optional
            The mass is in the surface, which need not be closed.

        Raises
        ------
        ValueError
            If the surface of a solid body is not closed or its triangles are not oriented alike
            (the message names an edge); if an index or a number is out of range.

        Notes
        -----
        Integrals over tetrahedra, ``V/20 (sum(p p^T) + S S^T)``, with S the sum of the four
        vertices p; over triangles the same with ``A/12``. Vertices with equal positions are one, as
        in STL files.
        """
        mass, centre, second = shapes.of_mesh(vertices, faces, density, shell)
        return cls(of_second_moments(second), mass=mass, centre=centre)

    @property
    def moments(self) -> Array:
        """Principal moments, shape (..., 3), in the order of `axes`.

        Of a diagonal tensor and of `from_moments` they are in the given order.
        """
        return self._moments

    @property
    def axes(self) -> Array:
        """Principal axes, shape (..., 3, 3): columns in body coordinates, determinant +1.

        Of a tensor, they are nearest to the body axes among their permutations and signs.
        """
        return self._axes

    @property
    def tensor(self) -> Array:
        """Inertia tensors in body axes, shape (..., 3, 3)."""
        return self._tensor

    @property
    def mass(self) -> Array | None:
        """Mass, shape (...); None where it was not given."""
        return None if self._mass is None else self._mass[()]

    @property
    def centre(self) -> Array:
        """Centre of mass in body axes, shape (..., 3); the origin where it was not given."""
        return self._centre

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of bodies; () for one."""
        return self._moments.shape[:-1]

    def about(self, point: ArrayLike, *, mass: ArrayLike | None = None) -> Self:
        """The bodies with their tensors about another point (Steiner's theorem).

        For a body that turns about this point (..., 3), in body axes, as a top on its tip. `mass`
        and `centre` stay. ValueError is raised if the mass (...) was given neither here nor before.
        """
        own = self if self._central is None else self._central
        known = self._known_mass() if mass is None else _arrays.components("mass", mass)
        place = _arrays.components("point", point, 3)
        _arrays.broadcast({"bodies": self.shape, "point": place.shape[:-1], "mass": known.shape})
        arm = place - self._centre
        body = type(self)(own._tensor + steiner(known, arm), mass=known, centre=self._centre)
        body._central = own
        return body

    def __add__(self, other: MassProperties | int) -> Self:
        """Both bodies as one, about the common centre of mass; in the same body axes."""
        if not isinstance(other, MassProperties):  # 0: the start of `sum`
            return self if other == 0 else NotImplemented
        masses = [body._known_mass() for body in (self, other)]
        _arrays.broadcast({"first body": self.shape, "second body": other.shape})
        tensors = [(body._central or body)._tensor for body in (self, other)]
        whole = masses[0] + masses[1]
        arm = other._centre - self._centre
        centre = self._centre + (masses[1] / whole)[..., None] * arm
        tensor = tensors[0] + tensors[1] + steiner(masses[0] * (masses[1] / whole), arm)
        return type(self)(tensor, mass=whole, centre=centre)

    __radd__ = __add__

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        _arrays.set_state(self, state)
        for array in (self._moments, self._axes, self._tensor, self._centre):
            array.flags.writeable = False

    def _set(self, moments: Array, axes: Array, tensor: Array, aligned: bool, linear: bool) -> None:
        for array in (moments, axes, tensor):
            array.flags.writeable = False
        self._moments, self._axes, self._tensor = moments, axes, tensor
        #: Whether the body axes are the principal axes, for all bodies.
        self._aligned = aligned
        self._some_rod = not moments.all()
        self._linear = linear

    def _place(self, mass: ArrayLike | None, centre: ArrayLike | None) -> None:
        """Mass and centre, for all bodies."""
        self._central = self._mass = None
        self._centre = np.zeros((*self.shape, 3))
        batches = {"bodies": self.shape}
        if centre is not None:
            place = _arrays.components("centre", centre, 3)
            _arrays.refuse("centre", place, ~np.isfinite(place).all(axis=-1), 1, "not finite")
            batches["centre"] = place.shape[:-1]
        if mass is not None:
            known = shapes.masses(mass)
            batches["mass"] = known.shape
        if len(batches) > 1 and _arrays.broadcast(batches) != self.shape:
            raise ValueError(f"mass and centre are for more bodies than the tensors: {batches}")
        if centre is not None:
            self._centre[...] = place
        if mass is not None:
            self._mass = np.broadcast_to(known, self.shape).copy()
        self._centre.flags.writeable = False

    def _known_mass(self) -> Array:
        if self._mass is None:
            raise ValueError("the mass is not known: give mass=")
        return self._mass

    @classmethod
    def _of_shape(
        cls, mass: ArrayLike, second: Array, centre: ArrayLike | None, axes: AttitudeLike | None
    ) -> Self:
        """A shape by its second moments (..., 3) over the mass, along its own axes."""
        moments = np.roll(second, 1, -1) + np.roll(second, -1, -1)
        known = shapes.masses(mass)
        place = np.zeros(3) if centre is None else _arrays.components("centre", centre, 3)
        batches = {"mass": known.shape, "sizes": second.shape[:-1], "centre": place.shape[:-1]}
        _arrays.broadcast(batches)
        moments = known[..., None] * moments
        moments = moments + np.zeros_like(place)  # for all centres
        return cls.from_moments(moments, axes, mass=mass, centre=place)
