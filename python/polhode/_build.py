"""The directories of the C++ library, and how the core was compiled."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np

from polhode import _core


def _installed() -> Path:
    """Directory of the installed headers and CMake files; not that of an editable install."""
    import importlib.metadata  # takes as long as the rest of polhode

    try:
        found = importlib.metadata.distribution("polhode").locate_file("polhode")
    except importlib.metadata.PackageNotFoundError:
        return Path(__file__).resolve().parent
    return Path(str(found)).resolve()


def get_include() -> str:
    """Directory to pass to a C++ compiler as ``-I``.

    It contains ``polhode.h`` (C), ``polhode.hpp`` (C++) and the folder ``polhode`` of kernels. The
    C++ headers need only a C++20 compiler.
    """
    return str(_installed() / "include")


def get_library() -> str:
    """Path of the shared library with the C interface ``polhode.h``.

    A program that is linked to it has the kernels of all instruction-set levels. Raises
    FileNotFoundError if the installation has no such library.
    """
    folder = _installed()
    for name in ("lib/libpolhode.so", "lib/libpolhode.dylib", "polhode.dll"):
        if (folder / name).exists():
            return str(folder / name)
    raise FileNotFoundError(f"{folder} has no libpolhode")


def get_cmake_dir() -> str:
    """Directory of the CMake package, for ``-Dpolhode_ROOT=``.

    It contains ``polhodeConfig.cmake``, which defines the targets ``polhode::library`` (linked) and
    ``polhode::polhode`` (header-only).
    """
    return str(_installed() / "share" / "cmake" / "polhode")


def build_info() -> dict[str, object]:
    """Version, compiler, instruction-set level and platform, for a bug report.

    Returns
    -------
    dict
        - ``version``: of polhode.
        - ``compiler``: the compiler that built the core.
        - ``isa``: the instruction-set level in use.
        - ``isa_supported``: the levels of this build that the processor can run, the fastest first.
        - ``isa_processor``: the best level of the processor, or None if it is not known. If it is
          not in ``isa_supported``, polhode was built on another machine: build it again here.
        - ``isa_forced``: the value of the environment variable POLHODE_ISA, or None.
        - ``threads_default``: the number of threads of ``threads=None``, POLHODE_NUM_THREADS or 1.
          If that variable is not a valid number, its text.
        - ``cores``: the number of cores that this process may use.
        - ``python``, ``numpy``: their versions.
        - ``platform``: operating system and processor.

    Examples
    --------
    >>> info = ph.build_info()
    >>> info["version"] == ph.__version__, info["isa"] in info["isa_supported"]
    (True, True)
    """
    threads: int | str
    try:
        threads = _core.thread_count(0)
    except ValueError:
        threads = os.environ["POLHODE_NUM_THREADS"]
    return {
        **{name: _core.build[name] for name in ("version", "compiler", "isa")},
        "isa_supported": _core.build["isa_supported"].split(),
        "isa_processor": _core.build["isa_processor"] or None,
        "isa_forced": os.environ.get("POLHODE_ISA") or None,
        "threads_default": threads,
        "cores": _core.thread_count(-1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }
