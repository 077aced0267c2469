"""Runs that tests start in a separate process, to be killed or interrupted.

python runs.py NAME PATH            begins the run, or resumes it where PATH is there
python runs.py NAME                 runs it in memory until it is interrupted, prints what is left
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from polhode.integration import loop
from polhode.run_directory import files

Array = NDArray[np.float64]
U0 = np.array([0.2, -0.1, 0.4])
TENSOR = [[4.5, -1.0, 0.3], [-1.0, 5.0, 0.2], [0.3, 0.2, 2.5]]


def pull(t: float, q: Array) -> Array:
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack([y * z + w * x, w * y - x * z + 0.1 * np.cos(t), 0 * w], axis=-1)


def bodies(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    return {
        "inertia": rng.uniform(1, 2, (n, 3)),
        "m0": rng.standard_normal((n, 3)),
        "q0": rng.standard_normal((n, 4)),
    }


def core(**options: Any) -> ph.Trajectory:
    return ph.integrate(
        **bodies(5),
        h=0.05,
        n_steps=200_003,
        torque=ph.torques.HeavyTop(U0 * np.ones((5, 1))),
        splitting="rkn6_14",
        save_every=97,
        t0=3.0,
        **options,
    )


def function(**options: Any) -> ph.Trajectory:
    steps = 0.05 * (1 + np.random.default_rng(1).random(25_000))
    return ph.integrate(
        **bodies(2), h=steps, n_steps=25_000, torque=pull, splitting=([0.5, 0.5], [1.0]), **options
    )


def skew(**options: Any) -> ph.Trajectory:
    return ph.RigidBody(TENSOR).integrate(
        [0.3, 0.5, 0.8],
        [1, 0, 0, 0],
        0.05,
        20_000,
        torque=[ph.torques.HeavyTop(U0, axis=[0.1, 0.2, 0.9]), pull],
        save_every=10,
        method="magnus6",
        **options,
    )


RUNS: dict[str, Callable[..., ph.Trajectory]] = {"core": core, "function": function, "skew": skew}
#: What resume is given.
OWN = {"core": None, "function": pull, "skew": pull}


def endless_core() -> None:
    ph.integrate([1, 1.5, 2.2], [1, 1, 1], [1, 0, 0, 0], 0.01, 2**40, save_every=2**27)


def endless_adaptive() -> None:
    ph.integrate([1, 1.5, 2.2], [1, 1, 1], [1, 0, 0, 0], t_end=1e12, rtol=1e-12)


def endless_function() -> None:
    ph.integrate([1, 1.5, 2.2], [1, 1, 1], [1, 0, 0, 0], 0.01, 2**40, torque=pull, save_every=2**27)


def endless_batch() -> None:
    n, flows = 1_000_000, 200
    ph.integrate(
        [1, 1.5, 2.2],
        np.ones((n, 3)),
        [1, 0, 0, 0],
        1e6,
        100,
        save_every=100,
        splitting=([1 / flows] * flows, [1 / flows] * flows),
        method="frb",
    )


def endless_step() -> None:
    ph.step([1, 1.5, 2.2], [1, 1, 1], [1, 0, 0, 0], 1e6, n_steps=2**40, method="frb")


def endless_steps() -> None:
    ph.step([1, 1.5, 2.2], np.ones((5_000_000, 3)), [1, 0, 0, 0], 1e6, n_steps=50, method="frb")


def many_turns(n: int, turns: float) -> dict[str, Any]:
    """Bodies whose step has a long way to a root of an implicit method, or to none."""
    rng = np.random.default_rng(5)
    return {
        "inertia": rng.uniform(0.6, 3, (n, 3)),
        "m": turns * rng.standard_normal((n, 3)),
        "q": rng.standard_normal((n, 4)),
    }


def endless_implicit_step() -> None:
    """Few bodies, with the lock held, over and over."""
    warnings.simplefilter("ignore")
    for _ in range(10_000):
        ph.step(**many_turns(30, 1e6), h=1.0, method="bbtrapwd")


def endless_implicit_steps() -> None:
    """Many bodies in one call."""
    warnings.simplefilter("ignore")
    ph.step(**many_turns(20_000, 1e4), h=1.0, method="bbtrapwd")


def endless_helpers() -> None:
    """Other threads work while the one that is interrupted has nothing to do."""
    warnings.simplefilter("ignore")
    state = many_turns(128 * 300, 1e4)
    state["m"][: 128 * 150] = 1.0
    ph.step(**state, h=1.0, method="rkmk_gauss4", threads=2)


def endless_implicit_torque() -> None:
    """Many bodies, each of which evaluates the torque often."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(5)
    ph.integrate(
        rng.uniform(0.6, 3, (20_000, 3)),
        1e9 * rng.standard_normal((20_000, 3)),
        rng.standard_normal((20_000, 4)),
        1.0,
        4,
        torque=ph.torques.Constant([0.5, 0.3, 0.4]),
        method="euler_backward",
        splitting=None,
    )


def endless_function_torque() -> None:
    """The same with a torque that Python evaluates."""
    warnings.simplefilter("ignore")
    state = many_turns(20_000, 1e4)
    ph.integrate(
        state["inertia"],
        state["m"],
        state["q"],
        1.0,
        4,
        torque=pull,
        method="imidm",
        splitting=None,
    )


def kill_often() -> None:
    """So that a run is killed in and between many commits."""
    files.COMMIT_AFTER, files.COMMIT_SHARE, loop.SLICE = 0.01, 0.0, 0.004


def main(name: str, path: str | None = None) -> None:
    # Where pytest was started with SIGINT ignored (nohup ... &) this process would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("begun", flush=True)
    if path is not None:
        kill_often()
        if Path(path).exists():
            ph.resume(path, OWN[name])
        else:
            RUNS[name](save_to=path)
        return
    try:
        globals()[name]()
    except KeyboardInterrupt as error:
        kept = getattr(error, "trajectory", None)
        print("interrupted", "nothing" if kept is None else len(kept), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
