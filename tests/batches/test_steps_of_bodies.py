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


def test_h_of_each_body() -> None:
    each = [ph.attitude_from_rate(OMEGA[:, :, i], Q0, h, 4) for i, h in enumerate(H)]
    turned = ph.attitude_from_rate(OMEGA[:, :, :, None], [Q0], H[:, None], 4)
    same(turned, np.array(each)[:, None])
    same(turned[:, 0], ph.attitude_from_rate(OMEGA[:, :, None], Q0, H[None], 4)[0])


def test_one_step_takes_h_of_each_body() -> None:
    one = ph.attitude_from_rate(OMEGA[:1], Q0, H)
    same(one, np.array([ph.attitude_from_rate(OMEGA[:1, :, i], Q0, h) for i, h in enumerate(H)]))
