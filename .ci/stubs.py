"""The stub of the compiled module: `python .ci/stubs.py --check` or `--write`.

pybind11-stubgen writes it from the installed extension; what depends on the machine (values of
attributes, such as the level in use) is taken out, and ruff formats the rest.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "python" / "polhode" / "_core.pyi"


def generate() -> str:
    """Text of the stub for the installed extension."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pybind11_stubgen", "polhode._core", "-o", folder],
            check=True,
        )
        text = (Path(folder) / "polhode" / "_core.pyi").read_text(encoding="utf-8")
    text = re.sub(r"  # value = .*", "", text)
    # Scalars and strings come with their value; a stub only needs the type.
    text = re.sub(r"^(\w+: \w+) = .*$", r"\1", text, flags=re.MULTILINE)
    # Arguments of generic types, which Python objects in C++ lack and strict checking requires.
    for bare, full in (
        ("dict", "dict[str, typing.Any]"),
        ("list", "list[typing.Any]"),
        ("tuple", "tuple[typing.Any, ...]"),
    ):
        text = re.sub(rf"(?<=[:>] ){bare}(?![\[\w])", full, text)
    text = text.replace("**kwargs)", "**kwargs: typing.Any)")
    if "typing." in text and "import typing" not in text:
        text = text.replace("import annotations\n", "import annotations\nimport typing\n", 1)
    formatted = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "format",
            "--isolated",
            "--line-length=100",
            "--stdin-filename=_core.pyi",
            "-",
        ],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return formatted.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail where the stub differs")
    action.add_argument("--write", action="store_true", help="write the stub")
    write = parser.parse_args().write
    wanted = generate()
    if write:
        STUB.write_text(wanted, encoding="utf-8")
        return 0
    found = STUB.read_text(encoding="utf-8") if STUB.exists() else ""
    difference = list(
        difflib.unified_diff(
            found.splitlines(), wanted.splitlines(), str(STUB.name), "generated", lineterm=""
        )
    )
    if difference:
        print(*difference, sep="\n")
        print("The stub differs from the extension: run `python .ci/stubs.py --write`.")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
