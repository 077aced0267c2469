"""Helper modules (compare, reference, states, tolerances) are imported by their names; see there.

At the end of a run of whole files the bounds of tolerances.py that became too wide are named.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS.parent))  # the package `benchmarks`
sys.path.insert(0, str(TESTS / "accuracy"))
sys.path.insert(0, str(TESTS))

import programs
import tolerances

import polhode as ph

# The levels at which a gain is reported; they give the same bits.
MEASURED_AT = {"v3", "v4"}

deselected = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--measured", action="store_true", help="print the error bounds and what this run has seen"
    )


def pytest_deselected(items: list[pytest.Item]) -> None:
    items[0].config.stash[deselected] = True


def improved(config: pytest.Config) -> list[tolerances.Bound]:
    """Bounds to tighten; none where a part of a file has run or at another level."""
    part = config.stash.get(deselected, False) or any("::" in str(arg) for arg in config.args)
    if part or ph.build_info()["isa"] not in MEASURED_AT:
        return []
    return [b for b in tolerances.BOUNDS.values() if b.improved()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """With pytest-xdist: put together what its processes have seen."""
    output = getattr(node, "workeroutput", {})
    for name, seen in output.get("seen", {}).items():
        tolerances.BOUNDS[name].see(np.array([seen]))
    if output.get("deselected"):
        node.config.stash[deselected] = True


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if hasattr(session.config, "workeroutput"):
        seen = {b.name: b.seen for b in tolerances.BOUNDS.values() if b.seen is not None}
        session.config.workeroutput["seen"] = seen
        session.config.workeroutput["deselected"] = session.config.stash.get(deselected, False)
    elif exitstatus == pytest.ExitCode.OK and improved(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    if config.getoption("--measured"):
        terminalreporter.section("bounds of tests/tolerances.py")
        for b in tolerances.BOUNDS.values():
            seen = "-" if b.seen is None else f"{b.seen:.3g}"
            terminalreporter.write_line(
                f"{b.name:28} limit {b.limit:<6g} measured {b.measured:<6g} seen {seen:8} {b.unit}"
            )
    if exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        for b in improved(config):
            terminalreporter.write_line(
                f"{b.name}: {b.measured:g} is recorded and {b.seen:.3g} was seen (unit {b.unit});"
                " record the gain in tests/tolerances.py",
                red=True,
            )


@pytest.fixture(scope="session", autouse=True)
def programs_ahead(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Compiles slow programs while the other tests run; pytest-xdist has all cores."""
    if hasattr(request.config, "workerinput"):
        yield
        return
    wanted = [x for x in request.session.items if x.get_closest_marker("programs")]
    if len(wanted) > 1 and len(request.session.items) > len(wanted) and (os.cpu_count() or 1) > 1:
        programs.AHEAD.start(tmp_path_factory.mktemp("programs"))
    yield
    programs.AHEAD.stop()
