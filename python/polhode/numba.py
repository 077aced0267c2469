"""`polhode.step`, `quat_step`, `frb_step` and `motion` inside functions that numba compiles.

Numba imports this module by itself, before it compiles its first function (entry point
``numba_extensions``); then ``ph.step(...)`` may stand in a function with ``@numba.njit``, also with
``nogil=True``, ``parallel=True`` and ``cache=True``. It calls the C interface of ``libpolhode``:
results have the bits of the Python function.

Arguments in compiled code::

    ph.step(inertia, m, q, h, method="exact", n_steps=1, out=None, threads=None)

=========  ==============================  ==========================================
           one body                        n bodies
=========  ==============================  ==========================================
inertia    (3,)                            (3,) or (n, 3)
m          (3,)                            (n, 3)
q          (4,) or (3, 3)                  (n, 4) or (n, 3, 3)
h          a number                        a number or (n,)
=========  ==============================  ==========================================

Arrays of any real type and layout, and tuples of three or four numbers. The number of axes decides
what an array is, because numba must know the type of the result; there is no further broadcasting.
`method` is a name that is written in the call; options of methods are not available. ``out`` is a
tuple of two float64 arrays in C order, such as rows, ``(m[i], q[i])``; they may be `m` and `q`.

Invalid arguments raise ValueError, with the text of the C interface, which names the first invalid
body; numba loses exceptions in a ``prange``. A body for which an implicit method does not converge
becomes NaN without a warning. Clear numba's cache after an update of polhode.

Examples
--------
>>> import numba
>>> import numpy as np
>>> import polhode as ph
>>> @numba.njit
... def spin(inertia, m, q, h, n_steps):
...     for i in range(len(m)):
...         for _ in range(n_steps):
...             ph.step(inertia, m[i], q[i], h, out=(m[i], q[i]))
>>> inertia = np.array([1.0, 2.0, 3.0])
>>> m, q = np.array([[1.0, 0.0, 0.0]] * 2), np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
>>> spin(inertia, m, q, np.pi / 20, 10)
>>> q.round(6)
array([[0.707107, 0.707107, 0.      , 0.      ],
       [0.707107, 0.707107, 0.      , 0.      ]])
"""

from __future__ import annotations

import ctypes

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue, TypingError
from numba.extending import intrinsic, overload, register_jitable

from polhode._build import get_library
from polhode._core import most_threads
from polhode._step import step
from polhode.frb import frb_step, quat_step
from polhode.integrators.table import methods, unknown_name
from polhode.motion import TorqueFreeMotion

__all__ = ["motion"]

_INT32, _INT64, _DOUBLE, _BYTE = ir.IntType(32), ir.IntType(64), ir.DoubleType(), ir.IntType(8)
_DOUBLES, _TEXT = _DOUBLE.as_pointer(), _BYTE.as_pointer()  # a pointer without a type is a _TEXT
#: The functions of polhode.h that compiled code calls.
_FUNCTIONS = {
    "polhode_step": ir.FunctionType(
        _INT32,
        [
            _INT32,
            _INT64,
            _DOUBLES,
            _INT64,
            _DOUBLES,
            _DOUBLES,
            _INT32,
            _DOUBLES,
            _INT64,
            _INT64,
            _INT32,
            _DOUBLES,
            _DOUBLES,
            _INT64.as_pointer(),
        ],
    ),
    "polhode_method": ir.FunctionType(_INT32, [_TEXT]),
    "polhode_motion_new": ir.FunctionType(
        _INT32, [_INT64, _DOUBLES, _INT64, _DOUBLES, _DOUBLES, _INT32, _TEXT.as_pointer()]
    ),
    "polhode_motion_at": ir.FunctionType(
        _INT32, [_TEXT, _INT64, _DOUBLES, _INT32, _DOUBLES, _DOUBLES]
    ),
    "polhode_motion_free": ir.FunctionType(ir.VoidType(), [_TEXT]),
    "polhode_error": ir.FunctionType(_TEXT, []),
}
_NO_THREADS = f"threads must be None, -1 (all cores) or 1 ... {most_threads}"
#: enum polhode_attitude and POLHODE_BAD_ARGUMENT.
_QUATERNION, _MATRIX_ROWS, _BAD_ARGUMENT = 0, 1, 1


def init():
    """Numba calls this function; the import has registered everything."""


def _register_symbols():
    library = ctypes.CDLL(get_library())
    for name in _FUNCTIONS:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvmlite.binding.add_symbol(name, address)


