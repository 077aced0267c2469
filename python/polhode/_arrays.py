"""Arguments that the core does not read itself: checked, converted, broadcast, allocated.

A call whose arguments are aligned float64 arrays of fitting shapes goes straight to the core, which
looks at the values itself.  Everything else comes through here: other types and byte orders are
converted, shapes and values that do not fit are refused with a message that names the first bad
index and value.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _core

Array = NDArray[np.float64]

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    #: An argument that is an attitude: quaternions, rotation matrices or a SciPy `Rotation`.
    AttitudeLike: TypeAlias = ArrayLike | Rotation
else:
    AttitudeLike = Any

#: A moment closer to zero than this part of the largest counts as zero.
ZERO_MOMENT = 4 * np.finfo(np.float64).eps
#: Largest entry of Q^T Q - 1 that is still taken for a rotation matrix.
ORTHOGONAL = 1e-5
#: Largest one of a rotation matrix whose entries are rounded.
ORTHOGONAL_ROUNDED = 8 * np.finfo(np.float64).eps
#: Axes of an array, as many as NumPy's sorting and broadcasting take.
MOST_AXES = 32
#: Steps that the core can count.
MOST_STEPS = 2**62


def precision(array: NDArray[Any]) -> float:
    """The eps of the numbers of an array: 2^-52, or more for types shorter than double."""
    if array.dtype.kind != "f" or array.dtype.itemsize >= 8:
        return 2.0**-52
    return float(np.finfo(array.dtype).eps)


def tolerance(limit: float, *arrays: NDArray[Any]) -> float:
    """A relative limit on input of double precision, or 64 eps of shorter input if that is more."""
    return max([limit, *(64 * precision(array) for array in arrays)])


def real_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """`value` as an array of real numbers of any type.

    Python's integers beyond 64 bits are doubles here; beyond the largest double they are refused.
    So are masked values, which have no number, and quantities with a unit, which would lose it.
    """
    if type(value) is not np.ndarray:
        refuse_units(name, value)
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            value = np.from_dlpack(value)  # type: ignore[arg-type]
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(f"{name} is a masked array: masked values are not supported")
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of lists of different lengths
        raise ValueError(f"{name} is not an array of numbers: {error}") from error
    if array.dtype == object and array.size and all(type(x) is int for x in array.flat):
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise ValueError(f"{name} has an integer above the largest double, 1.8e308") from None
    if array.dtype.kind not in "fiub":
        how = _advice(name, value, array)
        raise TypeError(f"{name} must be real numbers, not {_kind(array)}{how}")
    return array


def _advice(name: str, value: Any, array: NDArray[Any]) -> str:
    """How to make numbers of an array that has none, if one expression does."""
    tables = hasattr(value, "to_numpy")  # as those of pandas
    dates = tables and all(hasattr(x, "toordinal") for x in array.flat[:1])
    if dates or array.dtype.kind == "M":
        seconds = f"({name} - start) / numpy.timedelta64(1, 's')"
        return f"; with start, the date of time 0, give {seconds}"
    if array.dtype.kind == "m":
        return f"; give {name} / numpy.timedelta64(1, 's')"
    if hasattr(value, "tensor") and hasattr(value, "step"):
        return ": its own methods are step, motion, integrate, energy, momentum and omega"
    return f"; give {name}.to_numpy(float)" if tables else ""


def _kind(array: NDArray[Any]) -> str:
    """What an array has in place of real numbers."""
    if array.dtype.kind in "US":
        return "text"
    if array.dtype != object:
        return str(array.dtype)
    others = (type(x).__name__ for x in array.flat if not isinstance(x, (int, float, np.number)))
    return next(others, "object")


def refuse_units(name: str, value: Any, of: str = "") -> None:
    """Refuse time spans and quantities, as of astropy, pint and unyt, also in lists."""
    if isinstance(value, (list, tuple)):
        for element in value:
            if type(element) is not float and type(element) is not int:
                refuse_units(name, element, "each element")
    elif hasattr(value, "total_seconds"):  # datetime and pandas
        raise TypeError(_has_unit(name, "time", ".total_seconds()", of))
    elif isinstance(value, np.timedelta64):
        raise TypeError(_has_unit(name, "time", " / numpy.timedelta64(1, 's')", of))
    elif hasattr(value, "toordinal"):  # also a unit, in pandas
        raise TypeError(f"{name} must be real numbers, not a date: give the time since a first one")
    elif hasattr(value, "unit") and (hasattr(value, "to_value") or hasattr(value, "value")):
        how = ".to_value(unit)" if hasattr(value, "to_value") else ".value"
        raise TypeError(_has_unit(name, value.unit, how, of))
    elif hasattr(value, "units") and hasattr(value, "magnitude"):
        raise TypeError(_has_unit(name, value.units, ".to(unit).magnitude", of))
    elif hasattr(value, "units") and hasattr(value, "to_value"):  # unyt
        raise TypeError(_has_unit(name, value.units, ".to_value(unit)", of))
    elif hasattr(value, "dims") and hasattr(value, "data"):  # xarray, around an array of any kind
        refuse_units(name, value.data, f"{name}.data")


def _has_unit(name: str, unit: object, how: str, of: str) -> str:
    it = of or (name if name.isidentifier() else "value")
    form = f"x{how} for each element x" if of == "each element" else f"{it}{how}"
    return (
        f"{name} has the unit {str(unit)!r}, which would be lost: give numbers in a consistent set "
        f"of units, {form}"
    )


def closed(array: Array) -> Array:
    """The same numbers, not to be written to, nor to be made writeable."""
    return np.asarray(memoryview(array).toreadonly())  # type: ignore[arg-type]


def batch_shape(name: str, array: NDArray[Any], *core: int) -> tuple[int, ...]:
    """Shape of `array` without its last axes, which must be `core`."""
    _check_axes(name, array.shape)
    n = len(core)
    if array.ndim < n or array.shape[array.ndim - n :] != core:
        expected = "(" + ", ".join(["...", *map(str, core)]) + ")"
        raise ValueError(f"{name} must have shape {expected}, not {array.shape}")
    return array.shape[: array.ndim - n]


def _check_axes(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) > MOST_AXES:
        raise ValueError(f"{name} has {len(shape)} axes; there may be {MOST_AXES}")


def components(name: str, value: ArrayLike, *core: int) -> Array:
    """`value` as an array of doubles whose last axes are `core`."""
    array = real_array(name, value)
    batch_shape(name, array, *core)
    return array.astype(np.float64, copy=False)


def without_rotation(value: Any, core: tuple[int, ...] = (4,)) -> Any:
    """The numbers of a `scipy.spatial.transform.Rotation`; anything else as it is.

    Quaternions, scalar first, of the sign that SciPy holds, or matrices for `core` (3, 3).
    """
    rotations: Any = getattr(sys.modules.get("scipy.spatial.transform"), "Rotation", ())
    if not isinstance(value, rotations):
        return value
    if core == (3, 3):
        return value.as_matrix()
    return np.roll(np.asarray(value.as_quat()), 1, axis=-1)


def attitude_array(name: str, value: AttitudeLike) -> NDArray[Any]:
    """Quaternions, rotation matrices or a SciPy rotation as an array of real numbers."""
    numbers = without_rotation(value)
    if isinstance(numbers, (list, tuple)) and type(next(iter(numbers), 0)).__name__ == "Rotation":
        raise TypeError(f"{name} is a list of Rotation: give Rotation.concatenate({name})")
    return real_array(name, numbers)


def refuse_shape(name: str, array: NDArray[Any], attitude: bool) -> None:
    """Raise the error for an array whose last axes are not those of vectors (attitudes)."""
    if attitude:
        attitude_core(name, array)
    batch_shape(name, array, 3)


def attitude_core(name: str, array: NDArray[Any]) -> tuple[int, ...]:
    """(4,) for quaternions, (3, 3) for rotation matrices."""
    if array.ndim >= 1 and array.shape[-1] == 4:
        return (4,)
    if array.ndim >= 2 and array.shape[-2:] == (3, 3):
        return (3, 3)
    raise ValueError(
        f"{name} must have shape (..., 4) for quaternions or (..., 3, 3) for rotation matrices, "
        f"not {array.shape}"
    )


def broadcast(shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Common shape of named batch shapes."""
    for name, shape in shapes.items():
        _check_axes(name, shape)
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        t, axes = shapes.get("t", ()), max(len(shape) for shape in shapes.values())
        every = f"; each of these times for all: t of shape {(*t, *(1,) * axes)}"
        raise ValueError(
            f"batch shapes do not broadcast: {listed}{every if len(t) == 1 else ''}"
        ) from None


