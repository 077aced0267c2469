"""The elliptic functions of SciPy and of Boost, called as `polhode.elliptic`'s.

SciPy: ufuncs of scipy.special; its parameter is our k2.  Boost: a small file of C++ that is
compiled when it is first asked for, if there are a compiler and Boost's headers (of the
distribution boost-headers, of cmeel-boost, which comes with Pinocchio, or of the system); its
modulus is the root of our k2, which is part of the time, and the rounding of it part of the error.
Each function writes into arrays that it is given.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from benchmarks._bodies import Array
from benchmarks.cases.functions import FUNCTIONS
from benchmarks.rivals._compiled import shared_library
from polhode import elliptic

Function = Callable[..., object]
Functions = dict[str, Function]

#: Names of the functions.
NAMES = tuple(name for name, *_ in FUNCTIONS)

_HEADER = "boost/math/special_functions/jacobi_elliptic.hpp"


class MissingError(Exception):
    """A program is not installed; the text stands in its row."""


def ours() -> tuple[str, Functions]:
    """Version and functions of polhode."""
    import polhode

    return polhode.__version__, {name: getattr(elliptic, name) for name in NAMES}


def scipy() -> tuple[str, Functions]:
    """Version and functions of SciPy."""
    try:
        import scipy
        from scipy import special
    except ImportError:
        raise MissingError("not installed (pip install scipy)") from None
    return scipy.__version__, {
        "jacobi": special.ellipj,
        "ellip_f": special.ellipkinc,
        "rj": special.elliprj,
        "rf": special.elliprf,
        "rd": special.elliprd,
        "rc": special.elliprc,
    }


def boost(precision: str) -> tuple[str, Functions]:
    """Version and functions of Boost: "double", or "plain", its default, which uses long double."""
    version, library = _library()
    return version, {
        name: partial(_call, getattr(library, f"{name}_{precision}")) for name in NAMES
    }


def _call(function: Function, *args: Array, out: tuple[Array, ...]) -> None:
    # Of Jacobi's functions Boost has three: the fourth array stays as it is.
    arrays = [*args, *out[:3]]
    function(ctypes.c_long(len(args[0])), *(ctypes.c_void_p(x.ctypes.data) for x in arrays))


def _headers() -> Iterable[Path]:
    """Directories that may hold Boost's headers."""
    for name, below in (("boost_headers", "include"), ("cmeel", "../cmeel.prefix/include")):
        found = importlib.util.find_spec(name)
        for place in (found.submodule_search_locations or []) if found else []:
            yield Path(place, below)
    yield Path(sysconfig.get_path("purelib"), "cmeel.prefix", "include")
    yield from (Path("/usr/include"), Path("/usr/local/include"), Path("/opt/homebrew/include"))


@cache
def _library() -> tuple[str, ctypes.CDLL]:
    """Version of Boost and the compiled library."""
    places = [place for place in _headers() if (place / _HEADER).exists()]
    if not places:
        raise MissingError("not installed (pip install boost-headers)")
    found = re.search(
        r'BOOST_LIB_VERSION "(\S+)"',
        (places[0] / "boost" / "version.hpp").read_text(encoding="utf-8"),
    )
    try:
        library = shared_library(
            "_boost.cpp", "-DBOOST_MATH_STANDALONE", "-isystem", str(places[0])
        )
    except OSError as why:
        raise MissingError(str(why)) from why
    return found[1].replace("_", ".") if found else "", library
