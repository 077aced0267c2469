"""
The two periods of a tumbling asteroid
======================================

The light curve of an asteroid that does not rotate about a principal axis has two periods: one of
the rotation about the long axis, one of the precession of the long axis about the angular
momentum. This script finds the motion of a body with the two periods of (4179) Toutatis, computes
its light curve in closed form, and recovers both periods from the spectrum of the light curve.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

# %%
# The body
# --------
#
# Radar observers describe Toutatis as 4.60 km long, 2.40 km wide and 1.92 km thick. It turns about
# its long axis in 5.41 days, and the long axis turns about the angular momentum in 7.35 days, on
# average (R. S. Hudson and S. J. Ostro, Science 270 (1995) 84). The model is a homogeneous
# ellipsoid of this size. Units: days, kilometres and a fifth of the mass.

half_axes = np.array([2.30, 1.20, 0.96])  # km
inertia = np.sum(half_axes**2) - half_axes**2
ROTATION, PRECESSION = 5.41, 7.35  # days

# %%
# The motion with two given periods
# ---------------------------------
#
# In the long-axis mode the angular momentum circles the long axis in the rotation period; the
# precession period is the mean period of the long axis about the angular momentum. Their ratio
# determines the angle between the two, the nutation.

motion = ph.TorqueFreeMotion.from_periods(
    inertia, ROTATION, PRECESSION, mode="long-axis", psi0=np.pi / 2, pole=[0.6, 0.8, 0.0]
)
rotation = motion.period
precession = 2 * np.pi / motion.precession_rate
least, greatest = np.degrees(motion.nutation)
print(f"angle between long axis and angular momentum: {least:.2f} to {greatest:.2f} degrees")
assert abs(rotation - ROTATION) < 1e-12
assert abs(precession - PRECESSION) < 1e-12

# %%
# The momentum in the body, and the tip of the angular velocity in space: the herpolhode.

motion.plot(np.linspace(0.0, 60.0, 3000), panels=["momentum", "herpolhode"], time_unit="day")
plt.show()

# %%
# The light curve
# ---------------
#
# The surface is divided into facets with normal :math:`n` and area :math:`A`. A facet that the Sun
# and the observer both see contributes :math:`A \mu_0 \mu / (\mu_0 + \mu)`, where :math:`\mu_0` and
# :math:`\mu` are the cosines of the angles from the normal to the Sun and to the observer (law of
# Lommel and Seeliger). The two directions are fixed in space, 30 degrees apart.

N_FACETS = 600
N_DAYS = 400
SAMPLES = 16  # per day

number = np.arange(N_FACETS) + 0.5
height, turn = 1 - 2 * number / N_FACETS, np.pi * (1 + 5**0.5) * number
ring = np.sqrt(1 - height**2)
sphere = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=-1)
area_normal = sphere / half_axes * half_axes.prod() * 4 * np.pi / N_FACETS  # km^2
area = np.linalg.norm(area_normal, axis=-1)
normal = area_normal / area[:, None]


def brightness(q, to_sun, to_observer):
    """Light of all facets (km^2) for directions in space."""
    mu0 = np.maximum(ph.so3.rotate(ph.so3.conjugate(q), to_sun) @ normal.T, 0.0)
    mu = np.maximum(ph.so3.rotate(ph.so3.conjugate(q), to_observer) @ normal.T, 0.0)
    return np.divide(mu0 * mu, mu0 + mu, out=np.zeros_like(mu), where=mu0 * mu > 0) @ area


# %%
# Test of the facets: if the Sun stands behind the observer, the light is half of the projected
# area, which has a closed form for an ellipsoid.

to_sun = np.array([0.0, 0.28, 0.96])
across = np.array([1.0, 0.0, 0.0])
to_observer = np.cos(np.radians(30)) * to_sun + np.sin(np.radians(30)) * across
t = np.arange(N_DAYS * SAMPLES) / SAMPLES
m, q = motion(t)

seen = ph.so3.rotate(ph.so3.conjugate(q), to_sun)
projected = np.pi * np.linalg.norm(half_axes.prod() / half_axes * seen, axis=-1)
by_facets = brightness(q, to_sun, to_sun)
error = np.abs(2 * by_facets / projected - 1).max()
print(f"{N_FACETS} facets: largest error of the projected area {100 * error:.2f} %")
assert error < 0.01

light = brightness(q, to_sun, to_observer)
magnitude = -2.5 * np.log10(light / light.mean())

figure, axes = plt.subplots(figsize=(12.0, 5.0))
days = t <= 60
axes.plot(t[days], magnitude[days], color="C0")
axes.invert_yaxis()
axes.set(xlabel="time (days)", ylabel="relative magnitude", title="light curve, bright is up")

# %%
# The spectrum
# ------------
#
# The light curve contains the frequencies :math:`k f_p + l f_r` with the frequencies :math:`f_p` of
# precession and :math:`f_r` of rotation. An ellipsoid looks the same after half a turn about its
# long axis, so that only even :math:`l` occur.

N_PEAKS = 8
window = np.blackman(len(t))
padded = 16 * len(t)
amplitude = 2 * np.abs(np.fft.rfft(window * (magnitude - magnitude.mean()), padded)) / window.sum()
frequency = np.fft.rfftfreq(padded, 1 / SAMPLES)  # cycles per day

peaks = np.flatnonzero((amplitude[1:-1] > amplitude[:-2]) & (amplitude[1:-1] > amplitude[2:])) + 1
peaks = peaks[np.argsort(-amplitude[peaks])][:N_PEAKS]
combinations = np.array([(k, j) for k in range(-4, 7) for j in range(0, 7, 2)])
expected = combinations @ [1 / precession, 1 / rotation]
nearest = np.abs(expected - frequency[peaks, None]).argmin(axis=1)

print("peak (cycles/day)  amplitude (mag)    k   l   k f_p + l f_r")
for peak, i in zip(peaks, nearest, strict=True):
    k, j = combinations[i]
    print(f"{frequency[peak]:17.5f}{amplitude[peak]:17.4f}{k:6d}{j:4d}{expected[i]:16.5f}")
    assert abs(expected[i] - frequency[peak]) < 0.5 / N_DAYS

# %%
# The two frequencies that fit these peaks best, in the sense of least squares weighted by
# amplitude, give the periods from the light curve alone:

weight = amplitude[peaks, None]
fitted = np.linalg.lstsq(weight * combinations[nearest], weight[:, 0] * frequency[peaks])[0]
for name, value, closed in zip(
    ("precession", "rotation"), 1 / fitted, (precession, rotation), strict=True
):
    print(f"{name}: {value:.4f} days from the spectrum, {closed:.4f} days from the closed form")
    assert abs(value / closed - 1) < 1e-3

figure, axes = plt.subplots(figsize=(12.0, 5.5))
shown = frequency < 1.1
axes.semilogy(frequency[shown], amplitude[shown], color="C0", linewidth=1.2)
axes.plot(frequency[peaks], amplitude[peaks], "o", color="C1")
for peak, i in zip(peaks, nearest, strict=True):
    k, j = combinations[i]
    name = f"${k}f_p+{j}f_r$".replace("0f_p+", "").replace("+0f_r", "").replace("1f", "f")
    axes.annotate(
        name, (frequency[peak], amplitude[peak]), (0, 8), textcoords="offset points", rotation=45
    )
axes.set_ylim(1e-4, 3.0)
axes.set(xlabel="frequency (cycles/day)", ylabel="amplitude (magnitudes)")
axes.set_title("spectrum of the light curve")
plt.show()
