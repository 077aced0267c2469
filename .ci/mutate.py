"""Shows that the tests see faults: python .ci/mutate.py [--sample N --seed S].

Changes the sources in the small ways in which they go wrong (.ci/mutants.toml lists them: a sign, a
coefficient by 1e-12, a component of a rare branch, a dropped compensation, a guard), one at a time,
runs the tests and prints the share that some test saw.  All changes are compiled at once into one
build of one level, in build/mutation, each behind MUT(number).  The tests of an entry are imported
and collected once; every change is chosen in a copy (fork) of that process, so that most take a
tenth of a second.  Changes of tables are chosen by an environment variable, as the package is
loaded.

Results are stored in build/mutation/results.json. A change that has a result is not run again;
--again forgets it. The likeliest tests of a change come first, then the others that the list has
for it. A change without tests in the list, and with --all-tests every change that these tests
missed, gets all tests that execute it: one run of the suite records which tests those are
(build/mutation/reach.json). --minutes limits the time of this last part; a change whose tests did
not all fit stays undecided. A change that no test can see, because no result changes beyond its
stated bound, has its reason in the list and is not run.

Not part of .ci/run, because the build takes minutes.
"""

from __future__ import annotations

import argparse
import ast
import ctypes
import dataclasses
import importlib.util
import itertools
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / ".ci" / "mutants.toml"
WORK = ROOT / "build" / "mutation"
RESULTS = WORK / "results.json"
REACH = WORK / "reach.json"
OPTIONS = ["-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]

#: What is chosen as the package is loaded: tables.
TABLES = {
    "cpp/include/polhode/torque_free/step_polynomials.hpp",  # also tables
    "cpp/include/polhode/splitting/schemes.hpp",
    "cpp/include/polhode/quadrature/gauss_legendre.hpp",
    "cpp/include/polhode/moser_veselov/preprocessing_table.hpp",
}
#: Processes that start with the imports of the tests, which take longer than many tests.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["numpy", "mpmath", "pytest", "scipy.integrate"])

#: The sources from which the selection of a change is compiled.
SELECTION = """
#ifndef POLHODE_MUTATION
#define POLHODE_MUTATION
namespace polhode_mutation {
inline unsigned active = [] {
    const char* chosen = std::getenv("POLHODE_MUTANT");
    return chosen ? static_cast<unsigned>(std::strtoul(chosen, nullptr, 16)) : 0u;
}();
inline unsigned char reached[65536];
inline bool chosen(unsigned number) {
    reached[number & 65535] = 1;
    return active == number;
}
}
#define MUT(number) (::polhode_mutation::chosen(number))
#endif
"""
#: Chooses another change while the program runs, and tells which have been executed.
SETTER = """
#include "polhode/config.hpp"
extern "C" __attribute__((visibility("default"))) void polhode_mutate_PART(unsigned number) {
    polhode_mutation::active = number;
}
extern "C" __attribute__((visibility("default"))) unsigned char* polhode_reached_PART() {
    return polhode_mutation::reached;
}
"""
#: The module and the library each have their own copy of the selection.
PARTS = {"library": "cpp/host/dispatch.cpp", "module": "cpp/bindings/module.cpp"}
FUTURE = "from __future__ import annotations\n"
PYTHON_SELECTION = (
    "import os as _os\n"
    "MUT = int(_os.environ.get('POLHODE_MUTANT', '0'), 16).__eq__\n"
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A change of one piece of a source.

    `tests` are tried one after another, see `chosen`.  `old` is a text that occurs once, the piece
    between « and » (all of it without them); `new` takes its place, $ standing for the piece,
    nothing where the statement is left out.
    """

    path: str
    old: str
    new: str
    kind: str
    tests: str
    subtle: bool = True
    equivalent: str = ""
    place: tuple[int, int] | None = None  #: of a generated one: its piece
    seed: int = 0  #: and that of its choice

    @property
    def name(self) -> str:
        """Eight digits that stay as long as the change does."""
        return f"{zlib.crc32('|'.join((self.path, self.old, self.new)).encode()):08x}"

    def span(self, text: str) -> tuple[int, int]:
        """Where the piece is; ValueError unless the text occurs once."""
        if self.place is not None:
            return self.place
        whole = self.old.replace("«", "").replace("»", "")
        count = text.count(whole)
        if count != 1:
            raise ValueError(f"{self.path}: {count} times instead of once: {whole!r}")
        begin = text.index(whole)
        if "«" not in self.old:
            return begin, begin + len(whole)
        before, rest = self.old.split("«")
        return begin + len(before), begin + len(before) + len(rest.split("»")[0])

    def changed(self, piece: str) -> str:
        """Both pieces, one of them chosen at run time."""
        python, number = self.path.endswith(".py"), f"MUT(0x{self.name})"
        if not self.new:
            return f"if not {number}: {piece}" if python else f"if (!{number}) {{ {piece} }}"
        if self.new == "!($)":
            return f"static_cast<bool>({piece}) != {number}"  # of any type that a condition has
        new = self.new.replace("$", piece)
        if "MUT" in new:
            return new.replace("MUT", number)
        return (
            f"(({new}) if {number} else ({piece}))" if python else f"({number} ? {new} : {piece})"
        )


def source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def strings(text: str) -> tuple[set[int], set[tuple[int, int]]]:
    """Of a Python source: the lines inside long strings, and where short strings begin."""
    inside: set[int] = set()
    short = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.end_lineno != node.lineno:
                inside.update(range(node.lineno, (node.end_lineno or 0) + 1))
            short.add((node.lineno, node.col_offset))
    return inside, short


def is_code(path: str, text: str, place: tuple[int, int], new: str) -> bool:
    """Whether a piece of a Python source is code that can be replaced."""
    if not path.endswith(".py"):
        return True
    inside, short = strings(text)
    line = text.count("\n", 0, place[0]) + 1
    column = len(text[text.rfind("\n", 0, place[0]) + 1 : place[0]].encode())
    piece = text[slice(*place)]
    if line in inside or (piece.startswith('"') and (line, column) not in short):
        return False
    try:
        ast.parse(
            text[: place[0]]
            + f"(({new.replace('$', piece)}) if 0 else ({piece}))"
            + text[place[1] :]
        )
    except SyntaxError:
        return False
    return True


def generated(rule: dict[str, Any], taken: dict[str, set[tuple[int, int]]]) -> Iterator[Mutant]:
    """A seeded choice of the places that match the pattern of a rule, group 1 of it the piece.

    `path` can be a list of patterns of files, with {a,b} for either; lines that match `skip` are
    left out.  The choice depends on the text of a place: a change elsewhere in the file does not
    change it.  With several seeds each draws `count` of the places that are left.
    """
    globs = [rule["path"]] if isinstance(rule["path"], str) else rule["path"]
    globs = [glob for each in globs for glob in alternatives(each)]
    places = []
    keys: set[tuple[str, str]] = set()
    for path in sorted({str(p.relative_to(ROOT)) for g in globs for p in ROOT.glob(g)}):
        text = source(path)
        if "begin" in rule and rule["begin"] not in text:
            continue
        if path.endswith(".py") and text.count(FUTURE) != 1:  # nowhere to put the selection
            continue
        begin = text.index(rule["begin"]) if "begin" in rule else 0
        end = text.find(rule["end"], begin) if "end" in rule else len(text)
        seen: dict[str, int] = {}
        for match in re.compile(rule["pattern"], re.MULTILINE).finditer(text, begin, end):
            line_begin = text.rfind("\n", 0, match.start()) + 1
            line = text[line_begin : text.find("\n", match.end())].strip()
            if "skip" in rule and re.search(rule["skip"], line):
                continue
            key = f"{line} « {match.group(1)} » {seen.get(match.group(), 0)}"
            seen[match.group()] = seen.get(match.group(), 0) + 1
            while (path, key) in keys:  # the same piece once more in the line
                key += "'"
            keys.add((path, key))
            places.append((key, path, match.span(1)))
    for seed in rule["seed"] if isinstance(rule["seed"], list) else [rule["seed"]]:
        order = {key: zlib.crc32(f"{seed} {key}".encode()) for key, *_ in places}
        chosen = 0
        for key, path, place in sorted(places, key=lambda each: (order[each[0]], *each)):
            others = taken.setdefault(path, set())
            if chosen == rule["count"] or any(a < place[1] and place[0] < b for a, b in others):
                continue
            if not is_code(path, source(path), place, rule["new"]):
                continue
            chosen += 1
            others.add(place)
            facts = rule["new"], rule["kind"], rule.get("tests", ""), rule.get("subtle", True)
            yield Mutant(path, key, *facts, place=place, seed=seed)


def alternatives(glob: str) -> list[str]:
    """The patterns that {a,b} in this one stands for."""
    before, brace, rest = glob.partition("{")
    if not brace:
        return [glob]
    words, _, after = rest.partition("}")
    return [before + word + after for word in words.split(",")]


def listed() -> dict[str, Any]:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def reasons() -> dict[str, str]:
    """Why some generated changes are equivalent, by their names."""
    return dict(listed().get("equivalent", {}))


def fits(m: Mutant) -> bool:
    """Whether the source still has the text of an entry, once."""
    try:
        m.span(source(m.path))
    except (ValueError, FileNotFoundError):
        return False
    return True


def stale() -> list[str]:
    """Entries whose source has been rewritten; they are left out until they are mended."""
    return [
        f"{file['path']}: {entry['old']}"
        for file in listed()["file"]
        for entry in file["mutants"]
        if not fits(Mutant(**{"path": file["path"], "tests": "", **entry}))
    ]


def mutants() -> list[Mutant]:
    """The list: those of the files one by one, then the generated ones."""
    content = listed()
    result = []
    for file in content["file"]:
        for entry in file["mutants"]:
            fields = {"path": file["path"], "tests": file["tests"], **entry}
            m = Mutant(**fields)
            if fits(m):
                result.append(m)
    taken: dict[str, set[tuple[int, int]]] = {}
    likely = {file["path"]: file["tests"] for file in reversed(content["file"])}
    for m in result:
        taken.setdefault(m.path, set()).add(m.span(source(m.path)))
    for rule in content["rule"]:
        for m in generated(rule, taken):
            begins = [each for each in content["likely"] if m.path.startswith(each)]
            words = likely.get(m.path, "") + " " + content["likely"][max(begins, key=len)]
            result.append(
                dataclasses.replace(m, tests=m.tests or " ".join(dict.fromkeys(words.split())))
            )
    why = reasons()
    return [dataclasses.replace(m, equivalent=why.get(m.name, m.equivalent)) for m in result]


def sample(everything: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """A choice by their texts: a change stays in it or out of it wherever it is moved."""
    order = sorted(everything, key=lambda m: zlib.crc32(f"{seed}|{m.old}|{m.new}".encode()))
    names = {m.name for m in order[:size]}
    return [m for m in everything if m.name in names]


def apply(everything: list[Mutant]) -> Path:
    """A copy of the tree with all changes in it."""
    tree = WORK / "tree"
    paths = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    texts = {}
    for path in filter(None, paths.split("\0")):
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).suffix in (".py", ".hpp", ".cpp", ".txt"):
            texts[path] = source(path)
        elif (ROOT / path).exists():
            shutil.copy2(ROOT / path, target)
    by_path: dict[str, list[tuple[int, int, Mutant]]] = {}
    for m in everything:
        begin, end = m.span(texts[m.path])
        by_path.setdefault(m.path, []).append((begin, end, m))
    for path, places in by_path.items():
        text = texts[path]
        last = len(text)
        for begin, end, m in sorted(places, key=lambda place: -place[0]):
            if end > last:
                raise ValueError(f"{path}: two changes of one piece: {m.old!r}")
            text = text[:begin] + m.changed(text[begin:end]) + text[end:]
            last = begin
        if path.endswith(".py"):
            text = text.replace(FUTURE, FUTURE + PYTHON_SELECTION)
        texts[path] = text
    for change in listed()["tree"]:  # tables that a change can reach
        text, count = re.subn(change["pattern"], change["new"], texts[change["path"]])
        if count == 0:
            raise ValueError(f"{change['path']}: not found: {change['pattern']!r}")
        texts[change["path"]] = text
    config = "cpp/include/polhode/config.hpp"
    texts[config] = "#include <cstdlib>\n" + texts[config] + SELECTION
    for part, path in PARTS.items():
        texts[path] += SETTER.replace("PART", part)
    for path, text in texts.items():
        target = tree / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    return tree


def build(everything: list[Mutant], python: bool = False) -> None:
    tree = apply(everything)
    if python:
        site = WORK / "site" / "polhode"
        for found in importlib.util.find_spec("polhode").submodule_search_locations:
            shutil.copytree(found, site, dirs_exist_ok=True)
        shutil.copytree(tree / "python" / "polhode", site, dirs_exist_ok=True)
        return
    subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
            "--upgrade", "--target", WORK / "site", f"-Cbuild-dir={WORK / 'build'}",
            "-Ccmake.define.POLHODE_ONE_LEVEL=x86-64-v3",
            "-Ccmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG -fstack-reuse=none", tree,
        ],
        check=True,
    )  # fmt: skip


class Loop:
    """A plugin of pytest: the tests that were collected, once for every change, in a copy each.

    The copies are forks of the process that has imported and collected everything.  Tests that
    have seen other changes come first, then the quick ones; the first that fails ends it.
    """

    def __init__(
        self,
        names: list[str],
        known: dict[str, Any],
        send: Any,
        at_load: bool,
        reach: dict[str, list[str]] | None = None,
        seconds: float = float("inf"),
    ) -> None:
        self.names, self.known, self.send, self.at_load = names, known, send, at_load
        self.reach, self.allowed = reach, seconds
        self.until = float("inf")
        self.failed: list[str] = []
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes a failure and the time."""
        if report.failed:
            self.failed.append(report.nodeid)
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def run(self, items: list[Any], first: bool) -> None:
        """The tests, up to the first failure where that is enough, or as many as there is time."""
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        for item, following in itertools.zip_longest(items, items[1:]):
            if time.monotonic() > self.until:
                self.failed.append("")
                return
            if first:  # without end: a loop, or what waits
                usual = self.known["seconds"].get(item.nodeid, 10.0)
                limit = int(time.process_time() + 20 + 5 * usual)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, most))
                signal.alarm(int(120 + 10 * usual))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if first and self.failed:
                return

    def copy(self, name: str, items: list[Any]) -> tuple[int, dict[str, Any]]:
        """The exit status of a child that runs the tests, and its output."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            if name != "0" and not self.at_load:
                select(name)
            self.run(items, first=name != "0")
            os.write(write, json.dumps([self.failed, self.seconds]).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as file:
            said = file.read()
        _, status = os.waitpid(child, 0)
        failed, seconds = json.loads(said or "[[], {}]")
        return os.waitstatus_to_exitcode(status), {"failed": failed, "seconds": seconds}

    def fails_always(self, item: Any) -> bool:
        """Whether a test fails in the build of all changes while none is chosen."""
        if item.nodeid not in self.known["always"]:
            ended, said = self.copy("0", [item])
            self.known["always"][item.nodeid] = bool(ended or said["failed"])
        return self.known["always"][item.nodeid]

    def seen_by(self, name: str, items: list[Any]) -> str:
        """The first test that detects a change, "" if no test does."""
        seconds, kills = self.known["seconds"], self.known["kills"]
        items = [i for i in items if not self.known["always"].get(i.nodeid)]
        if self.reach is not None and name in self.reach:
            there = set(self.reach[name])
            items = [i for i in items if i.nodeid in there]
        self.until = time.monotonic() + self.allowed
        items.sort(key=lambda i: (-kills.get(i.nodeid, 0), seconds.get(i.nodeid, 0.0)))
        while True:
            ended, said = self.copy(name, items)
            for test, now in said["seconds"].items():
                seconds.setdefault(test, now)
            if ended < 0:
                waits = -ended in (signal.SIGXCPU, signal.SIGALRM)
                return "no end" if waits else f"signal {-ended}"
            if ended > 0:
                raise RuntimeError(f"{name}: the tests end with {ended}")
            if not said["failed"]:
                return ""
            test = said["failed"][0]
            if not test:
                return "no time"
            if not self.fails_always(next(i for i in items if i.nodeid == test)):
                kills[test] = kills.get(test, 0) + 1
                return test
            items = [i for i in items if i.nodeid != test]

    def pytest_runtestloop(self, session: Any) -> bool:
        """All changes, in place of the one run of the tests."""
        if self.at_load and "0" in self.names:  # no copy can be without the change later
            _, said = self.copy("0", session.items)
            self.known["always"] |= {test: test in said["failed"] for test in said["seconds"]}
            self.known["seconds"] |= said["seconds"]
        for name in self.names:
            begun = time.monotonic()
            where = "" if name == "0" else self.seen_by(name, session.items)
            self.send.send((name, where, time.monotonic() - begun, self.known))
        return True


def select(name: str) -> None:
    """Chooses a change in this process, in the module and in Python."""
    os.environ["POLHODE_MUTANT"] = name
    number = int(name, 16)
    import polhode._core

    core = ctypes.CDLL(polhode._core.__file__)
    for part in PARTS:
        if hasattr(core, f"polhode_mutate_{part}"):  # not with --python
            getattr(core, f"polhode_mutate_{part}")(ctypes.c_uint(number))
    for module_name, module in sys.modules.items():
        if module_name.split(".")[0] == "polhode" and hasattr(module, "MUT"):
            module.MUT = number.__eq__


class Reach:
    """A plugin of pytest: which changes each test executes, and how long it takes."""

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, list[int], bool]] = {}
        self.python: set[int] = set()

    def pytest_collection_finish(self) -> None:
        """Makes the changes in Python report, and finds those of the module."""
        import polhode._core

        core = ctypes.CDLL(polhode._core.__file__)
        self.cells = []
        for part in PARTS:
            if reached := getattr(core, f"polhode_reached_{part}", None):  # not with --python
                reached.restype = ctypes.POINTER(ctypes.c_ubyte * 65536)
                self.cells.append(reached().contents)

        def reported(number: int) -> bool:
            self.python.add(number & 65535)
            return False

        for name, loaded in sys.modules.items():
            if name.split(".")[0] == "polhode" and hasattr(loaded, "MUT"):
                loaded.MUT = reported

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Adds what setup, call or teardown of a test has executed."""
        seconds, there, failed = self.tests.get(report.nodeid, (0.0, [], False))
        found = {i for cells in self.cells for i in np.flatnonzero(cells).tolist()}
        found |= self.python | set(there)
        self.tests[report.nodeid] = (
            seconds + report.duration,
            sorted(found),
            failed or report.failed,
        )
        for cells in self.cells:
            ctypes.memset(cells, 0, 65536)
        self.python.clear()


