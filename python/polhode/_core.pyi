from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing

__all__: list[str] = [
    "Integration",
    "Integrator",
    "agm",
    "block_bodies",
    "build",
    "casimir",
    "contradiction",
    "describe",
    "direct_stages",
    "eccentric_anomaly",
    "ellip_f",
    "ellip_f_kc2",
    "ellip_k",
    "ellip_k_kc2",
    "ellip_pi",
    "ellip_pi_complete",
    "ellip_pi_complete_kc2",
    "ellip_pi_kc2",
    "energy",
    "flops",
    "gauss_distances",
    "integrate",
    "jacobi",
    "jacobi_kc2",
    "methods",
    "momentum",
    "most_threads",
    "motion_at",
    "motion_facts",
    "motion_of",
    "omega",
    "overlaps_itself",
    "philox",
    "potential",
    "principal_axes",
    "rate_increments2",
    "rate_increments4",
    "rate_increments6",
    "rate_magnus2",
    "rate_magnus4",
    "rate_magnus6",
    "rate_magnus8",
    "rate_samples1",
    "rate_samples2",
    "rate_samples4",
    "rate_samples6",
    "rc",
    "rd",
    "rf",
    "rj",
    "rows",
    "so3_accumulate",
    "so3_angle_between",
    "so3_conjugate",
    "so3_exp",
    "so3_log",
    "so3_log_shortest",
    "so3_multiply",
    "so3_normalize",
    "so3_rotate",
    "so3_rotate_by_matrix",
    "so3_slerp",
    "so3_to_matrix",
    "so3_to_quaternion",
    "splittings",
    "step",
    "symmetric_eigen",
    "tableau_stages",
    "thread_count",
    "to_body",
    "to_body_of_matrix",
    "to_principal",
    "to_principal_of_matrix",
    "torque",
    "torque_derivative",
    "torque_models",
    "validate",
]

class Integrator:
    def __init__(self, **kwargs: typing.Any) -> None:
        """
        See the first arguments of `Integration`.
        """

