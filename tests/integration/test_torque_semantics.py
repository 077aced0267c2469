"""The forms of a torque, the times of its evaluation, and the messages for invalid torques."""

from __future__ import annotations

import ctypes
import functools
import warnings
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
BODIES = M0 * np.array([[1.0], [0.9], [1.2]])

# Times -------------------------------------------------------------------------------------------

WIDE = [s.name for s in ph.splittings() if s.times != (0.0, 1.0)]


def samples(first: float, last: float) -> ph.torques.Prescribed:
    times = np.linspace(first, last, 5)
    return ph.torques.Prescribed(0.1 * np.stack([times, times**2, 1 + times], -1), times)


class Polynomial:
    """A piecewise polynomial as SciPy makes them, constant here."""

    def __init__(self, first: float, last: float, extrapolate: bool = False) -> None:
        self.x = np.linspace(first, last, 3)
        self.c = np.full((1, 2, 3), 0.25)
        self.extrapolate = extrapolate


def polynomial(first: float, last: float) -> ph.torques.Prescribed:
    return ph.torques.Prescribed(Polynomial(first, last))


def run(torque: Any, h: Any = 0.25, n: int = 4, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, M0, Q0, h, n, torque=torque, **options)


def test_times_of_schemes() -> None:
    by_name = {s.name: s for s in ph.splittings()}
    assert len(WIDE) >= 8
    least, largest = by_name["rkn6_7"].times
    assert round(least, 2) == -1.01
    assert round(largest, 2) == 2.01
    for scheme in ph.splittings():
        asked: list[float] = []

        def f(t: float, m: Array, q: Array, asked: list[float] = asked) -> Array:
            asked.append(t)
            return np.zeros(3)

        def W(t: float, q: Array) -> Array:
            return np.zeros(3)

        torque = ph.torques.Function(f, depends_on_m=False, W=W)
        ph.integrate(INERTIA, M0, Q0, 0.5, 1, torque=torque, splitting=scheme, t0=2.0)
        found = (np.array(asked) - 2.0) / 0.5
        # Times near 2 are rounded, and sums of coefficients.
        close(min(0.0, *found), scheme.times[0], atol=4e-15)
        close(max(1.0, *found), scheme.times[1], atol=4e-15)


def test_times_of_own_schemes() -> None:
    scheme = ph.Splitting(
        "own", None, "own", (), False, {}, "", False,
        (("flow", 1.5, 0.0), ("kick", 1.0, 0.0), ("flow", -0.75, 0.0), ("flow", 0.25, 0.0)),
    )  # fmt: skip
    assert scheme.times == (0.0, 1.5)
    with pytest.raises(ValueError, match=r"torque\[0\] is given from t = 0.0 to 1.0"):
        run(polynomial(0.0, 1.0), splitting=([1.5, -0.5], [1.0]))


@pytest.mark.parametrize("kind", [samples, polynomial])
@pytest.mark.parametrize("name", WIDE)
def test_scheme_that_leaves_the_data_is_refused(kind: Any, name: str, tmp_path: Any) -> None:
    save_to = tmp_path / "run"
    with pytest.raises(ValueError, match=r"given from t = 0.0 to 1.0, but .* from t = -?\d") as e:
        run(kind(0.0, 1.0), splitting=name, save_to=save_to)
    assert name in str(e.value)
    assert not save_to.exists()
    least, largest = (s.times for s in ph.splittings() if s.name == name).__next__()
    # With data wherever it looks the scheme goes.
    traj = run(kind(0.25 * least, 0.75 + 0.25 * largest), splitting=name)
    assert np.isfinite(traj.m).all()


@pytest.mark.parametrize("kind", [samples, polynomial])
def test_schemes_within_their_step_take_data_of_the_run(kind: Any) -> None:
    for scheme in ph.splittings():
        if scheme.times == (0.0, 1.0) and not scheme.modified:
            assert np.isfinite(run(kind(0.0, 1.0), splitting=scheme).m).all()


@pytest.mark.parametrize(
    ("h", "t0", "first", "last"),
    [
        (-0.25, 1.0, 0.0, 1.0),  # back in time
        (0.25, 5.0, 5.0, 6.0),  # from another start
        ([0.125, 0.25, 0.5, 0.125], 0.0, 0.0, 1.0),  # steps of different lengths
        ([-0.125, -0.25, -0.5, -0.125], 0.0, -1.0, 0.0),
    ],
)
@pytest.mark.parametrize("kind", [samples, polynomial])
def test_every_way_through_time(kind: Any, h: Any, t0: float, first: float, last: float) -> None:
    for options in ({}, {"method": "rk4", "splitting": None}):
        assert np.isfinite(run(kind(first, last), h, t0=t0, **options).m).all()
    with pytest.raises(ValueError, match="is given from"):
        run(kind(first, last), h, t0=t0, splitting="rkn6_7")


