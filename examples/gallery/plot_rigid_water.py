"""
A box of rigid water
====================

Molecules move and rotate under the forces of all others. `integrate` moves both, with the forces
and torques of one function. Here this function, of 500 rigid water molecules in a periodic box, is
a loop over all pairs, compiled by numba. The model of water is SPC/E (H. J. C. Berendsen,
J. R. Grigera and T. P. Straatsma, J. Phys. Chem. 91 (1987) 6269).
"""

import matplotlib.pyplot as plt
import numba
import numpy as np

import polhode as ph

plt.style.use("polhode.pictures")

# %%
# The molecule
# ------------
#
# Units: angstrom, picosecond, atomic mass unit. Then 100 units of energy are 1 kJ/mol. The origin
# of the body frame is the centre of mass, axis 1 is parallel to the line between the hydrogen atoms
# and axis 2 is the axis of symmetry.

MASSES = np.array([15.9994, 1.008, 1.008])  # u
CHARGES = np.array([-0.8476, 0.4238, 0.4238])  # e
COULOMB, BOLTZMANN = 138935.456, 0.8314463  # in the units above
SIGMA, EPSILON = 3.166, 65.0  # A, 0.65 kJ/mol
half = 0.5 * np.arccos(-1 / 3)  # half of the angle of 109.47 degrees, at a bond length of 1 A
ATOMS = np.array([[0, 0, 0], [np.sin(half), np.cos(half), 0], [-np.sin(half), np.cos(half), 0]])
ATOMS -= MASSES @ ATOMS / MASSES.sum()
body = ph.RigidBody.from_points(MASSES, ATOMS)  # in the axes of ATOMS
dipole = 4.80320 * np.linalg.norm(CHARGES @ ATOMS)  # debye
print(
    f"moments about the three axes {np.diag(body.tensor).round(4)} u A^2; "
    f"dipole {dipole:.3f} D, published 2.351 D"
)
assert abs(dipole - 2.351) < 1e-3

# %%
# Forces
# ------
#
# Two molecules interact if their centres of mass are closer than 6.2 angstrom. Their energy is
# multiplied by a function of this distance that falls smoothly from 1 to 0 over the last angstrom:
# a jump of the force would cost energy at each crossing. The function returns the energy, the
# forces, and the torques in the body frame.

N = 500  # molecules
BOX = 3.1043 * N ** (1 / 3)  # A, for a density of 1.0 g/cm^3
CUTOFF, WIDTH = min(6.2, BOX / 2), 1.0  # A


@numba.njit
def pairs(x, arms):
    """Energy, forces on the centres (N, 3) and on the atoms (N, 3, 3), `arms` from the centres."""
    energy, force, on_atoms = 0.0, np.zeros_like(x), np.zeros_like(arms)
    R, r = np.zeros(3), np.zeros(3)
    for i in range(len(x)):
        for j in range(i):
            for k in range(3):
                R[k] = x[i, k] - x[j, k]
                R[k] -= BOX * np.round(R[k] / BOX)
            distance = np.sqrt(R[0] ** 2 + R[1] ** 2 + R[2] ** 2)
            if distance >= CUTOFF:
                continue
            s = min((CUTOFF - distance) / WIDTH, 1.0)
            switch = s**3 * (10 - 15 * s + 6 * s**2)
            pair = 0.0
            for a in range(3):
                for b in range(3):
                    for k in range(3):
                        r[k] = R[k] + arms[i, a, k] - arms[j, b, k]
                    r2 = r[0] ** 2 + r[1] ** 2 + r[2] ** 2
                    coulomb = COULOMB * CHARGES[a] * CHARGES[b] / np.sqrt(r2)
                    sixth = (SIGMA**2 / r2) ** 3 if a == b == 0 else 0.0
                    pair += coulomb + 4 * EPSILON * (sixth**2 - sixth)
                    strength = (coulomb + 24 * EPSILON * (2 * sixth**2 - sixth)) / r2
                    for k in range(3):
                        f = switch * strength * r[k]
                        on_atoms[i, a, k] += f
                        on_atoms[j, b, k] -= f
            energy += switch * pair
            for k in range(3):
                f = 30 * s**2 * (1 - s) ** 2 / WIDTH * pair * R[k] / distance
                force[i, k] += f
                force[j, k] -= f
    return energy, force, on_atoms