def _call(builder, name, arguments):
    function = cgutils.get_or_insert_function(builder.module, _FUNCTIONS[name], name)
    return builder.call(function, arguments)


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


@intrinsic
def _step(
    typing_context,
    method,
    bodies,
    inertia,
    shared,
    m,
    q,
    attitude,
    h,
    n_steps,
    threads,
    m_out,
    q_out,
):
    """`polhode_step` for arrays of doubles in C order."""
    if not isinstance(method, types.StringLiteral):
        raise RequireLiteralValue("the name of a method")
    h_of_each = isinstance(h, types.Array)
    signature = types.int32(
        method, types.int64, inertia, types.int64, m, q, types.int32,
        h if h_of_each else types.float64, types.int64, types.int32, m_out, q_out,
    )  # fmt: skip

    def generate(context, builder, signature, arguments):
        kinds = signature.args

        def data(k):
            return context.make_array(kinds[k])(context, builder, arguments[k]).data

        _, n, _, stride, _, _, form, time, count, cores, _, _ = arguments
        steps = data(7) if h_of_each else cgutils.alloca_once_value(builder, time)
        nobody = ir.Constant(_INT64.as_pointer(), None)
        return _call(
            builder,
            "polhode_step",
            [
                _row(builder, context, method.literal_value), n, data(2), stride, data(4), data(5),
                form, steps, ir.Constant(_INT64, int(h_of_each)), count, cores, data(10), data(11),
                nobody,
            ],
        )  # fmt: skip

    return signature, generate


@intrinsic
def _motion(typing_context, bodies, inertia, stride, m, q, attitude, t, threads, m_out, q_out):
    """`polhode_motion_at` for arrays of doubles in C order, with constants of this call."""
    signature = types.int32(
        types.int64, inertia, types.int64, m, q, types.int32, t, types.int32, m_out, q_out
    )

    def generate(context, builder, signature, arguments):
        arrays = [
            context.make_array(kind)(context, builder, x) if isinstance(kind, types.Array) else x
            for kind, x in zip(signature.args, arguments, strict=True)
        ]
        n, inertia, stride, m, q, form, t, cores, m_out, q_out = arrays
        motion = cgutils.alloca_once(builder, _TEXT)
        constants = [n, inertia.data, stride, m.data, q.data, form, motion]
        status = cgutils.alloca_once_value(builder, _call(builder, "polhode_motion_new", constants))
        good = builder.icmp_signed("==", builder.load(status), ir.Constant(_INT32, 0))
        with builder.if_then(good):
            made = builder.load(motion)
            (times,) = cgutils.unpack_tuple(builder, t.shape, 1)
            results = [made, times, t.data, cores, m_out.data, q_out.data]
            builder.store(_call(builder, "polhode_motion_at", results), status)
            _call(builder, "polhode_motion_free", [made])
        return builder.load(status)

    return signature, generate


@intrinsic
def _error(typing_context):
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
def _raise(status):
    if status == _BAD_ARGUMENT:
        raise ValueError(_error())
    raise RuntimeError(_error())


def _axes(name, kind, *allowed):
    """Number of axes of an argument; raises the error of numba for other types."""
    real = types.Float, types.Integer
    if isinstance(kind, types.Array) and isinstance(kind.dtype, real):
        axes = kind.ndim
    elif isinstance(kind, types.BaseTuple) and all(isinstance(x, real) for x in list(kind)):
        axes = 1
    elif isinstance(kind, real):
        axes = 0
    else:
        axes = -1
    if axes not in allowed:
        wanted = " or ".join(map(str, allowed)) + (" axis" if allowed == (1,) else " axes")
        raise TypingError(f"polhode: {name} must have {wanted} of real numbers, not {kind}")
    return axes


def _doubles(x):
    """An array of doubles in C order; the argument itself if it is one."""


@overload(_doubles)
def _doubles_of(x):
    if not isinstance(x, types.Array):
        return (
            (lambda x: np.array(x, np.float64)) if isinstance(x, types.BaseTuple) else lambda x: x
        )
    if x.dtype != types.float64:
        return lambda x: x.astype(np.float64).copy()
    return (lambda x: x) if x.layout == "C" else lambda x: x.copy()


def _length(h, n):
    """The number of time steps of an array, n for a number."""


@overload(_length)
def _length_of(h, n):
    return (lambda h, n: len(h)) if isinstance(h, types.Array) else lambda h, n: n


def _targets(out, m, q):
    """The arrays of `out`, or new ones."""


