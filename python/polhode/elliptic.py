"""Elliptic functions and integrals of real arguments, over whole arrays.

The parameter is ``k2``, the square of the modulus k (SciPy's ``m``); ``kc2 = 1 - k2`` may also be
given, which avoids the loss of digits of ``1 - k2`` as k2 -> 1. The characteristic ``n`` of the
third kind has the sign of Abramowitz & Stegun: ``1 - n sin^2`` is in the denominator.

`agm`, `rf`, `rc`, `rd` and `rj` are NumPy ufuncs; each other function calls one of two ufuncs,
without or with `kc2`, and passes ``out=``, ``where=``, ``casting=`` on. Arguments broadcast; any
dtype that NumPy casts to float64 safely, and with ``dtype=float`` any real dtype, also long double;
computed and returned as float64. A result has the same bits at every position in an array. Errors
are relative, in eps = 2.2e-16.

A NaN argument gives NaN. Outside its domain a function is NaN; each docstring gives the limits at
the edge of the domain. No function warns.

Examples
--------
>>> from polhode import elliptic
>>> sn, cn, dn, am = elliptic.jacobi([0.5, 2.0], 0.75)
>>> sn.round(6)
array([0.466428, 0.996921])
>>> elliptic.ellip_f(am, 0.75).round(6)
array([0.5, 2. ])
>>> float(elliptic.rf(0.0, 1.0, 2.0).round(12))
1.311028777146
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from polhode import _core
from polhode._arrays import Array

__all__ = [
    "agm", "ellip_f", "ellip_k", "ellip_pi", "ellip_pi_complete", "jacobi", "rc", "rd", "rf",
    "rj",
]  # fmt: skip


def _ufunc(name: str, text: str) -> np.ufunc:
    ufunc: np.ufunc = getattr(_core, name)
    _core.describe(ufunc, text)
    return ufunc


agm = _ufunc(
    "agm",
    """Arithmetic-geometric mean of two non-negative numbers.

Error below 4 eps. Limits: 0 where one number is 0 and the other finite, inf where one is inf and
the other positive, NaN for (0, inf) and where one is negative.""",
)
rf = _ufunc(
    "rf",
    """Carlson's R_F(x, y, z) = 1/2 int_0^inf dt / sqrt((t+x)(t+y)(t+z)).

x, y, z >= 0, at most one of them zero. Error below 4 eps. Limits: inf where two are zero, 0 where
one is inf; NaN where one is negative. Source: DLMF 19.16.1, 19.36(i).""",
)
rc = _ufunc(
    "rc",
    """Carlson's R_C(x, y) = R_F(x, y, y); for y < 0 its Cauchy principal value.

x >= 0. Error below 4 eps. Limits: inf at y = 0, 0 where one is inf; NaN where x is negative.
Source: DLMF 19.2.20.""",
)
rd = _ufunc(
    "rd",
    """Carlson's R_D(x, y, z) = R_J(x, y, z, z).

x, y >= 0, at most one of them zero, z > 0. Error below 4 eps. Limits: inf where z = 0 or x = y = 0,
0 where one is inf; NaN where one is negative. Source: DLMF 19.16, 19.36(i).""",
)
rj = _ufunc(
    "rj",
    """Carlson's R_J(x, y, z, p) = 3/2 int_0^inf dt / ((t+p) sqrt((t+x)(t+y)(t+z))).

