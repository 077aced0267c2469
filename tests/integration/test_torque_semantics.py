"""The forms of a torque, the times of its evaluation, and the messages for invalid torques."""

from __future__ import annotations

import ctypes
import functools
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

        def f(t: float, q: Array, asked: list[float] = asked) -> Array:
            asked.append(t)
            return np.zeros(3)

        def W(t: float, q: Array) -> Array:
            return np.zeros(3)

        torque = ph.torques.Function(f, W=W)
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
    two = ph.torques.Prescribed([[0.1, 0.2, 0.3], [0.2, 0.2, 0.3]], [0.0, 0.5])
    with pytest.raises(ValueError, match="is given from"):
        run(two, n=4, splitting="rkn6_7")
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


def pull(t: float, q: Array) -> Array:
    return np.stack([q[..., 1], -q[..., 0], 0 * q[..., 2]], axis=-1)


def order(torque: Any, exact: Array) -> float:
    errors = [np.abs(run(torque, 1 / n, n).m[-1] - exact).max() for n in (20, 40)]
    return float(np.log2(errors[0] / errors[1]))


def test_a_function_of_m_keeps_the_order() -> None:
    exact = run(drag, 1 / 320, 320, splitting="s6").m[-1]
    assert order(drag, exact) > 1.9
    untold = ph.torques.Function(drag, depends_on_m=False)
    assert np.abs(run(untold).m - run(drag).m).max() > 1e-4  # and it matters


ASKS: dict[str, Any] = {
    "t, q": pull,
    "q, t": lambda q, t: pull(t, q),
    "attitude": lambda attitude: pull(0.0, attitude),
    "a default": lambda t, q, scale=1.0: scale * pull(t, q),
    "partial": functools.partial(lambda k, t, q: k * pull(t, q), 1.0),
    "arguments": ph.torques.Function(lambda *x: pull(x[1], x[0]), arguments=("q", "t")),
    "t, m, q": lambda t, m, q: pull(t, q) + 0 * m,
    "m, q": lambda m, q: pull(0.0, q) + 0 * m,
    "other names": ph.torques.Function(lambda a, b: pull(0.0, a) + 0 * b, arguments=("q", "m")),
}


@pytest.mark.parametrize(("name", "torque"), ASKS.items(), ids=ASKS)
def test_a_function_gets_what_it_asks_for(name: str, torque: Any) -> None:
    args = INERTIA, BODIES, 2 * Q0, 0.1, 5  # brought to unit norm
    found = ph.integrate(*args, torque=torque, t0=3.0)
    assert found.torque[0].depends_on_m == ("m" in name.split(", ") or name == "other names")
    expected = ph.integrate(*args, torque=pull, t0=3.0)
    # A kick by a Runge-Kutta step of a constant torque rounds otherwise.
    close(found.m, expected.m, atol=8 * np.finfo(float).eps)
    if not found.torque[0].depends_on_m:
        same(found.m, expected.m)
        ph.integrate(*args, torque=torque, splitting="rkn6_14", compensated=True)
    same(found.torque[0].torque(3.0, BODIES, Q0 * np.ones((3, 1))), pull(3.0, Q0 * np.ones((3, 1))))


def test_a_constant_function_asks_for_nothing() -> None:
    constant = ph.torques.Constant([0.1, 0.0, 0.2])
    same(run(lambda: [0.1, 0.0, 0.2]).m, run(constant).m)


def scaled(strength: float, t: float, q: Array) -> Array:
    return strength * pull(t, q)


def scaled_last(t: float, q: Array, strength: float) -> Array:
    return strength * pull(t, q)


