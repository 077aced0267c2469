"""
Adaptive steps: a top that falls
================================

A top spins fast and upright, a little too slow to stay so: again and again it falls over and
comes back. The torque and the turn of its axis change by orders of magnitude on the way. With
``t_end`` in place of ``h`` the lengths of the steps follow.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import polhode as ph

plt.style.use("polhode.pictures")

T_END = 60.0
REPEATS = 5
inertia = np.array([1.0, 1.0, 0.5])
top = ph.torques.HeavyTop(u0=[0.0, 0.0, 1.0])
m0 = np.array([1e-3, 0.0, 1.2])  # |m3| < 2 sqrt(I1 |u0|): not stable
q0 = np.array([1.0, 0.0, 0.0, 0.0])

# %%
# When does it lie flat?
# ----------------------
#
# Events are found at the ends of the steps, and located by steps of other lengths.


def flat(t, m, q):
    """The axis is horizontal."""
    return ph.so3.rotate(q, np.array([0.0, 0.0, 1.0]))[..., 2]


t = np.linspace(0.0, T_END, 600)
path = ph.integrate(inertia, m0, q0, t_end=T_END, torque=top, t_eval=t, events=flat)
print(f"{len(path.t_events[0])} passages of the horizontal plane, {path.n_steps} steps")

# %%
# Work and precision
# ------------------
#
# Time against error, for tolerances from 1e-4 to 1e-13, or steps of one length. DOP853 of SciPy is
# the same method in Python. If heyoka is installed, its Taylor series are in the picture too. The
# benchmark ``adaptive`` has more problems.


def rates(t, y):
    """Rates of m and q, in plain numbers."""
    m1, m2, m3, w, x, y, z = y.tolist()
    o1, o2, o3 = m1, m2, 2 * m3
    u1, u2 = 2 * (x * z - w * y), 2 * (w * x + y * z)  # the vertical in the body; torque u x e3
    return [
        m2 * o3 - m3 * o2 + u2, m3 * o1 - m1 * o3 - u1, m1 * o2 - m2 * o1,
        (-x * o1 - y * o2 - z * o3) / 2, (w * o1 + y * o3 - z * o2) / 2,
        (w * o2 + z * o1 - x * o3) / 2, (w * o3 + x * o2 - y * o1) / 2,
    ]  # fmt: skip


def adaptive(tolerance):
    return ph.integrate(inertia, m0, q0, t_end=T_END, torque=top, rtol=tolerance, atol=0.0).q[-1]


def equal(tolerance):
    n = round(10 * T_END * (1e-10 / tolerance) ** (1 / 8)) + 1
    run = {"torque": top, "splitting": None, "method": "rk8", "save_every": n}
    return ph.integrate(inertia, m0, q0, T_END / n, n, **run).q[-1]


def scipy(tolerance):
    start = np.concatenate([m0, q0])
    run = {"method": "DOP853", "rtol": tolerance, "atol": tolerance}
    return solve_ivp(rates, (0.0, T_END), start, **run).y[3:, -1]


programs = {"polhode, adaptive rk8": adaptive, "polhode, rk8": equal, "SciPy, DOP853": scipy}
try:
    import heyoka
except ImportError:
    pass
else:
    m1, m2, m3, w, x, y, z = heyoka.make_vars("m1", "m2", "m3", "w", "x", "y", "z")

    class Symbols:
        def tolist(self):
            return m1, m2, m3, w, x, y, z

    system = list(zip((m1, m2, m3, w, x, y, z), rates(0.0, Symbols()), strict=True))
    made = {}

    def taylor(tolerance):
        if tolerance not in made:  # compiled once
            made[tolerance] = heyoka.taylor_adaptive(system, np.zeros(7), tol=tolerance)
        one = made[tolerance]
        one.time, one.state[:] = 0.0, np.concatenate([m0, q0])
        one.propagate_until(T_END)
        return one.state[3:].copy()

    programs["heyoka, Taylor series"] = taylor

reference = ph.integrate(
    inertia,
    m0,
    q0,
    T_END / 60_000,
    60_000,
    torque=top,
    splitting="sofroniou10_35",
    save_every=60_000,
).q[-1]
figure, (above, below) = plt.subplots(2, 1, figsize=(7, 8), layout="constrained")
above.plot(t, np.degrees(np.arccos(np.clip(flat(t, path.m, path.q), -1, 1))))
above.plot(path.t_events[0], np.full(len(path.t_events[0]), 90.0), "o")
above.set(xlabel="time", ylabel="tilt of the axis (degrees)")
for k, (name, end) in enumerate(programs.items()):
    works, errors = [], []
    for tolerance in 10.0 ** -np.arange(4, 14):
        q = end(tolerance)
        spent = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            end(tolerance)
            spent.append(time.perf_counter() - begun)
        works.append(1e3 * min(spent))
        errors.append(min(np.linalg.norm(q - s * reference) for s in (1, -1)))
    below.loglog(works, errors, "osD^"[k] + "-", label=name)
    print(f"{name:22} least error {min(errors):.0e}")
    assert min(errors) < 1e-8
below.set(xlabel="computing time (ms)", ylabel="error of q at the end")
below.legend()
plt.show()
