"""Trajectories in xarray and pandas, and the lists that notebooks show as tables."""

from __future__ import annotations

import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from compare import close, same

import polhode as ph

INERTIA = np.array([1.0, 1.5, 2.2])
BODY = ph.RigidBody([[4.5, -1.0, 0.3], [-1.0, 5.0, 0.2], [0.3, 0.2, 2.5]])
SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (0,)]


def trajectory(shape: tuple[int, ...], matrix: bool, own: bool = False, **changes: Any) -> Any:
    m = np.random.default_rng(1).normal(size=(*shape, 3))
    q = np.eye(3) if matrix else np.array([1.0, 0, 0, 0])
    q = np.broadcast_to(q, (*shape, *q.shape))
    start = BODY.integrate if own else lambda *a, **k: ph.integrate(INERTIA, *a, **k)
    return start(m, q, 0.1, 4, save_every=2, **changes)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_xarray(shape: tuple[int, ...], matrix: bool, own: bool) -> None:
    pytest.importorskip("xarray")
    traj = trajectory(shape, matrix, own, torque=ph.torques.Constant([0.0, 0.0, 0.1]))
    data = traj.to_xarray()
    bodies = {0: (), 1: ("body",), 2: ("body_1", "body_2")}[len(shape)]
    assert data.m.dims == ("t", *bodies, "axis")
    assert data.q.dims == ("t", *bodies, *(("space_axis", "axis") if matrix else ("component",)))
    same(data.m.values, traj.m)
    same(data.q.values, traj.q)
    same(data.t.values, traj.t)
    assert not traj.m.size or np.shares_memory(data.m.values, traj.m)
    same(data.m.sel(axis=2).values, traj.m[..., 1])
    if not matrix:
        same(data.q.sel(component="w").values, traj.q[..., 0])
    frame = "body frame, axes of the inertia tensor" if own else "body frame, principal axes"
    assert data.m.attrs["frame"] == frame
    assert "Constant" in data.attrs["torque"]
    assert data.attrs["source"] == f"polhode {ph.__version__}"
    if own:
        close(data.tensor.sel(axis=1, other_axis=3).values, BODY.tensor[0, 2], atol=1e-15)
    else:
        same(data.inertia.values, INERTIA)


@pytest.mark.parametrize("shape", SHAPES)
def test_bodies_that_move_in_tables(shape: tuple[int, ...]) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("pandas")

    def torque(x: Any, s: Any) -> tuple[Any, Any, Any]:
        return -x, 0.1 * x, 0 * s

    masses = 1.0 + np.arange(np.prod(shape, dtype=int)).reshape(shape)
    state0 = np.ones((*shape, 2))
    traj = trajectory(shape, False, torque=torque, mass=masses, p0=[1.0, 2, 3], state0=state0)
    data, frame = traj.to_xarray(), traj.to_pandas()
    for name, dimension in (("x", "space_axis"), ("p", "space_axis"), ("state", "number")):
        values = getattr(traj, name)
        same(data[name].values, values)
        assert data[name].dims == (*data.m.dims[:-1], dimension)
        columns = [f"{name}{k + 1}" for k in range(values.shape[-1])]
        same(frame[columns].to_numpy(), values.reshape(-1, values.shape[-1]))
    same(data.mass.values, masses)
    assert data.mass.dims == data.m.dims[1:-1]
    assert data.p.attrs["frame"] == "space frame"


def test_xarray_with_a_moment_of_each_body() -> None:
    pytest.importorskip("xarray")
    moments = np.array([[1.0, 2.0, 2.5], [1.0, 1.5, 2.0]])
    data = ph.integrate(moments, [0.1, 0.2, 0.3], [1, 0, 0, 0], 0.1, 2).to_xarray()
    assert data.inertia.dims == ("body", "axis")
    same(data.inertia.values, moments)
    body = ph.RigidBody.from_moments(moments, np.roll(np.eye(3), 1, 0))
    data = body.integrate([0.1, 0.2, 0.3], [1, 0, 0, 0], 0.1, 2).to_xarray()
    same(data.tensor.values, body.tensor)
    assert data.tensor.dims == ("body", "axis", "other_axis")
    data = body.integrate(np.ones((3, 1, 3)), [1, 0, 0, 0], 0.1, 2).to_xarray()
    assert data.tensor.dims == ("body_1", "body_2", "axis", "other_axis")
    same(data.tensor.values, np.broadcast_to(body.tensor, (3, 2, 3, 3)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("matrix", [False, True])
def test_pandas(shape: tuple[int, ...], matrix: bool) -> None:
    pytest.importorskip("pandas")
    traj = trajectory(shape, matrix, own=True)
    frame = traj.to_pandas()
    assert list(frame.index.names) == [
        "t",
        *{0: [], 1: ["body"], 2: ["body_1", "body_2"]}[len(shape)],
    ]
    assert len(frame) == 3 * int(np.prod(shape))
    same(frame[["m1", "m2", "m3"]].to_numpy().reshape(traj.m.shape), traj.m)
    names = [f"q{i}{j}" for i in "123" for j in "123"] if matrix else ["qw", "qx", "qy", "qz"]
    same(frame[names].to_numpy().reshape(traj.q.shape), traj.q)
    assert list(frame.columns) == ["m1", "m2", "m3", *names]
    if shape == (2, 3):
        same(frame.loc[(traj.t[1], 1, 2), "m2"], traj.m[1, 1, 2, 1])


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("xarray", "pandas"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(ImportError, match=rf"to_{name} needs {name}: .*polhode\[tables\]"):
            getattr(trajectory((), False), f"to_{name}")()


class Cells(HTMLParser):
    """Rows of cells; fails where tags do not match or something is loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert {name for name, _ in attrs} <= {"style"}
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in {"th", "td"}:
            self.rows[-1][-1] += data


def test_a_text_of_a_body_and_of_bodies() -> None:
    assert repr(ph.RigidBody.from_moments([1.0, 1.5, 2.2])) == "<RigidBody: moments [1.  1.5 2.2]>"
    assert repr(ph.RigidBody.from_moments(np.ones((4, 3)))) == "<RigidBody: (4,) bodies>"


def test_html_of_methods_and_splittings() -> None:
    for listed in (ph.methods(), ph.splittings()):
        assert isinstance(listed, list)
        head, *rows = Cells(listed._repr_html_()).rows  # type: ignore[attr-defined]
        assert [row[0] for row in rows] == [x.name for x in listed]
        assert all(len(row) == len(head) for row in rows)
        again = pickle.loads(pickle.dumps(listed))
        assert again == listed == list(listed)
        assert again._repr_html_() == listed._repr_html_()  # type: ignore[attr-defined]
        assert repr(listed) == repr(list(listed))
    by_name = {row[0]: row for row in Cells(ph.methods()._repr_html_()).rows}  # type: ignore[attr-defined]
    assert by_name["rk4"][1] == "4"
    assert by_name["name"][4:6] == ["symmetric", "takes torque"]
    assert by_name["rk4"][4:6] == ["no", "yes"]
    assert "energy_correction" in by_name["taylor2"][6]
