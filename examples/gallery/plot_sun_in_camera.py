"""
When does the Sun blind a camera?
=================================

A satellite tumbles after a failure. Its camera must not look within 14 degrees of the Sun. This
script finds all times of an hour at which the Sun enters and leaves this cone,
``TorqueFreeMotion.crossings``, short passages included, and compares them with a search on a grid.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

# %%
# The satellite
# -------------
#
# SI units. The camera looks along (0, 0.6, 0.8) in the body, the direction to the Sun is fixed in
# space.

motion = ph.TorqueFreeMotion([30.0, 45.0, 60.0], [0.9, 2.1, 1.5], [1.0, 0.0, 0.0, 0.0])
camera, sun = np.array([0.0, 0.6, 0.8]), np.array([0.36, 0.48, 0.8])
ANGLE = 14.0  # degrees
HOUR = 3600.0
cone = np.cos(np.radians(ANGLE))

# %%
# All passages
# ------------
#
# ``direction`` separates the two kinds. At the start and at the end the Sun is outside the cone.

enters, leaves = (
    motion.crossings(0.0, HOUR, body=camera, space=sun, level=cone, direction=d) for d in (1, -1)
)
spans = leaves - enters
print(f"{len(spans)} passages, of {spans.min():.2f} to {spans.max():.2f} s, {spans.sum():.1f} s")


def cosine(t):
    """Cosine of the angle between camera and Sun."""
    return ph.so3.rotate(motion(t)[1], camera) @ sun


assert np.abs(cosine(np.concatenate([enters, leaves])) - cone).max() < 1e-12

# %%
# A search on a grid of times misses what is shorter than a step.

for step in (60.0, 10.0, 1.0):
    inside = cosine(np.arange(0.0, HOUR, step)) > cone
    found = np.count_nonzero(inside[1:] & ~inside[:-1])
    print(f"grid of {step:g} s: {found} passages")

# %%
# The picture
# -----------

t = np.linspace(0.0, HOUR, 7201)
figure, axes = plt.subplots(figsize=(9.0, 3.6), layout="constrained")
axes.plot(t, np.degrees(np.arccos(cosine(t))), linewidth=0.8)
axes.axhline(ANGLE, color="0.5", linestyle="--")
axes.plot(enters, 0 * enters + ANGLE, "o", markersize=4, label="the Sun enters")
axes.plot(leaves, 0 * leaves + ANGLE, "s", markersize=4, label="the Sun leaves")
axes.set(xlabel="t (s)", ylabel="camera to Sun (degrees)", ylim=(0.0, 180.0))
axes.legend()
plt.show()
