"""Events of an integration, and states at given times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])
BODIES = M0 * np.linspace(0.5, 2.0, 7)[:, None] * [1.0, -1.0, 1.0]


def first(t: Any, m: Array, q: Array) -> Array:
    return m[..., 0]


def upright(t: Any, m: Array, q: Array) -> Array:
    """The third body axis crosses a plane that turns in space."""
    attitude = q if q.ndim == m.ndim + 1 else ph.so3.to_matrix(q)
    axis = attitude[..., 2]
    return axis[..., 0] * np.cos(0.1 * t) + axis[..., 1] * np.sin(0.1 * t)


def with_facts(f: Any, **facts: Any) -> Any:
    def event(t: Any, m: Array, q: Array) -> Array:
        return f(t, m, q)

    vars(event).update(facts)
    return event


def run(m0: Any = M0, q0: Any = Q0, h: float = 0.25, n: int = 400, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, m0, q0, h, n, **options)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_free_bodies_at_the_zeros_of_the_closed_form(sign: float) -> None:
    motion = ph.TorqueFreeMotion(INERTIA, BODIES, Q0)
    events = [first, upright]
    traj = run(BODIES, h=0.25 * sign, save_every=50, events=events)
    assert traj.t_events is not None
    fine = sign * np.linspace(0.0, 100.0, 40001)[:, None]
    values = [f(fine, *motion(fine)) for f in events]
    for k, (f, value) in enumerate(zip(events, values, strict=True)):
        for body in range(len(BODIES)):
            t = traj.t_events[k][body]
            grid = fine[2:][np.diff(np.sign(value[1:, body])) != 0, 0]
            assert len(t) == len(grid) > 3
            close(t, grid, atol=0.01)
            alone = ph.TorqueFreeMotion(INERTIA, BODIES[body], Q0)
            m, q = alone(t)
            close(f(t, m, q), 0.0, atol=2e-13)
            close(traj.m_events[k][body], m, atol=2e-13)  # type: ignore[index]
            close(traj.q_events[k][body], q, atol=2e-13)  # type: ignore[index]


def test_under_torque_as_solve_ivp() -> None:
    def rates(t: float, y: Array) -> Array:
        m, q = y[:3], y[3:]
        spin = ph.so3.multiply(q, np.concatenate([[0.0], m / INERTIA]))
        torque = TOP.torque(t, m, q / np.linalg.norm(q))
        return np.concatenate([np.cross(m, m / INERTIA) + torque, 0.5 * spin])

    def increasing(t: float, y: Array) -> float:
        return float(y[0])

    increasing.direction = 1.0  # type: ignore[attr-defined]
    exact = solve_ivp(
        rates, (0.0, 30.0), np.concatenate([M0, Q0]), method="DOP853", rtol=1e-13, atol=1e-14,
        events=[increasing, lambda t, y: upright(t, y[:3], y[3:])], max_step=0.2,
    )  # fmt: skip
    events = [with_facts(first, direction=1.0), upright]
    traj = run(h=0.1, n=300, torque=TOP, splitting="rkn6_14", events=events)
    assert traj.t_events is not None
    for ours, with_start in zip(traj.t_events, exact.t_events, strict=True):
        theirs = with_start[with_start > 0.0]
        assert len(ours) == len(theirs) > 0
        close(ours, theirs, atol=1e-8)  # the error of their interpolation


def test_located_to_rounding_by_the_map_of_the_scheme() -> None:
    traj = run(BODIES, torque=TOP, events=first)
    (times,), (states,) = traj.t_events, traj.m_events  # type: ignore[misc]
    for body, (t, m) in enumerate(zip(times, states, strict=True)):
        close(m[:, 0], 0.0, atol=2e-15)
        m_there = [traj(at)[0][body] for at in t[:5]]
        close(m[:5], m_there, atol=1e-15)


@pytest.mark.parametrize(
    "options",
    [
        {"q0": np.eye(3)},
        {"torque": lambda t, q: 0.1 * q[..., 1:4] * np.cos(t), "n": 60},
        {"splitting": None, "method": "rk4", "torque": TOP},
        {"splitting": None, "method": "abam_rotation", "h": 0.1},
        {"torque": TOP, "compensated": True},
    ],
)
def test_all_runs_have_events(options: Any) -> None:
    batch = run(BODIES, events=[first, upright], **options)
    for body in (0, 4):
        if callable(options.get("torque")):
            break
        alone = run(BODIES[body], events=[first, upright], **options)
        for name in ("t_events", "m_events", "q_events"):
            for k in range(2):
                same(getattr(batch, name)[k][body], getattr(alone, name)[k])
    assert sum(map(len, batch.t_events[1])) > 4  # type: ignore[index]
    for body in range(len(BODIES)):
        t, m, q = (getattr(batch, f"{x}_events")[1][body] for x in "tmq")
        # A multistep method starts anew for parts of a step, so that its map has a jump at the end.
        close(upright(t, m, q), 0.0, atol=1e-6 if "h" in options else 1e-13)


def test_body_axes_and_shapes() -> None:
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    body = ph.RigidBody(tensor)
    plain = run(events=first)
    traj = body.integrate(M0, Q0, 0.25, 100, events=first)
    close(traj.m_events[0][:, 0], 0.0, atol=1e-15)
    assert plain.t_events is not None
    assert plain.t_events[0].ndim == 1
    two = run(BODIES[:6].reshape(2, 3, 3), events=[first])
    flat = run(BODIES[:6], events=[first])
    for a, b in zip(two.t_events[0], flat.t_events[0], strict=True):  # type: ignore[index]
        same(a, b)
    assert run(np.empty((0, 3)), events=first).t_events == [[]]
    quiet = run(events=lambda t, m, q: m[..., 0] ** 2 + 1.0)
    assert quiet.q_events[0].shape == (0, 4)  # type: ignore[index]
    assert run().t_events is None


def test_terminal_events() -> None:
    traj = run(events=[with_facts(first, terminal=True), upright], save_every=3, torque=TOP)
    free = run(events=[first, upright], save_every=3, torque=TOP)
    assert traj.t_events is not None
    assert free.t_events is not None
    end = free.t_events[0][0]
    same(traj.t_events[0], [end])
    same(traj.t_events[1], free.t_events[1][free.t_events[1] < end])
    assert traj.t[-1] == end
    same(traj.m[-1], traj.m_events[0][0])  # type: ignore[index]
    same(traj.m[:-1], free.m[free.t < end])
    with pytest.raises(ValueError, match="must be between"):
        traj(end + 1e-9)

    batch = run(BODIES, events=with_facts(first, terminal=3), save_every=3)
    ends = np.array([t[-1] for t in batch.t_events[0]])  # type: ignore[index]
    assert all(len(t) == 3 for t in batch.t_events[0])  # type: ignore[index]
    assert batch.t[-1] == ends.max()
    for k, t in enumerate(batch.t):
        same(np.isfinite(batch.m[k]).all(-1), t <= ends)
        same(np.isfinite(batch.q[k]).all(-1), t <= ends)
    middle = 0.5 * (ends.min() + ends.max())
    same(np.isfinite(batch(middle)[0]).all(-1), middle <= ends)
    after = ends[int(np.argmin(ends))] + np.array([-1e-9, 1e-9])[:, None]
    same(np.isfinite(batch(after)[0]).all(-1), after <= ends)
    some = run(BODIES, n=30, events=with_facts(first, terminal=True), save_every=3)
    assert 0 < np.isnan(some.m[-1]).all(-1).sum() < len(BODIES)
    assert some.t[-1] == 7.5


def test_directions_and_events_at_the_same_time() -> None:
    up, down = (with_facts(first, direction=sign) for sign in (1, -0.5))
    both = run(torque=TOP, events=[first, up, down, with_facts(first, terminal=2), first])
    assert both.t_events is not None
    same(both.t_events[4], both.t_events[0])  # the one that ends it included
    same(both.t_events[3], both.t_events[0])
    whole = run(torque=TOP, events=[first, up, down]).t_events
    assert whole is not None
    same(np.sort(np.concatenate(whole[1:])), whole[0])
    assert abs(len(whole[1]) - len(whole[2])) <= 1 < len(whole[2])
    m1 = run(torque=TOP, t_eval=[0.0]).m[0, 0]
    assert (whole[1][0] < whole[2][0]) == (m1 < 0.0)


def test_zeros_at_steps_and_double_zeros() -> None:
    still = {"m0": np.array([0.0, 0.0, 1.0]), "n": 8}

    def clock(zero: float) -> Any:
        return lambda t, m, q: np.asarray(t - zero)

    assert run(events=clock(1.0), **still).t_events == [[1.0]]
    assert run(events=clock(0.0), **still).t_events[0].size == 0  # type: ignore[index]
    assert run(events=clock(2.0), **still).t_events == [[2.0]]
    twice = lambda t, m, q: np.asarray((t - 1.05) * (t - 1.15))  # noqa: E731
    assert run(events=twice, **still).t_events[0].size == 0  # type: ignore[index]
    both = run(events=twice, **{**still, "h": 0.1, "n": 20}).t_events
    close(both[0], [1.05, 1.15], atol=1e-15)  # type: ignore[index]
    jump = run(events=lambda t, m, q: np.where(t < 1.1, -1.0, 1.0), **still).t_events
    close(jump[0], 1.1, atol=1e-15)  # type: ignore[index]


def test_a_lost_body_has_no_events_and_leaves_the_others_alone() -> None:
    bodies = BODIES.copy()
    bodies[2, 1] = np.nan
    lost, whole = run(bodies, events=first), run(BODIES, events=first)
    for k, (a, b) in enumerate(zip(lost.t_events[0], whole.t_events[0], strict=True)):  # type: ignore[index]
        same(a, b if k != 2 else np.empty(0))


def test_bad_events() -> None:
    with pytest.raises(TypeError, match=r"events\[1\] must be a function, not int"):
        run(events=[first, 1])
    with pytest.raises(ValueError, match=r"events\[0\] function must return shape \(7,\)"):
        run(BODIES, events=lambda t, m, q: m[0, 0])
    with pytest.raises(TypeError, match=r"events\[1\] returned true or false"):
        run(BODIES, events=[first, lambda t, m, q: m[..., 0] > 0.2])
    with pytest.raises(TypeError, match=r"events\[0\] returned true or false"):
        run(events=lambda t, m, q: bool(t > 1.0))
    with pytest.raises(ValueError, match=r"events\[0\].terminal must be a bool or a count"):
        run(events=with_facts(first, terminal=-1))
    with pytest.raises(TypeError, match=r"events\[0\].direction"):
        run(events=with_facts(first, direction="up"))
    with pytest.raises(ValueError, match="one sign"):
        ph.integrate(INERTIA, M0, Q0, [0.1, -0.1], 2, events=first)

    def fails(t: Any, m: Array, q: Array) -> Array:
        if np.all(t > 1.9):
            raise RuntimeError("enough")
        return m[..., 0]

    with pytest.raises(RuntimeError, match="enough") as stopped:
        run(events=fails)
    assert len(stopped.value.trajectory) >= 1  # type: ignore[attr-defined]


def test_bodies_that_move_and_torques_with_a_state() -> None:
    """Free fall from x = (0, 0, 1), and a state that grows: when do they pass 0 and 1?"""

    def falls(m: Array, s: Array) -> Any:
        return 0.1 * s * m, np.ones_like(s)

    def weight(x: Array, m: Array) -> Any:
        return np.array([0.0, 0.0, -2.0]) + 0.0 * x, 0.0 * m

    def floor(t: Any, m: Array, q: Array, x: Array, p: Array) -> Array:
        return x[..., 2]

    fall = run(h=0.1, n=20, mass=2.0, x0=[0.0, 0.0, 0.5], torque=weight, events=floor)
    close(fall.t_events[0], [1.0], atol=1e-15)  # type: ignore[index]
    close(fall.x_events[0][0], [0.0, 0.0, 0.0], atol=1e-15)  # type: ignore[index]
    close(fall.p_events[0][0], [0.0, 0.0, -2.0], atol=1e-14)  # type: ignore[index]
    x, p = fall(0.55)[2:]
    close(x[2], 0.5 - 0.55**2 / 2, atol=1e-15)
    close(p[2], -1.1, atol=1e-15)
    times = run(h=0.1, n=20, mass=2.0, x0=[0.0, 0.0, 0.5], torque=weight, t_eval=[0.55, 2.0])
    same(times.x, np.stack([x, fall.x[-1]]))  # type: ignore[index]
    m0 = BODIES[:3]
    grown = run(
        m0, h=0.1, n=20, state0=[[0.0], [0.25], [1.5]], torque=falls,
        events=lambda t, m, q, s: s[..., 0] - 1.0,
    )  # fmt: skip
    for body, want in enumerate([[1.0], [0.75], []]):
        close(grown.t_events[0][body], np.array(want), atol=1e-15)  # type: ignore[index]
        close(grown.state_events[0][body], np.ones((len(want), 1)), atol=1e-15)  # type: ignore[index]
    assert grown(0.33)[2].shape == (3, 1)
    for given in ({"events": first}, {"t_eval": [0.5]}):
        with pytest.raises(ValueError, match="a thermostat needs saves of whole steps"):
            run(thermostat=ph.Thermostat(1.0, 0.1, seed=1), **given)


# States at given times -------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"splitting": None, "method": "rk4"}, {"h": -0.25}])
def test_t_eval_replaces_the_saves(options: Any) -> None:
    sign = -1.0 if "h" in options else 1.0
    t = sign * np.array([0.0, 0.1, 0.1, 0.25, 3.3, 3.35, 77.0, 100.0])
    full = run(BODIES, torque=TOP, **options)
    traj = run(BODIES, torque=TOP, t_eval=t, **options)
    same(traj.t, t)
    m, q = full(t[:, None])
    same(traj.m, m)
    same(traj.q, q)
    between = sign * np.array([0.05, 0.12, 3.32])[:, None]
    close(traj(between)[0], full(between)[0], atol=1e-2)
    assert len(run(t_eval=[])) == 0
    seen: list[float] = []
    part = run(
        torque=TOP, t_eval=t, callback=lambda n, at, *_: seen.append(at) or at == 3.3, **options
    )  # type: ignore[func-returns-value]
    if sign > 0:
        same(part.t, t[:5])
    same(seen, part.t)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_times_beyond_the_end_by_rounding_are_the_end(sign: float) -> None:
    n = 49
    assert n * (1 / n) < 1.0
    steps = sign * np.diff(np.sort(np.random.default_rng(3).uniform(0.0, 1.0, 1000)))
    for h, last in ((sign / n, sign), (steps, sign * np.abs(steps).sum())):
        full = run(h=h, n=np.size(h) if np.ndim(h) else n, torque=TOP)
        for t in (last, np.nextafter(last, 2 * last), full.t[-1]):
            at = run(h=h, n=len(full) - 1, torque=TOP, t_eval=[0.0, 0.5 * last, t])
            same(at.t[-1], full.t[-1])
            same(at.m[-1], full.m[-1])
            same(full(t)[0], full.m[-1])
        for t in (last * (1 + 1e-12), -1e-12 * sign):
            with pytest.raises(ValueError, match=r"t_eval\[0\] = .*: must be between"):
                run(h=h, n=len(full) - 1, t_eval=[t])
            with pytest.raises(ValueError, match=r"t = .*: must be between"):
                full(t)


def test_t_eval_with_terminal_events_and_bad_times() -> None:
    traj = run(t_eval=np.arange(100.0), events=with_facts(first, terminal=True))
    end = traj.t_events[0][0]  # type: ignore[index]
    assert traj.t[-1] == end
    same(traj.t[:-1], np.arange(np.ceil(end)))
    with pytest.raises(ValueError, match=r"t_eval\[1\] = 100.5: must be between 0.0 and 100.0"):
        run(t_eval=[1.0, 100.5])
    with pytest.raises(ValueError, match=r"t_eval\[2\] = 1.0: is before the time"):
        run(t_eval=[1.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="give no save_every"):
        run(t_eval=[1.0], save_every=2)
    with pytest.raises(ValueError, match="one axis"):
        run(t_eval=1.0)
    with pytest.raises(ValueError, match=r"t_eval\[0\] = nan"):
        run(t_eval=[np.nan])