@pytest.mark.parametrize("method", ["rk4", "imid", "taylor1", "abam_rotation"])
def test_polynomial_without_extrapolation_is_never_left(method: str) -> None:
    for options in ({"method": method, "splitting": None}, {}):
        # Forward methods evaluate the torque last at the start of the last step.
        with pytest.raises(ValueError, match=r"given from t = 0.0 to 0.8, but .* in a run from"):
            run(polynomial(0.0, 0.8), n=8, h=0.125, **options)
        with pytest.raises(ValueError, match="given from"):
            run(polynomial(0.1, 1.5), n=8, h=0.125, **options)


def test_rounded_times_are_no_reason() -> None:
    # 0.1 * 3 is above 0.3: the end of the run is rounded, and data to 0.3 serve it.
    assert np.isfinite(run(polynomial(0.0, 0.3), h=0.1, n=3).m).all()
    assert np.isfinite(run(samples(0.0, 0.3), h=0.1, n=3, splitting="rkn6_14").m).all()


def test_samples_are_held_beyond_the_data_of_a_run_that_goes_on() -> None:
    held = run(samples(0.0, 0.5), n=4)
    assert np.isfinite(held.m).all()
    # At the start a wide scheme still looks where there is neither run nor data.
    with pytest.raises(ValueError, match="is given from"):
        run(samples(0.0, 0.5), n=4, splitting="rkn6_7")
    # One sample is a constant torque.
    one = ph.torques.Prescribed([[0.1, 0.2, 0.3]], [0.0])
    constant = ph.torques.Constant([0.1, 0.2, 0.3])
    close(run(one, splitting="rkn6_7").m, run(constant, splitting="rkn6_7").m, atol=1e-14)


def test_polynomial_that_goes_on_is_not_refused() -> None:
    torque = ph.torques.Prescribed(Polynomial(0.0, 0.5, extrapolate=True))
    assert np.isfinite(run(torque, splitting="rkn6_7").m).all()


def test_data_in_body_axes_and_in_lists() -> None:
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    torque = [ph.torques.Constant([0.0, 0.0, 0.1]), polynomial(0.0, 1.0)]
    body.integrate(M0, Q0, 0.25, 4, torque=torque)
    with pytest.raises(ValueError, match=r"torque\[1\] is given"):
        body.integrate(M0, Q0, 0.25, 4, torque=torque, splitting="rkn6_7")


# Dependence on m ---------------------------------------------------------------------------------


def drag(t: float, m: Array, q: Array) -> Array:
    return -0.5 * m


def pull(t: float, m: Array, q: Array) -> Array:
    return np.stack([q[..., 1], -q[..., 0], 0 * q[..., 2]], axis=-1)


def order(torque: Any, exact: Array) -> float:
    errors = [np.abs(run(torque, 1 / n, n).m[-1] - exact).max() for n in (20, 40)]
    return float(np.log2(errors[0] / errors[1]))


@pytest.mark.parametrize("sizes", ["m", "|m|", "one component", "at rest"])
def test_bare_function_of_m_keeps_the_order(sizes: str) -> None:
    bare: Any = {
        "m": drag,
        "|m|": lambda t, m, q: -np.linalg.norm(m, axis=-1, keepdims=True) * m,
        "one component": lambda t, m, q: -m * [0.0, 0.0, 1.0],
        "at rest": lambda t, m, q: [0.1, 0.2, 0.3] - m,
    }[sizes]
    m0 = 0 * M0 if sizes == "at rest" else M0
    for bodies in (m0, np.stack([m0, m0])):
        told = ph.torques.Function(bare, depends_on_m=True)
        trajectories = [
            ph.integrate(INERTIA, bodies, Q0, 0.1, 10, torque=torque)
            for torque in (bare, ph.torques.Function(bare), told)
        ]
        for traj in trajectories[:2]:
            same(traj.m, trajectories[2].m)
            same(traj.q, trajectories[2].q)
    untold = ph.torques.Function(bare, depends_on_m=False)
    assert np.abs(run(untold).m - run(told).m).max() > 1e-4  # and it matters