def reaching(everything: list[Mutant], again: bool) -> dict[str, Any]:
    """The tests that execute each change, and the seconds of the tests."""
    if again or not REACH.exists():
        child = CONTEXT.Process(target=record_reach)
        child.start()
        child.join()
    tests = json.loads(REACH.read_text())
    by_cell: dict[int, list[str]] = {}
    for test, (_, cells, _) in tests.items():
        for cell in cells:
            by_cell.setdefault(cell, []).append(test)
    return {
        "reach": {
            m.name: by_cell.get(int(m.name, 16) & 65535, []) for m in everything if not at_load(m)
        },
        "seconds": {test: seconds for test, (seconds, _, _) in tests.items()},
        "always": {test: True for test, (_, _, failed) in tests.items() if failed},
    }


def record_reach() -> None:
    """Runs the suite once in the build of all changes and writes what each test executes."""
    import pytest

    prepare_child("0")
    reach = Reach()
    pytest.main([*OPTIONS, *chosen(".")], plugins=[reach])
    REACH.write_text(json.dumps(reach.tests))


def prepare_child(name: str) -> None:
    """The environment of a process that runs tests with the build of all changes."""
    site = str(WORK / "site")
    os.environ |= {"PYTHONPATH": site, "POLHODE_MUTANT": name}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path.insert(0, site)
    sys.dont_write_bytecode = False  # compiling takes longer than many tests
    os.chdir(ROOT)
    with Path(os.devnull).open("w") as file:
        os.dup2(file.fileno(), 1)


