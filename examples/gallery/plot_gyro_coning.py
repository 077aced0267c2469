"""
Attitude from gyroscope data, with coning
=========================================

Gyroscopes measure the angular velocity in the body. If a vibration moves an axis of the body on a
cone (coning), a simple integration of the data has an error that grows with time. This script
integrates the data with methods of order 1 to 8 and compares the result with the closed form of the
motion: first with exact rates, then with a log as sensors write it.
"""

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

# %%
# Coning motion
# -------------
#
# The body turns by the constant angle :math:`\theta` about an axis that itself turns with the rate
# :math:`\beta` in a plane. This is the attitude and its angular velocity in the body:

HALF_ANGLE = np.radians(1.0)
CONING = 2 * np.pi * 10.0  # rad/s


def attitude(t):
    """Attitude of the coning motion, shape (..., 4)."""
    phase = CONING * np.asarray(t)
    c, s = np.cos(HALF_ANGLE / 2), np.sin(HALF_ANGLE / 2)
    return np.stack([c + 0 * phase, s * np.cos(phase), s * np.sin(phase), 0 * phase], axis=-1)


def rate(t):
    """Angular velocity of the coning motion in the body (rad/s), shape (..., 3)."""
    phase = CONING * np.asarray(t)
    side = CONING * np.sin(HALF_ANGLE)
    along = -CONING * (1 - np.cos(HALF_ANGLE))
    return np.stack([-side * np.sin(phase), side * np.cos(phase), along + 0 * phase], axis=-1)


def error_angle(q, t):
    """Angle between a computed attitude and the coning motion (rad)."""
    return ph.so3.angle_between(q, attitude(t))


# %%
# The order of the method
# -----------------------
#
# If the angular velocity is known as a function, ``ph.attitude_from_rate`` evaluates it at the
# nodes of Gauss's rule in each step. The error after one second falls with the power of the step
# that the order promises, down to rounding.

figure, axes = plt.subplots()
steps = np.array([20, 40, 80, 160, 320, 640])
for k, order in enumerate((2, 4, 6, 8)):
    errors = np.array(
        [
            error_angle(ph.attitude_from_rate(rate, attitude(0), 1 / n, n, order=order), 1.0)
            for n in steps
        ]
    )
    axes.loglog(1000 / steps, errors, "osD^"[k] + "-", label=f"order {order}")
    clear = np.flatnonzero(errors > 1e-11)[-2:]
    observed = np.log2(errors[clear[0]] / errors[clear[1]])
    print(f"order {order}: error {errors[-1]:.1e} rad at 1.56 ms, observed order {observed:.2f}")
    assert abs(observed - order) < 0.3
axes.set(xlabel="step (ms)", ylabel="error of the attitude after 1 s (rad)")
axes.set_xticks([2, 5, 10, 20, 50], labels=[2, 5, 10, 20, 50])
axes.set_xticks([], minor=True)
axes.legend()

# %%
# The log of a sensor
# -------------------
#
# A log has its own units and order: here stamps in nanoseconds since 1970, 200 a second with
# jitter, rates in degrees per second with noise, and the attitude at the start from another
# instrument, as a quaternion x, y, z, w. Some rows are lost.

DURATION = 60.0  # s
INTERVAL = 0.005  # s
NOISE = np.radians(0.1) / 60  # rad/s^(1/2): an angle random walk of 0.1 degrees per root hour
random = np.random.default_rng(5)
row = np.arange(round(DURATION / INTERVAL) + 1)
row = row[(row < len(row) // 2) | (row > len(row) // 2 + 8)]
nanoseconds = np.rint(1e9 * INTERVAL * (row + random.uniform(-0.2, 0.2, len(row)))).astype(int)
time = 1e-9 * nanoseconds
noise = random.normal(scale=NOISE / np.sqrt(INTERVAL), size=(len(row), 3))
log = {
    "stamp": 1_700_000_000_000_000_000 + nanoseconds,
    "gyro": np.degrees(rate(time) + noise),
    "start": np.roll(attitude(time[0]), -1),
}

# %%
# Convert once: subtract the first stamp while the numbers are integers; degrees to radians; x, y,
# z, w to w, x, y, z. A limit for gaps shows where rows are missing.

t = (log["stamp"] - log["stamp"][0]) * 1e-9
omega = np.radians(log["gyro"])
q0 = np.roll(log["start"], 1)
try:
    ph.attitude_from_rate(omega, q0, t=t, max_gap=0.02)
except ValueError as error:
    print(error)
gap = np.argmax(np.diff(t))  # the last row before the gap

# %%
# The log does not say what the body did in the gap. It is integrated in two parts; the second one
# starts at an attitude from the other instrument.

exact = rate(time)
parts = [slice(0, gap + 1), slice(gap + 1, None)]
orders = (1, 2, 4, 6)


def error_of(samples, order):
    """Error of the attitude at all stamps (rad)."""
    q = [
        ph.attitude_from_rate(samples[part], attitude(time[part][0]), t=t[part], order=order)
        for part in parts
    ]
    return error_angle(np.concatenate(q), time)


figure, axes = plt.subplots()
results = {}
for k, order in enumerate(orders):
    for samples, line, name in ((exact, "-", "exact"), (omega, "--", "noisy")):
        error = results[order, name] = error_of(samples, order)
        label = f"order {order}, {name} samples"
        axes.semilogy(t[1::50], error[1::50], line, color=f"C{k}", label=label)
walk = NOISE * np.sqrt(3 * (t - np.where(t > t[gap], t[gap + 1], 0.0)))
axes.semilogy(t[1::50], walk[1::50], "k:", label="expected random walk")
axes.set(xlabel="time (s)", ylabel="error of the attitude (rad)")
figure.legend(loc="outside lower center", ncols=2)

# %%
# With exact samples each order is better than the one before. With noise, the error of order 4 is
# that of the sensor: the random walk of the three integrated rates.

for order in orders:
    print(f"order {order}: {results[order, 'exact'].max():.1e} rad, ", end="")
    print(f"with noise {results[order, 'noisy'].max():.1e} rad")
print(f"random walk of the sensor: {walk.max():.1e} rad")
worst = [results[order, "exact"].max() for order in orders]
assert worst == sorted(worst, reverse=True)
assert 0.1 * walk.max() < results[4, "noisy"].max() < 5 * walk.max()

# %%
# Angle increments
# ----------------
#
# Better sensors integrate the rate themselves and write the angle from each stamp to the next. The
# drift of order 2, which takes each increment as a rotation vector, is the coning error; orders 4
# and 6 correct it.

middle = time[:-1] + np.diff(time) / 2
half = CONING * np.diff(time) / 2
shrink = np.stack([np.sin(half) / half, np.sin(half) / half, 1 + 0 * half], axis=-1)
increments = rate(middle) * shrink * np.diff(time)[:, None]
drift = {}
for order in (2, 4, 6):
    q = ph.attitude_from_rate(increments, attitude(time[0]), t=time, order=order, increments=True)
    drift[order] = np.degrees(error_angle(q, time)[gap]) / t[gap] * 3600
    print(f"order {order} with increments: {drift[order]:.1e} degrees per hour")
assert drift[2] > 10 * drift[4] > 100 * drift[6]
plt.show()