def test_one_body_of_a_batch_tells() -> None:
    rates = np.array([0.0, 0.0, 0.3])[:, None]
    torque = lambda t, m, q: pull(t, m, q) - rates * m  # noqa: E731
    told = ph.torques.Function(torque, depends_on_m=True)
    args = INERTIA, BODIES, Q0, 0.1, 10
    same(ph.integrate(*args, torque=torque).m, ph.integrate(*args, torque=told).m)


def test_function_of_the_attitude_keeps_its_bits_and_is_asked_twice_more() -> None:
    seen: list[tuple[float, Array, Array]] = []

    def counted(t: float, m: Array, q: Array) -> Array:
        seen.append((t, m.copy(), q.copy()))
        return pull(t, m, q)

    args = INERTIA, BODIES, 2 * Q0, 0.1, 5  # brought to unit norm
    asked = ph.integrate(*args, torque=counted, t0=3.0)
    calls = len(seen)
    told = ph.integrate(*args, torque=ph.torques.Function(counted, depends_on_m=False), t0=3.0)
    assert calls - (len(seen) - calls) == 2
    same(asked.m, told.m)
    same(asked.q, told.q)
    for t, m, q in seen[:2]:
        assert t == 3.0
        assert m.shape == BODIES.shape
        assert np.isfinite(m).all()
        same(q, np.broadcast_to(Q0, (3, 4)))
        assert (m != BODIES).all()
    assert (seen[0][1] != seen[1][1]).all()


def test_no_probe_where_it_is_said_or_of_no_use() -> None:
    seen: list[float] = []

    def counted(t: float, m: Array, q: Array) -> Array:
        seen.append(t)
        return 0 * m

    for depends, options, calls in (
        (False, {}, 2),
        (True, {}, 8),
        (None, {"splitting": None, "method": "rk4"}, 4),
    ):
        seen.clear()
        run(ph.torques.Function(counted, depends), n=1, **options)
        assert len(seen) == calls
    seen.clear()
    run(counted, n=0)
    assert not seen


def test_rods_and_odd_bodies_are_asked_within_reason() -> None:
    inertia = np.array([[0.0, 2.0, 2.0], [1.0, 2.0, 3.0], [1e-47, 2e-47, 3e-47]])
    m = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1e-34, np.nan, 0.0]])
    seen: list[Array] = []

    def torque(t: float, m: Array, q: Array) -> Array:
        seen.append(m.copy())
        return np.zeros_like(m)

    ph.integrate(inertia, m, Q0, 1e-3, 1, torque=torque)
    for probe in seen[:2]:
        assert np.isfinite(probe).all()
        assert probe[0, 0] == 0.0
        assert (probe[0, 1:] != 0).all()
        assert (probe[1:] != 0).all()


@pytest.mark.parametrize("given", ["bare", "body axes"])
def test_schemes_for_attitudes_refuse_a_function_of_m(given: str) -> None:
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    go = body.integrate if given == "body axes" else functools.partial(ph.integrate, INERTIA)
    options: dict[str, Any]
    for options in ({"splitting": "rkn6_14"}, {"compensated": True}):
        options["torque"] = drag
        with pytest.raises(ValueError, match="depend"):
            go(M0, Q0, 0.1, 4, **options)


def test_body_axes() -> None:
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    told = ph.torques.Function(drag, depends_on_m=True)
    bare, sure = (body.integrate(M0, Q0, 0.1, 9, torque=f) for f in (drag, told))
    same(bare.m, sure.m)


def test_random_torque_is_named() -> None:
    rng = np.random.default_rng(1)

    def noise(t: float, m: Array, q: Array) -> Array:
        return np.asarray(rng.normal(size=m.shape))

    with pytest.warns(RuntimeWarning, match=r"noise.*answers equal arguments") as caught:
        run(noise)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(ph.torques.Function(noise, depends_on_m=False))


def test_function_that_gives_back_the_same_array() -> None:
    kept = np.empty(3)

    def reused(t: float, m: Array, q: Array) -> Array:
        np.multiply(m, -0.5, out=kept)
        return kept

    same(run(reused).m, run(ph.torques.Function(drag, depends_on_m=True)).m)


def test_function_that_fails_at_other_momenta_or_always() -> None:
    def picky(t: float, m: Array, q: Array) -> Array:
        if np.abs(m).max() > 0.81:
            raise ArithmeticError("too fast")
        return -0.5 * m

    slow = ph.torques.Function(drag, depends_on_m=True)
    same(run(picky).m, run(slow).m)

    def broken(t: float, m: Array, q: Array) -> Array:
        raise LookupError("no data")

    with pytest.raises(LookupError, match="no data") as failed:
        run(broken)
    assert len(failed.value.trajectory) == 1  # type: ignore[attr-defined]
    assert "in step 0" in failed.value.__notes__[0]


