"""The problem files of the command line: TOML, read as the arguments of `integrate`."""

from __future__ import annotations

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

#: The fields and their shapes; u0, a and b are those of a heavy top.
FIELDS: dict[str, tuple[int, ...]] = {
    "inertia": (3,), "m0": (3,), "q0": (4,), "Q0": (3, 3), "u0": (3,), "h": (), "t_end": (),
    "a": (-1,), "b": (-1,),
}  # fmt: skip
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
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"longer than {MOST_BYTES} bytes")
        return _arguments(tomllib.loads(content.decode()), driver)
    except RecursionError:
        raise ProblemError(f"{path}: nested too deeply") from None
    except (TypeError, ValueError) as error:
        text = " ".join(str(error).split())
        text = text if text.isprintable() else ascii(text)
        text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
        raise ProblemError(f"{path}: {text}") from None
    except OSError as error:
        raise ProblemError(f"{path}: {error.strerror or error}") from None


def _arguments(table: dict[str, Any], driver: str) -> dict[str, Any]:
    given = {field: _numbers(field, value) for field, value in table.items()}
    heavy_top = driver == "example1"
    if ("q0" in given) == ("Q0" in given):
        raise ValueError("q0 or Q0, the attitude: give one of the two")
    for field in ("inertia", "m0", "t_end", *(["u0", "h"] if heavy_top else [])):
        if field not in given:
            raise ValueError(f"{field} is missing")
    q0 = given.get("q0", given.get("Q0"))
    if driver == "example0" and "q0" in given:
        q0 = ph.so3.to_matrix(given["q0"])
    if driver == "example2" and "Q0" in given:
        q0 = ph.so3.to_quaternion(given["Q0"])
    h = float(given.get("h", given["t_end"]))
    arguments: dict[str, Any] = {"inertia": given["inertia"], "m0": given["m0"], "q0": q0, "h": h}
    arguments["n_steps"] = _step_count(float(given["t_end"]), h)
    arguments["method"] = "exact" if heavy_top else "frb"
    if heavy_top:
        if ("a" in given) != ("b" in given):
            raise ValueError("a and b: give both")
        arguments["torque"] = ph.torques.HeavyTop(u0=given["u0"])
        arguments["splitting"] = (given["a"], given["b"]) if "a" in given else SPLITTING
    # One thread, so that an invalid POLHODE_NUM_THREADS is not reported as an error of the file.
    ph.integrate(**{**arguments, "n_steps": 0}, threads=1)
    return arguments


def _numbers(field: str, value: Any) -> NDArray[np.float64]:
    if field not in FIELDS:
        raise ValueError(f"no field {field!r}; there are {', '.join(FIELDS)}")
    if any(isinstance(x, bool) for x in (value if isinstance(value, list) else [value])):
        raise TypeError(f"{field} must be real numbers, not true or false")
    array = real_array(field, value).astype(np.float64)
    shape = (array.size,) if FIELDS[field] == (-1,) else FIELDS[field]
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
