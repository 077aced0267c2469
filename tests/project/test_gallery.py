"""Each script of the gallery runs, with its own assertions, on less data."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")
animation = pytest.importorskip("matplotlib.animation")

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
#: Packages that a script may need besides Matplotlib.
OPTIONAL = {"numba"}
#: Constants of the scripts, with values for a short run.
SMALL = {
    "adaptive_steps": {"REPEATS": 1},
    "asteroid_light_curve": {"N_FACETS": 200, "N_DAYS": 200, "N_PEAKS": 5},
    "gyro_coning": {"DURATION": 10.0},
    "rigid_water": {"N": 27, "N_START": 500, "N_PIECES": 40, "SPAN": 0.1},
    "satellites": {"N_SATELLITES": 50, "N_ORBITS": 16},
    "heavy_top": {"N_STEPS": 20_000},
    "tennis_racket": {"N_FRAMES": 3},
    "work_precision": {"N_BODIES": 32, "REPEATS": 1},
}


def scripts() -> dict[str, Path]:
    """The scripts by name."""
    return {path.stem.removeprefix("plot_"): path for path in sorted(GALLERY.glob("plot_*.py"))}


def small(path: Path, changes: dict[str, object]) -> ast.Module:
    """The script with other values of constants that it assigns at the top level."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    left = dict(changes)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in left:
                node.value = ast.copy_location(ast.Constant(left.pop(name)), node.value)
    assert not left, f"{path.name} does not assign {sorted(left)}"
    return ast.fix_missing_locations(tree)


def test_table_names_scripts() -> None:
    assert set(SMALL) <= set(scripts())


@pytest.mark.parametrize("name", scripts())
def test_script(name, monkeypatch, tmp_path):
    path = scripts()[name]
    monkeypatch.syspath_prepend(GALLERY)
    if "import quad" in path.read_text(encoding="utf-8"):
        pytest.importorskip("polhode.quad", exc_type=ImportError)
    monkeypatch.chdir(GALLERY)
    monkeypatch.setattr(pyplot, "show", lambda: None)
    variables = {"__name__": "__main__", "__file__": str(path)}
    pyplot.switch_backend("Agg")
    with matplotlib.rc_context():
        try:
            exec(compile(small(path, SMALL.get(name, {})), str(path), "exec"), variables)
            assert pyplot.get_fignums(), "no picture"
            for number in pyplot.get_fignums():
                figure = pyplot.figure(number)
                for axes in figure.axes:
                    if axes.axison:
                        assert axes.get_xlabel() or axes.get_ylabel(), f"axes of figure {number}"
                figure.canvas.draw()
            for value in variables.values():
                if isinstance(value, animation.FuncAnimation):
                    value.save(tmp_path / "animation.gif", dpi=20)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
            pytest.skip(f"{error.name} is not installed")
        finally:
            pyplot.close("all")
