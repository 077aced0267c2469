from __future__ import annotations
import numpy
import typing

__all__: list[str] = [
    "agm",
    "build",
    "casimir",
    "describe",
    "ellip_f",
    "ellip_f_kc2",
    "ellip_k",
    "ellip_k_kc2",
    "ellip_pi",
    "ellip_pi_complete",
    "ellip_pi_complete_kc2",
    "ellip_pi_kc2",
    "energy",
    "flops",
    "jacobi",
    "jacobi_kc2",
    "methods",
    "momentum",
    "motion_at",
    "motion_facts",
    "omega",
    "rc",
    "rd",
    "rf",
    "rj",
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

def describe(ufunc: typing.Any, text: str) -> None: ...
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
def motion_at(
    inertia: typing.Any,
    m: typing.Any,
    attitude: typing.Any,
    repeated: typing.Any,
    beyond: typing.Any,
    t: typing.Any,
    m_out: typing.Any,
    attitude_out: typing.Any,
    threads: typing.SupportsInt | typing.SupportsIndex,
) -> bool: ...
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

agm: numpy.ufunc
build: dict[str, typing.Any]
casimir: numpy.ufunc
ellip_f: numpy.ufunc
ellip_f_kc2: numpy.ufunc
ellip_k: numpy.ufunc
ellip_k_kc2: numpy.ufunc
ellip_pi: numpy.ufunc
ellip_pi_complete: numpy.ufunc
ellip_pi_complete_kc2: numpy.ufunc
ellip_pi_kc2: numpy.ufunc
energy: numpy.ufunc
jacobi: numpy.ufunc
jacobi_kc2: numpy.ufunc
momentum: numpy.ufunc
motion_facts: numpy.ufunc
omega: numpy.ufunc
rc: numpy.ufunc
rd: numpy.ufunc
rf: numpy.ufunc
rj: numpy.ufunc
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
