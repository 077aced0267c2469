"""Threads: the pool between calls, forks, many callers, errors in pieces."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same

import polhode as ph

TASKS = Path("/proc/self/task")
INERTIA = np.array([1.0, 1.7, 2.3])


def states(n: int, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 4))


def run(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("n", [95, 96, 97, 4095, 9001, 150_001])
@pytest.mark.parametrize("threads", [2, 5])
def test_results_do_not_depend_on_pieces(n: int, threads: int) -> None:
    m, q = states(n)
    for n_steps in (1, 3):
        one = ph.step(INERTIA, m, q, 0.3, n_steps=n_steps, threads=1)
        many = ph.step(INERTIA, m, q, 0.3, n_steps=n_steps, threads=threads)
        same(many[0], one[0])
        same(many[1], one[1])


@pytest.mark.parametrize(
    ("method", "options"),
    [("exact", {}), ("rk4", {"energy_correction": True}), ("abam_rotation", {})],
)
def test_slices_of_many_steps_continue_each_other(method: str, options: dict[str, Any]) -> None:
    """A call of more steps than the core makes between two checks for Ctrl-C."""
    m, q = states(3)
    n = 400_000 // 16 + 7
    ends = [
        ph.step(INERTIA, m[:k], q[:k], 0.01, method=method, n_steps=n, threads=2, **options)
        for k in (1, 3)
    ]
    wide = np.repeat(m[:1], 200, axis=0), np.repeat(q[:1], 200, axis=0)  # slices of 2000 steps
    many = ph.step(INERTIA, *wide, 0.01, method=method, n_steps=n, threads=2, **options)
    for k in range(2):
        same(ends[0][k][0], ends[1][k][0])
        same(many[k][-1], ends[0][k][0])


@pytest.mark.parametrize("attitude", ["quaternions", "matrices"])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("what", ["inertia", "q"])
def test_an_error_in_a_piece(attitude: str, given: bool, what: str) -> None:
    """The first bad index in the message, and nothing written."""
    n, bad = 150_000, (120_000, 140_000)
    m, q = states(n)
    if attitude == "matrices":
        q = ph.so3.to_matrix(q)
    inertia = np.tile(INERTIA, (n, 1))
    for i in bad:
        (inertia if what == "inertia" else q)[i] = 0.0
    out = (np.full_like(m, 7.0), np.full_like(q, 7.0)) if given else None
    with pytest.raises(ValueError, match=rf"^{what}\[{bad[0]}\] = "):
        ph.step(inertia, m, q, 0.1, threads=2, out=out)
    if out is not None:
        assert np.all(out[0] == 7.0)
        assert np.all(out[1] == 7.0)


def test_bodies_without_a_result_are_counted_over_all_pieces() -> None:
    m, q = states(150_000)
    m[::1000] *= 1e20
    with pytest.warns(RuntimeWarning, match="150 bodies"):
        ph.step(INERTIA, m, q, 1.0, threads=2)


def test_calls_from_many_python_threads() -> None:
    m, q = states(50_000)
    one = ph.step(INERTIA, m, q, 0.3, n_steps=5)
    results: list[Any] = []

    def work(i: int) -> None:
        for _ in range(5):
            results.append(ph.step(INERTIA, m, q, 0.3, n_steps=5, threads=2 + i % 3))

    workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 30
    for result in results:
        same(result[0], one[0])
        same(result[1], one[1])


START = """
import os, sys, threading
import numpy as np
import polhode as ph
inertia = np.array([1.0, 1.7, 2.3])
rng = np.random.default_rng(1)
m, q = rng.normal(size=(100_000, 3)), rng.normal(size=(100_000, 4))
call = lambda: ph.step(inertia, m, q, 0.3, n_steps=3, threads=3)
before = call()
def check():
    assert all(np.array_equal(a, b) for a, b in zip(call(), before))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forks_between_and_during_calls() -> None:
    script = (
        START
        + """
go_on = True
def work():
    while go_on:
        check()
def forks():
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                check()
                grandchild = os.fork()
                if grandchild == 0:
                    check()
                    os._exit(0)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        check()
forks()
other = threading.Thread(target=work)
other.start()
try:
    forks()
finally:
    go_on = False
    other.join()
"""
    )
    done = run(script, "-W", "ignore::DeprecationWarning")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.skipif(not TASKS.is_dir(), reason="no list of threads")
