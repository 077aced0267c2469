"""References in quadruple precision: free steps and elliptic functions to more than 30 digits.

The kernels of `polhode`, compiled for numbers of 113 bits. They measure the error of results in
double precision, for many bodies and arguments, without another library. They take some thousand
times as long as `polhode.step`; other threads of Python wait meanwhile. Import the module by its
name, ``from polhode import quad``. This raises ImportError if the compiler of polhode had no type
of 113 bits (binary128: GCC and Clang on x86-64, any compiler on AArch64).

Arguments are real numbers of any kind: arrays of any real type, or strings, `decimal.Decimal`,
`fractions.Fraction` and mpmath's numbers, also mixed. Of these last four, 32 digits are used:
``0.1`` is the double, ``"0.1"`` is a tenth. Results are arrays of doubles, each the nearest to the
result in 113 bits. With ``digits=True`` they are `Numbers`, which hold 32 digits and can be
arguments again.

The elliptic functions take the arguments of those of `polhode.elliptic`, which broadcast together;
without `kc2`, ``1 - k2`` has all digits. The effect of the last of 32 digits of the input comes in
addition to the errors that are stated. ValueError or TypeError is raised if an argument is not real
or the shapes do not broadcast.

Examples
--------
The error of a step in double precision, and digits of the result:

>>> import numpy as np, polhode as ph
>>> from polhode import quad
>>> body = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0]
>>> m, q = quad.step(*body, 10.0, digits=True)
>>> bool(abs(m - ph.step(*body, 10.0)[0]).max() < 1e-15)
True
>>> print(m.strings(25)[0])
-4.070506502035473012231222e-1
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from inspect import Parameter, Signature
from math import prod
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array
from polhode.integrators.table import METHODS, may_lack_root, method_index, warn_of_lost

try:
    from polhode import _quad
except ModuleNotFoundError:
    raise ImportError(
        "polhode.quad is not there: the compiler of this polhode had no type of 113 bits"
    ) from None

__all__ = [
    "Numbers", "agm", "ellip_f", "ellip_k", "ellip_pi", "ellip_pi_complete", "jacobi", "rc",
    "rd", "rf", "rj", "step",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of 32 digits, each the sum of two doubles.

    Parameters
    ----------
    high : ndarray of float64
        The nearest doubles.
    low : ndarray of float64, same shape
        The rest, rounded.

    Notes
    -----
    ``numbers - array`` is the difference in double precision: for a result near the numbers, minus
    its error. ``numbers[index]`` is a part of them, ``numbers.high`` an array.
    """

    high: Array
    low: Array

    def __post_init__(self) -> None:
        high, low = np.shape(self.high), np.shape(self.low)
        if high != low:
            raise ValueError(f"high and low must have one shape, not {high} and {low}")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the numbers."""
        return np.shape(self.high)

    def strings(self, digits: int = 32) -> NDArray[np.str_]:
        """The numbers as decimal strings of so many significant digits, at least 1, of this shape.

        They are as ``1.50e-1``, or ``0`` for zero. Digits from the 33rd on are of the two doubles,
        not of the result.
        """
        pairs = zip(np.ravel(self.high).tolist(), np.ravel(self.low).tolist(), strict=True)
        values = [_text(h, lo, digits) for h, lo in pairs]
        return np.array(values, np.str_).reshape(self.shape)

    def __getitem__(self, index: Any) -> Numbers:
        return Numbers(np.asarray(self.high[index]), np.asarray(self.low[index]))

    def __sub__(self, other: ArrayLike) -> Array:
        there = _numbers("the subtracted number", other)
        return np.asarray((self.high - there.high) + (self.low - there.low))


def step(
    inertia: Any, m: Any, q: Any, h: Any, *,
    method: str = "exact", n_steps: int = 1, digits: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Step free rigid bodies as `polhode.step`, in quadruple precision.

    Parameters
    ----------
    inertia, m, q, h : array_like or Numbers
        As in `polhode.step`: shapes (..., 3), (..., 3), (..., 4) or (..., 3, 3), and (...); `q` is
        brought to unit norm (orthogonality) to all digits.
    method : str, optional
        A name of `polhode.methods()`, with the defaults of its options; no multistep method.
    n_steps : int, optional
        Number of steps of `h` each; the last state is returned.
    digits : bool, default False
        Return `Numbers` of 32 digits in place of arrays.

    Returns
    -------
    m, q : ndarray or Numbers
        As `polhode.step`, which also lists errors and warnings. ValueError is raised for text that
        is not a number and for a multistep method too.

    Notes
    -----
    Units are any consistent set.  "exact" and "frb" give m/|m| and q with an error of at most
    1e-30 (1 + angle), angle = |h| |omega|, plus the effect of the last of 32 digits of the input,
    so about one double in 1e12 is not the nearest. The other methods have the error of their
    formula, so an order or an invariant can be seen far below 1e-16. NaN or infinity in a body's
    m, q or h makes only that body NaN.

    Examples
    --------
    A third of a turn about the third axis, of a body whose moment is exactly 1/10:

    >>> from polhode import quad
    >>> body = ["0.1", "0.1", "0.1"], [0, 0, "0.1"], [1, 0, 0, 0]
    >>> m, q = quad.step(*body, "2.0943951023931954923084289221863", digits=True)
    >>> print(q.strings(30)[0])
    5.00000000000000000000000000000e-1
    """
    if not isinstance(method, str):
        raise TypeError(f"method must be a name, not {type(method).__name__}")
    row = method_index(method, {})
    if METHODS[row].history:
        raise ValueError(f"method {method!r} has a history, which polhode.quad does not carry")
    count = _arrays.step_count(n_steps)
    numbers = {"inertia": inertia, "m": m, "q": _arrays.without_rotation(q), "h": h}
    given = [_numbers(name, x) for name, x in numbers.items()]
    high = [
        _arrays.Operand("inertia", given[0].high, 3),
        _arrays.Operand("m", given[1].high, 3),
        _arrays.attitude_operand("q", given[2].high),
        _arrays.Operand("h", given[3].high),
    ]
    shape = _arrays.broadcast({o.name: o.batch for o in high})
    _core.validate(*((o.name, o.array) for o in high[:3]))
    moments = high[0].array
    none = moments <= _arrays.ZERO_MOMENT * moments.max(axis=-1, keepdims=True)
    given[0] = Numbers(np.where(none, 0.0, moments), np.where(none, 0.0, given[0].low))

    rows = [_rows(x, shape, o.core) for x, o in zip(given, high, strict=True)]
    inertias, momenta, attitudes, steps = rows
    results = _quad.step(
        method, inertias, momenta, attitudes, steps[:, 0], steps[:, 1], n_steps=count
    )
    finite = np.ones(len(steps), bool)
    for x in (momenta, attitudes, steps):
        finite &= np.isfinite(x[..., 0]).all(axis=tuple(range(1, x.ndim - 1)))
    for x in results:
        x[~finite] = np.nan
    if may_lack_root(row, ()):
        lost = int(np.count_nonzero(np.isnan(results[0][:, 0, 0]) & finite))
        if lost:
            warn_of_lost(row, lost)
    m_end, q_end = (_unpacked(x, shape + o.core) for x, o in zip(results, high[1:3], strict=True))
    return (m_end, q_end) if digits else (m_end.high, q_end.high)