x, y, z >= 0, at most one of them zero; for p < 0 the Cauchy principal value. Error below 8 eps, for
p < 0 of the largest term in it: it has zeros there. Limits: inf at p = 0; inf, or -inf for p < 0,
where two of x, y, z are zero; 0 where one is inf; NaN where x, y or z is negative. Source: DLMF
19.16, 19.21.12, 19.36(i).""",
)


def jacobi(
    u: ArrayLike, k2: ArrayLike, /, kc2: ArrayLike | None = None, **ufunc_kwargs: Any
) -> tuple[Array, Array, Array, Array]:
    """Jacobi elliptic functions sn, cn, dn and the amplitude am.

    Parameters
    ----------
    u : array_like
        Argument, any real.
    k2 : array_like
        Parameter k^2, any finite real: also negative, 1 and above 1.
    kc2 : array_like, optional
        Its complement ``1 - k2``, if known more accurately than by subtraction.
    **ufunc_kwargs
        Arguments of a ufunc, such as ``out=`` (a tuple of four) and ``where=``.

    Returns
    -------
    sn, cn, dn, am : ndarray
        ``sn = sin am``, ``cn = cos am``, ``dn = sqrt(1 - k2 sn^2)`` with its sign. `am` is
        continuous in `u`: unbounded for k2 < 1, the Gudermannian at k2 = 1, within ``asin(1/k)``
        above.

    Notes
    -----
    Absolute error of sn, cn and am: at most 4 eps (1 + s), s = ``|u| max(1, sqrt |k2|)``; of dn
    that times ``max(1, |dn|)``. At k2 = 1 the functions are tanh and sech, for `u` of any size,
    infinite included. Otherwise NaN for infinite k2 (except for u = 0) and where ``|u|`` is 2^50
    times ``2 K / pi`` or more, K(k) the quarter period (K(1/k)/k for k2 > 1): no digit is known
    there. For k2 < 1 am still has digits, and is +-inf at u = +-inf.
    Source: DLMF 22.7(i), 22.17(i).
    """
    return cast("tuple[Array, Array, Array, Array]", _of_k2("jacobi", kc2, ufunc_kwargs, u, k2))


def ellip_f(
    phi: ArrayLike, k2: ArrayLike, /, kc2: ArrayLike | None = None, **ufunc_kwargs: Any
) -> Array:
    """Incomplete elliptic integral of the first kind, ``int_0^phi dt / sqrt(1 - k2 sin^2 t)``.

    F(phi, k), the inverse of am; phi in radians, any real phi and k2 with ``k2 sin^2 phi <= 1``;
    `kc2` and ufunc_kwargs as in `jacobi`. Error at most 4 eps, unless half an ulp of the arguments
    has a larger effect (near ``k2 sin^2 phi = 1``).

    At k2 = 1, +-inf for ``|phi|`` of a quarter turn or more. For k2 > 1 the integral ends where
    ``k2 sin^2 phi = 1``; values of this product up to 4 eps above 1 count as 1, above that the
    result is NaN. +-inf at phi = +-inf (k2 <= 1), 0 at k2 = -inf. Source: DLMF 19.25.5.
    """
    return cast("Array", _of_k2("ellip_f", kc2, ufunc_kwargs, phi, k2))


def ellip_k(k2: ArrayLike, /, kc2: ArrayLike | None = None, **ufunc_kwargs: Any) -> Array:
    """Complete elliptic integral of the first kind, K = F(pi/2, k), k2 at most 1.

    The quarter period of sn and cn; `kc2` and ufunc_kwargs as in `jacobi`. Error at most 4 eps. inf
    at k2 = 1, NaN above, 0 at k2 = -inf. Source: DLMF 19.8(i).
    """
    return cast("Array", _of_k2("ellip_k", kc2, ufunc_kwargs, k2))


def ellip_pi(
    n: ArrayLike, phi: ArrayLike, k2: ArrayLike, /, kc2: ArrayLike | None = None,
    **ufunc_kwargs: Any,
) -> Array:  # fmt: skip
    """Incomplete elliptic integral of the third kind.

    ``Pi(n; phi, k) = int_0^phi dt / ((1 - n sin^2 t) sqrt(1 - k2 sin^2 t))``, for any real n;
    beyond a pole (n > 1), its Cauchy principal value. The domain of phi and k2 is as in `ellip_f`;
    `kc2` and ufunc_kwargs as in `jacobi`.

    Error at most 8 eps unless half an ulp of the arguments has a larger effect. Beyond a pole the
    principal value is the difference of two terms, and the error is relative to the larger one.
    +-inf on the pole ``n sin^2 phi = 1``, and for n = 1 if ``|phi|`` is a quarter turn or more; 0
    at n = +-inf. Source: DLMF 19.25.14, 19.21.12.
    """
    return cast("Array", _of_k2("ellip_pi", kc2, ufunc_kwargs, n, phi, k2))


def ellip_pi_complete(
    n: ArrayLike, k2: ArrayLike, /, kc2: ArrayLike | None = None, **ufunc_kwargs: Any
) -> Array:
    """Complete elliptic integral of the third kind, Pi(n; pi/2, k), k2 at most 1.

    For n > 1 the Cauchy principal value; `kc2` and ufunc_kwargs as in `jacobi`. Error as of
    `ellip_pi`. inf at n = 1; at k2 = 1 inf for n <= 1 and -inf for n > 1; NaN for k2 > 1; 0 at
    n = +-inf. Source: DLMF 19.25(i), 19.21.12.
    """
    return cast("Array", _of_k2("ellip_pi_complete", kc2, ufunc_kwargs, n, k2))


def _of_k2(name: str, kc2: ArrayLike | None, given: dict[str, Any], *arguments: ArrayLike) -> Any:
    """The ufunc whose arguments end in k2, or the one with kc2 in addition."""
    if kc2 is None:
        return getattr(_core, name)(*arguments, **given)
    return getattr(_core, f"{name}_kc2")(*arguments, kc2, **given)
