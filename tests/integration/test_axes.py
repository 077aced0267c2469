"""Integrations whose user has other axes than the principal ones: the core rotates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph
from polhode import _core
from polhode.integrators.table import direct_facts

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
AXES = np.asarray(ph.so3.to_matrix(ph.so3.exp([0.4, -0.9, 1.3])))
SCHEMES = {s.name: s for s in ph.splittings()}
BODIES = 150


class Python:
    """A torque in Python, as the core calls it."""

    depends_on_m, has_modified, is_given, asked = True, False, False, (0, 1, 2)
    forces = rates = False

    def __init__(self, f: Any) -> None:
        self.function = f


def run(term: Any, m: Array, q: Array, axes: Array | None, **options: Any) -> tuple[Array, Array]:
    m, q, n_steps = m.copy(), q.copy(), 12
    saved = np.empty((4, *m.shape)), np.empty((4, *q.shape))
    scheme = SCHEMES[options.pop("splitting", "strang")]
    row = [row.name for row in ph.methods()].index(options.get("method", "exact"))
    direct = "method" in options
    work = np.zeros((direct_facts(row)["columns"], len(m))) if direct else None
    slices = options.pop("slices", [n_steps])
    core = _core.Integration(
        method=row, options=(), direct=direct, work=work,
        stages=np.zeros((0, 3)) if direct else scheme.table(), order=scheme.order, terms=[term],
        processor=scheme.processor_table(),
        inertia=INERTIA, m=m,
        attitude=q, matrix=q.ndim == 3, by_torque=np.zeros(len(m), np.bool_), h=np.array(0.1),
        t0=0.0, times=None, total_steps=n_steps, save_every=4, m_saved=saved[0],
        attitude_saved=saved[1], start=None, threads=1, axes=axes,
        compensation=np.zeros_like(m) if options.pop("compensated", False) else None,
    )  # fmt: skip
    core.run(0, 0)
    for steps in slices:
        core.run(core.done, steps, 10.0)
    assert core.done == n_steps
    return saved


def states(matrix: bool) -> tuple[Array, Array, Array, Array]:
    """Along the principal axes, and in those of the user."""
    rng = np.random.default_rng(3)
    m = rng.normal(size=(BODIES, 3))
    Q = np.asarray(ph.so3.to_matrix(ph.so3.exp(rng.normal(size=(BODIES, 3)))))
    user = Q @ AXES.T
    if matrix:
        return m, Q, m @ AXES.T, user
    return m, ph.so3.to_quaternion(Q), m @ AXES.T, ph.so3.to_quaternion(user)


def torques(name: str) -> tuple[ph.torques.Torque | Python, ph.torques.Torque | Python]:
    """The same along the principal axes, and in those of the user."""
    u0, axis = np.array([0.2, -0.1, 0.4]), np.array([0.3, -0.4, 0.8])
    if name == "heavy_top":
        return ph.torques.HeavyTop(u0, axis), ph.torques.HeavyTop(u0, AXES @ axis)
    linear = np.array([[-0.3, 0.1, 0.2], [0.0, -0.2, 0.1], [0.3, 0.0, -0.1]])

    def own(t: float, m: Array, q: Array) -> Array:
        return m @ linear.T

    def of_user(t: float, m: Array, q: Array) -> Array:
        return m @ (AXES @ linear @ AXES.T).T

    return Python(own), Python(of_user)


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("heavy_top", {}),
        ("heavy_top", {"splitting": "rkn6_14"}),
        ("heavy_top", {"splitting": "chin4a"}),
        ("heavy_top", {"compensated": True}),
        ("heavy_top", {"method": "trapm"}),
        ("heavy_top", {"method": "taylor3"}),
        ("heavy_top", {"splitting": "takahashi_imada"}),
        ("heavy_top", {"splitting": "processed_ti104"}),
        ("python", {}),
        ("python", {"splitting": "s6"}),
    ],
)
def test_any_axes_give_the_run_along_the_principal_axes(
    name: str, options: dict[str, Any], matrix: bool
) -> None:
    m, q, user_m, user_q = states(matrix)
    own, of_user = (
        t if isinstance(t, Python) else t.core_term((BODIES,), matrix) for t in torques(name)
    )
    want = run(own, m, q, None, **options)
    got = run(of_user, user_m, user_q, AXES, **options)
    close(got[0], want[0] @ AXES.T, atol=1e-14 * 4)
    attitudes = got[1] if matrix else np.asarray(ph.so3.to_matrix(got[1]))
    wanted = want[1] if matrix else np.asarray(ph.so3.to_matrix(want[1]))
    close(attitudes, wanted @ AXES.T, atol=1e-14 * 4)
    same(got[0][0], user_m)
    # The axes of each body, and other slices, have the same bits.
    each = np.repeat(AXES[None], BODIES, 0)
    for other in (
        run(of_user, user_m, user_q, each, **options),
        run(of_user, user_m, user_q, AXES, slices=[1, 7, 4], **options),
    ):
        same(got[0], other[0])
        same(got[1], other[1])


def test_each_body_in_its_own_axes() -> None:
    """The bits of a body do not depend on the axes of others, also beyond a block of the core."""
    m, q, _, _ = states(False)
    axes = np.asarray(ph.so3.to_matrix(np.random.default_rng(8).normal(size=(BODIES, 4))))
    torque = torques("heavy_top")[0]
    whole = run(torque.core_term((BODIES,), False), m, q, axes)
    for k in (0, 37, BODIES - 1):
        one = slice(k, k + 1)
        alone = run(torque.core_term((1,), False), m[one], q[one], axes[one])
        same(whole[0][:, one], alone[0])
        same(whole[1][:, one], alone[1])
