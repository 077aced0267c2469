"""A torque that is not finite: reported by its own name, body by body."""

from __future__ import annotations

import ctypes
import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8]) * np.linspace(0.5, 1.5, 300)[:, None]
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
BAD = [0, 7, 130, 299]  # of several blocks, and the last

_P = ctypes.POINTER(ctypes.c_double)


@ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_double,
    _P, _P, _P, ctypes.c_void_p,
)  # fmt: skip
def compiled(n: int, first: int, stride: int, t: float, m: Any, q: Any, f: Any, data: Any) -> None:
    for i in range(n):
        for k in range(3):
            f[k * stride + i] = 0.0
        if first + i in BAD and t > 0.25:
            f[2 * stride + i] = np.nan  # one component is enough


def function(t: float, m: Array, q: Array, value: float = np.nan) -> Array:
    torque = np.zeros(m.shape)
    if t > 0.25:
        torque[BAD, 1] = value
    return torque


def infinite(t: float, m: Array, q: Array) -> Array:
    return function(t, m, q, np.inf)


def damped(t: float, m: Array, q: Array) -> Array:
    return function(t, m, q) - 0.1 * m


class Short:
    """A piecewise polynomial that is NaN somewhere between its ends."""

    x = np.array([0.0, 0.25, 1.0])
    c = np.zeros((1, 2, 300, 3))
    c[0, 1, BAD, 0] = np.nan
    extrapolate = False


