"""Write the tables of docs/*.md: `python docs/make_tables.py`, or `--check` that they are current.

Counts, orders and names must be equal. Errors depend on the last bits of the instruction-set level;
their order of magnitude must agree.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np

import polhode as ph

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "benchmarks"))

import bench_methods  # noqa: E402
import bench_splitting  # noqa: E402


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def methods() -> str:
    """One row per method."""
    listed = ph.methods()
    errors = bench_methods.errors([m.name for m in listed], quick=False)
    rows = [
        [
            f"`{m.name}`",
            m.kind,
            "exact" if m.order is None else str(m.order),
            str(ph.flops(m.name, hw=0.2)["total"]),
            *(f"{max(error, 1e-16):.0e}" for error in errors[m.name]),
            "direct" if m.takes_torque else "",
            " ".join(f"`{name}`" for name in m.options),
            m.source,
        ]
        for m in listed
    ]
    head = "method, family, order, FLOPs, error at 0.2, error at 1, torque, options, source"
    return table(head.split(", "), rows)


def options() -> str:
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


def splittings() -> str:
    """One row per scheme."""
    listed = ph.splittings()
    (best,) = (s for s in listed if s.name == "sofroniou10_35")
    tops = bench_splitting.TOPS.values()
    references = [bench_splitting.end(best, 60, *top) for top in tops]
    rows = []
    for s in listed:
        flows = bench_splitting.flows(s)
        ends = [bench_splitting.end(s, bench_splitting.FLOWS // flows, *top) for top in tops]
        errors = [np.abs(a - b).max() for a, b in zip(ends, references, strict=True)]
        order = str(s.order)
        if s.generalised_order:
            order = str(s.generalised_order)
        elif s.effective_order != s.order:
            order = f"{s.order}, effective {s.effective_order}"
        needs = "only attitude" * s.attitude_only + ", modified potential" * s.modified
        rows.append(
            [f"`{s.name}`", order, str(flows), needs, *(f"{e:.0e}" for e in errors), s.source]
        )
    return table(
        ["scheme", "order", "free flows", "needs", "error, heavy", "error, fast", "source"], rows
    )


TABLES = {
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


def main() -> int:
    """Write the tables, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    code = 0
    for page, tables in TABLES.items():
        path = DOCS / page
        new = old = path.read_text(encoding="utf-8")
        for name, make in tables.items():
            new = replaced(new, name, make())
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
