"""The suite of benchmarks: its timer, its results, its report; no times are asserted."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compare import close, same

import polhode as ph
from benchmarks import (
    Ratio,
    Row,
    Run,
    Table,
    Timer,
    Times,
    _command,
    _compare,
    _machine,
    _page,
    _registry,
    _report,
    _timing,
    absent,
    load,
)
from benchmarks import _results as results
from benchmarks._heavy_top import heavy_top
from benchmarks._timing import Measured

TABLE = Table(
    "example",
    "An example",
    "What it is.",
    "ns per step",
    {"error": "in eps"},
    [
        Row(
            {"N": 1},
            {"ours": Times(9.0, 10.0, 11.0, 12.0, 11.5, 20, clock="wall")},
            values={"error": 0.5},
        ),
        Row({"N": 2}, {"ours": absent()}, note="a <note>"),
    ],
)


def windows(**functions):
    """The windows of some functions: CPU time and wall time of each."""
    cpu, wall = ({k: np.array(v[i], float) for k, v in functions.items()} for i in (0, 1))
    return Measured(cpu, wall, "thread", 0.0)


def test_times_are_those_of_windows_without_interruption():
    cpu, wall = [1, 1.1, 1.2, 1.3, 9.0], [1, 1.1, 1.2, 1.3, 90.0]
    times = windows(f=(cpu, wall)).times["f"]
    close(times.least, 1.0, atol=0)
    close(times.median, 1.15, atol=1e-15)
    close([times.low, times.high], [1.075, 1.225], atol=1e-15)
    assert times.windows == 4
    assert not times.reason


def test_a_loaded_machine_gives_a_reason_in_place_of_a_number():
    interrupted = windows(f=([1, 1, 1, 1], [1, 2, 2, 2]))
    assert "75% of the windows were interrupted" in interrupted.times["f"].reason
    spread = windows(f=([1, 1, 2, 2], [1, 1, 2, 2]))
    assert spread.times["f"].reason == "spread: quartiles 67% apart"
    for measured in (interrupted, spread):
        assert measured.times["f"].median is None
        assert measured.ratio("f", "f").median is None
    unknown = Measured({"f": np.ones(9)}, {"f": np.ones(9)}, "wall", None).times["f"]
    assert (unknown.median, unknown.note) == (1.0, "load not known")
    assert _report.interval(unknown).endswith("load not known")
    wall = Measured({"f": np.ones(9)}, {"f": np.ones(9)}, "wall", 0.5)
    assert "other programs took 50%" in wall.times["f"].reason


def test_a_ratio_is_that_of_neighbouring_windows():
    # The machine becomes twice as slow half way; the ratio is the same in all windows.
    ours, rival = np.array([1, 1, 1, 1.2, 1.2, 1.2]), np.array([3, 3, 3, 3.6, 3.6, 3.6])
    ratio = windows(ours=(ours, ours), rival=(rival, rival)).ratio("rival", "ours")
    close([ratio.low, ratio.median, ratio.high], 3.0, atol=1e-15)


def test_functions_take_turns():
    calls = []
    timer = Timer(seconds=0.0, window=0.0, least=5)
    works = {k: lambda k=k: calls.append(k) for k in "ab"}
    measured = timer.measure(works, items={"a": 1, "b": 2}, clock="wall")
    # One call of each at the start, to fill caches and to find the length of a window.
    same("".join(calls[2:]), "abbaabbaab")
    assert set(measured.times) == {"a", "b"}


def test_interrupted_windows_are_made_up_for(monkeypatch):
    clock = iter(range(0, 10**9, 100))
    monkeypatch.setattr(_timing.time, "thread_time_ns", lambda: next(clock))
    waits = [1000, 1000, 0, 0, 0, 0]
    wall = iter(np.cumsum([x for wait in waits for x in (0, 100 + wait)]).tolist())
    monkeypatch.setattr(_timing.time, "perf_counter_ns", lambda: next(wall))
    measured = Timer(seconds=0.0, window=0.0, least=4).measure({"f": lambda: None})
    assert measured.times["f"].windows == 4


def test_a_window_is_as_long_as_stated(monkeypatch):
    calls = []
    monkeypatch.setattr(_timing, "_seconds", lambda f: 0.4)
    Timer(seconds=0.0, window=1.0, least=1).measure({"f": lambda: calls.append(1)})
    assert len(calls) == 3  # three times 0.4 s
    assert Timer().least >= _compare.LEAST_WINDOWS


def test_results_are_read_as_they_were_written(tmp_path):
    written = results.Results({"processor": "one"}, {"example": TABLE})
    written.save(tmp_path / "a.json")
    assert load(tmp_path / "a.json") == written
    times = Times(0.0, 1.23456789, 2.0, 3.0, 2.5, 20)
    row = Row({}, {"a": times}, {"b": Ratio(1.0, 1.0, 1.23456789)}, {"error": 1.23456789}, "note")
    results.Results({}, {"example": replace(TABLE, rows=[row])}).save(tmp_path / "a.json")
    (read,) = load(tmp_path / "a.json").tables["example"].rows
    assert read.times == {"a": replace(times, low=1.23457)}
    assert read.ratios["b"].high == 1.23457
    assert read.values == row.values


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"machine": {}, "tables": [1]}'])
def test_a_file_of_another_kind_is_refused(tmp_path, capsys, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"a\.json is not a result file of the suite"):
        load(path)
    assert _command.main(["--compare", str(path), str(path)]) == 2
    assert "a.json" in capsys.readouterr().err


def compared(new: Times, error: float = 0.5) -> str:
    rows = [Row({"N": 1}, {"ours": new}, values={"error": error})]
    old = results.Results({}, {"example": TABLE})
    return _compare.compare(old, results.Results({}, {"example": replace(TABLE, rows=rows)}))


def test_only_changes_beyond_the_noise_are_told():
    slow = Times(12.0, 12.5, 13.0, 14.0, 13.0, 20, "wall")
    assert "slower: example: N 1: ours" in compared(slow)
    fast = Times(8.0, 8.5, 9.0, 9.5, 9.0, 20, "wall")
    assert "faster: example: N 1: ours" in compared(fast)
    assert "1 same" in compared(Times(11.0, 11.5, 13.0, 14.0, 13.0, 20, "wall"))
    few, other = replace(slow, windows=19), replace(slow, clock="thread")
    for times in (Times(reason="loaded"), few, other):
        assert "1 not known" in compared(times)
    assert "error:" not in compared(slow, 0.9)
    assert "error: example: N 1: error: 0.5, now 1.1" in compared(slow, 1.1)
    # The row of N = 2 is gone.
    assert "only in one file: 1 rows, 0 tables" in compared(slow)


def test_unlike_runs_are_not_compared(tmp_path, capsys):
    quick = results.Results({"quick": True, "seed": 1}, {"example": TABLE})
    quick.save(tmp_path / "a.json")
    results.Results({"quick": False}, {}).save(tmp_path / "b.json")
    both = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert _command.main(["--compare", *both]) == 2
    assert "a quick run cannot be compared" in capsys.readouterr().err
    text = _compare.compare(quick, results.Results({"quick": True, "seed": 2}, {}))
    assert "seed differs: 1 / 2" in text
    assert "only in the first file: example" in text
    versions = [results.Results({"versions": {"numpy": x, "scipy": "1"}}, {}) for x in "ab"]
    assert _compare.compare(*versions).startswith("versions of numpy differ: a / b\n0 faster")


def test_results_hold_no_folders():
    fault = "OSError: 'C:\\Users\\me\\a.so', /home/me/b.so: see https://a/b/c, m/|m| or next / best"
    kept = "OSError: 'a.so', b.so: see https://a/b/c, m/|m| or next / best"
    assert _registry.without_folders(fault) == kept
    assert _registry._finite(Row({}, note=fault)).note == kept
    options = _command.parser().parse_args(["--out", "/home/me", "--only", "flops", "--seed", "1"])
    assert _command.command(options) == "python -m benchmarks --only flops --seed 1"


def test_a_commit_is_that_of_the_installed_package(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert _machine.commit() is None
    assert _machine.machine()["no commit"].endswith("is not a checkout of polhode")
    (tmp_path / "cpp/include/polhode").mkdir(parents=True)
    (tmp_path / "python/polhode").mkdir(parents=True)
    copy = tmp_path / "python/polhode/__init__.py"
    copy.write_bytes(Path(ph.__file__).read_bytes())
    assert not _machine.no_commit()
    copy.write_text("another")
    assert "__init__.py differs" in _machine.no_commit()
    assert _machine.commit() is None


def test_the_report_needs_no_network_and_shows_units_and_reasons():
    page = _report.report(results.Results({"seed": 1}, {"example": TABLE}), {"example": [b"x"]})
    assert not re.search(r"(src|href)=.(?!data:|#)", page)
    assert _page.prose("a `b` <c\n>\n\nd") == "<p>a <code>b</code> &lt;c &gt;</p><p>d</p>"
    assert "<details>" not in page
    long = replace(TABLE, rows=31 * TABLE.rows[:1])
    assert "<summary>31 rows</summary>" in _report.report(results.Results({}, {"a": long}), {})
    for words in (
        "ns per step; wall time",
        "in eps",
        "not installed",
        "a &lt;note&gt;",
        "data:image/png",
    ):
        assert words in page


def test_a_failing_case_is_told(monkeypatch, tmp_path, capsys):
    def work(run):
        yield Row({"N": 1})
        raise RuntimeError("no luck")

    broken = _registry.Case("broken", "Broken", work, "", {}, ())
    monkeypatch.setattr(_registry, "cases", lambda: {"broken": broken})
    assert _command.main(["--out", str(tmp_path / "new" / "folder")]) == 1
    assert "broken failed: RuntimeError: no luck" in capsys.readouterr().err
    assert len(load(tmp_path / "new/folder/results.json").tables["broken"].rows) == 1


def test_a_failing_picture_loses_nothing(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")

    def work(run):
        # The results of the case before are there.
        assert run.tables == {} or load(tmp_path / "results.json").tables.keys() == {"one"}
        yield Row({"N": 1})

    def draw(table):
        raise ValueError("no curve")

    both = {x: _registry.Case(x, x, work, "", {}, (), [draw]) for x in ("one", "two")}
    monkeypatch.setattr(_registry, "cases", lambda: both)
    assert _command.main(["--out", str(tmp_path)]) == 1
    assert "two failed: picture: ValueError: no curve" in capsys.readouterr().err
    full = (tmp_path / "results.json").read_bytes()
    assert load(tmp_path / "results.json").tables.keys() == {"one", "two"}
    _command.main(["--out", str(tmp_path), "--only", "one"])
    assert (tmp_path / "results.json").read_bytes() == full
    assert load(tmp_path / "one/results.json").tables.keys() == {"one"}


def test_a_picture_says_which_points_are_missing():
    loaded = replace(TABLE, rows=[Row({"N": 1}, {"a": Times(reason="loaded: 50%")})])
    assert _report._remark(TABLE, quick=False) == ""
    assert _report._remark(loaded, quick=False) == "runs without a valid time, not shown: 1"
    assert _report._remark(loaded, quick=True).startswith("quick run: few steps and few bodies; ")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", ["loaded", "first"])
def test_pictures_of_tables_without_times(rows):
    pytest.importorskip("matplotlib")
    loaded = Times(reason="loaded")
    labels = {
        "attitude": "quaternion", "bodies": 10, "steps": 1, "hw": 0.2, "method": "exact",
        "body": "one", "top": "one", "family": "exact", "program": "polhode", "at": "-",
    }  # fmt: skip
    some = [Row(labels, {"time": loaded, "one thread": loaded}, values={"error": 1e-9})]
    for name, case in _registry.cases().items():
        if not name.startswith(("growth", "methods", "work", "rivals-free")):
            continue
        made = some
        if name == "methods" and rows == "first":
            made = [Row({"method": "NumPy", "attitude": "", "bodies": ""})]
        pictures, fault = _report.pictures(case, replace(TABLE, rows=made))
        assert not fault, name
        assert len(pictures) == len(case.pictures)


def test_cases_are_listed(capsys):
    assert _command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("flops", "methods"))
    with pytest.raises(SystemExit):
        _command.main(["--only", "none"])
    assert "there is no case 'none'" in capsys.readouterr().err


def test_operations_of_every_method_are_counted():
    table = _registry.cases()["flops"].run(Run(quick=True))
    assert not table.fault
    for row in table.rows:
        assert row.values["total"] == sum(
            row.values[k] for k in ("add", "mul", "div", "sqrt", "trig")
        )


# The others are those of `python -m benchmarks --quick` in .ci/run: they take longer.
SHORT = [
    "attitudes", "calls", "crossings", "elliptic", "exact_errors", "growth_bodies", "growth_length",
    "growth_steps", "growth_threads", "gyro_logs", "heavy_top", "heavy_top_long", "implicit_roots",
    "layouts", "long_run", "moser_veselov_roots", "motion", "principal_axes", "rates", "splittings",
    "torques", "torques_compiled",
]  # fmt: skip


@pytest.mark.parametrize("name", SHORT)
def test_a_case_gives_rows_of_different_labels(name):
    timer = Timer(seconds=0.0, window=0.0, least=2)
    case = _registry.cases()[name]
    table = case.run(Run(quick=True, timer=timer))
    assert not table.fault
    assert table.rows
    labels = [tuple(row.labels.items()) for row in table.rows]
    assert len(set(labels)) == len(labels)
    named = {x for row in table.rows for x in (*row.labels, *row.times, *row.ratios, *row.values)}
    assert set(table.units) <= named, "a unit of a column that is not there"


def test_exact_errors_are_within_the_promise():
    table = _registry.cases()["exact_errors"].run(Run(quick=True))
    for row in table.rows:
        if row.labels["set"] != "near the middle axis":
            # Eight of these units, docs/accuracy_and_speed.md; the input is exact here.
            assert row.values["step"] < 8
            assert row.values["motion"] < 8


def test_the_reference_of_heavy_tops_agrees_with_another_code():
    path = Path(__file__).parents[1] / "data/heavy_top.json"
    top = json.loads(path.read_text(encoding="utf-8"))
    point = top["points"][0]
    m, q = heavy_top(top["I"], top["m0"], top["q0"], top["u0"], point["t"], 50)
    # 24 decimals are given; the result is correct to the last bit but for double rounding.
    close(m, np.array(point["m"], float), atol=2.0**-53)
    close(q, np.array(point["q"], float), atol=2.0**-53)


def test_the_reference_refuses_steps_that_are_too_long():
    with pytest.raises(ArithmeticError, match="too few"):
        heavy_top([1, 1.5, 2.2], [0.3, 0.5, 0.8], [1, 0, 0, 0], [0, 0, 1], 100.0, 4)


def test_the_fastest_method_is_chosen_from_the_rows():
    rows = [
        Row(
            {"body": "one", "family": family, "method": method, "steps": 1},
            {"time": Times(t, t, t, t, t, 9) if t else Times(reason="loaded")},
            values={"error": error},
        )
        for family, method, t, error in (
            ("a", "fast", 1.0, 1e-4), ("a", "good", 3.0, 1e-10), ("b", "slow", 6.0, 1e-13),
            ("b", "unknown", None, 1e-15), ("c", "as fast", 1.0, 1e-4),
        )
    ]  # fmt: skip
    free = replace(TABLE, rows=rows)
    tables = {"work_precision": free, "work_precision_torque": replace(TABLE, rows=[])}
    table = _registry.cases()["which_method"].run(Run(tables=tables))
    found = {row.labels["error at most"]: row.values for row in table.rows}
    assert {row.labels["error at most"]: row.note for row in table.rows} == {
        1e-3: "tie", 1e-6: "", 1e-9: "", 1e-12: ""
    }  # fmt: skip
    assert {values["left out"] for values in found.values()} == {1}
    names = [found[e]["method"] for e in (1e-3, 1e-6, 1e-9, 1e-12)]
    assert names == ["fast", "good", "good", "slow"]
    assert found[1e-9]["next"] == "slow"
    close(found[1e-9]["next / best"], 2.0, atol=0)


@pytest.fixture(scope="module")
def make_tables():
    """The script that writes the tables of the documentation."""
    path = Path(__file__).parents[2] / "docs/make_tables.py"
    spec = importlib.util.spec_from_file_location("make_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documentation_takes_times_from_the_newest_results(make_tables, monkeypatch, tmp_path):
    monkeypatch.setattr(make_tables, "RESULTS", tmp_path)
    assert make_tables.newest() == {}
    assert make_tables.levels({}) is None
    rows = [Row({"hw": 0.2}, {"v3": Times(1.0, 1.2, 1.26, 1.3, 1.3, 9)}, values={"error": 0.75})]
    machine = dict.fromkeys(("processor", "compiler", "level", "commit"), "x")
    level = replace(TABLE, name="levels", rows=rows)
    for year, tables in (
        (2001, {"levels": level}),
        (2002, {"levels": level}),
        (2003, {"a": TABLE}),
    ):
        written = results.Results({**machine, "time": f"{year}-01-01"}, tables)
        written.save(tmp_path / f"{2004 - year}.json")
    newest = make_tables.newest()
    assert newest["levels"].machine["time"].startswith("2002")
    assert newest["example"].machine["time"].startswith("2003")
    table = make_tables.levels(newest)
    assert table.startswith(
        "Measured on x, x, level x, commit x (`python -m benchmarks --only levels`)."
    )
    assert "| v3 | 1.26 |\n| error | 0.8 |" in table
    assert make_tables.which(newest) is None


def test_a_column_of_times_is_there_only_if_it_has_times(make_tables):
    lines = [["a", "1"], ["b", "2"]]
    without = make_tables.with_times("", ["x", "y"], [list(x) for x in lines], ["–", "–"], 1)
    assert "ns" not in without
    column = make_tables.with_times("here", ["x", "y"], lines, ["3", "–"], 1)
    assert column.splitlines()[0] == "Times: here."
    assert column.splitlines()[2::2] == ["| x | ns per body per step | y |", "| a | 3 | 1 |"]


def test_importing_polhode_does_not_import_the_suite():
    code = "import sys, polhode; sys.exit('benchmarks' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_c_interface_is_timed_beside_python():
    table = _registry.cases()["c_interface"].run(Run(timer=Timer(0, 0, 1, 1), quick=True))
    assert not table.fault
    for row in table.rows:
        assert set(row.times) == {"C", "Python"}
        assert row.values["same bits"] == "yes"


def test_a_program_in_cpp_is_timed():
    table = _registry.cases()["embedding"].run(Run(quick=True))
    assert not table.fault
    (row,) = table.rows
    assert row.note or set(row.values) >= {"compile", "one_body", "1000_bodies"}
