"""The problem files of the command line: TOML, read as the arguments of `integrate`."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from polhode._arrays import real_array

#: More steps than a driver takes in a day.
MOST_STEPS = 10**11
#: Most bytes of a file. The time to parse a dotted key grows with the square of its length: at this
#: limit it is one second.
MOST_BYTES = 2**14
#: Most characters of a message.
MOST_SHOWN = 200

FIELDS = ("inertia", "m0", "q0", "Q0", "u0", "h", "t_end", "a", "b")
#: Fields that an integration without torque does not use.
TORQUE_FIELDS = ("u0", "a", "b")
SHAPES = {"inertia": (3,), "m0": (3,), "q0": (4,), "Q0": (3, 3), "u0": (3,), "h": (), "t_end": ()}
#: The splitting of a heavy top.
SPLITTING = "rkn6_14"


class ProblemError(Exception):
    """An invalid problem file; the message is one line that names the file."""


def read(path: Path, driver: str) -> dict[str, Any]:
    """The arguments of `integrate` for the problem that a TOML file states.

    The driver "example1" is a heavy top, which needs u0 and h. Others are free bodies, without h in
    one step of length t_end: by rotation matrix in "example0", by quaternion in "example2". Raises
    ProblemError, one line that names the file, and the field or the line of an error of TOML.
    """
    try:
        return _arguments(_table(path), driver)
    except RecursionError:
        raise ProblemError(f"{path}: nested too deeply") from None
    except (TypeError, ValueError) as error:
        text = " ".join(str(error).split())
        text = text if text.isprintable() else ascii(text)
        text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
        raise ProblemError(f"{path}: {text}") from None
    except OSError as error:
        raise ProblemError(f"{path}: {error.strerror or error}") from None


def unused(path: Path, driver: str) -> list[str]:
    """The fields of a valid file that the driver does not use."""
    return [] if driver == "example1" else [f for f in TORQUE_FIELDS if f in _table(path)]


def _table(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"longer than {MOST_BYTES} bytes")
    table = tomllib.loads(content.decode())
    for field in table:
        if field not in FIELDS:
            near = difflib.get_close_matches(field[:MOST_SHOWN], FIELDS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIELDS)}"
            raise ValueError(f"no field {field[:MOST_SHOWN]!r}; {hint}")
    return table


def _arguments(table: dict[str, Any], driver: str) -> dict[str, Any]:
    heavy_top = driver == "example1"
    if ("q0" in table) == ("Q0" in table):
        raise ValueError("q0 or Q0, the attitude: give one of the two")
    attitude = "q0" if "q0" in table else "Q0"
    needed = ["inertia", "m0", attitude, "t_end", *(["u0", "h"] if heavy_top else [])]
    for field in needed:
        if field not in table:
            raise ValueError(f"{field} is missing")
    given: dict[str, Any] = {field: _numbers(field, table[field]) for field in table}
    q0 = given[attitude]
    if driver == "example0" and attitude == "q0":
        q0 = ph.so3.to_matrix(q0)
    if driver == "example2" and attitude == "Q0":
        q0 = ph.so3.to_quaternion(q0)
    h = float(given.get("h", given["t_end"]))
    arguments = {"inertia": given["inertia"], "m0": given["m0"], "q0": q0, "h": h}
    arguments["n_steps"] = _step_count(float(given["t_end"]), h)
    arguments["method"] = "exact" if heavy_top else "frb"
    if heavy_top:
        arguments["torque"] = ph.torques.HeavyTop(u0=given["u0"])
        arguments["splitting"] = _splitting(given)
    # One thread, so that an invalid POLHODE_NUM_THREADS is not reported as an error of the file.
    ph.integrate(**{**arguments, "n_steps": 0}, threads=1)
    return arguments


def _numbers(field: str, value: object) -> NDArray[np.float64]:
    if any(isinstance(x, bool) for x in (value if isinstance(value, list) else [value])):
        raise TypeError(f"{field} must be real numbers, not true or false")
    array = real_array(field, value).astype(np.float64)  # type: ignore[arg-type]
    shape = SHAPES.get(field, (array.size,))
    if array.shape != shape or array.size == 0:
        raise ValueError(f"{field} must have shape {shape or '()'}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{field} must be finite")
    return array


def _step_count(t_end: float, h: float) -> int:
    if h == 0:
        raise ValueError("h or t_end is zero")
    ratio = t_end / h
    if not (0.5 <= ratio < 2**53 and abs(ratio - round(ratio)) <= 1e-9 * ratio):
        raise ValueError(f"t_end must be a whole number of steps h = {h:g}, not {ratio:g}")
    if ratio > MOST_STEPS:
        raise ValueError(f"t_end is {ratio:g} steps h = {h:g}, more than {MOST_STEPS:g}")
    return round(ratio)


def _splitting(given: dict[str, Any]) -> Any:
    if "a" not in given and "b" not in given:
        return SPLITTING
    if "a" not in given or "b" not in given:
        raise ValueError("a and b: give both")
    a, b = (given[field].tolist() for field in "ab")
    if not all(_adds_to_one(values) for values in (a, b)) and len(a) - len(b) in (0, 1):
        # The first half of a symmetric scheme that begins with a free flow. The list that reaches
        # the middle of the step uses its last number once, all other numbers are used twice.
        odd = len(a) > len(b)
        a, b = a[: -1 if odd else None] + a[::-1], b[: None if odd else -1] + b[::-1]
    for field, values in (("a", a), ("b", b)):
        if not _adds_to_one(values):
            raise ValueError(f"{field}: the numbers of a whole step must add to 1")
    return a, b


def _adds_to_one(values: list[float]) -> bool:
    return abs(sum(values) - 1) <= 1e-12
