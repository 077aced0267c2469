"""`polhode.torques.Compiled`; the call is in cpp/include/polhode/torque/compiled.hpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from polhode import _core
from polhode._arrays import Array, AttitudeLike
from polhode.torques._evaluate import from_core
from polhode.torques._function import UserDefined
from polhode.torques._model import model_index
from polhode.torques._signature import address_of


class Compiled(UserDefined):
    """A user-defined compiled torque, called by the core.

    Parameters
    ----------
    function : scipy.LowLevelCallable, numba cfunc or ctypes function pointer
        A function of the C signature ::

            void f(int64_t n, int64_t first, int64_t stride, double t,
                   const double *m, const double *attitude, double *torque, void *user_data)

        for n bodies, of which the first is number `first` of the batch (in C order), at time t.
        These are all bodies, unless they are `independent`.
        Arrays lie component by component: ``m[k * stride + i]`` is component k of body ``first +
        i``, k = 0, 1, 2; of `attitude` there are four components (quaternion, scalar first) or nine
        (matrix, row by row), in the form of the integration. The function must set all three
        components of `torque`. m and torque are in the body frame, the attitude takes body to
        space. `user_data` is that of the LowLevelCallable, else null.
    depends_on_m : bool, optional
        Whether the torque depends on m, as in `Function`.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``, a Python function for `Trajectory.energy`.
    attitude : {None, "quaternion", "matrix"}, optional
        The form of attitude that the function expects. If given, an integration with the other form
        raises ValueError before any work. It should be given: polhode cannot determine it from a C
        function, and a function that expects a quaternion gives wrong results with a matrix.
    independent : bool, optional
        True: the torque on a body depends only on this body. Then the core calls the function for
        blocks of bodies, which is faster for many, and in several threads at once with ``threads``
        above 1.

    Raises
    ------
    TypeError
        If the function is not one of these. Also on pickling: an address is valid in one process.
    ValueError
        If its signature is different, or is not known.

    Notes
    -----
    The function runs without the GIL. Bodies whose torque is NaN become NaN.
    ``integrate(torque=f)`` also accepts the function directly, without `Compiled`. It is best to
    write a numba function as one loop over i, which the compiler then vectorises.

    Examples
    --------
    With numba, a top of weight 0.1 along the third axis of space::

        from numba import carray, cfunc, types as ty

        array = ty.CPointer(ty.float64)


        @cfunc(ty.void(ty.int64, ty.int64, ty.int64, ty.float64, array, array, array, ty.voidptr))
        def top(n, first, stride, t, m, attitude, torque, user_data):
            q = carray(attitude, (4, stride))
            f = carray(torque, (3, stride))
            for i in range(n):
                f[0, i] = 0.2 * (q[2, i] * q[3, i] + q[0, i] * q[1, i])
                f[1, i] = -0.2 * (q[1, i] * q[3, i] - q[0, i] * q[2, i])
                f[2, i] = 0.0


        traj = ph.integrate(inertia, m0, q0, 0.01, 1000, torque=top)
    """

    in_core = True

    def __init__(
        self,
        function: Any,
        depends_on_m: bool = False,
        potential: Callable[[float, Array], ArrayLike] | None = None,
        attitude: str | None = None,
        independent: bool = False,
    ) -> None:
        if attitude not in (None, "quaternion", "matrix"):
            raise ValueError(f"attitude must be 'quaternion' or 'matrix', not {attitude!r}")
        self._set_potential(potential)
        self.function = function
        self._address, self._user_data = address_of(function)
        self.attitude = attitude
        self.independent = bool(independent)
        self.depends_on_m = bool(depends_on_m)
        self._index = model_index("compiled_of_m" if depends_on_m else "compiled")

    def check_attitude(self, matrix: bool) -> None:
        """Raise an error for attitudes that do not have the form `attitude`."""
        form = "matrix" if matrix else "quaternion"
        if self.attitude not in (None, form):
            raise ValueError(
                f"the compiled torque takes attitudes of the form {self.attitude!r}, not {form!r}"
            )

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, in the form of the core."""
        self.check_attitude(matrix)
        none = np.zeros(0)
        return self._index, none, self._address, self._user_data, none, none, self.independent

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame, shape (..., 3), for bodies treated as the whole batch."""
        return from_core(_core.torque, self, t, attitude, m=m)

    def __copy__(self) -> Compiled:
        same = Compiled.__new__(type(self))
        same.__dict__.update(self.__dict__)
        return same

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self.__copy__()  # nothing of it is changed after it was made

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be pickled: the address of its function belongs to this process; "
            "make the torque again in the other process"
        )

    def __repr__(self) -> str:
        return f"Compiled({self.function!r}, depends_on_m={self.depends_on_m})"
