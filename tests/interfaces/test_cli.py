"""The command line: the main job, the report's drivers, their files and their faults."""

import re
import sys
from importlib import resources

import numpy as np
import pytest
from compare import close

import polhode as ph
from polhode.cli import commands

EPS = 2.0**-52


def run(capsys, *arguments):
    """Exit code, output and errors of one command."""
    code = commands.main([str(a) for a in arguments])
    return code, *capsys.readouterr()


def write(path, **fields):
    """A problem file with these fields, one a line."""
    path.write_text("".join(f"{k} = {v}\n" for k, v in fields.items()), encoding="utf-8")
    return path


FREE = {"inertia": [1.0, 2.5, 1.5], "m0": [0.3, -0.4, 0.5], "q0": [0.5, 0.5, -0.5, 0.5]}
TOP = {
    "inertia": [1.0, 1.5, 2.2],
    "m0": [0.3, 0.5, 0.8],
    "Q0": np.eye(3).tolist(),
    "u0": [0.0, 0.1, 0.2],
    "h": 0.25,
    "t_end": 5.0,
}


# The main job ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def main_job():
    """Output of the main job with a small batch in place of the large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commands, "BODIES", 2000)
        lines = []
        patch.setattr("builtins.print", lambda *a, **k: lines.append(" ".join(map(str, a))))
        assert commands.main([]) == 0
    return "\n".join(lines)


def test_the_heavy_top_stays_at_its_reference(main_job):
    found = re.findall(r"t = (\d+)\n(?:.*\n)*?.*largest difference: m (\S+), Q (\S+)", main_job)
    assert [float(t) for t, _, _ in found] == [50, 500, 5000]
    # The error of the splitting itself at h = 0.5, as 34-digit arithmetic shows it (2e-14, 4e-14,
    # 9e-12 in m, 4e-13, 5e-12, 3e-11 in Q), and round-off: 1e4 steps of 15 flows, sqrt(n) eps.
    for (_, m, Q), bound_m, bound_Q in zip(
        found, (1e-13, 3e-13, 2e-11), (1e-12, 1e-11, 6e-11), strict=True
    ):
        assert float(m) < bound_m
        assert float(Q) < bound_Q


def test_the_heavy_top_keeps_its_energy(main_job):
    # 2.4e-14 is the splitting's own at h = 0.5; T alone would vary by 5e-4.
    assert float(re.search(r"energy T \+ u3: drift (\S+)", main_job)[1]) < 5e-14


def test_the_batch_keeps_energy_and_momentum(main_job):
    found = re.search(r"energy (\S+), momentum in space (\S+)", main_job)
    assert "2,000 random bodies" in main_job
    # A few rounding errors per step, and those of the sums that measure it.
    assert float(found[1]) < 32 * EPS
    assert float(found[2]) < 32 * EPS


def test_times_are_printed(main_job):
    assert len(re.findall(r"\d ns per (?:body per |top per )?step", main_job)) == 3


# The drivers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", list(commands.DRIVERS))
def test_each_driver_runs_on_the_data_shipped(capsys, tmp_path, driver):
    code, text, errors = run(capsys, driver, "--out", tmp_path / "states.npz")
    assert code == 0
    assert errors == ""
    # Round-off of a step of fifty radians, or of 1e5 steps.
    drifts = [float(x) for x in re.findall(r"drift (\S+)", text)]
    assert len(drifts) == (1 if driver == "example1" else 2)
    assert max(drifts) < 1e-13
    with np.load(tmp_path / "states.npz") as states:
        assert set(states) == {"t", "m", "q" if driver == "example2" else "Q"}
        assert len(states["t"]) == (100_001 if driver == "example1" else 2)


def test_the_published_data_are_the_reports():
    top = commands._published("example1")
    assert top["inertia"].tolist() == [1, 1.0126869887825154, 3.3062374224730378]
    close(np.linalg.norm(top["m0"]), 1, atol=2 * EPS)
    close(np.linalg.norm(top["torque"].u0), 1e-3, rtol=2 * EPS)
    assert top["q0"].tolist() == np.eye(3).tolist()
    assert top["h"] * top["n_steps"] == 5e4


def test_example0_is_one_frb_step(capsys, tmp_path):
    file = write(tmp_path / "p.toml", **FREE, t_end=-2.5)
    assert run(capsys, "example0", file, "--out", tmp_path / "s.npz")[0] == 0
    Q0 = ph.so3.to_matrix(FREE["q0"])
    m, Q = ph.frb_step(FREE["inertia"], FREE["m0"], Q0, -2.5)
    with np.load(tmp_path / "s.npz") as states:
        assert states["t"].tolist() == [0, -2.5]
        assert states["m"].tolist() == [FREE["m0"], m.tolist()]
        # A step of length zero returns the start.
        close(states["Q"], [Q0, Q], atol=4 * EPS)


def test_example2_is_one_quat_step_and_takes_a_matrix(capsys, tmp_path):
    Q0 = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    file = write(tmp_path / "p.toml", inertia=FREE["inertia"], m0=FREE["m0"], Q0=Q0, t_end=2.5)
    assert run(capsys, "example2", file, "--out", tmp_path / "s.npz")[0] == 0
    m, q = ph.quat_step(FREE["inertia"], FREE["m0"], [0.5**0.5, 0, 0, 0.5**0.5], 2.5)
    with np.load(tmp_path / "s.npz") as states:
        assert states["m"][1].tolist() == m.tolist()
        close(states["q"][1], q, atol=4 * EPS)


def test_a_free_body_in_many_steps_ends_where_one_step_does(capsys, tmp_path):
    ends = []
    for h in (0.125, 2.0):
        file = write(tmp_path / "p.toml", **FREE, h=h, t_end=2.0)
        run(capsys, "example2", file, "--out", tmp_path / "s.npz", "--force")
        with np.load(tmp_path / "s.npz") as states:
            ends.append(np.concatenate([states["m"][-1], states["q"][-1]]))
    # Sixteen steps, a few roundings each.
    close(*ends, atol=16 * 8 * EPS)


def test_user_defined_coefficients(capsys, tmp_path):
    """Strang's method written out."""
    file = write(tmp_path / "p.toml", **TOP, a=[0.5, 0.5], b=[1.0])
    assert run(capsys, "example1", file, "--out", tmp_path / "s.npz")[0] == 0
    top = ph.torques.HeavyTop(u0=TOP["u0"])
    trajectory = ph.integrate(
        TOP["inertia"], TOP["m0"], TOP["Q0"], 0.25, 20, torque=top, splitting=([0.5, 0.5], [1.0])
    )
    with np.load(tmp_path / "s.npz") as states:
        close(states["m"], trajectory.m, atol=20 * 8 * EPS)
        close(states["Q"], trajectory.q, atol=20 * 8 * EPS)


