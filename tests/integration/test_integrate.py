"""polhode.integrate: shapes, times, saves, callbacks, errors, user-defined torques."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
EPS = 2.0**-52
INERTIA = [1.0, 1.5, 2.2]
M0 = [0.3, 0.5, 0.8]
Q0 = [1.0, 0.0, 0.0, 0.0]
U0 = np.array([0.2, -0.1, 0.4])
TOP = ph.torques.HeavyTop(U0)


def pull(t: float, q: Array) -> Array:
    return TOP.torque(t, np.zeros(3), q)


top_in_python = ph.torques.Function(pull, potential=TOP.potential)


def integrate(**changes: Any) -> ph.Trajectory:
    arguments: dict[str, Any] = {
        "inertia": INERTIA, "m0": M0, "q0": Q0, "h": 0.1, "n_steps": 10, "torque": TOP, **changes
    }  # fmt: skip
    return ph.integrate(**arguments)


# Shapes and times ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_steps", "save_every", "saved"),
    [(10, 1, range(11)), (10, 5, [0, 5, 10]), (10, 4, [0, 4, 8, 10]), (10, 99, [0, 10]),
     (0, 3, [0]), (1, 1, [0, 1])],
)  # fmt: skip
@pytest.mark.parametrize("torque", [TOP, top_in_python], ids=["model", "function"])
def test_saves(torque: Any, n_steps: int, save_every: int, saved: Any) -> None:
    traj = integrate(n_steps=n_steps, save_every=save_every, torque=torque, t0=2.0)
    assert len(traj) == 1 + -(-n_steps // save_every)
    np.testing.assert_array_equal(traj.t, 2.0 + np.array(list(saved)) * 0.1)
    full = integrate(torque=torque, t0=2.0)
    np.testing.assert_array_equal(traj.m, full.m[list(saved)])
    np.testing.assert_array_equal(traj.q, full.q[list(saved)])
    np.testing.assert_array_equal(traj.m[0], M0)


@pytest.mark.parametrize("torque", [None, TOP, top_in_python], ids=["none", "model", "function"])
@pytest.mark.parametrize("core", [(4,), (3, 3)], ids=["quaternion", "matrix"])
def test_shapes(torque: Any, core: tuple[int, ...]) -> None:
    q0 = np.array(Q0) if core == (4,) else np.eye(3)
    inertia = np.array(INERTIA) * np.ones((2, 1, 1))
    m0 = np.array(M0) + np.linspace(0, 1, 5)[:, None]
    traj = integrate(inertia=inertia, m0=m0, q0=q0, n_steps=3, torque=torque)
    assert traj.m.shape == (4, 2, 5, 3)
    assert traj.q.shape == (4, 2, 5, *core)
    assert traj.energy().shape == traj.casimir().shape == (4, 2, 5)
    assert traj.momentum_spatial().shape == (4, 2, 5, 3)
    one = integrate(m0=m0[3], q0=q0, n_steps=3, torque=torque)
    assert one.m.shape == (4, 3)
    np.testing.assert_array_equal(one.m, traj.m[:, 1, 3])
    none = integrate(m0=m0[:0], q0=q0, n_steps=3, torque=torque)
    assert none.m.shape == (4, 0, 3)


def test_parameters_of_a_model_broadcast_with_the_bodies() -> None:
    u0 = U0 * np.arange(1, 151)[:, None]
    many = integrate(torque=ph.torques.HeavyTop(u0))
    assert many.m.shape == (11, 150, 3)
    for k in (0, 1, 127, 149):
        one = integrate(torque=ph.torques.HeavyTop(u0[k]))
        np.testing.assert_array_equal(many.m[:, k], one.m)
        np.testing.assert_array_equal(many.energy()[:, k], one.energy())


def test_inputs_of_any_type_are_not_changed() -> None:
    m0 = np.array(M0, dtype=">f4")
    q0 = np.array([2.0, 0.0, 0.0, 0.0])
    traj = integrate(m0=m0, q0=q0)
    assert traj.m.dtype == np.float64
    np.testing.assert_array_equal(traj.m[0], m0)
    np.testing.assert_array_equal(q0, [2, 0, 0, 0])
    np.testing.assert_array_equal(traj.q[0], Q0)
    np.testing.assert_array_equal(traj.q, integrate(m0=m0).q)


@pytest.mark.parametrize("torque", [TOP, top_in_python], ids=["model", "function"])
def test_one_h_per_step(torque: Any) -> None:
    h = np.array([0.1, 0.2, -0.05, 0.3])
    traj = integrate(h=h, n_steps=4, torque=torque, t0=1.0)
    close(traj.t, [1.0, 1.1, 1.3, 1.25, 1.55], rtol=2 * EPS)
    m, q = M0, Q0
    for k in range(4):
        one = integrate(m0=m, q0=q, h=h[k], n_steps=1, torque=torque)
        m, q = one.m[-1], one.q[-1]
        np.testing.assert_array_equal(traj.m[k + 1], m)
        np.testing.assert_array_equal(traj.q[k + 1], q)


# Torques ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("splitting", ["strang", "rkn6_14"])
def test_function_and_model_agree(splitting: str) -> None:
    model = integrate(splitting=splitting)
    function = integrate(splitting=splitting, torque=top_in_python)
    close(function.m, model.m, atol=1e-14)
    close(function.q, model.q, atol=1e-14)
    close(function.energy(), model.energy(), atol=1e-14)


def test_a_list_of_torques_is_their_sum() -> None:
    whole = integrate(torque=ph.torques.HeavyTop(U0, axis=(0.5, 1.0, -1.0)))
    parts = [ph.torques.HeavyTop(U0, axis=a) for a in ([0.5, 0, 0], [0, 1, 0], [0, 0, -1])]
    for torque in (parts, [parts[0], [parts[1], parts[2].torque]]):
        close(integrate(torque=torque).m, whole.m, atol=1e-14)
    close(integrate(torque=parts).energy(), whole.energy(), atol=1e-14)
    assert np.abs(integrate(torque=parts[:2]).m - whole.m).max() > 1e-3


def test_heavy_top_by_hand() -> None:
    # A quarter turn about axis 3: e1 of the body points along e2 of space.
    q = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
    Q = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    top = ph.torques.HeavyTop([1.0, 2.0, 3.0], axis=(0.0, 1.0, 2.0))
    u = np.array([2.0, -1.0, 3.0])
    for attitude in (q, Q):
        close(top.torque(0.0, np.zeros(3), attitude), np.cross(u, [0, 1, 2]), atol=1e-14)
        close(top.potential(0.0, attitude), 5.0, rtol=1e-14)


def test_a_kick_sees_the_time_reached() -> None:
    seen: list[float] = []

    def clock(t: float, q: Array) -> list[float]:
        seen.append(t)
        return [0.0, 0.0, t]

    # A sphere: m is the integral of the torque, exact for t^1 by the trapezoidal rule.
    traj = integrate(inertia=[1, 1, 1], torque=clock, t0=1.0, h=0.5, n_steps=4)
    assert seen == [1.0, 1.5, 2.0, 2.5, 3.0]
    close(traj.m[-1, 2] - M0[2], (9 - 1) / 2, atol=4 * EPS)
    seen.clear()
    integrate(torque=clock, t0=1.0, h=0.5, n_steps=2, splitting=([0.5, 0.5], [1.0]))
    assert seen == [1.25, 1.75]


def test_the_arrays_a_torque_sees_are_read_only() -> None:
    def careless(t: float, m: Array, q: Array) -> Array:
        m += 1
        return m

    with pytest.raises(ValueError, match="read-only"):
        integrate(torque=careless)


def test_own_coefficients() -> None:
    np.testing.assert_array_equal(integrate(splitting=([1.0], [0.5, 0.5])).m, integrate().m)
    strang_free = integrate(splitting=([0.5, 0.5], [1.0]))
    assert 1e-6 < np.abs(strang_free.m - integrate().m).max() < 1e-2
    euler = integrate(splitting=([1.0], [1.0]))
    m, q = ph.step(INERTIA, M0, Q0, 0.1)
    np.testing.assert_array_equal(euler.q[1], q)
    close(euler.m[1], m + 0.1 * TOP.torque(0.0, m, q), atol=2 * EPS)
    (scheme,) = (s for s in ph.splittings() if s.name == "rkn6_14")
    for same in (scheme, (scheme.a, scheme.b)):
        np.testing.assert_array_equal(integrate(splitting=same).m, integrate(splitting="rkn6_14").m)
    halves: Any = ([Fraction(1)], [Fraction(1, 2)] * 2)
    np.testing.assert_array_equal(integrate(splitting=halves).m, integrate().m)


@pytest.mark.parametrize("name", ["chin4a", "t5_6"])
def test_own_coefficients_of_a_modified_potential(name: str) -> None:
    (scheme,) = (s for s in ph.splittings() if s.name == name)
    c = [z for kind, _, z in scheme.stages if kind == "kick"]
    np.testing.assert_array_equal(
        integrate(splitting=(scheme.a, scheme.b, c)).m, integrate(splitting=name).m
    )
    plain = integrate(splitting=(scheme.a, scheme.b, np.zeros(len(c))), torque=top_in_python)
    assert np.abs(plain.m - integrate(splitting=name).m).max() > 1e-9
    with pytest.raises(ValueError, match="modified potential and needs W"):
        integrate(splitting=(scheme.a, scheme.b, c), torque=top_in_python)
    damped = ph.torques.Function(lambda m: -m)
    with pytest.raises(ValueError, match="does not depend on m"):
        integrate(splitting=(scheme.a, scheme.b, c), torque=damped)


# Conserved quantities --------------------------------------------------------------------------


def test_quantities_of_a_trajectory() -> None:
    traj = integrate(torque=None)
    m, i = np.array(M0), np.array(INERTIA)
    close(traj.energy(), np.sum(m * m / i) / 2, rtol=1e-14)
    close(traj.casimir(), m @ m / 2, rtol=1e-14)
    close(traj.momentum_spatial(), np.tile(M0, (11, 1)), atol=1e-14)
    torqued = integrate(splitting="rkn6_14")
    close(torqued.energy(), torqued.energy()[0], atol=1e-10)
    assert np.ptp(torqued.casimir()) > 1e-3
    close(torqued.momentum_spatial() @ U0, np.dot(M0, U0), atol=1e-14)


def test_a_rod_has_energy() -> None:
    traj = integrate(inertia=[0.0, 1.0, 1.0], m0=[0.0, 0.3, 0.4], torque=None)
    close(traj.energy(), 0.125, rtol=1e-14)


# Callbacks and exceptions ----------------------------------------------------------------------


@pytest.mark.parametrize("torque", [TOP, top_in_python], ids=["model", "function"])
def test_callback(torque: Any) -> None:
    calls: list[Any] = []
    traj = integrate(
        save_every=4,
        torque=torque,
        callback=lambda *a: calls.append([*a[:2], *map(np.copy, a[2:])]),
    )
    assert [c[0] for c in calls] == [0, 4, 8, 10]
    np.testing.assert_array_equal([c[1] for c in calls], traj.t)
    np.testing.assert_array_equal([c[2] for c in calls], traj.m)
    np.testing.assert_array_equal([c[3] for c in calls], traj.q)


def test_a_callback_cannot_write_to_the_trajectory() -> None:
    def overwrite(step: int, t: float, m: Any, attitude: Any) -> None:
        for array in (m, attitude):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0

    traj = integrate(callback=overwrite)
    np.testing.assert_array_equal(traj.m, integrate().m)
    traj.m[...] = 0  # the trajectory itself belongs to the user


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("torque", [TOP, top_in_python], ids=["model", "function"])
def test_an_exception_carries_the_trajectory(torque: Any, error: type[BaseException]) -> None:
    def stop(step: int, t: float, m: Array, q: Array) -> None:
        if step == 6:
            raise error

    with pytest.raises(error) as caught:
        integrate(save_every=2, torque=torque, callback=stop)
    traj = caught.value.trajectory  # type: ignore[attr-defined]
    whole = integrate(save_every=2, torque=torque)
    np.testing.assert_array_equal(traj.t, whole.t[:4])
    np.testing.assert_array_equal(traj.m, whole.m[:4])
    np.testing.assert_array_equal(traj.energy(), whole.energy()[:4])


def test_an_exception_of_a_torque_tells_when() -> None:
    def fails(t: float, q: Array) -> Array:
        if t > 0.45:
            raise OverflowError("too late")
        return np.zeros(3)

    with pytest.raises(OverflowError, match="too late") as caught:
        integrate(torque=fails)
    assert caught.value.trajectory.m.shape == (5, 3)  # type: ignore[attr-defined]
    assert "step 4" in caught.value.__notes__[0]
    assert "t = 0.5" in caught.value.__notes__[0]
    with pytest.raises(ZeroDivisionError) as at_once:
        integrate(torque=lambda t, q: 1 // 0)
    assert len(at_once.value.trajectory) == 1  # type: ignore[attr-defined]


class SlottedError(Exception):
    __slots__ = ("code",)


@dataclasses.dataclass(frozen=True)
class FrozenError(Exception):
    """No attribute can be set, not even by add_note."""

    code: int = 3


class Closed(BaseException):
    def __setattr__(self, name: str, value: object) -> None:
        raise RuntimeError("closed")


@pytest.mark.parametrize("error", [SlottedError, FrozenError, Closed])
@pytest.mark.parametrize("save_to", [False, True])
def test_an_exception_comes_out_as_itself(
    tmp_path: Path, error: type[BaseException], save_to: bool
) -> None:
    raised = error()

    def fails(*arguments: Any) -> None:
        raise raised

    changes: Any = {"save_to": tmp_path / "run"} if save_to else {}
    broken = ph.torques.Function(fails, arguments=("t", "m", "q"))
    for torque, callback in ((broken, None), (TOP, fails)):
        with pytest.raises(error) as caught:
            integrate(torque=torque, callback=callback, **changes)
        assert caught.value is raised
        assert hasattr(raised, "trajectory") == (error is SlottedError)
        if save_to:
            changes["save_to"] = tmp_path / "again"
    if error is SlottedError:
        assert raised.__notes__ == [
            "in step 0 of the integration, at t = 0.0",
            "in the callback after step 0 of the integration, at t = 0.0",
        ]


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    traj = integrate(progress=True)
    assert "10.0/10.0" in capsys.readouterr().err
    np.testing.assert_array_equal(traj.m, integrate().m)


# Refusals --------------------------------------------------------------------------------------


def own_stages(*stages: Any) -> ph.Splitting:
    return dataclasses.replace(ph.splittings()[0], name="mine", stages=stages)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"splitting": "strand"}, ValueError, "unknown splitting 'strand'; did you mean 'strang'"),
        ({"splitting": "verlet"}, ValueError, "Verlet .leapfrog. is 'strang'"),
        ({"splitting": "rkn6_41"}, ValueError, "rkn6_14"),
        ({"splitting": 3}, TypeError, "splitting must be"),
        ({"splitting": ([0.5, 0.4], [1.0])}, ValueError, "a must add up to 1"),
        ({"splitting": ([1.0], [0.5, np.nan])}, ValueError, "b must add up to 1"),
        ({"splitting": ([0.2, 0.3, 0.5], [1.0])}, ValueError, "alternate"),
        ({"splitting": ([], [1.0])}, ValueError, "a must add up to 1, not 0"),
        ({"splitting": ([[0.5], [0.5]], [1.0])}, ValueError, r"a must have shape \(n,\)"),
        ({"splitting": ([[0.5], 0.5], [1.0])}, ValueError, "a is not an array of numbers"),
        ({"splitting": ([1.0], ["1.0"])}, TypeError, "b must be real numbers, not text"),
        ({"splitting": ([1.0], [1.0 + 0j])}, TypeError, "b must be real numbers, not complex"),
        ({"splitting": ([1.0], None)}, TypeError, "b must be real numbers, not NoneType"),
        ({"splitting": ([1.0], [0.5, 0.5], [0.1])}, ValueError, "each kick b has its c.* 2 and 1"),
        ({"splitting": ([1.0], [0.5, 0.5], [0.1, np.inf])}, ValueError, "c must be finite"),
        ({"splitting": ([1.0], [1.0], [0.0], [0.0])}, TypeError, "splitting must be"),
        ({"splitting": own_stages(("flow", 1.0, 0.0), ("push", 1.0, 0.0))}, ValueError, "stage 1"),
        ({"splitting": own_stages(("kick", 1.0), ("flow", 1.0, 0.0))}, ValueError, "stage 0"),
        ({"splitting": own_stages(("flow", np.nan, 0.0))}, ValueError, "stage 0 .* finite"),
        ({"splitting": own_stages(("kick", 1.0, 0.0))}, ValueError, "'mine' has no flow"),
        ({"splitting": own_stages(("flow", 1.0, 0.5))}, ValueError, "stage 0, a flow, has no c"),
        ({"method": "exakt"}, ValueError, "did you mean 'exact'"),
        ({"spin": 1}, TypeError, "no option 'spin'"),
        ({"torque": 3.0}, TypeError, "torque must be"),
        ({"torque": lambda t, q: np.zeros(4)}, ValueError, r"must return shape \(3,\)"),
        ({"torque": lambda t, q: None}, TypeError, "torque function must return .* not None"),
        ({"torque": lambda t, m, q: 1j * m}, TypeError, "torque function returns must be real"),
        ({"torque": lambda t, q: [None, 0, 0]}, TypeError, "must be real numbers, not NoneType"),
        ({"torque": ph.torques.HeavyTop(np.ones((4, 3))), "m0": np.ones((5, 3))}, ValueError,
         r"do not broadcast: .*torque\[0\] \(4,\)"),
        ({"n_steps": -1}, ValueError, "n_steps"),
        ({"n_steps": 2.0}, TypeError, "n_steps must be an integer, not 2.0"),
        ({"save_every": 2.0}, TypeError, "save_every must be an integer, not 2.0"),
        ({"t0": [0.0, 1.0]}, ValueError, "t0 must be one number, not of shape"),
        ({"torque": ph.torques.HeavyTop}, TypeError, "torque is the class HeavyTop"),
        ({"save_every": 0}, ValueError, "save_every must be at least 1"),
        ({"h": [0.1, 0.2]}, ValueError, r"h must be a number or have shape \(10,\)"),
        ({"h": "long"}, TypeError, "h must be real"),
        ({"threads": 0}, ValueError, "threads"),
        ({"callback": 1}, TypeError, "callback"),
        ({"inertia": [1, -1, 1]}, ValueError, "negative"),
        ({"inertia": [[1, 1, 1], [1, np.nan, 1]]}, ValueError, r"inertia\[1"),
        ({"m0": [1, 2]}, ValueError, r"m0 must have shape \(\.\.\., 3\)"),
        ({"q0": [0, 0, 0, 0]}, ValueError, "zero quaternion"),
        ({"q0": np.diag([1.0, 1.0, -1.0])}, ValueError, "determinant"),
        ({"inertia": [0, 1, 1]}, ValueError, "momentum about an axis"),
    ],
)  # fmt: skip
def test_refusals(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        integrate(**changes)


def test_parameters_of_models_are_checked() -> None:
    with pytest.raises(ValueError, match=r"u0\[1, 2\] = inf"):
        ph.torques.HeavyTop([[1, 2, 3], [1, 2, np.inf]])
    with pytest.raises(ValueError, match=r"axis must have shape"):
        ph.torques.HeavyTop(U0, axis=[1, 2])
    with pytest.raises(TypeError, match="W must be a function"):
        ph.torques.Function(pull, W=3)  # type: ignore[arg-type]


def test_splittings_are_frozen_dataclasses() -> None:
    schemes = ph.splittings()
    assert [s.name for s in schemes][:1] == ["strang"]
    for scheme in schemes:
        assert scheme.order
        assert scheme.source
        with pytest.raises(AttributeError):
            scheme.name = "mine"  # type: ignore[misc]
        hash(scheme)
    assert {s.name: len(s.a) for s in schemes}["rkn6_14"] == 15


def test_functions_may_give_back_the_same_array_each_time() -> None:
    kept = np.zeros(3)

    def damping(t: float, m: Any, q: Any) -> Any:
        kept[...] = -0.1 * m
        return kept

    reused = ph.torques.Function(damping)
    fresh = ph.torques.Function(lambda m: -0.1 * m)
    np.testing.assert_array_equal(integrate(torque=reused).m, integrate(torque=fresh).m)

    def part(*values: float) -> Any:
        def torque(t: float, q: Any) -> Any:
            kept[...] = values
            return kept

        return torque

    two = integrate(torque=[part(1.0, 0.0, 0.0), part(0.0, 1.0, 0.0)])
    one = integrate(torque=lambda t, q: np.array([1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(two.m, one.m)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {
                "torque": [
                    ph.torques.Function(lambda t, q: np.zeros(3), W=lambda t, q: np.zeros(3)),
                    ph.torques.HeavyTop([0.0, 0.0, 1.0]),
                ],
                "splitting": "chin4a",
            },
            "W of a sum",
        ),
        ({"torque": ph.torques.SpatialMomentum(lambda t: np.ones(3))}, "needs the torque"),
    ],
)
def test_what_the_torque_cannot_serve_is_refused_before_any_work(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        integrate(**options, save_to=tmp_path / "run")
    assert not (tmp_path / "run").exists()