def run_in_child(
    names: list[str],
    files: list[str],
    known: dict[str, Any],
    send: Any,
    at_load: bool,
    reach: dict[str, list[str]] | None,
    seconds: float,
) -> None:
    """The tests in a process that has already imported everything except the package."""
    import pytest

    prepare_child(names[0] if at_load else "0")
    loop = Loop(names, known, send, at_load, reach, seconds)
    sys.exit(int(pytest.main([*OPTIONS, *files], plugins=[loop])))


def run_tests(
    names: list[str],
    entry: str,
    known: dict[str, Any],
    at_load: bool,
    reach: dict[str, list[str]] | None = None,
    seconds: float = float("inf"),
) -> Iterator[tuple[str, str, float]]:
    """Each change's name and first test that detected it ("": no test), and the seconds."""
    receive, send = CONTEXT.Pipe(duplex=False)
    arguments = (names, chosen(entry), known, send, at_load, reach, seconds)
    child = CONTEXT.Process(target=run_in_child, args=arguments)
    child.start()
    send.close()
    left = list(names)
    while left:
        try:
            name, where, seconds, learned = receive.recv()
        except EOFError:
            break
        known |= learned
        left.remove(name)
        yield name, where, seconds
    child.join()
    if left and at_load and known["seconds"]:  # changes that prevent import or collection
        yield names[0], f"end with {child.exitcode}", 0.0
    elif left:
        raise RuntimeError(f"{entry}: the tests ended with {child.exitcode} before {left}")


