"""Write the tables of docs/*.md: `python docs/make_tables.py`, or `--check` that they are current.

Nothing is timed: times are read from the newest results of the suite of benchmarks in
benchmarks/results/*.json. Without results there are no columns of times, and tables that consist of
times stay as they are. Counts, orders, names and times must be equal. Errors depend on the last
bits of the instruction-set level; their order of magnitude must agree.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))

import tolerances

import polhode as ph
from benchmarks import Results, Row, Run, Times, load
from benchmarks._registry import cases
from benchmarks._report import pictures
from benchmarks.cases import gyro
from benchmarks.cases import methods as method_cases
from benchmarks.cases import splittings as splitting_cases

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "benchmarks/results"
BODIES = 100_000
#: Cases whose first picture stands in docs/pictures.
PICTURES = ("work_precision", "methods")


#: By name of a case, the newest committed results that have it.
Committed = Mapping[str, Results]


def newest() -> Committed:
    """The newest committed results of each case."""
    found = sorted((load(path) for path in RESULTS.glob("*.json")), key=lambda x: x.machine["time"])
    return {name: results for results in found for name in results.tables}


def rows(results: Committed, name: str) -> list[Row]:
    """The rows of the table of a case."""
    return results[name].tables[name].rows if name in results else []


def median(times: Times | None) -> str:
    """The median of a time; a dash where there is none."""
    if times is None or times.median is None:
        return "–"
    return f"{times.median:.3g}" if times.median < 1000 else f"{times.median:.0f}"


def where(results: Committed, name: str) -> str:
    """The machine of the results of a case, and its command."""
    if name not in results:
        return ""
    of = results[name].machine
    return (
        f"{of['processor']}, {of['compiler']}, level {of['level']}, commit {of['commit']} "
        f"(`python -m benchmarks --only {name}`)"
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def with_times(
    where: str, head: list[str], lines: list[list[str]], cells: list[str], at: int
) -> str:
    """The table, with a column of times and their machine if any of its cells has one."""
    if all(cell == "–" for cell in cells):
        return table(head, lines)
    head.insert(at, "ns per body per step")
    for line, cell in zip(lines, cells, strict=True):
        line.insert(at, cell)
    return f"Times: {where}.\n\n{table(head, lines)}"


def methods(results: Committed) -> str:
    """One row per method."""
    listed = ph.methods()
    at = [method_cases.STEPS.index(h) for h in (0.2, 1.0)]
    lines = []
    for m in listed:
        errors = method_cases.errors(m, "quaternion", 200, Run().rng())
        line = [
            f"`{m.name}`",
            m.kind,
            "exact" if m.order is None else str(m.order),
            str(ph.flops(m.name, hw=0.2)["total"]),
            *(f"{max(errors[i], 1e-16):.0e}" for i in at),
            "direct" if m.takes_torque else "",
            " ".join(f"`{name}`" for name in m.options),
            m.source,
        ]
        lines.append(line)
    head = "method, family, order, FLOPs, error at 0.2, error at 1, torque, options, source"
    times = {
        row.labels["method"]: row.times.get("one thread")
        for row in rows(results, "methods")
        if row.labels["attitude"] == "quaternion" and row.labels["bodies"] == BODIES
    }
    cells = [median(times.get(m.name)) for m in listed]
    return with_times(where(results, "methods"), head.split(", "), lines, cells, 4)


def options(results: Committed) -> str:
    """One row per option, with the methods that have it."""
    families: dict[tuple[str, str], list[str]] = {}
    defaults: dict[tuple[str, str], list[str]] = {}
    for m in ph.methods():
        for option in m.option_docs.items():
            families.setdefault(option, []).append(m.kind)
            defaults.setdefault(option, []).append(f"`{m.options[option[0]]!r}`")
    return table(
        ["option", "default", "meaning", "families"],
        [
            [
                f"`{name}`",
                defaults[name, doc][0] if len(set(defaults[name, doc])) == 1 else "by method",
                doc,
                ", ".join(dict.fromkeys(families[name, doc])),
            ]
            for name, doc in families
        ],
    )


def splittings(results: Committed) -> str:
    """One row per scheme."""
    listed = ph.splittings()
    ends = splitting_cases.exact_ends()
    lines = []
    for s in listed:
        flows = splitting_cases.flows(s)
        errors = splitting_cases.errors(s, splitting_cases.FLOWS // flows, ends)
        order = str(s.order)
        if s.generalised_order:
            order = str(s.generalised_order)
        elif s.effective_order != s.order:
            order = f"{s.order}, effective {s.effective_order}"
        needs = "only attitude" * s.attitude_only + ", modified potential" * s.modified
        lines.append(
            [
                f"`{s.name}`",
                order,
                str(flows),
                needs,
                *(f"{errors[top]:.0e}" for top in splitting_cases.TOPS),
                s.source,
            ]
        )
    head = ["scheme", "order", "free flows", "needs", "error, heavy", "error, fast", "source"]
    times = {row.labels["scheme"]: row.times["time"] for row in rows(results, "splittings")}
    cells = [median(times.get(s.name)) for s in listed]
    return with_times(where(results, "splittings"), head, lines, cells, 3)


def levels(results: Committed) -> str | None:
    """Times and error of the exact step at each level; None without results."""
    found = rows(results, "levels")
    if not found:
        return None
    head, lines = by_length("level", found)
    lines.append(["error", *(f"{row.values['error']:.1f}" for row in found)])
    return f"Measured on {where(results, 'levels')}.\n\n{table(head, lines)}"


def by_length(name: str, found: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Head and lines: a column per length of the step, a line per time."""
    head = [name, *(f"hw = {row.labels['hw']:g}" for row in found)]
    return head, [[x, *(median(row.times[x]) for row in found)] for x in found[0].times]


