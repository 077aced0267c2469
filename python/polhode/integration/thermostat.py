"""`polhode.Thermostat`; cpp/include/polhode/splitting/thermostat.hpp has the heat bath."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polhode import _arrays
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
    half the length. With a splitting of order 2 the averages of states have weak order 2. Friction
    and noise alone leave the distribution exp(-energy / kT) as it is, at any length of step.

    The noise is a function of seed, number of the body in the batch, and number of the step
    (Philox4x64-10 [SMDS11], normal numbers by Box and Muller). So results do not depend on threads,
    on other bodies or on the saves, and a resumed run has the same bits.

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
