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

#: enum polhode_attitude and POLHODE_BAD_ARGUMENT.
QUATERNION, MATRIX_ROWS, BAD_ARGUMENT = 0, 1, 1
_INT32, _TEXT = ir.IntType(32), ir.IntType(8).as_pointer()
_LIBRARY = ctypes.CDLL(get_library())


def _register(name):
    """Make a function of the library known to the linker of numba."""
    address = ctypes.cast(getattr(_LIBRARY, name), ctypes.c_void_p).value
    llvmlite.binding.add_symbol(name, address)
    return name


def _function(name, kinds):
    """A function of the library by its arguments: int, int64_t, double, pointer to doubles."""
    of = {
        "i": types.int32,
        "l": types.int64,
        "f": types.float64,
        "d": types.CPointer(types.float64),
    }
    return types.ExternalFunction(_register(name), types.int32(*(of[x] for x in kinds)))


#: The last argument, a pointer, is 0.
step = _function("polhode_step", "ildlddidlliddl")
orbit_state = _function("polhode_orbit_state", "fddfdd")
_METHOD, _ERROR = _register("polhode_method"), _register("polhode_error")


def _call(builder, name, result, *arguments):
    kind = ir.FunctionType(result, [x.type for x in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic
def row_of(typingctx, method):
    """The number of a method in the loaded library, asked for at the first call.

    It is not compiled in, because compiled code may be cached and loaded with another version.
    """
    if not isinstance(method, types.StringLiteral):
        raise RequireLiteralValue("the name of a method")

    def generate(context, builder, signature, arguments):
        module, name = builder.module, f"polhode_row_of_{method.literal_value}"
        known = module.globals.get(name)
        if known is None:
            known = cgutils.add_global_variable(module, _INT32, name)
            known.linkage, known.initializer = "internal", ir.Constant(_INT32, -1)
        missing = builder.icmp_signed("<", builder.load(known), ir.Constant(_INT32, 0))
        with builder.if_then(missing):
            text = context.insert_const_string(module, method.literal_value)
            row = _call(builder, _METHOD, _INT32, builder.bitcast(text, _TEXT))
            builder.store(row, known)
        return builder.load(known)

    return types.int32(method), generate


@intrinsic
def on_stack(typingctx, numbers):
    """A pointer to a copy of a double or a tuple of doubles, valid in the calling function."""

    def generate(context, builder, signature, arguments):
        memory = cgutils.alloca_once_value(builder, arguments[0])
        return builder.bitcast(memory, ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(numbers), generate


@intrinsic
def _error(typingctx):
    """The text of the last error of this thread."""

    def generate(context, builder, signature, arguments):
        text = _call(builder, _ERROR, _TEXT)
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
