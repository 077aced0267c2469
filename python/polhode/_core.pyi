from __future__ import annotations
import numpy

__all__: list[str] = ["build", "rf"]
build: dict
rf: numpy.ufunc