def layouts(results: Committed) -> str | None:
    """Times of the exact step in different arrays; None without results."""
    found = rows(results, "layouts")
    return table(*by_length("arrays", found)) if found else None


def growth(results: Committed) -> str | None:
    """Times of the exact step by the number of bodies; None without results."""
    found = [row for row in rows(results, "growth_bodies") if row.labels["method"] == "exact"]
    if not found:
        return None
    head = ["bodies per call", *(f"{row.labels['bodies']:,}" for row in found)]
    return table(head, [["ns per body", *(median(row.times["time"]) for row in found)]])


def threads(results: Committed) -> str | None:
    """Times of the exact step in several threads; None without results."""
    found = [row for row in rows(results, "growth_threads") if row.labels["method"] == "exact"]
    if not found:
        return None
    timed = [row for row in found if row.times["time"] and row.times["time"].median is not None]
    bodies = list(dict.fromkeys(row.labels["bodies"] for row in timed))
    counts = sorted({int(row.labels["threads"]) for row in found})
    times = {(row.labels["bodies"], row.labels["threads"]): row.times["time"] for row in found}
    lines = [[str(count), *(median(times.get((n, count))) for n in bodies)] for count in counts]
    return table(["threads", *(f"{n:,}" for n in bodies)], lines)


def which(results: Committed) -> str | None:
    """The fastest method for each problem and error; None without results."""
    found = rows(results, "which_method")
    if not found:
        return None
    lines = []
    for row in found:
        best = median(row.times.get("best"))
        method, steps, after, ratio = (
            row.values.get(name) for name in ("method", "steps", "next", "next / best")
        )
        lines.append(
            [
                str(row.labels["problem"]),
                f"{row.labels['error at most']:.0e}",
                f"`{method}`, {steps} step{'s' * (steps != 1)}" if method else "none",
                best,
                f"`{after}`, {ratio:.2f} times{', tie' * (row.note == 'tie')}" if after else "",
            ]
        )
    head = ["problem", "error at most", "fastest", "ns per body", "next family"]
    return f"Measured on {where(results, 'which_method')}.\n\n{table(head, lines)}"


