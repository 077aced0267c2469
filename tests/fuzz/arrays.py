"""Arrays of every kind at the border of the library, against clean copies of them.

One case calls one public function twice: with C-contiguous arrays of native doubles, and with the
same numbers in arrays of other types, byte orders, strides and alignments, read-only, repeated by
strides of zero, as subclasses, lists and numbers, and with `out=` that is strided, unaligned or
lies over the inputs.  Both give the same bits or the same type of exception; inputs, memory beside
an `out=`, and an `out=` that is refused stay as they were.

    python tests/fuzz/arrays.py --count 100000 --seed 1
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from seeded import main

import polhode as ph

Array = NDArray[Any]
Function = Callable[..., Any]

#: How often numbers are made invalid or shapes do not fit: often enough to meet every check.
SPOILED, MISFIT = 0.1, 0.03
TYPES = ("f8", ">f8", "f4", ">f4", "f2", "g", "i8", "i4", ">i2", "i1", "u8", "u2", "u1", "?")
#: Refused: complex, text, times, objects that are no numbers.
NO_REALS = ("c16", "U5", "m8[s]", "O")
SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e-310, 1e300, -1e300, 1e-160, 1e9, -1.0)


@dataclass
class Argument:
    """One argument: its numbers in the type that the call will see."""

    values: Array
    core: int  # axes of one body
    array_only: bool = False


@dataclass
class Call:
    """One call of a public function, `function(*arrays, out=None or arrays)`."""

    name: str
    function: Function
    arguments: list[Argument]
    #: Shapes of the results, where they can be given as `out=`.
    results: list[tuple[int, ...]] = field(default_factory=list)
    #: Does `out=` refuse what does not fit (ufuncs broadcast to it)?
    strict_out: bool = True


class Subclass(np.ndarray):
    """A subclass that changes nothing."""


# Numbers ------------------------------------------------------------------------------------------


def chance(rng: Generator, p: float) -> bool:
    return bool(rng.random() < p)


def pick(rng: Generator, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def batch_of(rng: Generator, most_axes: int = 3) -> tuple[int, ...]:
    if chance(rng, 0.005):
        return (int(rng.integers(2000, 5000)),)  # more than is converted at a time
    lengths = (0, 1, 2, 3, 5, 9) if chance(rng, 0.2) else (1, 2, 3, 5, 9)
    return tuple(int(pick(rng, lengths)) for _ in range(rng.integers(0, most_axes + 1)))


def part_of(rng: Generator, batch: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `batch`, seldom one that does not."""
    shape = list(batch[int(rng.integers(0, len(batch) + 1)) :] if chance(rng, 0.3) else batch)
    shape = [1 if chance(rng, 0.15) else n for n in shape]
    if shape and chance(rng, MISFIT):
        shape[int(rng.integers(len(shape)))] += int(rng.integers(1, 3))
    return tuple(shape)


def typed(rng: Generator, values: Array, scale: float = 4.0, *, safe: bool = False) -> Array:
    """The numbers, rounded to what a random type holds."""
    values = np.asarray(values, np.float64)
    if chance(rng, SPOILED) and values.size:
        values = values.copy()
        values.flat[int(rng.integers(values.size))] = pick(rng, SPECIAL)
    name = "f8" if chance(rng, 0.4) else pick(rng, TYPES)
    if not safe and chance(rng, 0.01):
        name = pick(rng, NO_REALS)
    kind = np.dtype(name)
    with np.errstate(all="ignore"):
        if kind.kind in "iu":
            whole = np.nan_to_num(np.rint(values * scale), nan=0, posinf=100, neginf=-100)
            info = np.iinfo(kind)
            return np.clip(whole, max(info.min, -(2**40)), min(info.max, 2**40)).astype(kind)
        if name == "m8[s]":
            return np.zeros(values.shape, kind)
        if name == "O":
            return np.full(values.shape, "x", object)
        return values.astype(kind)


def moments(rng: Generator, shape: tuple[int, ...]) -> Array:
    values = rng.uniform(0.5, 2.0, (*shape, 3))
    if chance(rng, 0.2):
        values[..., int(rng.integers(3))] = values[..., 0]
    if chance(rng, 0.1):
        values[:] = np.roll([0.0, 1.5, 1.5], int(rng.integers(3)))
    return values * pick(rng, (1.0, 1.0, 1.0, 1e-47, 1e40))


