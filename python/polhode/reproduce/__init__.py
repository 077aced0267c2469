"""The published tables and figures, recomputed: ``python -m polhode reproduce``.

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
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

import polhode as ph
from polhode.reproduce import _output
from polhode.reproduce._registry import Cell, Item, Result, Run, Table, items

__all__ = ["Cell", "Item", "Result", "Run", "Table", "items", "main"]

#: What runs into one directory have found, and the same as a table for people.
RESULTS, VERDICTS = "results.json", "verdicts.md"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m polhode reproduce",
        description="Recompute the published tables and figures. Writes a table (Markdown, CSV) "
        "and a picture (PNG, SVG) of each item and report.html, and prints the verdicts.",
    )
    parser.add_argument("name", nargs="*", help="items to recompute; all of them by default")
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the items with their verdicts: those that take a moment are recomputed now, "
        "the others have the verdict of the last run in the directory of --out",
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


def _done(item: Item, quick: bool) -> _output.Done:
    begun = time.perf_counter()
    result = item(Run(quick=quick))
    return _output.Done(item, result, time.perf_counter() - begun, quick)


def _list(selected: Sequence[Item], out: Path) -> None:
    kept = _read_results(out)
    width = max(len(item.name) for item in selected)
    for item in selected:
        if not item.dear:
            verdict = _output.summary(item(Run(quick=True)))
        elif item.name in kept:
            verdict = "{summary}, run of {date} by polhode {version}".format(**kept[item.name])
        else:
            verdict = "not run"
        print(f"{item.name:{width}}  {item.paper}, {item.where}: {item.shows}")
        print(f"{'':{width}}  {verdict}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of ``python -m polhode reproduce``.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after ``reproduce``; by default those of this process.

    Returns
    -------
    int
        Exit code. 0, whatever the verdicts, or 2 if there is no item of a given name or the
        directory cannot be written.
    """
    options = _parser().parse_args(arguments)
    try:
        selected = _selected(options.name)
        if options.list:
            _list(selected, options.out)
            return 0
        options.out.mkdir(parents=True, exist_ok=True)
        _reproduce(selected, options.out, options.quick)
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        print(f"polhode: {error}", file=sys.stderr)
        return 2
    return 0


def _reproduce(selected: Sequence[Item], out: Path, quick: bool) -> None:
    all_done, pictures, kept = [], {}, _read_results(out)
    width = max(len(item.name) for item in selected)
    with tqdm(total=len(selected), desc="reproduce", disable=None, leave=False) as bar:
        for item in selected:
            bar.set_postfix_str(item.name)
            done = _done(item, quick)
            picture = _output.write(done, out)
            if picture is not None:
                pictures[item.name] = picture
            all_done.append(done)
            kept[item.name] = {
                "summary": _output.summary(done.result) + (" with --quick" if quick else ""),
                "date": time.strftime("%Y-%m-%d", time.gmtime()),
                "version": ph.__version__,
            }
            # Now, so that an interruption loses nothing of the items before.
            (out / RESULTS).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            tqdm.write(f"{item.name:{width}}  {_output.summary(done.result)}, {done.seconds:.1f} s")
            bar.update()
    rows = [(item, kept[name]["summary"]) for name, item in items().items() if name in kept]
    (out / VERDICTS).write_text(_output.verdicts(rows), encoding="utf-8")
    (out / "report.html").write_text(_output.report(all_done, pictures), encoding="utf-8")
    print(f"tables, pictures, {VERDICTS} and report.html in {out}")
