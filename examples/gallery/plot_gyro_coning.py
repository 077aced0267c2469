"""
Attitude from gyroscope data, with coning
=========================================

Gyroscopes measure the angular velocity in the body. If a vibration moves an axis of the body on a
cone (coning), a simple integration of the data has an error that grows with time. This script
integrates the data with methods of order 2 to 8 and compares the result with the closed form of the
motion: first with exact rates, then with samples of a sensor with noise.
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
    difference = ph.so3.multiply(ph.so3.conjugate(attitude(t)), q)
    return np.linalg.norm(ph.so3.log(difference, shortest=True), axis=-1)


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
# Samples of a sensor
# -------------------
#
# A sensor does not measure at the nodes of Gauss's rule but at equal intervals, here 200 times per
# second. One step spans four intervals. The polynomial of degree 4 through its five samples gives
# the rates at the nodes: a product with a constant matrix.

DURATION = 60.0  # s
INTERVAL = 0.005  # s
NOISE = np.radians(0.1) / 60  # rad/s^(1/2): an angle random walk of 0.1 degrees per root hour
h = 4 * INTERVAL
n_steps = round(DURATION / h)
t = INTERVAL * np.arange(4 * n_steps + 1)
exact = rate(t)
random = np.random.default_rng(5)
measured = exact + random.normal(scale=NOISE / np.sqrt(INTERVAL), size=exact.shape)


def integrate(samples, order, every=50):
    """Attitude after every 50 steps."""
    nodes = np.polynomial.legendre.leggauss(order // 2)[0]
    matrix = np.vander(nodes, 5) @ np.linalg.inv(np.vander(np.linspace(-1, 1, 5), 5))
    windows = samples[4 * np.arange(n_steps)[:, None] + np.arange(5)]
    at_nodes = np.einsum("nk,tkc->tnc", matrix, windows)
    q = [attitude(0.0)]
    for k in range(0, n_steps, every):
        q.append(ph.attitude_from_rate(at_nodes[k : k + every], q[-1], h, every, order=order))
    return np.array(q)


figure, axes = plt.subplots()
times = h * np.arange(0, n_steps + 1, 50)
results = {}
for k, order in enumerate((2, 4, 6)):
    for samples, line, name in ((exact, "-", "exact"), (measured, "--", "noisy")):
        error = error_angle(integrate(samples, order), times)
        results[order, name] = error
        label = f"order {order}, {name} samples"
        axes.semilogy(times[1:], error[1:], line, color=f"C{k}", label=label)
walk = NOISE * np.sqrt(3 * times)
axes.semilogy(times[1:], walk[1:], "k:", label="expected random walk")
axes.set(xlabel="time (s)", ylabel="error of the attitude (rad)")
figure.legend(loc="outside lower center", ncols=2)

# %%
# The error of order 2 is a drift at a constant, known rate. Seen from axes that turn with the
# vibration, all steps are equal. The drift per step is the angle of one step minus the turn of
# these axes. With noise, the error of order 6 is the error of the sensor: the random walk of the
# three integrated rates.

step = ph.so3.exp(h * rate(0.0))
turn = ph.so3.exp([0.0, 0.0, h * CONING])
angle = np.linalg.norm(ph.so3.log(ph.so3.multiply(step, turn), shortest=True))
drift = abs(angle - h * CONING) / h
observed = results[2, "exact"][-1] / DURATION
print(f"order 2: drift {observed:.4e} rad/s, by the closed form {drift:.4e} rad/s")
print(f"orders 4 and 6: error after {DURATION:.0f} s {results[4, 'exact'][-1]:.1e} and ", end="")
print(f"{results[6, 'exact'][-1]:.1e} rad; with noise {results[6, 'noisy'][-1]:.1e} rad")
print(f"random walk of the sensor: {walk[-1]:.1e} rad")
assert abs(observed / drift - 1) < 0.01
assert 0.1 * walk[-1] < results[6, "noisy"][-1] < 3 * walk[-1]
plt.show()
