"""What one way into the library refuses, every way refuses: one table of invalid values."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same
from input_kinds import REFUSED, TAKEN

import polhode as ph
from polhode.cli import commands

INERTIA, M, Q, H = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 0.1
NAMES = ("inertia", "m", "q", "h")


def integrate(inertia: Any, m: Any, q: Any, h: Any) -> Any:
    trajectory = ph.integrate(inertia, m, q, h, 1)
    return trajectory.m[-1], trajectory.q[-1]


def body(inertia: Any, m: Any, q: Any, h: Any) -> Any:
    return ph.RigidBody.from_moments(inertia).step(m, q, h)


def body_in_other_axes(inertia: Any, m: Any, q: Any, h: Any) -> Any:
    return ph.RigidBody.from_moments(inertia, [0.5, 0.5, -0.5, 0.5000001]).step(m, q, h)


def motion(inertia: Any, m: Any, q: Any, h: Any) -> Any:
    return ph.TorqueFreeMotion(inertia, m, q)(h)


#: Functions of (inertia, m, q, h).
DOORS: dict[str, Callable[..., Any]] = {
    "step": ph.step,
    "step of a method": lambda *x: ph.step(*x, method="imidm", energy_correction=True),
    "step in place": lambda *x: ph.step(*x, out=(np.empty(3), np.empty(4))),
    "quat_step": ph.quat_step,
    "integrate": integrate,
    "body": body,
    "body in other axes": body_in_other_axes,
    "motion": motion,
}


def changed(place: int, value: Any) -> list[Any]:
    arguments: list[Any] = [INERTIA, M, Q, H]
    arguments[place] = value
    return arguments


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", REFUSED)
def test_refused(door: str, kind: str) -> None:
    make, error = REFUSED[kind]
    for place, value in enumerate((INERTIA, M, Q, H)):
        with pytest.raises(error) as refused:
            DOORS[door](*changed(place, make(value)))
        named = str(refused.value).split(" ", 1)[0]
        names = {NAMES[place], NAMES[place] + "0", "moments" if place == 0 else "", "t", "Q"}
        assert named in names, str(refused.value)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", TAKEN)
def test_taken(door: str, kind: str) -> None:
    want = DOORS[door](INERTIA, M, Q, H)
    for place, value in enumerate((INERTIA, M, Q, H)):
        got = DOORS[door](*changed(place, TAKEN[kind](value)))
        same(got[0], want[0])
        same(got[1], want[1])


#: Invalid values: place of the argument, value, part of the message.
INVALID: list[tuple[int, Any, str]] = [
    (0, [1.0, -1.0, 1.0], "a moment of inertia is negative"),
    (0, [1.0, np.nan, 1.0], "must be finite"),
    (0, [1.0, np.inf, 1.0], "must be finite"),
    (0, [0.0, 0.0, 0.0], "all moments of inertia are zero"),
    (0, [0.0, 1.0, 2.0], "needs the other two equal"),
    (2, [0.0, 0.0, 0.0, 0.0], "zero quaternion"),
]


def c_step(inertia: Any, m: Any, q: Any, h: Any) -> Any:
    """A step by the C interface."""
    library = ctypes.CDLL(ph.get_library())
    library.polhode_error.restype = ctypes.c_char_p
    library.polhode_method.argtypes = [ctypes.c_char_p]
    arrays = [np.array(x, np.float64) for x in (inertia, m, q, h)]
    m_out, q_out = np.empty(3), np.empty(4)
    I_, m_, q_, h_, mo, qo = (ctypes.c_void_p(x.ctypes.data) for x in (*arrays, m_out, q_out))
    number, one, zero = ctypes.c_int, ctypes.c_int64(1), ctypes.c_int64(0)
    status = library.polhode_step(
        number(library.polhode_method(b"exact")), one, I_, zero, m_, q_, number(0), h_, zero, one,
        number(0), mo, qo, None,
    )  # fmt: skip
    if status:
        raise ValueError(library.polhode_error().decode())
    return m_out, q_out


@functools.cache
def compiled_step() -> Any:
    numba = pytest.importorskip("numba")

    @numba.njit
    def step(inertia: Any, m: Any, q: Any, h: Any) -> Any:
        return ph.step(inertia, m, q, h)

    return step


def numba_step(*arguments: Any) -> Any:
    return compiled_step()(*map(np.array, arguments[:3]), arguments[3])


def command_line(inertia: Any, m: Any, q: Any, h: Any) -> Any:
    """A step by a problem file; its message without the name of the file."""
    lines = {"inertia": inertia, "m0": m, "q0": q, "t_end": h}
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "p.toml", Path(folder) / "out.npz"
        file.write_text("".join(f"{name} = {value}\n" for name, value in lines.items()))
        text = io.StringIO()
        with contextlib.redirect_stderr(text), contextlib.redirect_stdout(io.StringIO()):
            status = commands.main(["example2", str(file), "--out", str(out)])
        if status:
            raise ValueError(text.getvalue().removeprefix(f"polhode: {file}: "))
        with np.load(out) as saved:
            return saved["m"][-1], saved["q"][-1]


def test_the_command_line_takes_what_the_others_take() -> None:
    m, q = command_line(INERTIA, M, Q, H)
    expected = ph.step(INERTIA, M, Q, H, method="frb")
    same(m, expected[0])
    same(q, expected[1])


@pytest.mark.parametrize("door", [*DOORS, "C", "numba", "command line"])
def test_invalid_values_have_one_message(door: str) -> None:
    others = {"C": c_step, "numba": numba_step, "command line": command_line}
    function = {**DOORS, **others}[door]
    for place, value, message in INVALID:
        with pytest.raises(ValueError, match=message) as refused:
            function(*changed(place, value))
        if message == "must be finite" and door == "command line":  # for all fields, m0 too
            assert str(refused.value) == f"{NAMES[place]} must be finite\n"
        elif "body" not in door or place > 0:
            place_in_call = str(refused.value).split(" = ")[0]
            assert place_in_call.removesuffix("0").removesuffix("[0]") == NAMES[place]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("door", [*DOORS, "C", "numba"])
def test_not_finite_gives_nan(door: str, bad: float) -> None:
    function = {**DOORS, "C": c_step, "numba": numba_step}[door]
    for place, value in ((1, [0.3, bad, 0.8]), (2, [1.0, bad, 0.0, 0.0]), (3, bad)):
        if door == "integrate" and place == 3:
            continue  # h of all bodies: refused
        m, q = function(*changed(place, value))
        assert np.isnan(m).all() or place == 2
        assert np.isnan(q).all()


#: Whole numbers that every way refuses.
COUNTS: dict[str, list[Any]] = {
    "n_steps": [1.5, 1.0, np.float64(2.0), "1", None, -1, 2**62 + 1, 2**70, 1j],
    "threads": [0, -2, 4097, 2**32 + 1, 2**70, 1.0, 1.9, float("nan"), "2", 1j],
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda x: ph.step(INERTIA, M, Q, H, **{name: x}),
        lambda x: ph.frb_step(INERTIA, M, np.eye(3), H, **{name: x}),
        lambda x: ph.RigidBody(np.diag(INERTIA)).step(M, Q, H, **{name: x}),
    ]
    if name == "n_steps":
        calls += [
            lambda x: ph.integrate(INERTIA, M, Q, H, x),
            lambda x: ph.attitude_from_rate(lambda t: M, Q, H, x),
        ]
    else:
        calls += [
            lambda x: ph.integrate(INERTIA, M, Q, H, 1, threads=x),
            lambda x: ph.TorqueFreeMotion(INERTIA, M, Q)(H, threads=x),
        ]
    for call in calls:
        for value in COUNTS[name]:
            with pytest.raises((ValueError, TypeError), match=name):
                call(value)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_in_compiled_code(name: str) -> None:
    numba = pytest.importorskip("numba")
    inertia, m, q = map(np.array, (INERTIA, M, Q))

    @numba.njit
    def steps(x: Any) -> Any:
        return ph.step(inertia, m, q, 0.1, n_steps=x)

    @numba.njit
    def threads(x: Any) -> Any:
        return ph.step(inertia, m, q, 0.1, threads=x)

    call = {"n_steps": steps, "threads": threads}[name]
    for value in COUNTS[name]:
        if isinstance(value, str | None) or (isinstance(value, int) and value > 2**63):
            continue  # no numbers of numba
        with pytest.raises((ValueError, numba.TypingError), match=name):
            call(value)
    call(np.int32(1))


@pytest.mark.parametrize("kind", [k for k in REFUSED if k not in ("masked", "None")])
def test_refused_in_compiled_code(kind: str) -> None:
    """Before polhode sees them, numba strips masks and units of arrays, and refuses objects."""
    step, make = compiled_step(), REFUSED[kind][0]
    numba = pytest.importorskip("numba")
    for place, value in enumerate((INERTIA, M, Q, H)):
        arguments = [np.array(x) for x in changed(place, 0.0)]
        arguments[place] = make(value)
        with pytest.raises(numba.TypingError) as refused:
            step(*arguments)
        text = str(refused.value)
        assert f"polhode: {NAMES[place]} must have" in text or f"argument {place}: " in text


def test_numbers_without_axes_in_compiled_code() -> None:
    want = ph.step(INERTIA, M, Q, 1.0)
    for h in (1.0, np.array(1.0)):
        got = numba_step(INERTIA, M, Q, h)
        same(got[0], want[0])
        same(got[1], want[1])


@pytest.mark.parametrize("value", ["1j", None, [1.0], "x", np.array([1.0, 2.0])])
def test_options(value: Any) -> None:
    for call in (
        lambda: ph.step(INERTIA, M, Q, H, method="imidm", energy_correction=value),
        lambda: ph.integrate(INERTIA, M, Q, H, 1, method="imidm", energy_correction=value),
        lambda: ph.flops("imidm", energy_correction=value),
    ):
        with pytest.raises((TypeError, ValueError), match="energy_correction"):
            call()


@pytest.mark.parametrize("kind", [k for k in REFUSED if "object" not in k and k != "date"])
def test_coefficients(kind: str) -> None:
    make, error = REFUSED[kind]
    with pytest.raises(error, match=r"^b "):
        ph.rkmk([[0.0, 0.0], [0.5, 0.0]], make([0.0, 1.0]), [0.0, 0.5])


ENVIRONMENT = """
import os, sys
sys.path.insert(0, {folder!r})
import polhode as ph
from test_doors import H, INERTIA, M, Q, c_step

