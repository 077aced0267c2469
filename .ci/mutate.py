"""Shows that the tests see faults: python .ci/mutate.py [--sample N --seed S].

Changes the sources in the small ways in which they go wrong (.ci/mutants.toml lists them: a sign, a
coefficient by 1e-12, a component of a rare branch, a dropped compensation, a guard), one at a time,
runs the tests and prints the share that some test saw.  All changes are compiled at once into one
build of one level, in build/mutation, each behind MUT(number).  The tests of an entry are imported
and collected once; every change is chosen in a copy (fork) of that process, so that most take a
tenth of a second.  Changes of tables are chosen by an environment variable, as the package is
loaded.

What has been run stands in build/mutation/results.json, and is not run again unless the change, not
the tests, is another: give --again to forget it.  The likeliest test of every change comes first,
then the others that the list has for it; until all of them have missed it, it is undecided.  A
change that no test can see, because it moves no result beyond the bound that is stated for it, has
its reason in the list and is not run.

Not part of .ci/run: the build takes minutes, and where the likely tests miss a change so do the
others.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
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

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / ".ci" / "mutants.toml"
WORK = ROOT / "build" / "mutation"
RESULTS = WORK / "results.json"

#: What is chosen as the package is loaded: tables.
TABLES = {
    "cpp/include/polhode/elliptic/landen.hpp",  # not a table: tested in the module polhode.quad
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
}
#define MUT(number) (::polhode_mutation::active == number)
#endif
"""
#: Chooses another while the program runs, appended to a source of the module.
SETTER = """
#include "polhode/config.hpp"
extern "C" __attribute__((visibility("default"))) void polhode_mutate(unsigned number) {
    polhode_mutation::active = number;
}
"""
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
        new = self.new.replace("$", piece)
        if "MUT" in new:
            return new.replace("MUT", number)
        return (
            f"(({new}) if {number} else ({piece}))" if python else f"({number} ? {new} : {piece})"
        )


def source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def generated(rule: dict[str, Any], taken: set[tuple[str, tuple[int, int]]]) -> Iterator[Mutant]:
    """A seeded choice of the places that match the pattern of a rule, group 1 of it the piece.

    The choice depends on the text of a place: a change elsewhere in the file does not change it.
    """
    text = source(rule["path"])
    begin = text.index(rule["begin"]) if "begin" in rule else 0
    end = text.index(rule["end"], begin) if "end" in rule else len(text)
    places = []
    seen: dict[str, int] = {}
    for match in re.compile(rule["pattern"]).finditer(text, begin, end):
        line_begin = text.rfind("\n", 0, match.start()) + 1
        line = text[line_begin : text.find("\n", match.end())].strip()
        key = f"{line} « {match.group(1)} » {seen.get(match.group(), 0)}"
        seen[match.group()] = seen.get(match.group(), 0) + 1
        order = zlib.crc32(f"{rule['seed']} {key}".encode())
        places.append((order, key, match.span(1)))
    chosen = 0
    for _, key, place in sorted(places):
        if chosen < rule["count"] and (rule["path"], place) not in taken:
            chosen += 1
            taken.add((rule["path"], place))
            yield Mutant(
                rule["path"],
                key,
                rule["new"],
                rule["kind"],
                rule["tests"],
                rule.get("subtle", True),
                place=place,
            )


def listed() -> dict[str, Any]:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def reasons() -> dict[str, str]:
    """Why some generated changes are equivalent, by their names."""
    return dict(listed().get("equivalent", {}))


def mutants() -> list[Mutant]:
    """The list: those of the files one by one, then the generated ones."""
    content = listed()
    result = []
    for file in content["file"]:
        for entry in file["mutants"]:
            fields = {"tests": file["tests"], **entry}
            result.append(Mutant(path=file["path"], **fields))
    taken = {(m.path, m.span(source(m.path))) for m in result}
    for rule in content["rule"]:
        result += generated(rule, taken)
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
            future = "from __future__ import annotations\n"
            assert text.count(future) == 1
            text = text.replace(future, future + PYTHON_SELECTION)
        texts[path] = text
    for change in listed()["tree"]:  # tables that a change can reach
        text, count = re.subn(change["pattern"], change["new"], texts[change["path"]])
        if count == 0:
            raise ValueError(f"{change['path']}: not found: {change['pattern']!r}")
        texts[change["path"]] = text
    config = "cpp/include/polhode/config.hpp"
    texts[config] = "#include <cstdlib>\n" + texts[config] + SELECTION
    texts["cpp/host/dispatch.cpp"] += SETTER
    for path, text in texts.items():
        target = tree / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    return tree


