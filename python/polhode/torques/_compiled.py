"""`polhode.torques.Compiled`; the call is in cpp/include/polhode/torque/compiled.hpp."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from polhode import _core
from polhode._arrays import Array, AttitudeLike
from polhode.torques._function import UserDefined
from polhode.torques._model import from_core, model_index


class Compiled(UserDefined):
    """A user-defined compiled torque, called by the core.

    Parameters
    ----------
    function : scipy.LowLevelCallable, numba cfunc or ctypes function pointer
        A function of the C signature ::

            void f(int64_t n, int64_t first, int64_t stride, double t,
                   const double *m, const double *attitude, double *torque, void *user_data)

        for n bodies, of which the first is number `first` of the batch (in C order), at time t.
        These are all bodies, unless they are `independent`.
        Arrays lie component by component: ``m[k * stride + i]`` is component k of body ``first +
        i``, k = 0, 1, 2; of `attitude` there are four components (quaternion, scalar first) or nine
        (matrix, row by row), in the form of the integration. The function must set all three
        components of `torque`. m and torque are in the body frame, the attitude takes body to
        space. `user_data` is that of the LowLevelCallable, else null.

        Or, for bodies with a mass, a function that also gives a force::

            void f(int64_t n, int64_t first, int64_t stride, double t,
                   const double *x, const double *p, const double *m, const double *attitude,
                   double *force, double *torque, void *user_data)

        with the centres of mass x, their momenta p and the force in the space frame.
    depends_on_m : bool, optional
        Whether the torque or force depends on m or p, as in `Function`.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``, a Python function for `Trajectory.energy`.
    attitude : {None, "quaternion", "matrix"}, optional
        The form of attitude that the function expects. If given, an integration with the other form
        raises ValueError before any work. It should be given: polhode cannot determine it from a C
        function, and a function that expects a quaternion gives wrong results with a matrix.
    independent : bool, optional
        True: the torque on a body depends only on this body. Then the core calls the function for
        blocks of bodies, which is faster for many, and in several threads at once with ``threads``
        above 1.

    Raises
    ------
    TypeError
        If the function is not one of these. Also on pickling: an address is valid in one process.
    ValueError
        If its signature is different, or is not known.

    Notes
    -----
    The function runs without the GIL. Bodies whose torque is NaN become NaN.
    ``integrate(torque=f)`` also accepts the function directly, without `Compiled`.
    """

    in_core = True

    def __init__(
        self,
        function: Any,
        depends_on_m: bool = False,
        potential: Callable[[float, Array], ArrayLike] | None = None,
        attitude: str | None = None,
        independent: bool = False,
    ) -> None:
        if attitude not in (None, "quaternion", "matrix"):
            raise ValueError(f"attitude must be 'quaternion' or 'matrix', not {attitude!r}")
        self._set_potential(potential)
        self.function = function
        self._address, self._user_data, forces = address_of(function)
        self.takes = frozenset("x") if forces else frozenset()
        self.attitude = attitude
        self.independent = bool(independent)
        self.depends_on_m = bool(depends_on_m)
        self._index = model_index("compiled_of_m" if depends_on_m else "compiled")

    def check_attitude(self, matrix: bool) -> None:
        """Raise an error for attitudes that do not have the form `attitude`."""
        form = "matrix" if matrix else "quaternion"
        if self.attitude not in (None, form):
            forms = f"{self.attitude!r}, not {form!r}"
            raise ValueError(f"the compiled torque takes attitudes of the form {forms}")

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        self.check_attitude(matrix)
        none = np.zeros(0)
        extra = self._address, self._user_data, none, none, self.independent
        return self._index, none, *extra, none, bool(self.takes)

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame, shape (..., 3), for bodies treated as the whole batch."""
        if self.takes:
            raise ValueError("the torque of a function that also gives a force is not known alone")
        return from_core(_core.torque, self, t, attitude, m=m)

    def __copy__(self) -> Compiled:
        return self  # nothing of it is changed after it was made

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be pickled: the address of its function belongs to this process; "
            "make the torque again in the other process"
        )

    def __repr__(self) -> str:
        return f"Compiled({self.function!r}, depends_on_m={self.depends_on_m})"


