"""The record of a user-defined torque, so that a run continues with the torque of its start.

A torque that is not stored must be passed to `resume` again. Its record in run.json is all text:

======  =======================================================================================
kind    the class of the torque
python  the interpreter and its optimisation: bytecode of another one cannot be compared
code    hashes of bytecode, constants and names, without names of variables, lines, docstring
fixed   defaults, closure, parameters, names of compiled functions
loose   what a function may change while a run goes on: globals, arrays, lists, attributes
======  =======================================================================================

If `kind`, `code` or `fixed` differ, it is another torque. If `loose` differs, it may be another
torque. The record does not include objects of any other kind (classes, modules), the contents of
arrays above 64 MB and of lists above 100,000 items, or a potential, which does not change the
motion.
"""

from __future__ import annotations

import ctypes
import dis
import functools
import hashlib
import sys
import types
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polhode.torques import Torque

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
#: Bytes of the largest array whose contents are compared.
_LARGEST = 2**26
#: Items of the longest list or dictionary whose contents are compared.
_LONGEST = 100_000
_ASSIGNS = ("STORE_DEREF", "DELETE_DEREF", "STORE_GLOBAL", "DELETE_GLOBAL")


def fingerprint(term: Torque) -> dict[str, Any]:
    """The record of a torque."""
    record = Record()
    record.term("torque", term)
    return {
        "kind": type(term).__qualname__,
        "python": f"{sys.implementation.cache_tag} -O{sys.flags.optimize}",
        "code": record.code,
        "fixed": record.fixed,
        "loose": record.loose,
    }


