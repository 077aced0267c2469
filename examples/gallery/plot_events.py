"""
Events and breaks: when an instrument sees the Sun
==================================================

A small satellite tumbles. Its instrument looks along the third body axis; a thruster fires for ten
seconds. When does the instrument turn towards the Sun, and when away from it? The torque jumps
when the thruster starts and stops: without ``breaks`` every scheme has order 1 there.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

moments = np.array([0.032, 0.045, 0.058])  # kg m^2
omega0 = np.array([0.02, 0.31, 0.11])  # rad/s
q0 = np.array([1.0, 0.0, 0.0, 0.0])
sun = np.array([0.6, -0.48, 0.64])  # direction in space
START, STOP = 61.3, 71.3  # s
DURATION = 180.0


def thruster(t, q):
    """Torque of the thruster, body frame (N m)."""
    fires = START < t < STOP
    return np.broadcast_to(fires * np.array([0.0, -4e-4, 6e-4]), (*q.shape[:-1], 3))


# %%
# Events
# ------
#
# An event is a function of time, momentum and attitude; its zeros are located to rounding. With
# ``direction`` only zeros at which it increases count.


def cosine(t, m, q):
    """Cosine of the angle between the instrument and the Sun."""
    return ph.so3.rotate(q, np.array([0.0, 0.0, 1.0])) @ sun


def sunrise(t, m, q):
    return cosine(t, m, q)


def sunset(t, m, q):
    return cosine(t, m, q)


sunrise.direction, sunset.direction = 1, -1

path = ph.integrate(
    moments, q0=q0, h=1.0, n_steps=round(DURATION), omega0=omega0, torque=thruster,
    splitting="rkn4_6", breaks=[START, STOP], events=[sunrise, sunset],
)  # fmt: skip
rises, sets = path.t_events
print(f"{len(rises)} times towards the Sun, {len(sets)} times away from it")
assert np.abs(cosine(0, 0, path.q_events[0])).max() < 1e-14

# %%
# Between the saves, 1 s apart, ``path(t)`` gives the states of the same scheme.

t = np.linspace(0.0, DURATION, 2000)
m, q = path(t)
figure, (above, below) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
above.plot(t, cosine(t, m, q), label="instrument and Sun")
above.plot(path.t, cosine(path.t, path.m, path.q), ".", color="0.5", markersize=3, label="saves")
above.plot(rises, np.zeros(len(rises)), "^", label="sunrise")
above.plot(sets, np.zeros(len(sets)), "v", label="sunset")
above.axvspan(START, STOP, alpha=0.15)
above.set(xlabel="time (s)", ylabel="cosine")
above.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))

# %%
# Breaks
# ------
#
# The error at the end for shorter and shorter steps, with and without breaks. A step that holds a
# break is done in parts, and the torque is evaluated on the proper side of each.

steps = np.array([60, 120, 240, 480, 960])


def end(n_steps, breaks):
    """Momentum at the end."""
    run = ph.integrate(
        moments, q0=q0, h=DURATION / n_steps, n_steps=n_steps, omega0=omega0, torque=thruster,
        splitting="rkn4_6", breaks=breaks, save_every=n_steps,
    )  # fmt: skip
    return run.m[-1]


exact = end(4 * steps[-1], [START, STOP])
size = np.linalg.norm(exact)
for breaks, label in ([], "without breaks"), ([START, STOP], "with breaks"):
    errors = [np.linalg.norm(end(n, breaks) - exact) / size for n in steps]
    below.loglog(DURATION / steps, errors, "o-", label=label)
    print(label, [f"{error:.0e}" for error in errors])
below.set(xlabel="step (s)", ylabel="relative error of m")
below.legend()
assert errors[-1] < 1e-9
below.set_xticks(DURATION / steps, [f"{h:g}" for h in DURATION / steps])
below.minorticks_off()
plt.show()