def forces(x, q):
    """Energy, forces (N, 3) in space and torques (N, 3) in the body frame."""
    arms = ph.so3.rotate(q[:, None], ATOMS)
    energy, force, on_atoms = pairs(x, arms)
    torque = np.cross(arms, on_atoms).sum(axis=1)
    return energy, force + on_atoms.sum(axis=1), ph.so3.rotate(ph.so3.conjugate(q), torque)


# %%
# Test of forces and torques: the change of the energy under a small displacement and rotation.

random = np.random.default_rng(7)
side = int(np.ceil(N ** (1 / 3)))
grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:N]
x = (grid + 0.5) * BOX / side
q = random.normal(size=(len(x), 4))
q /= np.linalg.norm(q, axis=-1, keepdims=True)
_, force, torque = forces(x, q)
dx, turn = random.normal(size=(2, len(x), 3))
small = 1e-5
ends = [
    forces(x + k * small * dx, ph.so3.multiply(q, ph.so3.exp(k * small * turn)))[0] for k in (1, -1)
]
by_differences = (ends[0] - ends[1]) / (2 * small)
by_forces = -np.sum(force * dx) - np.sum(torque * turn)
error = abs(by_forces / by_differences - 1)
print(f"forces and differences of the energy: relative difference {error:.0e}")
assert error < 1e-6

# %%
# The integrator
# --------------
#
# With a mass the centres of mass move too: half a kick of both momenta, a free flow that is exact
# for translation and rotation, half a kick. The function is evaluated once a step and notes the
# potential.

MASS = MASSES.sum()


def run(state, h, n_steps, **bath):
    """Integrate; return the state, and per step the potential and both kinetic energies."""
    energies = []

    def pull(x, q):
        energy, force, torque = forces(x, q)
        energies.append(energy)
        return force, torque

    x, p, m, q = state
    traj = body.integrate(m, q, h, n_steps, mass=MASS, x0=x, p0=p, torque=pull, **bath)
    kinetic = [1.5 * N * kT[1:] for kT in traj.temperature()]
    record = np.column_stack([energies[1:], *kinetic])
    return (traj.x[-1], traj.p[-1], traj.m[-1], traj.q[-1]), record


# %%
# The molecules start on a lattice with random attitudes. A heat bath brings them to 300 K during
# the first 4 picoseconds. Then the temperature is no longer controlled. After a shorter time the
# liquid still forms: it becomes warmer, and the energy below fluctuates more.

H = 0.002  # ps
N_START = 2000
bath = ph.Thermostat(BOLTZMANN * 300.0, gamma=5.0, seed=7)
state, _ = run((x, np.zeros((N, 3)), np.zeros((N, 3)), q), H, N_START, thermostat=bath)
state[1][:] -= state[1].mean(axis=0)

# %%
# Energy
# ------
#
# The total energy is not controlled by anything. A symplectic method of second order must let it
# fluctuate in proportion to the square of the step. Test: the same picosecond with three steps. The
# fluctuation is the standard deviation of the total energy, over the number of molecules.

SPAN = 1.0  # ps
TO_KJ = 1 / (100 * N)  # to kJ/mol per molecule
steps = np.array([0.001, 0.002, 0.004])
fluctuation = []
for h in steps:
    _, record = run(state, h, round(SPAN / h))
    fluctuation.append(np.std(record.sum(axis=1)) * TO_KJ)
    print(f"step {1000 * h:.0f} fs: energy fluctuates by {fluctuation[-1]:.1e} kJ/mol per molecule")
orders = np.diff(np.log(fluctuation)) / np.diff(np.log(steps))
print("observed orders:", orders.round(2))
assert np.all(np.abs(orders - 2) < 0.5)

# %%
# The long run with 2 fs, in pieces of 20 steps. After each piece the distances of the oxygen atoms
# are counted.

N_PIECES = 125
edges = np.linspace(0.0, BOX / 2, 51)
count, records = np.zeros(len(edges) - 1), []
I, J = np.triu_indices(N, 1)
momentum = state[1].sum(axis=0)
for _ in range(N_PIECES):
    state, record = run(state, H, 20)
    records.append(record)
    oxygen = state[0] + ph.so3.rotate(state[3], ATOMS[0])
    d = oxygen[I] - oxygen[J]
    count += np.histogram(np.linalg.norm(d - BOX * np.round(d / BOX), axis=-1), edges)[0]
