"""Every public object can be copied, pickled and sent to another process, with the same results."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import mmap
import multiprocessing
import operator
import pickle
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from compare import same

import polhode as ph
from polhode import torques

M, Q = np.array([0.3, 0.5, 0.8]), np.array([1.0, 0.0, 0.0, 0.0])
INERTIA = np.array([1.0, 1.5, 2.2])
BODY = ph.RigidBody([[4.5, -1.0, 0.3], [-1.0, 5.0, 0.2], [0.3, 0.2, 2.5]])


def pull(t: float, q: Any) -> Any:
    return np.broadcast_to([0.0, 0.1, t], (*np.shape(q)[:-1], 3))


def momentum(t: float) -> Any:
    return np.array([0.1, 0.2, 0.3 + t])


TORQUES: dict[str, Any] = {
    "BDot": torques.BDot(0.3, [0.1, 0.2, 0.3]),
    "Constant": torques.Constant([0.0, 0.0, 0.1]),
    "Damping": torques.Damping([0.1, 0.2, 0.3]),
    "Dipole": torques.Dipole([0.0, 0.0, 1.0], [0.1, 0.0, 0.0]),
    "Function": torques.Function(pull),
    "GravityGradient": torques.GravityGradient(
        orbit=torques.Orbit(1.0, [2.0, 0.0, 0.0], [0.0, 0.6, 0.2])
    ),
    "Gyrostat": torques.Gyrostat([0.1, 0.2, 0.3]),
    "HeavyTop": torques.HeavyTop([0.0, 0.0, 0.1]),
    "InternalDissipation": torques.InternalDissipation(0.1),
    "LagrangeTop": torques.LagrangeTop(0.1),
    "Prescribed": torques.Prescribed([[0.0, 0.0, 0.1], [0.1, 0.0, 0.1]], [-1.0, 1.0]),
    "SoftWall": torques.SoftWall(),
    "SpatialMomentum": torques.SpatialMomentum(momentum, momentum),
    "Vessel": torques.Vessel(6.3622e6, gm_l=103.628, gm_t=2.1444),
}


def of_torque(torque: Any) -> Any:
    return torque.with_inertia(INERTIA).torque(0.0, M, Q)


def of_trajectory(trajectory: Any) -> Any:
    return [trajectory.t, trajectory.m, trajectory.q, trajectory.omega(), trajectory.energy()]


def of_motion(motion: Any) -> Any:
    return [*motion(7.0), *motion([7.0, 8.0]), motion.period]


def of_body(body: Any) -> Any:
    motion = body.motion(M, Q)(0.3)
    return [*body.step(M, Q, 0.3), *motion, body.energy(M), body.moments, body.axes, body.tensor]


def of_method(method: Any) -> Any:
    name = method if isinstance(method, ph.MuntheKaas) else method.name
    return [*ph.step(INERTIA, M, Q, 0.3, method=name)]


def of_splitting(splitting: Any) -> Any:
    return ph.integrate(INERTIA, M, Q, 0.1, 3, torque=pull, splitting=splitting).m


OBJECTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    **{name: (torque, of_torque) for name, torque in TORQUES.items()},
    "trajectory": (ph.integrate(INERTIA, M, Q, 0.1, 3, torque=TORQUES["HeavyTop"]), of_trajectory),
    "trajectory of a body": (BODY.integrate(M, Q, 0.1, 3), of_trajectory),
    "motion": (ph.TorqueFreeMotion(INERTIA, M, Q), of_motion),
    "motion of a body": (BODY.motion(M, np.eye(3)), of_motion),
    "body": (BODY, of_body),
    "method": (ph.methods()[3], of_method),
    "rkmk": (ph.rkmk([[0, 0], [0.5, 0]], [0, 1], [0, 0.5]), of_method),
    "splitting": (ph.splittings()[2], of_splitting),
    "regime": (ph.Regime.AXIS1, operator.attrgetter("value")),
    "list of methods": (ph.methods(), len),
    "list of splittings": (ph.splittings(), len),
}


def unaligned(thing: Any) -> Any:
    """A copy through pickle protocol 5, its buffers at odd addresses, as Dask sends them."""
    parts: list[pickle.PickleBuffer] = []
    text = pickle.dumps(thing, protocol=5, buffer_callback=parts.append)
    return pickle.loads(text, buffers=[memoryview(b"-" + bytes(p.raw()))[1:] for p in parts])


def mapped(thing: Any) -> Any:
    """A copy whose buffers are in a read-only file in memory, as joblib sends large arrays."""
    parts: list[pickle.PickleBuffer] = []
    text = pickle.dumps(thing, protocol=5, buffer_callback=parts.append)
    buffers = []
    with tempfile.TemporaryFile() as file:
        for part in parts:
            file.write(part.raw())
            file.write(bytes(-file.tell() % mmap.ALLOCATIONGRANULARITY))
        file.flush()
        begin = 0
        for part in parts:
            size = part.raw().nbytes
            held = (
                mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=begin)
                if size
                else b""
            )
            buffers.append(memoryview(held))
            begin += -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
    return pickle.loads(text, buffers=buffers)


def by_joblib(thing: Any) -> Any:
    """A copy through a file of joblib, its arrays mapped read-only."""
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump(thing, Path(folder, "thing"))
        return joblib.load(Path(folder, "thing"), mmap_mode="r")


COPIES: dict[str, Callable[[Any], Any]] = {
    "joblib, mapped read-only": by_joblib,
    "pickle, mapped read-only": mapped,
    "pickle, unaligned buffers": unaligned,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "pickle, oldest protocol": lambda x: pickle.loads(pickle.dumps(x, 2)),
}


def all_same(got: Any, want: Any) -> None:
    if isinstance(want, list):
        for x, y in zip(got, want, strict=True):
            same(x, y)
    else:
        same(got, want)


def test_every_torque_is_here() -> None:
    known = {name for name in torques.__all__ if isinstance(getattr(torques, name), type)}
    assert known - {"Torque", "Model", "Compiled", "Orbit"} == set(TORQUES)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", OBJECTS)
def test_copies(name: str, copied: Callable[[Any], Any]) -> None:
    thing, results = OBJECTS[name]
    again = copied(thing)
    assert type(again) is type(thing)
    all_same(results(again), results(thing))


def test_saved_trajectories(tmp_path: Path) -> None:
    saved = ph.integrate(INERTIA, M, Q, 0.1, 3, save_to=tmp_path / "run")
    for copied in COPIES.values():
        all_same(of_trajectory(copied(saved)), of_trajectory(saved))
        all_same(of_trajectory(copied(ph.Trajectory.load(tmp_path / "run"))), of_trajectory(saved))


def test_compiled_torques_stay_in_their_process() -> None:
    doubles = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_double, doubles, doubles,
        doubles, ctypes.c_void_p,
    )  # fmt: skip

    def set_all(
        n: int, first: int, stride: int, t: float, m: Any, q: Any, f: Any, data: Any
    ) -> None:
        for k in range(3):
            for i in range(n):
                f[k * stride + i] = 0.1 * k

    torque = torques.Compiled(kind(set_all))
    want = of_torque(torque)
    for copied in (copy.copy, copy.deepcopy):
        same(of_torque(copied(torque)), want)
    for thing in (torque, ph.integrate(INERTIA, M, Q, 0.1, 2, torque=torque)):
        with pytest.raises(TypeError, match="cannot be pickled: the address of its function"):
            pickle.dumps(thing)


# Of a fork, if there are threads: Python's and JAX's.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.parametrize("start", ["spawn", "forkserver", "fork"])
def test_other_processes(start: str) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} on this system")
    things = [thing for thing, _ in OBJECTS.values()]
    functions = [results for _, results in OBJECTS.values()]
    with ProcessPoolExecutor(1, multiprocessing.get_context(start)) as pool:
        got = list(pool.map(call, functions, things))
    for (thing, results), one in zip(OBJECTS.values(), got, strict=True):
        all_same(one, results(thing))


def test_processes_of_joblib() -> None:
    """Its pool, to which the arrays go through a file in memory."""
    tasks = [joblib.delayed(call)(results, thing) for thing, results in OBJECTS.values()]
    got = joblib.Parallel(n_jobs=2, max_nbytes=1)(tasks)
    for (thing, results), one in zip(OBJECTS.values(), got, strict=True):
        all_same(one, results(thing))


def call(function: Callable[[Any], Any], thing: Any) -> Any:
    return function(thing)


N = 1001


@contextlib.contextmanager
def shared(name: str | None) -> Iterator[tuple[str, list[Any]]]:
    """Momenta, attitudes and one more of each in shared memory of this name, or a new one."""
    block = shared_memory.SharedMemory(name, create=name is None, size=14 * 8 * N)
    try:
        numbers = np.frombuffer(block.buf, np.float64)[: 14 * N]
        parts = np.split(numbers, [3 * N, 7 * N, 10 * N])
        yield block.name, [part.reshape(N, -1) for part in parts]
        del numbers, parts
    finally:
        gc.collect()
        block.close()
        if name is None:
            block.unlink()


def step_in_place(name: str, body: ph.RigidBody, begin: int, end: int) -> None:
    """Steps of some bodies in shared memory: in place, and to the other arrays there."""
    with shared(name) as (_, arrays):
        m, q, m_out, q_out = (x[begin:end] for x in arrays)
        body.step(m, q, 0.3, out=(m_out, q_out), n_steps=2)
        ph.step(INERTIA, m, q, 0.3, out=(m, q))
        del arrays, m, q, m_out, q_out


def test_named_shared_memory() -> None:
    """Two processes step parts of one array."""
    rng = np.random.default_rng(2)
    m, q = rng.normal(size=(N, 3)), rng.normal(size=(N, 4))
    with shared(None) as (name, arrays):
        arrays[0][:], arrays[1][:] = m, q
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            parts = [(0, 400), (400, N)]
            for done in [pool.submit(step_in_place, name, BODY, *part) for part in parts]:
                done.result()
        got = [x.copy() for x in arrays]
        del arrays
    for x, y in zip(
        got, [*ph.step(INERTIA, m, q, 0.3), *BODY.step(m, q, 0.3, n_steps=2)], strict=True
    ):
        same(x, y)
