"""The rivals of the benchmarks: each that is installed against the reference; no times."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from compare import close, same

import polhode as ph
from benchmarks import Measured, Run, Timer
from benchmarks.cases.functions import FUNCTIONS, argument_sets
from benchmarks.rivals import (
    _compiled,
    _elliptic,
    _torques,
    _work_precision,
    functions,
    long_runs,
    motions,
    torques,
)
from benchmarks.rivals._polhode import OURS, by_call, prepared, under_torque
from benchmarks.rivals._problem import free_bodies, heavy_tops

PROBLEMS = {
    "free": free_bodies,
    "heavy-top": heavy_tops,
    "damped-dipole": lambda bodies: _torques.repeated(_torques.dipole(), bodies),
    "satellite": lambda bodies: _torques.repeated(_torques.satellite(), bodies),
}
SOLVED = [(r, kind) for r in (*OURS, *motions.RIVALS) for kind in r.settings]
QUICKEST = Run(timer=Timer(seconds=0, window=0, least=1, most=1), quick=True)
# Error at the second setting, or the only one: four times what is measured, by program.
BOUNDS = {
    ("polhode exact", "free"): 1e-13,
    ("polhode rkn6_14", "heavy-top"): 1e-8,
    ("polhode aba864", "heavy-top"): 4e-8,
    ("polhode sofroniou10_35", "heavy-top"): 2e-7,
    ("polhode rk8", "heavy-top"): 2e-7,
    ("polhode adams8", "heavy-top"): 4e-6,
    ("polhode adams10", "heavy-top"): 6e-11,
    ("RK4 in C++", "free"): 3e-4,
    ("RK4 in C++", "heavy-top"): 3e-4,
    ("RK4 in C++", "damped-dipole"): 2e-4,
    ("RK4 in C++", "satellite"): 1e-2,
    ("RK8 in C++", "free"): 2e-7,
    ("RK8 in C++", "heavy-top"): 5e-7,
    ("RK8 in C++", "damped-dipole"): 3e-6,
    ("RK8 in C++", "satellite"): 2e-2,
    ("Numba RK8", "damped-dipole"): 3e-6,
    ("Numba RK8", "satellite"): 2e-2,
    ("heyoka.py", "damped-dipole"): 3e-11,
    ("heyoka.py", "satellite"): 3e-10,
    ("SciPy DOP853", "damped-dipole"): 3e-6,
    ("SciPy DOP853", "satellite"): 7e-5,
    ("Numba RK8", "free"): 2e-7,
    ("Numba RK8", "heavy-top"): 5e-7,
    ("heyoka.py", "free"): 1e-9,
    ("heyoka.py", "heavy-top"): 2e-11,
    ("SciPy DOP853", "free"): 3e-5,
    ("SciPy DOP853", "heavy-top"): 1e-5,
    ("diffrax Dopri8", "free"): 2e-6,
    ("diffrax Dopri8", "heavy-top"): 3e-7,
    ("MuJoCo RK4", "free"): 2e-7,
    ("MuJoCo RK4", "heavy-top"): 8e-7,
    ("Pinocchio aba + DOP853", "free"): 2e-6,
    ("Pinocchio aba + DOP853", "heavy-top"): 1e-6,
    ("LAMMPS rigid/nve/small", "free"): 1e-2,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the other packages
@pytest.mark.parametrize(("rival", "kind"), SOLVED, ids=[f"{r.name} {k}" for r, k in SOLVED])
def test_a_rival_solves_the_problem(rival, kind):
    if why := rival.missing():
        pytest.skip(why)
    assert rival.version()
    first = kind in ("free", "heavy-top")
    for bodies in ((1, 3) if first else (5,)) if rival.batch else (1,):
        problem = PROBLEMS[kind](bodies)
        errors = []
        for setting in rival.settings[kind][:2]:
            ready = rival.prepare(problem, setting)
            ready.run()  # from the start each time
            m, q = ready.state(ready.run())
            assert m.shape == (bodies, 3)
            assert q.shape == (bodies, 4)
            errors.append(problem.error(m, q))
        assert errors == sorted(errors, reverse=True)
        close(errors[-1], 0, atol=BOUNDS[rival.name, kind], what=f"{rival.name}, {bodies} bodies")


def test_the_references_are_those_of_other_sources():
    free = free_bodies(5)
    m, q = ph.TorqueFreeMotion(free.inertia, free.m, free.q)(free.t_end)
    # 100 units of time are some 80 rad.
    close(free.error(m, q), 0, atol=1e-13)
    assert free.error(m, -q) == free.error(m, q)
    assert free.error(m, free.q) > 0.1
    tops = heavy_tops(4)
    close(tops.q[0], [1, 0, 0, 0])
    path = ph.integrate(
        tops.inertia,
        tops.m,
        tops.q,
        0.1,
        500,
        torque=ph.torques.HeavyTop(tops.u0),
        splitting="rkn6_14",
    )
    close(path.t[-1], tops.t_end, atol=1e-12)
    close(tops.error(path.m[-1], path.q[-1]), 0, atol=1e-12)


def test_the_equations_are_the_documented_ones():
    top = heavy_tops(3)
    rates = np.array(top.slopes(top.states)).T
    omega = top.m / top.inertia
    torque = ph.torques.HeavyTop(top.u0).torque(0.0, top.m, top.q)
    close(rates[:, :3], np.cross(top.m, omega) + torque, atol=1e-15)
    spin = np.c_[np.zeros(3), omega]
    close(rates[:, 3:], ph.so3.multiply(top.q, spin) / 2, atol=1e-15)
    free = replace(top, kind="free")
    close(np.array(free.slopes(top.states)).T[:, :3], np.cross(top.m, omega), atol=1e-15)


@pytest.mark.parametrize("kind", ["damped-dipole", "satellite"])
def test_the_torques_of_the_equations_are_those_of_the_models(kind):
    problem = PROBLEMS[kind](5)
    rates = np.array(problem.slopes(problem.states)).T
    terms = problem.torque if isinstance(problem.torque, list) else [problem.torque]
    omega = problem.m / problem.inertia
    torque = sum(x.with_inertia(problem.inertia).torque(0.0, problem.m, problem.q) for x in terms)
    close(rates[:, :3], np.cross(problem.m, omega) + torque, atol=1e-15)
    if kind == "satellite":  # It begins at the perigee.
        e, rate = problem.parameters
        close(rates[:, 8], rate * (1 + e) ** 2, rtol=1e-15)


@pytest.mark.parametrize("rival", [x for x in motions.RIVALS if x.packages], ids=lambda r: r.name)
def test_a_missing_rival_has_a_row_that_says_so(rival, monkeypatch):
    module, distribution = rival.packages[0]
    monkeypatch.setitem(sys.modules, module, None)
    problem = free_bodies(1)
    rows = list(_work_precision.compare(QUICKEST, problem, OURS, [rival], [1e-6]))
    (row,) = [r for r in rows if r.labels["program"] == rival.name]
    assert row.times["time"].reason == f"not installed (pip install {distribution})"
    assert row.times["time"].least is None


def test_a_rival_without_a_compiler_says_so(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(OSError, match="no C"):
        _compiled.shared_library("_runge_kutta.cpp")


def test_a_rival_without_its_library_says_so():
    def probe():
        raise OSError("libmpi.so.12: cannot open")

    rival = replace(OURS[0], probe=probe)
    assert rival.missing() == "not installed: libmpi.so.12: cannot open"
    assert not OURS[0].missing()


def test_time_at_an_error():
    errors = {"a": 1e-2, "b": 1e-4, "c": 1e-8}
    assert _work_precision.at_error(errors, 1e-2) == {"a": 1.0}
    assert _work_precision.at_error(errors, 1.0) == {"a": 1.0}
    assert _work_precision.at_error(errors, 1e-9) is None
    weights = _work_precision.at_error(errors, 1e-5)
    assert list(weights) == ["b", "c"]
    close(list(weights.values()), [0.75, 0.25], atol=1e-15)
    assert _work_precision.at_error({"a": np.inf, "b": 1e-4}, 1e-3) == {"b": 1.0}
    where = _work_precision._where
    assert where(errors, weights, 1e-5) == (1e-5, "")
    assert where(errors, {"a": 1.0}, 1e-2) == (1e-2, "")
    bound = "least accurate setting: the time is an upper bound"
    assert where(errors, {"a": 1.0}, 1.0) == (1e-2, bound)
    assert where({"a": 1e-13}, {"a": 1.0}, 1e-3) == (1e-13, "error at most: the only setting")

    # Times that go with the error to the power -1/2, ours ten times as fast.
    spent = {name: np.full(9, 3.0 * error**-0.5) for name, error in errors.items()}
    spent["ours"] = np.full(9, 0.3 * 1e-5**-0.5)
    measured = Measured(spent, spent, "process", 0.0)
    time = _work_precision.time_at(measured, weights)
    close([time.least, time.median, time.wall], 3 * 1e-5**-0.5, rtol=1e-14)
    assert time.windows == 9
    ratio = _work_precision.ratio_at(measured, weights, {"ours": 1.0})
    close([ratio.low, ratio.median, ratio.high], 10, rtol=1e-13)

    loaded = Measured(spent, spent | {"b": 2 * spent["b"]}, "process", 0.0)
    assert _work_precision.time_at(loaded, weights).reason.startswith("loaded")
    assert _work_precision.ratio_at(loaded, weights, {"ours": 1.0}).reason.startswith("loaded")


def test_a_long_run_is_left_out(monkeypatch):
    monkeypatch.setattr(_work_precision, "LONGEST_QUICK", -1.0)
    curve = _work_precision.Curve(OURS[0], free_bodies(1), quick=True)
    assert not curve.runs
    assert curve.left_out.startswith("a run at 100 took")


@pytest.mark.parametrize("one", [motions.free, motions.heavy_top], ids=lambda c: c.name)
def test_the_cases_of_motions(one, monkeypatch):
    pytest.importorskip("scipy")
    scipy = next(r for r in motions.RIVALS if r.name == "SciPy DOP853")
    monkeypatch.setattr(motions, "RIVALS", [scipy])
    monkeypatch.setattr(_work_precision, "LONGEST_QUICK", 60.0)
    table = one.run(QUICKEST)
    assert not table.fault
    labels = [tuple(row.labels.values()) for row in table.rows]
    assert len(set(labels)) == len(labels)
    for row in table.rows:
        # A time stands only beside an error.
        assert row.times["time"].reason or row.values["error"] > 0
        if row.ratios:
            assert row.labels["at"] == f"error = {row.values['error']:g}"
    assert any(row.ratios for row in table.rows)


def test_the_case_of_torques(monkeypatch):
    monkeypatch.setattr(torques, "RIVALS", torques.RIVALS[1:3])
    table = torques.under_torques.run(QUICKEST)
    assert not table.fault
    (row,) = table.rows
    assert row.values["method"]
    assert row.times["integrate"].median > 0  # of one body, beside a prepared run
    assert row.ratios.keys() <= {"polhode / RK8 in C++", "polhode / RK4 in C++"}


def test_a_curve_ends_at_the_error():
    problem = _torques.repeated(_torques.tops(1e-3), 2)
    (rk8,) = (x for x in under_torque(problem, torques.STEPS) if x.name == "rk8")
    curve = torques.curve(rk8, problem, 1e-6)
    *before, last = curve.errors.values()
    assert last <= 1e-6 < min(before)
    # A scheme that does not accept the torque has no points.
    damped = PROBLEMS["damped-dipole"](1)
    (rkn,) = (x for x in under_torque(damped, torques.STEPS) if x.name == "rkn6_14")
    assert not torques.curve(rkn, damped, 1e-6).errors


@pytest.mark.parametrize("bodies", [1, 2])
def test_a_prepared_run_ends_where_a_call_does(bodies):
    problem = _torques.repeated(_torques.tops(1e-3), bodies)
    setting = {"splitting": None, "method": "adams8"}
    called, ready = (way(setting, problem, 0.5) for way in (by_call, prepared))
    for _ in range(2):
        for one, other in zip(*(x.state(x.run()) for x in (called, ready)), strict=True):
            same(one, other)


def test_long_runs(monkeypatch):
    monkeypatch.setattr(long_runs, "RIVALS", [])
    monkeypatch.setattr(long_runs, "TURNS_QUICK", (10, 100))
    table = long_runs.long_torque.run(QUICKEST)
    assert not table.fault
    for row in table.rows:
        close(row.values["error"], 0, atol=1e-6)
        close(row.values["energy"], 0, atol=1e-8)
    energy = {tuple(row.labels.values()): row.values["energy"] for row in table.rows}
    # The drift of a direct method is proportional to time, the error of a scheme is bounded.
    assert energy[1.0, "rk8", 100] > 5 * energy[1.0, "rk8", 10]
    assert energy[1.0, "rkn6_14", 100] < 5 * energy[1.0, "rkn6_14", 10]


PROGRAMS = ["polhode", "scipy.special", "Boost in double", "Boost, its default"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_elliptic_functions(program):
    assert list(functions.PROGRAMS) == PROGRAMS
    try:
        version, found = functions.PROGRAMS[program]()
    except _elliptic.MissingError as why:
        pytest.skip(str(why))
    assert version[0].isdigit()
    # What all of them do well: arguments that are neither large nor near a singularity.
    sets = argument_sets(50, np.random.default_rng(3))
    assert set(found) == {name for name, *_ in FUNCTIONS}
    for name, family, inputs, _ in FUNCTIONS:
        error = functions.error(name, found[name], sets[family]["typical"][:inputs])
        close(error, 0, atol=8.0, what=name)


def test_missing_elliptic_functions(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(_elliptic.MissingError, match=r"not installed \(pip install scipy\)"):
        _elliptic.scipy()
    monkeypatch.setattr(_elliptic, "_headers", list)
    _elliptic._library.cache_clear()
    with pytest.raises(_elliptic.MissingError, match=r"not installed \(pip install boost-headers"):
        _elliptic.boost("double")
    table = functions.elliptic.run(QUICKEST)
    assert not table.fault
    by_program = {row.labels["program"]: row.times["time"].reason for row in table.rows}
    assert by_program["scipy.special"] == "not installed (pip install scipy)"
    assert by_program["Boost in double"] == "not installed (pip install boost-headers)"