want = c_step(INERTIA, M, Q, H)
os.environ["POLHODE_NUM_THREADS"] = "two"
for call in (
    lambda: ph.step(INERTIA, M, Q, H),
    lambda: ph.integrate(INERTIA, M, Q, H, 1),
    lambda: ph.TorqueFreeMotion(INERTIA, M, Q)(H),
):
    try:
        call()
    except ValueError as error:
        assert "POLHODE_NUM_THREADS must be -1 or 1 ... 4096, not two" in str(error)
    else:
        raise SystemExit("taken")
assert ph.build_info()["threads_default"] == "two"
c_step(INERTIA, M, Q, H)  # the library has read the environment when it was loaded
os.environ["POLHODE_NUM_THREADS"] = "2"
assert ph.build_info()["threads_default"] == 2
ph.step(INERTIA, M, Q, H)
"""


def test_the_environment() -> None:
    """Python reads os.environ in each call, the C interface when it is loaded."""
    program = ENVIRONMENT.format(folder=str(Path(__file__).parent))
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {k: v for k, v in os.environ.items() if k != "POLHODE_NUM_THREADS"}
    for value in (None, "0", "1.5", " 2", "4097"):
        extra = {} if value is None else {"POLHODE_NUM_THREADS": value}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**environment, "PYTHONPATH": path, **extra},
            capture_output=True,
            text=True,
            check=False,
        )
        if value is None:
            assert done.returncode == 0, done.stderr
        else:
            assert "POLHODE_NUM_THREADS must be" in done.stderr
