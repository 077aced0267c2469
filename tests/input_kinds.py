"""Ways to write the numbers of an argument, and what becomes of them at every way in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class HasArray:
    """An object that NumPy converts by `__array__`."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value, dtype)


class Quantity(HasArray):
    units, magnitude = "kg", 1.0


def masked(value: Any) -> Any:
    array = np.ma.masked_array(np.array(value, np.float64))
    array[...] = np.ma.masked
    return array


#: Ways to write an argument that is refused, each with the error.
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "masked": (masked, TypeError),
    "with a unit": (Quantity, TypeError),
    "complex": (lambda x: np.array(x, np.complex128), TypeError),
    "complex in an object": (lambda x: HasArray(np.array(x, np.complex128)), TypeError),
    "text": (lambda x: np.array(x).astype(str), TypeError),
    "None": (lambda x: np.full(np.shape(x), None), TypeError),
    "date": (lambda x: np.full(np.shape(x), np.datetime64("2020-01-01")), TypeError),
    "list of complex": (lambda x: np.array(x, np.complex128).tolist(), TypeError),
    "list of text": (lambda x: np.array(x).astype(str).tolist(), TypeError),
    "integer beyond doubles": (
        lambda x: np.full(np.shape(x), 10**400, object).tolist(),
        ValueError,
    ),
}

#: Ways to write an argument that give the bits of doubles.
TAKEN: dict[str, Callable[[Any], Any]] = {
    "array": np.array,
    "tuple": lambda x: tuple(x) if isinstance(x, list) else x,
    "object": HasArray,
    "masked without masks": lambda x: np.ma.masked_array(np.array(x)),
    "long double": lambda x: np.array(x, np.longdouble),
    "other byte order": lambda x: np.array(x, ">f8"),
    "unaligned": lambda x: (
        np.frombuffer(b"\0" + np.array(x).tobytes(), "u1")[1:].view("f8").reshape(np.shape(x))
        if np.ndim(x)
        else x
    ),
    "every other": lambda x: np.repeat(np.array(x), 2, axis=-1)[..., ::2] if np.ndim(x) else x,
    "numbers of NumPy": lambda x: list(np.array(x)) if isinstance(x, list) else np.float64(x),
}
