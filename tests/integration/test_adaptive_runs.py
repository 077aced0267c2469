"""`integrate(..., t_end=)`: adaptive steps, their times, their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from scipy.integrate import DOP853
from tolerances import EPS

import polhode as ph

Array = NDArray[np.float64]
CASES = json.loads((Path(__file__).parents[1] / "data" / "heavy_tops.json").read_text())["cases"]
START: Any = ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [0.8, 0.0, -0.6, 0.0])
TOP = ph.torques.HeavyTop([0.1, 0.2, 0.4])


def sums(model: Any) -> Any:
    return [model, ph.torques.Constant([0.0, 0.0, 0.0])]


def in_python(model: Any) -> Any:
    return lambda t, q: model.torque(t, np.zeros(3), q)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", [None, sums, in_python])
def test_heavy_tops_within_the_tolerance(case: str, way: Any) -> None:
    """Values of 50 digits; the errors of these few steps add up to less than one tolerance."""
    data = CASES[case]
    model = ph.torques.HeavyTop(data["u0"])
    start = data["inertia"], data["m0"], data["q0"]
    torque = way(model) if way else model
    for tol in (1e-6, 1e-9, 1e-12):
        end = ph.integrate(*start, t_end=data["t"], rtol=tol, torque=torque)
        same(end.t, [0.0, data["t"]])
        close(end.m[-1], data["m"], atol=tol)
        close(end.q[-1], data["q"], atol=tol)
        assert 3 < end.n_steps < 64


def test_the_defaults_are_rk8_and_tolerances_of_1e_9_and_1e_12() -> None:
    plain = ph.integrate(*START, t_end=4.0, torque=TOP)
    given = ph.integrate(
        *START, t_end=4.0, torque=TOP, rtol=1e-9, atol=(1e-12, 1e-12), method="rk8", splitting=None
    )
    same(plain.q, given.q)


def tops(select: Any = slice(None)) -> tuple[list[Array], Any]:
    rng = np.random.default_rng(3)
    size = 10.0 ** rng.integers(-1, 2, (43, 1))
    all_bodies = [rng.uniform(1.0, 2.0, (43, 3)), rng.normal(size=(43, 3)) * size]
    all_bodies += [rng.normal(size=(43, 4)), rng.normal(size=(43, 3))]
    *start, u0 = (a[select] for a in all_bodies)
    return start, ph.torques.HeavyTop(u0)


@pytest.mark.parametrize("way", [lambda model: model, sums])
def test_bits_of_a_body_do_not_depend_on_others(way: Any) -> None:
    times = [0.3, 2.0]
    start, torque = tops()
    whole = ph.integrate(*start, t_end=2.0, t_eval=times, torque=way(torque))
    assert whole.n_steps.min() < whole.n_steps.max() / 2
    start[1][5] = np.nan
    lost = ph.integrate(*start, t_end=2.0, t_eval=times, torque=way(torque), threads=2)
    assert np.isnan(lost.m[:, 5]).all()
    assert np.isnan(lost.q[:, 5]).all()
    same(np.delete(lost.q, 5, 1), np.delete(whole.q, 5, 1))
    for k in (0, 17, 42):
        start, torque = tops(k)
        alone = ph.integrate(*start, t_end=2.0, t_eval=times, torque=way(torque))
        same(alone.m, whole.m[:, k])
        assert (alone.n_steps, alone.n_rejected) == (whole.n_steps[k], whole.n_rejected[k])


def test_times_and_directions() -> None:
    run: dict[str, Any] = {"torque": TOP, "rtol": 1e-12}
    fixed = ph.integrate(*START, 0.01, 400, torque=TOP, method="rk8", splitting=None)
    there = ph.integrate(*START, t_end=4.0, t_eval=[0.0, 1.0, 1.0, 4.0], **run)
    same(there.t, [0.0, 1.0, 1.0, 4.0])
    same(there.m[1], there.m[2])
    close(there.q, fixed.q[[0, 100, 100, 400]], atol=1e-11)
    back = ph.integrate(
        START[0], there.m[-1], there.q[-1], t0=4.0, t_end=0.0, t_eval=[3.0, 1.0], **run
    )
    same(back.t, [3.0, 1.0])
    close(back.q, fixed.q[[300, 100]], atol=1e-11)
    still = ph.integrate(*START, t0=2.0, t_end=2.0, torque=TOP)
    same(still.m, np.array([START[1]] * 2))
    assert len(ph.integrate(*START, t_end=1.0, t_eval=[], torque=TOP)) == 0


def test_callbacks_see_the_saves_and_stop() -> None:
    seen: list[float] = []

    def look(step: int, t: float, m: Array, attitude: Array) -> bool:
        seen.append(t)
        return t >= 1.0

    t_eval = np.sort(np.random.default_rng(1).uniform(0.0, 2.0, 30))
    run: dict[str, Any] = {"t0": -1 / 3, "t_end": 2.0, "t_eval": t_eval, "torque": TOP}
    path = ph.integrate(*START, callback=look, progress=True, **run)
    saves = int(np.sum(t_eval < 1.0)) + 1
    same(seen, t_eval[:saves])
    same(path.t, t_eval[:saves])
    same(path.m, ph.integrate(*START, **run).m[:saves])


@pytest.mark.parametrize("t_end", [2.0, -2.0])
def test_states_between_the_saves(t_end: float) -> None:
    start, torque = tops()
    run: dict[str, Any] = {"t_end": t_end, "torque": torque, "rtol": 1e-11}
    path = ph.integrate(*start, t_eval=[0.25 * t_end, t_end], **run)
    at = t_end * np.array([0.75, 0.25, 0.5, np.nan, 1.0])
    inside = [1, 2, 0, 4]
    m, q = path(at[:, None])
    want = ph.integrate(*start, t_eval=at[inside], **run)
    close(q[inside], want.q, atol=1e-9)
    close(m[inside], want.m, atol=1e-8)
    same(m[4], path.m[1])
    assert np.isnan(q[3]).all()


@pytest.mark.parametrize("way", [lambda model: model, sums])
@pytest.mark.parametrize("t_end", [2.0, -2.0])
@pytest.mark.parametrize("in_files", [False, True])
def test_each_body_at_its_own_times(way: Any, t_end: float, in_files: bool, tmp_path: Any) -> None:
    """The bits of a body are those of a run of it alone."""
    run: dict[str, Any] = {
        "t_end": t_end,
        "t_eval": [0.0, 0.4 * t_end, t_end],
        "breaks": [t_end / 2],
    }
    start, torque = tops()
    save_to = tmp_path / "run" if in_files else None
    path = ph.integrate(*start, torque=way(torque), save_to=save_to, threads=2, **run)
    if in_files:
        path = ph.Trajectory.load(save_to)
    at = t_end * np.random.default_rng(1).uniform(size=(7, 43))
    at[2, 4] = np.nan
    at[:, 17] = 0.7 * t_end
    at[3, 42], at[4, 42], at[5, 42] = 0.0, 0.4 * t_end, t_end
    m, q = path(at)
    assert np.isnan(q[2, 4]).all()
    for k in (0, 4, 17, 42):
        start, torque = tops(k)
        alone = ph.integrate(*start, torque=way(torque), **run)
        m_alone, q_alone = alone(at[:, k])
        same(m[:, k], m_alone)
        same(q[:, k], q_alone)
    same(m[3:6, 42], path.m[:, 42])
    same(path(at[0])[1], path(at[:1])[1][0])
    at[5, 8] = 1.01 * t_end
    with pytest.raises(ValueError, match=r"t\[5, 8\] = .* must be between 0.0 and"):
        path(at)


def test_bodies_in_the_same_steps_go_to_the_times_of_all() -> None:
    start, torque = tops(slice(5))
    path = ph.integrate(*start, torque=in_python(torque), t_end=2.0, t_eval=[0.0, 0.6, 2.0])
    at = np.random.default_rng(1).uniform(0.0, 2.0, (3, 5))
    at[1, 3] = np.nan
    m, q = path(at)
    stops = np.unique(at)
    whole = path(stops[:, None])[1]
    for (row, body), t in np.ndenumerate(at):
        k = len(stops) - 1 if np.isnan(t) else np.searchsorted(stops, t)
        same(q[row, body], whole[k, body])
    exact = ph.integrate(*start, torque=torque, t_end=2.0, rtol=1e-12)(at)
    inside = np.isfinite(at)
    close(q[inside], exact[1][inside], atol=1e-7)
    close(m[inside], exact[0][inside], atol=1e-6)


@pytest.mark.parametrize("t_end", [2.0, -2.0])
@pytest.mark.parametrize("after", [np.greater, np.greater_equal])
def test_breaks(t_end: float, after: Any) -> None:
    """A torque that jumps costs rejected steps, or the break is named."""
    jumps = np.array([0.3, 0.7, 1.5]) * t_end / 2

    def push(t: float, q: Array) -> Array:
        return np.array([0.3, 0.1, -0.2]) * (-2.0) ** float(np.sum(after(abs(t), abs(jumps))))

    run: dict[str, Any] = {"t_end": t_end, "torque": push, "rtol": 1e-12}
    t_eval = [0.0, 0.2 * t_end, jumps[1], t_end]
    path = ph.integrate(*START, t_eval=t_eval, breaks=jumps, **run)
    blind = ph.integrate(*START, **run)
    assert blind.n_rejected > 10 > path.n_rejected
    fixed = ph.integrate(
        *START, t_end / 400, 400, torque=push, breaks=jumps, method="rk8", splitting=None
    )
    close(path.q[-1], fixed.q[-1], atol=1e-11)
    close(path.q[2], fixed(jumps[1])[1], atol=1e-11)
    close(path(0.9 * t_end)[1], fixed(0.9 * t_end)[1], atol=1e-11)


def test_other_axes_matrices_and_a_given_momentum() -> None:
    body = ph.RigidBody([[4.5, -1.0, 0.0], [-1.0, 6.0, 0.5], [0.0, 0.5, 3.5]])
    turn = ph.so3.to_matrix(START[2])
    momentum = ph.torques.SpatialMomentum(
        lambda t: np.array([np.sin(t), t, 1.0]), lambda t: np.array([np.cos(t), 1.0, 0.0])
    )
    for torque in (TOP, momentum):
        run: dict[str, Any] = {"torque": torque, "t_eval": [0.5, 2.0], "breaks": [0.9]}
        path = body.integrate(START[1], turn, t_end=2.0, rtol=1e-12, **run)
        del run["breaks"]
        fixed = body.integrate(START[1], turn, 0.01, 200, method="rk8", splitting=None, **run)
        close(path.m, fixed.m, atol=1e-11)
        close(path.q, fixed.q, atol=1e-11)


@pytest.mark.parametrize("torque", [None, TOP, sums(TOP), in_python(TOP)])
@pytest.mark.parametrize("atol", [0.0, (0.0, 1e-12)])
def test_a_body_at_rest_is_not_lost(torque: Any, atol: Any) -> None:
    m0 = np.array([[0.0, 0.0, 0.0], [0.3, 0.5, 0.8]])
    path = ph.integrate(
        START[0], m0, START[2], t_end=4.0, torque=torque, rtol=1e-12, atol=atol, t_eval=[1.0, 4.0]
    )
    fixed = ph.integrate(
        START[0], m0, START[2], 0.01, 400, torque=torque, method="rk8", splitting=None
    )
    close(path.m, fixed.m[[100, 400]], atol=1e-11)
    close(path.q, fixed.q[[100, 400]], atol=1e-11)


HARD: list[Any] = [
    ([1.0, 1.5, 2.2], [0.0, 0.0, 1.0], 20.0),
    ([1.0, 1.5, 2.2], [1e-10, 1.0, 1e-10], 60.0),
    ([1.0, 1.0, 1.0], [0.3, 0.4, 0.5], 20.0),
    ([0.0, 1.0, 1.0], [0.0, 0.3, 0.4], 20.0),
    ([1.0, 1.5, 2.5], [0.3, 0.4, 0.5], 20.0),
    ([1.0, 1.5, 2.2], [3e149, 5e149, 8e149], 2e-149),
    ([1.0, 1.5, 2.2], [3e-151, 5e-151, 8e-151], 2e151),
    ([1e-150, 1.5e-150, 2.2e-150], [0.3, 0.5, 0.8], 2e-149),
]


@pytest.mark.parametrize(("inertia", "m0", "t_end"), HARD)
@pytest.mark.parametrize("stages", [False, True])
def test_hard_states_are_those_of_the_exact_step(
    inertia: Any, m0: Any, t_end: float, stages: bool
) -> None:
    """Also where the squares of the rates overflow, which once made steps of length 0."""
    torque = sums(ph.torques.Constant([0.0, 0.0, 0.0])) if stages else None
    run: dict[str, Any] = {"t_end": t_end, "torque": torque, "rtol": 1e-12, "atol": 0.0}
    path = ph.integrate(inertia, m0, START[2], **run)
    m, q = ph.step(inertia, m0, START[2], t_end)
    close(path.m[-1] / np.linalg.norm(m0), m / np.linalg.norm(m0), atol=1e-11)
    close(path.q[-1], q, atol=1e-11)


def test_a_momentum_that_vanishes_on_the_way() -> None:
    """A body is stopped and turned round: m = (0, 0, 1 - t)."""
    brake = ph.torques.Constant([0.0, 0.0, -1.0])
    start = START[0], [0.0, 0.0, 1.0], START[2]
    path = ph.integrate(*start, t_end=2.0, torque=brake, atol=0.0, t_eval=[1.0, 2.0])
    close(path.m[:, 2], [0.0, -1.0], atol=1e-14)
    angle = 0.5 / START[0][2]
    turn = [np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]
    close(path.q[0], ph.so3.multiply(START[2], turn), atol=1e-8)
    close(path.q[1], START[2], atol=1e-8)


def test_given_lengths_that_follow_an_eccentric_orbit() -> None:
    """Steps equal in the eccentric anomaly: much better than equal ones, and they go back."""
    e = 0.7
    orbit = ph.torques.Orbit(1.0, [1 - e, 0.0, 0.0], [0.0, np.sqrt((1 + e) / (1 - e)), 0.0])
    run: dict[str, Any] = {"torque": ph.torques.GravityGradient(orbit=orbit)}
    start: Any = [1.0, 1.02, 1.05], [0.2, 0.3, 3.0], [1.0, 0.0, 0.0, 0.0]

    def times(n: int) -> Array:
        anomaly = np.linspace(0.0, 20 * np.pi, 10 * n + 1)
        return np.asarray(anomaly - e * np.sin(anomaly))

    def end(t: Array, scheme: str = "rkn4_6") -> ph.Trajectory:
        return ph.integrate(*start, np.diff(t), len(t) - 1, splitting=scheme, **run)

    exact = end(times(200), "rkn6_14").q[-1]
    adaptive = ph.integrate(*start, t_end=20 * np.pi, rtol=1e-13, **run)
    close(adaptive.q[-1], exact, atol=1e-11)
    equal, unequal = np.linspace(0.0, 20 * np.pi, 1001), times(100)
    errors = [float(np.abs(end(t).q[-1] - exact).max()) for t in (equal, unequal)]
    assert errors[0] > 1e-7
    assert errors[1] < 1e-9
    there = end(unequal)
    back = ph.integrate(
        start[0], there.m[-1], there.q[-1], -np.diff(unequal)[::-1], 1000,
        t0=unequal[-1], splitting="rkn4_6", **run,
    )  # fmt: skip
    close(back.q[-1], there.q[0], atol=1e-12)
    close(back.m[-1], there.m[0], atol=1e-12)


# Events ------------------------------------------------------------------------------------------


def first(t: Any, m: Array, q: Array) -> Array:
    return m[..., 0]


def leans(t: Any, m: Array, q: Array) -> Array:
    """The third body axis crosses a plane that turns in space."""
    axis = ph.so3.rotate(q, np.array([0.0, 0.0, 1.0]))
    return axis[..., 0] * np.cos(0.3 * t) + axis[..., 1] * np.sin(0.3 * t)


@pytest.mark.parametrize("way", [lambda model: model, sums, in_python])
@pytest.mark.parametrize("t_end", [25.0, -25.0])
def test_events_are_those_of_short_steps(way: Any, t_end: float) -> None:
    m0 = np.array(START[1]) * np.linspace(0.3, 2.0, 5)[:, None]
    start, torque = (START[0], m0, START[2]), way(TOP)
    events = [first, leans]
    path = ph.integrate(*start, t_end=t_end, torque=torque, rtol=1e-12, events=events)
    fixed = ph.integrate(
        *start, t_end / 500, 500, torque=TOP, method="rk8", splitting=None, events=events
    )
    assert path.n_steps.max() < 500
    for k, f in enumerate(events):
        for body in range(5):
            t, m, q = (getattr(path, f"{name}_events")[k][body] for name in "tmq")
            close(t, fixed.t_events[k][body], atol=1e-9)  # type: ignore[index]
            close(f(t, m, q), 0.0, atol=1e-14)
        assert sum(map(len, path.t_events[k])) > 5  # type: ignore[index]


def test_events_of_a_body_do_not_depend_on_others() -> None:
    start, torque = tops()
    run: dict[str, Any] = {"t_end": 5.0, "events": [first, leans]}
    whole = ph.integrate(*start, torque=torque, t_eval=[1.0, 5.0], **run)
    plain = ph.integrate(*start, torque=torque, t_end=5.0, t_eval=[1.0, 5.0])
    same(whole.m, plain.m)
    same(whole.n_steps, plain.n_steps)
    for k in (0, 17, 42):
        one, torque = tops(k)
        alone = ph.integrate(*one, torque=torque, t_eval=[1.0, 5.0], **run)
        for event in (0, 1):
            same(alone.t_events[event], whole.t_events[event][k])  # type: ignore[index]
            same(alone.q_events[event], whole.q_events[event][k])  # type: ignore[index]


def test_terminal_events_end_bodies() -> None:
    def stop(t: Any, m: Array, q: Array) -> Array:
        return m[..., 0]

    stop.terminal = True  # type: ignore[attr-defined]
    start, torque = tops()
    run: dict[str, Any] = {"t_end": 40.0, "t_eval": np.linspace(0.0, 40.0, 81)}
    some = ph.integrate(*start, torque=torque, events=stop, **run)
    ends = np.array([t[-1] if len(t) else np.inf for t in some.t_events[0]])  # type: ignore[index]
    these = np.flatnonzero(np.isfinite(ends))
    assert 10 < len(these) < 43
    start, torque = tops(these)
    path = ph.integrate(*start, torque=torque, events=stop, **run)
    plain = ph.integrate(*start, torque=torque, **run)
    ends = ends[these]
    same(path.t[-1], ends.max())
    assert path.n_steps.max() < plain.n_steps.max()
    for k, t in enumerate(path.t[:-1]):
        goes = t <= ends
        same(path.m[k, goes], plain.m[k, goes])
        same(some.m[k, these[goes]], plain.m[k, goes])
        assert np.isnan(path.q[k, ~goes]).all()
    last = int(np.argmax(ends))
    same(path.m[-1, last], path.m_events[0][last][0])  # type: ignore[index]
    # All in the same steps: a body that has ended does not end the others.
    together = ph.integrate(*start, torque=in_python(torque), events=stop, **run)
    found = [t[-1] for t in together.t_events[0]]  # type: ignore[index]
    close(found, ends, atol=1e-7)
    assert (together.n_steps[np.argsort(ends)[[0, -1]]] == np.sort(together.n_steps)[[0, -1]]).all()


def test_a_body_that_has_ended_makes_no_more_steps() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")

    def at_own_time(t: Any, m: Array, q: Array) -> Array:
        return t - np.array([1.0, 299.0])

    at_own_time.terminal = True  # type: ignore[attr-defined]
    pushes = np.full((1, 2, 2, 3), 1e-3)  # both bodies, before and behind a break
    pushes[0, 1, 0] = 1e3  # of the first, when it has ended: its steps would be rejected
    torque = ph.torques.Prescribed(interpolate.PPoly(pushes, [0.0, 200.0, 300.0]))
    path = ph.integrate(
        [1.0, 1.5, 2.2], [[0.3, 0.5, 0.8]] * 2, [1, 0, 0, 0], torque=torque, t_end=300.0,
        rtol=1e-8, breaks=[200.0], events=at_own_time,
    )  # fmt: skip
    same(path.t_events[0], [[1.0], [299.0]])  # type: ignore[index]
    same(path.n_rejected, [0, 0])


def test_a_body_whose_steps_become_too_short_is_lost_with_a_warning() -> None:
    def wall(t: float, q: Array) -> Array:
        return np.array([0.0, 0.0, 1.0 / (1.0 - t) ** 2])  # infinite at t = 1

    with pytest.warns(RuntimeWarning, match="the steps of 1 body became too short"):
        path = ph.integrate(*START, t_end=2.0, t_eval=[0.5, 2.0], torque=wall)
    assert np.isfinite(path.q[0]).all()
    assert np.isnan(path.q[1]).all()


@pytest.mark.parametrize("rtol", [1e-3, 1e-5])
def test_free_bodies_take_the_steps_of_a_torque_of_zero(rtol: float) -> None:
    """In packs, each lane in its own steps, or body by body, 200 of whose steps are rejected."""
    rng = np.random.default_rng(11)
    start = 10 ** rng.uniform(-1.5, 0.0, (100, 3)), rng.normal(size=(100, 3)), START[2]
    free = ph.integrate(*start, t_end=3.0, rtol=rtol)
    zero = ph.integrate(*start, t_end=3.0, rtol=rtol, torque=sums(ph.torques.Constant([0.0] * 3)))
    assert free.n_rejected.sum() > 150
    same(free.n_steps, zero.n_steps)
    same(free.n_rejected, zero.n_rejected)


@pytest.mark.parametrize("error", [0.95, 1.05])
def test_bodies_are_lost_whose_error_is_above_1_in_the_shortest_step(error: float) -> None:
    """The first body shortens the steps of both, each to a third, until they are the shortest.

    The error of the second is that of a torque at the last of the 12 stages alone.
    """
    h, atol = 16 * EPS * 0.5, 1e-6  # the shortest step at t = 0.5
    weight = DOP853.E5[11] ** 2 / np.hypot(DOP853.E5[11], 0.1 * DOP853.E3[11])
    calls = 0

    def torque(t: float, q: Array) -> Array:
        nonlocal calls
        calls += 1
        f, stage = np.zeros((2, 3)), (calls - 2) % 12
        if calls > 13 and np.isfinite(q).all():  # the first evaluation, and the step to 0.5
            f[0, 2], f[1, 2] = 1e30 * (-1) ** stage, error * atol / (h * weight) * (stage == 11)
        return f

    start = np.ones((2, 3)), np.zeros((2, 3)), [1.0, 0.0, 0.0, 0.0]
    with pytest.warns(RuntimeWarning, match="became too short"):
        path = ph.integrate(
            *start, t_end=1.0, t_eval=[0.5, 1.0], torque=torque, rtol=1e-15, atol=(atol, 1.0)
        )
    same(np.isnan(path.m[-1]).any(-1), [True, error > 1])


def bent(t: float, q: Array) -> Array:
    up = ph.so3.rotate(ph.so3.conjugate(q), [0.01, 0.02, -0.03])
    result: Array = np.cross(up, [0.0, 0.0, 1.0])
    return result


@pytest.mark.parametrize(
    "torque", [ph.torques.HeavyTop([0.01, 0.02, -0.03]), ph.torques.Damping(0.01), bent]
)
def test_far_from_time_zero_the_state_moves_as_the_time_does(torque: Any) -> None:
    """The rounding error of t + h at 1e11 is a tenth of a step of this fast body."""
    start = [1.0, 2.0, 2.7], [1e3, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]
    for t0 in (1.7e9, 1e10, 1e11):
        t_end = t0 + 0.02
        far = ph.integrate(*start, t0=t0, t_end=t_end, torque=torque, rtol=1e-9)
        near = ph.integrate(*start, t_end=t_end - t0, torque=torque, rtol=1e-9)
        assert np.abs(far.q[-1] - near.q[-1]).max() < 1e-10
    for t0 in (1e12, 1e13):
        with pytest.warns(RuntimeWarning, match="the steps of 1 body became too short"):
            lost = ph.integrate(*start, t0=t0, t_end=t0 + 0.02, torque=torque, rtol=1e-9)
        assert np.isnan(lost.q[-1]).all()


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"h": 0.1}, ValueError, "h is for steps of given length"),
        ({"h": 0.1, "n_steps": 10}, ValueError, "h is for steps of given length"),
        ({"n_steps": 10}, ValueError, "n_steps is for steps of given length"),
        ({"save_every": 2}, ValueError, "save_every is for steps of given length"),
        ({"mass": 1.0}, ValueError, "mass is for steps of given length"),
        ({"method": "rkmk4"}, ValueError, 'method="rk8", splitting=None'),
        ({"splitting": "rkn4_6"}, ValueError, 'method="rk8", splitting=None'),
        ({"t_end": np.inf}, ValueError, "t_end must be finite, not inf"),
        ({"t_end": [1.0, 2.0]}, ValueError, "t_end"),
        ({"t_end": "1"}, TypeError, "t_end"),
        ({"t0": np.nan}, ValueError, "t0 must be finite, not nan"),
        ({"rtol": 0.0}, ValueError, "rtol must be at least 1e-15 and less than 1, not 0.0"),
        ({"rtol": np.nan}, ValueError, "rtol must be at least"),
        ({"rtol": 1.0}, ValueError, "rtol must be at least 1e-15 and less than 1, not 1.0"),
        ({"rtol": [1e-9]}, ValueError, "rtol"),
        ({"atol": -1.0}, ValueError, "atol"),
        ({"atol": (0.0, np.nan)}, ValueError, r"atol\[1\]"),
        ({"atol": (0.0, 0.0, 0.0)}, ValueError, "atol must be a number or"),
        ({"t_eval": [0.5, 1.5]}, ValueError, r"t_eval\[1\].*between 0.0 and 1.0"),
        ({"t_eval": [0.5, 0.2]}, ValueError, r"t_eval\[1\].*is before"),
        ({"t_end": None, "rtol": 1e-9}, TypeError, "rtol and atol are for adaptive steps"),
        ({"t_end": None}, TypeError, r"integrate needs h \(or t_end\), n_steps"),
    ],
)
def test_what_is_refused(given: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        ph.integrate(*START, **{"t_end": 1.0, "torque": TOP, **given})


def counted(start: Any, u0: Array, rtol: float, carried: bool) -> list[int]:
    """The accepted and the rejected steps to t = 2 by the tableau of SciPy, as documented.

    `u0` in the body frame is from q, or `carried` with the state.
    """
    inertia, m, q = start

    def slope(y: Array) -> Array:
        omega = y[:3] / inertia
        turn = 0.5 * ph.so3.multiply(y[3:7], [0.0, *omega])
        u = y[7:] if carried else ph.so3.rotate(ph.so3.conjugate(y[3:7]), u0)
        rate = np.cross(y[:3], omega) + np.cross(u, [0.0, 0.0, 1.0])
        return np.concatenate([rate, turn, np.cross(y[7:], omega)])

    up = ph.so3.rotate(ph.so3.conjugate(q), u0)
    y, t, last, retries = np.concatenate([m, q / np.linalg.norm(q), up]), 0.0, 0.56, False
    half = 0.5 / inertia * [m, slope(y)[:3]]  # of omega and of its rate
    h = (1e-12 + rtol) ** 0.125 / max(np.abs(half[0]).max(), np.sqrt(np.abs(half[1]).max()))
    steps = [0, 0]
    while t < 2.0:
        step, ends = min(h, 2.0 - t), h >= 2.0 - t
        k = np.zeros((12, 10))
        for i in range(12):
            k[i] = slope(y + step * DOP853.A[i, :i] @ k[:i])
        end = y + step * DOP853.B @ k
        size = max(np.linalg.norm(y[:3]), np.linalg.norm(end[:3]))
        scale = np.repeat([1e-12 + rtol * size, 1e-12 + rtol], [3, 4])
        a, b = (np.sum((step * e[:12] @ k[:, :7] / scale) ** 2) for e in (DOP853.E5, DOP853.E3))
        error = a / np.sqrt(a + 0.01 * b)
        factor = 0.9 * last * error ** (-1 / 8)
        changed = step * np.clip(factor, 1 / 3, 1.0 if retries else 6.0)
        retries = error > 1.0
        steps[int(retries)] += 1
        h = max(changed, h) if ends and not retries else changed
        if not retries:
            t, y, last = 2.0 if ends else t + step, end, max(error ** (1 / 16), 0.56)
    return steps


@pytest.mark.parametrize("way", [lambda model: model, sums, in_python])
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_steps_are_accepted_as_documented(way: Any, rtol: float) -> None:
    for k in range(43):
        start, torque = tops(k)
        run = ph.integrate(*start, t_end=2.0, rtol=rtol, torque=way(torque))
        carried = isinstance(way(torque), ph.torques.HeavyTop)
        assert [run.n_steps, run.n_rejected] == counted(start, torque.u0, rtol, carried), k