class Integration:
    """
    Steps of bodies with torque.

    Arguments, all by name; arrays are doubles in C order, bodies along one axis or more:

    method, options: row of methods() and its values: of the free flow or the direct integrator
    direct: whether it integrates the torque directly; work: its columns (columns, bodies), else None
    stages: of the splitting, (stages, 3): 0 a flow or 1 a kick, coefficient, c of a modified potential;
    processor: of a processed scheme, the same
    terms: of the torque: models as tuples, others as functions (order, t, m, attitude) -> (bodies, 3)
        with depends_on_m, has_modified, is_given
    inertia (bodies, 3) or (3,); moments: None, or a function (t, step) -> (bodies, 3) that is called
        before each flow and sets inertia (bodies, 3)
    m (bodies, 3), attitude (bodies, 4): the state, changed in place
    matrix: whether attitudes are (bodies, 3, 3)
    axes: principal axes in the columns, in the body axes, (3, 3) or (bodies, 3, 3); None: the
        same axes. The state before the first step, saves and torques are in the body axes, the
        state after the first step is along the principal axes
    compensation: rounding errors of m, (bodies, 3); None: dropped
    order: of the splitting, 2: a torque that depends on m is kicked by the midpoint rule; None: unknown
    torque_state: numbers that the terms store from step to step, (bodies, numbers); a given momentum
        that is the only term stores 3
    x, p (bodies, 3), mass (bodies,) or (): centre of mass and momentum in space; s (bodies, numbers):
        state of the torques; x_saved, p_saved, s_saved: rows of all saves; None: the bodies have none,
        or a run without saves
    thermostat: kT, gamma, seed; None: no heat bath
    nose_hoover: kT, tau, links of a chain, degrees of freedom of rotation and translation; None: none;
        chains (2, links, 2): position and velocity; chains_saved: rows of all saves
    by_torque: (bodies,) of bool, becomes true where m is finite and the torque is not
    h: (total_steps,) or (); t0; times (total_steps + 1,): of the starts and the end; None: t0 + n h
    total_steps, save_every: of the whole integration
    m_saved, attitude_saved: rows of all saves; None: a run without saves, see `advance`
    window: true: rows of the saves of one call of `run`, the first that before its steps; then each
        step is saved
    parts: (parts, 4), step, start, end and length of the parts of the steps that are done in parts
    start: (m, attitude) before the start, C order; the state is then the last row; None: in the state
    threads: their number
    """
    def __init__(self, **kwargs: typing.Any) -> None: ...
    def adapt(
        self,
        t: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        times: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        m_saved: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        attitude_saved: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tolerance: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"
        ],
        first_step: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        max_step: typing.SupportsFloat | typing.SupportsIndex = ...,
        one_step: bool = False,
        begins: bool = True,
        most_steps: typing.SupportsInt | typing.SupportsIndex = 9223372036854775807,
        step_times: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[typing.Any, ...]:
        """
        Steps of rk8 from the times t (bodies,), which become those that are reached, to the last of times, each of which ends a step, at most so many for each body. times are (count,), or (bodies, count) for bodies in their own steps. Row k of the arrays is the state at times[..., k]; or, with step_times (most_steps, bodies), after step k of a body, at the time that is written there. tolerance: (rtol, atol_m, atol_q), the error of a step is at most atol_m + rtol |m| in m and atol_q + rtol in q. first_step: 0 is chosen. one_step: all bodies take the same steps, as they do if a function is called or bodies interact. begins: the state is the start, else what an earlier call left. Returns by body the steps that were accepted and rejected, and whether a step became too short.
        """
    def advance(self, n_steps: typing.Any) -> bool:
        """
        The next n_steps steps of a run without saves; none: the start. False if a momentum is not finite after them.
        """
    def move(
        self,
        ways: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        times: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        states: collections.abc.Sequence[typing.Annotated[numpy.typing.ArrayLike, numpy.float64]],
    ) -> None:
        """
        Moves bodies begin <= i < end from times[0], in step first, to times[1], in step last, in rows i + offset of the states: m, attitude and what else moves. ways: (ways, 6), begin, end, offset, first, last and a count of equal steps, 0: the steps of the integration.
        """
    def restart(self, m: typing.Any, attitude: typing.Any, t0: typing.Any) -> bool:
        """
        Begins a run without saves again from another state, unless it has companions, a thermostat or a term in Python. False, and nothing has changed, if that needs the usual checks.
        """
    def run(
        self,
        first_step: typing.SupportsInt | typing.SupportsIndex,
        n_steps: typing.SupportsInt | typing.SupportsIndex,
        seconds: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> None:
        """
        The next n_steps steps and their saves; none at first_step = 0: the start. It returns after about so many seconds.
        """
    @property
    def attitude(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        The same of the attitude.
        """
    @property
    def done(self) -> int:
        """
        Steps that are complete, also after an exception.
        """
    @property
    def m(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        m after `advance`, read-only.
        """

def contradiction(
    row: typing.SupportsInt | typing.SupportsIndex, options: tuple[typing.Any, ...]
) -> str:
    """
    What is wrong with values of all options that do not go together; or empty.
    """

def describe(ufunc: typing.Any, text: str) -> None: ...
def direct_stages(
    arg0: typing.SupportsInt | typing.SupportsIndex,
    arg1: typing.SupportsInt | typing.SupportsIndex,
    arg2: tuple[typing.Any, ...],
) -> list[typing.Any]: ...
def flops(
    arg0: str,
    arg1: typing.Annotated[
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"
    ],
    arg2: typing.Annotated[
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"
    ],
    arg3: typing.SupportsFloat | typing.SupportsIndex,
    arg4: bool,
    arg5: tuple[typing.Any, ...],
) -> dict[str, typing.Any]: ...
def gauss_distances(nodes: typing.SupportsInt | typing.SupportsIndex) -> list[typing.Any]: ...
def integrate(
    integrator: Integrator,
    h: typing.Any,
    n_steps: typing.Any,
    t0: typing.Any,
    save_every: typing.Any,
    inertia: typing.Any,
    m0: typing.Any,
    q0: typing.Any,
    *adaptive: typing.Any,
) -> tuple[typing.Any, ...] | None:
    """
    (t, m, q, inertia, steps) of a run in memory, as polhode.integrate gives it; None for many steps
    of given length, unusual arguments and wrong ones. adaptive: t_end, rtol and both of atol, while h
    and n_steps are None, for any number of steps; steps are then those that were accepted and rejected,
    (2, ...), else None.
    """

def methods() -> list[typing.Any]: ...
def motion_at(
    arg0: typing.Any,
    arg1: typing.Any,
    arg2: typing.Any,
    arg3: typing.Any,
    arg4: typing.Any,
    arg5: typing.Any,
    arg6: typing.Any,
    arg7: typing.Any,
    arg8: typing.SupportsInt | typing.SupportsIndex,
) -> typing.Any: ...
def motion_of(arg0: typing.Any, arg1: typing.Any, arg2: typing.Any) -> typing.Any: ...
def overlaps_itself(array: numpy.ndarray) -> bool:
    """
    Do elements share memory?  False for every view that slices and transposes make.
    """

def philox(
    arg0: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(4)"
    ],
    arg1: typing.Annotated[
        collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(2)"
    ],
) -> typing.Annotated[list[int], "FixedSize(4)"]:
    """
    Random words, as numpy.random.Philox has them after the counter is incremented.
    """

def potential(
    arg0: tuple[typing.Any, ...],
    arg1: typing.SupportsFloat | typing.SupportsIndex,
    arg2: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    arg3: bool,
) -> numpy.typing.NDArray[numpy.float64]: ...
def principal_axes(
    arg0: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    arg1: typing.SupportsFloat | typing.SupportsIndex,
    arg2: bool,
) -> tuple[typing.Any, ...]: ...
def splittings() -> list[typing.Any]: ...
def step(
    method: typing.Any,
    options: dict[str, typing.Any],
    inertia: typing.Any,
    m: typing.Any,
    q: typing.Any,
    h: typing.Any,
    n_steps: typing.Any,
    out: typing.Any,
    threads: typing.Any,
) -> tuple[typing.Any, ...]:
    """
    Steps a batch with the arguments of polhode.step.

    Returns (m, q, number of bodies that became NaN although their input is finite).
    """

def thread_count(requested: typing.SupportsInt | typing.SupportsIndex) -> int: ...
def torque(
    arg0: tuple[typing.Any, ...],
    arg1: typing.SupportsFloat | typing.SupportsIndex,
    arg2: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    arg3: bool,
    arg4: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
def torque_derivative(
    arg0: tuple[typing.Any, ...],
    arg1: typing.SupportsFloat | typing.SupportsIndex,
    arg2: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    arg3: bool,
    arg4: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
def torque_models() -> list[typing.Any]: ...
def validate(inertia: typing.Any = None, m: typing.Any = None, attitude: typing.Any = None) -> bool:
    """
    Validates bodies.  Each argument is (name, value); for m also (name, value, value to show).
    """

agm: numpy.ufunc
block_bodies: int
build: dict[str, typing.Any]
casimir: numpy.ufunc
eccentric_anomaly: numpy.ufunc
ellip_f: numpy.ufunc
ellip_f_kc2: numpy.ufunc
ellip_k: numpy.ufunc
ellip_k_kc2: numpy.ufunc
ellip_pi: numpy.ufunc
ellip_pi_complete: numpy.ufunc
ellip_pi_complete_kc2: numpy.ufunc
ellip_pi_kc2: numpy.ufunc
energy: numpy.ufunc
jacobi: numpy.ufunc
jacobi_kc2: numpy.ufunc
momentum: numpy.ufunc
most_threads: int
motion_facts: numpy.ufunc
omega: numpy.ufunc
rate_increments2: numpy.ufunc
rate_increments4: numpy.ufunc
rate_increments6: numpy.ufunc
rate_magnus2: numpy.ufunc
rate_magnus4: numpy.ufunc
rate_magnus6: numpy.ufunc
rate_magnus8: numpy.ufunc
rate_samples1: numpy.ufunc
rate_samples2: numpy.ufunc
rate_samples4: numpy.ufunc
rate_samples6: numpy.ufunc
rc: numpy.ufunc
rd: numpy.ufunc
rf: numpy.ufunc
rj: numpy.ufunc
rows: dict[str, typing.Any]
so3_accumulate: numpy.ufunc
so3_angle_between: numpy.ufunc
so3_conjugate: numpy.ufunc
so3_exp: numpy.ufunc
so3_log: numpy.ufunc
so3_log_shortest: numpy.ufunc
so3_multiply: numpy.ufunc
so3_normalize: numpy.ufunc
so3_rotate: numpy.ufunc
so3_rotate_by_matrix: numpy.ufunc
so3_slerp: numpy.ufunc
so3_to_matrix: numpy.ufunc
so3_to_quaternion: numpy.ufunc
symmetric_eigen: numpy.ufunc
tableau_stages: tuple[typing.Any, ...]
to_body: numpy.ufunc
to_body_of_matrix: numpy.ufunc
to_principal: numpy.ufunc
to_principal_of_matrix: numpy.ufunc
