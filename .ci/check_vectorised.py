"""Checks that the kernels are vectorised: `python .ci/check_vectorised.py [library]`.

Disassembles libpolhode in the build directory, which unlike the installed one has its symbol table,
and looks at the loop of each kernel named below, at levels
v3 (four doubles a register) and v4 (eight).  A kernel passes where its loop takes square roots,
divides and fuses multiply-adds a register at a time, and holds no square root, division or fused
multiply-add of a single double and no call but memcpy and the correction of the energy.  So a
kernel that the compiler no longer vectorises fails here, and does not silently become five times
slower.

Also that the loops of the exact step over rows and over columns (which splittings run) hold no more
instructions than they did, by 3 %: a count repeats where a time does not.  It depends on the
compiler, so it is held to the version named below; with another the check says so and passes.

Also that nothing in the library adds and subtracts two products in one instruction (vfmaddsub,
vfmsubadd): no source asks for it, so one that is there was fused by the compiler, and its level
gives other bits than the rest.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Functions to check, as objdump -C prints them; {level} is replaced by the level's namespace.
KERNELS = {
    name: (
        r"\bpolhode::{level}::batch::step_packs<polhode::{level}::pack<[^>]*>, [^:]*"
        rf"\(polhode::{{level}}::batch::Layout\)[^:]*, polhode::{{level}}::{kernel}>"
    )
    for name, kernel in {
        "exact step": "Exact",
        "three rotations": "rotations::ThreeRotations",
        "symmetric and rotation": "rotations::SymmetricRotation",
        "NO_SQUISH": "rotations::NoSquish",
    }.items()
}
# Instructions in the loop of the exact step: by level and layout, as compiled by this compiler.
COMPILER = "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
INSTRUCTIONS = {("v3", 0): 3288, ("v3", 1): 3281, ("v4", 0): 2851, ("v4", 1): 2804}
MOST_GROWTH = 1.03
REGISTERS = {"v3": "ymm", "v4": "zmm"}

PACKED_ROOT = re.compile(r"^v?sqrtpd\b")
PACKED_DIVISION = re.compile(r"^v?divpd\b")
PACKED_FMA = re.compile(r"^vfn?m(add|sub)\d+pd\b")
SCALAR = re.compile(r"^v?(sqrt|div)sd\b|^vfn?m(add|sub)\d+sd\b")
FUSED = re.compile(r"^vfm(addsub|subadd)")
# Moving a partial pack to where it belongs may take memcpy; arithmetic may take no call.  Unusual
# cases, unusual strides and the constants of a shared body are in separate functions.
ELSEWHERE = r"polhode::\w+::batch::(step_any<|detail::(gather|scatter)<|.*::computed_shared\()"
CALL = re.compile(rf"^call(?!.*<mem(cpy|move|set)@plt>)(?!.*{ELSEWHERE})")
JUMP = re.compile(r"^j\w+\s+([0-9a-f]+)\b")


@dataclass(frozen=True)
class Instruction:
    """One line of a disassembly."""

    address: int
    text: str


def functions(disassembly: str) -> dict[str, list[Instruction]]:
    """Split the output of objdump -d -C --no-show-raw-insn into functions."""
    found: dict[str, list[Instruction]] = {}
    name = None
    for line in disassembly.splitlines():
        if head := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            name = head[1]
            found[name] = []
        elif name is not None and (body := re.match(r"^\s*([0-9a-f]+):\s+(\S.*)$", line)):
            found[name].append(Instruction(int(body[1], 16), body[2].strip()))
    return found


def loops(body: list[Instruction]) -> list[list[Instruction]]:
    """What lies between a backward jump and its target, one list per pair, largest first."""
    found = []
    for instruction in body:
        jump = JUMP.match(instruction.text)
        if jump and body[0].address <= int(jump[1], 16) <= instruction.address:
            first = int(jump[1], 16)
            found.append([i for i in body if first <= i.address <= instruction.address])
    return sorted(found, key=len, reverse=True)


def complaints(body: list[Instruction], register: str) -> list[str]:
    """The errors in the loops of one function; empty if there are no errors."""

    def count(pattern: re.Pattern[str], where: list[Instruction], operand: str = "") -> int:
        return sum(bool(pattern.match(i.text)) and operand in i.text for i in where)

    with_root = [loop for loop in loops(body) if count(PACKED_ROOT, loop, register)]
    if not with_root:
        return [f"no loop takes a packed square root of {register} registers"]
    loop = with_root[0]
    wrong = []
    if not count(PACKED_DIVISION, loop, register):
        wrong.append(f"no packed division of {register} registers in the loop")
    if not count(PACKED_FMA, loop, register):
        wrong.append(f"no packed fused multiply-add of {register} registers in the loop")
    for what, pattern in (("one double at a time", SCALAR), ("call", CALL)):
        lines = [f"{i.address:x}: {i.text}" for i in loop if pattern.match(i.text)]
        if lines:
            wrong.append(f"{what} in the loop, {len(lines)} x, first {lines[0]}")
    return wrong


def check(
    disassembly: str, levels: list[str], kernels: dict[str, str] = KERNELS
) -> tuple[list[str], list[str]]:
    """Lines that report the checked functions, and lines that report errors."""
    looked_at, wrong = [], []
    found = functions(disassembly)
    for level in levels:
        for kernel, pattern in kernels.items():
            names = [n for n in found if re.search(pattern.format(level=level), n)]
            if not names:
                wrong.append(f"{level}: no function of the {kernel} matches {pattern}")
            for name in names:
                lines = complaints(found[name], REGISTERS[level])
                looked_at.append(f"{level}: {name}: {'not ' if lines else ''}vectorised")
                wrong += [f"{level}: {name}: {line}" for line in lines]
    return looked_at, wrong


def growth(disassembly: str, levels: list[str]) -> list[str]:
    """Lines that report loops with more instructions than before, or loops not found."""
    wrong = []
    found = functions(disassembly)
    for (level, layout), known in INSTRUCTIONS.items():
        if level not in levels:
            continue
        pattern = KERNELS["exact step"].format(level=level)
        place = f"Layout){layout}, false"
        counts = [
            max(map(len, loops(body)), default=0)
            for name, body in found.items()
            if place in name and re.search(pattern, name)
        ]
        if len(counts) != 1 or counts[0] > MOST_GROWTH * known:
            wrong.append(f"{level}: loop of the exact step, {place}: {counts}, was {known}")
    return wrong


def compiler(library: Path) -> str:
    """The name and version of the compiler in an object file."""
    text = subprocess.run(
        ["objdump", "-s", "-j", ".comment", str(library)], capture_output=True, check=True
    ).stdout.decode("latin-1")
    rows = re.findall(r"^ [0-9a-f]+ ((?:[0-9a-f]+ )+)", text, re.MULTILINE)
    return bytes.fromhex("".join(rows).replace(" ", "")).decode("latin-1")


def contractions(disassembly: str) -> list[str]:
    """Lines that report multiply-adds fused by the compiler but not in the source."""
    return [
        f"{name}: fused by the compiler, {i.address:x}: {i.text}"
        for name, body in functions(disassembly).items()
        for i in body
        if FUSED.match(i.text)
    ]


def disassemble(library: Path) -> str:
    """objdump's view of a library, names demangled."""
    return subprocess.run(
        ["objdump", "-d", "-C", "--no-show-raw-insn", str(library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def build_id(library: Path) -> str:
    """The linker's mark of a library, which stripping does not change."""
    notes = subprocess.run(
        ["readelf", "--notes", str(library)], capture_output=True, text=True, check=True
    ).stdout
    return "".join(re.findall(r"Build ID: (\w+)", notes))


def unstripped(installed: Path) -> Path | None:
    """The installed library as it was linked, if a build directory has it."""
    linked = (ROOT / "build").glob(f"*/cpp/{installed.name}")
    return next((path for path in linked if build_id(path) == build_id(installed)), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", nargs="?", type=Path, help="default: that of the installed one")
    library = parser.parse_args().library
    if shutil.which("objdump") is None:
        print("check_vectorised: objdump is not installed (Debian: binutils)")
        return 1
    levels = list(REGISTERS)
    if library is None:
        import polhode
        from polhode import _core

        levels = [x for x in levels if x in _core.build["isa_supported"].split()]
        if not levels:
            print("check_vectorised: this build has no instruction-set levels to look at")
        library = unstripped(Path(polhode.get_library()))
        if library is None:
            print("check_vectorised: build/ does not have the installed library; `pip install .`")
            return 1
    disassembly = disassemble(library)
    looked_at, wrong = check(disassembly, levels)
    if COMPILER in (built_by := compiler(library)):
        wrong += growth(disassembly, levels)
    else:
        built_by = built_by.replace("\0", " ").strip()
        looked_at.append(f"instructions are not counted: built by {built_by}, not {COMPILER}")
    wrong += contractions(disassembly)
    print(*looked_at, *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
