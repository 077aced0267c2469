"""Torques: models, compiled ones, ones in Python; the heavy top of the report."""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, Times, absent, case
from benchmarks._bodies import INERTIA, Array, report_top
from benchmarks._heavy_top import heavy_top

STEP = "ns per body per step"
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
U0 = np.array([0.1, -0.2, 0.4])
H = 0.1
ERROR = "of m after 100 steps over |m|, 4 bodies; against rkn6_14 with a quarter of the step, or "
SIXTEENTH = "strang with a sixteenth"


def models() -> dict[str, Any]:
    """The models, each with some values of its parameters."""
    t = np.linspace(0.0, 200.0, 401)
    samples = 0.1 * np.stack([np.sin(t), np.cos(t), np.sin(2 * t)], axis=-1)
    return {
        "none": None,
        "HeavyTop": ph.torques.HeavyTop(U0),
        "LagrangeTop": ph.torques.LagrangeTop(0.4),
        "SoftWall": ph.torques.SoftWall(),
        "GravityGradient": ph.torques.GravityGradient(0.2),
        "Vessel, no damping": ph.torques.Vessel(0.1, 1.0, 0.5),
        "Vessel": ph.torques.Vessel(0.1, 1.0, 0.5, damping=[0.1, 0.1, 0.1]),
        "Dipole": ph.torques.Dipole([0.1, 0.0, 0.3], [0.0, 0.0, 1.0]),
        "Damping": ph.torques.Damping([0.1, 0.1, 0.1]),
        "Damping, space": ph.torques.Damping([0.1, 0.2, 0.1], frame="space"),
        "InternalDissipation": ph.torques.InternalDissipation(0.01),
        "BDot": ph.torques.BDot(0.1, samples, t),
        "Gyrostat": ph.torques.Gyrostat([0.0, 0.0, 1.0]),
        "GravityGradient, e = 0.1": ph.torques.GravityGradient(
            orbit=ph.torques.Orbit(0.04, [1.0, 0.0, 0.0], [0.0, 0.2098, 0.0])
        ),
        "Dipole, field of time": ph.torques.Dipole([0.1, 0.0, 0.3], samples, t),
        "Constant": ph.torques.Constant(0.01 * U0),
        "Constant, space": ph.torques.Constant(0.01 * U0, frame="space"),
        "Prescribed": ph.torques.Prescribed(samples, t),
        "Damping and Gyrostat": [
            ph.torques.Damping([0.1, 0.1, 0.1]),
            ph.torques.Gyrostat([0.0, 0.0, 1.0]),
        ],
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


def compiled_by_c(folder: Path) -> Any:
    """The heavy top in C, as a ctypes function pointer; None without a compiler."""
    from scipy import LowLevelCallable

    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "top.c", folder / "top.so"
    source.write_text(C_SOURCE, encoding="ascii")
    command = [compiler, "-O3", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    f = ctypes.CDLL(str(library)).top
    pointer = ctypes.POINTER(ctypes.c_double)
    f.argtypes = [*[ctypes.c_int64] * 3, ctypes.c_double, *[pointer] * 3, ctypes.c_void_p]
    f.restype = None
    return LowLevelCallable(f, user_data=U0.ctypes.data_as(ctypes.c_void_p))


def compiled_by_numba() -> Any:
    """The heavy top as a numba cfunc; None without numba."""
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        return None
    ty, carray = numba.types, numba.carray
    array = ty.CPointer(ty.float64)
    u0, u1, u2 = U0.tolist()

    @numba.cfunc(ty.void(ty.int64, ty.int64, ty.int64, ty.float64, array, array, array, ty.voidptr))  # type: ignore[untyped-decorator, unused-ignore]
    def top(n: Any, first: Any, stride: Any, t: Any, m: Any, q: Any, f: Any, data: Any) -> None:
        q, f = carray(q, (4, stride)), carray(f, (3, stride))
        for i in range(n):
            w, x, y, z = q[0, i], q[1, i], q[2, i], q[3, i]
            a, b, c = u1 * z - u2 * y, u2 * x - u0 * z, u0 * y - u1 * x
            f[0, i] = u1 + 2 * (w * b + c * x - a * z)
            f[1, i] = -(u0 + 2 * (w * a + b * z - c * y))
            f[2, i] = 0.0

    return top


def _bodies(n: int) -> Array:
    return np.array([0.3, 0.5, 0.8]) * np.linspace(0.9, 1.1, n)[:, None]


def _run(
    torque: Any, n: int, steps: int, h: float = H, splitting: str = "strang", **options: Any
) -> Array:
    """Momenta at the end."""
    trajectory = ph.integrate(
        INERTIA, _bodies(n), Q0, h, steps, torque=torque, splitting=splitting, save_every=steps,
        **options,
    )  # fmt: skip
    end: Array = trajectory.m[-1]
    return end


def _difference(a: Array, b: Array) -> float:
    return float(np.max(np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1)))


def _error(torque: Any, steps: int) -> float:
    terms = torque if isinstance(torque, list) else [torque]
    if any(term is not None and term.depends_on_m for term in terms):
        return _difference(_run(torque, 4, steps), _run(torque, 4, 16 * steps, H / 16))
    return _difference(_run(torque, 4, steps), _run(torque, 4, 4 * steps, H / 4, "rkn6_14"))


#: Runs without a torque that do more than turn bodies.
OTHERS: dict[str, dict[str, Any]] = {
    "none, with a mass": {"mass": 1.0},
    "none, Thermostat": {"thermostat": ph.Thermostat(kT=1.0, gamma=0.1)},
    "none, moments of time": {"moments": lambda t: np.asarray(INERTIA) * (1.0 + 0.01 * t)},
}


@case(
    "torques",
    "Models of torques",
    time=STEP,
    units={
        "error": ERROR + SIXTEENTH,
        "time / none": "to the flow alone, ratio of times in neighbouring windows",
    },
)
def torques(run: Run) -> Iterator[Row]:
    """Strang splitting around the exact step, h = 0.1, 10,000 bodies, one thread, all in turn.

    The error is mostly that of the scheme and of the step.
    """
    n, steps = (100, 10) if run.quick else (10_000, 100)
    every = models()
    works = {name: partial(_run, torque, n, steps) for name, torque in every.items()}
    works |= {name: partial(_run, None, n, steps, **others) for name, others in OTHERS.items()}
    measured = run.timer.measure(works, n * steps)
    for name in works:
        known = name in every
        values = {"error": _error(every[name], 10 if run.quick else 100)} if known else {}
        ratios = {"time / none": measured.ratio(name, "none")}
        yield Row({"torque": name}, {"time": measured.times[name]}, ratios, values)


@case(
    "torques_compiled",
    "A heavy top as a model, compiled by the user, and in NumPy",
    time=STEP,
    units={
        "difference": "of m after 100 steps from the model, over |m|",
        "time / model": "ratio of times in neighbouring windows",
    },
)
def torques_compiled(run: Run) -> Iterator[Row]:
    """Strang splitting around the exact step, h = 0.1, one thread; C and numba call in the core.

    "NumPy": a torque in Python over the whole batch. "NumPy, function alone": the same calls of the
    function without steps.
    """

    def torque(t: float, q: Array) -> Array:
        w, x, y, z = q.T
        a, b, c = U0[1] * z - U0[2] * y, U0[2] * x - U0[0] * z, U0[0] * y - U0[1] * x
        f = np.zeros((len(q), 3))
        f[:, 0] = U0[1] + 2 * (w * b + c * x - a * z)
        f[:, 1] = -(U0[0] + 2 * (w * a + b * z - c * y))
        return f

    model = ph.torques.HeavyTop(U0)
    with tempfile.TemporaryDirectory() as folder:
        found = {
            "model": model,
            "C": compiled_by_c(Path(folder)),
            "numba": compiled_by_numba(),
            "NumPy": torque,
        }
        there = {name: one for name, one in found.items() if one is not None}
        for n in (1, 100) if run.quick else (1, 100, 10_000, 100_000):
            steps = 10 if run.quick else max(10, min(1000, 200_000 // n))
            works: dict[str, Any] = {
                name: partial(_run, one, n, steps) for name, one in there.items()
            }
            q = np.tile(Q0, (n, 1))
            works["NumPy, function alone"] = lambda q=q, steps=steps: [
                torque(0.0, q) for _ in range(steps + 1)
            ]
            measured = run.timer.measure(works, n * steps)
            for name in (*found, "NumPy, function alone"):
                labels: dict[str, str | int | float] = {"torque": name, "bodies": n}
                if name not in works:
                    yield Row(labels, {"time": absent()})
                    continue
                values = {}
                if name in there:
                    off = _difference(_run(there[name], 4, 100), _run(model, 4, 100))
                    values = {"difference": off}
                ratios = {"time / model": measured.ratio(name, "model")}
                yield Row(labels, {"time": measured.times[name]}, ratios, values)


# The heavy top of the report ---------------------------------------------------------------------


@case(
    "heavy_top",
    "The heavy top of the report: settings of integrate",
    time=STEP,
    units={"free steps": "the free flows alone (`step`), a lower limit", "drift": "of T + u3"},
)
def heavy_top_settings(run: Run) -> Iterator[Row]:
    """10,000 tops with 0.9 to 1.1 of the momentum, h = 0.1; one thread, all columns in turn."""
    top = report_top()
    q0 = top["q0"]
    n = 100 if run.quick else 10_000
    m, q = top["m0"] * np.linspace(0.9, 1.1, n)[:, None], np.tile(q0, (n, 1))
    own = np.tile(top["inertia"], (n, 1))
    for splitting, steps in (
        (("strang", 10), ("rkn6_14", 2))
        if run.quick
        else (
            ("strang", 200),
            ("rkn6_14", 20),
        )
    ):
        (count,) = (len(s.a) for s in ph.splittings() if s.name == splitting)
        torque = ph.torques.HeavyTop(top["u0"])
        work = partial(
            ph.integrate, m0=m, q0=q, h=0.1, n_steps=steps, torque=torque,
            splitting=splitting, save_every=steps, threads=1,
        )  # fmt: skip
        out = np.empty_like(m), np.empty_like(q)
        works: dict[str, Any] = {
            "one inertia": partial(work, top["inertia"]),
            "compensated": partial(work, top["inertia"], compensated=True),
            "own inertia": partial(work, own),
            "no torque": partial(work, top["inertia"], torque=None),
            "free steps": partial(
                ph.step, top["inertia"], m, q, 0.1 / count, n_steps=count * steps, out=out,
                threads=1,
            ),
        }  # fmt: skip
        times = run.timer.measure(works, n * steps).times
        one = partial(work, top["inertia"], m0=m[:1], q0=q[:1])
        times["one top"] = run.timer.measure({"": one}, steps).times[""]
        several = run.timer.measure(
            {"": partial(works["one inertia"], threads=run.threads)}, n * steps, clock="wall"
        ).times[""]
        times["all threads, wall time"] = several
        energy = works["one inertia"]().energy()
        values = {"drift": float(np.max(np.abs(energy - energy[0])))}
        yield Row({"splitting": splitting, "steps": steps}, times, values=values)


@case(
    "heavy_top_long",
    "The heavy top of the report over a long time",
    time=STEP,
    units={
        "change of T + u3": "largest at the saved states, the report's top",
        "median of 64": "the same of 64 tops turned about the vertical, which move alike but for "
        "rounding",
        "worst of 64": "the same",
        "error of m": "at t = 50, largest component, against Taylor series in 50-digit arithmetic",
        "error of q": "the same",
    },
)
def heavy_top_long(run: Run) -> Iterator[Row]:
    """rkn6_14, h = 0.5, 64 tops, plain and with compensated summation.

    2.4e-14 of the change of T + u3 is the error of the scheme; rounding adds a random walk.
    """
    top = report_top()
    q0 = top["q0"]
    n_steps = 1000 if run.quick else 100_000
    half = run.rng().uniform(0, np.pi, 64)
    half[0] = 0
    vertical = top["u0"] / np.linalg.norm(top["u0"])
    turn = np.c_[np.cos(half), np.sin(half)[:, None] * vertical]
    q = ph.so3.multiply(turn, q0)
    work = partial(
        ph.integrate, top["inertia"], top["m0"], q, 0.5, torque=ph.torques.HeavyTop(top["u0"]),
        splitting="rkn6_14", save_every=100, threads=1,
    )  # fmt: skip
    exact = heavy_top(top["inertia"], top["m0"], q0, top["u0"], t=50.0, steps=64)
    for compensated in (False, True):
        some = partial(work, n_steps=1000, compensated=compensated)
        times: dict[str, Times] = run.timer.measure({"time": some}, 64 * 1000).times
        trajectory = work(n_steps=n_steps, compensated=compensated)
        energy = trajectory.energy()
        most = np.abs(energy - energy[0]).max(axis=0)
        values = {
            "change of T + u3": float(most[0]),
            "median of 64": float(np.median(most)),
            "worst of 64": float(most.max()),
            "error of m": float(np.abs(trajectory.m[1, 0] - exact[0]).max()),
            "error of q": float(np.abs(trajectory.q[1, 0] - exact[1]).max()),
        }
        kind = "compensated" if compensated else "plain"
        yield Row({"summation": kind, "steps": n_steps}, times, values=values)
