"""Checks a wheel and a source distribution: `python .ci/check_packages.py DIRECTORY`.

The wheel in DIRECTORY holds the package, the headers and the compiled files, and nothing else.  It
has at most 7 MB and no symbol table, and its module finds libpolhode relative to itself.  The
source distribution holds the files of the repository.  On Linux auditwheel says on which systems
the wheel runs, and writes the wheel with that tag into DIRECTORY/repaired, which is checked again.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Four levels of every kernel take 6 MB.
MOST_BYTES = 7_000_000
MODULES = ("_core", "_quad")
THREAD_DATA = "lib/libpolhode_thread_data.so"
CMAKE = ("polhodeConfig.cmake", "polhodeConfig-release.cmake", "polhodeConfigVersion.cmake")
METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")


def output(*command: str | Path) -> str:
    """What a program prints."""
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def differences(what: str, expected: set[str], found: set[str]) -> list[str]:
    """A line for each file that is missing or not wanted."""
    return [f"{what}: {name} is missing" for name in sorted(expected - found)] + [
        f"{what}: {name} is not wanted" for name in sorted(found - expected)
    ]


def tracked(folder: str = ".") -> set[str]:
    """The files of the repository in a folder, with their paths in it."""
    return set(output("git", "-C", folder, "ls-files").split("\n")) - {""}


def check_contents(wheel: Path, names: set[str]) -> list[str]:
    """Lines about files that a wheel lacks or should not have."""
    plain = {re.sub(r"^polhode-[^/]*\.dist-info/", "dist-info/", name) for name in names}
    plain = {re.sub(r"(_core|_quad)\.c\w+-.*\.so$", r"\1", name) for name in plain}
    plain.discard("dist-info/sboms/auditwheel.cdx.json")
    expected = {f"polhode/{name}" for name in (*MODULES, "lib/libpolhode.so", THREAD_DATA)}
    expected |= {f"polhode/{name}" for name in tracked("python/polhode")}
    expected |= {f"polhode/include/{name}" for name in tracked("cpp/include")}
    expected |= {f"polhode/share/cmake/polhode/{name}" for name in CMAKE}
    expected |= {f"dist-info/{name}" for name in METADATA}
    return differences(wheel.name, expected, plain)


def check_wheel(wheel: Path) -> list[str]:
    """Lines about what is wrong with a wheel."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    wrong = [f"{wheel.name}: more than {MOST_BYTES / 1e6:g} MB"] if size > MOST_BYTES else []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        wrong += check_contents(wheel, {x for x in archive.namelist() if x[-1] != "/"})
        archive.extractall(folder)
        for path in sorted(Path(folder).rglob("*.so")):
            sections = re.findall(r"\.symtab|\.debug_\w+", output("readelf", "-SW", path))
            wrong += [f"{wheel.name}: {path.name} has {name}" for name in set(sections)]
            dynamic = output("readelf", "-d", path)
            paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
            needs = "Shared library: [libpolhode.so]" in dynamic
            if paths != (["$ORIGIN/lib"] if needs else []):
                wrong.append(f"{wheel.name}: {path.name} looks for libraries in {paths}")
            if needs is not path.name.startswith("_core"):
                wrong.append(f"{wheel.name}: {path.name} is linked to the wrong libraries")
    return wrong


def check_sdist(sdist: Path) -> list[str]:
    """Lines about files that a source distribution lacks or should not have."""
    with tarfile.open(sdist) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.2f} MB, {len(names)} files")
    return differences(sdist.name, tracked() | {"PKG-INFO"}, names)


def repair(wheel: Path, folder: Path) -> Path | None:
    """The wheel with the tag of the systems on which it runs."""
    for command in (["show"], ["repair", "--wheel-dir", str(folder)]):
        subprocess.run(["auditwheel", *command, str(wheel)], check=True)
    return next(folder.glob("*manylinux*.whl"), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIRECTORY")
    folder = parser.parse_args().folder.resolve()
    wheels, sdists = [*folder.glob("*.whl")], [*folder.glob("*.tar.gz")]
    if len(wheels) != 1 or len(sdists) != 1:
        print(f"check_packages: {folder} has not one wheel and one source distribution")
        return 1
    wrong = check_wheel(wheels[0]) + check_sdist(sdists[0])
    if sys.platform == "linux":
        repaired = repair(wheels[0], folder / "repaired")
        wrong += check_wheel(repaired) if repaired else ["auditwheel gives the wheel no tag"]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
