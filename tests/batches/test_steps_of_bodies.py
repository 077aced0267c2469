"""Step lengths of several bodies: never taken for steps in time, nor the other way round."""

from __future__ import annotations

import numpy as np
import pytest
from compare import same

import polhode as ph

H = np.array([0.1, 0.2, 0.4])
Q0 = [1.0, 0.0, 0.0, 0.0]
OMEGA = np.random.default_rng(5).normal(size=(4, 2, 3, 3))  # steps, nodes, bodies


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_one_dimensional_h_with_several_steps_is_refused(n: int) -> None:
    # Also where it has as many elements as there are steps.
    with pytest.raises(ValueError, match=rf"\({n},\).*\({n}, 1\).*steps of different lengths"):
        ph.attitude_from_rate(OMEGA[..., :1, :], Q0, np.full(n, 0.1), 4)
    with pytest.raises(ValueError, match="n_steps = 2 could mean bodies or steps in time"):
        ph.attitude_from_rate(OMEGA[:2, :, :1], Q0, np.full(n, 0.1), 2)


def test_h_of_each_body() -> None:
    each = [ph.attitude_from_rate(OMEGA[:, :, i], Q0, h, 4) for i, h in enumerate(H)]
    turned = ph.attitude_from_rate(OMEGA[:, :, :, None], [Q0], H[:, None], 4)
    same(turned, np.array(each)[:, None])
    same(turned[:, 0], ph.attitude_from_rate(OMEGA[:, :, None], Q0, H[None], 4)[0])


def test_one_step_takes_h_of_each_body() -> None:
    one = ph.attitude_from_rate(OMEGA[:1], Q0, H)
    same(one, np.array([ph.attitude_from_rate(OMEGA[:1, :, i], Q0, h) for i, h in enumerate(H)]))


@pytest.mark.parametrize("method", ["exact", "frb", "rk4", "abam_rotation"])
@pytest.mark.parametrize("n", [3, 4])
def test_a_step_of_one_body_for_each_h_is_a_body_for_each_h(method: str, n: int) -> None:
    """`step` takes n_steps steps of each h, `integrate` a step of each h."""
    h = np.linspace(0.1, 0.4, n)  # also as many as there are steps
    inertia, m = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8]
    steps = 4 if method == "abam_rotation" else 3
    m_end, q_end = ph.step(inertia, m, Q0, h, method=method, n_steps=steps)
    assert m_end.shape == (n, 3)
    assert q_end.shape == (n, 4)
    for i, one in enumerate(h):
        alone = ph.step(inertia, m, Q0, one, method=method, n_steps=steps)
        same(m_end[i], alone[0])
        same(q_end[i], alone[1])
    out = np.empty((n, 3)), np.empty((n, 4))
    same(ph.step(inertia, m, Q0, h, method=method, n_steps=steps, out=out)[1], q_end)
    with pytest.raises(ValueError, match="out"):
        ph.step(inertia, m, Q0, h, n_steps=3, out=(np.empty(3), np.empty(4)))
    path = ph.integrate(inertia, m, Q0, h, n)
    after = np.array(m), np.array(Q0)
    for i, one in enumerate(h):
        after = ph.step(inertia, *after, one)
        same(path.m[i + 1], after[0])
    with pytest.raises(ValueError, match="h must be a number or have shape"):
        ph.integrate(inertia, m, Q0, h, n + 1)
