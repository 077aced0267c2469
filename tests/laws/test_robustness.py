"""Calls that once crashed, hung or were not checked, most of them in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_torques
from compare import same
from numpy.typing import NDArray

import polhode as ph
from polhode import _core
from polhode.cli.commands import main

Array = NDArray[np.float64]
SANITIZED = bool(os.environ.get("POLHODE_SANITIZED"))
I, M, Q = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0]


def run(code: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """A program in a separate process, which may crash or hang."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=Path(__file__).parents[1] / "accuracy",
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        check=False,
    )


def ends_well(code: str, timeout: float = 300) -> None:
    done = run(code, timeout)
    assert (done.returncode, done.stderr) == (0, "")


# Empty batches ----------------------------------------------------------------------------------


def test_empty_batches_of_every_model() -> None:
    ends_well(
        """
        import numpy as np, polhode as ph, test_torques
        m = np.zeros((0, 3))
        for attitude in (np.ones((0, 4)), np.zeros((0, 3, 3))):
            for name in test_torques.MODELS:
                for model in (test_torques.models()[name], test_torques.scaled(name, np.ones(0))):
                    assert model.torque(0.0, m, attitude).shape == (0, 3)
                    if model.has_modified:
                        assert model.derivative(0.0, m, attitude).shape == (0, 3)
                    if model.has_potential:
                        assert model.potential(0.0, attitude).shape == (0,)
                    for splitting, method in (("strang", "exact"), (None, "imidm")):
                        traj = ph.integrate([1.0, 2.0, 2.5], m, attitude, 0.1, 3, torque=model,
                                            splitting=splitting, method=method)
                        assert traj.m.shape == (4, 0, 3)
        """
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, ">f8"])
@pytest.mark.parametrize("method", ["exact", "abam_rotation", "imidm"])
def test_an_empty_batch_is_checked_like_any_other(method: str, kind: Any) -> None:
    none, inertia, q = np.zeros((0, 3)), np.array(I), np.array(Q)
    out = (np.zeros((0, 3)), np.zeros((0, 4)))
    for options in ({}, {"out": out}):
        with pytest.raises(ValueError, match="negative"):
            ph.step(np.array([-1, 1, 1], kind), none, q, 0.1, n_steps=9, method=method, **options)
        with pytest.raises(ValueError, match="zero quaternion"):
            ph.step(inertia, none, np.zeros(4, kind), 0.1, n_steps=9, method=method, **options)
        a, b = ph.step(np.array([1, 2, 2], kind), none, q, 0.1, n_steps=9, method=method, **options)
        assert (a.shape, b.shape) == ((0, 3), (0, 4))


# Memory -----------------------------------------------------------------------------------------


@pytest.mark.skipif(SANITIZED, reason="the sanitizer ends a process that asks for so much")
def test_bodies_beyond_memory_are_refused_at_once() -> None:
    """A rod is looked at together with its momentum: here with each of 1e12 bodies."""
    ends_well(
        """
        import numpy as np, polhode as ph
        rods = np.tile([1.0, 1.0, 0.0], (1_000_000, 1, 1))
        m = np.tile([1.0, 1.0, 0.0], (1, 1_000_000, 1))
        q = [1.0, 0.0, 0.0, 0.0]
        for call in (
            lambda: ph.step(rods, m, q, 0.1),
            lambda: ph.step(rods.astype(np.float32), m, q, 0.1),
            lambda: ph.integrate(rods, m, q, 0.1, 2),
            lambda: ph.energy(rods, m),
            lambda: ph.omega(rods, m),
            lambda: ph.TorqueFreeMotion(rods, m, q),
        ):
            try:
                call()
            except MemoryError:
                continue
            raise SystemExit("no MemoryError")
        """,
        timeout=100,
    )


