"""The problem files of the command line: TOML; every error message names line and field."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]

#: More steps than a driver takes in a day.
MOST_STEPS = 10**11

#: Most bytes of a file, many times what the fields need.  The time to parse a dotted key grows
#: with the square of its length: at this limit it is one second.
MOST_BYTES = 2**14

#: Most characters of a key, value or reason in a message.
MOST_SHOWN = 100

FIELDS = ("inertia", "m0", "q0", "Q0", "u0", "h", "t_end", "a", "b")
# Fields that an integration without torque does not use.
TORQUE_FIELDS = ("u0", "a", "b")


class ProblemError(Exception):
    """An invalid problem file; the message is one line that names file, line and field."""


@dataclass(frozen=True)
class Problem:
    """The problem that a driver integrates.

    Attributes
    ----------
    inertia : ndarray, shape (3,)
        Principal moments, in the order of the body axes.
    m0 : ndarray, shape (3,)
        Angular momentum at time 0, body frame.
    attitude0 : ndarray, shape (4,) or (3, 3)
        Quaternion or matrix at time 0, as the file gives it, body to space.
    u0 : ndarray, shape (3,), or None
        Weight in the space frame, for a heavy top.
    h : float
        Length of a step.
    n_steps : int
        Number of steps; h n_steps is the t_end of the file.
    splitting : tuple of two lists, or None
        Coefficients of the free flows and of the kicks of a whole step, as for `integrate`; None
        for the default of the driver.
    unused : tuple of str
        Fields of the file that the driver does not use.
    """

    inertia: Array
    m0: Array
    attitude0: Array
    u0: Array | None
    h: float
    n_steps: int
    splitting: tuple[list[float], list[float]] | None
    unused: tuple[str, ...]


class _File:
    """The fields of one file; `fault` makes the exception for one of them."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = text.splitlines()
        try:
            self.values = tomllib.loads(text)
        except ValueError as error:  # of TOML, or of a number with too many digits
            raise self._syntax_fault(str(error)) from None
        except RecursionError:
            raise ProblemError(f"{name}: brackets are nested too deeply") from None

    def _syntax_fault(self, message: str) -> ProblemError:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
        line = int(place[1]) if place and place[1] else max(len(self.lines), 1)
        words = (re.match(r"""[\s\["']*([A-Za-z_][\w-]*)""", x) for x in self.lines[line - 1 :: -1])
        field = next((word[1] for word in words if word), "no field")
        text = _short(message[: place.start()] if place else message)
        return ProblemError(
            f"{self.name}:{line}: {_shown_name(field)}: {text[:1].lower()}{text[1:]}"
        )

    def fault(self, field: str, message: str) -> ProblemError:
        keys = [_key(line) for line in self.lines]
        # The line of a missing field is the end of the file.
        line = keys.index(field) + 1 if field in keys else max(len(self.lines), 1)
        return ProblemError(f"{self.name}:{line}: {_shown_name(field)}: {message}")

    def required(self, field: str) -> object:
        if field not in self.values:
            raise self.fault(field, "missing, and the driver needs it")
        return self.values[field]

    def number(self, field: str, value: object, label: str = "") -> float:
        label = f"{label} " if label else ""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fault(field, f"{label}must be a number, not {_shown(value)}")
        try:
            result = float(value)
        except OverflowError:
            result = math.inf
        if not math.isfinite(result):
            raise self.fault(field, f"{label}must be finite, not {_shown(value)}")
        return result

    def numbers(self, field: str, value: object, count: int | None = None) -> list[float]:
        what = f"{count} numbers" if count else "numbers"
        if not isinstance(value, list):
            raise self.fault(field, f"must be a list of {what}, not {_shown(value)}")
        if not value or len(value) != (count or len(value)):
            raise self.fault(field, f"must have {what}, not {len(value)}")
        return [self.number(field, x, f"number {i + 1}") for i, x in enumerate(value)]

    def matrix(self, field: str, value: object) -> list[list[float]]:
        if not isinstance(value, list) or len(value) != 3:
            raise self.fault(field, "must be a list of three rows of three numbers")
        return [self.numbers(field, row, 3) for row in value]

    def accepted(self, field: str, call: Callable[[], object]) -> None:
        """Call the library; raise its ValueError as a fault of this field."""
        try:
            call()
        except ValueError as error:
            message = " ".join(str(error).split()).removeprefix(f"{field}: ")
            message = re.sub(r"^\w+ = ", "", message)  # the fault names the field
            raise self.fault(field, message) from None


def _shown(value: object) -> str:
    """A value of the file, as text for a one-line message; long text is cut."""
    try:
        return _short(repr(value))
    except ValueError:  # Python does not print integers of more than 4300 digits
        return "a value of thousands of digits"


def _shown_name(field: str) -> str:
    """A key of the file, as text for a one-line message."""
    return _short(field if field.isprintable() else repr(field))


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _key(line: str) -> str | None:
    """The key that a line of TOML assigns."""
    found = re.match(r"""\s*(?:\[+\s*)?(["']?)([\w-]+)\1\s*[=.\]]""", line)
    return found[2] if found else None


