"""Write the reference tables of this folder that are our own: `python make_tables.py [name ...]`.

Arguments are doubles, written so that they read back exactly; values have 25 digits and belong to
exactly those doubles. The column `half_ulp` says what half an ulp in each argument does to the
value, relative to it, summed over the arguments. Everything is seeded: a second run writes the same
bytes. References are computed with mpmath in 50 digits and more:

- R_J: mpmath needs more digits than 1.3 |log10 p|; for p < 0 it integrates along a complex path,
  which is slow, so DLMF 19.20.14 takes p > 0 (checked against the integral in `self_check`).
- sn, cn, dn, am: the descending Landen transformation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import mpmath as mp
import numpy as np
from mpmath import mpf

HERE = Path(__file__).parent
DIGITS = 50
Row = Sequence[float]


def spread(args: Row) -> int:
    """Decades between the arguments and 1, for extra digits."""
    return int(max((abs(mp.log10(abs(mpf(x)))) for x in args if x), default=0))


def rf(x: mpf, y: mpf, z: mpf) -> mpf:
    return mp.elliprf(x, y, z)


def rc(x: mpf, y: mpf) -> mpf:
    return mp.re(mp.elliprc(x, y))


def rd(x: mpf, y: mpf, z: mpf) -> mpf:
    return mp.elliprd(x, y, z)


def rj(x: mpf, y: mpf, z: mpf, p: mpf) -> mpf:
    with mp.workdps(mp.mp.dps + 4 * spread([x, y, z, p])):
        if p > 0:
            return mp.elliprj(x, y, z, p)
        x, y, z = sorted([x, y, z])
        a = (z - y) * (y - x) / (y - p) + y
        terms = (a - y) * mp.elliprj(x, y, z, a) - 3 * mp.elliprf(x, y, z)
        if x:
            root = mp.sqrt(x * y * z / (x * z - a * p))
            terms += 3 * root * mp.elliprc(x * z - a * p, -a * p)
        return terms / (y - p)


def rj_far_apart(x: mpf, y: mpf, z: mpf, p: mpf) -> mpf:
    """R_J by duplication with one R_C a time: [Carlson95] Sec. 2, without its cancellation.

    mpmath's R_J needs as many digits as there are decades between the arguments, which is slow.
    """
    if p < 0:  # DLMF 19.21.12 about the largest argument
        with mp.workdps(2500):
            c, b, a = sorted([x, y, z])
            q = a + (b - a) * (c - a) / (p - a)
            lengths, r_c = (p - a, q - a), (b * c / a, p * q / a)
        terms = 3 * rf_far_apart(x, y, z) - 3 * rc_far_apart(*r_c)
        return (terms - lengths[1] * rj_far_apart(x, y, z, q)) / lengths[0]
    v, factor, total, mean = [x, y, z, p], mpf(1), mpf(0), x
    while not mean or max(abs(t / mean - 1) for t in v) > mpf(10) ** -14:
        r = [mp.sqrt(t) for t in v]
        shift = r[0] * r[1] + r[1] * r[2] + r[2] * r[0]
        d = (r[3] + r[0]) * (r[3] + r[1]) * (r[3] + r[2])
        total += 6 * factor / d * rc_far_apart(mpf(1), 2 * r[3] * (v[3] + shift) / d)
        v, factor = [(t + shift) / 4 for t in v], factor / 4
        mean = (v[0] + v[1] + v[2] + 2 * v[3]) / 5
    X, Y, Z = ((mean - t) / mean for t in v[:3])
    e2 = X * Y + X * Z + Y * Z - 3 * (X + Y + Z) ** 2 / 4
    return total + factor / (mean * mp.sqrt(mean)) * (1 - 3 * e2 / 14)


def rd_far_apart(x: mpf, y: mpf, z: mpf) -> mpf:
    return rj_far_apart(x, y, z, z)


def rf_far_apart(x: mpf, y: mpf, z: mpf) -> mpf:
    v, mean = [x, y, z], mpf(0)
    while not mean or max(abs(t / mean - 1) for t in v) > mpf(10) ** -14:
        r = [mp.sqrt(t) for t in v]
        shift = r[0] * r[1] + r[1] * r[2] + r[2] * r[0]
        v = [(t + shift) / 4 for t in v]
        mean = sum(v) / 3
    X, Y, Z = ((mean - t) / mean for t in v)
    return (1 - (X * Y - Z * Z) / 10) / mp.sqrt(mean)


def rc_far_apart(x: mpf, y: mpf) -> mpf:
    if y < 0:
        return mp.sqrt(x / (x - y)) * rc_far_apart(x - y, -y)
    if abs(y - x) <= mpf(10) ** -20 * y:
        return (1 - (y - x) / (3 * x)) / mp.sqrt(x)
    if x < y:
        return mp.atan2(mp.sqrt(y - x), mp.sqrt(x)) / mp.sqrt(y - x)
    return mp.asinh(mp.sqrt(x / y - 1)) / mp.sqrt(x - y)


def agm(a: mpf, b: mpf) -> mpf:
    return mp.agm(a, b)


def jacobi(u: mpf, kc2: mpf) -> tuple[mpf, mpf, mpf, mpf]:
    with mp.workdps(mp.mp.dps + 2 * spread([u, kc2])):
        return _jacobi(u, kc2)


def _jacobi(u: mpf, kc2: mpf) -> tuple[mpf, mpf, mpf, mpf]:
    k2 = 1 - kc2
    if kc2 == 0:
        return mp.tanh(u), mp.sech(u), mp.sech(u), 2 * mp.atan(mp.tanh(u / 2))
    if kc2 < 0:
        k = mp.sqrt(k2)
        s, c, d, _ = _jacobi(u * k, -kc2 / k2)
        return s / k, d, c, mp.asin(s / k)
    if k2 < 0:
        kc = mp.sqrt(kc2)
        s, c, d, _ = _jacobi(u * kc, 1 / kc2)
        am = mp.atan2(s / (d * kc), c / d)
        w = u * mp.agm(1, kc)
        return s / (d * kc), c / d, 1 / d, am + 2 * mp.pi * mp.nint((w - am) / (2 * mp.pi))
    a, b, steps = mpf(1), mp.sqrt(kc2), []
    while abs(a - b) > mpf(10) ** (3 - mp.mp.dps) * a:
        a, b, c = (a + b) / 2, mp.sqrt(a * b), (a - b) / 2
        steps.append(c / a)
    phi = mpf(2) ** len(steps) * a * u
    for ratio in reversed(steps):
        phi = (phi + mp.asin(ratio * mp.sin(phi))) / 2
    s, c = mp.sin(phi), mp.cos(phi)
    return s, c, mp.sqrt(kc2 + k2 * c * c), phi


def ellip_k(kc2: mpf) -> mpf:
    return mp.pi / (2 * mp.agm(1, mp.sqrt(kc2)))


def _quarter(phi: mpf) -> tuple[mpf, mpf, mpf]:
    j = mp.nint(phi / mp.pi)
    return j, mp.sin(phi - j * mp.pi), mp.cos(phi - j * mp.pi)


def ellip_f(phi: mpf, k2: mpf) -> mpf:
    with mp.workdps(mp.mp.dps + 2 * spread([phi, k2])):
        j, s, c = _quarter(phi)
        return (2 * j * ellip_k(1 - k2) if j else 0) + s * mp.elliprf(c * c, 1 - k2 * s * s, 1)


def ellip_pi_complete(n: mpf, k2: mpf) -> mpf:
    with mp.workdps(mp.mp.dps + 2 * spread([n, k2])):
        return mp.elliprf(0, 1 - k2, 1) + n / 3 * rj(mpf(0), 1 - k2, mpf(1), 1 - n)


def ellip_pi(n: mpf, phi: mpf, k2: mpf) -> mpf:
    with mp.workdps(mp.mp.dps + 2 * spread([n, phi, k2])):
        j, s, c = _quarter(phi)
        d, p = 1 - k2 * s * s, 1 - n * s * s
        value = s * mp.elliprf(c * c, d, 1) + n / 3 * s**3 * rj(c * c, d, mpf(1), p)
        return value + (2 * j * ellip_pi_complete(n, k2) if j else 0)


# --- the arguments ---


def log_uniform(rng: np.random.Generator, decades: float, count: int) -> list[float]:
    return [float(10**x) for x in rng.uniform(-decades, decades, count)]


def carlson_rows(
    rng: np.random.Generator, count: int, *, zero: bool, sizes: Sequence[tuple[float, int]]
) -> Iterator[list[float]]:
    for decades, rows in sizes:
        for i in range(rows):
            args = log_uniform(rng, decades, count)
            if zero and i % 5 == 0:
                args[int(rng.integers(2))] = 0.0
            if i % 7 == 0:
                args[-1] = args[0] * (1 + float(rng.uniform(-1e-3, 1e-3))) or 1.0
            yield args


def rj_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    sizes = ((1, 60), (6, 60), (30, 30), (150, 12), (300, 6))
    yield from carlson_rows(rng, 4, zero=True, sizes=sizes)
    for args in carlson_rows(rng, 4, zero=True, sizes=((1, 60), (6, 40), (30, 20))):
        yield [*args[:3], -args[3]]
    # one argument far from the others, in each place
    for i in range(4):
        for far in (1e-250, 1e-20, 1e20, 1e250):
            args = log_uniform(rng, 1, 4)
            args[i] = far
            yield args
    yield [1e-300, 1e-300, 1e300, 1e-300]
    yield [2e-300, 1e-300, 3e-300, 5e-300]
    yield [2e300, 1e300, 3e300, 5e300]


def rj_far_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    """Exponents over the whole range, zeros, equal arguments, both signs of p."""
    rows = 0
    while rows < 120:
        args = log_uniform(rng, 300, 4)
        if rows % 3 == 0:
            args[int(rng.integers(3))] = 0.0
        elif rows % 3 == 1:
            args[1] = args[0] * (1 + 0.1 * float(rng.normal()))
        if rows % 2:
            args[3] = -args[3]
        if 1e-300 < abs(rj_far_apart(*map(mpf, args))) < 1e300:
            rows += 1
            yield args
    for args in (
        (8.265379410324846e123, 0.0, 1.0589639533006015e-266, 4.962311600754546e139),
        (1.0128881468452325e-293, 1.2846955925017852e129, 0.0, 2.161694146598827e168),
        (0.0, 1e-300, 1e100, 1e120),
        (
            5.072498399676376e244,
            8.302720468876359e250,
            5.27638872337299e-93,
            3.6850996848029814e-128,
        ),
        (1.8485959552814182e238, 2.355052854750882e292, 0.0, 3.0249182169088764e-299),
        (
            3.112425451035389e209,
            1.4697185332819676e246,
            3.666507418299176e-274,
            2.829100521604316e-101,
        ),
    ):
        yield list(args)


def rd_far_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    """As for R_J."""
    rows = 0
    while rows < 90:
        args = log_uniform(rng, 300, 3)
        if rows % 3 == 0:
            args[int(rng.integers(2))] = 0.0
        elif rows % 3 == 1:
            args[rows % 2] = args[2] * (1 + 0.1 * float(rng.normal()))
        if 1e-300 < rd_far_apart(*map(mpf, args)) < 1e300:
            rows += 1
            yield args
    for far in (1e-305, 1e-300, 1e284, 1e300, 1e305):  # of the ends of the range
        yield [far, 1.0, 2.0]
        yield [far, 0.0, 1.0]
    yield [1e305, 1e-305, 1e-50]
    yield [1e305, 1e305, 1e-100]


def jacobi_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    """u, kc2; the case k2 = 1 - kc2 in double is left to the test."""
    for _ in range(40):
        u = float(rng.uniform(-10, 10))
        yield [u, float(rng.uniform(0, 1))]
        yield [u, float(10 ** rng.uniform(-15, -2))]
        yield [u * 30, float(10 ** rng.uniform(-300, -10))]
        yield [u, 1 - float(10 ** rng.uniform(-16, -1))]
        yield [u, float(1 + 10 ** rng.uniform(-10, 4))]
        yield [u, float(-(10 ** rng.uniform(-14, 4)))]
        yield [float(10 ** rng.uniform(-10, 0)), float(rng.uniform(0, 1))]
        yield [float(10 ** rng.uniform(1, 6)), float(10 ** rng.uniform(-12, 0))]
    for kc2 in (0.0, 1.0, 1e-4, 1e-15, 0.5, 2.0, -1.0):
        quarter = 1.0 if kc2 <= 0 else float(ellip_k(mpf(kc2)))
        for u in (0.0, quarter, float(np.nextafter(quarter, 9)), 2 * quarter, -3 * quarter, 1e6):
            yield [u, kc2]
    for size in (1e8, 1e100, 1e300):
        for u in (1e-3, 1.0, 30.0):
            yield [u / size**0.5, size]
            yield [u / size**0.5, -size]


def amplitude_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    """phi, k2."""
    for i in range(60):
        phi = float(rng.uniform(-1.57, 1.57))
        k2 = 1 - float(10 ** rng.uniform(-14, 0))
        yield [phi, k2]
        yield [phi * float(rng.choice([2.0, 20.0])), k2]
        yield [phi, float(-(10 ** rng.uniform(-5, 8)))]
        yield [phi * 3, float(-(10 ** rng.uniform(-5, 8)))]
        above = float(10 ** rng.uniform(0, 4))
        yield [float(np.arcsin(rng.uniform(-0.95, 0.95) / above**0.5)), above]
        if i % 6 == 0:
            yield [float(10 ** rng.uniform(-300, -3)), k2]
            yield [float(10 ** rng.uniform(2, 6)), k2]
    for j in (1, 3, 5, 17, 101):
        yield [j * float(np.pi) / 2, 0.5]


def pi_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    """n, phi, k2."""
    for _ in range(30):
        phi, k2 = float(rng.uniform(-1.57, 1.57)), float(rng.uniform(0, 1))
        negative = float(-(10 ** rng.uniform(-3, 4)))
        low, high = float(-(10 ** rng.uniform(-3, 6))), float(1 + 10 ** rng.uniform(-3, 3))
        unit = float(rng.uniform(0, 1))
        yield [unit, phi, k2]
        yield [unit, phi, negative]
        yield [low, phi, k2]
        yield [low, phi, negative]
        yield [high, phi, k2]
        yield [high, phi, negative]
        yield [unit, 6 * phi, k2]
        yield [low, 6 * phi, k2]
        yield [high, 6 * phi, k2]
        above = float(10 ** rng.uniform(0, 3))
        yield [low, float(np.arcsin(rng.uniform(-0.9, 0.9) / above**0.5)), above]
        yield [high, float(np.arcsin(rng.uniform(-0.9, 0.9) / above**0.5)), above]


def pi_complete_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    """n, k2."""
    for _ in range(40):
        k2, negative = float(rng.uniform(0, 1)), float(-(10 ** rng.uniform(-3, 4)))
        for parameter in (k2, negative, 1 - float(10 ** rng.uniform(-14, -1))):
            yield [float(rng.uniform(0, 1)), parameter]
            yield [float(-(10 ** rng.uniform(-3, 8))), parameter]
            yield [float(1 + 10 ** rng.uniform(-3, 5)), parameter]
    for n in (-0.5, -3.0, 0.3):
        yield [n, n * (1 + 1e-9)]
        yield [n, n]


SMALL = ((1, 60), (6, 60), (30, 40), (150, 20), (300, 20))


def signed_rc_rows(rng: np.random.Generator) -> Iterator[list[float]]:
    for i, args in enumerate(carlson_rows(rng, 2, zero=False, sizes=SMALL)):
        yield [args[0], args[1] if i % 2 else -args[1]]
    yield [0.0, 2.0]
    yield [3.0, 3.0]


Table = tuple[str, Callable[..., object], str, Callable[[np.random.Generator], Iterator[Row]], bool]
TABLES: list[Table] = [
    ("agm", agm, "a b", lambda r: carlson_rows(r, 2, zero=False, sizes=SMALL), False),
    ("rf", rf, "x y z", lambda r: carlson_rows(r, 3, zero=True, sizes=SMALL), False),
    ("rc", rc, "x y", signed_rc_rows, False),
    ("rd", rd, "x y z", lambda r: carlson_rows(r, 3, zero=True, sizes=SMALL[:4]), False),
    ("rj", rj, "x y z p", rj_rows, True),
    ("jacobi", jacobi, "u kc2", jacobi_rows, False),
    ("ellip_f", ellip_f, "phi k2", amplitude_rows, True),
    (
        "ellip_k",
        ellip_k,
        "kc2",
        lambda r: carlson_rows(r, 1, zero=False, sizes=((1, 30), (15, 30), (300, 40))),
        False,
    ),
    ("ellip_pi", ellip_pi, "n phi k2", pi_rows, True),
    ("ellip_pi_complete", ellip_pi_complete, "n k2", pi_complete_rows, True),
    ("rj_far_apart", rj_far_apart, "x y z p", rj_far_rows, True),
    ("rd_far_apart", rd_far_apart, "x y z", rd_far_rows, False),
]


def half_ulp(function: Callable[..., object], args: list[mpf], value: mpf) -> mpf:
    total = mpf(0)
    for i, x in enumerate(args):
        moved = [*args[:i], x * (1 + mpf(2) ** -53), *args[i + 1 :]]
        total += abs(function(*moved) - value)
    return total / abs(value)


def write(table: Table, seed: int) -> None:
    name, function, names, rows, sensitive = table
    rng = np.random.default_rng([20, seed])
    outputs = "sn cn dn am" if name == "jacobi" else "value"
    columns = [*names.split(), *outputs.split(), *(["half_ulp"] if sensitive else [])]
    lines = ["# source: make_tables.py of this folder, mpmath", ",".join(columns)]
    for row in rows(rng):
        args = [mpf(x) for x in row]
        value = function(*args)
        values = value if isinstance(value, tuple) else (value,)
        cells = [repr(float(x)) for x in row] + [mp.nstr(v, 25) for v in values]
        if sensitive:
            cells.append(mp.nstr(half_ulp(function, args, values[0]), 3))
        lines.append(",".join(cells))
    (HERE / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}.csv: {len(lines) - 2} rows")


def write_boost_rj_half_ulp() -> None:
    """For the rows of Boost's table of R_J with p < 0, which pass near zeros."""
    lines = ["# source: make_tables.py of this folder, mpmath", "row,half_ulp"]
    text = (HERE / "boost_ellint_rj_data.csv").read_text(encoding="utf-8")
    rows = [r for r in text.splitlines() if not r.startswith("#")][1:]
    for i, row in enumerate(rows):
        args = [mpf(float(x)) for x in row.split(",")[:4]]
        if args[3] < 0:
            lines.append(f"{i},{mp.nstr(half_ulp(rj, args, rj(*args)), 3)}")
    (HERE / "boost_ellint_rj_half_ulp.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def self_check() -> None:
    """The principal value of R_J against the integral that mpmath does."""
    for args in ([1, 2, 3, -4], [mpf("0.3"), mpf("0.5"), 1, -300]):
        mine = rj(*map(mpf, args))
        with mp.workdps(20):
            assert abs(mine / mp.re(mp.elliprj(*args)) - 1) < mpf(10) ** -15
    for args in ([1, 2, 3, -4], [1, 2, 3, 4], [mpf(10) ** -40, 0, 7, 3], [mpf(10) ** 40, 2, 0, -3]):
        assert abs(rj_far_apart(*map(mpf, args)) / rj(*map(mpf, args)) - 1) < mpf(10) ** -30
    for args in ([1, 2, 3], [mpf(10) ** -40, 0, 7], [mpf(10) ** 40, 2, mpf(10) ** -9]):
        assert abs(rd_far_apart(*map(mpf, args)) / rd(*map(mpf, args)) - 1) < mpf(10) ** -30
    s, c, d, _ = jacobi(mpf("1.3"), mpf("0.2"))
    for kind, mine in (("sn", s), ("cn", c), ("dn", d)):
        assert abs(mine - mp.ellipfun(kind, mpf("1.3"), m=mpf("0.8"))) < mpf(10) ** -40


def main(wanted: Sequence[str]) -> None:
    mp.mp.dps = DIGITS
    self_check()
    for seed, table in enumerate(TABLES):
        if not wanted or table[0] in wanted:
            write(table, seed)
    if not wanted or "boost_rj" in wanted:
        write_boost_rj_half_ulp()


if __name__ == "__main__":
    main(sys.argv[1:])