def test_resumed_run_knows_what_the_first_found(tmp_path: Any) -> None:
    def stop(step: int, *state: Any) -> None:
        if step == 4:
            raise InterruptedError

    for torque in (drag, pull):
        whole = run(torque, n=9)
        path = tmp_path / torque.__name__
        with pytest.raises(InterruptedError):
            run(torque, n=9, save_to=path, callback=stop)
        same(np.asarray(ph.resume(path, torque).m), whole.m)


# Shape -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, [0.0], [[0.0]], np.zeros((3, 1)), np.zeros((1, 3))])
def test_torque_of_another_shape_is_refused(value: Any) -> None:
    for m0, expected in ((M0, (3,)), (BODIES, (3, 3))):
        if np.shape(value) == expected:
            continue
        with pytest.raises(ValueError, match=r"torque function must return shape \(3,"):
            ph.integrate(INERTIA, m0, Q0, 0.1, 3, torque=lambda t, m, q: value)
        with pytest.raises(ValueError, match="W function must return shape"):
            ph.integrate(
                INERTIA, m0, Q0, 0.1, 3, splitting="chin4c",
                torque=ph.torques.Function(lambda t, m, q: 0 * m, W=lambda t, q: value),
            )  # fmt: skip


def test_one_torque_for_a_batch_has_to_be_spread() -> None:
    with pytest.raises(ValueError, match=r"not \(3,\); one for all .*broadcast_to\(value, \(3, 3"):
        ph.integrate(INERTIA, BODIES, Q0, 0.1, 3, torque=lambda t, m, q: [0.1, 0.2, 0.3])
    spread = ph.integrate(
        INERTIA, BODIES, Q0, 0.1, 3,
        torque=lambda t, m, q: np.broadcast_to([0.1, 0.2, 0.3], m.shape),
    )  # fmt: skip
    constant = ph.torques.Constant([0.1, 0.2, 0.3])
    same(spread.m, ph.integrate(INERTIA, BODIES, Q0, 0.1, 3, torque=constant).m)


def test_functions_of_time_speak_for_all_bodies() -> None:
    vectors = ph.torques.Prescribed(lambda t: [0.1, 0.2, 0.3])
    ph.integrate(INERTIA, BODIES, Q0, 0.1, 3, torque=vectors)
    for value in (0.1, [[0.1], [0.2], [0.3]]):
        with pytest.raises(ValueError, match=r"must return shape \(3, 3\), or \(3,\)"):
            ph.integrate(
                INERTIA, BODIES, Q0, 0.1, 3,
                torque=ph.torques.Prescribed(lambda t, value=value: value),
            )  # fmt: skip


@pytest.mark.parametrize("value", [1.0, [1.0], np.ones((3, 1))])
def test_potential_of_another_shape_is_refused(value: Any) -> None:
    torque = ph.torques.Function(pull, potential=lambda t, q: value)
    traj = ph.integrate(INERTIA, BODIES, Q0, 0.1, 3, torque=torque)
    with pytest.raises(ValueError, match=r"potential function must return shape \(3,\)"):
        traj.energy()


# Layout of attitudes -----------------------------------------------------------------------------

_P = ctypes.POINTER(ctypes.c_double)
_TYPE = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_double,
    _P, _P, _P, ctypes.c_void_p,
)  # fmt: skip


def test_compiled_torque_of_the_other_layout_is_refused_before_any_work(tmp_path: Any) -> None:
    calls: list[int] = []

    @_TYPE
    def f(n: int, first: int, stride: int, t: float, m: Any, q: Any, f: Any, data: Any) -> None:
        calls.append(n)
        for k in range(3):
            for i in range(n):
                f[k * stride + i] = 0.0

    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    form: Any
    for form, right, wrong in (("quaternion", Q0, np.eye(3)), ("matrix", np.eye(3), Q0)):
        compiled = ph.torques.Compiled(f, attitude=form)
        for torque in (compiled, [lambda t, m, q: 0 * m, compiled]):
            ph.integrate(INERTIA, M0, right, 0.1, 2, torque=torque)
            calls.clear()
            save_to = tmp_path / "run"
            with pytest.raises(ValueError, match=f"takes attitudes of the form '{form}'"):
                ph.integrate(INERTIA, M0, wrong, 0.1, 2, torque=torque, save_to=save_to)
            with pytest.raises(ValueError, match=f"takes attitudes of the form '{form}'"):
                body.integrate(M0, wrong, 0.1, 2, torque=torque)
            assert not calls
            assert not save_to.exists()