def unaligned(values: Any) -> Array:
    """The same numbers, a byte off."""
    array = np.asarray(values, np.float64)
    result = np.zeros(array.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(array.shape)
    result[...] = array
    assert not result.flags.aligned
    return result


@pytest.mark.parametrize("matrix", [False, True], ids=["quaternion", "matrix"])
def test_unaligned_arrays_are_copied(matrix: bool) -> None:
    """Arrays passed to the core are aligned; the sanitizers of CI check its loads."""
    rng = np.random.default_rng(3)
    m, q = rng.standard_normal((7, 3)), rng.standard_normal((7, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    attitude = ph.so3.to_matrix(q) if matrix else q
    for model in test_torques.models().values():
        calls = [lambda f, x=model: x.torque(0.5, f(m), f(attitude))]
        if model.has_modified:
            calls.append(lambda f, x=model: x.derivative(0.5, f(m), f(attitude)))
        if model.has_potential:
            calls.append(lambda f, x=model: x.potential(0.5, f(attitude)))
        for call in calls:
            same(call(unaligned), call(np.asarray))
    top = test_torques.models()["heavy_top"]
    for torque in (top, top.torque):
        for splitting, method in (("strang", "exact"), (None, "imidm")):
            a, b = (
                ph.integrate(
                    *(f(I), f(m), f(attitude), f([0.1, 0.2]), 2),
                    torque=torque,
                    splitting=splitting,
                    method=method,
                )
                for f in (unaligned, np.asarray)
            )
            same(a.m, b.m)
            same(a.q, b.q)


@pytest.mark.parametrize("name", ["inertia", "m", "attitude", "h", "m_saved", "attitude_saved"])
def test_the_core_works_in_aligned_arrays(name: str) -> None:
    """A copy would take the results away."""
    arguments: dict[str, Any] = {
        "method": 0,
        "options": (),
        "direct": False,
        "inertia": np.array(I),
        "m": np.ones((5, 3)),
        "attitude": np.tile(Q, (5, 1)),
        "matrix": False,
        "compensation": None,
        "by_torque": np.zeros(5, np.bool_),
        "work": None,
        "stages": np.array([[0.0, 1.0, 0.0]]),
        "processor": np.zeros((0, 3)),
        "terms": [],
        "h": np.array(0.1),
        "t0": 0.0,
        "times": None,
        "total_steps": 1,
        "save_every": 1,
        "m_saved": np.empty((2, 5, 3)),
        "attitude_saved": np.empty((2, 5, 4)),
        "threads": 1,
        "start": None,
    }
    _core.Integration(**arguments).run(0, 1)
    arguments[name] = unaligned(arguments[name])
    with pytest.raises(TypeError, match=f"{name} must be an aligned array"):
        _core.Integration(**arguments)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_an_array_of_many_axes_is_refused_or_works(kind: Any) -> None:
    """NumPy has 64 axes, of which some of its functions take 32."""
    many = (1,) * 34
    inertia, m = np.tile(I, (*many, 1)).astype(kind), np.tile(M, (*many, 1)).astype(kind)
    q = np.tile(Q, (*many, 1)).astype(kind)
    calls = [
        lambda: ph.step(inertia, m, q, 0.1),
        lambda: ph.step(I, M, Q, np.full(many, 0.1, kind)),
        lambda: ph.integrate(inertia, m, q, 0.1, 2),
        lambda: ph.integrate(I, M, Q, 0.1, 2, torque=ph.torques.Constant(m)),
        lambda: ph.energy(inertia, m),
        lambda: ph.momentum_spatial(m, q),
        lambda: ph.torques.HeavyTop(m),
        lambda: ph.torques.HeavyTop(M).torque(0.0, m, q),
        lambda: ph.torques.HeavyTop(M).potential(0.0, q),
        lambda: ph.TorqueFreeMotion(inertia, m, q),
        lambda: ph.TorqueFreeMotion(I, M, Q)(np.zeros(many, kind)),
        lambda: ph.RigidBody.from_points(np.ones((*many, 4)), np.ones((*many, 4, 3))),
    ]
    for call in calls:
        message = "axes; there may be 32"
        try:
            call()
        except ValueError as error:
            message = str(error)
        assert "axes; there may be 32" in message


# Threads ----------------------------------------------------------------------------------------


@pytest.mark.skipif(SANITIZED, reason="the sanitizer makes frames larger")
@pytest.mark.parametrize(
    "call",
    [
        "ph.integrate(I, M, Q, 0.1, 5, torque=top)",
        "ph.integrate(I, M, Q, 0.1, 5, torque=top, splitting=None, method=gauss)",
        "ph.integrate(I, M, Q, 0.1, 5, torque=top, splitting=None, method='imidm')",
        "ph.integrate(I, M, Q, 0.1, 5, torque=top.torque, splitting=None, method=gauss)",
        "ph.step(I, M, Q, 20.0, method=gauss)",
        "[ph.step(I, M, Q, 0.1, n_steps=11, method=name) for name in names]",
    ],
)
def test_a_thread_with_a_small_stack(call: str) -> None:
    """Threads of musl have 128 KiB."""
    ends_well(
        f"""
        import threading, warnings
        import numpy as np, polhode as ph
        I, M, Q = {I}, {M}, {Q}
        top = ph.torques.HeavyTop([0.1, 0.2, 0.3])
        # Eight stages: Gauss's rule of two, four times over.
        r = 3**0.5 / 6
        a, b = np.array([[0.25, 0.25 - r], [0.25 + r, 0.25]]) / 4, np.full(2, 0.125)
        A = np.kron(np.tril(np.ones((4, 4)), -1), np.tile(b, (2, 1))) + np.kron(np.eye(4), a)
        names = [m.name for m in ph.methods() if m.name != "rkmk"]
        gauss = ph.rkmk(A, np.tile(b, 4), A.sum(1))
        warnings.simplefilter("ignore")
        ph.integrate(I, M, Q, 0.1, 1)
        threading.stack_size(96 * 1024)
        thread = threading.Thread(target=lambda: {call})
        thread.start()
        thread.join()
        """
    )


@pytest.mark.skipif(SANITIZED, reason="the end of a thread is the sanitizer's there")
@pytest.mark.parametrize(
    "call",
    [
        "ph.step(I, I, q, 0.1, n_steps=20)",
        "ph.step(I, I, q, 0.1, n_steps=20, threads=2)",
        "ph.integrate(I, I, q, 0.1, 20, torque=ph.torques.HeavyTop([0.1, 0.2, 0.3]))",
        "ph.integrate(I, I, q, 0.1, 9, torque=lambda t, m, q: m)",
        "ph.TorqueFreeMotion(I[0], I[0], q[0])(np.linspace(0, 1, 100_000))",
        "ph.energy(I, I)",
    ],
)
def test_the_interpreter_ends_while_a_daemon_thread_works(call: str) -> None:
    """It aborted ten times of ten."""
    ends_well(
        f"""
        import threading, time, numpy as np, polhode as ph
        I = np.tile([1.0, 2, 3], (50_000, 1)); q = np.tile([1.0, 0, 0, 0], (50_000, 1))
        def work():
            while True:
                {call}
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        """
    )


def test_a_second_interpreter_gets_an_import_error() -> None:
    """The import hung in Python 3.11, in a function of pybind11."""
    done = run(
        """
        import faulthandler
        faulthandler.dump_traceback_later(60, exit=True)
        code = '''if True:
            try:
                import polhode
            except ImportError as error:
                print("refused:", error, flush=True)
        '''
        try:
            import _interpreters as interpreters
            interpreters.exec(interpreters.create("legacy"), code)
        except ImportError:
            import _xxsubinterpreters as interpreters
            interpreters.run_string(interpreters.create(), code)
        import polhode
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("refused: polhode")


# The limit of work ------------------------------------------------------------------------------


def test_a_step_that_is_far_too_long_ends() -> None:
    """It took a minute before it was found that there is no root."""
    begun = time.perf_counter()
    with pytest.warns(RuntimeWarning, match="1 body is NaN") as caught:
        traj = ph.integrate(
            [1.3141241708711058, 0.9072201403315827, 2.688290724298358],
            [-0.02870499045275027, -1.5835889083214365, -0.9637572881637517],
            [0.7836444489443992, -0.04793410743422885, 0.8168279035327226, -0.6461483961691021],
            0.2,
            1,
            method="imidm",
            splitting=None,
            torque=ph.torques.Constant([9028779948.8, -16191640534.3, -2064530428.7], "space"),
        )
    assert len(caught) == 1
    assert np.isnan(traj.m[-1]).all()
    # It takes a second; a busy machine may take some.
    assert time.perf_counter() - begun < 20


@pytest.mark.parametrize("threads", [1, 2])
def test_the_limit_of_work_is_of_each_body(threads: int) -> None:
    """Bodies that reach it, or that share a pack with those that do, come out as alone."""
    rng = np.random.default_rng(5)
    inertia, m, q = (rng.uniform(0.6, 3, (24, n)) for n in (3, 3, 4))
    m *= 10.0 ** rng.integers(-1, 7, (24, 1))
    with pytest.warns(RuntimeWarning, match="bodies are NaN"):
        whole = ph.step(inertia, m, q, 1.0, method="bbtrapwd", threads=threads)
    lost = np.isnan(whole[0]).any(-1)
    assert 0 < np.count_nonzero(lost) < 24
    for k in range(24):
        if lost[k]:
            with pytest.warns(RuntimeWarning, match="1 body is NaN"):
                alone = ph.step(inertia[k], m[k], q[k], 1.0, method="bbtrapwd")
        else:
            alone = ph.step(inertia[k], m[k], q[k], 1.0, method="bbtrapwd")
        for a, b in zip(whole, alone, strict=True):
            same(a[k], b)


# The command line -------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise")
@pytest.mark.parametrize("arguments", [["--info"], ["example1"], ["example1", "FILE"]])
def test_the_end_is_quiet_where_nobody_reads(tmp_path: Path, arguments: list[str]) -> None:
    path = tmp_path / "file.toml"
    path.write_bytes((Path(ph.__file__).parent / "data" / "example1.toml").read_bytes())
    arguments = [str(path) if a == "FILE" else a for a in arguments]
    for unbuffered in ([], ["-u"]):
        command = [sys.executable, *unbuffered, "-m", "polhode", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("inertia = " + 8_000 * "[", "nested too deeply"),
        ("inertia = " + 2_000 * "{a=", "nested too deeply"),
        ("inertia = [" + 8_000 * "1" + ", 1, 1]", "digits"),
        (".".join(100_000 * "k") + " = 1", "longer than 16384 bytes"),
        ("h = 0.1\n" + 100_000 * "# no end\n", "longer than 16384 bytes"),
        (".".join(8_000 * "k") + " = 1", "no field 'k'"),
    ],
    ids=["arrays", "tables", "digits", "dotted", "long", "dotted as far as may be"],
)
def test_a_file_is_refused_soon(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "file.toml"
    path.write_text(content)
    begun = time.perf_counter()
    assert main(["example1", str(path)]) == 2
    assert time.perf_counter() - begun < 20  # a second; a busy machine may take some
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("polhode: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_file_without_an_end_is_refused() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("a file of Unix")
    assert main(["example1", "/dev/zero"]) == 2