def _as_in_elliptic(name: str, parameters: str, errors: str) -> Callable[..., Any]:
    """The function of this name in `polhode.elliptic`, of numbers of any kind."""
    by_place = [Parameter(each, Parameter.POSITIONAL_ONLY) for each in parameters.split()]
    options = [Parameter("kc2", Parameter.POSITIONAL_OR_KEYWORD, default=None)]
    options = options if "k2" in parameters else []
    digits = Parameter("digits", Parameter.KEYWORD_ONLY, default=False)
    signature = Signature([*by_place, *options, digits])

    def function(*values: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*values, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        digits = given.pop("digits", False)
        if given.get("kc2", 0) is None:
            del given["kc2"]
        numbers = {key: _numbers(key, x) for key, x in given.items()}
        if options and "kc2" not in numbers:
            one = Numbers(np.ones(()), np.zeros(()))
            (numbers["kc2"],) = _apply("subtract", one, numbers["k2"])
        _arrays.broadcast({key: x.shape for key, x in numbers.items()})
        results = [x if digits else x.high[()] for x in _apply(name, *numbers.values())]
        return tuple(results) if len(results) > 1 else results[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `polhode.elliptic.{name}`; {errors}."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


_RELATIVE = "relative error below 1e-31"
agm = _as_in_elliptic("agm", "a b", _RELATIVE)
rf = _as_in_elliptic("rf", "x y z", _RELATIVE)
rc = _as_in_elliptic("rc", "x y", _RELATIVE)
rd = _as_in_elliptic("rd", "x y z", _RELATIVE)
rj = _as_in_elliptic("rj", "x y z p", f"{_RELATIVE}, for p < 0 of the largest term")
jacobi = _as_in_elliptic("jacobi", "u k2", "error 1e-31 in place of 4 eps")
ellip_k = _as_in_elliptic("ellip_k", "k2", _RELATIVE)
ellip_f = _as_in_elliptic("ellip_f", "phi k2", "error below 1e-31 times the condition in phi")
ellip_pi = _as_in_elliptic("ellip_pi", "n phi k2", "error as of `ellip_f`")
ellip_pi_complete = _as_in_elliptic("ellip_pi_complete", "n k2", _RELATIVE)


def _apply(name: str, *arguments: Numbers) -> list[Numbers]:
    """The results of a function of the core, of numbers that broadcast."""
    shape = np.broadcast_shapes(*(x.shape for x in arguments))
    rows = _quad.evaluate(name, *(_rows(x, shape, ()) for x in arguments))
    return [_unpacked(x, shape) for x in (rows if isinstance(rows, tuple) else (rows,))]


def _numbers(name: str, value: Any) -> Numbers:
    """Anything real as sums of two doubles."""
    if isinstance(value, Numbers):
        return Numbers(
            _arrays.real_array(name, value.high).astype(np.float64),
            _arrays.real_array(name, value.low).astype(np.float64),
        )
    if type(value) is not np.ndarray:
        _arrays.refuse_units(name, value)
    array = value if isinstance(value, np.ndarray) else np.array(value, object)
    if array.dtype.kind in "fb" or isinstance(value, np.ma.MaskedArray):
        real = _arrays.real_array(name, array)
        with np.errstate(over="ignore", invalid="ignore"):
            high = real.astype(np.float64)
            low = (real - high).astype(np.float64)
        return Numbers(high, np.where(np.isfinite(high), low, 0.0))
    pairs = [_pair(name, x) for x in np.ravel(array).tolist()]
    both = np.array(pairs, np.float64).reshape(*array.shape, 2)
    return Numbers(both[..., 0], both[..., 1])


def _pair(name: str, x: Any) -> tuple[float, float]:
    """The nearest double to a number, and the rest."""
    try:
        number = Decimal(x) if isinstance(x, str) else x
        high = float(number)
        if not math.isfinite(high):
            if number != high and not math.isnan(high):
                raise OverflowError
            return high, 0.0
        if isinstance(number, Decimal):
            with localcontext(prec=40):
                return high, float(number - Decimal(high))
        # A whole number or fraction less a double would be rounded to a double first.
        return high, float(number - (Fraction(high) if isinstance(x, Rational) else high))
    except OverflowError:
        raise ValueError(f"{name} has a number above the largest double, 1.8e308") from None
    except (ValueError, ArithmeticError):
        raise ValueError(f"{name}: {x!r} is not a number") from None
    except TypeError:
        raise TypeError(f"{name} must be real numbers, not {type(x).__name__}") from None


def _rows(x: Numbers, shape: tuple[int, ...], core: tuple[int, ...]) -> Array:
    """The pairs of every body, shape (bodies, ..., 2)."""
    pairs = np.stack([x.high, x.low], axis=-1)
    whole = np.broadcast_to(pairs, (*shape, *core, 2))
    return np.ascontiguousarray(whole).reshape(prod(shape), *core, 2)


def _unpacked(pairs: Array, shape: tuple[int, ...]) -> Numbers:
    """Pairs as numbers of this shape; the low part of a non-finite number is 0."""
    high, low = (np.ascontiguousarray(pairs[..., k]).reshape(shape) for k in (0, 1))
    return Numbers(high, np.where(np.isfinite(high), low, 0.0))


def _text(high: float, low: float, digits: int) -> str:
    with localcontext(prec=digits):
        number = Decimal(high) + Decimal(low)
        return f"{number:.{digits - 1}e}" if number else "0"
