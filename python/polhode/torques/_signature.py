"""Compiled functions of SciPy, numba and ctypes: their kind, signature and address."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

#: Types of the arguments of a compiled torque, and the accepted equivalents.
_SIGNATURE = (
    "int64_t",
    "int64_t",
    "int64_t",
    "double",
    "double *",
    "double *",
    "double *",
    "void *",
)
_INTEGERS = ("int64_t", "ssize_t", "npy_intp", "Py_ssize_t", "long long") + (
    ("long",) if ctypes.sizeof(ctypes.c_long) == 8 else ()
)


def is_compiled(function: Any) -> bool:
    """True for a compiled function of a kind that `address_of` supports."""
    return _is_low_level(function) or _is_cfunc(function) or _is_pointer(function)


#: The base class of all function pointers of ctypes.
_Pointer: type = ctypes.CFUNCTYPE(None).__mro__[1]


def _is_low_level(function: Any) -> bool:
    return isinstance(function, tuple) and type(function).__name__ == "LowLevelCallable"


def _is_pointer(function: Any) -> bool:
    return isinstance(function, _Pointer)


def _is_cfunc(function: Any) -> bool:
    """True for a function of numba."""
    return _is_pointer(getattr(function, "ctypes", None)) and hasattr(function, "address")


def address_of(function: Any) -> tuple[int, int]:
    """Addresses of a compiled function and of its data, its signature checked."""
    if _is_low_level(function):
        capsule = tuple.__getitem__(function, 0)
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype = ctypes.c_char_p
        api.PyCapsule_GetPointer.restype = api.PyCapsule_GetContext.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_GetName.argtypes = api.PyCapsule_GetContext.argtypes = [ctypes.py_object]
        name = api.PyCapsule_GetName(capsule)
        _check_signature(_types_of_text(function.signature), function.signature)
        address = api.PyCapsule_GetPointer(capsule, name)
        return address, api.PyCapsule_GetContext(capsule) or 0
    pointer: Any = function.ctypes if _is_cfunc(function) else function
    if not _is_pointer(pointer):
        raise TypeError(
            "a compiled torque must be a scipy.LowLevelCallable, a numba cfunc or a ctypes "
            f"function pointer, not {type(function).__name__}"
        )
    argtypes = getattr(pointer, "argtypes", None)
    if argtypes is None:
        raise ValueError(
            "the signature of the compiled torque is not known: set its argtypes and restype "
            f"(None) for void f({', '.join(_SIGNATURE)})"
        )
    types = [_type_of(x) for x in argtypes]
    result = "void" if pointer.restype is None else _type_of(pointer.restype)
    _check_signature([result, *types], f"{result} ({', '.join(types)})")
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if address is None:
        raise ValueError("the compiled torque is a null pointer")
    return address, 0


def _check_signature(types: Sequence[str], text: str) -> None:
    wanted = ("void", *_SIGNATURE)
    fits = len(types) == len(wanted) and all(
        a == b or (b == "int64_t" and a in _INTEGERS) or (b == "double *" and a == "void *")
        for a, b in zip(types, wanted, strict=True)
    )
    if not fits:
        raise ValueError(
            f"a compiled torque must have the signature void ({', '.join(_SIGNATURE)}), not {text}"
        )


def _types_of_text(signature: str) -> list[str]:
    """Result and arguments of a C signature, without names and without `const`."""
    result, _, arguments = signature.partition("(")
    parts = [result, *arguments.rstrip(") ").split(",")]
    words = (part.replace("*", " * ").split() for part in parts)
    return [" ".join(word for word in part if word != "const") for part in words]


def _type_of(kind: Any) -> str:
    """The C name of a ctypes type."""
    if kind is ctypes.c_void_p:
        return "void *"
    if kind is ctypes.c_double:
        return "double"
    target = getattr(kind, "_type_", None)
    if isinstance(target, type):
        return f"{_type_of(target)} *"
    if kind is ctypes.c_int64 or kind is ctypes.c_ssize_t:
        return "int64_t"
    return str(getattr(kind, "__name__", kind))