def whole(name: str, value: Any, least: int | None = None) -> int:
    """An argument that is a whole number, of an integer type, and not below `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return number


def one_number(name: str, value: Any) -> float:
    """An argument that is one real number."""
    array = real_array(name, value)
    if array.ndim != 0:
        raise ValueError(f"{name} must be one number, not of shape {array.shape}")
    return float(array)


def times_between(
    name: str, given: NDArray[Any], first: float, last: float, roundings: int
) -> Array:
    """Times from `first` to `last`; those outside by some ulps of the end are the end.

    The end of a run is t0 + n h, rounded, and with n h = T a user writes t0 + T.  NaN may pass.
    """
    low, high = min(first, last), max(first, last)
    times = given.astype(np.float64)
    slack = (8 + roundings) * float(np.spacing(max(abs(low), abs(high))))
    outside = (times < low - slack) | (times > high + slack)
    refuse(name, given, outside, 0, f"must be between {first} and {last}")
    return np.clip(times, low, high)


def thread_count(threads: int | None) -> int:
    """The `threads` argument as the core takes it: 0 for the default."""
    if threads is None:
        return 0
    count = whole("threads", threads)
    if count == 0 or not -1 <= count <= _core.most_threads:
        allowed = f"None, -1 (all cores) or 1 ... {_core.most_threads}"
        raise ValueError(f"threads must be {allowed}, not {count}")
    return count


def step_count(n_steps: int) -> int:
    """The `n_steps` argument: a whole number, not negative."""
    count = whole("n_steps", n_steps)
    if count < 0:
        raise ValueError(f"n_steps must not be negative, got {count}")
    if count > MOST_STEPS:
        raise ValueError(f"n_steps must be at most 2^62, got {count}")
    return count


def refuse(
    name: str, array: NDArray[Any], bad: Any, core: int, why: str | Callable[[Array], str]
) -> None:
    """Raise for the first True of `bad`, if there is one; `why` may be a function of the value."""
    if bad.any():
        raise refusal(name, array, tuple(int(i) for i in np.argwhere(bad)[0]), core, why)


def refusal(
    name: str,
    array: NDArray[Any],
    index: tuple[int, ...],
    core: int,
    why: str | Callable[[Array], str],
) -> ValueError:
    """The error for the value at this index."""
    value = array[index]
    where = f"{name}[{', '.join(map(str, index))}]" if array.ndim > core else name
    reason = why if isinstance(why, str) else why(value.astype(np.float64))
    return ValueError(f"{where} = {value.tolist()}: {reason}")


def check_inertia(inertia: ArrayLike, name: str = "inertia") -> bool:
    """Refuse moments of inertia that no body has; True if some body is a rod.

    Allowed: all positive; or one within 4 eps of the largest from zero and the other two equal to
    1e-9 of the larger (a rod); or two within 4 eps of the largest from zero (a planar rotor).  The
    triangle inequality is not asked for.
    """
    return _core.validate((name, inertia))


def check_attitude(q: ArrayLike, name: str = "q") -> None:
    """Refuse zero quaternions and matrices that are not rotations; NaN and infinity may pass."""
    _core.validate(attitude=(name, q))


def times_transposed(A: Array, B: Array) -> Array:
    """A @ B.T of matrices (..., 3, 3), without BLAS: it ends the process if it has no memory."""
    return np.asarray(_core.so3_rotate_by_matrix(B[..., None, :, :], A))


def orthogonal(Q: Array) -> Array:
    """Rotation matrices, projected where they are off by more than rounding, as a step does."""
    with np.errstate(invalid="ignore", over="ignore"):
        columns = np.swapaxes(Q, -1, -2)
        off = times_transposed(columns, columns) - np.eye(3)
    near = np.abs(off).max(axis=(-2, -1), keepdims=True) <= ORTHOGONAL_ROUNDED
    if near.all():
        return Q
    with np.errstate(invalid="ignore"):
        return np.where(near, Q, polar(Q))  # NaN spreads over its matrix


def polar(Q: Array) -> Array:
    """The orthogonal matrices nearest to matrices within 1e-5 of them."""
    for _ in range(2):  # 1e-5 -> 1e-10 -> rounding
        columns = np.swapaxes(Q, -2, -1)
        off = times_transposed(columns, columns) - np.eye(3)  # symmetric
        Q = Q - 0.5 * times_transposed(Q, off)
    return Q


class Operand:
    """A named argument of a batch: an array whose last axes belong to the body."""

    def __init__(self, name: str, value: ArrayLike, *core: int) -> None:
        self.name = name
        self.array = real_array(name, value)
        self.core = core
        self.batch = batch_shape(name, self.array, *core)

    @property
    def doubles(self) -> Array:
        """The array as doubles."""
        return self.array.astype(np.float64, copy=False)


def attitude_operand(name: str, value: AttitudeLike) -> Operand:
    """An argument that is a quaternion, a rotation matrix or a SciPy rotation per body."""
    array = attitude_array(name, value)
    return Operand(name, array, *attitude_core(name, array))


def set_state(made: Any, state: tuple[None, dict[str, Any]]) -> None:
    """Unpickle an object with slots; its arrays may have odd addresses, which the core refuses."""
    for name, value in state[1].items():
        array = isinstance(value, np.ndarray)
        setattr(made, name, np.require(value, requirements=["C", "A"]) if array else value)


def is_c_doubles(array: NDArray[Any]) -> bool:
    """Whether the core can read the array as it is: native aligned doubles in C order."""
    is_double = array.dtype == np.float64 and array.dtype.isnative
    return is_double and array.flags.aligned and array.flags.c_contiguous


def outputs(out: Any, shapes: Sequence[tuple[str, tuple[int, ...]]]) -> list[Array]:
    """The arrays of `out=`, checked, or new ones where it is None."""
    if out is None:
        return [np.empty(shape) for _, shape in shapes]
    if not isinstance(out, tuple) or len(out) != len(shapes):
        names = ", ".join(name for name, _ in shapes)
        raise TypeError(f"out must be a tuple of {len(shapes)} arrays ({names})")
    for array, (name, shape) in zip(out, shapes, strict=True):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out: {name} must be a NumPy array, not {type(array).__name__}")
        if array.dtype != np.float64 or not array.dtype.isnative:
            raise ValueError(f"out: {name} must be native float64, not {array.dtype}")
        if array.shape != shape:
            raise ValueError(f"out: {name} must have shape {shape}, not {array.shape}")
        if not array.flags.writeable:
            raise ValueError(f"out: {name} is read-only")
        if _core.overlaps_itself(array):
            raise ValueError(f"out: elements of {name} share memory with each other")
    for i, first in enumerate(out):
        for second in out[i + 1 :]:
            if np.shares_memory(first, second):
                raise ValueError("out: the arrays overlap each other")
    return list(out)
