"""The defaults of the base class `Torque` for classes that only have `torque`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from compare import same

import polhode as ph

TENSOR = [[2.0, 0.3, 0.0], [0.3, 3.0, 0.1], [0.0, 0.1, 4.0]]
Q0 = [1.0, 0.0, 0.0, 0.0]


class Damping(ph.torques.Torque):
    """A user-defined class that says that it depends on m."""

    depends_on_m = True

    def torque(self, t: float, m: Any, attitude: Any) -> Any:
        return -0.5 * m


class Weight(ph.torques.Model):
    """A user-defined class on a model of the core."""

    def __init__(self) -> None:
        self._set("lagrange_top", np.array([2.0]))


def test_a_class_that_depends_on_m() -> None:
    run = (TENSOR[0][0], 3.0, 4.0), [0.1, 0.2, 0.3], Q0, 0.1, 20
    found = ph.integrate(*run, torque=Damping())
    same(found.m, ph.integrate(*run, torque=lambda m: -0.5 * m).m)
    with pytest.raises(ValueError, match="does not depend on m"):
        ph.integrate(*run, torque=Damping(), splitting="rkn4_6")


def test_a_user_defined_model_runs_in_any_axes() -> None:
    body = ph.RigidBody(TENSOR)
    own = body.integrate([0.1, 0.2, 0.3], Q0, 0.1, 20, torque=Weight())
    model = body.integrate([0.1, 0.2, 0.3], Q0, 0.1, 20, torque=ph.torques.LagrangeTop(2.0))
    same(own.m, model.m)
    same(own.energy(), model.energy())


@pytest.mark.parametrize("name", ph.torques.__all__)
def test_classes_are_named_by_the_public_module(name: str) -> None:
    kind = getattr(ph.torques, name)
    assert kind.__module__ == "polhode.torques"
    assert pickle.loads(pickle.dumps(kind)) is kind
