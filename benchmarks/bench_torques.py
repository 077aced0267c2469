"""Torques: cost of every model, of compiled torques and of torques in Python.

    python benchmarks/bench_torques.py [--quick]

Störmer-Verlet around the exact free step. Times are in nanoseconds per body per step, the shortest
of many repetitions; the rows of a table run in turn. The error is the largest difference relative
to |m| from the same motion by rkn6_14 with a quarter of the step, or, if that scheme does not
accept the torque, by `strang` with a sixteenth. For compiled torques it is the difference from the
model. Compiled torques need a C compiler (`cc`) or numba; without them the table has no such rows.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measuring import least_times
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
U0 = np.array([0.1, -0.2, 0.4])
H = 0.1
TIMES = np.linspace(0.0, 200.0, 401)
SAMPLES = 0.1 * np.stack([np.sin(TIMES), np.cos(TIMES), np.sin(2 * TIMES)], axis=-1)

MODELS: dict[str, Any] = {
    "none": None,
    "HeavyTop": ph.torques.HeavyTop(U0),
    "LagrangeTop": ph.torques.LagrangeTop(0.4),
    "SoftWall": ph.torques.SoftWall(),
    "GravityGradient": ph.torques.GravityGradient(0.2),
    "Vessel, no damping": ph.torques.Vessel(0.1, 1.0, 0.5),
    "Vessel": ph.torques.Vessel(0.1, 1.0, 0.5, damping=[0.1, 0.1, 0.1]),
    "Dipole": ph.torques.Dipole([0.1, 0.0, 0.3], [0.0, 0.0, 1.0]),
    "Constant": ph.torques.Constant(0.01 * U0),
    "Constant, space": ph.torques.Constant(0.01 * U0, frame="space"),
    "Prescribed": ph.torques.Prescribed(SAMPLES, TIMES),
    "two of them": [ph.torques.HeavyTop(U0), ph.torques.Constant(0.01 * U0)],
}

C_SOURCE = """
#include <stdint.h>
void top(int64_t n, int64_t first, int64_t stride, double t, const double *restrict m,
         const double *restrict q, double *restrict f, void *data) {
    const double *u = data;
    for (int64_t i = 0; i < n; ++i) {
        double w = q[i], x = q[stride + i], y = q[2 * stride + i], z = q[3 * stride + i];
        double a = u[1] * z - u[2] * y, b = u[2] * x - u[0] * z, c = u[0] * y - u[1] * x;
        f[i] = u[1] + 2 * (w * b + c * x - a * z);
        f[stride + i] = -(u[0] + 2 * (w * a + b * z - c * y));
        f[2 * stride + i] = 0;
    }
}
"""
SIGNATURE = (
    *[ctypes.c_int64] * 3, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 3,
    ctypes.c_void_p,
)  # fmt: skip


def compiled_by_c(folder: Path) -> Any:
    """The heavy top in C, as a ctypes function pointer; None without a compiler or SciPy."""
    compiler = shutil.which("cc")
    try:
        from scipy import LowLevelCallable
    except ImportError:
        return None
    if compiler is None:
        return None
    source, library = folder / "top.c", folder / "top.so"
    source.write_text(C_SOURCE)
    command = [compiler, "-O3", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    f = ctypes.CDLL(str(library)).top
    f.argtypes, f.restype = SIGNATURE, None
    return LowLevelCallable(f, user_data=U0.ctypes.data_as(ctypes.c_void_p))


def compiled_by_numba() -> Any:
    """The heavy top as a numba cfunc; None without numba."""
    try:
        from numba import carray, cfunc
        from numba import types as ty
    except ImportError:
        return None
    array = ty.CPointer(ty.float64)
    u0, u1, u2 = U0.tolist()

    @cfunc(ty.void(ty.int64, ty.int64, ty.int64, ty.float64, array, array, array, ty.voidptr))  # type: ignore[untyped-decorator, unused-ignore]
    def top(n: Any, first: Any, stride: Any, t: Any, m: Any, q: Any, f: Any, data: Any) -> None:
        q, f = carray(q, (4, stride)), carray(f, (3, stride))
        for i in range(n):
            w, x, y, z = q[0, i], q[1, i], q[2, i], q[3, i]
            a, b, c = u1 * z - u2 * y, u2 * x - u0 * z, u0 * y - u1 * x
            f[0, i] = u1 + 2 * (w * b + c * x - a * z)
            f[1, i] = -(u0 + 2 * (w * a + b * z - c * y))
            f[2, i] = 0.0

    return top


def bodies(n: int) -> Array:
    return np.array([0.3, 0.5, 0.8]) * np.linspace(0.9, 1.1, n)[:, None]


def run(torque: Any, n: int, steps: int, h: float = H, splitting: str = "strang") -> ph.Trajectory:
    return ph.integrate(
        INERTIA, bodies(n), Q0, h, steps, torque=torque, splitting=splitting, save_every=steps
    )


def difference(a: ph.Trajectory, b: ph.Trajectory) -> float:
    size = np.linalg.norm(b.m[-1], axis=-1)
    return float(np.max(np.linalg.norm(a.m[-1] - b.m[-1], axis=-1) / size))


def error(torque: Any, steps: int) -> float:
    """Error of the momentum after `steps` of 4 bodies."""
    terms = torque if isinstance(torque, list) else [torque]
    if any(term is not None and term.depends_on_m for term in terms):
        finer = run(torque, 4, 16 * steps, H / 16)
    else:
        finer = run(torque, 4, 4 * steps, H / 4, "rkn6_14")
    return difference(run(torque, 4, steps), finer)


def table(torques: dict[str, Any], n: int, steps: int, windows: int, errors: Any) -> None:
    seconds = least_times(windows, *(lambda t=t: run(t, n, steps) for t in torques.values()))  # type: ignore[misc]
    for (name, torque), s in zip(torques.items(), seconds, strict=True):
        print(f"  {name:20} {1e9 * s / n / steps:6.2f}   error {errors(torque):.1e}")


def python_torque(n: int, steps: int, windows: int) -> None:
    """A torque in NumPy, against the function alone and the run with the model of that torque."""
    m, q = bodies(n), np.tile(Q0, (n, 1))

    def torque(t: float, m: Array, q: Array) -> Array:
        w, x, y, z = q.T
        f = np.empty((len(q), 3))
        f[:, 0] = 0.8 * (y * z + w * x)
        f[:, 1] = -0.8 * (x * z - w * y)
        f[:, 2] = 0.0
        return f

    function = ph.torques.Function(torque, depends_on_m=False)

    def integrate(torque: Any) -> ph.Trajectory:
        return ph.integrate(INERTIA, m, q, H, steps, torque=torque, save_every=steps)

    def alone() -> None:
        for _ in range(steps + 1):
            torque(0.0, m, q)

    whole, model, calls = least_times(
        windows,
        lambda: integrate(function),
        lambda: integrate(ph.torques.HeavyTop([0.0, 0.0, 0.4])),
        alone,
    )
    unit = 1e9 / n / steps
    print(
        f"{n:7} bodies: {unit * whole:8.1f} ns per body per step; "
        f"function alone {unit * calls:8.1f}, "
        f"the model {unit * model:6.1f}; ratio to their sum {whole / (calls + model):.2f}"
    )


def single(steps: int, windows: int) -> None:
    """One body."""
    model = ph.torques.HeavyTop(U0)
    ours, none = least_times(
        windows,
        lambda: ph.integrate(
            INERTIA, [0.3, 0.5, 0.8], Q0, H, steps, torque=model, save_every=steps
        ),
        lambda: ph.integrate(INERTIA, [0.3, 0.5, 0.8], Q0, H, steps, save_every=steps),
    )
    print(
        f"\n1 body, HeavyTop: {1e9 * ours / steps:.0f} ns a step, without torque "
        f"{1e9 * none / steps:.0f}    (1000 wanted)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    quick = parser.parse_args().quick
    info = ph.build_info()
    print(f"python {' '.join(sys.argv)}")
    print(f"polhode {ph.__version__}, level {info['isa']}, {info['compiler']}")
    n, steps, windows = (100, 10, 2) if quick else (10_000, 400, 8)
    print(f"\n{n} bodies, Strang, h = {H}, ns per body per step")
    table(MODELS, n, steps, windows, lambda torque: error(torque, min(steps, 100)))

    print(f"\n{n} heavy tops, compiled torque against the model    (2 times the model wanted)")
    model = MODELS["HeavyTop"]
    with tempfile.TemporaryDirectory() as folder:
        own = {"C": compiled_by_c(Path(folder)), "numba": compiled_by_numba()}
        torques = {"model": model, **{k: v for k, v in own.items() if v is not None}}
        table(torques, n, steps, windows, lambda t: difference(run(t, 4, 100), run(model, 4, 100)))
    print("\nA torque in NumPy against the function alone and the run with a model    (1.3 wanted)")
    for many in (1, 10, 100) if quick else (1, 100, 1000, 10_000, 100_000):
        python_torque(many, 10 if quick else max(20, 4000 // many), windows)
    single(100 if quick else 100_000, windows)


if __name__ == "__main__":
    main()
