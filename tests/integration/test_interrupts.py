"""Ctrl-C: a real signal stops what runs within a second, and what was saved is kept."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
import runs


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("endless_core", "1"),
        ("endless_adaptive", "1"),
        ("endless_function", "1"),
        ("endless_batch", "1"),
        ("endless_step", "nothing"),
        ("endless_steps", "nothing"),
        ("endless_implicit_step", "nothing"),
        ("endless_implicit_steps", "nothing"),
        ("endless_helpers", "nothing"),
        ("endless_implicit_torque", "1"),
        ("endless_function_torque", "1"),
    ],
)
def test_a_signal_stops_it(name: str, left: str) -> None:
    with subprocess.Popen(
        [sys.executable, runs.__file__, name], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            # Left alone each takes minutes, and a step of `endless_batch` half a minute; on a busy
            # machine the second that is promised may become some.
            output, _ = process.communicate(timeout=15)
        finally:
            process.kill()
        # There the million bodies of `endless_batch` may not have started yet either.
        early = ("0", "nothing") if name == "endless_batch" else ()
        assert output.removeprefix("interrupted ").rstrip() in (left, *early)
        assert process.returncode == 0


def test_a_signal_is_seen_where_it_was_ignored_at_the_start() -> None:
    """As under ``nohup ... &``: what pytest runs there would ignore the signal as well."""
    code = (
        "import signal, sys, pytest\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"sys.exit(pytest.main(['-p', 'no:cacheprovider', {__file__!r}, '-k', 'endless_core']))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
