"""Ensembles under Dask, as docs/dask.md computes them: the bits of one call, and lost workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same
from numpy.typing import NDArray

import polhode as ph

da = pytest.importorskip("dask.array")

Array = NDArray[np.float64]
TOP = ph.torques.HeavyTop(u0=[0.2, -0.1, 0.4])
TWO: dict[str, Any] = {"output_dtypes": (float, float)}


def bodies(*shape: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(5)
    return (
        rng.uniform(1.0, 2.0, (*shape, 3)),
        rng.standard_normal((*shape, 3)),
        rng.standard_normal((*shape, 4)),
    )


def chunked(arrays: tuple[Array, ...], *sizes: int) -> list[Any]:
    return [da.from_array(a, chunks=(*sizes, *a.shape[len(sizes) :])) for a in arrays]


@pytest.mark.parametrize("matrix", [False, True])
def test_steps_of_chunks_are_those_of_one_call(matrix: bool) -> None:
    inertia, m, q = bodies(5, 40)
    core = "j"
    if matrix:
        q, core = ph.so3.to_matrix(q / np.linalg.norm(q, axis=-1, keepdims=True)), "i,k"
    h = np.linspace(-1.0, 1.0, 200).reshape(5, 40)
    signature = f"(i),(i),({core}),()->(i),({core})"
    lazy = da.apply_gufunc(
        ph.step, signature, *chunked((inertia, m, q, h), 2, 7), **TWO, method="magnus4", n_steps=3
    )
    for part, whole in zip(
        da.compute(*lazy), ph.step(inertia, m, q, h, method="magnus4", n_steps=3), strict=True
    ):
        same(part, whole)


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    calls = []

    def step(*arguments: Array) -> tuple[Array, Array]:
        calls.append(len(arguments[1]))
        return ph.step(*arguments)

    m, _ = da.apply_gufunc(step, "(i),(i),(j),()->(i),(j)", *chunked(bodies(10), 4), 0.1, **TWO)
    assert calls == []
    m[:4].compute()
    assert calls == [4]


def test_an_invalid_body_is_an_error_of_its_chunk() -> None:
    inertia, m, q = bodies(10)
    inertia[9, 1] = -1.0
    lazy = da.apply_gufunc(
        ph.step, "(i),(i),(j),()->(i),(j)", *chunked((inertia, m, q), 4), 0.1, **TWO
    )
    same(lazy[0][:8].compute(), ph.step(inertia[:8], m[:8], q[:8], 0.1)[0])
    with pytest.raises(ValueError, match=r"inertia\[1\] = .*: a moment of inertia is negative"):
        lazy[0].compute()


def test_a_lost_worker_costs_its_chunk_alone(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    arguments: dict[str, Any] = {"h": 0.1, "n_steps": 100, "torque": TOP, "save_every": 10}
    killed = tmp_path / "killed"

    def run(inertia: Array, m: Array, q: Array, body: NDArray[np.int64]) -> tuple[Array, Array]:
        def note(step: int, t: float, m: Array, q: Array) -> None:
            with (tmp_path / f"{body[0]}.steps").open("a") as file:
                print(step, file=file)
            if body[0] == 4 and step == 50 and not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        where = tmp_path / f"{body[0]}"
        path = ph.integrate(inertia, m, q, **arguments, save_to=where, resume=True, callback=note)
        return path.m[-1], path.q[-1]

    whole = bodies(12)
    lazy = da.apply_gufunc(
        run, "(i),(i),(j),()->(i),(j)", *chunked(whole, 2), da.arange(12, chunks=2), **TWO
    )
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        distributed.Client(two) as client,
    ):
        m, q = client.gather(client.compute(lazy))
    path = ph.integrate(*whole, **arguments)
    same(m, path.m[-1])
    same(q, path.q[-1])
    assert killed.exists()
    once = list(range(0, 101, 10))
    for body in range(0, 12, 2):
        steps = list(map(int, (tmp_path / f"{body}.steps").read_text().split()))
        if body == 4:  # goes on from the last record
            assert steps[:6] == once[:6]
            del steps[:6]
        assert steps == once[-len(steps) :]
        assert len(steps) == 11 or body == 4
        same(ph.Trajectory.load(tmp_path / f"{body}").q, path.q[:, body : body + 2])
