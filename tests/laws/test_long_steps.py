"""Steps so long that cn and dn underflow: on axis 2 and on the separatrix."""

import mpmath
import numpy as np
import pytest
from compare import close
from mpmath import mpf

import polhode as ph

_quad = pytest.importorskip("polhode._quad")

EPS = 2.0**-52
LONG = [700.0, 1e3, 1e4, -1e6, 1e9]


@pytest.mark.parametrize("method", ["exact", "frb"])
@pytest.mark.parametrize("h", LONG)
def test_on_axis_2(method: str, h: float) -> None:
    inertia = np.array([1.0, 1.648785782711929, 1.972012709664193])
    m, q = ph.step(inertia, [0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0], h, method=method)
    with mpmath.workdps(50):
        half = -mpf(h) / mpf(float(inertia[1])) / 2
        exact = [mpmath.cos(half), 0, mpmath.sin(half), 0]
        off = max(abs(mpf(float(a)) - b) for a, b in zip(q, exact, strict=True))
    assert off <= 8 * EPS * (1 + abs(h) / inertia[1])
    assert np.abs(m - [0, -1, 0]).max() <= 8 * EPS


@pytest.mark.parametrize("m0", [[0.5, 0.25, -0.5], [-0.5, 0.25, -0.5], [0.5, -0.25, 0.5]])
@pytest.mark.parametrize("h", LONG)
def test_on_the_separatrix(m0: list[float], h: float) -> None:
    inertia = np.array([1.5, 2.0, 3.0])
    q0 = np.array([1.0, 0.0, 0.0, 0.0])
    m, q = ph.step(inertia, m0, q0, h)
    size = np.linalg.norm(m0)
    # There m goes to one end of axis 2, as sech and tanh, and the body on turning about it.
    assert abs(abs(m[1]) - size) <= 8 * EPS * size
    assert max(abs(m[0]), abs(m[2])) <= 8 * EPS * size
    pairs = [np.stack([a, np.zeros(len(a))], axis=1) for a in (inertia, np.array(m0), q0)]
    _, exact = _quad.step("exact", *pairs, h)
    angle = abs(h) * np.linalg.norm(np.array(m0) / inertia)
    assert np.abs((q - exact[:, 0]) - exact[:, 1]).max() <= 8 * EPS * (1 + angle)


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:no digit is correct:RuntimeWarning")
@pytest.mark.parametrize("method", ["exact", "frb", "motion"])
@pytest.mark.parametrize("off", [1e-120, 1e-130, 1e-138, 1e-150, 1e-200, 5e-324])
def test_hardly_off_axis_2(method: str, off: float) -> None:
    # m2 = -tanh, m1 and m3 as sech until m is half way to the other side: d e^(growth h) = 2 there,
    # at which m1 = 1/2, m2 = 0... for (1, 2, 3), growth = 1/sqrt(12), reference 34 digits.
    inertia, q0 = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0])
    m0 = np.array([off, 1.0, 0.0])
    h = float(np.log(2) - np.log(off)) * np.sqrt(12.0)
    if method == "motion":
        m, q = ph.TorqueFreeMotion(inertia, m0, q0)(h)
    else:
        m, q = ph.step(inertia, m0, q0, h, method=method)
    if off < 1e-135:  # documented: the way back is lost
        assert np.isnan(m).all()
        assert np.isnan(q).all()
        return
    pairs = [np.stack([a, np.zeros(len(a))], axis=1) for a in (inertia, m0, q0)]
    exact_m, exact_q = _quad.step("exact", *pairs, h)
    # An ulp of h or of an inertia moves m by the number of growth times.
    bound = 8 * EPS * (1 + h) + 4 * EPS * np.log(1 / off)
    assert np.abs((m - exact_m[:, 0]) - exact_m[:, 1]).max() <= bound
    assert np.abs((q - exact_q[:, 0]) - exact_q[:, 1]).max() <= bound


