"""Numbers of steps, saves and times that no machine can count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode import _arrays

BODY: tuple[Any, ...] = ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("n_steps", [2**62 + 1, 2**63, 2**70, -1])
def test_steps_that_cannot_be_counted(n_steps: int) -> None:
    with pytest.raises(ValueError, match=f"n_steps must .* got {n_steps}"):
        ph.integrate(*BODY, 0.1, n_steps)
    with pytest.raises(ValueError, match=f"n_steps must .* got {n_steps}"):
        _arrays.step_count(n_steps)


def test_saves_that_no_memory_holds() -> None:
    with pytest.raises(ValueError, match=r"save_every = 2 saves 1152921504606846977 states"):
        ph.integrate(*BODY, 0.1, 2**61, save_every=2)


def test_a_save_beyond_the_end_is_the_end() -> None:
    for every in (5, 2**62, 2**70):
        trajectory = ph.integrate(*BODY, 0.1, 5, save_every=every)
        np.testing.assert_array_equal(trajectory.t, [0.0, 0.5])
    assert len(ph.integrate(*BODY, 0.1, 0, save_every=2**70)) == 1


def test_whole_numbers_are_doubles() -> None:
    """Those beyond 64 bits too, up to the largest double."""
    for n in (10**18, 10**30, 10**300):
        for got, known in zip(
            ph.step(BODY[0], [0, 0, 3], BODY[2], [n, -n]),
            ph.step(BODY[0], [0, 0, 3], BODY[2], [float(n), -float(n)]),
            strict=True,
        ):
            np.testing.assert_array_equal(got, known)
    assert ph.energy([10**30, 10**30, 10**30], [10**30, 0, 0]) == 5e29


@pytest.mark.parametrize("n", [10**400, -(10**400)])
def test_whole_numbers_beyond_the_largest_double_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=r"h has an integer above the largest double"):
        ph.step(*BODY, [n, 1])
    with pytest.raises(ValueError, match=r"h has an integer"):
        ph.integrate(*BODY, n, 1)
    with pytest.raises(ValueError, match=r"t has an integer"):
        ph.TorqueFreeMotion(*BODY)(n)
    with pytest.raises(ValueError, match=r"m has an integer"):
        ph.energy(BODY[0], [0, n, 0])


def test_other_objects_are_no_numbers() -> None:
    for h in ("1", [None], [1j], np.array(["0.5"], object)):
        with pytest.raises(TypeError, match="h must be real numbers"):
            ph.step(*BODY, h)
