"""Some hundred cases of `arrays.py`, and that its oracle sees what it is for."""

from __future__ import annotations

import arrays
import numpy as np
import pytest
import seeded


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_arrays_of_every_kind_give_what_clean_copies_give(first):
    seeded.run(arrays.case, arrays.__file__, 100, first=first)


def doubled(x, out):
    result = 2.0 * np.asarray(x, np.float64)
    if out is None:
        return result
    out[...] = result
    return out


def order_matters(x, out):
    return doubled(x, out) + np.spacing(1.0) * (not np.asarray(x).flags.c_contiguous)


def writes_input(x, out):
    if isinstance(x, np.ndarray) and x.size > 1 and x.flags.writeable:
        x.flat[0] = 7
    return np.zeros(np.shape(x))


def writes_beside(x, out):
    if out is not None and out.base is not None and isinstance(out.base, np.ndarray):
        out.base.view(np.uint8).flat[-1] += 1
    return doubled(x, out)


def forgets_out(x, out):
    return doubled(x, None)


def writes_read_only(x, out):
    if out is not None and not out.flags.writeable:
        out = None
    return doubled(x, out)


def casts(x, out):
    if np.asarray(x).dtype.kind == "i":
        raise TypeError("whole numbers")
    return doubled(x, out)


@pytest.mark.parametrize(
    "function",
    [order_matters, writes_input, writes_beside, forgets_out, writes_read_only, casts],
)
def test_the_oracle_sees(function):
    def case(rng, function=function):
        shape = tuple(map(int, rng.integers(1, 4, 2)))
        x = arrays.Argument(arrays.typed(rng, rng.standard_normal(shape)), 1)
        if x.values.dtype.kind in "fiub":
            arrays.check(rng, arrays.Call("made up", function, [x], [shape], strict_out=False))

    with pytest.raises(seeded.CaseError, match="--seed 2008 --first"):
        seeded.run(case, arrays.__file__, 400)
    if function is order_matters:
        seeded.run(lambda rng: case(rng, doubled), arrays.__file__, 400)
