"""Adaptive steps of `rk8` in the core."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph
from polhode.integration.check_arguments import settings_of
from polhode.integration.loop import in_core
from polhode.integration.record import State

Array = NDArray[np.float64]
CASES = json.loads((Path(__file__).parents[1] / "data" / "heavy_tops.json").read_text())["cases"]
ZERO = ph.torques.Constant([0.0, 0.0, 0.0])


class Run:
    def __init__(self, inertia: Any, m0: Any, q0: Any, torque: Any, threads: int = 1) -> None:
        self.settings = settings_of(
            inertia,
            m0,
            q0,
            1.0,
            1,
            torque,
            None,
            "rk8",
            0.0,
            1,
            False,
            threads,
            {},
            in_memory=False,
        )
        self.state = State.begin(self.settings)

    def to(
        self, times: Any, tol: float = 1e-9, t: float | None = None, one_step: bool = False
    ) -> SimpleNamespace:
        """States at the times, steps and what else the core returns; from t, or the start."""
        batch, count = self.state.m.shape[:-1], self.state.m.size // 3
        core = in_core(self.settings, self.state, (), np.zeros(batch, np.bool_))
        m, q = (np.empty((len(times), *a.shape)) for a in (self.state.m, self.state.q))
        one_step |= not self.settings.per_body
        facts = core.adapt(
            np.full(count, t or 0.0), np.array(times, float), m, q, (tol, tol, tol),
            one_step=one_step, begins=t is None,
        )  # fmt: skip
        steps, rejected, lost = (np.reshape(fact, batch) for fact in facts)
        return SimpleNamespace(m=m, q=q, steps=steps, rejected=rejected, lost=lost)


def top(name: str, torque: Any = None) -> Run:
    case = CASES[name]
    torque = ph.torques.HeavyTop(case["u0"]) if torque is None else torque
    return Run(case["inertia"], case["m0"], case["q0"], torque)


def test_the_core_refuses_columns_of_another_number() -> None:
    run = top("generic")
    all_columns = np.asarray(run.state.work)
    for work in (all_columns[:-1], all_columns[:, :0]):
        run.state.work = work
        with pytest.raises(ValueError, match="arrays of the wrong size"):
            run.to([1.0])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["lanes", "stages", "function"])
def test_heavy_tops_within_the_tolerance(case: str, way: str) -> None:
    data = CASES[case]
    model = ph.torques.HeavyTop(data["u0"])
    torque: Any = {
        "lanes": model,
        "stages": [model, ZERO],
        "function": lambda t, q: model.torque(t, np.zeros(3), q),
    }[way]
    for tol in (1e-6, 1e-12):
        end = top(case, torque).to([data["t"]], tol)
        close(end.m[-1], data["m"], atol=20 * tol)
        close(end.q[-1], data["q"], atol=20 * tol)
        assert not end.lost.any()


def test_a_tighter_tolerance_takes_steps_in_proportion_to_the_eighth_root() -> None:
    counts = [float(top("generic").to([20.0], tol).steps) for tol in (1e-6, 1e-12)]
    close(counts[1] / counts[0], 10 ** (6 / 8), rtol=0.35)


def test_times_end_steps_and_calls_go_on_with_the_same_bits() -> None:
    times = np.array([0.0, 0.1, 0.1, 2.0, 3.5, 9.0])
    for torque in (None, [ph.torques.HeavyTop(CASES["generic"]["u0"]), ZERO]):
        whole = top("generic", torque).to(times)
        same(whole.m[1], whole.m[2])
        same(whole.m[0], CASES["generic"]["m0"])
        parts = top("generic", torque)
        first = parts.to(times[:3])
        rest = parts.to(times[3:], t=0.1)
        same(np.concatenate([first.m, rest.m]), whole.m)
        same(np.concatenate([first.q, rest.q]), whole.q)


def batch() -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {
        "inertia": rng.uniform(0.5, 3.0, (43, 3)),
        "m0": rng.normal(size=(43, 3)) * 10.0 ** rng.integers(-1, 2, (43, 1)),
        "q0": rng.normal(size=(43, 4)),
        "u0": rng.normal(size=(43, 3)),
    }


def of_batch(select: Any, *, stages: bool, matrix: bool = False, threads: int = 1) -> Run:
    b = {name: value[select] for name, value in batch().items()}
    torque: Any = ph.torques.HeavyTop(b["u0"])
    q0 = ph.so3.to_matrix(b["q0"]) if matrix else b["q0"]
    return Run(b["inertia"], b["m0"], q0, [torque, ZERO] if stages else torque, threads)


@pytest.mark.parametrize("stages", [False, True])
def test_bits_of_a_body_do_not_depend_on_others(stages: bool) -> None:
    times = [0.3, 2.0]
    whole = of_batch(slice(None), stages=stages).to(times)
    same(of_batch(slice(None), stages=stages, threads=2).to(times).q, whole.q)
    same(of_batch(slice(None, None, -1), stages=stages).to(times).q[:, ::-1], whole.q)
    for k in (0, 17, 42):
        alone = of_batch(k, stages=stages).to(times)
        same(alone.m, whole.m[:, k])
        assert alone.steps == whole.steps[k]
        assert alone.rejected == whole.rejected[k]
    assert whole.steps.min() < whole.steps.max() / 2


def test_one_step_for_all_is_that_of_the_fastest() -> None:
    own = of_batch(slice(None), stages=False).to([2.0])
    one = of_batch(slice(None), stages=False).to([2.0], one_step=True)
    assert (one.steps == one.steps[0]).all()
    assert one.steps[0] >= own.steps.max()
    close(one.q, own.q, atol=1e-6)


def test_matrices() -> None:
    q = of_batch(slice(None), stages=False).to([2.0]).q
    matrix = of_batch(slice(None), stages=False, matrix=True).to([2.0]).q
    close(matrix, ph.so3.to_matrix(q), atol=1e-13)


@pytest.mark.parametrize("stages", [False, True])
@pytest.mark.parametrize("one_step", [False, True])
def test_a_lost_body_leaves_its_neighbours(stages: bool, one_step: bool) -> None:
    run = of_batch(slice(8), stages=stages)
    run.state.m[3] = np.nan
    end = run.to([1.0], one_step=one_step)
    assert np.isnan(end.m[-1, 3]).all()
    assert np.isnan(end.q[-1, 3]).all()
    good = np.delete(np.arange(8), 3)
    assert np.isfinite(end.q[-1, good]).all()
    if not one_step:
        same(end.m[:, good], of_batch(slice(8), stages=stages).to([1.0]).m[:, good])


def test_free_bodies_and_a_torque_of_the_time() -> None:
    b = batch()
    free = Run(b["inertia"], b["m0"], b["q0"], None).to([-1.0], 1e-13)
    m, q = ph.step(b["inertia"], b["m0"], b["q0"], -1.0)
    close(free.q[-1], q, atol=1e-11)
    close(free.m[-1], m, atol=1e-10)
    gradient = ph.torques.GravityGradient(0.7)
    end = Run([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0, 0, 0], gradient).to([2.0], 1e-12)
    fixed = ph.integrate(
        [1.0, 1.5, 2.2],
        [0.3, 0.5, 0.8],
        [1.0, 0, 0, 0],
        0.01,
        200,
        torque=gradient,
        method="rk8",
        splitting=None,
    )
    close(end.q[-1], fixed.q[-1], atol=1e-11)


def test_a_step_that_becomes_too_short_loses_the_body() -> None:
    def wall(t: float, q: Array) -> Array:
        return np.array([0.0, 0.0, 1.0 / (1.0 - t) ** 2])  # infinite at t = 1

    end = top("generic", wall).to([0.5, 2.0])
    assert np.isfinite(end.m[0]).all()
    assert end.lost
    assert np.isnan(end.m[1]).all()