record = np.concatenate(records)
t = H * np.arange(1, len(record) + 1)
total = record.sum(axis=1)
slope = np.polyfit(t, total * TO_KJ, 1)[0]
print(f"drift of the energy: {slope:.1e} kJ/mol per molecule and ps")
print(f"change of the total momentum: {np.abs(state[1].sum(axis=0) - momentum).max():.0e} u A/ps")
assert abs(slope) < 0.02

# %% The molecules exchange energy between translation and rotation. In equilibrium both have the
# same temperature, within the scatter. The temperature of :math:`f` degrees of freedom fluctuates
# by :math:`T \sqrt{2/f}` in a canonical ensemble, here by 3.7 %. The error of its mean is smaller
# by the root of the number of independent intervals, about 0.5 ps long. Published values of SPC/E
# water at 300 K with all long-range forces: the potential energy is about -46.7 kJ/mol, and the
# first maximum of the density of oxygen about oxygen is at 2.75 angstrom.

degrees = np.array([3 * (N - 1), 3 * N])
temperature = 2 * record[:, 1:] / (degrees * BOLTZMANN)
mean = temperature.mean(axis=0)
expected = np.sqrt(2 / degrees)
error = mean * expected / np.sqrt(t[-1] / 0.5)  # of a mean, independent after 0.5 ps
potential = record[:, 0].mean() * TO_KJ
shells = 4 / 3 * np.pi * np.diff(edges**3)
density = count / N_PIECES / (0.5 * N * (N - 1) / BOX**3 * shells)
middle = 0.5 * (edges[1:] + edges[:-1])
peak = middle[density.argmax()]
print(f"temperature of translation {mean[0]:.1f} +- {error[0]:.1f} K, ", end="")
print(f"of rotation {mean[1]:.1f} +- {error[1]:.1f} K")
print(f"fluctuation {temperature.std(axis=0) / mean}, canonical {expected}")
print(f"potential energy {potential:.1f} kJ/mol; first maximum at {peak:.2f} A")
assert abs(mean[0] - mean[1]) < 4 * np.hypot(*error)
assert -50 < potential < -40
assert abs(peak - 2.75) < 0.2

figure, ((a, b), (c, d)) = plt.subplots(2, 2, figsize=(13.0, 10.0))
early = t <= 0.6
for values, name in zip(record.T, ("potential", "translation", "rotation"), strict=True):
    a.plot(t[early], (values - values.mean())[early] * TO_KJ, linewidth=1.2, label=name)
a.plot(t[early], (total - total.mean())[early] * TO_KJ, "k", label="total")
a.set(
    xlabel="time (ps)",
    ylabel="energy less its mean\n(kJ/mol per molecule)",
    title="energies at the start",
)
a.set_ylim(top=1.6 * a.get_ylim()[1])  # room for the legend
a.legend(ncols=2, loc="upper right")
b.loglog(1000 * steps, fluctuation, "o-", label="computed")
b.plot(1000 * steps, fluctuation[0] * (steps / steps[0]) ** 2, "k--", label="order 2")
b.set(xlabel="step (fs)", ylabel="(kJ/mol per molecule)", title="fluctuation of the total energy")
b.set_xticks([1, 2, 4], labels=[1, 2, 4])
b.set_xticks([], minor=True)
b.set_yticks([0.001, 0.002, 0.005, 0.01, 0.02], labels=[0.001, 0.002, 0.005, 0.01, 0.02])
b.set_yticks([], minor=True)
b.legend()
band = mean.mean() * (1 + expected[0] * np.array([-1, 1]))
c.axhspan(*band, color="0.85", label="expected scatter (1 standard deviation)")
for values, name in zip(temperature.T, ("translation", "rotation"), strict=True):
    c.plot(t[::10], values[::10], linewidth=0.9, label=name)
c.set(xlabel="time (ps)", ylabel="temperature (K)", title="temperatures")
c.set(ylim=(mean.mean() * (1 - 4 * expected[0]), mean.mean() * (1 + 6 * expected[0])))
c.legend(loc="upper right")
d.plot(middle, density)
d.axvline(2.75, color="C1", linestyle="--", label="first maximum, published")
d.axhline(1.0, color="0.5", linewidth=1)
d.set(xlabel="distance of oxygen atoms (angstrom)", ylabel="density over mean density")
d.set(xlim=(2, None), title="structure of the liquid")
d.legend()
plt.show()
