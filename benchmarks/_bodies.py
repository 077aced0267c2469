"""Bodies, and errors against quadruple precision, that several cases use."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
EPS = 2.0**-52
INERTIA = np.array([1.0, 1.5, 2.2])
#: The heavy top of [Vil13], and a fast one: size of the torque and factor of the momentum.
TOP_INERTIA = np.array([0.376, 0.627, 1.0])
TOP_M0 = np.array([0.5, 0.7, -0.4])
TOP_Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
TOPS = {"heavy": (1.0, 1.0), "fast": (1e-3, 2.0)}
ANGLE = "eps (1 + angle): eps = 2.2e-16, angle = |h| |omega| in rad"


def states(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Unit momenta in all directions, and attitudes."""
    m, q = rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return m, q


def has_quad() -> bool:
    """Whether this build has `polhode.quad`."""
    try:
        from polhode import quad  # noqa: F401
    except ImportError:
        return False
    return True


def reference(inertia: Array, m: Array, attitude: Array, h: float | Array) -> tuple[Any, Any]:
    """The end of the free motion to 32 digits; in double precision without `polhode.quad`."""
    if has_quad():
        from polhode import quad

        return quad.step(inertia, m, attitude, h, digits=True)
    return ph.step(inertia, m, attitude, h)


def deviation(got: tuple[Array, Array], exact: tuple[Any, Any], size: Array | float = 1.0) -> Array:
    """Per body the largest error of a component of m / size or of the attitude."""
    n = len(got[0])
    scale = np.reshape(np.broadcast_to(size, n), (n, 1))
    m = np.asarray(exact[0] - got[0], np.float64) / scale
    attitude = np.asarray(exact[1] - got[1], np.float64).reshape(n, -1)
    off: Array = np.abs(np.hstack([m, attitude])).max(axis=1)
    return off


def turned(inertia: Array, m: Array, h: float | Array) -> Array:
    """The unit of rounding errors of a step, eps (1 + |h| |omega|)."""
    unit: Array = EPS * (1 + np.abs(h) * np.linalg.norm(m / inertia, axis=-1))
    return unit


def steps_of_a_call(method: ph.Method) -> int:
    """One; a multistep method makes five times the length of its history."""
    return 5 * method.history or 1


def report_top() -> dict[str, Array]:
    """The heavy top of [CZ08] Sec. 4.3: inertia, m0, Q0, q0, u0, h and t_end."""
    text = (resources.files("polhode") / "data/example1.toml").read_text(encoding="utf-8")
    data = {name: np.array(x, float) for name, x in tomllib.loads(text).items()}
    return {**data, "q0": ph.so3.to_quaternion(data["Q0"])}
