"""`polhode.torques.Gyrostat`; formulas: cpp/include/polhode/torque/gyrostat.hpp."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from polhode.torques._model import ModelOfInertia, six
from polhode.torques._tabulated import Tabulated, TimeTable


class Gyrostat(Tabulated, ModelOfInertia):
    """Rotors in the body, such as reaction wheels, with a given angular momentum.

    Parameters
    ----------
    h : array_like or piecewise polynomial, shape (..., 3)
        The angular momentum of the rotors relative to the body, summed, body frame: constant;
        samples (T, ..., 3) at `times`, linear between them and constant outside; or a piecewise
        polynomial of time, as in `Prescribed`. The torque -h' jumps where h has a kink, as at
        samples: give the times of kinks as the `breaks` of `integrate` too.
    times : array_like, shape (T,), optional
        Times of the samples, ascending.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor in the body axes; by default those of the integration.

    Notes
    -----
    The m of the integration is the momentum of the body without the relative momentum of the
    rotors: m = I omega, so that ``omega = m / inertia`` and the energy m . omega / 2 are as without
    rotors. The total angular momentum is m + h in the body frame; Q (m + h) is conserved in space
    if there is no other torque: ``ph.so3.rotate(traj.q, traj.m + h)``. With constant h the energy
    is conserved too. (m + h)' = (m + h) x omega gives the torque h x omega - h' (body frame).

    Which I and h these are:

    - a rotor that a motor holds at a given speed relative to the body: I is the inertia of the body
      with its rotors held fixed, h = sum of (axial moment of inertia) (relative speed) (axis);
    - a rotor that turns freely about its axis a, with the axial moment J: its axial momentum in all
      is constant. I is the inertia without the axial moment, ``tensor - J * np.outer(a, a)``, and h
      is J (relative speed + a . omega) a at the start.

    The torque depends on m. The kick is exact, an elliptic rotation about h: each kick preserves
    the energy and h . m up to rounding. Source: the equations of Zhukovskii and Volterra.
    """

    def __init__(
        self,
        h: Any,
        times: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
        table = TimeTable.of("h", h, times)
        self.h, self.times = table.values, table.times
        self._set_tabulated("gyrostat", table, six(self._inverse()))
        self.depends_on_t = len(table.origins) > 1 or bool(table.coefficients[..., 3:].any())
