"""The functions of `polhode.h` that `polhode.numba` calls in compiled code."""

from __future__ import annotations

import ctypes

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic, register_jitable

from polhode._build import get_library

_INT32, _INT64, _DOUBLE, _BYTE = ir.IntType(32), ir.IntType(64), ir.DoubleType(), ir.IntType(8)
_TEXT = _BYTE.as_pointer()  # also for a pointer without a type
_TYPES = {"i": _INT32, "l": _INT64, "d": _DOUBLE.as_pointer(), "n": _INT64.as_pointer()}
_TYPES |= {"t": _TEXT, "f": _DOUBLE}
#: The functions of polhode.h that compiled code calls: result and arguments.
_FUNCTIONS = {
    "polhode_step": "i ildlddidlliddn",
    "polhode_method": "i t",
    "polhode_error": "t ",
    "polhode_orbit_state": "i fddfdd",
}
#: enum polhode_attitude and POLHODE_BAD_ARGUMENT.
QUATERNION, MATRIX_ROWS, BAD_ARGUMENT = 0, 1, 1


def _register_symbols():
    library = ctypes.CDLL(get_library())
    for name in _FUNCTIONS:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvmlite.binding.add_symbol(name, address)


def _call(builder, name, arguments):
    result, kinds = _FUNCTIONS[name].split(" ")
    kind = ir.FunctionType(_TYPES[result], [_TYPES[x] for x in kinds])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _row(builder, context, method):
    """The number of a method in the loaded library, asked for at the first call.

    It is not compiled in, because compiled code may be cached and loaded with another version.
    """
    name = f"polhode_row_of_{method}"
    known = builder.module.globals.get(name)
    if known is None:
        known = cgutils.add_global_variable(builder.module, _INT32, name)
        known.linkage, known.initializer = "internal", ir.Constant(_INT32, -1)
    missing = builder.icmp_signed("<", builder.load(known), ir.Constant(_INT32, 0))
    with builder.if_then(missing):
        text = builder.bitcast(context.insert_const_string(builder.module, method), _TEXT)
        builder.store(_call(builder, "polhode_method", [text]), known)
    return builder.load(known)


def _pointers(context, builder, signature, arguments):
    """The arguments of a function of C: of arrays the addresses of their data."""
    return [
        context.make_array(kind)(context, builder, x).data if isinstance(kind, types.Array) else x
        for kind, x in zip(signature.args, arguments, strict=True)
    ]


@intrinsic
def step_of(typingctx, method, n, inertia, stride, m, q, form, h, count, cores, m_out, q_out):
    """`polhode_step` for arrays of doubles in C order."""
    if not isinstance(method, types.StringLiteral):
        raise RequireLiteralValue("the name of a method")
    h_of_each = isinstance(h, types.Array)
    signature = types.int32(
        method, types.int64, inertia, types.int64, m, q, types.int32,
        h if h_of_each else types.float64, types.int64, types.int32, m_out, q_out,
    )  # fmt: skip

    def generate(context, builder, signature, arguments):
        _, n, I_, stride, m_, q_, form, h_, *rest = _pointers(
            context, builder, signature, arguments
        )
        row = _row(builder, context, method.literal_value)
        steps = h_ if h_of_each else cgutils.alloca_once_value(builder, h_)
        each, nobody = ir.Constant(_INT64, int(h_of_each)), ir.Constant(_INT64.as_pointer(), None)
        bodies = [row, n, I_, stride, m_, q_, form, steps, each, *rest, nobody]
        return _call(builder, "polhode_step", bodies)

    return signature, generate


@intrinsic
def orbit_of(typingctx, mu, start, t):
    """`polhode_orbit_state` of position and velocity, six numbers; NaN if it fails."""
    six = types.UniTuple(types.float64, 6)

    def generate(context, builder, signature, arguments):
        mu, start, t = arguments
        given = list(cgutils.unpack_tuple(builder, start))
        memory = cgutils.alloca_once(builder, _DOUBLE, 12)
        at = [builder.gep(memory, [ir.Constant(_INT32, k)]) for k in range(12)]
        for pointer, value in zip(
            at, given + 6 * [ir.Constant(_DOUBLE, float("nan"))], strict=True
        ):
            builder.store(value, pointer)
        _call(builder, "polhode_orbit_state", [mu, at[0], at[3], t, at[6], at[9]])
        return context.make_tuple(builder, six, [builder.load(pointer) for pointer in at[6:]])

    return six(types.float64, six, types.float64), generate


@intrinsic
def _error(typingctx):
    """The text of the last error of this thread."""

    def generate(context, builder, signature, arguments):
        text = _call(builder, "polhode_error", [])
        python = context.get_python_api(builder)
        lock = python.gil_ensure()
        string = python.string_from_string(text)
        native = python.to_native_value(types.unicode_type, string).value
        python.decref(string)
        python.gil_release(lock)
        return native

    return types.unicode_type(), generate


@register_jitable
def raise_error(status):
    if status == BAD_ARGUMENT:
        raise ValueError(_error())
    raise RuntimeError(_error())


_register_symbols()