def test_without_coefficients_the_method_is_of_order_six(capsys, tmp_path):
    """Strang's method is off by 1e-4 here, the default by less than 1e-8."""
    ends = []
    for h in (0.25, 0.03125):
        file = write(tmp_path / "p.toml", **TOP | {"h": h})
        run(capsys, "example1", file, "--out", tmp_path / "s.npz", "--force")
        with np.load(tmp_path / "s.npz") as states:
            ends.append(states["m"][-1])
    close(*ends, atol=1e-8)


def test_csv_and_npz_hold_the_same_numbers(capsys, tmp_path):
    file = write(tmp_path / "p.toml", **TOP)
    for name in ("s.csv", "s.npz"):
        assert run(capsys, "example1", file, "--out", tmp_path / name)[0] == 0
    header, *rows = (tmp_path / "s.csv").read_text(encoding="utf-8").splitlines()
    assert header == "t,m1,m2,m3,Q11,Q12,Q13,Q21,Q22,Q23,Q31,Q32,Q33"
    values = np.array([[float(x) for x in row.split(",")] for row in rows])
    with np.load(tmp_path / "s.npz") as states:
        assert values[:, 0].tolist() == states["t"].tolist()
        assert values[:, 1:4].tolist() == states["m"].tolist()
        assert values[:, 4:].tolist() == states["Q"].reshape(-1, 9).tolist()


# Faults ------------------------------------------------------------------------------------------

GOOD = """\
inertia = [1.0, 1.5, 2.2]
m0 = [0.3, 0.5, 0.8]
q0 = [1.0, 0.0, 0.0, 0.0]
u0 = [0.0, 0.1, 0.2]
h = 0.25
t_end = 5.0
"""


