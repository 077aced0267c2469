"""`polhode.step` inside functions that numba compiles.

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
"""

from __future__ import annotations

import math

import numpy as np
from numba import carray, types
from numba.core.errors import TypingError
from numba.extending import overload, register_jitable

from polhode import _numba_calls as core
from polhode._core import most_threads
from polhode._step import step
from polhode.integrators.table import methods, unknown_name

__all__ = ["dipole_field", "orbit_state", "to_body", "to_space"]

_NO_THREADS = f"threads must be None, -1 (all cores) or 1 ... {most_threads}"


@register_jitable
def to_body(q, v):
    """Body components of the vector with the space components v, for compiled functions.

    q is a unit quaternion, four numbers in a tuple or array, v three numbers; a tuple of three. For
    example in a torque compiled with ``numba.cfunc``, see `torques.Compiled`::

        u = to_body((q[0, i], q[1, i], q[2, i], q[3, i]), (0.0, 0.0, weight))
    """
    w, x, y, z = q[0], q[1], q[2], q[3]
    a, b, c = 2 * (v[1] * z - v[2] * y), 2 * (v[2] * x - v[0] * z), 2 * (v[0] * y - v[1] * x)
    return (
        v[0] + (w * a + (b * z - c * y)),
        v[1] + (w * b + (c * x - a * z)),
        v[2] + (w * c + (a * y - b * x)),
    )


@register_jitable
def to_space(q, v):
    """Space components of the vector with the body components v, see `to_body`."""
    return to_body((q[0], -q[1], -q[2], -q[3]), v)


@register_jitable
def orbit_state(mu, position, velocity, t):
    """Position and velocity at time t on the Kepler ellipse through those at t = 0.

    The arguments are those of `torques.Orbit`, three numbers each in a tuple or array; two tuples
    of three, NaN if the orbit is not an ellipse. For compiled functions, as `to_body`.
    """
    r, v, none = position, velocity, (math.nan, math.nan, math.nan)
    start = core.on_stack((float(r[0]), float(r[1]), float(r[2])))
    rate = core.on_stack((float(v[0]), float(v[1]), float(v[2])))
    r_end, v_end = core.on_stack(none), core.on_stack(none)
    core.orbit_state(float(mu), start, rate, float(t), r_end, v_end)
    r, v = carray(r_end, 3), carray(v_end, 3)
    return (r[0], r[1], r[2]), (v[0], v[1], v[2])


@register_jitable
def dipole_field(position, moment, constant=1e-7):
    """The field of a dipole, a tuple of three, as `torques.dipole_field`; see `to_body`."""
    x, y, z = position[0], position[1], position[2]
    size = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / size, y / size, z / size
    along = 3 * (moment[0] * x + moment[1] * y + moment[2] * z)
    factor = constant / size**3
    return (
        factor * (along * x - moment[0]),
        factor * (along * y - moment[1]),
        factor * (along * z - moment[2]),
    )


def init():
    """Numba calls this function; the import has registered everything."""


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
    """An array of doubles in C order, the argument itself if it is one; a number of no axes."""


@overload(_doubles)
def _doubles_of(x):
    if not isinstance(x, types.Array):
        return (
            (lambda x: np.array(x, np.float64)) if isinstance(x, types.BaseTuple) else lambda x: x
        )
    if x.ndim == 0:
        return lambda x: np.float64(x[()])
    if x.dtype != types.float64:
        return lambda x: x.astype(np.float64).copy()
    return (lambda x: x) if x.layout == "C" else lambda x: x.copy()


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


@overload(step, prefer_literal=True)
def _overload_step(inertia, m, q, h, method="exact", n_steps=1, out=None, threads=None):
    name = _name(method)
    _check_whole("n_steps", n_steps)
    m_axes = _axes("m", m, 1, 2)
    each = m_axes - 1  # 1 for a batch
    own = _axes("inertia", inertia, *range(1, m_axes + 1)) - 1
    matrix = _axes("q", q, m_axes, m_axes + 1) > m_axes
    h_axes = _axes("h", h, *range(each + 1))
    _check_out(out, m_axes, m_axes + matrix)
    # Numba leaves branches out whose condition is one of these.
    new, default, several = _is_none(out), _is_none(threads), h_axes > 0
    if not default:
        _check_whole("threads", threads)
    last, stride = 3 if matrix else 4, 3 * own
    attitude = core.MATRIX_ROWS if matrix else core.QUATERNION

    def stepped(inertia, m, q, h, method="exact", n_steps=1, out=None, threads=None):
        I_, m_, q_, h_ = _doubles(inertia), _doubles(m), _doubles(q), _doubles(h)
        n = m_.shape[0] if each else 1
        if I_.shape[-1] != 3 or (own and I_.shape[0] != n):
            raise ValueError("inertia must have shape (3,) or, as m, (n, 3)")
        if m_.shape[-1] != 3:
            raise ValueError("m must have shape (3,) or (n, 3)")
        if q_.shape[-1] != last or (matrix and q_.shape[-2] != 3) or (each and q_.shape[0] != n):
            raise ValueError("q must have shape (4,) or (3, 3), or (n, 4) or (n, 3, 3) with n of m")
        if several:
            if len(h_) != n:
                raise ValueError("h must be a number or have shape (n,) with n of m")
            steps = h_.ctypes
        else:
            steps = core.on_stack(float(h_))
        if default:
            cores = 0
        else:
            cores = threads
            if cores == 0 or cores < -1 or cores > most_threads:
                raise ValueError(_NO_THREADS)
        if new:
            m_out, q_out = np.empty(m_.shape), np.empty(q_.shape)
            m_end, q_end, apart = m_out, q_out, True
        else:
            m_out, q_out = m_end, q_end = out
            if m_out.shape != m_.shape or q_out.shape != q_.shape:
                raise ValueError("out: the arrays must have the shapes of m and q")
            if _overlap(m_out, q_out):
                raise ValueError("out: the arrays overlap each other")
            apart = _is_apart(m_out, m_, I_, q_, h_) and _is_apart(q_out, q_, I_, m_, h_)
            if not apart:
                m_end, q_end = np.empty(m_.shape), np.empty(q_.shape)
        status = core.step(
            core.row_of(name), n, I_.ctypes, stride, m_.ctypes, q_.ctypes, attitude, steps,
            h_axes, n_steps, cores, m_end.ctypes, q_end.ctypes, 0,
        )  # fmt: skip
        if status != 0:
            core.raise_error(status)
        if not apart:  # numba takes twice as long to compile `m_out[...] = m_end`
            for i, x in enumerate(m_end.flat):
                m_out.flat[i] = x
            for i, x in enumerate(q_end.flat):
                q_out.flat[i] = x
        return m_out, q_out

    return stepped
