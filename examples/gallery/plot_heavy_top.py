"""
A heavy top on its torus
========================

Celledoni and Zanna integrate a heavy top over 100,000 steps. The tip of the angular momentum in the
body moves on a thin torus, which they show in Figure 7 of their report [CZ08]. This script computes
the same trajectory, compares it with reference values in quadruple precision, and looks at a cross
section of the torus.
"""

import tomllib
from importlib import resources

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

# %%
# The top of the report
# ---------------------
#
# The data of the report are installed with polhode. All quantities are dimensionless there: the
# angular momentum has length 1 at the start, the kinetic energy is 0.207 and the weight 0.001.

data = resources.files("polhode") / "data"
top = tomllib.loads((data / "example1.toml").read_text(encoding="utf-8"))
h = top["h"]
N_STEPS = 100_000
path = ph.integrate(
    top["inertia"], top["m0"], np.array(top["Q0"]), h, N_STEPS,
    torque=ph.torques.HeavyTop(u0=top["u0"]), splitting="rkn6_14",
)  # fmt: skip
print(f"{N_STEPS} steps of {h}, t = 0 to {path.t[-1]:g}")

# %%
# The reference values are Taylor series in quadruple precision at three times. A change of the
# inputs by one ulp already changes the last of them by 4e-13.

text = (data / "example1_reference.toml").read_text(encoding="utf-8")
for point in tomllib.loads(text)["point"]:
    save = round(point["t"] / h)
    if save <= N_STEPS:
        error = np.abs(path.m[save] - point["m"]).max()
        print(f"t = {point['t']:6g}: error of the angular momentum {error:.1e}")
        assert error < 1e-11

# %%
# Energy
# ------
#
# The kinetic energy changes with the height of the centre of mass. The total energy is conserved.

total = path.energy()
kinetic = ph.energy(path.inertia, path.m)
drift = np.abs(total / total[0] - 1)
print(f"largest relative change: kinetic energy {np.ptp(kinetic) / kinetic[0]:.1e}, ", end="")
print(f"total energy {drift.max():.1e}")
assert drift.max() < 1e-12

# %%
# The torus
# ---------
#
# Left: the tip of the angular momentum in the body, every fifth step. Right: a cross section. Each
# time the tip passes the half plane at an angle of 0.9 rad about axis 3, the crossing is
# interpolated from the eight states around it (Lagrange polynomials in the angle).

AT = 0.9  # rad
radius = np.hypot(path.m[:, 0], path.m[:, 1])
angle = np.unwrap(np.arctan2(path.m[:, 1], path.m[:, 0]))
turns = np.floor((angle - AT) / (2 * np.pi))
last = np.flatnonzero(np.diff(turns))[1:-1]
around = last[:, None] + np.arange(-3, 5)
x = angle[around] - AT - 2 * np.pi * np.maximum(turns[last], turns[last + 1])[:, None]
difference = x[:, :, None] - x[:, None, :] + np.eye(8)
factors = -x[:, None, :] / difference
factors[:, range(8), range(8)] = 1.0
weights = factors.prod(axis=2)
r, z = (np.sum(weights * y[around], axis=1) for y in (radius, path.m[:, 2]))

# %%
# A trajectory on a torus crosses the half plane on one closed curve. A numerical drift would move
# this curve. Test: a Fourier series is fitted to the crossings of the first half of the run; the
# crossings of the second half must lie on it.

size = np.array([np.ptp(r), np.ptp(z)])
u, v = (r - r.mean()) / size[0], (z - z.mean()) / size[1]
around_curve, distance = np.arctan2(v, u), np.hypot(u, v)
orders = np.arange(13) * around_curve[:, None]
series = np.concatenate([np.cos(orders), np.sin(orders[:, 1:])], axis=1)
first = slice(0, len(r) // 2)
fitted = np.linalg.lstsq(series[first], distance[first])[0]
off = np.abs(series @ fitted - distance)[len(r) // 2 :].max()
print(f"{len(r)} crossings; the second half is off the curve of the first by {off:.1e} of its size")
assert off < 2e-3

figure = plt.figure(figsize=(12.0, 6.0))
grid = figure.add_gridspec(1, 2, width_ratios=(1.4, 1.0))
whole = figure.add_subplot(grid[0], projection="3d")
shown = slice(0, 50_000, 5)
dots = whole.scatter(*path.m[shown].T, s=2, c=kinetic[shown], rasterized=True)
whole.set(xlabel="$m_1$", ylabel="$m_2$", zlabel="$m_3$", zticks=(-0.9165, -0.916, -0.9155))
whole.set(xticks=(-0.4, 0, 0.4), yticks=(-0.4, 0, 0.4), title="angular momentum in the body")
for axis, pad in ((whole.xaxis, 8), (whole.yaxis, 8), (whole.zaxis, 30)):
    axis.labelpad = pad
whole.tick_params("z", pad=14)
whole.set_box_aspect((1, 1, 0.8), zoom=0.95)
figure.colorbar(dots, ax=whole, location="left", shrink=0.7, pad=0.0, label="kinetic energy")
section = figure.add_subplot(grid[1])
section.plot(1e3 * (r - 0.401), 1e5 * (z + 0.9157), ".", markersize=2, color="C0", label="all")
section.plot(
    1e3 * (r[:40] - 0.401), 1e5 * (z[:40] + 0.9157), "o", color="C1", label="the first 40 crossings"
)
section.set(xlabel=r"$10^3\,((m_1^2 + m_2^2)^{1/2} - 0.401)$", ylabel="$10^5\\,(m_3 + 0.9157)$")
section.set_title("cross section of the torus")
section.legend(loc="center")
plt.show()
