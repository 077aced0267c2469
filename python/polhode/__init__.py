"""Exact rotation of rigid bodies, in batches over NumPy arrays.

- `step`: free motion, one step or several; `TorqueFreeMotion`: at any times.
- `integrate`: motion under a torque, a model of `torques` or a function; it returns a `Trajectory`.
  `resume` continues a run that is saved in files; `Run` is a run whose steps the caller takes.
- `RigidBody`: a body from a tensor, moments and axes, or points; it has these functions as methods.
- `energy`, `momentum`, `momentum_spatial`, `omega`, `casimir`: quantities of a state.
- `methods`, `splittings`: the lists of methods and of splitting schemes.
- `so3`, `elliptic`: rotations, elliptic functions. `polhode.quad` has both steps and functions in
  quadruple precision; with `polhode.numba` compiled functions call `step`.

Angular momenta m are in the body frame, shape (..., 3). Attitudes q are body to space: unit
quaternions, scalar first, shape (..., 4), or matrices (..., 3, 3). Any consistent units.
"""

from polhode import _core, elliptic, so3, torques
from polhode._build import build_info, get_cmake_dir, get_include, get_library
from polhode._integrate import integrate
from polhode._step import step
from polhode.bodies.rigid_body import RigidBody
from polhode.frb import frb_step, quat_step
from polhode.integration.run import Run
from polhode.integration.thermostat import NoseHoover, Thermostat
from polhode.integration.trajectory import Trajectory
from polhode.integrators.flops import flops
from polhode.integrators.splittings import Splitting, splittings
from polhode.integrators.table import Method, methods
from polhode.integrators.tableaus import MuntheKaas, rkmk
from polhode.motion.nutation import Regime
from polhode.motion.torque_free import TorqueFreeMotion
from polhode.quantities import casimir, energy, momentum, momentum_spatial, omega
from polhode.rates import attitude_from_rate
from polhode.run_directory.resume import resume

__version__: str = _core.build["version"]

__all__ = [
    "Method", "MuntheKaas", "NoseHoover", "Regime", "RigidBody", "Run", "Splitting", "Thermostat",
    "TorqueFreeMotion", "Trajectory", "__version__", "attitude_from_rate", "build_info", "casimir",
    "elliptic",
    "energy", "flops", "frb_step", "get_cmake_dir", "get_include", "get_library", "integrate",
    "methods", "momentum", "momentum_spatial", "omega", "quat_step", "resume", "rkmk", "so3",
    "splittings", "step", "torques",
]  # fmt: skip
