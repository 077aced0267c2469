"""The plots show the data of the trajectory, or of the motion."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close

import polhode as ph
from polhode.display.animate import FACES, box
from polhode.display.plot import MOST_SAVES, polhodes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # noqa: E402

EPS = 2.0**-52
U0 = np.array([0.2, -0.1, 0.4])
TENSOR = [[4.5, -1.0, 0.3], [-1.0, 5.0, 0.2], [0.3, 0.2, 2.5]]


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    pyplot.close("all")


def lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.get_lines()}


def integrate(**changes: Any) -> ph.Trajectory:
    arguments: dict[str, Any] = {
        "inertia": [1.0, 1.5, 2.2], "m0": [0.3, 0.5, 0.8], "q0": [1.0, 0, 0, 0], "h": 0.1,
        "n_steps": 60, **changes,
    }  # fmt: skip
    return ph.integrate(**arguments)


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("torque", [None, ph.torques.HeavyTop(U0)], ids=["free", "top"])
def test_one_body(tmp_path: Path, torque: Any, matrix: bool) -> None:
    traj = integrate(torque=torque, q0=np.eye(3) if matrix else [1.0, 0, 0, 0])
    figure = traj.plot()
    assert isinstance(figure, matplotlib.figure.Figure)
    sphere, space, attitude, invariants = figure.axes
    (path,) = (
        line
        for line in sphere.get_lines()
        if line.get_color() == "C0" and len(line._verts3d[0]) > 1
    )
    m = traj.m / np.linalg.norm(traj.m, axis=-1, keepdims=True)
    close(np.transpose(path._verts3d), m, atol=1e-15)
    q = integrate(torque=torque).q
    for k, name in enumerate("wxyz"):
        drawn = lines(attitude)[f"$q_{name}$"]
        close(drawn.get_xydata(), np.c_[traj.t, q[:, k]], atol=1e-13)
    Q = ph.so3.to_matrix(q)
    for k in range(3):
        drawn = lines(space)[f"axis {k + 1}"]
        close(np.transpose(drawn._verts3d), Q[:, :, k], atol=1e-13)
    kept = lines(invariants)
    assert set(kept) == ({"energy", "|m|", "momentum in space"} if torque is None else {"energy"})
    energy = traj.energy()
    change = np.abs(energy - energy[0]) / np.abs(energy).max()
    drawn = np.nan_to_num(kept["energy"].get_ydata())
    close(drawn, change, atol=4 * EPS)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_a_body_of_a_batch() -> None:
    own = ph.torques.Function(
        lambda t, m, q: 0 * m, potential=lambda t, q: np.arange(6.0).reshape(2, 3) * t
    )
    u0 = U0 * np.arange(1, 7).reshape(2, 3, 1)
    traj = integrate(m0=np.random.default_rng(1).random((2, 3, 3)), torque=ph.torques.HeavyTop(u0))
    traj = ph.Trajectory(traj.t, traj.m, traj.q, traj.inertia, (*traj.torque, own))
    energy = traj.energy()[:, 1, 2]
    for body in (5, -1, (1, 2), (-1, 2)):
        invariants = traj.plot(body).axes[3]
        change = np.abs(energy - energy[0]) / np.abs(energy).max()
        drawn = np.nan_to_num(lines(invariants)["energy"].get_ydata())
        close(drawn, change, atol=4 * EPS)
    for wrong in (6, -7, (2, 0), (1,), (0, 0, 0)):
        with pytest.raises(IndexError, match="no body"):
            traj.plot(wrong)
    with pytest.raises(IndexError, match="no body 1"):
        integrate().plot(1)
    assert lines(integrate(torque=lambda t, m, q: 0 * m).plot().axes[3]).keys() == {
        "kinetic energy"
    }


def test_bodies_in_their_own_axes() -> None:
    traj = ph.RigidBody(TENSOR).integrate([0.3, 0.5, 0.8], [1, 0, 0, 0], 0.1, 50)
    sphere, *_, invariants = traj.plot().axes
    for line in lines(invariants).values():
        assert np.nanmax(line.get_ydata()) < 60 * EPS
    inverse = np.linalg.inv(TENSOR)
    for line in sphere.get_lines():
        if line.get_color() == "0.6":
            n = np.transpose(line._verts3d)
            close(np.ptp(np.einsum("ti,ij,tj->t", n, inverse, n)), 0, atol=8 * EPS)


@pytest.mark.parametrize("moments", [[1, 1.5, 2.2], [2.2, 1, 1.5], [1, 1, 2], [2, 1, 2]])
def test_polhodes(moments: list[float]) -> None:
    curves, separatrix = polhodes(np.array(moments, float))
    assert curves
    assert bool(separatrix) == (len(set(moments)) == 3)
    middle = sorted(moments)[1]
    for n in curves + separatrix:
        close(np.linalg.norm(n, axis=1), 1, atol=4 * EPS)
        close(np.ptp(n**2 @ (1 / np.array(moments))), 0, atol=8 * EPS)
    for n in separatrix:
        close(n[0] ** 2 @ (1 / np.array(moments)), 1 / middle, atol=8 * EPS)
    assert polhodes(np.ones(3)) == polhodes(np.array([0.0, 1.0, 1.0])) == ([], [])


def test_odd_trajectories(tmp_path: Path) -> None:
    long = integrate(n_steps=3 * MOST_SAVES, save_to=tmp_path / "run")
    drawn = lines(long.plot().axes[2])["$q_w$"].get_xydata()
    assert len(drawn) == MOST_SAVES
    np.testing.assert_array_equal(drawn[[0, -1], 0], long.t[[0, -1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        integrate(m0=[0, 0, 0]).plot().canvas.draw()
        integrate(n_steps=0).plot().canvas.draw()
        integrate(inertia=[0, 1, 1], m0=[0, 1, 2]).plot().canvas.draw()
    with pytest.raises(ValueError, match="empty"):
        ph.Trajectory(*(a[:0] for a in (long.t, long.m, long.q)), long.inertia).plot()


def test_matplotlib_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    traj = integrate()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "polhode\[plot\]"'):
        traj.plot()


@pytest.mark.parametrize("kind", ["trajectory", "motion"])
def test_panels_and_units_are_chosen(kind: str) -> None:
    traj = integrate()
    one = traj if kind == "trajectory" else ph.TorqueFreeMotion(traj.inertia, traj.m[0], traj.q[0])
    figure = one.plot(panels=["omega", "momentum", "invariants"], time_unit="s")
    omega, sphere, invariants = figure.axes
    assert (omega.get_xlabel(), omega.get_ylabel()) == ("t (s)", "rad/s")
    assert invariants.get_xlabel() == "t (s)"
    assert not sphere.axison
    figure.canvas.draw()
    # No legend on the curves.
    for axes in (omega, invariants):
        assert axes.get_legend().get_window_extent().y1 < axes.bbox.y0
    assert len(one.plot(panels=["attitude"]).axes) == len(one.plot(panels="attitude").axes) == 1
    with pytest.raises(ValueError, match=r"panels: 'phase' is not one of momentum, axes"):
        one.plot(panels=["phase"])


def drawn_omega(figure: Any) -> Any:
    curves = lines(figure.axes[3])
    return np.transpose([curves[rf"$\omega_{k}$"].get_ydata() for k in (1, 2, 3)])


@pytest.mark.parametrize("matrix", [False, True])
def test_a_motion_with_its_angular_velocity(tmp_path: Path, matrix: bool) -> None:
    inertia = np.array([1.0, 1.5, 2.2])
    q0 = np.eye(3) if matrix else [1.0, 0, 0, 0]
    motion = ph.TorqueFreeMotion(inertia, [[0.1, 0.5, 0.8], [0.3, 0.5, 0.8]], q0)
    t = np.linspace(-3.0, 40.0, 50)
    figure = motion.plot(t, body=1)
    m, q = ph.TorqueFreeMotion(inertia, [0.3, 0.5, 0.8], [1.0, 0, 0, 0])(t)
    close(drawn_omega(figure), m / inertia, atol=4 * EPS)
    attitude = lines(figure.axes[2])
    close(attitude["$q_y$"].get_xydata(), np.c_[t, q[:, 2]], atol=1e-13)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    for wrong in (2, (0, 0)):
        with pytest.raises(IndexError, match="no body"):
            motion.plot(t, wrong)
    for times in (0.0, [], [[1.0]]):
        with pytest.raises(ValueError, match=r"t must have shape \(n,\)"):
            motion.plot(times)


@pytest.mark.parametrize(
    ("m0", "span"),
    [([0.3, 0.5, 0.8], None), ([0.0, 0.0, 1.1], 16 * np.pi), ([0.0, 0.0, 0.0], 1.0)],
)
def test_the_default_times_of_a_motion(m0: list[float], span: float | None) -> None:
    motion = ph.TorqueFreeMotion([1.0, 1.5, 2.2], m0, [1.0, 0, 0, 0])
    t = lines(motion.plot().axes[3])[r"$\omega_1$"].get_xdata()
    close([t[0], t[-1]], [0, 2 * motion.period if span is None else span], rtol=2 * EPS)


def test_a_motion_in_other_axes() -> None:
    body = ph.RigidBody([TENSOR, np.diag([1.0, 2.0, 2.5])])
    t = np.linspace(0.0, 10.0, 20)
    motion = body.motion([0.3, 0.5, 0.8], [1, 0, 0, 0])
    m, q = motion(t[:, None])
    figure = motion.plot(t)
    close(drawn_omega(figure), body.omega(m)[:, 0], atol=1e-14)
    drawn = np.transpose([lines(figure.axes[2])[f"$q_{x}$"].get_ydata() for x in "wxyz"])
    close(drawn, q[:, 0], atol=1e-13)


@pytest.mark.parametrize("tensor", [None, TENSOR])
def test_the_moving_box(tmp_path: Path, tensor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    set_verts = Poly3DCollection.set_verts

    def record(faces: Any, vertices: Any, *closed: Any) -> None:
        drawn.append(vertices)
        set_verts(faces, vertices, *closed)

    monkeypatch.setattr(Poly3DCollection, "set_verts", record)
    sides = np.array([1.0, 0.5, 0.25])
    if tensor is None:
        moments = (np.sum(sides**2) - sides**2) / 12
        close(box(moments), sides / 2, atol=4 * EPS)
        traj = integrate(inertia=moments, n_steps=6)
        axes = np.eye(3)
    else:
        body = ph.RigidBody(tensor)
        sides, axes = 2 * box(body.moments), body.axes
        traj = body.integrate([0.3, 0.5, 0.8], [1, 0, 0, 0], 0.3, 6)
    movie = traj.animate()
    movie.save(tmp_path / "body.gif", writer="pillow")
    with pytest.importorskip("PIL.Image").open(tmp_path / "body.gif") as image:
        assert image.n_frames == len(traj) == 7
    (axes_drawn,) = movie._fig.axes
    assert drawn[-1].shape == (6, 4, 3)
    in_body = drawn[-1] @ ph.so3.to_matrix(traj.q[-1]) @ axes
    close(np.abs(in_body), np.broadcast_to(sides / 2, (6, 4, 3)), atol=1e-14)
    assert {tuple(face) for face in np.sign(in_body).reshape(6, 12)} == {
        tuple(face) for face in np.sign(box(np.ones(3)) * corners()[FACES]).reshape(6, 12)
    }
    assert axes_drawn.get_title() == f"t = {traj.t[-1]:.4g}"
    for k in range(3):
        tip = np.transpose(lines(axes_drawn)[f"axis {k + 1}"].get_data_3d())[1]
        close(tip, 0.8 * ph.so3.to_matrix(traj.q[-1])[:, k], atol=EPS)
    dashed = np.transpose(lines(axes_drawn)["momentum"].get_data_3d())[1]
    spatial = traj.momentum_spatial()[0]
    close(dashed, spatial / np.linalg.norm(spatial), atol=1e-13)


def corners() -> Any:
    return np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, 8).T


@pytest.mark.parametrize("moments", [[0, 1, 1], [1, 1, 2], [1, 1, 1], [1, 2, 9]])
def test_every_body_has_a_box(moments: list[float]) -> None:
    half = box(np.array(moments, float))
    assert half.max() == 0.5
    assert half.min() >= 0.01
    assert np.argmax(half) == np.argmin(moments)


def test_a_moving_motion_and_a_long_trajectory(tmp_path: Path) -> None:
    motion = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], np.eye(3))
    movie = motion.animate([0.0, 1.0], interval=100)
    assert movie._interval == 100
    movie.save(tmp_path / "motion.gif", writer="pillow")
    movie = ph.RigidBody(TENSOR).motion([0.3, 0.5, 0.8], [1, 0, 0, 0]).animate([0.0, 1.0, 2.0])
    movie.save(tmp_path / "body.gif", writer="pillow")
    assert movie._save_count == 3
    movie = integrate(n_steps=3000).animate()
    assert movie._save_count == 1000
    movie._draw_was_started = True  # it is not saved


def test_herpolhode() -> None:
    """Turning the curve back by the precession of a period gives its start again."""
    motion = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [0.6, -0.48, 0.0, 0.64])
    period, turn = float(motion.period), float(motion.precession)
    t = np.concatenate([np.linspace(0, 5, 20), period + np.linspace(0, 5, 20)])
    (axes,) = motion.plot(t, panels=["herpolhode"], time_unit="h", degrees=True).axes
    (line,) = axes.get_lines()
    x, y = line.get_xydata().T
    start, later = (np.pi / 180 * (x + 1j * y)[k] for k in (slice(20), slice(20, 40)))
    close(np.abs(later - start * np.exp(1j * turn)), 0, atol=1e-13)
    m = motion(t)[0]
    omega = m / [1.0, 1.5, 2.2]
    along = (omega * m).sum(-1) / np.linalg.norm(m, axis=-1)
    close(np.abs(start) ** 2, (omega**2).sum(-1)[:20] - along[:20] ** 2, atol=1e-14)
    assert axes.get_xlabel() == axes.get_ylabel() == "deg/h"
    rest = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0, 0, 0], [1.0, 0, 0, 0])
    close(lines(rest.plot(panels=["herpolhode"]).axes[0])["_child0"].get_xydata(), 0)


def test_own_axes_and_degrees() -> None:
    traj = integrate()
    figure, (first, second) = pyplot.subplots(1, 2)
    assert traj.plot(panels=["omega", "attitude"], ax=[first, second], degrees=True) is figure
    drawn = lines(first)[r"$\omega_1$"].get_ydata()
    close(drawn, np.degrees(traj.omega()[:, 0]), rtol=4 * EPS)
    assert first.get_ylabel() == "deg per unit of time"
    assert len(second.get_lines()) == 4
    alone = pyplot.figure().add_subplot(projection="3d")
    assert traj.plot(panels=["momentum"], ax=alone) is alone.figure
    for panels, ax in ((["momentum"], first), (["omega"], alone), (["omega"], [first, second])):
        with pytest.raises(ValueError, match="ax must be one axes object per panel, of the kinds"):
            traj.plot(panels=panels, ax=ax)