def test_waiting_threads_end_before_a_fork() -> None:
    """Python warns of a fork in a process of several threads."""
    script = (
        START
        + """
count = lambda: len(os.listdir("/proc/self/task"))
assert count() > 1
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert count() == 1, count()
check()
"""
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("daemon", [False, True])
def test_exit_while_threads_wait_or_work(daemon: bool) -> None:
    script = (
        START
        + f"""
def work():
    for _ in range(20):
        check()
threading.Thread(target=work, daemon={daemon}).start()
check()
print("end", flush=True)
"""
    )
    done = run(script)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


@pytest.mark.skipif(not TASKS.is_dir(), reason="no list of threads")
def test_signals_are_not_for_the_threads_that_wait() -> None:
    script = (
        START
        + """
import signal, time
blocked = set()
for task in os.listdir("/proc/self/task"):
    if int(task) != os.getpid():
        for _ in range(1000):  # a thread that has not begun blocks all signals
            status = open(f"/proc/self/task/{task}/status").read()
            mask = int(status.partition("SigBlk:")[2].split()[0], 16)
            if not mask >> (signal.SIGSEGV - 1) & 1:
                break
            time.sleep(0.01)
        assert mask >> (signal.SIGINT - 1) & 1, status
        assert not mask >> (signal.SIGSEGV - 1) & 1, status
        blocked.add(task)
assert blocked
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


SMALL_STACK = """
import ctypes
libc = ctypes.CDLL(None)
attributes = ctypes.create_string_buffer(64)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(SIZE))
assert libc.pthread_setattr_default_np(attributes) == 0
import numpy as np, polhode as ph
rng = np.random.default_rng(1)
m, q = rng.normal(size=(1000, 3)), rng.normal(size=(1000, 4))
for method in ph.methods():
    ph.step([1.0, 1.7, 2.3], m, q, 0.1, method=method.name, n_steps=12, threads=2)
    ph.step([1.0, 1.7, 2.3], m, ph.so3.to_matrix(q), 0.1, method=method.name, n_steps=12, threads=2)
torque = ph.torques.HeavyTop([0.0, 0.0, 0.5])
for scheme in ph.splittings():
    ph.integrate([1.0, 1.7, 2.3], m, q, 0.05, 3, torque=torque, splitting=scheme.name, threads=2)
print("done")
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="sets the stack of glibc")
@pytest.mark.skipif(bool(os.environ.get("POLHODE_SANITIZED")), reason="sanitizers use more stack")
def test_helpers_need_no_more_stack_than_musl_gives() -> None:
    done = run(SMALL_STACK.replace("SIZE", str(128 * 1024)))
    assert done.stdout.split() == ["done"], done.stderr


ENVIRONMENT = """
import ctypes, os, sys, threading, time
import numpy as np
import polhode as ph

library = ctypes.CDLL(ph.get_library())
method = library.polhode_method(b"exact")
libc = ctypes.CDLL(None)
inertia, m, q, h = map(np.array, ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], [0.1]))
I_, h_ = (ctypes.c_void_p(x.ctypes.data) for x in (inertia, h))
one, zero, number = ctypes.c_int64(1), ctypes.c_int64(0), ctypes.c_int(0)
for k in range(3000):
    os.environ[f"X{k}"] = "1"
end = time.monotonic() + 1.0

def work(m, q):
    m_, q_ = (ctypes.c_void_p(x.ctypes.data) for x in (m, q))
    step = library.polhode_step  # without the interpreter's lock
    while time.monotonic() < end:
        for _ in range(500):
            CALL

threads = [threading.Thread(target=work, args=(m.copy(), q.copy())) for _ in range(2)]
for thread in threads:
    thread.start()
k = 0
while time.monotonic() < end:
    os.environ[f"Y{k}"] = str(k)
    k += 1
for thread in threads:
    thread.join()
"""
CALL = "step(method, one, I_, zero, m_, q_, number, h_, zero, one, number, m_, q_, None)"


def test_the_environment_may_change_while_compiled_code_steps() -> None:
    """The default number of threads is not read from the environment in a call."""
    script = ENVIRONMENT.replace("CALL", CALL)
    done = run(script)
    assert done.returncode == 0, done.stderr
