"""The parts of `.ci/run` as sessions of nox: `nox -l`, `nox -s lint`.

`.ci/run` says what a part does and makes its virtual environments; nothing of it is repeated here.
"""

import subprocess

import nox

nox.options.default_venv_backend = "none"


def _add(name: str, what: str) -> None:
    def part(session: nox.Session) -> None:
        session.run("bash", ".ci/run", name)

    part.__doc__ = what
    nox.session(part, name=name)


_listed = subprocess.run(["bash", ".ci/run", "--list"], check=True, capture_output=True, text=True)
for _line in _listed.stdout.splitlines():
    _add(*_line.split(maxsplit=1))
