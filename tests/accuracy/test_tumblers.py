"""Precession, nutation and mode of free motions; motions from published periods and from energy."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from compare import close, same
from long_motion import period as exact_period
from numpy.typing import NDArray
from states import STATES, State
from tolerances import EPS

import polhode as ph
from polhode import Regime, so3

Array = NDArray[np.float64]
GENERIC = ((1.0, 1.5, 2.2), (0.3, 0.5, 0.8), (1.0, 0.0, 0.0, 0.0))
#: Moments, P_psi, P_phi, mode, E/E0 where it is published.  Toutatis: moments of its radar model,
#: days; 2008 TC3 (seconds) and 1I ('Oumuamua, hours): of ellipsoids with axes in about the
#: published ratios; Apophis, hours: moments, periods and E/E0 of [PSD14].
PUBLISHED = {
    "Toutatis": ([3.09, 3.22, 1.0], 5.41, 7.35, "long-axis", None),
    "1I": ([0.62, 0.93, 1.0], 54.48, 8.67, "long-axis", None),
    "2008 TC3": ([0.4212, 1.1296, 1.2916], 99.20, 97.00, "long-axis", None),
    "Apophis": ([0.61, 0.965, 1.0], 263.0, 27.38, "short-axis", 1.024),
}
MOVING = [
    state
    for state in STATES
    if mpmath.isfinite(exact_period(state.inertia, state.m)) and "separatrix" not in state.name
]


def motion_of(state: State) -> ph.TorqueFreeMotion:
    return ph.TorqueFreeMotion(state.inertia, state.m, state.q)


def exact_precession(inertia: Any, m: Any) -> Any:
    """The turn about m in a period by Legendre's Pi: that of the axis a that m circles.

    phi' = G (m2^2/I2 + mc^2/Ic)/(m2^2 + mc^2), with mc = C cn, m2 = M sn of the same argument.
    """
    order = sorted(range(3), key=lambda i: inertia[i])
    I = [mpmath.mpf(inertia[i]) for i in order]
    x = [mpmath.mpf(m[i]) for i in order]
    if I[2] * (I[1] - I[0]) * x[0] ** 2 > I[0] * (I[2] - I[1]) * x[2] ** 2:
        I, x = I[::-1], x[::-1]
    (Ic, I2, Ia), (mc, m2, ma) = I, x
    r = Ic * (Ia - I2) / (I2 * (Ia - Ic))
    C2, M2, A2 = mc**2 + r * m2**2, m2**2 + mc**2 / r, ma**2 + (1 - r) * m2**2
    k2, n = (1 - r) / r * C2 / A2, 1 - 1 / r
    frequency = mpmath.sqrt(r * A2) * abs(1 / Ia - 1 / Ic)
    G = mpmath.sqrt(sum(v * v for v in x))
    # n = 0 is a symmetric body, with k = 0 too.
    part = (mpmath.ellippi(n, k2) - mpmath.ellipk(k2)) / n if n else mpmath.pi / 4
    along = 4 * mpmath.ellipk(k2) / (frequency * Ic)
    return G * (along + (1 / I2 - 1 / Ic) * 4 / frequency * (M2 / C2) * part)


@pytest.mark.parametrize("state", MOVING[::4], ids=lambda s: s.name)
def test_precession_by_legendre(state: State) -> None:
    """With an allowance for half an ulp in each of the inputs."""
    with mpmath.workdps(30):
        exact = exact_precession(state.inertia, state.m)
        change = 0.0
        for i in range(6):
            moved = [mpmath.mpf(x) for x in (*state.inertia, *state.m)]
            moved[i] *= 1 + mpmath.mpf(2) ** -53
            change += float(abs(exact_precession(moved[:3], moved[3:]) / exact - 1))
        motion = motion_of(state)
        error = float(abs(mpmath.mpf(float(motion.precession)) / exact - 1))
    assert error <= 4 * EPS + 2 * change
    close(motion.precession_rate * motion.period, motion.precession, rtol=2 * EPS)


def test_a_period_turns_the_attitude_about_the_momentum() -> None:
    """By the angle of precession, with the sign of q: the axis itself has made a turn."""
    for state in MOVING:
        motion = motion_of(state)
        momentum = ph.momentum_spatial(np.array(state.m) / np.abs(state.m).max(), state.q)
        direction = momentum / np.linalg.norm(momentum)
        angle = float(motion.period * np.linalg.norm(ph.omega(state.inertia, state.m)))
        angle += float(motion.precession)
        if angle < 1e6:
            _, q = motion([0.0, float(motion.period)])
            turned = so3.multiply(so3.exp(motion.precession * direction), q[0])
            close(q[1], -turned, atol=30 * EPS * (1 + angle), what=state.name)


@pytest.mark.parametrize("inertia", [(1.0, 1.5, 2.2), (1.0, 1.1, 9.0), (0.1, 3.0, 3.0)])
def test_precession_counts_whole_turns(inertia: tuple[float, float, float]) -> None:
    """The azimuth of the axis, followed through one period; 9 breaks the triangle inequality."""
    rng = np.random.default_rng(3)
    for m0 in rng.normal(size=(6, 3)):
        motion = ph.TorqueFreeMotion(inertia, m0, [1.0, 0, 0, 0])
        t = np.linspace(0.0, float(motion.period), 20001)
        phi = np.unwrap(motion.euler_angles(t)[:, 0])
        close(phi[-1] - phi[0], motion.precession, atol=1e-9)


def test_precession_of_the_long_axis_in_the_short_axis_mode() -> None:
    """It lags behind the short axis by a turn a period, 1/P_phi - 1/P_psi (docstring)."""
    moments, rotation, precession, _, _ = PUBLISHED["Apophis"]
    motion = ph.TorqueFreeMotion.from_periods(moments, rotation, precession, mode="short-axis")
    long = so3.rotate(motion(np.linspace(0.0, 10 * rotation, 20001))[1], [1.0, 0.0, 0.0])
    azimuth = np.unwrap(np.arctan2(long[:, 1], long[:, 0]))
    rate = (azimuth[-1] - azimuth[0]) / (2 * np.pi * 10 * rotation)
    close(rate, 1 / precession - 1 / rotation, rtol=1e-9)


def test_motions_without_a_period() -> None:
    inertia = [[1.5, 2.0, 3.0], [1.5, 2.0, 3.0], [2.0, 2.0, 2.0], [1.0, 1.0, 2.0], [0.0, 2.0, 2.0]]
    m0 = [[0.5, 0.25, 0.5], [0.0, 0.0, 6.0], [0.0, 3.0, 4.0], [0.6, 0.8, 0.0], [0.0, 0.0, 0.0]]
    motion = ph.TorqueFreeMotion(inertia, m0, [1.0, 0, 0, 0])
    assert motion.mode.tolist() == ["separatrix", *4 * ["principal-axis"]]
    close(motion.precession_rate, [0.75 / 2, 2.0, 2.5, 1.0, 0.0], rtol=2 * EPS)
    same(motion.precession, np.array([np.inf, np.inf, np.inf, np.inf, 0.0]))
    close(motion.nutation[0, 1], np.pi / 2, atol=4 * EPS)
    same(motion.nutation[1:], np.zeros((4, 2)))
    nan = ph.TorqueFreeMotion([1.0, 2.0, 3.0], [np.nan, 1.0, 1.0], [1.0, 0, 0, 0])
    assert np.isnan([*nan.nutation, nan.precession, nan.precession_rate]).all()


def test_mode_says_the_regime() -> None:
    motion = ph.TorqueFreeMotion(*zip(*((s.inertia, s.m, s.q) for s in STATES), strict=True))
    names = {
        Regime.AXIS1: "long-axis", Regime.AXIS3: "short-axis", Regime.SEPARATRIX: "separatrix",
        Regime.PERMANENT: "principal-axis", Regime.SPHERE: "principal-axis",
    }  # fmt: skip
    assert motion.mode.tolist() == [names[r] for r in motion.regime]
    assert ph.TorqueFreeMotion(*GENERIC).mode == "short-axis"


# One ulp off a sphere, in a period of 4e16, the attitude has no correct digit.
@pytest.mark.filterwarnings("ignore:no digit is correct")
def test_nutation() -> None:
    """Between its limits at all times, which it reaches, at the momenta of the same energy."""
    rng = np.random.default_rng(7)
    for state in MOVING:
        motion = motion_of(state)
        least, greatest = motion.nutation
        axis = (np.argmin if motion.mode == "long-axis" else np.argmax)(state.inertia)
        m, _ = motion(rng.uniform(-1, 1, 200) * motion.period)
        m /= np.abs(m).max()
        across = np.linalg.norm(np.delete(m, axis, axis=-1), axis=-1)
        angle = np.arctan2(across, np.abs(m[:, axis]))
        assert (angle >= least * (1 - 1e-9)).all(), state.name
        assert (angle <= greatest * (1 + 1e-9)).all(), state.name
        middle = np.argsort(state.inertia)[1]
        c = 3 - axis - middle
        inverse = 1 / np.array(state.inertia)
        # 2 E/G^2 - 1/Ia, at both ends and at the start.
        ends = np.sin([least, greatest]) ** 2 * (inverse[[c, middle]] - inverse[axis])
        unit = np.array(state.m) / np.abs(state.m).max()
        unit /= np.linalg.norm(unit)
        exact = unit**2 @ (inverse - inverse[axis])
        rounding = 8 * EPS * np.abs(inverse[[c, middle]]).max() * (np.sin(greatest) ** 2 + EPS)
        close(ends, exact, atol=rounding, rtol=40 * EPS, what=state.name)
    generic = ph.TorqueFreeMotion(*GENERIC)
    t = np.linspace(0.0, float(generic.period), 40001)
    theta = generic.euler_angles(t)[:, 1]
    close([theta.min(), theta.max()], generic.nutation, atol=1e-7)


# --- motions from published numbers -------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_periods(name: str) -> None:
    moments, rotation, precession, mode, energy = PUBLISHED[name]
    given: dict[str, Any] = {"phi0": 2.655, "psi0": 0.25, "pole": [-0.3, 0.5, -0.4]}
    motion = ph.TorqueFreeMotion.from_periods(moments, rotation, precession, mode=mode, **given)
    assert motion.mode == mode
    close(motion.period / rotation, 1.0, atol=1e-12)
    close(2 * np.pi / motion.precession_rate / precession, 1.0, atol=1e-12)
    phi, theta, psi = motion.euler_angles()
    close([phi, psi], [given["phi0"], given["psi0"]], atol=20 * EPS)
    assert motion.nutation[0] - 1e-12 <= theta <= motion.nutation[1] + 1e-12
    m0, q0 = motion(0.0)
    size = np.linalg.norm(m0)
    pole = np.array(given["pole"]) / np.linalg.norm(given["pole"])
    close(ph.momentum_spatial(m0, q0) / size, pole, atol=8 * EPS)
    # Back: the same state from energy and |m|.
    again = ph.TorqueFreeMotion.from_energy(moments, ph.energy(moments, m0), size, **given)
    for got, expected in zip(again(0.0), (m0, q0), strict=True):
        close(got, expected, atol=1e-13)
    if energy is not None:
        close(ph.energy(moments, m0) * 2 * max(moments) / size**2, energy, atol=1e-3)


def test_periods_near_the_separatrix() -> None:
    """m0 in doubles determines them to eps over the square of the distance (docstring)."""
    psi = np.linspace(0.0, 2 * np.pi, 50)
    for ratio in (8.0, 12.0, 18.97):
        near = ph.TorqueFreeMotion.from_periods(
            [0.659, 1.563, 1.956], ratio, 1.0, mode="long-axis", psi0=psi
        )
        error = np.abs(near.period / ratio - 1.0)
        assert (error <= EPS / (np.pi / 2 - near.nutation[:, 1]) ** 2 + 4 * EPS).all()
    assert error.max() > 1e-8


def test_euler_angles_are_those_of_the_rotation() -> None:
    """P Rz(phi) Rx(theta) Rz(psi), by SciPy, for each order of the moments, at later times too."""
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    pole = np.array([0.48, -0.6, 0.64])
    longitude, latitude = np.arctan2(-0.6, 0.48), np.arcsin(0.64)
    frame = rotation.from_euler("ZY", [longitude, np.pi / 2 - latitude])
    for shift in range(3):
        moments = np.roll([1.0, 1.4, 2.0], shift)
        for mode, a in (("long-axis", shift), ("short-axis", (shift + 2) % 3)):
            motion = ph.TorqueFreeMotion.from_periods(
                moments, 9.0, 3.0, mode=mode, phi0=1.0, psi0=4.0, pole=3 * pole
            )
            t = np.array([0.0, 0.7, -11.0])
            columns = np.roll(np.eye(3), -(a + 1), axis=0)  # rows a + 1, a + 2, a
            euler = rotation.from_euler("ZXZ", motion.euler_angles(t))
            close((frame * euler).as_matrix() @ columns, so3.to_matrix(motion(t)[1]), atol=1e-14)
            turned = ph.RigidBody.from_moments(moments, so3.exp([0.1, 0.2, 0.3]))
            m0, q0 = motion(0.0)
            own = turned.motion(turned.axes @ m0, so3.multiply(q0, so3.exp([-0.1, -0.2, -0.3])))
            close(own.euler_angles(t), motion.euler_angles(t), atol=1e-13)
            close(own.nutation, motion.nutation, atol=1e-14)


def test_batches_of_tumblers_are_single_calls() -> None:
    rng = np.random.default_rng(4)
    moments = np.add([1.0, 2.0, 2.9], rng.uniform(0, 0.5, (30, 3)))
    mode = np.where(np.arange(30) % 2, "long-axis", "short-axis")
    ratio, psi = rng.uniform(4, 7, 30), rng.uniform(0, 6, (30,))
    many = ph.TorqueFreeMotion.from_periods(moments, ratio, 1.0, mode=mode, psi0=psi)
    close(many.period / ratio, 1.0, atol=1e-12)
    close(many.precession / (2 * np.pi * ratio), 1.0, atol=1e-12)
    for i in range(30):
        one = ph.TorqueFreeMotion.from_periods(moments[i], ratio[i], 1.0, mode=mode[i], psi0=psi[i])
        same(one(0.3)[1], many(0.3)[1][i])
    ratio[4] = np.nan
    broken = ph.TorqueFreeMotion.from_periods(moments, ratio, 1.0, mode=mode, psi0=psi)
    assert np.isnan(broken.period[4])
    same(np.delete(broken(0.3)[0], 4, 0), np.delete(many(0.3)[0], 4, 0))


@pytest.mark.parametrize(
    "moments", [(1, 2, 3), (3, 1, 2), (1, 1, 2), (2, 1, 2), (1e-47, 2e-47, 2.5e-47)]
)
def test_from_energy(moments: tuple[float, float, float]) -> None:
    """The whole range of energies, its ends and the separatrix included."""
    least, middle, greatest = np.sort(np.array(moments, float))
    size = 3.0 * greatest
    inverse = np.concatenate([np.linspace(1 / greatest, 1 / least, 9), [1 / middle]])
    energy = inverse * size**2 / 2
    motion = ph.TorqueFreeMotion.from_energy(moments, energy, size, psi0=[[0.0], [1.0], [1.57]])
    m0, _ = motion(0.0)
    close(ph.energy(moments, m0) / energy, 1.0, atol=8 * EPS)
    close(np.linalg.norm(m0, axis=-1) / size, 1.0, atol=4 * EPS)
    for k, value in enumerate(inverse[1:8], 1):
        if abs(value * middle - 1) > 1e-9:
            mode = "long-axis" if value * middle > 1 else "short-axis"
            assert (motion.mode[:, k] == mode).all()


def test_refused_tumblers() -> None:
    make = ph.TorqueFreeMotion.from_periods
    with pytest.raises(ValueError, match=r"rotation\[1\] = -2.*positive"):
        make([1, 2, 2.5], [9.0, -2.0], 1.0, mode="long-axis")
    with pytest.raises(ValueError, match=r"mode must be 'long-axis' or 'short-axis', not 'LAM'"):
        make([1, 2, 2.5], 9.0, 1.0, mode="LAM")
    with pytest.raises(ValueError, match=r"rotation / precession = 1.0.*it is above 2\.3363"):
        make([1.0, 1.5, 2.2], 1.0, 1.0, mode="short-axis")
    with pytest.raises(ValueError, match=r"inertia\[1\].*axis of this mode .* m cannot circle"):
        make([[1, 2, 2.5], [1, 1, 2]], 9.0, 1.0, mode="long-axis")
    with pytest.raises(ValueError, match=r"pole.*not a direction"):
        make([1, 2, 2.5], 9.0, 1.0, mode="long-axis", pole=[0, 0, 0])
    with pytest.raises(ValueError, match=r"energy\[1\] = 0.6.*not between"):
        ph.TorqueFreeMotion.from_energy([1, 2, 3], [0.3, 0.6], 1.0)
    with pytest.raises(ValueError, match=r"size = 0.*positive"):
        ph.TorqueFreeMotion.from_energy([1, 2, 3], 0.3, 0)
