"""`polhode.torques.Constant`; formulas: cpp/include/polhode/torque/prescribed.hpp."""

from __future__ import annotations

from numpy.typing import ArrayLike

from polhode.torques._model import Model, finite, frame_of


class Constant(Model):
    """A constant torque.

    Parameters
    ----------
    value : array_like, shape (..., 3)
        The torque, in the frame `frame`.
    frame : {"body", "space"}, optional
        The frame in which it is constant: the body frame (a thruster) or the space frame.

    Notes
    -----
    It has no potential: its work depends on the path. In the space frame, Q m - torque t is
    conserved.

    Examples
    --------
    >>> import polhode as ph
    >>> thruster = ph.torques.Constant([0.0, 0.0, 0.5])
    >>> traj = ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], 0.1, 10, torque=thruster)
    >>> traj.m[-1].round(12)
    array([0. , 0. , 1.5])
    """

    def __init__(self, value: ArrayLike, frame: str = "body") -> None:
        self.frame = frame_of(frame)
        (self.value,) = finite(("value", value, (3,)))
        self._set(f"constant_{frame}", self.value)