def vectors(rng: Generator, shape: tuple[int, ...], size: int = 3) -> Array:
    values = rng.standard_normal((*shape, size))
    if chance(rng, 0.2):
        values[..., int(rng.integers(size))] = 0.0
    return values


def matrices(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Rotation matrices; half of them of whole numbers, which are rotations in every type."""
    if chance(rng, 0.5):
        return ph.so3.to_matrix(rng.standard_normal((*shape, 4)))
    turns = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, -1, 0], [1, 0, 0], [0, 0, 1]]])
    return turns[rng.integers(0, 2, shape)].astype(np.float64)


def argument(
    rng: Generator, make: Function, batch: tuple[int, ...], core: int, scale: float = 4.0
) -> Argument:
    shape = part_of(rng, batch)
    values = typed(rng, make(rng, shape), 1.0 if make is matrices else scale)
    if core and chance(rng, MISFIT / 3):
        values = values[..., :-1]
    return Argument(values, core)


def attitude(rng: Generator, batch: tuple[int, ...]) -> Argument:
    if chance(rng, 0.4):
        return argument(rng, matrices, batch, 2)
    return argument(rng, lambda r, s: vectors(r, s, 4), batch, 1)


def number(rng: Generator, batch: tuple[int, ...], size: float = 1.0) -> Argument:
    """One number per body, or one for all."""
    make = lambda r, s: size * r.standard_normal(s)  # noqa: E731
    return argument(rng, make, batch if chance(rng, 0.6) else (), 0)


def body(rng: Generator) -> tuple[tuple[int, ...], list[Argument]]:
    batch = batch_of(rng)
    arguments = [argument(rng, moments, batch, 1), argument(rng, vectors, batch, 1)]
    return batch, [*arguments, attitude(rng, batch)]


def shape_of(arguments: Sequence[Argument]) -> tuple[int, ...]:
    """The common batch; () where the shapes do not fit, which the call refuses anyway."""
    try:
        return np.broadcast_shapes(*(a.values.shape[: a.values.ndim - a.core] for a in arguments))
    except ValueError:
        return ()


# Memory -------------------------------------------------------------------------------------------


def empty_like(
    rng: Generator, shape: tuple[int, ...], kind: np.dtype[Any], plain: float = 0.2
) -> tuple[Array, Array]:
    """An array of this shape somewhere in odd memory, and all bytes of that memory."""
    order = rng.permutation(len(shape))
    steps = rng.integers(1, 4, len(shape)) * rng.choice([-1, 1], len(shape))
    record = 0
    if chance(rng, plain):
        order, steps = np.arange(len(shape)), np.ones(len(shape), int)
    elif not kind.hasobject and chance(rng, 0.15):
        record = int(rng.integers(1, 2 * kind.itemsize))  # a field of a packed record
    lengths = [max(1, shape[a]) * abs(int(steps[a])) for a in order]
    count = prod(lengths)
    offset = int(rng.integers(1, 16)) if chance(rng, 0.15) else 0
    width = kind.itemsize + record
    memory = np.full(offset + count * width + 16, 0x7F, np.uint8)
    if kind.hasobject:
        base: Array = np.full(count, 0, kind)
    elif record:
        fields = np.dtype([("pad", "u1", (record,)), ("x", kind)])
        base = memory[offset : offset + count * width].view(fields)["x"]
    else:
        base = memory[offset : offset + count * width].view(kind)
    view = base.reshape(lengths) if not record else _reshaped(base, lengths, width)
    view = view[(..., *(slice(None, None, int(steps[a])) for a in order))]
    view = view.transpose(np.argsort(order))
    return view[(..., *(slice(0, n) for n in shape))], memory


def _reshaped(base: Array, lengths: list[int], width: int) -> Array:
    """`reshape` of an array with one stride, never a copy."""
    strides = [width * prod(lengths[i + 1 :]) for i in range(len(lengths))]
    return np.lib.stride_tricks.as_strided(base, lengths, strides)


def dressed(rng: Generator, argument: Argument) -> Any:
    """The numbers of an argument in odd memory, or as something that is no array."""
    values = argument.values
    small = values.size <= 60 and values.dtype.kind in "fiu" and values.dtype.itemsize <= 8
    if small and not argument.array_only and chance(rng, 0.08) and values.size:
        return values.tolist()
    if values.ndim == 0 and chance(rng, 0.5):
        return values[()]
    repeated = [a for a in range(values.ndim - argument.core) if values.shape[a] == 1]
    array, _ = empty_like(rng, values.shape, values.dtype)
    array[...] = values
    if repeated and chance(rng, 0.2):  # the same, with a stride of zero
        array = np.lib.stride_tricks.as_strided(
            array, strides=[0 if a in repeated else s for a, s in enumerate(array.strides)]
        )
    if chance(rng, 0.15):
        array = array.view()
        array.flags.writeable = False
    if chance(rng, 0.05):
        array = array.view(pick(rng, (Subclass, np.ma.MaskedArray)))
    return array


@dataclass
class Outputs:
    """The arrays of `out=`, what their memory held, and what the call may do with them."""

    arrays: list[Array]
    memory: list[Array]
    before: list[bytes]
    held: list[Array]
    fit: bool

    @classmethod
    def of(cls, arrays: list[Array], memory: list[Array], fit: bool) -> Outputs:
        held = [np.array(a, copy=True) for a in arrays]
        return cls(arrays, memory, [m.tobytes() for m in memory], held, fit)

    def others_changed(self) -> bool:
        """Has memory changed that belongs to no output?  Puts the old contents back."""
        for array, held in zip(self.arrays, self.held, strict=True):
            if array.flags.writeable:
                array[...] = held
        return any(m.tobytes() != b for m, b in zip(self.memory, self.before, strict=True))


def separate_outputs(rng: Generator, call: Call) -> Outputs:
    """Outputs of their own memory, seldom ones that must be refused."""
    arrays, memory, fit = [], [], True
    for shape in call.results:
        kind = np.dtype("f8")
        if call.strict_out and chance(rng, 0.03):
            kind, fit = np.dtype(pick(rng, ("f4", ">f8", "i8"))), False
        wrong = call.strict_out and chance(rng, 0.03)
        fit &= not wrong
        array, bytes_ = empty_like(rng, (2, *shape) if wrong else shape, kind)
        if chance(rng, 0.03):
            array.flags.writeable = fit = False
        arrays.append(array)
        memory.append(bytes_)
    return Outputs.of(arrays, memory, fit)


def overlapping_outputs(
    rng: Generator, call: Call, arrays: list[Any]
) -> tuple[Outputs, list[Any]] | None:
    """Outputs that lie over inputs: exactly, shifted, reversed, or over each other."""
    inputs = [
        i for i, a in enumerate(call.arguments) if a.values.dtype == np.float64 and a.values.size
    ]
    if not inputs or not all(prod(shape) for shape in call.results):
        return None
    arrays = list(arrays)
    if chance(rng, 0.5):  # an input itself
        outs, memory, taken = [], [], set()
        for shape in call.results:
            same = [i for i in inputs if call.arguments[i].values.shape == shape]
            array, bytes_ = empty_like(rng, shape, np.dtype("f8"))
            if same and chance(rng, 0.8):
                i = pick(rng, same)
                array[...] = call.arguments[i].values
                if i not in taken:
                    arrays[i] = array[::-1] if array.ndim and chance(rng, 0.1) else array
                    if arrays[i] is not array:
                        array[...] = call.arguments[i].values[::-1]
                taken.add(i)
            outs.append(array)
            memory.append(bytes_)
        return Outputs.of(outs, memory, True), arrays
    # All in one piece of memory, wherever they fall.
    some = [i for i in inputs if chance(rng, 0.6)]
    sizes = [call.arguments[i].values.size for i in some]
    out_sizes = [prod(shape) for shape in call.results]
    pool = np.full(max(sizes + out_sizes) + sum(out_sizes) + 8, 7.25)
    used = 0
    for i, size in zip(some, sizes, strict=True):
        if used + size > pool.size:
            break
        start = used + int(rng.integers(0, pool.size - used - size + 1))
        arrays[i] = pool[start : start + size].reshape(call.arguments[i].values.shape)
        arrays[i][...] = call.arguments[i].values
        used = start + size
    outs = []
    for shape, size in zip(call.results, out_sizes, strict=True):
        start = int(rng.integers(0, pool.size - size + 1))
        outs.append(pool[start : start + size].reshape(shape))
    pairs = itertools.combinations(outs, 2)
    apart = not any(np.shares_memory(a, b) for a, b in pairs)
    if not apart and not call.strict_out:
        return None
    return Outputs.of(outs, [pool], apart), arrays


# The oracle ---------------------------------------------------------------------------------------


@dataclass
class Result:
    value: Any
    error: BaseException | None
    warned: list[str]


def attempt(function: Function, *arrays: Any, out: Any = None) -> Result:
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            value, error = function(*arrays, out=out), None
        except Exception as raised:  # whatever it is, the other call must raise the same
            value, error = None, raised
    return Result(value, error, sorted(str(w.message) for w in caught))


def parts(value: Any) -> list[Array]:
    return [np.asarray(v) for v in value] if isinstance(value, tuple) else [np.asarray(value)]


def bits(array: Array) -> tuple[Any, ...]:
    """What must agree: shape, type and every bit, all NaN being one."""
    if array.dtype == np.float64:
        array = np.where(np.isnan(array), np.nan, array)
    return (
        array.shape,
        array.dtype,
        array.tobytes() if not array.dtype.hasobject else list(array.flat),
    )


def clean(argument: Argument) -> Any:
    """The numbers as the library sees them, in an array of its own; no reals stay what they are."""
    values = argument.values
    if values.dtype.kind not in "fiub":
        return values.copy()
    with np.errstate(all="ignore"):
        return np.array(values, np.float64, order="C")


def native(argument: Argument) -> Any:
    """The numbers in an array of their own, of the same type in native byte order."""
    values = argument.values
    return np.array(values, values.dtype.newbyteorder("="), order="C")


def check(rng: Generator, call: Call) -> None:
    if any(prod(shape) > 1 << 22 for shape in call.results):
        return  # two long axes: more work than a thousand other cases
    expected = attempt(call.function, *map(clean, call.arguments))
    arrays = [dressed(rng, a) for a in call.arguments]
    outputs = None
    if call.results and chance(rng, 0.6):
        overlaid = overlapping_outputs(rng, call, arrays) if chance(rng, 0.5) else None
        if overlaid is not None:
            outputs, arrays = overlaid
        else:
            outputs = separate_outputs(rng, call)
    copies = [np.array(a, copy=True) if isinstance(a, np.ndarray) else a for a in arrays]
    single = len(call.results) == 1
    out = None if outputs is None else outputs.arrays[0] if single else tuple(outputs.arrays)
    got = attempt(call.function, *arrays, out=out)
    inputs_held = list(zip(arrays, copies, strict=True))
    failed = _difference(call, outputs, expected, got, inputs_held)
    if failed is not None:  # limits follow the type of the input, such as those of rods
        expected = attempt(call.function, *map(native, call.arguments))
        failed = _difference(call, outputs, expected, got, inputs_held) and failed
    if failed is not None:
        inputs = "\n".join(_told(a, c) for a, c in zip(arrays, copies, strict=True))
        outs = "" if outputs is None else "\n".join(map(_told, outputs.arrays, outputs.held))
        raise AssertionError(f"{call.name}\n{inputs}\nout:\n{outs}\n{failed}")


def _difference(
    call: Call,
    outputs: Outputs | None,
    expected: Result,
    got: Result,
    inputs: list[tuple[Any, Any]],
) -> str | None:
    """What is wrong with a result, if anything is."""
    if outputs is not None and not outputs.fit:
        if not isinstance(got.error, ValueError | TypeError):
            return f"an out= that does not fit passed: {got.error!r}"
    elif type(got.error) is not type(expected.error):
        return f"raised {got.error!r}, clean copies {expected.error!r}"
    if got.error is not None:
        if outputs is not None and any(
            a.tobytes() != h.tobytes() for a, h in zip(outputs.arrays, outputs.held, strict=True)
        ):
            return f"out= was written although {got.error!r}"
        return None
    wanted = parts(expected.value)
    for i, (a, b) in enumerate(zip(parts(got.value), wanted, strict=True)):
        if bits(a) != bits(b):
            return f"result {i} is\n{a!r}\nand of clean copies\n{b!r}"
    if got.warned != expected.warned:
        return f"warned {got.warned}, clean copies {expected.warned}"
    if outputs is None:
        for array, copy in inputs:
            if isinstance(array, np.ndarray) and bits(np.asarray(array)) != bits(np.asarray(copy)):
                return "an input was changed"
        return None
    for i, (a, b) in enumerate(zip(outputs.arrays, wanted, strict=True)):
        if bits(np.asarray(a)) != bits(b):
            return f"out {i} holds\n{a!r}\nand of clean copies\n{b!r}"
    return "memory beside out= was written" if outputs.others_changed() else None


def _told(x: Any, values: Any) -> str:
    """An argument as it lay in memory, with the numbers it had before the call."""
    if not isinstance(x, np.ndarray):
        return repr(x)
    flags = f"{'' if x.flags.aligned else 'un'}aligned{'' if x.flags.writeable else ' read-only'}"
    text = np.array2string(np.asarray(values), threshold=100)
    return f"{type(x).__name__} {x.dtype.str} {x.shape} strides {x.strides} {flags}\n{text}"


# Calls --------------------------------------------------------------------------------------------

METHODS = ph.methods()
SPLITTINGS = [s.name for s in ph.splittings()]
TABLEAUS = [
    ph.rkmk([[0, 0], [0.5, 0]], [0, 1], [0, 0.5]),
    ph.rkmk(
        [[0.25, 0.25 - 3**0.5 / 6], [0.25 + 3**0.5 / 6, 0.25]],
        [0.5, 0.5],
        [0.5 - 3**0.5 / 6, 0.5 + 3**0.5 / 6],
    ),
]


def method_of(rng: Generator) -> tuple[Any, dict[str, Any], int]:
    """A method, options of it, and how many steps it wants."""
    if chance(rng, 0.3):
        return pick(rng, ("exact", "frb")), {}, 1
    if chance(rng, 0.05):
        return pick(rng, TABLEAUS), {}, 1
    method = pick(rng, METHODS)
    options = {}
    for name in ("energy_correction", "cayley"):
        if name in method.options and chance(rng, 0.2):
            options[name] = True
    return method.name, options, max(1, method.history)


def state_shapes(arguments: Sequence[Argument], q: Argument) -> list[tuple[int, ...]]:
    batch = shape_of(arguments)
    return [(*batch, 3), batch + q.values.shape[q.values.ndim - q.core :]]


def case_step(rng: Generator) -> Call:
    batch, arguments = body(rng)
    arguments.append(number(rng, batch))
    method, options, n_steps = method_of(rng)
    n_steps += int(rng.integers(0, 3)) if chance(rng, 0.3) else 0
    threads = pick(rng, (None, None, 1, 2))

    def function(*a: Any, out: Any) -> Any:
        return ph.step(*a, method=method, n_steps=n_steps, out=out, threads=threads, **options)

    name = f"step, method={method!r}, n_steps={n_steps}, threads={threads}, {options}"
    return Call(name, function, arguments, state_shapes(arguments, arguments[2]))


def case_frb(rng: Generator) -> Call:
    batch, arguments = body(rng)
    arguments.append(number(rng, batch))
    routine = ph.frb_step if arguments[2].core == 2 else ph.quat_step
    function = lambda *a, out: routine(*a, out=out)  # noqa: E731
    return Call(routine.__name__, function, arguments, state_shapes(arguments, arguments[2]))


def case_motion(rng: Generator) -> Call:
    batch, arguments = body(rng)
    arguments.append(number(rng, (*batch_of(rng, 1), *batch), 10.0))
    threads = pick(rng, (None, None, 2))

    def function(inertia: Any, m: Any, q: Any, t: Any, out: Any) -> Any:
        motion = ph.TorqueFreeMotion(inertia, m, q)
        result = motion(t, out=out, threads=threads)
        return (*result, motion.period, np.asarray(motion.regime, dtype="U"))[: 2 if out else 4]

    def both(*a: Any, out: Any) -> Any:
        return function(*a, out=out)[:2]

    results = state_shapes(arguments, arguments[2]) if chance(rng, 0.7) else []
    return Call("TorqueFreeMotion", both if results else function, arguments, results)


def model_of(rng: Generator, batch: tuple[int, ...]) -> tuple[str, Function, list[Argument]]:
    """A torque model: its name, what makes it of arrays, and its arguments."""
    t = ph.torques
    vector = lambda: argument(rng, vectors, batch if chance(rng, 0.4) else (), 1)  # noqa: E731
    one = lambda: number(rng, batch if chance(rng, 0.4) else ())  # noqa: E731
    inertia = argument(rng, moments, batch if chance(rng, 0.4) else (), 1)
    count = int(rng.integers(1, 5))
    times = Argument(typed(rng, np.cumsum(rng.uniform(0.3, 1.0, count))), 1)
    samples = Argument(typed(rng, vectors(rng, (count, *part_of(rng, batch)))), 1)
    models: list[tuple[str, Function, list[Argument]]] = [
        ("HeavyTop", t.HeavyTop, [vector(), vector()]),
        ("LagrangeTop", t.LagrangeTop, [one()]),
        ("SoftWall", lambda a, c: t.SoftWall("physical", a, c), [vector(), one()]),
        (
            "GravityGradient",
            lambda n, r, i: t.GravityGradient(n, r, velocity=(0.3, 0.5, 0.8), inertia=i),
            [one(), vector(), inertia],
        ),
        (
            "Vessel",
            lambda a, b, c, d, i: t.Vessel(a, b, c, d, inertia=i),
            [one(), one(), one(), vector(), inertia],
        ),
        ("Dipole", t.Dipole, [vector(), vector()]),
        ("Damping", lambda d, i: t.Damping(np.abs(d), "space", inertia=i), [vector(), inertia]),
        ("Gyrostat", lambda v, x, i: t.Gyrostat(v, x, inertia=i), [samples, times, inertia]),
        ("Constant", lambda v: t.Constant(v, "space"), [vector()]),
        ("Prescribed", lambda v, x: t.Prescribed(v, times=x), [samples, times]),
    ]
    return pick(rng, models)


def case_model(rng: Generator) -> Call:
    """The torque, potential and derivative of a model, called by the user."""
    batch = batch_of(rng, 2)
    name, make, own = model_of(rng, batch)
    arguments = [*own, argument(rng, vectors, batch, 1), attitude(rng, batch)]
    what = pick(rng, ("torque", "potential", "derivative"))

    def function(*a: Any, out: Any) -> Any:
        model, m, q = make(*a[:-2]), *a[-2:]
        return model.potential(0.7, q) if what == "potential" else getattr(model, what)(0.7, m, q)

    return Call(f"{name}.{what}", function, arguments)


def case_integrate(rng: Generator) -> Call:
    batch, arguments = body(rng)
    n_steps = int(rng.integers(0, 4))
    arguments.append(number(rng, (n_steps,), 0.3))
    kind = pick(rng, ("none", "function", "model", "model"))
    name, make, own = model_of(rng, batch) if kind == "model" else (kind, None, [])
    seed = int(rng.integers(2**31))
    options: dict[str, Any] = {"save_every": int(rng.integers(1, 3))}
    if chance(rng, 0.4):
        takers = [m for m in METHODS if m.takes_torque]
        method = pick(rng, takers)
        options |= {"splitting": None, "method": method.name}
        n_steps = n_steps if arguments[3].values.ndim else max(n_steps, method.history)
    else:
        options |= {
            "splitting": pick(rng, SPLITTINGS),
            "method": pick(rng, ("exact", "exact", "magnus4")),
        }
        options["compensated"] = chance(rng, 0.2)

    def torque(t: float, q: Array) -> Array:
        """In odd memory, the same numbers at every call."""
        field = 0.1 * np.asarray(q)[..., :3] if q.shape[-1] == 4 else 0.1 * q[..., 0]
        result, _ = empty_like(np.random.default_rng(seed), field.shape, np.dtype("f8"))
        result[...] = field
        return result

    def function(inertia: Any, m: Any, q: Any, h: Any, *more: Any, out: Any) -> Any:
        given = {"none": None, "function": torque}.get(kind) if make is None else make(*more)
        run = ph.integrate(inertia, m, q, h, n_steps, torque=given, **options)
        return run.t, np.asarray(run.m), np.asarray(run.q)

    return Call(
        f"integrate, n_steps={n_steps}, torque {name}, {options}", function, [*arguments, *own]
    )


def case_rate(rng: Generator) -> Call:
    batch = batch_of(rng, 2)
    q = attitude(rng, batch)
    order, n_steps = int(pick(rng, (2, 4, 6, 8))), int(rng.integers(0, 3))
    # One step length per body is for single steps.
    h = number(rng, batch if n_steps == 1 else (), 0.5)
    called = chance(rng, 0.3)
    if called:
        h, w = number(rng, (), 0.5), argument(rng, vectors, batch, 1)
    else:
        values = vectors(rng, (n_steps, order // 2, *part_of(rng, batch)))
        w = Argument(typed(rng, values), 1, array_only=True)

    def function(q: Any, h: Any, w: Any, out: Any) -> Any:
        return ph.attitude_from_rate((lambda t: w) if called else w, q, h, n_steps, order=order)

    return Call(f"attitude_from_rate, order={order}, n_steps={n_steps}", function, [q, h, w])


def case_log(rng: Generator) -> Call:
    batch = batch_of(rng, 2)
    increments = chance(rng, 0.5)
    order, rows = int(pick(rng, (2, 4, 6) if increments else (1, 2, 4, 6))), int(rng.integers(1, 9))
    t = typed(rng, np.cumsum(rng.uniform(0.1, 1.0, rows)), 64.0)
    w = typed(rng, vectors(rng, (rows - increments, *part_of(rng, batch))))

    def function(q: Any, t: Any, w: Any, out: Any) -> Any:
        return ph.attitude_from_rate(w, q, t=t, order=order, increments=increments)

    arguments = [
        attitude(rng, batch),
        Argument(t, 1, array_only=True),
        Argument(w, 1, array_only=True),
    ]
    return Call(f"attitude_from_rate, order={order}, increments={increments}", function, arguments)


def case_quantity(rng: Generator) -> Call:
    _, (inertia, m, q) = body(rng)
    name = pick(rng, ("momentum", "omega", "energy", "casimir", "momentum_spatial"))
    arguments = {"casimir": [m], "momentum_spatial": [m, q]}.get(name, [inertia, m])

    def function(*a: Any, out: Any) -> Any:
        return getattr(ph, name)(*a)

    return Call(name, function, arguments)


def tensors(rng: Generator, shape: tuple[int, ...]) -> Array:
    Q = ph.so3.to_matrix(rng.standard_normal((*shape, 4)))
    I = rng.uniform(1.0, 1.9, (*shape, 3))
    tensor = (Q * I[..., None, :]) @ np.swapaxes(Q, -1, -2)
    tensor = np.tril(tensor) + np.swapaxes(np.tril(tensor, -1), -1, -2)
    return np.rint(4 * tensor) + 2 * np.eye(3) if chance(rng, 0.3) else tensor


def case_rigid_body(rng: Generator) -> Call:
    batch = batch_of(rng, 2)
    make: Function
    if chance(rng, 0.5):
        own = [argument(rng, tensors, batch, 2, scale=1.0)]
        make = ph.RigidBody
    elif chance(rng, 0.5):
        own = [
            argument(rng, lambda r, s: r.uniform(1.0, 1.9, (*s, 3)), batch, 1),
            argument(rng, matrices, batch, 2),
        ]
        make = ph.RigidBody.from_moments
    else:
        points = int(rng.integers(2, 5))
        own = [
            argument(rng, lambda r, s: r.uniform(0.5, 2.0, (*s, points)), batch, 1),
            argument(rng, lambda r, s: r.standard_normal((*s, points, 3)), batch, 2),
        ]
        make = ph.RigidBody.from_points
    state = [argument(rng, vectors, batch, 1), attitude(rng, batch), number(rng, batch)]
    what = pick(rng, ("parts", "step", "motion", "integrate", "omega", "energy", "momentum"))
    n = len(own)

    def function(*a: Any, out: Any) -> Any:
        rigid, (m, q, h) = make(*a[:n]), a[n:]
        if what == "parts":
            return rigid.moments, rigid.axes, rigid.tensor
        if what == "step":
            return rigid.step(m, q, h, out=out)
        if what == "motion":
            return rigid.motion(m, q)(h, out=out)
        if what == "integrate":
            run = rigid.integrate(m, q, next(iter(np.ravel(h)), 0.0), 2)
            return run.t, np.asarray(run.m), np.asarray(run.q)
        return getattr(rigid, what)(m)

    arguments = [*own, *state]
    results = []
    if what in ("step", "motion") and shape_of(state) == shape_of(arguments):
        results = state_shapes(arguments, state[1])
    return Call(f"RigidBody ({make.__name__}), {what}", function, arguments, results)


ELLIPTIC = {"agm": 2, "rf": 3, "rc": 2, "rd": 3, "rj": 4}
LEGENDRE = {"jacobi": 2, "ellip_f": 2, "ellip_k": 1, "ellip_pi": 3, "ellip_pi_complete": 2}


def case_elliptic(rng: Generator) -> Call:
    batch = batch_of(rng)
    name = pick(rng, [*ELLIPTIC, *LEGENDRE])
    with_kc2 = name in LEGENDRE and chance(rng, 0.5)
    count = ELLIPTIC.get(name) or LEGENDRE[name] + with_kc2
    make = lambda r, s: r.uniform(-0.2, 1.2, s)  # noqa: E731
    arguments = [argument(rng, make, batch, 0) for _ in range(count)]
    for a in arguments:  # what NumPy does not cast to real numbers is its own matter
        if a.values.dtype.kind not in "fiub":
            a.values = a.values.astype("U5").astype(object)

    def function(*a: Any, out: Any) -> Any:
        kwargs = {"kc2": a[-1]} if with_kc2 else {}
        kwargs |= {} if out is None else {"out": out}
        return getattr(ph.elliptic, name)(
            *a[: count - with_kc2], dtype=float, casting="same_kind", **kwargs
        )

    shape = shape_of(arguments)
    return Call(
        f"elliptic.{name}",
        function,
        arguments,
        [shape] * (4 if name == "jacobi" else 1),
        strict_out=False,
    )


def case_so3(rng: Generator) -> Call:
    batch = batch_of(rng)
    name = pick(rng, ph.so3.__all__)
    q = lambda: argument(rng, lambda r, s: vectors(r, s, 4), batch, 1)  # noqa: E731
    v = lambda: argument(rng, vectors, batch, 1)  # noqa: E731
    arguments: list[Argument] = {
        "multiply": lambda: [q(), q()],
        "angle_between": lambda: [q(), q()],
        "slerp": lambda: [q(), q(), number(rng, batch)],
        "rotate": lambda: [q(), v()],
        "exp": lambda: [v()],
        "to_quaternion": lambda: [argument(rng, matrices, batch, 2)],
    }.get(name, lambda: [q()])()
    core = {"to_matrix": (3, 3), "rotate": (3,), "log": (3,), "angle_between": ()}.get(name, (4,))
    shortest = {"shortest": True} if name == "log" and chance(rng, 0.5) else {}
    function = lambda *a, out: getattr(ph.so3, name)(*a, out=out, **shortest)  # noqa: E731
    return Call(f"so3.{name}", function, arguments, [(*shape_of(arguments), *core)])


CALLS: list[tuple[Callable[[Generator], Call], float]] = [
    (case_step, 4.0),
    (case_frb, 0.5),
    (case_motion, 1.0),
    (case_model, 1.0),
    (case_integrate, 1.5),
    (case_log, 0.5),
    (case_rate, 0.7),
    (case_quantity, 0.7),
    (case_rigid_body, 1.5),
    (case_elliptic, 1.0),
    (case_so3, 1.0),
]
_WEIGHTS = np.array([w for _, w in CALLS])


def case(rng: Generator) -> None:
    make = CALLS[int(rng.choice(len(CALLS), p=_WEIGHTS / _WEIGHTS.sum()))][0]
    check(rng, make(rng))


if __name__ == "__main__":
    main(case, __file__)
