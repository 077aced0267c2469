"""Without memory a call raises MemoryError; the process does not end."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs limits of the memory"),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer needs memory"),
]

PROGRAM = """
import ctypes, os, resource, sys, threading
import numpy as np
import polhode as ph

def limit():
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now, now))

inertia, m, q = np.array([1.0, 1.5, 2.2]), np.ones(3), np.array([1.0, 0.0, 0.0, 0.0])
body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
many = np.ones((100_000, 3)), np.tile(q, (100_000, 1))
top = ph.torques.HeavyTop([0.1, 0.2, 0.3])
C = ctypes.CDLL(ph.get_library())
C.polhode_error.restype = ctypes.c_char_p

def every():
    yield lambda: ph.step(inertia, *many, 0.1, threads=2)
    yield lambda: ph.integrate(inertia, *many, 0.1, 9, torque=top, threads=2)
    yield lambda: ph.integrate(inertia, *many, 0.1, 9, torque=lambda m: m, threads=2)
    yield lambda: body.step(*many, 0.1, threads=2)
    yield lambda: body.integrate(*many, 0.1, 9, torque=top)
    yield lambda: ph.RigidBody.from_moments(many[0], np.eye(3))
    yield lambda: ph.TorqueFreeMotion(inertia, m, q)(np.linspace(0.0, 1.0, 1_000_000))
    yield lambda: ph.so3.to_matrix(many[1])
"""

#: Memory for small things only.
LARGE = """
limit()
for call in every():
    try:
        call()
    except MemoryError:
        continue
    raise SystemExit("no MemoryError")
"""

#: A thread that begins when no memory is left.
NONE = """
calls = {
    "step": lambda: ph.step(inertia, m, q, 0.1, threads=2, n_steps=100),
    "flops": lambda: ph.flops("magnus8", attitude="quaternion", hw=0.2),
    "motion": lambda: ph.TorqueFreeMotion(inertia, m, q),
    "body": lambda: body.integrate(m, q, 0.1, 3),
    "C": lambda: C.polhode_method(b"nothing"),
    "message": lambda: C.polhode_error(),
}
call, go = calls[sys.argv[1]], threading.Event()
malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

def work():
    go.wait()
    limit()
    for size in (2**20, 2**16, 2**12, 2**8, 2**6, 2**5, 24):
        while malloc(size):
            pass
    try:
        call()
    except MemoryError:
        pass

thread = threading.Thread(target=work)
thread.start()
go.set()
thread.join()
os.write(1, b"alive")
os._exit(0)
"""


def run(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", PROGRAM + program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_memory_for_a_batch() -> None:
    run(LARGE)


@pytest.mark.parametrize("call", ["step", "flops", "motion", "body", "C", "message"])
def test_without_any_memory_in_a_new_thread(call: str) -> None:
    """The data of a thread have their place before it begins."""
    assert run(NONE, call) == "alive"


def test_import_after_a_module_that_loaded_the_c_plus_plus_library() -> None:
    """The data of threads does not need libstdc++ in the static block."""
    pytest.importorskip("matplotlib")
    program = "import matplotlib.pyplot, polhode; print(polhode.__version__)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