@overload(_targets)
def _targets_of(out, m, q):
    if _is_none(out):
        return lambda out, m, q: (np.empty(m.shape), np.empty(q.shape))

    def given(out, m, q):
        if out[0].shape != m.shape or out[1].shape != q.shape:
            raise ValueError("out: the arrays must have the shapes of m and q")
        if _overlap(out[0], out[1]):
            raise ValueError("out: the arrays overlap each other")
        return out

    return given


def _threads(threads):
    """The `threads` argument as the library takes it."""


@overload(_threads)
def _threads_of(threads):
    if _is_none(threads):
        return lambda threads: 0
    _check_whole("threads", threads)

    def given(threads):
        if threads == 0 or threads < -1 or threads > most_threads:
            raise ValueError(_NO_THREADS)
        return threads

    return given


def _overlap(a, b):
    """Whether two arrays in C order share memory."""


@overload(_overlap)
def _overlap_of(a, b):
    if not isinstance(a, types.Array) or not isinstance(b, types.Array):
        return lambda a, b: False

    def compare(a, b):
        first, second = a.ctypes.data, b.ctypes.data
        return bool(first < second + 8 * b.size and second < first + 8 * a.size)

    return compare


@register_jitable
def _is_apart(out, itself, x, y, z):
    """Whether a result shares memory only with the argument whose place it takes."""
    if _overlap(out, x) or _overlap(out, y) or _overlap(out, z):
        return False
    return bool(out.ctypes.data == itself.ctypes.data or not _overlap(out, itself))


def _is_none(kind):
    return kind is None or isinstance(kind, types.NoneType) or getattr(kind, "value", 0) is None


def _name(method):
    """The name of a method from the type of the argument."""
    name = method if isinstance(method, str) else getattr(method, "value", None)
    name = getattr(method, "literal_value", name)
    if not isinstance(name, str):
        raise TypingError("polhode: method must be a name that is written in the call")
    known = [x.name for x in methods()]
    if name not in known:
        raise TypingError(str(unknown_name("method", name, known)))
    return name


def _check_whole(name, kind):
    kind = getattr(kind, "value", kind)  # of a default
    if not isinstance(kind, (int, types.Integer, types.Boolean)):
        raise TypingError(f"polhode: {name} must be an integer, not {kind}")


def _check_out(out, m_axes, q_axes):
    if _is_none(out):
        return
    kinds = list(out) if isinstance(out, types.BaseTuple) else []
    good = [
        isinstance(x, types.Array) and x.dtype == types.float64 and x.layout == "C" and x.mutable
        for x in kinds
    ]
    if good != [True, True] or [x.ndim for x in kinds] != [m_axes, q_axes]:
        raise TypingError(
            "polhode: out must be a tuple of two writeable float64 arrays in C order with "
            f"the axes of m and q, not {out}"
        )


def _bodies(inertia, m, q, form=None):
    """How to read bodies of these types; `form` is that of q where it is fixed.

    Returns whether there is a batch, the stride of the moments, the form of q and a compiled
    function that returns the arrays and the number of bodies.
    """
    m_axes = _axes("m", m, 1, 2)
    each = m_axes - 1
    own = _axes("inertia", inertia, *range(1, m_axes + 1)) - 1
    forms = {_QUATERNION: m_axes, _MATRIX_ROWS: m_axes + 1}
    q_axes = _axes("q", q, *(forms.values() if form is None else [forms[form]]))
    matrix = q_axes > m_axes
    last = 3 if matrix else 4

    def checked(inertia, m, q):
        I_, m_, q_ = _doubles(inertia), _doubles(m), _doubles(q)
        n = m_.shape[0] if each else 1
        if I_.shape[-1] != 3 or (own and I_.shape[0] != n):
            raise ValueError("inertia must have shape (3,) or, as m, (n, 3)")
        if m_.shape[-1] != 3:
            raise ValueError("m must have shape (3,) or (n, 3)")
        if q_.shape[-1] != last or (matrix and q_.shape[-2] != 3) or (each and q_.shape[0] != n):
            raise ValueError("q must have shape (4,) or (3, 3), or (n, 4) or (n, 3, 3) with n of m")
        return I_, m_, q_, n

    attitude = _MATRIX_ROWS if matrix else _QUATERNION
    return each, 3 * own, attitude, register_jitable(checked)


