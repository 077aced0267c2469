"""
The program of the thousand satellites
======================================

The torque and the long run of the example on the gravity gradient. It is a program of its own,
since a long run usually is: ``python satellite_program.py DIRECTORY SATELLITES ORBITS``. It prints
the number of the step after each saved state.
"""

import sys
from pathlib import Path

import numpy as np
from numba import carray, cfunc, types

import polhode as ph

# %%
# Axis 3 of the satellite is a boom with a mass at its end, so that its moment of inertia is small.
# The orbit lies in the plane of the first two axes of space.

MU, RADIUS = 3.986004418e14, 6.878e6  # m^3/s^2, m
RATE = float(np.sqrt(MU / RADIUS**3))  # of the orbit, rad/s
PERIOD = 2 * np.pi / RATE  # s
I1, I2, I3 = 10.0, 11.0, 2.0  # kg m^2
DAMPING = 3e-4  # N m s
STEPS = 400  # per orbit
SAVE_EVERY = 20

# %%
# The torque in the body frame is :math:`3 n^2\,r \times I r - c\,(\omega - n N)`: the gravity
# gradient and a damper that acts on the rotation relative to the orbit. In the body frame,
# :math:`r` is the direction from the Earth and :math:`N` the normal of the orbit. The function gets
# a block of satellites, one component after another, and numba compiles it to machine code.

ARRAY = types.CPointer(types.float64)


@cfunc(
    types.void(
        types.int64, types.int64, types.int64, types.float64, ARRAY, ARRAY, ARRAY, types.voidptr
    )
)
def gradient_and_damper(n, first, stride, t, m, attitude, torque, user_data):
    """Set the torque (N m) of n satellites."""
    momentum = carray(m, (3, stride))
    q = carray(attitude, (4, stride))
    out = carray(torque, (3, stride))
    x, y = np.cos(RATE * t), np.sin(RATE * t)  # from the Earth to the satellite
    for i in range(n):
        q0, q1, q2, q3 = q[0, i], q[1, i], q[2, i], q[3, i]
        r1 = (1 - 2 * (q2 * q2 + q3 * q3)) * x + 2 * (q1 * q2 + q0 * q3) * y
        r2 = 2 * (q1 * q2 - q0 * q3) * x + (1 - 2 * (q1 * q1 + q3 * q3)) * y
        r3 = 2 * (q1 * q3 + q0 * q2) * x + 2 * (q2 * q3 - q0 * q1) * y
        n1, n2 = 2 * (q1 * q3 - q0 * q2), 2 * (q2 * q3 + q0 * q1)
        n3 = 1 - 2 * (q1 * q1 + q2 * q2)
        k = 3 * RATE * RATE
        out[0, i] = k * (I3 - I2) * r2 * r3 - DAMPING * (momentum[0, i] / I1 - RATE * n1)
        out[1, i] = k * (I1 - I3) * r3 * r1 - DAMPING * (momentum[1, i] / I2 - RATE * n2)
        out[2, i] = k * (I2 - I1) * r1 * r2 - DAMPING * (momentum[2, i] / I3 - RATE * n3)


TORQUE = ph.torques.Compiled(gradient_and_damper, depends_on_m=True, attitude="quaternion")

# %%
# The satellites start with random attitudes and with random angular velocities of about three times
# the rate of the orbit about each axis.


def run(directory, satellites, orbits, callback=None):
    """Integrate all satellites and write their states into a directory."""
    random = np.random.default_rng(13)
    moments = np.array([I1, I2, I3])
    return ph.integrate(
        moments,
        moments * random.normal(scale=3 * RATE, size=(satellites, 3)),
        random.normal(size=(satellites, 4)),
        PERIOD / STEPS,
        STEPS * orbits,
        torque=TORQUE,
        save_every=SAVE_EVERY,
        save_to=directory,
        callback=callback,
    )


def report(step, t, m, q):
    """Print the number of the step."""
    print(step, flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), report)
