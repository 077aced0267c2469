"""
A thousand satellites, killed and resumed
=========================================

A satellite with a boom is released with a random attitude and a random rotation. The gravity
gradient and a damper align the boom with the vertical, but the satellite may end upside down. How
many of 1000 satellites do so, and after how many orbits has the last one been captured? The torque
is a user-defined function that numba compiles. The long run is killed in the middle and resumed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import satellite_program as program

import polhode as ph

plt.style.use("polhode.pictures")
N_SATELLITES = 1000
N_ORBITS = 40

# %%
# The compiled torque
# -------------------
#
# The torque and the run are in ``satellite_program.py``, which is also in this gallery. Here the
# compiled torque is compared with the model of polhode, ``ph.torques.GravityGradient``, and with
# the damping written in NumPy, for 1000 random states at a random time.

random = np.random.default_rng(1)
moments = np.array([program.I1, program.I2, program.I3])
gradient = ph.torques.GravityGradient(program.RATE, inertia=moments)


def normal_in_body(q):
    """Normal of the orbit, body frame."""
    return ph.so3.rotate(ph.so3.conjugate(q), [0.0, 0.0, 1.0])


def relative_rate(m, q):
    """Angular velocity relative to the orbit (rad/s), body frame."""
    return ph.omega(moments, m) - program.RATE * normal_in_body(q)


m = moments * random.normal(scale=program.RATE, size=(1000, 3))
q = random.normal(size=(1000, 4))
q /= np.linalg.norm(q, axis=-1, keepdims=True)
t = random.uniform(0, program.PERIOD)
compiled = program.TORQUE.torque(t, m, q)
model = gradient.torque(t, m, q) - program.DAMPING * relative_rate(m, q)
error = np.abs(compiled - model).max() / np.abs(model).max()
print(f"compiled torque and model: largest relative difference {error:.0e}")
assert error < 1e-14

# %%
# Killed and resumed
# ------------------
#
# The program runs in another process, which is killed as soon as it has reported two thirds of its
# steps. ``ph.Trajectory.load`` reads what it has saved, ``ph.resume`` computes the rest. A run
# records its progress from time to time, so that a killed run loses some of its last steps.

work = tempfile.TemporaryDirectory()
killed, whole = Path(work.name) / "killed", Path(work.name) / "whole"
arguments = [str(killed), str(N_SATELLITES), str(N_ORBITS)]
with subprocess.Popen(
    [sys.executable, program.__file__, *arguments], stdout=subprocess.PIPE, text=True
) as process:
    for line in process.stdout:
        if int(line) >= program.STEPS * N_ORBITS * 2 // 3:
            process.kill()
            break

saved = len(ph.Trajectory.load(killed, torque=program.TORQUE))
resumed = ph.resume(killed, torque=program.TORQUE)
print(f"{saved} of {len(resumed)} states were saved before the end of the process")

# %%
# The resumed run has the same bits as a run that was not interrupted:

path = program.run(whole, N_SATELLITES, N_ORBITS)
assert np.array_equal(path.m, resumed.m)
assert np.array_equal(path.q, resumed.q)
print(f"the same bits in all {path.m.size + path.q.size} numbers")

# %%
# Captured satellites
# -------------------
#
# In the frame of the orbit, a satellite moves in a constant potential, and the damper can only take
# energy: the Jacobi integral :math:`H = T_{rel} + (3/2) n^2\,r \cdot I r - (1/2) n^2\,N \cdot I N`
# decreases. The boom can pass the horizontal only if :math:`H` is above the lowest value of the
# potential with a horizontal boom, :math:`(3 I_1 - I_2)\,n^2/2`. Below this value the satellite is
# captured, and its side is decided.

orbits = path.t / program.PERIOD
m, q = np.asarray(path.m), np.asarray(path.q)
position = np.stack([np.cos(program.RATE * path.t), np.sin(program.RATE * path.t), 0 * path.t], -1)
vertical = ph.so3.rotate(ph.so3.conjugate(q), position[:, None])
relative = relative_rate(m, q)
jacobi = 0.5 * np.sum(
    moments * (relative**2 + program.RATE**2 * (3 * vertical**2 - normal_in_body(q) ** 2)), axis=-1
)
horizontal = 0.5 * (3 * program.I1 - program.I2) * program.RATE**2
captured, up = jacobi < horizontal, vertical[..., 2] > 0

# %%
# Two tests of the computed motion: the decrease of the Jacobi integral is the work of the damper,
# and no captured satellite changes its side.

power = program.DAMPING * np.sum(relative**2, axis=-1)
work_of_damper = np.trapezoid(power, path.t, axis=0)
error = np.abs(work_of_damper / (jacobi[0] - jacobi[-1]) - 1).max()
print(f"work of the damper and decrease of H: largest relative difference {error:.1e}")
assert error < 0.02
changes = (up[1:] != up[:-1]) & captured[:-1]
assert not changes.any()

counts = np.stack([(captured & up).sum(1), (captured & ~up).sum(1), (~captured).sum(1)])
print(f"after {orbits[-1]:.0f} orbits: {counts[0, -1]} up, {counts[1, -1]} upside down, ", end="")
print(f"{counts[2, -1]} not captured")
print(f"half of them are captured after {orbits[counts[2] < N_SATELLITES / 2][0]:.1f} orbits")
if captured[-1].all():
    print(f"the last one is captured after {orbits[captured.all(axis=1)][0]:.1f} orbits")

figure, (left, right) = plt.subplots(1, 2, figsize=(13.0, 6.0))
boom = np.degrees(np.arccos(np.clip(vertical[..., 2], -1, 1)))
left.axhline(90, color="0.5", linewidth=1)
for k in range(6):
    left.plot(orbits, boom[:, k], linewidth=0.8, color="C0" if up[-1, k] else "C1")
left.set(xlabel="time (orbits)", ylabel="angle from boom to vertical (degrees)", ylim=(0, 180))
left.set(yticks=range(0, 181, 30), title="the first 6 satellites")
right.stackplot(
    orbits,
    counts,
    colors=("C0", "C1", "0.8"),
    labels=("captured, up", "captured, upside down", "free"),
)
if captured[-1].all():
    last = orbits[captured.all(axis=1)][0]
    right.axvline(last, color="k", linestyle="--", label=f"last one captured, {last:.1f} orbits")
right.set(xlabel="time (orbits)", ylabel="number of satellites", xlim=(0, orbits[-1]))
right.set(ylim=(0, N_SATELLITES), title=f"all {N_SATELLITES} satellites")
figure.legend(loc="outside lower center", ncols=4)
work.cleanup()
plt.show()
