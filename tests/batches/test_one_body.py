"""Calls for one body: the core takes usual arguments, Python the others, with the same results."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from compare import same
from states import LOOPS

import polhode as ph

INERTIA = np.array([1.0, 1.7, 2.3])
M = np.array([0.3, 0.5, 0.8])
Q = np.array([0.6, 0.0, 0.8, 0.0])


class Name(str):
    """A name that is no plain string."""

    __slots__ = ()


class Pair(NamedTuple):
    """A tuple of another type."""

    m: Any
    q: Any


@pytest.mark.parametrize(
    "arguments",
    [
        {"method": Name("exact")},
        {"n_steps": np.int64(1)},
        {"n_steps": True},
        {"threads": np.int32(2)},
        {"threads": -1},
        {"out": (np.empty(3), np.empty(4))},
        {"out": Pair(np.empty(3), np.empty(4))},
        {"out": (np.empty(6)[::2], np.empty(8)[::-2])},
        {"inertia": list(INERTIA)},
        {"m": M.astype(">f8")},
        {"q": tuple(Q)},
        {"h": 1},
        {"h": np.float64(1.0)},
        {"h": np.array(1.0)},
        {"h": np.ones((1,))[0:1].reshape(())},
    ],
)
def test_other_types_of_arguments_change_nothing(arguments: dict[str, Any]) -> None:
    plain = {"inertia": INERTIA, "m": M, "q": Q, "h": 1.0}
    expected = ph.step(**plain)
    result = ph.step(**{**plain, **arguments})
    assert type(result) is tuple
    for k in range(2):
        same(result[k], expected[k])
        if "out" in arguments:
            assert result[k] is arguments["out"][k]


@pytest.mark.parametrize("method", LOOPS)
def test_one_body_is_a_batch_of_one_and_a_part_of_one(method: str) -> None:
    n = 5
    rng = np.random.default_rng(2)
    m, q = rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    for attitude in (q, ph.so3.to_matrix(q)):
        many = ph.step(INERTIA, m, attitude, 0.3, method=method, n_steps=4)
        for i in range(n):
            one = ph.step(INERTIA, m[i], attitude[i], 0.3, method=method, n_steps=4)
            of_one = ph.step(
                INERTIA, m[i : i + 1], attitude[i : i + 1], 0.3, method=method, n_steps=4
            )
            for k in range(2):
                same(one[k], many[k][i])
                same(of_one[k][0], many[k][i])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"method": "rkmk"}, ValueError, "unknown method 'rkmk'"),
        ({"method": "Exact"}, ValueError, "did you mean 'exact'"),
        ({"method": ["exact"]}, ValueError, "unknown method"),
        ({"n_steps": -1}, ValueError, "n_steps must not be negative, got -1"),
        ({"n_steps": 2**62 + 1}, ValueError, "at most 2\\^62"),
        ({"n_steps": 2**70}, ValueError, "at most 2\\^62"),
        ({"n_steps": 1.0}, TypeError, "n_steps must be an integer, not 1.0"),
        ({"threads": 1.0}, TypeError, "threads must be an integer, not 1.0"),
        ({"inertia": np.diag(INERTIA)}, ValueError, "full tensors go to polhode.RigidBody"),
        ({"method": "abam_rotation"}, ValueError, "has a history of"),
        ({"threads": 0}, ValueError, "threads must be None, -1"),
        ({"threads": 5000}, ValueError, "threads must be None, -1"),
        ({"threads": 2**70}, ValueError, "threads must be None, -1"),
        ({"out": [np.empty(3), np.empty(4)]}, TypeError, "out must be a tuple of 2"),
        ({"out": (np.empty(3),)}, TypeError, "out must be a tuple of 2"),
        ({"out": (np.empty(3), np.empty(3))}, ValueError, "out: q must have shape"),
        ({"nothing": 1}, TypeError, "no argument 'nothing': method .exact. has no option"),
        ({"h": "long"}, TypeError, "h must be real numbers"),
        ({"m": np.zeros(4)}, ValueError, "m must have shape"),
        ({"q": np.zeros(4)}, ValueError, "a zero quaternion is not"),
        ({"inertia": np.array([1.0, -1.0, 1.0])}, ValueError, "a moment of inertia is negative"),
    ],
)
def test_errors_are_those_of_python(
    arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        ph.step(**{"inertia": INERTIA, "m": M, "q": Q, "h": 1.0, **arguments})


def test_a_motion_at_one_time() -> None:
    motion = ph.TorqueFreeMotion(INERTIA, M, Q)
    out = np.empty(3), np.empty(4)
    expected = motion(1.5, out=out)
    assert expected[0] is out[0]
    for t in (1.5, np.float64(1.5), np.array(1.5), np.float32(1.5)):
        for got, wanted in zip(motion(t), expected, strict=True):
            same(got, wanted)
    for got, wanted in zip(motion(np.array([1.5, 2.5])), expected, strict=True):
        same(got[0], wanted)
    bodies = ph.TorqueFreeMotion(INERTIA, np.tile(M, (3, 1)), Q)
    for got, wanted in zip(bodies(1.5), expected, strict=True):
        same(got[2], wanted)
    with pytest.raises(ValueError, match="do not broadcast"):
        bodies(np.ones(2))
    with pytest.raises(TypeError, match="t must be real numbers"):
        motion(np.array(1j))
