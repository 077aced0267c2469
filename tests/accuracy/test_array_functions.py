"""The array functions of the core: every row of every table is a NumPy ufunc, of any layout."""

from __future__ import annotations

import pickle
import re
from inspect import signature

import numpy as np
import pytest
from compare import same

from polhode import _core, elliptic

NAMES = [name for name in dir(_core) if isinstance(getattr(_core, name), np.ufunc)]


def cores(ufunc: np.ufunc) -> list[tuple[int, ...]]:
    """Shapes of the inputs of one element; n of a signature is 3."""
    if ufunc.signature is None:  # types[0] has the form "dd->d"
        return [()] * ufunc.types[0].index("-")
    given = re.findall(r"\(([\d,]*)\)", ufunc.signature.split("->")[0].replace("n", "3"))
    return [tuple(int(n) for n in core.split(",") if n) for core in given]


def results(ufunc: np.ufunc, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    values = ufunc(*arguments)
    return values if isinstance(values, tuple) else (values,)


@pytest.mark.parametrize("name", NAMES)
def test_an_element_gives_the_same_bits_in_any_place_and_layout(name: str) -> None:
    ufunc = getattr(_core, name)
    rng = np.random.default_rng(5)
    n = 21  # whole packs of every level and a rest
    whole = [rng.uniform(0.1, 0.9, (n, *core)) for core in cores(ufunc)]
    want = results(ufunc, *whole)
    for i in (0, 7, n - 1):  # alone
        for got, all_of_them in zip(
            results(ufunc, *(x[i : i + 1] for x in whole)), want, strict=True
        ):
            same(got[0], all_of_them[i])
    components_first = [np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0) for x in whole]
    every_other = [np.repeat(x, 2, axis=0)[::2] for x in whole]
    for arguments in (components_first, every_other):
        for got, right in zip(results(ufunc, *arguments), want, strict=True):
            same(got, right)
    backwards = results(ufunc, *(x[::-1] for x in whole))
    for got, right in zip(backwards, want, strict=True):
        same(got[::-1], right)


def test_every_function_of_numbers_has_its_text_in_elliptic_and_in_quad() -> None:
    numbers = {name for name in NAMES if getattr(_core, name).signature is None}
    assert {name.removesuffix("_kc2") for name in numbers} == {
        *elliptic.__all__, "eccentric_anomaly"
    }  # fmt: skip
    quad = pytest.importorskip("polhode.quad")
    assert set(quad.__all__) - {"Numbers", "step"} == set(elliptic.__all__)
    for name in elliptic.__all__:
        assert f"polhode.elliptic.{name}" in getattr(quad, name).__doc__


def test_functions_of_quad_can_be_pickled_and_show_their_signature() -> None:
    quad = pytest.importorskip("polhode.quad")
    for name in elliptic.__all__:
        function = getattr(quad, name)
        assert pickle.loads(pickle.dumps(function)) is function
    assert str(signature(quad.ellip_f)).startswith("(phi, k2, /, kc2=None, *, ")
    with pytest.raises(TypeError, match=r"agm\(\).*'b'"):
        quad.agm(1.0)
    with pytest.raises(TypeError, match="c"):
        quad.agm(1.0, 2.0, c=3.0)
    with pytest.raises(TypeError, match="phi"):
        quad.ellip_f(phi=1.0, k2=0.5)