def tops(results: Committed) -> str | None:
    """The heavy top by other programs: their times over that of polhode; None without results."""
    found = rows(results, "rivals-heavy-top")
    if not found:
        return None
    lines: dict[tuple[int, float], dict[str, str]] = {}
    for row in found:
        program, at = str(row.labels["program"]), str(row.labels["at"])
        time, ratio = row.times["time"].median, row.ratios.get("over polhode")
        if time is None or not at.startswith("error") or program.startswith("polhode"):
            continue
        bodies, error = int(row.labels["bodies"]), float(at.removeprefix("error = "))
        line = lines.setdefault((bodies, -error), {})
        if ratio is not None and ratio.median is not None:
            line[program] = f"{ratio.median:.3g}"
        elif ratio is None:  # More accurate than the error, at the coarsest setting.
            ours = [
                other.times["time"].median or np.inf
                for other in found
                if str(other.labels["program"]).startswith("polhode")
                and (other.labels["bodies"], other.labels["at"]) == (bodies, at)
            ]
            line[program] = f"≤ {time / min(ours):.3g}"
    programs = dict.fromkeys(name for line in lines.values() for name in line)
    head = ["tops", "error", *programs]
    cells = [
        [f"{n:,}", f"{-error:.0e}", *(line.get(x, "–") for x in programs)]
        for (n, error), line in sorted(lines.items())
    ]
    return f"Measured on {where(results, 'rivals-heavy-top')}.\n\n{table(head, cells)}"


def over(row: Row, name: str, above: str = "polhode") -> str:
    """Time of polhode over that of a program; ratio of medians where others interrupted."""
    ratio = row.ratios.get(f"{above} / {name}")
    if ratio is not None and ratio.median is not None:
        return f"{ratio.median:.2f}"
    ours, other = (row.times.get(x, Times()).median for x in (above, name))
    return f"≈ {ours / other:.2f}" if ours is not None and other is not None else "–"


def under_torque(results: Committed) -> str | None:
    """The fastest method under a torque beside the fastest other program; None without results."""
    found = rows(results, "rivals-torque")
    if not found:
        return None
    lines = []
    for row in found:
        labels, times = row.labels, dict(row.times)
        ours = times.pop("polhode")
        times.pop("adaptive rk8", None)
        call = times.pop("integrate", None)
        known = {name: x.median for name, x in times.items() if x.median is not None}
        peer = min(known, key=lambda name: known[name] or np.inf, default="")
        lines.append(
            [
                str(labels["problem"]),
                f"{labels['torque / energy']:g}",
                f"{labels['bodies']:,}",
                f"{labels['until']:g}",
                f"{labels['error']:.0e}",
                f"`{row.values['method']}`" if row.values.get("method") else "none",
                median(ours),
                median(call),
                f"{peer}, {median(times[peer])}" if peer else "–",
                *(over(row, name) for name in (peer, "Numba RK8", "heyoka.py")),
                over(row, "Numba RK8", "adaptive rk8"),
            ]
        )
    head = "problem, torque / energy, bodies, until t, error, fastest of polhode, ns, "
    head += "ns by `integrate`, best other program and its ns, over that program, "
    head += "over Numba RK8, over heyoka.py, adaptive `rk8` over Numba RK8"
    made = table(head.split(", "), lines)
    return f"Measured on {where(results, 'rivals-torque')}.\n\n{made}"


def long_runs(results: Committed) -> str | None:
    """Error and energy of long runs under torque; None without results."""
    found = [row for row in rows(results, "long-torque") if "turns" in row.labels]
    if not found:
        return None
    turns = list(dict.fromkeys(row.labels["turns"] for row in found))
    lines: dict[tuple[str, str], list[str]] = {}
    for row in found:
        strength, program = f"{row.labels['torque / energy']:g}", str(row.labels["program"])
        if "error" not in row.values:  # longer than a run may be
            lines[strength, program].append("–")
            continue
        line = lines.setdefault((strength, program), [f"{row.values['step']:.3g}", ""])
        line[1] = median(row.times["time"])
        line.append(f"{row.values['error']:.0e}; {row.values['energy']:.0e}")
    head = ["torque / energy", "program", "step", "ns per unit of time"]
    head += [f"{x:,} turns" for x in turns]
    made = table(head, [[*key, *line] for key, line in lines.items()])
    return f"Measured on {where(results, 'long-torque')}.\n\n{made}"