def _steps(inertia, m, q, h, n_steps, out, name, form=None):
    """A step of method `name` for these types."""
    _check_whole("n_steps", n_steps)
    each, stride, attitude, checked = _bodies(inertia, m, q, form)
    _axes("h", h, *range(each + 1))
    _check_out(out, 1 + each, 1 + each + attitude)
    new = _is_none(out)  # then numba leaves the other branch out, which takes it long to compile

    def stepped(inertia, m, q, h, n_steps, out, threads):
        I_, m_, q_, n = checked(inertia, m, q)
        h_ = _doubles(h)
        if _length(h_, n) != n:
            raise ValueError("h must be a number or have shape (n,) with n of m")
        m_out, q_out = _targets(out, m_, q_)
        cores = _threads(threads)
        if new or (_is_apart(m_out, m_, I_, q_, h_) and _is_apart(q_out, q_, I_, m_, h_)):
            status = _step(name, n, I_, stride, m_, q_, attitude, h_, n_steps, cores, m_out, q_out)
        else:
            m_end, q_end = np.empty(m_.shape), np.empty(q_.shape)
            status = _step(name, n, I_, stride, m_, q_, attitude, h_, n_steps, cores, m_end, q_end)
            if status == 0:  # numba takes twice as long to compile `m_out[...] = m_end`
                for i, x in enumerate(m_end.flat):
                    m_out.flat[i] = x
                for i, x in enumerate(q_end.flat):
                    q_out.flat[i] = x
        if status != 0:
            _raise(status)
        return m_out, q_out

    return register_jitable(stepped)


@overload(step, prefer_literal=True)
def _overload_step(
    inertia,
    m,
    q,
    h,
    method="exact",
    n_steps=1,
    out=None,
    threads=None,
):
    stepped = _steps(inertia, m, q, h, n_steps, out, _name(method))

    def of_step(inertia, m, q, h, method="exact", n_steps=1, out=None, threads=None):
        return stepped(inertia, m, q, h, n_steps, out, threads)

    return of_step


@overload(quat_step)
def _overload_quat_step(inertia, m, q, h, n_steps=1, out=None, threads=None):
    stepped = _steps(inertia, m, q, h, n_steps, out, "frb", _QUATERNION)

    def of_step(inertia, m, q, h, n_steps=1, out=None, threads=None):
        return stepped(inertia, m, q, h, n_steps, out, threads)

    return of_step


@overload(frb_step)
def _overload_frb_step(inertia, m, Q, h, n_steps=1, out=None, threads=None):
    stepped = _steps(inertia, m, Q, h, n_steps, out, "frb", _MATRIX_ROWS)

    def of_step(inertia, m, Q, h, n_steps=1, out=None, threads=None):
        return stepped(inertia, m, Q, h, n_steps, out, threads)

    return of_step


def motion(inertia, m0, q0, t, threads=None):
    """Torque-free motion in closed form, in compiled code and in Python.

    Parameters
    ----------
    inertia : array, shape (3,) or (n, 3)
        Principal moments.
    m0 : array, shape (3,) or (n, 3)
        Angular momentum at time 0, body frame.
    q0 : array, shape (4,), (3, 3), (n, 4) or (n, 3, 3)
        Attitude at time 0, body to space.
    t : array, shape (k,)
        Times, the same for all bodies.
    threads : int, optional
        As in `step`.

    Returns
    -------
    m : ndarray, shape (k, 3) or (k, n, 3)
        Angular momentum, body frame.
    q : ndarray, shape (k, 4), (k, 3, 3), (k, n, 4) or (k, n, 3, 3)
        Attitude, as of `TorqueFreeMotion`.

    Raises
    ------
    ValueError
        As `TorqueFreeMotion`.

    Notes
    -----
    The bits are those of `TorqueFreeMotion`, whose constants are set up in each call.

    Examples
    --------
    >>> import polhode.numba
    >>> m, q = polhode.numba.motion([1.0, 2.0, 3.0], [0.0, 0.0, 3.0], np.eye(3), [0.0, np.pi])
    >>> m.shape, q.shape
    ((2, 3), (2, 3, 3))
    """
    free = TorqueFreeMotion(inertia, m0, q0)
    return free(np.reshape(t, (-1, *(1 for _ in free.shape))), threads=threads)


@overload(motion)
def _overload_motion(inertia, m0, q0, t, threads=None):
    _, stride, attitude, checked = _bodies(inertia, m0, q0)
    _axes("t", t, 1)

    def at(inertia, m0, q0, t, threads=None):
        I_, m_, q_, n = checked(inertia, m0, q0)
        t_ = _doubles(t)
        m_out, q_out = np.empty((len(t_), *m_.shape)), np.empty((len(t_), *q_.shape))
        status = _motion(n, I_, stride, m_, q_, attitude, t_, _threads(threads), m_out, q_out)
        if status != 0:
            _raise(status)
        return m_out, q_out

    return at


_register_symbols()