def build(everything: list[Mutant]) -> None:
    tree = apply(everything)
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

    def __init__(self, names: list[str], known: dict[str, Any], send: Any, at_load: bool) -> None:
        self.names, self.known, self.send, self.at_load = names, known, send, at_load
        self.failed: list[str] = []
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes a failure and the time."""
        if report.failed:
            self.failed.append(report.nodeid)
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def run(self, items: list[Any], first: bool) -> None:
        """The tests, up to the first that fails where that is enough."""
        for item, following in itertools.zip_longest(items, items[1:]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if first and self.failed:
                return

    def copy(self, name: str, items: list[Any], limit: int) -> tuple[int, dict[str, Any]]:
        """The exit status of a child that runs the tests, and its output."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
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
            ended, said = self.copy("0", [item], 600)
            self.known["always"][item.nodeid] = bool(ended or said["failed"])
        return self.known["always"][item.nodeid]

    def seen_by(self, name: str, items: list[Any]) -> str:
        """The first test that detects a change, "" if no test does."""
        seconds, kills = self.known["seconds"], self.known["kills"]
        items = [i for i in items if not self.known["always"].get(i.nodeid)]
        items.sort(key=lambda i: (-kills.get(i.nodeid, 0), seconds.get(i.nodeid, 0.0)))
        while True:
            ended, said = self.copy(name, items, int(60 + 10 * sum(seconds.values())))
            for test, now in said["seconds"].items():
                seconds.setdefault(test, now)
            if ended < 0:
                return "no end" if -ended == signal.SIGXCPU else f"signal {-ended}"
            if ended > 0:
                raise RuntimeError(f"{name}: the tests end with {ended}")
            if not said["failed"]:
                return ""
            test = said["failed"][0]
            if not self.fails_always(next(i for i in items if i.nodeid == test)):
                kills[test] = kills.get(test, 0) + 1
                return test
            items = [i for i in items if i.nodeid != test]

    def pytest_runtestloop(self, session: Any) -> bool:
        """All changes, in place of the one run of the tests."""
        if self.at_load and "0" in self.names:  # no copy can be without the change later
            _, said = self.copy("0", session.items, 3600)
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

    ctypes.CDLL(polhode._core.__file__).polhode_mutate(ctypes.c_uint(number))
    for module_name, module in sys.modules.items():
        if module_name.split(".")[0] == "polhode" and hasattr(module, "MUT"):
            module.MUT = number.__eq__


def run_in_child(
    names: list[str], files: list[str], known: dict[str, Any], send: Any, at_load: bool
) -> None:
    """The tests in a process that has already imported everything except the package."""
    site = str(WORK / "site")
    os.environ |= {"PYTHONPATH": site, "POLHODE_MUTANT": names[0] if at_load else "0"}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path.insert(0, site)
    sys.dont_write_bytecode = False  # compiling takes longer than many tests
    os.chdir(ROOT)
    with Path(os.devnull).open("w") as file:
        os.dup2(file.fileno(), 1)
    import pytest

    options = ["-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
    sys.exit(int(pytest.main([*options, *files], plugins=[Loop(names, known, send, at_load)])))


def run_tests(
    names: list[str], entry: str, known: dict[str, Any], at_load: bool
) -> Iterator[tuple[str, str, float]]:
    """Each change's name and first test that detected it ("": no test), and the seconds."""
    receive, send = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=run_in_child, args=(names, chosen(entry), known, send, at_load))
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
    if test == ".":
        return ["tests"]
    file, _, words = test.partition("@")
    file, _, function = file.partition("::")
    path = str(next(Path("tests").rglob(f"{file}.py"))) + ("::" + function if function else "")
    return [path, "-k", words.replace("|", " or ").replace("!", "not ")] if words else [path]


def entries(m: Mutant, all_tests: bool) -> list[str]:
    """Its tests in the order in which they are tried, "." for all."""
    return m.tests.split() + (["."] if all_tests else [])


def at_load(m: Mutant) -> bool:
    """True if a change acts while the package is loaded: tables, and code outside functions."""
    if not m.path.endswith(".py"):
        return m.path in TABLES
    text = source(m.path)
    begin, _ = m.span(text)
    return not text[text.rfind("\n", 0, begin) + 1 : begin + 1].startswith(" ")


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
            if m not in seen and set(m.tests.split()) - set(results[m.name]["missed by"])
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
    parser.add_argument("--summary", action="store_true", help="print the share seen so far")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, a seeded choice")
    parser.add_argument("--seed", type=int, default=1, help="of --sample (default: 1)")
    parser.add_argument("--only", nargs="+", metavar="K", help="run these, by name or path")
    parser.add_argument("--again", action="store_true", help="forget what missed them, or --only")
    parser.add_argument("--all-tests", action="store_true", help="then the whole suite")
    parser.add_argument("--no-build", action="store_true", help="the build is there already")
    arguments = parser.parse_args()
    everything = compiled = mutants()
    if arguments.sample:
        everything = sample(everything, arguments.sample, arguments.seed)
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
        build(compiled)
    print(f"{len(open_ones)} to run", flush=True)

    by_name = {m.name: m for m in open_ones}

    def note(name: str, entry: str, where: str, seconds: float) -> None:
        known = results.setdefault(name, {"missed by": []})
        known["result"] = "seen" if where else "missed"
        if where:
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
            for some in [[name] for name in ["0", *names]] if loading else [names]:
                for name, where, seconds in run_tests(some, entry, known, loading):
                    if name != "0":
                        note(name, entry, where, seconds)
    print(summary(everything, results))


if __name__ == "__main__":
    main()
