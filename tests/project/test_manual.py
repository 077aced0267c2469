"""The manual lists every public name; the check of the built pages sees what is remote."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import polhode as ph

ROOT = Path(__file__).resolve().parents[2]
LISTED = "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/reference").glob("*.md"))
)
# Rooms whose names reach users through `polhode` alone.
ROOMS = r"\.(bodies|cli|display|integration|integrators|motion|run_directory)\."
PUBLIC = [
    name
    for _, name, _ in pkgutil.walk_packages(ph.__path__, "polhode.")
    if not re.search(rf"\._|{ROOMS}", name)
]


@pytest.mark.parametrize("name", ["polhode", *PUBLIC])
def test_reference_lists_names_of(name):
    """Each name by itself, or its module; that shows functions and classes, but not ufuncs."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs another package: {error}")
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", None) == name]
    for public in getattr(module, "__all__", own):
        value = getattr(module, public)
        if public.startswith("_"):
            continue
        if inspect.ismodule(value):
            assert f"automodule:: {name}.{public}\n" in LISTED, public
        elif not (
            f"automodule:: {name}\n" in LISTED
            and (inspect.isclass(value) or inspect.isfunction(value))
        ):
            where = r"(?:polhode\.)?(?:\w+\.)?"
            assert re.search(rf"auto(?:function|class):: {where}{public}\b", LISTED), public


def test_reference_shows_the_headers():
    for header in (ROOT / "cpp/include").glob("polhode.*"):
        assert f"/cpp/include/{header.name}\n" in LISTED, header.name


@pytest.mark.parametrize(
    ("page", "remote"),
    [
        ('<a href="https://a.b/c">text</a><img src="_images/x.png">', 0),
        ('<img src="http://a.b/c.png"><script src="//a.b/c.js"></script>', 2),
        ('<link rel="stylesheet" href="https://a.b/c.css">', 1),
        ("<style>@import 'https://a.b/c.css';</style><p style='background: url(//a.b/c)'>", 2),
    ],
)
def test_remote_resources_are_seen(page, remote, tmp_path, monkeypatch, capsys):
    if not (ROOT / ".ci").exists():
        pytest.skip("not in a checkout")
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    checker = importlib.import_module("check_offline")
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    assert checker.main(tmp_path) == (remote > 0)
    assert f"1 pages, {remote} remote resources" in capsys.readouterr().out
    sys.modules.pop("check_offline")