# From one end of axis 2 to the other: moments, m, h, q from q0 = 1.  mpmath in 140 digits: Jacobi
# functions and Euler angles that are not reduced.
FROM_END_TO_END = (
    ((1.0, 2.0, 3.0), (1e-26, 1.0, 1e-25), 331.93729604627447,
     (2.69e-17, -0.7113942442722, 9.8e-17, 0.7027931624712)),
    ((1.0, 2.0, 3.0), (1e-26, 1.0, 1e-25), 380.0,
     (7.0e-23, -0.9739797103614, 6.5e-23, 0.2266352218974)),
    ((1.0352175514008557, 1.3287712532267704, 0.5583054275638888),
     (-1.0, -5.2461032108563225e-18, 7.107851182142662e-19), -201.10556869992357,
     (-8.4e-18, 1.4e-17, 0.6652331659588, 0.7466356774950)),
    ((2.7728609702280465, 1.2195467330007548, 1.4276973882599306),
     (4.32286257352351e-29, -7.875135827052713e-29, 1.0), 712.4192796732515,
     (5.5e-25, -0.2745790081581, 0.9615645419206, -5.2e-25)),
    ((2.123391676543678, 1.3593821216974566, 1.729614056688483),
     (6.2418962253172506e-27, -5.109570306152287e-27, 1.0), 1057.105285487697,
     (-1.0e-22, -0.1647878130242, 0.9863290407763, 5.9e-23)),
)  # fmt: skip
ONE_MOTION = ("exact", "frb", "motion")


def one_motion(kernel: str, inertia: object, m: object, h: object) -> np.ndarray:
    """The attitude after h, from the unit quaternion."""
    q0 = [1.0, 0.0, 0.0, 0.0]
    if kernel == "motion":
        return np.asarray(ph.TorqueFreeMotion(inertia, m, q0)(h)[1])
    return np.asarray(ph.step(inertia, m, q0, h, method=kernel)[1])


@pytest.mark.parametrize("kernel", ONE_MOTION)
@pytest.mark.parametrize(("inertia", "m", "h", "q"), FROM_END_TO_END)
def test_from_one_end_of_axis_2_to_the_other(
    kernel: str,
    inertia: tuple[float, ...],
    m: tuple[float, ...],
    h: float,
    q: tuple[float, ...],
) -> None:
    close(one_motion(kernel, inertia, m, h), q, atol=1e-12)


@pytest.mark.parametrize("kernel", ["exact", "frb"])
def test_kernels_of_one_motion_give_one_quaternion(kernel: str) -> None:
    """Bodies of every shape that leave either end of axis 2 as slowly as 1e-40 |m| allows."""
    rng = np.random.default_rng(2)
    n = 20_000
    width = rng.choice([0.1, 1.0, 3.0], size=(n, 1))
    inertia = np.sort(np.exp(width * rng.normal(size=(n, 3))), axis=1)
    flat = rng.random(n) < 0.3
    inertia[flat, 2] = inertia[flat, 0] + inertia[flat, 1]
    m = rng.normal(size=(n, 3)) * 10.0 ** -rng.integers(0, 40, size=(n, 3)).astype(float)
    m[:, 1] = rng.choice([-1.0, 1.0], size=n)
    I1, I2, I3 = inertia.T
    growth = np.sqrt((1 / I2 - 1 / I3) * (1 / I1 - 1 / I2))
    off = np.log(1 / np.maximum(abs(m[:, 0]), abs(m[:, 2])))
    h = rng.uniform(-9, 9, n) * (off + 1) / growth
    order = rng.permuted(np.tile([0, 1, 2], (n, 1)), axis=1)
    inertia, m = np.take_along_axis(inertia, order, 1), np.take_along_axis(m, order, 1)
    got, want = (one_motion(k, inertia, m, h) for k in (kernel, "motion"))
    cosine = np.sum(got * want, axis=1)
    # The angle between the two is for the tests of accuracy, the sign is not a matter of digits.
    close(np.sign(cosine), np.ones(n), what="sign of q")
    assert cosine.min() > 0.9
