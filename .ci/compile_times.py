"""CPU seconds of every compilation: `python .ci/compile_times.py [--level x86-64-v3] [NAME ...]`.

Configures a build of all levels, or of one, in a temporary directory and runs its compilations one
after another, without ccache; NAME restricts them to sources whose path contains it.  Prints every
compilation, the sum of each level and of the rest, and the sum of the whole build.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def configure(folder: str, level: str) -> list[dict[str, str]]:
    """The compilations of a build, of one level if `level` is not empty."""
    pybind11 = subprocess.run(
        [sys.executable, "-m", "pybind11", "--cmakedir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "POLHODE_LEVELS": "all",
        "POLHODE_ONE_LEVEL": level,
        "POLHODE_PYTHON": "ON",
        "Python_EXECUTABLE": sys.executable,
        "pybind11_DIR": pybind11,
    }
    given = [f"-D{name}={value}" for name, value in settings.items()]
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"}
    subprocess.run(
        ["cmake", "-S", str(ROOT), "-B", folder, *given],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    text = (Path(folder) / "compile_commands.json").read_text(encoding="utf-8")
    return json.loads(text)


def cpu_seconds(command: dict[str, str]) -> float:
    """CPU seconds of one compilation, of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command["command"],
        shell=True,
        check=True,
        cwd=command["directory"],
        env=os.environ | {"CCACHE_DISABLE": "1"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--level", default="", help="one level alone, for this -march")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of paths of sources")
    arguments = parser.parse_args()
    sums: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for command in configure(folder, arguments.level):
            source = command["file"].removeprefix(f"{ROOT}/").removeprefix(f"{folder}/")
            if arguments.names and not any(name in source for name in arguments.names):
                continue
            level = re.search(r"-DPOLHODE_LEVEL=(\w+)", command["command"])
            part = f"level {level[1]}" if level else "rest"
            seconds = cpu_seconds(command)
            sums[part] = sums.get(part, 0.0) + seconds
            print(f"{seconds:7.1f}  {source} ({part})", flush=True)
    for part, seconds in sums.items():
        print(f"{seconds:7.1f}  {part}")
    print(f"{sum(sums.values()):7.1f}  in all")


if __name__ == "__main__":
    main()
