"""The published tables and figures, recomputed: ``python -m benchmarks.papers``.

Each item is a table or a figure of one of the five papers that the library follows, or a claim in
the text of one. Its published values (``published.toml``) stand beside those of this run, cell by
cell, and where a printed number is a slip, beside the explanation.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

import polhode as ph
from benchmarks.papers import _output
from benchmarks.papers._registry import Cell, Item, Result, Run, Table, items

__all__ = ["Cell", "Item", "Result", "Run", "Table", "items", "main"]

#: Results of all runs in a directory, and their table.
RESULTS, VERDICTS = "results.json", "verdicts.md"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description="Recompute the published tables and figures. Writes a table (Markdown, CSV) "
        "and a picture (PNG, SVG) of each item and report.html, and prints the verdicts.",
    )
    parser.add_argument("name", nargs="*", help="items to recompute; all of them by default")
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the items with their verdicts: quick ones are recomputed with --quick, for the "
        "others the last verdict in the directory of --out is shown",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("polhode-reproduce"),
        metavar="DIR",
        help="where to write (default: ./polhode-reproduce)",
    )
    parser.add_argument("--quick", action="store_true", help="smaller grids and fewer steps")
    return parser


def _selected(names: Sequence[str]) -> list[Item]:
    there = items()
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(name, there, n=3, cutoff=0.4)
            hint = f"; nearest: {', '.join(near)}" if near else ""
            raise ValueError(f"there is no item {name!r}{hint}; --list shows all")
    return [there[name] for name in dict.fromkeys(names or there)]


def _read_results(out: Path) -> dict[str, dict[str, str]]:
    path = out / RESULTS
    if not path.is_file():
        return {}
    results: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return results


def _failure(item: Item, error: Exception) -> str:
    """Print the exception of an item; return one line about it."""
    traceback.print_exception(error)
    print(f"polhode: {item.name} failed", file=sys.stderr)
    return f"failed: {type(error).__name__}: {error}"


def _list(selected: Sequence[Item], out: Path) -> bool:
    """Print the items with their verdicts; return whether one has failed."""
    kept = _read_results(out)
    width = max(len(item.name) for item in selected)
    failed = False
    for item in selected:
        if not item.slow:
            try:
                verdict = _output.summary(item(Run(quick=True))) + ", now, with --quick"
            except Exception as error:
                failed, verdict = True, _failure(item, error)
        elif item.name in kept:
            verdict = "{summary}, run of {date} by polhode {version}".format(**kept[item.name])
        else:
            verdict = "not run"
        print(f"{item.name:{width}}  {item.paper}, {item.where}: {item.shows}")
        print(f"{'':{width}}  {verdict}", flush=True)
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of ``python -m benchmarks.papers``.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments of the command; by default those of this process.

    Returns
    -------
    int
        Exit code. 0, whatever the verdicts; 1 if an item has failed with an exception; 2 if
        there is no item of a given name or the directory cannot be written.
    """
    options = _parser().parse_args(arguments)
    try:
        selected = _selected(options.name)
    except ValueError as error:
        print(f"polhode: {error}", file=sys.stderr)
        return 2
    try:
        if options.list:
            return int(_list(selected, options.out))
        options.out.mkdir(parents=True, exist_ok=True)
        command = "python -m benchmarks.papers" + " --quick" * options.quick
        command += "".join(f" {name}" for name in options.name)
        return int(_reproduce(selected, options.out, options.quick, command))
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"polhode: {error}", file=sys.stderr)
        return 2


def _recompute(item: Item, out: Path, quick: bool) -> dict[str, str]:
    """Run the item and write its files; return the stored facts."""
    provenance = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "version": ph.__version__}
    begun = time.perf_counter()
    try:
        result = item(Run(quick=quick))
        done = _output.Done(item, result, time.perf_counter() - begun, quick)
        picture = _output.write(done, out)
    except OSError:  # such as a full disk, which ends the other items as well
        raise
    except Exception as error:
        return {"summary": _failure(item, error), "verdict": "failed", **provenance}
    summary = _output.summary(result)
    tqdm.write(f"{item.name}  {summary}, {done.seconds:.1f} s")
    return {
        "summary": summary + (" with --quick" if quick else ""),
        "verdict": result.verdict,
        "picture": "yes" if picture is not None else "no",
        "section": _output.section(done),
        **provenance,
    }


def _reproduce(selected: Sequence[Item], out: Path, quick: bool, command: str) -> bool:
    """Run the items and write the files; return whether one has failed."""
    kept, failed = _read_results(out), False
    with tqdm(total=len(selected), desc="reproduce", disable=None, leave=False) as bar:
        for item in selected:
            bar.set_postfix_str(item.name)
            kept[item.name] = _recompute(item, out, quick)
            failed |= kept[item.name]["verdict"] == "failed"
            # Now, so that an interruption loses nothing of the items before.
            (out / RESULTS).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            bar.update()
    stored = [(item, kept[name]) for name, item in items().items() if name in kept]
    rows = [(item, of_item["summary"]) for item, of_item in stored]
    (out / VERDICTS).write_text(_output.verdicts(rows), encoding="utf-8")
    (out / "report.html").write_text(_output.report(stored, out, command), encoding="utf-8")
    print(f"tables, pictures, {VERDICTS} and report.html in {out}")
    return failed
