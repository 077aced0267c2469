"""
Work and precision of free steps
================================

Which method needs the least time for a given error? This script moves some hundred free bodies over
the same time with methods of several families and several step lengths. It compares the attitudes
with the solution in quadruple precision and shows error against computing time. The benchmark suite
does the same for all methods, with torque too: ``python -m benchmarks``.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import polhode as ph
from polhode import quad

plt.style.use("polhode.pictures")

# %%
# Bodies and reference
# --------------------
#
# The moments of inertia are random, the angular momenta have length 1, and the time is 20, which is
# about two turns. All quantities are dimensionless. ``quad.step`` gives the reference: one exact
# step in quadruple precision.

N_BODIES = 256
T_END = 20.0
random = np.random.default_rng(2)
inertia = random.uniform(1.0, 2.0, (N_BODIES, 3))
m0 = random.normal(size=(N_BODIES, 3))
m0 /= np.linalg.norm(m0, axis=-1, keepdims=True)
q0 = np.array([1.0, 0.0, 0.0, 0.0])
_, reference = quad.step(inertia, m0, q0, T_END, digits=True)

# %%
# Measurement
# -----------
#
# ``ph.step`` makes ``n_steps`` steps in one call. Each time is the least of several calls, in
# nanoseconds per body for the whole motion. The error is the root mean square over the bodies of
# the distance of the quaternions, doubled, which is an angle.

REPEATS = 10
METHODS = {
    "no_squish": "axis rotations",
    "rk4": "Runge-Kutta",
    "magnus6": "Magnus series",
    "dmv8": "discrete Moser-Veselov",
    "gauss3": "momentum exact, attitude by quadrature",
    "factorization6": "momentum exact, attitude by factors",
}


def measure(method, n_steps):
    """Time per body (ns) and error (rad)."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        _, q = ph.step(inertia, m0, q0, T_END / n_steps, method=method, n_steps=n_steps)
        times.append(time.perf_counter() - begin)
    error = 2 * np.sqrt(np.mean(np.sum((reference - q) ** 2, axis=-1)))
    return 1e9 * min(times) / N_BODIES, error


counts = 8 * 2 ** np.arange(8)
orders = {method.name: method.order for method in ph.methods()}
figure, axes = plt.subplots(figsize=(10.0, 7.0))
for k, (method, family) in enumerate(METHODS.items()):
    work, error = np.array([measure(method, n) for n in counts]).T
    axes.loglog(work, error, "osD^vP"[k] + "-", label=f"{method}: {family}")
    fine = np.flatnonzero(error > 1e-11)[-1]
    observed = np.log2(error[fine - 1] / error[fine])
    print(f"{method:15} order {orders[method]}, observed {observed:.2f}, ", end="")
    print(f"least error {error.min():.1e} rad")
    assert abs(observed - orders[method]) < 0.5

# %%
# The exact method needs one step for any time.

work, error = measure("exact", 1)
axes.plot(work, error, "*", color="k", markersize=18, label="exact: one step")
axes.set(xlabel="computing time of the motion (ns per body)", ylabel="error of the attitude (rad)")
axes.set_title("20 units of time, about two turns")
figure.legend(loc="outside lower center", ncols=2)
print(f"exact: error {error:.1e} rad")
assert error < 1e-14
plt.show()
