"""Guards and corrections of the kernels: each test fails where one is removed or moved by 10 %."""

import numpy as np
import pytest
from compare import close

import polhode as ph
from polhode import elliptic, so3

EPS = 2.0**-52


@pytest.mark.parametrize("power", [-1074, -1060, -1024, -1022, 1021, 1022])
def test_principal_axes_at_the_ends_of_the_range(power: int) -> None:
    """The scale of the eigenvalues is limited where its reciprocal is no normal number."""
    half = np.ldexp(1.0, power // 2)
    size = half * np.ldexp(1.0, power - power // 2)
    tensor = size * np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    got = ph.RigidBody(tensor).moments
    grain = max(4 * EPS * 3 * size, 5e-324)
    close(np.sort(got), np.array([1.0, 2.0, 3.0]) * size, atol=grain)


@pytest.mark.parametrize("defect", [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)])
def test_matrices_within_1e_5_of_a_rotation(defect: tuple[int, int]) -> None:
    """An entry of Q^T Q - 1 of 0.95e-5 is accepted and one of 1.05e-5 refused, at every entry."""
    i, j = defect
    inertia, m = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]
    for entry, accepted in ((0.95e-5, True), (1.05e-5, False), (-0.95e-5, True), (-1.05e-5, False)):
        square = np.eye(3)
        square[i, j] += entry
        square[j, i] = square[i, j]
        matrix = np.linalg.cholesky(square).T  # Q^T Q = square
        for use in (so3.to_quaternion, lambda q: ph.step(inertia, m, q, 0.1)):
            if accepted:
                use(matrix)
            else:
                with pytest.raises(ValueError, match="rotation matrix"):
                    use(matrix)
    with pytest.raises(ValueError, match="rotation matrix"):
        ph.step(inertia, m, -np.eye(3), 0.1)


def test_limits_of_a_rod() -> None:
    """Zero moment: 4 eps of the largest; unequal others: 1e-9; momentum about the axis: 1e-12."""
    m, q = [0.0, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]
    spins = [0.01, 0.3, 0.4]
    for moment, is_rod in ((3.9 * EPS, True), (4.1 * EPS, False)):
        inertia = [moment, 1.0, 1.0]
        if is_rod:
            with pytest.raises(ValueError, match=r"rod|zero"):
                ph.step(inertia, spins, q, 0.1)
        else:
            ph.step(inertia, spins, q, 1e-20)
    ph.step([0.0, 1.0 - 0.95e-9, 1.0], m, q, 0.1)
    with pytest.raises(ValueError, match=r"rod|zero"):
        ph.step([0.0, 1.0 - 1.05e-9, 1.0], m, q, 0.1)
    ph.step([0.0, 1.0, 1.0], [0.5 * 0.95e-12, 0.3, 0.4], q, 0.1)
    with pytest.raises(ValueError, match=r"rod|zero"):
        ph.step([0.0, 1.0, 1.0], [0.5 * 1.05e-12, 0.3, 0.4], q, 0.1)


@pytest.mark.filterwarnings("ignore:.*dmv:RuntimeWarning")
@pytest.mark.parametrize("order", [2, 4, 8, 12, 18])
def test_roots_across_the_half_turn_are_rejected(order: int) -> None:
    """Near a half turn Newton's iteration may find the root of nearly -q: NaN, never -q."""
    rng = np.random.default_rng(4)
    n = 20_000
    inertia = np.exp(0.7 * rng.normal(size=(n, 3)))
    m = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-3, 0, size=(n, 3))
    hw = np.pi - 0.2 * rng.random(n) ** 2
    h = hw * inertia.min(axis=1) / np.linalg.norm(m, axis=1)
    q0 = [1.0, 0.0, 0.0, 0.0]
    got = ph.step(inertia, m, q0, h, method=f"dmv{order}")[1]
    cosine = np.sum(got * ph.step(inertia, m, q0, h)[1], axis=1)
    found = np.isfinite(cosine)
    close(np.sign(cosine[found]), np.ones(np.count_nonzero(found)), what="sign of q")


def test_cn_and_sn_stay_on_the_circle() -> None:
    """Rounding errors of cn near 1 would double with each step of the Landen transformation."""
    rng = np.random.default_rng(7)
    kc2 = 10.0 ** rng.uniform(-14, 0, 300_000)
    sn, cn, _, _ = elliptic.jacobi(3 * rng.random(kc2.size), 1 - kc2, kc2)
    sum_of_squares = sn.astype(np.longdouble) ** 2 + cn.astype(np.longdouble) ** 2
    close(sum_of_squares.astype(np.float64), np.ones(kc2.size), atol=8 * EPS)


def test_frb_preserves_the_size_of_m_near_the_separatrix() -> None:
    """The same for the functions of `frb`."""
    rng = np.random.default_rng(7)
    n = 100_000
    I1, I2, I3 = np.ones(n), 1 + rng.random(n), 2 + rng.random(n)
    m1 = 0.01 + rng.random(n)
    m3 = m1 * np.sqrt(I3 * (I2 - I1) / (I1 * (I3 - I2))) * (1 + 10.0 ** rng.uniform(-14, 0, n))
    m = np.stack([m1, rng.normal(size=n), m3], axis=1)
    got = ph.step(np.stack([I1, I2, I3], 1), m, [1.0, 0, 0, 0], 8 * rng.random(n), method="frb")[0]
    before, after = (np.sum(x.astype(np.longdouble) ** 2, axis=1) for x in (m, got))
    close((after / before).astype(np.float64), np.ones(n), atol=7 * EPS)
