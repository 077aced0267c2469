"""Free bodies by a general integrator, the reference of two of the papers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import polhode as ph

Array = NDArray[np.float64]


def by_runge_kutta(pair: Any, inertia: Array, m: Array, q: Array, t_end: float) -> Array:
    """Attitudes at `t_end` of bodies with the same inertia, m (..., 3) and q (..., 4).

    Tolerances: absolute eps, relative 100 eps, the smallest that SciPy and MATLAB's ode45 accept.
    "RK45" is the pair of ode45.
    """

    def rate(_: float, y: Array) -> Array:
        m, q = y[: 3 * n].reshape(n, 3), y[3 * n :].reshape(n, 4)
        omega = m / inertia
        spin = np.concatenate([np.zeros((n, 1)), omega], -1)
        return np.concatenate([np.cross(m, omega).ravel(), ph.so3.multiply(q, spin).ravel() / 2])

    n = m.size // 3
    start = np.concatenate([m.ravel(), q.ravel()])
    eps = np.finfo(np.float64).eps
    found = solve_ivp(rate, (0, t_end), start, pair, rtol=100 * eps, atol=eps, t_eval=[t_end])
    return np.asarray(found.y[3 * n :, -1].reshape(q.shape))
