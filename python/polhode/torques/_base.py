"""`polhode.torques.Torque`, the base class: the interface of a torque for the whole package."""

from __future__ import annotations

from typing import Any

from polhode._arrays import Array


class Torque:
    """Base class of all torques: see `Function` and the models.

    A user-defined subclass needs `torque`; everything else has a default.

    Attributes
    ----------
    batch : tuple of int
        Batch shape of its parameters; () if all bodies share them.
    depends_on_t : bool
        Whether the torque depends on time.
    depends_on_m : bool
        Whether the torque depends on the momentum; a kick is then one Runge-Kutta step of order 4,
        or 2 in schemes of order 2, unless it is a model that is linear in m.
    takes : frozenset of str
        Of "x" and "s": whether it takes the centre of mass and returns a force, and whether it
        takes the state of the torques and returns its rate.
    has_potential : bool
        Whether `potential` exists, so that the energy of a trajectory is complete.
    has_modified : bool
        Whether schemes with a modified potential can use it: `modified` exists, or the core has the
        derivative of a model.
    in_core : bool
        Whether the kicks run in the core, without Python.
    any_batch : bool
        Whether `torque` and `potential` accept any number of bodies; otherwise only the whole batch
        of the integration.
    independent : bool
        Whether the torque on a body does not depend on other bodies.
    known_derivatives : int
        Number of known derivatives of the angular momentum in space; the torque is the first.
    splits_only : bool
        Whether it works in splitting schemes only.
    states : int
        Numbers per body that the core stores from step to step.
    gives_momentum : bool
        Whether `spatial_momentum` exists.
    span : (float, float) or None
        First and last time at which the torque is given; None if it is given at all times.
    series : str or None
        Name of the model by which a method finds its Taylor series; None if it has none.
    held : bool
        Whether the torque is constant before and after its `span`; otherwise it is NaN there.
    """

    batch: tuple[int, ...] = ()
    depends_on_t: bool = True
    depends_on_m: bool = False
    takes: frozenset[str] = frozenset()
    has_potential: bool = False
    has_modified: bool = False
    in_core: bool = False
    any_batch: bool = False
    independent: bool = False
    known_derivatives: int = 1
    splits_only: bool = False
    states: int = 0
    gives_momentum: bool = False
    span: tuple[float, float] | None = None
    held: bool = False
    series: str | None = None

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque in the body frame, shape (..., 3)."""
        raise NotImplementedError

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        raise NotImplementedError

    def modified(self, t: float, attitude: Array, shape: tuple[int, ...]) -> Array:
        """W of a modified potential in the body frame, of this shape (..., 3), see `Function`."""
        raise NotImplementedError

    def spatial_momentum(self, order: int, t: float, shape: tuple[int, ...]) -> Array:
        """Derivative number `order` of the momentum in the space frame, of this shape (..., 3)."""
        raise NotImplementedError

    def all_values(self, t: float, m: Array, attitude: Array, **others: Array) -> Array:
        """All that the torque returns at a state, shape (..., K); `resume` compares it.

        `others` are x, p and s, as far as the bodies have them.
        """
        return self.torque(t, m, attitude)

    @property
    def lacks_potential(self) -> bool:
        """Whether there may be a potential that polhode does not know."""
        return not self.has_potential

    def with_inertia(self, inertia: Array | None = None, tensor: Array | None = None) -> Torque:
        """The torque on bodies of these moments (..., 3) or tensors (..., 3, 3).

        Returns itself if it does not depend on the inertia or already has an inertia.
        """
        return self

    def of_body(self, at: tuple[int, ...], shape: tuple[int, ...]) -> Torque | None:
        """The torque on body `at` of a batch of this shape; None unless `any_batch`."""
        return None

    def check_attitude(self, matrix: bool) -> None:
        """Raise ValueError if it does not support attitudes as matrices, or as quaternions."""

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, in the form of the core."""
        raise NotImplementedError

    def numbers(self) -> Array | None:
        """The parameters of a model, shape (..., P); None for other torques."""
        return None

    def arguments(self) -> dict[str, Any] | None:
        """Arguments of the constructor that can be stored in a file; None if they cannot."""
        return None