def test_a_partial_function_asks_for_what_is_left() -> None:
    expected = run(pull)
    for torque in (
        functools.partial(scaled, 1.0),
        functools.partial(scaled_last, strength=1.0),
        functools.partial(functools.partial(scaled_last), strength=1.0),
    ):
        same(run(torque).m, expected.m)
    fixed = functools.partial(scaled_last, q=Q0 * np.ones((3, 1)), strength=1.0)
    assert ph.torques.Function(fixed).asked == (0,)  # the attitude is set
    with pytest.raises(TypeError, match=r"takes 't' by name only: set strength by position, or la"):
        run(functools.partial(scaled, strength=1.0))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, m, Q: 0 * m, "asks for 'Q'; the arguments of a torque are t, m, q, attitude"),
        (lambda t, omega, q: 0 * omega, "asks for 'omega'"),
        (lambda *state: state, "asks for 'state'.*arguments="),
        (lambda t, *, q: q, "takes 'q' by name only"),
        (lambda q, attitude: q, "asks for the same argument twice: q, attitude"),
        (np.cross, "asks for 'a'"),
        (dict.fromkeys, "asks for 'iterable'|no signature"),
    ],
)
def test_functions_that_ask_for_something_else_are_refused(function: Any, message: str) -> None:
    for torque in (function, [pull, function]):
        with pytest.raises(TypeError, match=message):
            run(torque)
    with pytest.raises(TypeError, match="asks for 'omega'; the arguments of a torque are t, m"):
        ph.torques.Function(drag, arguments=("t", "omega"))
    for names in ("tm", 5, [["t"]]):
        with pytest.raises(TypeError, match=r"arguments"):
            ph.torques.Function(drag, arguments=names)


def test_no_call_but_those_of_the_kicks() -> None:
    seen: list[float] = []

    def counted(t: float, q: Array) -> Array:
        seen.append(t)
        return 0 * q[..., 1:]

    for options, calls in (({}, 2), ({"splitting": None, "method": "rk4"}, 4)):
        seen.clear()
        run(counted, n=1, **options)
        assert len(seen) == calls
    seen.clear()
    run(counted, n=0)
    assert not seen


@pytest.mark.parametrize("given", ["bare", "body axes"])
def test_schemes_for_attitudes_refuse_a_function_of_m(given: str) -> None:
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    go = body.integrate if given == "body axes" else functools.partial(ph.integrate, INERTIA)
    options: dict[str, Any]
    for options in ({"splitting": "rkn6_14"}, {"compensated": True}, {"splitting": "chin4a"}):
        options["torque"] = ph.torques.Function(drag, W=lambda t, q: 0 * q[..., 1:])
        with pytest.raises(ValueError, match=r"does not depend on m.*written as torque\(t, q\)"):
            go(M0, Q0, 0.1, 4, **options)


def test_function_that_gives_back_the_same_array() -> None:
    kept = np.empty(3)

    def reused(m: Array) -> Array:
        np.multiply(m, -0.5, out=kept)
        return kept

    same(run(reused).m, run(drag).m)


def test_function_that_always_fails() -> None:
    def broken(t: float, q: Array) -> Array:
        raise LookupError("no data")

    with pytest.raises(LookupError, match="no data") as failed:
        run(broken)
    assert len(failed.value.trajectory) == 1  # type: ignore[attr-defined]
    assert "in step 0" in failed.value.__notes__[0]


# Shape -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, [0.0], [[0.0]], np.zeros((3, 1)), np.zeros((1, 3))])
def test_torque_of_another_shape_is_refused(value: Any) -> None:
    for m0, expected in ((M0, (3,)), (BODIES, (3, 3))):
        if np.shape(value) == expected:
            continue
        with pytest.raises(ValueError, match=r"torque function must return shape \(3,"):
            ph.integrate(INERTIA, m0, Q0, 0.1, 3, torque=lambda t, q: value)
        with pytest.raises(ValueError, match="W function must return shape"):
            ph.integrate(
                INERTIA, m0, Q0, 0.1, 3, splitting="chin4c",
                torque=ph.torques.Function(lambda q: 0 * q[..., 1:], W=lambda t, q: value),
            )  # fmt: skip


def test_one_torque_for_a_batch_has_to_be_spread() -> None:
    with pytest.raises(ValueError, match=r"not \(3,\); one for all .*broadcast_to\(value, \(3, 3"):
        ph.integrate(INERTIA, BODIES, Q0, 0.1, 3, torque=lambda t, q: [0.1, 0.2, 0.3])
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