def _attitude(file: _File) -> tuple[str, Array]:
    given = [field for field in ("q0", "Q0") if field in file.values]
    if not given:
        raise file.fault("q0", "missing, and so is Q0: give the attitude as one of the two")
    if len(given) > 1:
        raise file.fault("Q0", "the attitude is given twice, as q0 and as Q0")
    field = given[0]
    value = file.values[field]
    return field, np.array(
        file.numbers(field, value, 4) if field == "q0" else file.matrix(field, value)
    )


def _steps(file: _File, needs_h: bool) -> tuple[float, int]:
    t_end = file.number("t_end", file.required("t_end"))
    if not needs_h and "h" not in file.values:
        return t_end, 1
    h = file.number("h", file.required("h"))
    if h == 0:
        raise file.fault("h", "must not be zero")
    ratio = t_end / h
    if not (0.5 <= ratio < 2**53 and abs(ratio - round(ratio)) <= 1e-9 * ratio):
        raise file.fault("t_end", f"must be a whole number of steps h = {h:g}, not {ratio:g}")
    if ratio > MOST_STEPS:
        raise file.fault("t_end", f"is {ratio:g} steps h = {h:g}, more than {MOST_STEPS:g}")
    return h, round(ratio)


def _splitting(file: _File) -> tuple[list[float], list[float]] | None:
    given = [field for field in ("a", "b") if field in file.values]
    if not given:
        return None
    if len(given) == 1:
        other = "b" if given == ["a"] else "a"
        raise file.fault(given[0], f"given without {other}: a method needs both")
    a, b = (file.numbers(field, file.values[field]) for field in ("a", "b"))
    if all(_adds_to_one(values) for values in (a, b)):
        if abs(len(a) - len(b)) > 1:
            raise file.fault("b", f"cannot alternate: {len(b)} numbers to the {len(a)} of a")
        return a, b
    # The first half of a symmetric scheme that begins with a free flow.  One of the two lists
    # reaches the middle of the step; its last number is used once, all other numbers twice.
    if len(a) - len(b) not in (0, 1):
        raise file.fault(
            "b", f"must have as many numbers as a, which has {len(a)}, or one fewer, not {len(b)}"
        )
    middle = "a" if len(a) > len(b) else "b"
    whole = {
        field: half[: -1 if field == middle else None] + half[::-1]
        for field, half in (("a", a), ("b", b))
    }
    for field, values in whole.items():
        if not _adds_to_one(values):
            total = _total(values)
            got = f"not {total}" if math.isfinite(total) else "and their sum overflows"
            raise file.fault(field, f"the numbers of a whole step must add to 1, {got}")
    return whole["a"], whole["b"]


def _adds_to_one(values: list[float]) -> bool:
    return abs(_total(values) - 1) <= 1e-12


def _total(values: list[float]) -> float:
    """The sum, rounded once; infinite if a partial sum overflows."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def read(path: Path, *, torque: bool) -> Problem:
    """The problem that a file states.

    Parameters
    ----------
    path : Path
        A TOML file with the fields `FIELDS`, of at most `MOST_BYTES` bytes.
    torque : bool
        True for a heavy top, which needs u0 and h. False for a free body; without h it takes one
        step of length t_end.

    Returns
    -------
    Problem
        Shapes are checked, numbers are finite, inertia and attitude are valid.

    Raises
    ------
    ProblemError
        One line that names the file, the line and the field.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ProblemError(f"{path}: longer than {MOST_BYTES} bytes")
        text = content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise ProblemError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ProblemError(f"{path}:{line}: not UTF-8 text") from None
    file = _File(str(path), text)
    for field in file.values:
        if field not in FIELDS:
            near = difflib.get_close_matches(field, FIELDS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIELDS)}"
            raise file.fault(field, f"no such field; {hint}")

    inertia = np.array(file.numbers("inertia", file.required("inertia"), 3))
    m0 = np.array(file.numbers("m0", file.required("m0"), 3))
    field, attitude0 = _attitude(file)
    u0 = np.array(file.numbers("u0", file.required("u0"), 3)) if torque else None
    h, n_steps = _steps(file, needs_h=torque)
    splitting = _splitting(file) if torque else None

    rest, upright = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def try_step(m: Array, attitude: Array) -> object:
        # One thread, so that an invalid POLHODE_NUM_THREADS is not reported as a fault of the file.
        return ph.step(inertia, m, attitude, 0.0, threads=1)

    file.accepted("inertia", lambda: try_step(rest, upright))
    file.accepted(field, lambda: try_step(rest, attitude0))
    file.accepted("m0", lambda: try_step(m0, upright))
    unused = () if torque else tuple(f for f in TORQUE_FIELDS if f in file.values)
    return Problem(inertia, m0, attitude0, u0, h, n_steps, splitting, unused)