def differences(old: dict[str, Any] | None, new: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The differences that make `new` another torque than `old`, and those that leave it open."""
    if old is None:
        return [], ["version 0.1.0 kept no record of it"]
    if old["kind"] != new["kind"]:
        return [f"a {new['kind']} instead of a {old['kind']}"], []
    sure, open_ = _unequal(old["fixed"], new["fixed"]), _unequal(old["loose"], new["loose"])
    if old["python"] == new["python"]:
        code = old["code"].keys() | new["code"].keys()
        sure += [
            f"the code of {where} differs"
            for where in sorted(code)
            if old["code"].get(where) != new["code"].get(where)
        ]
    elif old["code"]:
        open_.append(f"code of {old['python']} cannot be compared with {new['python']}")
    if not (old["code"] or old["fixed"]):
        open_.append("a compiled function without a name cannot be compared")
    return sure, open_


def _unequal(old: dict[str, str], new: dict[str, str]) -> list[str]:
    nothing = "nothing"
    return [
        f"{where} is {new.get(where, nothing)}, at the start {old.get(where, nothing)}"
        for where in sorted(old.keys() | new.keys())
        if old.get(where) != new.get(where)
    ]


class Record:
    """The record of a torque, to which each part adds its entries.

    Attributes
    ----------
    code, fixed, loose : dict of str
        See the head of this file: place -> content.
    """

    def __init__(self) -> None:
        self.code: dict[str, str] = {}
        self.fixed: dict[str, str] = {}
        self.loose: dict[str, str] = {}
        self._seen: list[object] = []  # functions; closures and globals repeat them

    def term(self, where: str, term: Torque) -> None:
        """A torque."""
        numbers = term.numbers()
        if numbers is not None:
            self.fixed[f"{where}.parameters"] = _of_array(numbers)
        if _is_ours(type(term)):
            term.record(where, self)
        else:
            self._methods(where, type(term))
            self._attributes(where, term)

    def function(self, where: str, function: Any) -> None:
        """Anything that can be called."""
        if any(function is other for other in self._seen):
            return
        self._seen.append(function)
        if isinstance(function, functools.partial):
            for k, value in enumerate(function.args):
                self._value(f"{where}.args[{k}]", value, self.fixed)
            for name, value in function.keywords.items():
                self._value(f"{where}.{name}", value, self.fixed)
            self.function(where, function.func)
        elif isinstance(function, types.MethodType):
            self.function(where, function.__func__)
            self._attributes(where, function.__self__)
        elif hasattr(function, "py_func"):  # compiled by numba at its first call
            self.function(where, function.py_func)
        elif isinstance(function, types.FunctionType):
            self._python(where, function)
        else:
            named = getattr(function, "__qualname__", getattr(function, "__name__", None))
            if named is not None:
                self.fixed[where] = str(named)  # modules move from version to version
            else:
                self._methods(where, type(function))
                self._attributes(where, function)

    def _python(self, where: str, function: types.FunctionType) -> None:
        code = function.__code__
        self.code[where] = _of_code(code, function.__doc__)
        assigned, read = _names(code)
        defaults = function.__defaults__ or ()
        arguments = code.co_varnames[: code.co_argcount]
        own = arguments[len(arguments) - len(defaults) :]
        for name, value in zip(own, defaults, strict=True):
            self._value(f"{where}: {name}", value, self.fixed)
        for name, value in (function.__kwdefaults__ or {}).items():
            self._value(f"{where}: {name}", value, self.fixed)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # not yet bound
                continue
            if name not in assigned:
                self._value(f"{where}: {name}", value, self.fixed)
        for name in sorted(read - assigned):
            if name in function.__globals__:
                self._value(f"{where}: {name}", function.__globals__[name], self.loose)

    def _value(self, where: str, value: Any, kept: dict[str, str]) -> None:
        """A value that a function uses."""
        plain, changeable = _of_plain(value), _of_content(value)
        if plain is not None:
            kept[where] = plain
        elif changeable is not None:
            self.loose[where] = changeable
        elif isinstance(value, Torque):
            numbers = value.numbers()
            if numbers is None:
                self.term(where, value)
            else:
                kept[where] = f"{type(value).__qualname__} {_of_array(numbers)}"
        elif hasattr(value, "py_func") or isinstance(
            value, (types.FunctionType, types.MethodType, functools.partial)
        ):
            self.function(where, value)
        elif not isinstance(value, (type, types.ModuleType)):
            self._attributes(where, value)

    def _methods(self, where: str, kind: type) -> None:
        for part in kind.__mro__:
            for name, method in vars(part).items() if not _is_ours(part) else ():
                if isinstance(method, types.FunctionType):
                    self.function(f"{where}.{name}", method)

    def _attributes(self, where: str, thing: object) -> None:
        slots = [vars(part).get("__slots__", ()) for part in type(thing).__mro__]
        names = {name for some in slots for name in ([some] if isinstance(some, str) else some)}
        for name in sorted(names.union(getattr(thing, "__dict__", ()))):
            content = _of_content(getattr(thing, name, None))
            if content is not None and not name.startswith("__"):
                self.loose[f"{where}.{name}"] = content

    def compiled(self, where: str, function: Any) -> None:
        """A function of numba's, SciPy's or ctypes' kinds."""
        if hasattr(function, "_pyfunc"):  # numba's cfunc
            self.function(where, function._pyfunc)
            return
        if isinstance(
            function, tuple
        ):  # SciPy's LowLevelCallable; its signature is always the same
            function = getattr(function, "function", None)
        symbol = getattr(function, "__name__", None)
        if isinstance(symbol, str):
            self.fixed[where] = symbol
        for part in (getattr(function, "_objects", None) or {}).values():  # of ctypes
            if isinstance(part, ctypes.CDLL):
                self.loose[f"{where}: library"] = Path(str(part._name)).name


def _is_ours(kind: type) -> bool:
    return kind is object or f"{kind.__module__}.".startswith("polhode.torques.")


def _of_plain(value: Any) -> str | None:
    """Numbers, text and tuples of them; equal values give equal texts."""
    if isinstance(value, _PLAIN):
        try:
            text = repr(value.item() if isinstance(value, np.generic) else value)
        except ValueError:  # Python writes integers only up to 4300 digits
            return None
    elif isinstance(value, tuple):
        parts = [_of_plain(part) for part in value]
        if any(part is None for part in parts):
            return None
        text = f"({', '.join(str(part) for part in parts)})"
    else:
        return None
    return _short(text)


def _of_content(value: Any, depth: int = 5) -> str | None:
    """Also arrays, lists and dictionaries; None for another object, but its type in a list."""
    if isinstance(value, np.ndarray):
        return _of_array(value)
    plain = _of_plain(value)
    if plain is not None or not isinstance(value, (list, dict, tuple)):
        return plain
    if not depth or len(value) > _LONGEST:
        return f"{type(value).__qualname__} of {len(value)}"

    def part(of: Any) -> str:
        return _of_content(of, depth - 1) or type(of).__qualname__

    if isinstance(value, dict):
        return _short(f"{{{', '.join(f'{part(k)}: {part(v)}' for k, v in value.items())}}}")
    return _short(f"[{', '.join(map(part, value))}]")


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:80]}... {_hash(text.encode())}"


def _of_array(array: np.ndarray[Any, Any]) -> str:
    text = f"array of shape {array.shape}, {array.dtype}"
    if array.dtype.hasobject or not 0 < array.nbytes <= _LARGEST:
        return text
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{text}, {zlib.crc32(content.data):08x}"


def _of_code(code: types.CodeType, doc: str | None = None) -> str:
    """A hash of the operations of the code, independent of its place and of variable names."""
    constants = [
        constant
        for k, constant in enumerate(code.co_consts)
        if not (k == 0 and doc is not None and constant == doc)
    ]
    parts = [
        code.co_code.hex(),
        getattr(code, "co_exceptiontable", b"").hex(),
        repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)),
        repr(code.co_flags & 0x2C),  # *args, **kwargs, generator
        repr(code.co_names),
        *map(_of_constant, constants),
    ]
    return _hash("\n".join(parts).encode())


def _of_constant(constant: Any) -> str:
    if isinstance(constant, types.CodeType):
        return _of_code(constant)
    if isinstance(constant, (tuple, frozenset)):
        parts = list(map(_of_constant, constant))
        return f"{type(constant).__name__}{parts if isinstance(constant, tuple) else sorted(parts)}"
    return repr(constant)


def _names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Nonlocal and global names that the code assigns, and global names that it reads."""
    assigned, read = set(), set()
    for part in _nested(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in _ASSIGNS:
                assigned.add(str(instruction.argval))
            elif instruction.opname == "LOAD_GLOBAL":
                read.add(str(instruction.argval))
    return assigned, read


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