def chosen(test: str) -> list[str]:
    """The arguments of pytest for a file, file::function or file@word|word of names of tests."""
    if test == ".":  # those that compile programs take too long, and run them elsewhere
        return ["tests", "-m", "not programs"]
    file, _, words = test.partition("@")
    file, _, function = file.partition("::")
    found = sorted((ROOT / "tests").glob(f"**/{file}.py"))
    if len(found) != 1:
        raise ValueError(f"{test}: {len(found)} files of this name in tests/")
    path = str(found[0].relative_to(ROOT)) + ("::" + function if function else "")
    return [path, "-k", words.replace("|", " or ").replace("!", "not ")] if words else [path]


def entries(m: Mutant, all_tests: bool) -> list[str]:
    """Its tests in the order in which they are tried, "." for all."""
    return m.tests.split() + (["."] if all_tests or not m.tests else [])


def at_load(m: Mutant) -> bool:
    """True if a change acts while the package is loaded: tables, and code outside functions."""
    if not m.path.endswith(".py"):
        return m.path in TABLES
    text = source(m.path)
    line = text.count("\n", 0, m.span(text)[0]) + 1
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return not any(
        isinstance(node, functions) and node.lineno <= line <= (node.end_lineno or 0)
        for node in ast.walk(ast.parse(text))
    )


