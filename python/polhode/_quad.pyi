import numpy as np
from numpy.typing import ArrayLike, NDArray

def evaluate(
    name: str, /, *arguments: ArrayLike
) -> NDArray[np.float64] | tuple[NDArray[np.float64], ...]: ...
def count(name: str, x: float, y: float = 0.0, z: float = 0.0) -> tuple[float, dict[str, int]]: ...
def step(
    method: str,
    inertia: ArrayLike,
    m: ArrayLike,
    attitude: ArrayLike,
    h_high: ArrayLike,
    h_low: ArrayLike = 0.0,
    n_steps: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def methods() -> list[str]: ...
