"""`polhode.torques.SoftWall`; formulas: cpp/include/polhode/torque/soft_wall.hpp."""

from __future__ import annotations

from numpy.typing import ArrayLike

from polhode.torques._model import Model, finite


class SoftWall(Model):
    """A charge on an axis of the body above a charge fixed in space, and a soft wall between them.

    Parameters
    ----------
    reading : {"printed", "physical"}, optional
        The sign. "printed" is the torque that reproduces the figures of the source: the charges
        repel each other and the wall attracts. "physical" is the opposite sign, as in the text of
        the source.
    axis : array_like, shape (..., 3), optional
        Position of the charge, body frame.
    charge, wall, distance : array_like, shape (...), optional
        c, b and d below.

    Notes
    -----
    With u = Q.T @ (0, 0, 1) and r = d + u . axis: potential = c/r - (b/10) r^-10, torque = (-c r^-2
    + b r^-11) u x axis (body frame), for "physical" both times -1; the third component of Q m is
    conserved. Source: [Krysl07] Sec. 5.4, where a bracket around the two powers is missing; moments
    (2, 3, 4.5), m0 = (2, 2, 2) there. The "physical" motion comes down to r = 0.445, where the wall
    is steep: it needs steps of 0.05 or less. The "printed" motion works with steps of 0.5.

    Examples
    --------
    >>> import polhode as ph
    >>> wall = ph.torques.SoftWall("physical")
    >>> round(float(wall.potential(0.0, [1.0, 0.0, 0.0, 0.0])), 6)
    -0.47619
    """

    def __init__(
        self,
        reading: str = "printed",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        charge: ArrayLike = 1.0,
        wall: ArrayLike = 0.01,
        distance: ArrayLike = 1.1,
    ) -> None:
        if reading not in ("printed", "physical"):
            raise ValueError(f"reading must be 'printed' or 'physical', not {reading!r}")
        self.reading = reading
        self.axis, self.charge, self.wall, self.distance = finite(
            ("axis", axis, (3,)),
            ("charge", charge, ()),
            ("wall", wall, ()),
            ("distance", distance, ()),
        )
        sign = 1.0 if reading == "printed" else -1.0
        scalars = (sign * self.charge, sign * self.wall, self.distance)
        self._set("soft_wall", *(x[..., None] for x in scalars), self.axis)
