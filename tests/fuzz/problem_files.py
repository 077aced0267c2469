"""Problem files of ``python -m polhode``: the right result, or one line that says what is wrong.

Documents are made from a sound one: other numbers, values of other types, nested lists and tables,
long, quoted, dotted and foreign keys, and the text cut, doubled and scrambled.  Whatever it is, the
command line ends with exit code 0 and the states that the library gives, or with 2 and one line on
the error stream that names the file; it never takes long.

    python tests/fuzz/problem_files.py --count 10000 --seed 1
"""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from numpy.random import Generator
from seeded import main

import polhode as ph
from polhode.cli import commands, problem

DRIVERS = ("example0", "example1", "example2")
#: More steps than this are read but not run.
MOST_STEPS = 60
#: Seconds of processor time that no file of a few kilobytes may take: other programs do not count.
LIMIT = 10.0
#: Characters of the one line, whatever stands in the file.
LINE = 400

Fields = dict[str, Any]


def chance(rng: Generator, p: float) -> bool:
    return bool(rng.random() < p)


def pick(rng: Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


# Documents ----------------------------------------------------------------------------------------


def number(rng: Generator) -> float | int:
    """Mostly of order one, now and then what a double hardly holds."""
    if chance(rng, 0.1):
        extremes = (0, -0.0, 5e-324, 1e-200, 1e200, 1.7976931348623157e308, 2**63, -(10**30))
        return pick(rng, extremes)
    return float(rng.standard_normal())


def sound(rng: Generator) -> Fields:
    """The fields of a problem that every driver takes."""
    fields: Fields = {
        "inertia": rng.uniform(0.5, 2.0, 3).tolist(),
        "m0": rng.standard_normal(3).tolist(),
        "t_end": 0.0,
        "h": float(pick(rng, (0.1, 0.25, -0.5))),
        "u0": rng.standard_normal(3).tolist(),
    }
    fields["t_end"] = fields["h"] * int(rng.integers(1, 20))
    if chance(rng, 0.5):
        fields["q0"] = rng.standard_normal(4).tolist()
    else:
        fields["Q0"] = ph.so3.to_matrix(rng.standard_normal(4)).tolist()
    if chance(rng, 0.3):
        fields["a"], fields["b"] = pick(rng, (([1.0], [1.0]), ([0.5, 0.5], [1.0]), ([0.5], [1.0])))
    return fields


def anything(rng: Generator, depth: int = 0) -> Any:
    """A value of any type that TOML has, nested now and then."""
    kind = int(rng.integers(0, 12 if depth < 3 else 9))
    if kind <= 2:
        return number(rng)
    if kind == 3:
        return pick(rng, (True, False))
    if kind == 4:
        return pick(rng, ("", "1.0", "nan", "x" * 3000, "\u00e9\n\t\"'\\", "\u202e\U0001f600"))
    if kind == 5:
        return pick(rng, (math.nan, math.inf, -math.inf))
    if kind == 6:
        return Raw(pick(rng, ("1979-05-27T07:32:00Z", "1979-05-27", "07:32:00", "0x_1", "1__0")))
    if kind == 7:
        return pick(rng, (10**400, -(10**400), 10**5000, 0xDEADBEEF))
    if kind == 8:
        return Raw(pick(rng, ("1e999", "-1e-999", "+0", "01", "1.", ".5", "{}", "[,]", "[[[", "=")))
    if kind == 9:
        return {pick(rng, ("a", "h", "", "x y")): anything(rng, depth + 1)}
    return [anything(rng, depth + 1) for _ in range(rng.integers(0, 5))]


class Raw(str):
    """Text that goes into the file as it is."""

    __slots__ = ()


def toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return hex(value) if value > 2**64 else str(value) if abs(value) < 2**64 else "-1e400"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(map(toml, value)) + "]"


def key(rng: Generator) -> str:
    """A key that no problem has, or one of its own in another form."""
    kind = int(rng.integers(0, 6))
    if kind == 0:
        return pick(
            rng,
            (
                "k" * 5000,
                '"k"',
                "'h'",
                '""',
                '"a\\nb"',
                '"\\u2028"',
                '"\\u00e9"',
                "\u00e9",
                "a b",
                "-",
                "1",
            ),
        )
    if kind == 1:
        return ".".join(["a"] * int(rng.integers(2, 300)))
    if kind == 2:
        return pick(rng, tuple(problem.FIELDS)) + pick(rng, (".x", "1", " ", '."y"'))
    return pick(rng, ("inertial", "M0", "q", "steps", *problem.FIELDS))


def document(rng: Generator) -> str:
    fields = sound(rng)
    for _ in range(rng.integers(0, 3)):
        name = pick(rng, list(fields))
        kind = int(rng.integers(0, 4))
        if kind == 0:
            fields[name] = anything(rng)
        elif kind == 1 and isinstance(fields[name], list) and fields[name]:
            fields[name][int(rng.integers(len(fields[name])))] = anything(rng, 2)
        elif kind == 2:
            del fields[name]
        else:
            fields[key(rng)] = anything(rng)
        if not fields:
            break
    lines = [f"{name} = {toml(value)}" for name, value in fields.items()]
    if chance(rng, 0.1):
        header = f"[{key(rng)}]"
        lines.insert(
            int(rng.integers(len(lines) + 1)), header if chance(rng, 0.7) else f"[{header}]"
        )
    if chance(rng, 0.03):
        deep = int(rng.integers(100, 3000))
        lines.append(
            pick(rng, ("a = " + "[" * deep, "a = " + "{a=" * deep, "[" + "a." * deep + "a]"))
        )
    if chance(rng, 0.02):
        lines += [f"a.b{i}.c = 1" for i in range(int(rng.integers(100, 1000)))]
    return "\n".join(lines) + "\n"


def scrambled(rng: Generator, text: str) -> bytes:
    """The text with bytes changed, cut out, doubled or put elsewhere."""
    data = bytearray(text.encode())
    for _ in range(rng.integers(1, 4)):
        if not data:
            break
        i, j = sorted(int(x) for x in rng.integers(0, len(data) + 1, 2))
        j = min(j, i + 40)
        kind = int(rng.integers(0, 5))
        if kind == 0:
            data[min(i, len(data) - 1)] = int(pick(rng, b'[]{}="\x27#.,\\\n\r\x00\xff_-+e0 \t'))
        elif kind == 1:
            del data[i:j]
        elif kind == 2:
            data[i:i] = data[i:j]
        elif kind == 3:
            data[i:j] = bytes(reversed(data[i:j]))
        else:
            data[int(rng.integers(len(data))) :] = b""
    return bytes(data)


# The oracle ---------------------------------------------------------------------------------------


def expected(driver: str, arguments: Fields) -> str:
    """The line of the momentum at the end, by steps of the library."""
    if driver == "example1":
        m = ph.integrate(**arguments).m[-1]
    else:
        step = ph.frb_step if driver == "example0" else ph.quat_step
        inertia, h, n_steps = (arguments[name] for name in ("inertia", "h", "n_steps"))
        state = step(inertia, arguments["m0"], arguments["q0"], 0.0)
        m, _ = step(inertia, *state, h, n_steps=n_steps)
    return "  m = " + " ".join(f"{x: .15f}" for x in m)


def check(driver: str, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        file.write(data)
        file.flush()
        path = Path(file.name)
        context = f"{driver} of\n{data[:2000].decode(errors='replace')}\n"
        begun = time.process_time()
        arguments = fault = None
        try:
            arguments = problem.read(path, driver)
        except problem.ProblemError as error:
            fault = str(error)
        if arguments is not None and arguments["n_steps"] > MOST_STEPS:
            return
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = commands.main([driver, str(path)])
        seconds = time.process_time() - begun
        if seconds > LIMIT:
            raise AssertionError(f"{context}took {seconds:.1f} s of processor time")
        line = err.getvalue()
        if fault is not None:
            if code != 2 or out.getvalue():
                raise AssertionError(f"{context}exit code {code}, {out.getvalue()!r}: {fault}")
            # How deep brackets may be depends on how deep the caller is in its own calls.
            deep = max(map(data.count, (b"{", b"["))) > 200 and line.startswith(
                f"polhode: {path}: "
            )
            if not (line == f"polhode: {fault}\n" or deep) or not fault.startswith(str(path)):
                raise AssertionError(f"{context}says {line!r}")
            if len(fault.splitlines()) != 1 or len(fault) > LINE:
                raise AssertionError(f"{context}says {len(fault)} characters, {fault[:3000]!r}")
            return
        if code != 0 or expected(driver, arguments) not in out.getvalue().splitlines():
            raise AssertionError(f"{context}exit code {code}, {out.getvalue()}{line}")


def case(rng: Generator) -> None:
    text = document(rng)
    data = scrambled(rng, text) if chance(rng, 0.4) else text.encode()
    check(pick(rng, DRIVERS), data)


if __name__ == "__main__":
    main(case, __file__)
