"""
A rolling ship with linear and quadratic damping
================================================

A ship that was heeled to 15 degrees is released in calm water. Tests of models give the damping of
roll from the decrease of successive amplitudes: friction and waves give a damping that is
proportional to the roll rate, bilge keels one that is proportional to its square. This script
computes both decays and compares them with theory. At last, cargo that is stowed obliquely makes
the ship yaw while it rolls.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

# %%
# The ship
# --------
#
# The supply ship of Gustafsson's thesis [Gus10]: axes ahead, abeam and vertical, SI units. For
# small angles the ship rolls with the rate :math:`(m g\, GM_T / I_1)^{1/2}`.

MASS, GRAVITY = 6.3622e6, 9.81  # kg, m/s^2 (9.81 is also the default of the model)
GM_LONG, GM_TRANS = 103.628, 2.1444  # metacentric heights, m
moments = np.array([3.2164e8, 5.4782e9, 5.7426e9])  # kg m^2
roll_rate = np.sqrt(MASS * GRAVITY * GM_TRANS / moments[0])  # rad/s
print(f"period of small roll: {2 * np.pi / roll_rate:.3f} s")

HEEL = np.radians(15.0)
start = ph.so3.exp([HEEL, 0.0, 0.0])
STEP = 0.05  # s
N_STEPS = 5000


def roll(path):
    """Roll angle (rad)."""
    up = ph.so3.rotate(ph.so3.conjugate(path.q), [0.0, 0.0, 1.0])
    return np.arctan2(up[..., 1], up[..., 2])


def extremes(t, angle):
    """Times and sizes of the extremes of roll, by a parabola through three points."""
    k = np.flatnonzero((angle[1:-1] - angle[:-2]) * (angle[2:] - angle[1:-1]) < 0) + 1
    before, here, after = np.abs(angle[k - 1]), np.abs(angle[k]), np.abs(angle[k + 1])
    shift = 0.5 * (before - after) / (before - 2 * here + after)
    return t[k] + shift * (t[1] - t[0]), here - 0.25 * (before - after) * shift


# %%
# Without damping
# ---------------
#
# The restoring moment of ``ph.torques.Vessel`` is :math:`-m g\, GM_T \sin\phi \cos\phi`, so that
# :math:`2\phi` moves as a pendulum. Its period at a large angle is known: a complete elliptic
# integral.

free = ph.torques.Vessel(MASS, GM_LONG, GM_TRANS)
path = ph.integrate(moments, [0.0, 0.0, 0.0], start, STEP, 1000, torque=free, splitting="rkn6_14")
at, size = extremes(path.t, roll(path))
computed = 2 * np.diff(at).mean()
theory = 4 * ph.elliptic.ellip_k(np.sin(HEEL) ** 2) / roll_rate
print(f"period at {np.degrees(HEEL):.0f} degrees: {computed:.5f} s, theory {theory:.5f} s")
assert abs(computed / theory - 1) < 1e-5

# %%
# Linear and quadratic damping
# ----------------------------
#
# Linear damping is a parameter of the model. The quadratic damping :math:`-C\,|\omega_1|\,\omega_1`
# is a Python function, which is added to the model in a list. :math:`C` is chosen so that both take
# the same energy from the first swing. If the damping is weak, the amplitude :math:`A` decreases as
# :math:`A' = -\zeta \omega A`, an exponential function, and as :math:`A' = -(4/3\pi)(C/I_1)\,\omega
# A^2`, for which :math:`1/A` grows linearly.

ZETA = 0.02
linear = 2 * ZETA * roll_rate * moments[0]  # N m s
quadratic = 3 * np.pi * linear / (8 * roll_rate * HEEL)  # N m s^2


def bilge_keels(m):
    """Quadratic damping of roll (N m)."""
    omega = m[..., 0] / moments[0]
    torque = np.zeros_like(m)
    torque[..., 0] = -quadratic * np.abs(omega) * omega
    return torque


damped = ph.torques.Vessel(MASS, GM_LONG, GM_TRANS, damping=[linear, 0.0, 0.0])
keels = [free, bilge_keels]
figure, (left, right) = plt.subplots(1, 2, figsize=(13.0, 6.0))
for k, (name, torque) in enumerate((("linear", damped), ("quadratic", keels))):
    path = ph.integrate(moments, [0.0, 0.0, 0.0], start, STEP, N_STEPS, torque=torque)
    at, size = extremes(path.t, roll(path))
    if name == "linear":
        theory = HEEL * np.exp(-ZETA * roll_rate * at)
    else:
        theory = HEEL / (1 + ZETA * roll_rate * at)
    error = np.abs(size / theory - 1).max()
    print(f"{name} damping: last amplitude {np.degrees(size[-1]):.3f} degrees, ", end="")
    print(f"largest difference from the theory of weak damping {100 * error:.1f} %")
    assert error < 0.05
    shown = path.t <= 100
    left.plot(path.t[shown], np.degrees(roll(path)[shown]), "-" if k == 0 else "--", label=name)
    marker = {"marker": "os"[k], "markevery": 3, "fillstyle": "none", "linestyle": ""}
    right.semilogy(at, np.degrees(size), color=f"C{k}", label=f"{name}, computed", **marker)
    right.plot(at, np.degrees(theory), color=f"C{k}", linewidth=1.5, label=f"{name}, theory")
left.set(xlabel="time (s)", ylabel="roll (degrees)", title="roll of the ship")
right.set(xlabel="time (s)", ylabel="amplitude of roll (degrees)", title="decay of the amplitude")
right.set_yticks([0.5, 1, 2, 5, 10, 15], labels=[0.5, 1, 2, 5, 10, 15])
right.set_yticks([], minor=True)
left.legend()
right.legend()

# %%
# Oblique cargo
# -------------
#
# Cargo ahead on one deck and astern on another gives a product of inertia between roll and yaw.
# ``ph.RigidBody`` takes the full tensor; the model and its damping stay in the axes of the ship.
# Nothing turns the ship about the vertical, so that a small yaw must follow the roll: :math:`\psi =
# -(I_{13}/I_{33})\,\phi` up to a constant.

PRODUCT = 2.0e8  # kg m^2
tensor = np.diag(moments)
tensor[0, 2] = tensor[2, 0] = PRODUCT
ship = ph.RigidBody(tensor)
path = ship.integrate([0.0, 0.0, 0.0], start, STEP, 800, torque=damped)
Q = ph.so3.to_matrix(path.q)
yaw = np.arctan2(Q[:, 1, 0], Q[:, 0, 0])
expected = -PRODUCT / moments[2] * (roll(path) - HEEL)
error = np.abs(yaw - expected).max() / np.ptp(expected)
print(f"yaw up to {np.degrees(np.ptp(yaw)):.2f} degrees; ", end="")
print(f"difference from the theory of small angles {100 * error:.1f} %")
assert error < 0.1

figure, axes = plt.subplots()
axes.plot(path.t, np.degrees(yaw), label="computed")
axes.plot(path.t, np.degrees(expected), "--", label="theory of small angles")
axes.set(xlabel="time (s)", ylabel="yaw (degrees)", title="yaw of the ship with oblique cargo")
axes.legend()
plt.show()
