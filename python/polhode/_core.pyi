from __future__ import annotations
import numpy
import typing

__all__: list[str] = [
    "build",
    "casimir",
    "energy",
    "flops",
    "methods",
    "momentum",
    "omega",
    "rf",
    "so3_conjugate",
    "so3_exp",
    "so3_log",
    "so3_log_shortest",
    "so3_multiply",
    "so3_rotate",
    "so3_rotate_by_matrix",
    "so3_to_matrix",
    "so3_to_quaternion",
    "step",
    "symmetric_eigen",
]

def flops(
    method: str,
    I1: typing.SupportsFloat | typing.SupportsIndex,
    I2: typing.SupportsFloat | typing.SupportsIndex,
    I3: typing.SupportsFloat | typing.SupportsIndex,
    m1: typing.SupportsFloat | typing.SupportsIndex,
    m2: typing.SupportsFloat | typing.SupportsIndex,
    m3: typing.SupportsFloat | typing.SupportsIndex,
    h: typing.SupportsFloat | typing.SupportsIndex,
    matrix: bool,
) -> dict[str, typing.Any]: ...
def methods() -> list[typing.Any]: ...
def step(
    method: typing.SupportsInt | typing.SupportsIndex,
    inertia: typing.Any,
    m: typing.Any,
    attitude: typing.Any,
    h: typing.Any,
    m_out: typing.Any,
    attitude_out: typing.Any,
    n_steps: typing.SupportsInt | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
    rods_checked: bool,
) -> typing.Any: ...

build: dict[str, typing.Any]
casimir: numpy.ufunc
energy: numpy.ufunc
momentum: numpy.ufunc
omega: numpy.ufunc
rf: numpy.ufunc
so3_conjugate: numpy.ufunc
so3_exp: numpy.ufunc
so3_log: numpy.ufunc
so3_log_shortest: numpy.ufunc
so3_multiply: numpy.ufunc
so3_rotate: numpy.ufunc
so3_rotate_by_matrix: numpy.ufunc
so3_to_matrix: numpy.ufunc
so3_to_quaternion: numpy.ufunc
symmetric_eigen: numpy.ufunc
