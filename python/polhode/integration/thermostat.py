"""`polhode.Thermostat` and `polhode.NoseHoover`.

The steps of the baths are in heat_bath.hpp and nose_hoover.hpp of cpp/include/polhode/splitting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polhode import _arrays, _core
from polhode._arrays import Array


@dataclass(frozen=True)
class Thermostat:
    """A heat bath: friction and noise that keep bodies at a temperature (Langevin equation).

    dm = (...) dt - gamma m dt + sqrt(2 gamma kT I) dW along the principal axes; of bodies with a
    mass also p, with the mass in place of I.

    Parameters
    ----------
    kT : float
        Boltzmann's constant times temperature, in the unit of energy; 0: friction alone.
    gamma : float
        Friction, 1 / time, above zero.
    seed : int, optional
        Of the noise, 0 ... 2**53 - 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range or not a number.

    Notes
    -----
    Each step of `integrate` is enclosed by two exact steps of the Ornstein-Uhlenbeck process of
    half the length. With a splitting of order 2 the averages of states have weak order 2.

    The noise is a function of seed, number of the body in the batch, and number of the step
    (Philox4x64-10 [SMDS11], normal numbers by Box and Muller to a few eps).

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> m0 = np.zeros((1000, 3))
    >>> bath = ph.Thermostat(kT=2.0, gamma=1.0)
    >>> traj = ph.integrate([1, 2, 3], m0, [1, 0, 0, 0], 0.5, 20, thermostat=bath)
    >>> bool(abs(traj.energy()[-1].mean() / 3.0 - 1.0) < 0.1)  # kT / 2 for each axis
    True
    """

    kT: float
    gamma: float
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("kT", "gamma"):
            object.__setattr__(self, name, _arrays.one_number(name, getattr(self, name)))
        object.__setattr__(self, "seed", _arrays.whole("seed", self.seed))
        if not 0.0 <= self.kT < np.inf:
            raise ValueError(f"kT must be finite and not negative, not {self.kT}")
        if not 0.0 < self.gamma < np.inf:
            raise ValueError(f"gamma must be finite and above 0, not {self.gamma}")
        if not 0 <= self.seed < 2**53:
            raise ValueError(f"seed must be within 0 ... 2**53 - 1, not {self.seed}")

    def numbers(self) -> Array:
        """kT, gamma and seed, as the core takes them."""
        return np.array([self.kT, self.gamma, self.seed])


@dataclass(frozen=True)
class NoseHoover:
    """Nosé-Hoover chains: a bath without noise that keeps a batch at a temperature (NVT).

    One chain acts on the rotation of all bodies and, if they have a mass, a second one on their
    translation: m' = ... - v m along the principal axes, with the velocity v of the first link,
    v' = (2 K / (N kT) - 1) / tau**2 - v v2, K the kinetic energy, N the degrees of freedom. Each
    further link keeps the one before it at kT in the same way.

    Parameters
    ----------
    kT : float
        Boltzmann's constant times temperature, in the unit of energy, above zero.
    tau : float
        Time in which the temperature relaxes; many steps long.
    chain : int, optional
        Links of a chain, at least 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range or not a number.

    Notes
    -----
    Half a step of the chains before and after each step of `integrate`, by [MTTK96] with three
    symmetric parts of order 4; the chains of bodies are those of [KLH05]. With a symmetric
    splitting the step is time reversible. N is 3 for the centre of a body and 3 for its rotation
    (2 of a rod); if the momentum of the whole batch is conserved, 3 of these do not move.

    The sum of the energies of all bodies and of `Trajectory.bath_energy` is conserved to the order
    of the splitting. The distribution of states is that of exp(-energy / kT) only if the motion is
    chaotic, as of bodies that collide. The bath does not count a body that is NaN.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> m0 = np.random.default_rng(1).normal(size=(100, 3))
    >>> bath = ph.NoseHoover(kT=2.0, tau=1.0)
    >>> traj = ph.integrate([1, 2, 3], m0, [1, 0, 0, 0], 0.02, 5000, thermostat=bath)
    >>> conserved = traj.energy().sum(axis=1) + traj.bath_energy()
    >>> bool(np.ptp(conserved) < 1e-3 * conserved[0])
    True
    >>> bool(abs(traj.temperature()[1].mean() - 2.0) < 0.1)
    True
    """

    kT: float
    tau: float
    chain: int = 3

    def __post_init__(self) -> None:
        for name in ("kT", "tau"):
            value = _arrays.one_number(name, getattr(self, name))
            object.__setattr__(self, name, value)
            if not 0.0 < value < np.inf:
                raise ValueError(f"{name} must be finite and above 0, not {value}")
        object.__setattr__(self, "chain", _arrays.whole("chain", self.chain))
        if not 1 <= self.chain <= 1000:
            raise ValueError(f"chain must be within 1 ... 1000, not {self.chain}")

    def numbers(self, moments: Array, m: Array, mass: Array | None) -> Array:
        """kT, tau, chain and the degrees of freedom of rotation and translation of these bodies."""
        finite = np.isfinite(m).all(axis=-1)
        rotation = np.broadcast_to(turning_axes(moments), m.shape)[finite].sum()
        translation = 0 if mass is None else 3 * finite.sum()
        return np.array([self.kT, self.tau, self.chain, rotation, translation], np.float64)


def turning_axes(moments: Array) -> NDArray[np.bool_]:
    """The principal axes whose moments do not count as zero, the degrees of freedom of rotation."""
    return np.asarray(_core.omega(moments, np.ones(3)) != 0.0)


def bath_energy(numbers: Array, chains: Array) -> Array:
    """Energy of the chains, (T, 2, chain, 2), of a bath of these `NoseHoover.numbers`."""
    kT, tau, _, *freedom = numbers
    x, v = np.moveaxis(np.asarray(chains), -1, 0)
    count = np.ones(x.shape[1:])
    count[:, 0] = freedom
    count[count[:, 0] == 0.0] = 0.0
    return np.asarray(kT * (count * (0.5 * (tau * v) ** 2 + x)).sum(axis=(1, 2)))
