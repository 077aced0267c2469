"""Checks that no level leaks symbols: `python .ci/check_symbols.py [build directory]`.

Every level compiles the same headers for another processor.  An inline function whose name lacks
the level's namespace is one weak symbol to the linker, which keeps any one copy: a program then
meets an instruction that its processor lacks.  So in the objects of a level every defined global,
weak or unique symbol must bear the level in its name: inside polhode::<level>::, or as a table
polhode::dispatch::<topic>_<level>.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The compiler's own markers, which contain no code.
HARMLESS = re.compile(r"^(DW\.ref\.|_GLOBAL_OFFSET_TABLE_)")
SHARED = frozenset("ABCDGRSTVWuvw")  # nm's letters of defined symbols that the linker sees


def leaks(listing: str, level: str) -> list[str]:
    """Lines of nm -C --defined-only that another level could be merged with."""
    own = re.compile(rf"\bpolhode::{level}::|^polhode::dispatch::\w+_{level}$")
    found = []
    for line in listing.splitlines():
        symbol = re.match(r"^[0-9a-f]*\s*([A-Za-z]) (.*)$", line)
        if (
            symbol
            and symbol[1] in SHARED
            and not own.search(symbol[2])
            and not HARMLESS.search(symbol[2])
        ):
            found.append(line)
    return found


def level_objects(build: Path) -> dict[str, list[Path]]:
    """Objects of each level below a build directory."""
    found: dict[str, list[Path]] = {}
    for folder in sorted(build.rglob("polhode_*.dir")):
        objects = sorted(folder.rglob("*.o"))
        if objects:
            found.setdefault(folder.stem.removeprefix("polhode_"), []).extend(objects)
    return found


def list_symbols(path: Path) -> str:
    """nm's list of one object, names demangled."""
    return subprocess.run(
        ["nm", "-C", "--defined-only", str(path)], capture_output=True, text=True, check=True
    ).stdout


def check(build: Path) -> tuple[int, list[str]]:
    """Number of objects looked at, and a line for each leak."""
    wrong = []
    objects = [(level, path) for level, paths in level_objects(build).items() for path in paths]
    for level, path in objects:
        wrong += [f"{level}: {path.name}: {line}" for line in leaks(list_symbols(path), level)]
    return len(objects), wrong


def default_build() -> Path | None:
    """Where `pip install .` has just built: the newest build directory that is not a preset."""
    candidates = [p.parent for p in (ROOT / "build").glob("*/CMakeCache.txt")]
    candidates = [p for p in candidates if p.name not in ("sanitized", "asan", "debug", "tidy")]
    return max(candidates, key=lambda p: p.stat().st_mtime, default=None)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("build", nargs="?", type=Path, default=default_build())
    build = parser.parse_args().build
    if shutil.which("nm") is None:
        print("check_symbols: nm is not installed (Debian: binutils)")
        return 1
    if build is None:
        print("check_symbols: no build directory; `pip install .` makes one")
        return 1
    count, wrong = check(build)
    print(*wrong, sep="\n")
    print(f"{count} objects of the levels, {len(wrong)} symbols leak")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
