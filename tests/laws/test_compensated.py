"""integrate(compensated=True): the energy of long runs errs by no more than the scheme does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
EPS = 2.0**-52
DATA = json.loads((Path(__file__).parents[1] / "data" / "heavy_top.json").read_text())
INERTIA, M0, Q0, U0 = (np.array(DATA[k], float) for k in ("I", "m0", "q0", "u0"))
TOP = ph.torques.HeavyTop(U0)


def pull(t: float, q: Array) -> Array:
    return TOP.torque(t, np.zeros(3), q)


def drift(trajectory: ph.Trajectory) -> Array:
    energy = trajectory.energy()
    return np.asarray(np.abs(energy - energy[0]).max(axis=0))


def top(n_steps: int, m0: Array = M0, **options: Any) -> ph.Trajectory:
    return ph.integrate(
        INERTIA, m0, Q0, 0.5, n_steps, torque=TOP, splitting="rkn6_14", save_every=100, **options
    )


def test_the_top_of_the_report_for_a_long_time() -> None:
    # Of the scheme in 34 digits: 2.4e-14.
    traj = top(100_000, compensated=True)
    assert drift(traj) <= 3e-14
    (end,) = (p for p in DATA["points"] if p["t"] == 50_000)
    assert traj.t[-1] == end["t"]
    close(traj.m[-1], np.array(end["m"], float), atol=1e-9)


def test_no_walk_by_chance() -> None:
    """Tops that differ in the last digits only: the energies of all of them end together."""
    m0 = M0 * (1 + 1e-13 * np.random.default_rng(4).uniform(-1, 1, (16, 3)))
    spread = {
        c: np.std(np.diff(top(20_000, m0, compensated=c).energy()[[0, -1]], axis=0))
        for c in (False, True)
    }
    # Rounded once, in the save, and in the evaluation of the energy: 1e-16 or so each.
    assert spread[True] < 5e-16
    assert spread[False] > 2e-15


def many(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "inertia": rng.uniform(0.5, 3.0, (n, 3)),
        "m0": rng.standard_normal((n, 3)),
        "q0": rng.standard_normal((n, 4)),
    }


def run(bodies: dict[str, Any], **options: Any) -> ph.Trajectory:
    defaults = {"h": 0.1, "n_steps": 200, "torque": TOP, "compensated": True}
    return ph.integrate(**{**defaults, **bodies, **options})


@pytest.mark.parametrize("splitting", ["strang", "rkn6_14"])
def test_bits(splitting: str) -> None:
    bodies = many(200)
    whole = run(bodies, splitting=splitting)
    assert (whole.m[-1] != run(bodies, splitting=splitting, compensated=False).m[-1]).any()
    for options in ({"threads": 2}, {"save_every": 7}, {"callback": lambda *_: None}):
        other = run(bodies, splitting=splitting, **options)  # type: ignore[arg-type]
        np.testing.assert_array_equal(other.m[-1], whole.m[-1])
        np.testing.assert_array_equal(other.q[-1], whole.q[-1])
    for k in (0, 63, 128, 199):
        one = run({name: a[k] for name, a in bodies.items()}, splitting=splitting)
        np.testing.assert_array_equal(one.m, whole.m[:, k])


def test_resumed(tmp_path: Path) -> None:
    def stop(step: int, *_: Any) -> None:
        if step == 101:
            raise InterruptedError

    for name, torque in (("model", None), ("function", pull)):
        bodies = many(3) | {"torque": torque or TOP}
        with pytest.raises(InterruptedError):
            run(bodies, save_to=tmp_path / name, callback=stop)
        traj = ph.resume(tmp_path / name, torque)
        np.testing.assert_array_equal(traj.m, run(bodies).m)
        assert (traj.m != run(bodies, compensated=False).m).any()


def test_functions_are_compensated_alike() -> None:
    m0 = M0 * (1 + 1e-13 * np.random.default_rng(4).uniform(-1, 1, (16, 3)))
    changes: dict[str, Any] = {"inertia": INERTIA, "m0": m0, "q0": Q0, "h": 0.5, "n_steps": 1500}
    ends = {}
    for c in (False, True):
        traj = run(changes, torque=pull, compensated=c, save_every=1500, splitting="rkn6_14")
        energy = ph.Trajectory(traj.t, traj.m, traj.q, traj.inertia, (TOP,)).energy()
        ends[c] = np.std(energy[-1] - energy[0])
    assert ends[True] < 5e-16
    assert ends[False] > 2 * ends[True]


def test_at_rest_and_tiny() -> None:
    changes: dict[str, Any] = {"inertia": [1, 2, 3], "q0": Q0, "torque": None}
    for m in (0.0, 1e-170, 1e-300, 1e150):
        bodies = {**changes, "m0": [m, 2 * m, m], "h": 0.1 / max(m, 1.0)}
        traj, plain = run(bodies), run(bodies, compensated=False)
        assert np.isfinite(traj.m).all()
        close(traj.m, plain.m, atol=1e-9 * m, rtol=1e-9)
    traj = run({"inertia": [0, 1, 1], "m0": [0, 1, 2], "q0": Q0, "torque": None})
    close(traj.m, np.tile([0, 1, 2], (201, 1)), atol=1e-12)
    from_rest = run({**changes, "m0": np.zeros(3), "torque": TOP})
    assert np.isfinite(from_rest.m).all()
    assert drift(from_rest) < 1e-9


def test_refused_where_energy_is_not_kept() -> None:
    drag = ph.torques.Function(lambda m: -m)
    with pytest.raises(ValueError, match="compensated needs a torque that does not depend on m"):
        run(many(1), torque=drag)