def summary(everything: list[Mutant], results: dict[str, Any]) -> str:
    lines = []
    for title, group in (
        ("plain", [m for m in everything if not m.subtle]),
        ("subtle", [m for m in everything if m.subtle]),
        ("all", everything),
    ):
        equivalent = sum(1 for m in group if m.equivalent)
        run = [m for m in group if not m.equivalent and m.name in results]
        seen = [m for m in run if results[m.name]["result"] == "seen"]
        # Missed by the tests tried so far, with others in its list that have not been tried.
        undecided = [
            m
            for m in run
            if m not in seen and set(entries(m, False)) - set(results[m.name]["missed by"])
        ]
        # What is seen is decided first: a share of the decided alone would be too good.
        share = f" ({100 * len(seen) / len(run):.1f} %)" if run and not undecided else ""
        lines.append(
            f"{title}: seen {len(seen)} of {len(run)} non-equivalent{share}, {len(undecided)} of "
            f"them undecided, {equivalent} equivalent, {len(group) - len(run) - equivalent} not "
            f"run, of {len(group)}"
        )
    return "\n".join(lines)


def described(m: Mutant) -> str:
    place = m.old.replace("\n", " ")
    return f"{m.path}: {m.kind}\n    {place} -> {m.new or 'left out'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the changes and their results")
    parser.add_argument("--stale", action="store_true", help="print entries that fit no source")
    parser.add_argument("--summary", action="store_true", help="print the share seen so far")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, a seeded choice")
    parser.add_argument("--seed", type=int, default=1, help="of --sample (default: 1)")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="those that a rule drew with it")
    parser.add_argument("--only", nargs="+", metavar="K", help="run these, by name or path")
    parser.add_argument("--again", action="store_true", help="forget what missed them, or --only")
    parser.add_argument("--all-tests", action="store_true", help="then all tests that execute it")
    parser.add_argument(
        "--minutes", type=float, default=45, help="limit of this last part (default: 45)"
    )
    parser.add_argument(
        "--python", action="store_true", help="Python alone, with what is installed"
    )
    parser.add_argument("--no-build", action="store_true", help="the build is there already")
    arguments = parser.parse_args()
    if arguments.stale:
        print("\n".join(stale()))
        return
    everything = mutants()
    if arguments.python:
        everything = [m for m in everything if m.path.endswith(".py")]
    compiled = everything
    if arguments.sample:
        everything = sample(everything, arguments.sample, arguments.seed)
    if arguments.drawn is not None:
        everything = [m for m in everything if m.seed == arguments.drawn]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if arguments.list:
        for m in everything:
            known = "equivalent" if m.equivalent else results.get(m.name, {}).get("result", "-")
            print(f"{m.name} {known} {described(m)}")
    if arguments.list or arguments.summary:
        print(summary(everything, results))
        return
    open_ones = [m for m in everything if not m.equivalent]
    if arguments.only:
        only = arguments.only
        open_ones = [m for m in open_ones if m.name in only or any(x in m.path for x in only)]
    if arguments.again:
        for m in open_ones:
            if arguments.only or results.get(m.name, {}).get("result") == "missed":
                results.pop(m.name, None)
    if not arguments.no_build:
        build(compiled, arguments.python)
        REACH.unlink(missing_ok=True)
    print(f"{len(open_ones)} to run", flush=True)

    by_name = {m.name: m for m in open_ones}

    def note(name: str, entry: str, where: str, seconds: float) -> None:
        known = results.setdefault(name, {"missed by": []})
        known["result"] = "seen" if where not in ("", "no time") else "missed"
        if where == "no time":
            pass  # undecided
        elif where:
            known["test"] = where
        else:
            known["missed by"].append(entry)
        part = RESULTS.with_suffix(".part")
        part.write_text(json.dumps(results, indent=1))
        part.replace(RESULTS)
        m = by_name[name]
        print(f"{name} {where or 'missed by ' + entry} {seconds:.1f} s {described(m)}", flush=True)

    # The likely tests of all first, then the next ones of those that were missed.
    tests: dict[str, Any] = {}
    for k in range(max(len(entries(m, arguments.all_tests)) for m in everything)):
        groups: dict[tuple[str, bool], list[str]] = {}
        for m in open_ones:
            known = results.get(m.name, {"missed by": [], "result": "missed"})
            entry = (entries(m, arguments.all_tests) + [""] * (k + 1))[k]
            if entry and known["result"] == "missed" and entry not in known["missed by"]:
                groups.setdefault((entry, at_load(m)), []).append(m.name)
        for (entry, loading), names in groups.items():
            known = tests.setdefault(entry, {"always": {}, "seconds": {}, "kills": {}})
            all_of_it: dict[str, Any] = {"reach": None}
            limit = float("inf")
            if entry == ".":
                all_of_it = reaching(everything, again=False)
                known["seconds"] |= all_of_it["seconds"]
                known["always"] |= all_of_it["always"]
                limit = (
                    60 * arguments.minutes / sum(len(n) for (e, _), n in groups.items() if e == ".")
                )
            for some in [[name] for name in ["0", *names]] if loading else [names]:
                if entry == "." and some == ["0"]:
                    continue
                for name, where, seconds in run_tests(
                    some, entry, known, loading, all_of_it["reach"], limit
                ):
                    if name != "0":
                        note(name, entry, where, seconds)
    print(summary(everything, results))


if __name__ == "__main__":
    main()