def test_the_file_that_the_faults_start_from_is_good(capsys, tmp_path):
    (tmp_path / "p.toml").write_text(GOOD, encoding="utf-8")
    assert run(capsys, "example1", tmp_path / "p.toml")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("1.5, 2.2]", "1.5]", "inertia"),
        ("1.5, 2.2]", "-1.5, 2.2]", "inertia"),
        ("1.5, 2.2]", '"x", 2.2]', "inertia"),
        ("1.5, 2.2]", "true, 2.2]", "inertia"),
        ("1.5, 2.2]", "0.0, 0.0]", "inertia"),
        ("[1.0, 1.5, 2.2]", "1.0", "inertia"),
        ("m0 = [0.3", "m0 = [nan", "m0"),
        ("m0 = [0.3", "m0 = [1e999", "m0"),
        ("m0 = [0.3", "m0 = [1" + 400 * "0", "m0"),
        ("m0 = [0.3, ", "m0 = [0.3 ", "line 2"),
        ("0.8]\n", "0.8\n", "line 3"),
        ("m0", "mo", "mo"),
        ("m0 =", "m0", "line 2"),
        ("q0 = [1.0", "q0 = [0.0", "q0"),
        ("q0", "Q0", "Q0"),
        ("q0 = [1.0, 0.0, 0.0, 0.0]", "Q0 = [[1,0,0],[0,1,0],[0,0,2]]", "q0"),
        ("q0 = [1.0, 0.0, 0.0, 0.0]", "Q0 = [[1,0,0],[0,1,0],[0,0,-1]]", "q0"),
        ("q0 = [1.0, 0.0, 0.0, 0.0]", "Q0 = [[1,0,0],[0,1],[0,0,1]]", "Q0"),
        ("q0 = [1.0, 0.0, 0.0, 0.0]\n", "", "q0"),
        ("u0 = [0.0, 0.1, 0.2]\n", "", "u0"),
        ("h = 0.25\n", "", "h"),
        ("h = 0.25", "h = 0", "h"),
        ("h = 0.25", "h = 0.3", "t_end"),
        ("h = 0.25", "h = -0.25", "t_end"),
        ("t_end = 5.0", "t_end = 5.0\nt_end = 6.0", "line 7"),
        ("t_end = 5.0", "t_end = 5e11", "t_end"),
        ("t_end = 5.0", "t_end = 5.0\nQ0 = 1", "Q0"),
        ("t_end = 5.0", "t_end = 5.0\na = [0.5]", "a"),
        ("t_end = 5.0", "t_end = 5.0\na = [0.5]\nb = [0.9]", "a"),
        ("t_end = 5.0", "t_end = 5.0\na = [0.4]\nb = [1.0]", "a"),
        (
            "t_end = 5.0",
            "t_end = 5.0\na = [1e308, 1e308, -1e308, -1e308, 1]\nb = [0.5, 0.5, 0.5, 0.5]",
            "a",
        ),
        ("t_end = 5.0", "t_end = 5.0\na = [0.5]\nb = [0.5, 0.5]", "a"),
        ("t_end = 5.0", "t_end = 5.0\na = [1.0]\nb = [0.5, 0.25, 0.25]", "b"),
        ("t_end = 5.0", "t_end = 5.0\n[body]\nmass = 1", "body"),
    ],
)
def test_a_fault_is_one_line_with_the_field(capsys, tmp_path, old, new, field):
    assert old in GOOD
    file = tmp_path / "p.toml"
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    code, text, errors = run(capsys, "example1", file)
    assert code == 2
    assert text == ""
    assert errors.startswith(f"polhode: {file}: ")
    assert re.search(rf"\b{field}\b", errors.removeprefix(f"polhode: {file}: "))
    assert errors.count("\n") == 1


@pytest.mark.parametrize("driver", list(commands.DRIVERS))
def test_more_steps_than_anyone_waits_for_are_a_fault(capsys, tmp_path, driver):
    file = write(tmp_path / "p.toml", **TOP | {"h": 1e-10, "t_end": 1e5})
    code, text, errors = run(capsys, driver, file)
    assert code == 2
    assert text == ""
    assert errors == f"polhode: {file}: t_end is 1e+15 steps h = 1e-10, more than 1e+11\n"


