"""The command ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from benchmarks import _compare, _machine, _registry, _report, _results
from benchmarks._timing import Timer

#: Much less time for each function, and few windows.
QUICK = Timer(seconds=0.01, window=1e-4, least=5, most=20)


def timer(quick: bool) -> Timer:
    """The timer of a run."""
    return QUICK if quick else Timer()


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Times and errors of polhode on this machine, as JSON and as an HTML report.",
    )
    made.add_argument("--quick", action="store_true", help="little data, under two minutes")
    made.add_argument(
        "--only", action="append", metavar="NAME", help="only this case; may be repeated"
    )
    made.add_argument("--list", action="store_true", help="list the cases")
    made.add_argument(
        "--out",
        type=Path,
        default=Path("polhode-bench"),
        metavar="DIR",
        help="directory of the results (default: polhode-bench); with --only a directory in "
        "it, named after the cases, so that the results of a full run remain",
    )
    made.add_argument(
        "--compare",
        nargs=2,
        type=Path,
        metavar=("A.json", "B.json"),
        help="list the times and errors that changed from A to B",
    )
    made.add_argument(
        "--threads",
        type=int,
        default=-1,
        metavar="N",
        help="number of threads for times with several (default: one per core)",
    )
    made.add_argument("--seed", type=int, default=_registry.SEED, help="of the random numbers")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after ``python -m benchmarks``; by default those of this process.

    Returns
    -------
    int
        Exit code: 0; 1 if a case failed; 2 if a file to compare is not a result file of the
        suite, or if the two files cannot be compared.
    """
    made = parser()
    options = made.parse_args(arguments)
    if options.compare:
        try:
            old, new = (_results.load(path) for path in options.compare)
            print(_compare.compare(old, new))
        except (OSError, ValueError) as error:
            print(f"polhode: {error}", file=sys.stderr)
            return 2
        return 0
    cases = _registry.cases()
    if options.list:
        width = max(map(len, cases))
        for name, case in cases.items():
            print(f"{name:{width}}  {case.title}")
        return 0
    for name in options.only or ():
        if name not in cases:
            made.error(f"there is no case {name!r}; --list shows them")
    chosen = _with_those_before(options.only, cases) if options.only else list(cases)
    return _measure(options, {name: cases[name] for name in chosen})


def _measure(options: argparse.Namespace, chosen: dict[str, _registry.Case]) -> int:
    """Run the cases and write results, report and pictures."""
    run = _registry.Run(options.quick, timer(options.quick), options.threads, options.seed)
    machine = {
        **_machine.machine(),
        "command": command(options),
        "quick": options.quick,
        "threads": options.threads,
        "seed": options.seed,
    }
    out = options.out / "+".join(dict.fromkeys(options.only)) if options.only else options.out
    out.mkdir(parents=True, exist_ok=True)
    tables: dict[str, _results.Table] = {}
    images: dict[str, list[bytes]] = {}
    results = _results.Results(machine, tables)
    with tqdm(chosen.items(), disable=None, leave=False) as bar:
        for name, case in bar:
            bar.set_description(name)
            table = case.run(replace(run, tables=tables))
            images[name], fault = _report.pictures(case, table, options.quick)
            if fault:
                table = replace(table, fault="; ".join(x for x in (table.fault, fault) if x))
            tables[name] = table
            results.save(out / "results.json")
            for number, image in enumerate(images[name], 1):
                (out / f"{name}-{number}.png").write_bytes(image)
            if options.only:
                bar.clear()
                print(_report.text(table), end="\n\n")
    machine["load at the end"] = _machine.load()
    results.save(out / "results.json")
    page = out / "report.html"
    page.write_text(_report.report(results, images), encoding="utf-8")
    seconds = sum(t.seconds for t in tables.values())
    print(f"{len(tables)} case{'s' * (len(tables) != 1)} in {seconds:.0f} s: {page}")
    return _print_faults(tables)


def _print_faults(tables: dict[str, _results.Table]) -> int:
    """Print failed cases and counts of missing times; 1 if a case failed."""
    failed = [table for table in tables.values() if table.fault]
    for table in failed:
        print(f"{table.name} failed: {table.fault}", file=sys.stderr)
    every = [t for table in tables.values() for row in table.rows for t in row.times.values()]
    for word, why in (
        ("loaded", "other programs took the processor"),
        ("spread", "the windows differ too much"),
    ):
        if left := sum(times.reason.startswith(word) for times in every):
            print(f"{left} times are left out: {why}")
    return 1 if failed else 0


def command(options: argparse.Namespace) -> str:
    """The command of a run, without the directory of its results."""
    words = ["python -m benchmarks", *["--quick"] * options.quick]
    words += [f"--only {name}" for name in options.only or ()]
    if options.threads != -1:
        words.append(f"--threads {options.threads}")
    if options.seed != _registry.SEED:
        words.append(f"--seed {options.seed}")
    return " ".join(words)


def _with_those_before(names: Sequence[str], cases: dict[str, _registry.Case]) -> list[str]:
    """The names and the cases that they are made after, in order."""
    wanted = set(names)
    for name in reversed(cases):
        if name in wanted:
            wanted.update(cases[name].after)
    return [name for name in cases if name in wanted]