TORQUES = {
    "function": function,
    "infinite": infinite,
    "depends on m": damped,
    "compiled": ph.torques.Compiled(compiled),
    "model": ph.torques.Prescribed(Short()),
    "sum": [ph.torques.HeavyTop([0.1, 0.0, 0.2]), function],
    "sum in the core": [ph.torques.HeavyTop([0.1, 0.0, 0.2]), ph.torques.Compiled(compiled)],
}
WAYS: dict[str, dict[str, Any]] = {
    "splitting": {},
    "kicks in the middle": {"splitting": ([0.5, 0.5], [1.0])},
    "flows by an implicit method": {"method": "imid"},
    "explicit": {"method": "rk4", "splitting": None},
    "taylor": {"method": "taylor1", "splitting": None},
    "implicit": {"method": "imidm", "splitting": None},
    "multistep": {"method": "abam_rotation", "splitting": None},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("torque", TORQUES.values(), ids=TORQUES)
@pytest.mark.parametrize("threads", [1, 2])
def test_bodies_that_a_torque_made_nan_are_counted(
    torque: Any, way: dict[str, Any], threads: int
) -> None:
    arguments = INERTIA, M0, Q0, 0.1, 10
    with pytest.warns(RuntimeWarning) as caught:
        traj = ph.integrate(*arguments, torque=torque, threads=threads, **way)
    assert [str(w.message) for w in caught] == ["the torque was not finite: 4 bodies are NaN"]
    assert caught[0].filename == __file__
    lost = ~np.isfinite(traj.m[-1]).all(-1)
    assert np.flatnonzero(lost).tolist() == BAD


def test_last_kick_of_the_run() -> None:
    def late(t: float, q: Array) -> Array:
        return np.array([0.0, np.nan if t > 0.95 else 0.0, 0.0])

    with pytest.warns(RuntimeWarning, match="^the torque was not finite: 1 body is NaN$"):
        ph.integrate(INERTIA, M0[0], Q0, 0.1, 10, torque=late)


def test_damping_that_overflows() -> None:
    # The exact kick of the model, exp(k) with k beyond the range of numbers.
    ship = ph.torques.Vessel(1.0, 1.0, 1.0, damping=[1e5, 1e5, 1e5])
    with pytest.warns(RuntimeWarning, match="^the torque was not finite: 1 body is NaN$"):
        ph.integrate(INERTIA, M0[0], Q0, -10.0, 2, torque=ship)


def test_bodies_that_were_none_at_the_start_are_not_counted() -> None:
    m0, q0, h = M0.copy(), np.tile(Q0, (300, 1)), 0.1
    m0[0, 1], q0[7, 2] = np.nan, np.inf
    with pytest.warns(RuntimeWarning, match="^the torque was not finite: 2 bodies are NaN$"):
        ph.integrate(INERTIA, m0, q0, h, 10, torque=function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.integrate(INERTIA, M0, Q0, np.nan, 10, torque=function)
        ph.integrate(INERTIA, M0, Q0, h, 2, torque=function)  # ends before


@pytest.mark.parametrize("way", ["short", "array", "files", "run", "events", "matrix", "companion"])
@pytest.mark.parametrize("fault", ["momentum", "step", "attitude"])
def test_what_leaves_the_range_of_doubles_warns(way: str, fault: str, tmp_path: Path) -> None:
    """Every way through `integrate`, and each part of the state that may be lost."""
    torque = ph.torques.HeavyTop([0.1, 0.0, 0.2])
    inertia: Any = INERTIA
    m0, h = M0[0], 0.1
    if fault == "momentum":  # a flow of 2^50 radians and more
        m0 = 1e20 * m0
    elif fault == "step":  # h^3 is infinite
        h = 1e105
    else:  # a sphere, of which only the attitude is lost
        inertia, m0, torque = np.ones(3), 1e20 * m0, ph.torques.Constant([0.0, 0.0, 1.0])
    more: dict[str, Any] = {"torque": torque}
    if fault == "step" and way != "companion":
        more["splitting"] = "takahashi_imada"
    q0 = np.eye(3) if way == "matrix" else Q0
    if way == "array":
        m0 = np.tile(m0, (5, 1))
    elif way == "files":
        more["save_to"] = tmp_path / "run"
    elif way == "events":
        more["events"] = lambda t, m, q: m[0] - 1e300
    elif way == "companion":
        more["mass"] = 1.0
    go = functools.partial(ph.integrate, inertia, m0, q0, h, 2, **more)
    if way == "run":
        go = functools.partial(ph.Run(inertia, m0, q0, h, **more).advance, 2)
    bodies = "5 bodies are" if way == "array" else "1 body is"
    with pytest.warns(RuntimeWarning, match=f"^a step of method 'exact' .*: {bodies}") as caught:
        go()
    assert len(caught) == 1


@pytest.mark.parametrize("splitting", ph.splittings(), ids=lambda s: s.name)
def test_every_splitting_warns_where_a_step_is_beyond_doubles(splitting: ph.Splitting) -> None:
    for h in (1e105, 1e155, 1e300):
        with pytest.warns(RuntimeWarning, match="1 body is NaN"):
            ph.integrate(
                INERTIA, M0[0], Q0, h, 2, torque=ph.torques.HeavyTop([0.1, 0.0, 0.2]),
                splitting=splitting,
            )  # fmt: skip


@pytest.mark.parametrize("part", ["force", "rate of a state"])
def test_forces_and_rates_that_are_not_finite(part: str) -> None:
    def force(t: float, x: Array) -> tuple[Array, Array]:
        return np.where(t > 0.25, np.nan, 1.0) * x, np.zeros(3)

    def rate(t: float, s: Array) -> tuple[Array, Array]:
        return np.zeros(3), np.where(t > 0.25, np.nan, 1.0) * s

    more: dict[str, Any] = (
        {"torque": force, "mass": 1.0, "x0": [1.0, 0.0, 0.0]}
        if part == "force"
        else {"torque": rate, "state0": [1.0, 2.0]}
    )
    what = "the force" if part == "force" else "the rate of s"
    with pytest.warns(RuntimeWarning, match=f"^{what} was not finite: 1 body is NaN$"):
        ph.integrate(INERTIA, M0[0], Q0, 0.1, 10, **more)
    run = ph.Run(INERTIA, M0[0], Q0, 0.1, **more)
    run.advance(2)
    with pytest.warns(RuntimeWarning, match=f"^{what} was not finite: 1 body is NaN$"):
        run.advance(8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.advance(1)  # only once
        start = "x0" if part == "force" else "state0"
        ph.integrate(
            INERTIA, M0[0], Q0, 0.1, 10, **{**more, start: np.full_like(more[start], np.nan)}
        )


def test_no_root_and_no_torque_are_told_apart() -> None:
    m0 = M0.copy()
    m0[3] *= 1e10
    text = (
        r"^the torque was not finite: 4 bodies are NaN; method 'imidm' found no root in a step: "
        r"1 body is NaN; shorter steps have one$"
    )
    with pytest.warns(RuntimeWarning, match=text) as caught:
        ph.integrate(INERTIA, m0, Q0, 0.1, 10, torque=function, method="imidm", splitting=None)
    assert len(caught) == 1


def test_neighbours_are_untouched() -> None:
    for torque in (function, ph.torques.Compiled(compiled)):
        with pytest.warns(RuntimeWarning, match="4 bodies"):
            traj = ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=torque)
        others = np.delete(np.arange(300), BAD)
        zero = ph.torques.Function(lambda q: np.zeros_like(q[..., 1:]))
        same(traj.m[:, others], ph.integrate(INERTIA, M0[others], Q0, 0.1, 10, torque=zero).m)