@pytest.mark.parametrize("driver", list(commands.DRIVERS))
def test_states_are_bounded(capsys, tmp_path, monkeypatch, driver):
    """Every third of 20 states and the last, with the bits that they have among all."""
    file = write(tmp_path / "p.toml", **TOP)
    run(capsys, driver, file, "--out", tmp_path / "all.npz")
    monkeypatch.setattr(commands, "MOST_STATES", 7)
    code, text, _ = run(capsys, driver, file, "--out", tmp_path / "some.npz")
    assert code == 0
    assert "8 states in" in text
    with np.load(tmp_path / "all.npz") as every, np.load(tmp_path / "some.npz") as some:
        assert len(every["t"]) == 21
        for name in every:
            np.testing.assert_array_equal(some[name], every[name][[0, 3, 6, 9, 12, 15, 18, 20]])


@pytest.mark.parametrize("arguments", [[], ["example1"], ["example2"]])
def test_a_fault_of_the_environment_is_none_of_the_file(capsys, tmp_path, monkeypatch, arguments):
    if arguments:
        arguments = [*arguments, write(tmp_path / "p.toml", **TOP)]
    monkeypatch.setenv("POLHODE_NUM_THREADS", "abc")
    code, text, errors = run(capsys, *arguments)
    assert code == 2
    assert text == ""
    assert errors == "polhode: POLHODE_NUM_THREADS must be -1 or 1 ... 4096, not abc\n"
    assert run(capsys, "--info")[0] == 0


@pytest.mark.parametrize("content", [None, b"inertia = \xff\n", b""])
def test_a_file_that_is_none_is_one_line(capsys, tmp_path, content):
    file = tmp_path / "p.toml"
    if content is not None:
        file.write_bytes(content)
    code, _, errors = run(capsys, "example0", file)
    assert code == 2
    assert errors.startswith(f"polhode: {file}:")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["example3"], ["--out", "x.npz"], ["example0", "--out", "x.txt"]]
)
def test_wrong_arguments_are_told_before_any_work(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        commands.main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().out == ""


def test_output_that_cannot_be_written_is_told_before_any_work(capsys, tmp_path):
    with pytest.raises(SystemExit):
        commands.main(["example0", "--out", str(tmp_path / "absent" / "x.npz")])
    assert "absent" in capsys.readouterr().err


def test_files_are_not_written_over(capsys, tmp_path, monkeypatch):
    file, out = write(tmp_path / "top.csv", **TOP), tmp_path / "s.csv"
    text = file.read_text()
    for options in ([], ["--force"]):
        with pytest.raises(SystemExit) as stop:
            run(capsys, "example1", file, "--out", file, *options)
        assert stop.value.code == 2
        assert "is the problem file" in capsys.readouterr().err
        assert file.read_text() == text
    assert run(capsys, "example1", file, "--out", out)[0] == 0
    first = out.read_text()
    with pytest.raises(SystemExit):
        run(capsys, "example0", file, "--out", out)
    assert "exists: --force writes over it" in capsys.readouterr().err
    assert out.read_text() == first

    def full(*arguments, **options):
        arguments[0].write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savetxt", full)
    code, _, errors = run(capsys, "example0", file, "--out", out, "--force")
    assert code == 2
    assert "No space left" in errors
    monkeypatch.undo()
    assert out.read_text() == first
    assert run(capsys, "example0", file, "--out", out, "--force")[0] == 0
    assert out.read_text() != first
    assert {path.name for path in tmp_path.iterdir()} == {"top.csv", "s.csv"}


# Output for compilers ----------------------------------------------------------------------------


def test_directories_and_version(capsys):
    assert run(capsys, "--includes")[1] == f"-I{ph.get_include()}\n"
    assert run(capsys, "--cmakedir")[1] == f"{ph.get_cmake_dir()}\n"
    assert f"isa: {ph.build_info()['isa']}\n" in run(capsys, "--info")[1]
    with pytest.raises(SystemExit):
        commands.main(["--version"])
    assert capsys.readouterr().out == f"{ph.__version__}\n"


def test_every_problem_file_is_installed():
    names = {p.name for p in (resources.files("polhode") / "data").iterdir()}
    assert {f"{driver}.toml" for driver in commands.DRIVERS} <= names


def test_progress_is_quiet_where_nobody_watches(capsys):
    assert not sys.stderr.isatty()
    assert run(capsys, "example0")[2] == ""
