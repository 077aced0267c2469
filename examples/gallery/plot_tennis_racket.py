"""
The flip of a tennis racket
===========================

A racket is thrown with a spin about the axis of its middle moment of inertia. It does not keep this
axis: at regular intervals it turns over by half a turn. How long does it take until the first flip,
and what does the motion look like in the body and in space?
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import polhode as ph

plt.style.use("polhode.pictures")
# sphinx_gallery_thumbnail_number = 2

# %%
# The racket and the throw
# ------------------------
#
# The axes of the body are: 1 along the handle, 2 in the plane of the head, 3 normal to the head.
# The racket spins about axis 2 with 10 rad/s. The throw is inaccurate: there are also 0.05 and 0.15
# rad/s about the two other axes.

inertia = np.array([0.0015, 0.0165, 0.0178])  # kg m^2
omega0 = np.array([0.05, 10.0, 0.15])  # rad/s
m0 = inertia * omega0
motion = ph.TorqueFreeMotion(inertia, m0, [1.0, 0.0, 0.0, 0.0])
print(f"{motion.regime.name}: period of the angular momentum in the body {motion.period:.6f} s")

# %%
# ``motion`` is the closed form: it can be evaluated at any time, without steps. The same period
# follows from the complete elliptic integral :math:`K` and from the motion itself: the racket turns
# over twice per period, where the component 2 of the angular velocity changes its sign.

N_TIMES = 4001
t = np.linspace(0.0, 2.5 * motion.period, N_TIMES)
m, q = motion(t)
omega = ph.omega(inertia, m)

I1, I2, I3 = inertia
w1, w2, w3 = omega0**2
B = I2 * (I2 - I1) * w2 + I3 * (I3 - I1) * w3
kc2 = (I3 - I1) * (I3 * (I3 - I2) * w3 - I1 * (I2 - I1) * w1) / ((I3 - I2) * B)
rate = np.sqrt((I3 - I2) * B / (I1 * I2 * I3))  # rad/s
by_integral = 4 * ph.elliptic.ellip_k(1 - kc2, kc2) / rate

change = np.flatnonzero(omega[:-1, 1] * omega[1:, 1] < 0)
flips = t[change] - omega[change, 1] * (t[1] - t[0]) / (omega[change + 1, 1] - omega[change, 1])
difference = abs(by_integral - motion.period)
print(f"period from 4 K(k)/rate: {by_integral:.6f} s, difference {difference:.0e} s")
print(f"first flip after {flips[0]:.4f} s; between two flips {np.diff(flips)[0]:.4f} s")
assert difference < 1e-13
assert np.all(np.abs(2 * np.diff(flips) / motion.period - 1) < 1e-4)

# %%
# The angular momentum in space is conserved to rounding, although the attitude does not repeat:

in_space = ph.momentum_spatial(m, q)
error = np.abs(in_space - in_space[0]).max() / np.linalg.norm(m0)
print(f"largest relative change of the angular momentum in space: {error:.1e}")
assert error < 1e-14

figure, axes = plt.subplots()
for k, name in enumerate(("1 (handle)", "2 (middle moment)", "3 (normal to the head)")):
    axes.plot(t, omega[:, k], "--" if k == 2 else "-", label=name)
for flip in flips:
    axes.axvline(flip, color="0.5", linestyle=":", label="flip" if flip == flips[0] else None)
axes.set(xlabel="time (s)", ylabel="angular velocity in the body (rad/s)")
figure.legend(title="about body axis", loc="outside lower center", ncols=4)

# %%
# Polhode and herpolhode
# ----------------------
#
# The tip of the angular velocity draws the *polhode* on the ellipsoid of constant energy, in the
# body, and the *herpolhode* in the plane normal to the angular momentum, in space. Poinsot: the
# ellipsoid rolls on this plane without slipping. The polhode is closed. The herpolhode is not; it
# stays between two circles, whose radii follow from the extremes of :math:`|\omega|`. The scales of
# the three body axes are chosen so that the ellipsoid looks like a sphere.

first = np.cross(in_space[0], [0.0, 0.0, 1.0])
first /= np.linalg.norm(first)
second = np.cross(in_space[0], first) / np.linalg.norm(in_space[0])
spatial = ph.so3.rotate(q, omega)
x, y = spatial @ first, spatial @ second

energy = ph.energy(inertia, m0)  # J
half = np.sqrt(2 * energy / inertia)  # half axes of the ellipsoid, rad/s
arc = np.linspace(0.15, np.pi / 2, 6)
starts = half * np.concatenate([
    np.stack([np.cos(arc), 0 * arc, np.sin(arc)], axis=1),
    np.stack([-np.cos(arc), 0 * arc, -np.sin(arc)], axis=1),
])  # fmt: skip
others = ph.TorqueFreeMotion(inertia, starts * inertia, [1.0, 0.0, 0.0, 0.0])
turn = np.linspace(0.0, 1.0, 201)[:, None] * np.where(np.isfinite(others.period), others.period, 0)
polhodes = ph.omega(inertia, others(turn)[0])

figure = plt.figure(figsize=(12.0, 7.0))
body = figure.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 61), np.linspace(0, np.pi, 31))
ball = half[:, None, None] * np.array([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
body.plot_surface(*ball, color="C5", alpha=0.25, linewidth=0)
for k in range(len(starts)):
    body.plot(*polhodes[:, k].T, color="0.5", linewidth=0.8, label=None if k else "other starts")
once = t <= motion.period
body.plot(*omega[once].T, color="C1", linewidth=3, label="polhode of the racket")
body.set(xlabel="axis 1 (rad/s)", ylabel="axis 2 (rad/s)", zlabel="axis 3 (rad/s)")
body.set_title("in the body: energy ellipsoid")
body.view_init(elev=30, azim=50)
body.set_box_aspect((1, 1, 1), zoom=0.87)
body.locator_params(nbins=5)
for axis in (body.xaxis, body.yaxis, body.zaxis):
    axis.labelpad = 10

space = figure.add_subplot(1, 2, 2)
space.plot(x, y, linewidth=1.0, color="C0", label="herpolhode")
height = 2 * energy / np.linalg.norm(m0)  # distance of the plane from the centre, rad/s
speed = np.linalg.norm(omega, axis=1)
for extreme, style in ((speed.max(), "--"), (speed.min(), ":")):
    radius = np.sqrt(extreme**2 - height**2)
    circle = plt.Circle((0, 0), radius, fill=False, color="C1", linestyle=style, linewidth=2)
    circle.set_label(f"circle of radius {radius:.2f} rad/s")
    space.add_patch(circle)
space.set(xlabel="first direction in the plane (rad/s)", ylabel="second direction (rad/s)")
space.set_aspect("equal", adjustable="datalim")
space.set_title("in space: invariable plane")
figure.legend(loc="outside lower center", ncols=3)

# %%
# The flip itself
# ---------------
#
# An animation of one period: the head and the handle in space, with the two faces of the head in
# different colours. The dashed line is the axis of the angular momentum.

N_FRAMES = 32
angle = np.linspace(0, 2 * np.pi, 41)
head = np.stack([0.17 * np.cos(angle) + 0.15, 0.13 * np.sin(angle), 0 * angle])  # m
handle = np.array([[-0.02, -0.35], [0.0, 0.0], [0.0, 0.0]])
moments = np.linspace(0.0, motion.period, N_FRAMES, endpoint=False)
Q = ph.so3.to_matrix(motion(moments)[1])

figure = plt.figure(figsize=(5.5, 5.0), layout="none")
view = figure.add_subplot(projection="3d")
view.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3), zlim=(-0.3, 0.3))
view.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
view.set(xticks=(-0.2, 0, 0.2), yticks=(-0.2, 0, 0.2), zticks=(-0.2, 0, 0.2))
view.set_box_aspect((1, 1, 1), zoom=0.9)
view.view_init(elev=20, azim=-50)
along = 0.4 * np.outer(in_space[0] / np.linalg.norm(in_space[0]), [-1, 1])
view.plot(*along, "k--", linewidth=1.0)
(stick,) = view.plot([], [], [], color="C6", linewidth=5)
front, back = (Poly3DCollection([np.zeros((3, 3))], facecolor=c) for c in ("C0", "C1"))
view.add_collection3d(front)
view.add_collection3d(back)


def draw(frame):
    """Place the racket; the face towards the viewer is drawn last."""
    for face, side in ((front, 0.004), (back, -0.004)):
        face.set_verts([(Q[frame] @ (head + np.array([[0], [0], [side]]))).T])
    stick.set_data_3d(Q[frame] @ handle)
    view.set_title(f"t = {moments[frame]:.2f} s")


draw(0)
animation = FuncAnimation(figure, draw, frames=N_FRAMES, interval=100)
plt.show()