#: Types of the arguments of a compiled torque, and the accepted equivalents.
_SIGNATURE = (*["int64_t"] * 3, "double", *["double *"] * 3, "void *")
#: Of one that also gives a force.
_WITH_FORCE = (*["int64_t"] * 3, "double", *["double *"] * 6, "void *")
_INTEGERS = ["int64_t", "ssize_t", "npy_intp", "Py_ssize_t", "long long"]
_INTEGERS += ["long"] * (ctypes.sizeof(ctypes.c_long) == 8)


def is_compiled(function: Any) -> bool:
    """True for a compiled function of a kind that `address_of` supports."""
    return _is_low_level(function) or _pointer(function) is not None


#: The base class of all function pointers of ctypes.
_Pointer: type = ctypes.CFUNCTYPE(None).__mro__[1]


def _is_low_level(function: Any) -> bool:
    return isinstance(function, tuple) and type(function).__name__ == "LowLevelCallable"


def _pointer(function: Any) -> Any:
    """The function pointer of ctypes, also of a function of numba; None for others."""
    pointer = getattr(function, "ctypes", None) if hasattr(function, "address") else function
    return pointer if isinstance(pointer, _Pointer) else None


def address_of(function: Any) -> tuple[int, int, bool]:
    """Addresses of a compiled function and of its data, and whether it gives a force.

    Its signature is checked.
    """
    if _is_low_level(function):
        capsule = tuple.__getitem__(function, 0)
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype = ctypes.c_char_p
        api.PyCapsule_GetPointer.restype = api.PyCapsule_GetContext.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_GetName.argtypes = api.PyCapsule_GetContext.argtypes = [ctypes.py_object]
        name = api.PyCapsule_GetName(capsule)
        forces = _gives_force(_types_of_text(function.signature), function.signature)
        address = api.PyCapsule_GetPointer(capsule, name)
        return address, api.PyCapsule_GetContext(capsule) or 0, forces
    pointer = _pointer(function)
    if pointer is None:
        raise TypeError(
            "a compiled torque must be a scipy.LowLevelCallable, a numba cfunc or a ctypes "
            f"function pointer, not {type(function).__name__}"
        )
    argtypes = getattr(pointer, "argtypes", None)
    if argtypes is None:
        how = f"set its argtypes and restype (None) for void f({', '.join(_SIGNATURE)})"
        raise ValueError(f"the signature of the compiled torque is not known: {how}")
    result, *types = map(_type_of, (pointer.restype, *argtypes))
    forces = _gives_force([result, *types], f"{result} ({', '.join(types)})")
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if address is None:
        raise ValueError("the compiled torque is a null pointer")
    return address, 0, forces


def _gives_force(types: Sequence[str], text: str) -> bool:
    forces = len(types) == 1 + len(_WITH_FORCE)
    wanted = ("void", *(_WITH_FORCE if forces else _SIGNATURE))
    fits = len(types) == len(wanted) and all(
        a == b or (b == "int64_t" and a in _INTEGERS) or (b == "double *" and a == "void *")
        for a, b in zip(types, wanted, strict=True)
    )
    if not fits:
        raise ValueError(
            f"a compiled torque must have the signature void ({', '.join(_SIGNATURE)}), not {text}"
        )
    return forces


def _types_of_text(signature: str) -> list[str]:
    """Result and arguments of a C signature, without names and without `const`."""
    result, _, arguments = signature.partition("(")
    parts = [result, *arguments.rstrip(") ").split(",")]
    words = (part.replace("*", " * ").split() for part in parts)
    return [" ".join(word for word in part if word != "const") for part in words]


def _type_of(kind: Any) -> str:
    """The C name of a ctypes type."""
    names: dict[Any, str] = {None: "void", ctypes.c_void_p: "void *", ctypes.c_double: "double"}
    names |= {ctypes.c_int64: "int64_t", ctypes.c_ssize_t: "int64_t"}
    target = getattr(kind, "_type_", None)
    if isinstance(target, type):
        return f"{_type_of(target)} *"
    return names.get(kind) or str(getattr(kind, "__name__", kind))