def drifts(_: Committed) -> str:
    """The drift of each order in coning, by rows a second."""
    counts = (50, 100, 200, 1000)
    lines = []
    for order, increments in gyro.KINDS:
        errors = [gyro.drift(n, order, increments, seconds=360) for n in counts]
        cells = [f"{x:.0f}" if x >= 10 else f"{x:.1f}" if x > 0.1 else f"{x:.0e}" for x in errors]
        lines.append([str(order), "increments" if increments else "rates", *cells])
    return table(["order", "from", *(f"{n} rows/s" for n in counts)], lines)


def domains(_: Committed) -> str:
    """What the groups of bounds apply to."""
    lines = [
        [f"`{name}`", functions, domain.replace("|", r"\|")]
        for name, (functions, domain) in tolerances.DOMAINS.items()
    ]
    return table(["bounds", "functions", "tested for"], lines)


def bounds(_: Committed) -> str:
    """The largest errors that the tests have measured, and their limits."""
    lines = [
        [f"`{b.name}`", f"{b.measured:g}", f"{b.limit:g}", b.unit.replace("|", r"\|")]
        for b in tolerances.BOUNDS.values()
    ]
    return table(["bound", "largest error measured", "limit of the test", "unit"], lines)


TABLES: dict[str, dict[str, Callable[[Committed], str | None]]] = {
    "accuracy.md": {"domains": domains, "bounds": bounds},
    "accuracy_and_speed.md": {
        "levels": levels,
        "growth": growth,
        "layouts": layouts,
        "threads": threads,
    },
    "choosing.md": {
        "which": which,
        "tops": tops,
        "under_torque": under_torque,
        "long_runs": long_runs,
    },
    "gyro_logs.md": {"drift": drifts},
    "methods.md": {"methods": methods, "options": options},
    "splitting.md": {"splittings": splittings},
}


def replaced(text: str, name: str, made: str) -> str:
    """The page with the table between the two marks replaced."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda mark: mark[1] + "\n" + made + "\n\n" + mark[2], text)


def sizes(text: str) -> tuple[str, list[float]]:
    """A page without its errors, and the errors."""
    number = re.compile(r"\b\de-\d\d\b")
    return number.sub("", text), [float(x) for x in number.findall(text)]


def draw(results: Committed) -> None:
    """Write the pictures of the README."""
    listed = cases()
    for name in PICTURES:
        made, fault = pictures(listed[name], results[name].tables[name])
        if fault or not made:
            raise RuntimeError(f"{name}: {fault or 'no picture; is Matplotlib installed?'}")
        (DOCS / f"pictures/{name}.png").write_bytes(made[0])


def main() -> int:
    """Write the tables, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--pictures", action="store_true", help="also draw docs/pictures/*.png")
    options = parser.parse_args()
    check, code, results = options.check, 0, newest()
    if options.pictures:
        draw(results)
    for page, tables in TABLES.items():
        path = DOCS / page
        new = old = path.read_text(encoding="utf-8")
        for name, make in tables.items():
            made = make(results)
            if made is not None:
                new = replaced(new, name, made)
        if not check:
            path.write_text(new, encoding="utf-8")
            continue
        (words, before), (now, after) = sizes(old), sizes(new)
        close = len(before) == len(after) and all(
            abs(np.log10(a / b)) < 0.5 or max(a, b) < 1e-14
            for a, b in zip(before, after, strict=True)
        )
        if words != now or not close:
            print(f"docs/{page} is not current: python docs/make_tables.py")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
