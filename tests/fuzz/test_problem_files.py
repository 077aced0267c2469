"""Some hundred cases of `problem_files.py`."""

from __future__ import annotations

import problem_files
import pytest
import seeded

from polhode.cli import problem


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_problem_files_of_every_kind_end_with_a_result_or_one_line(first):
    seeded.run(problem_files.case, problem_files.__file__, 100, first=first)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (f"h = [{hex(10**5000)}]", "h has an integer above the largest double"),
        (f"h = {10**400}", "h has an integer above the largest double"),
        (f"h = '{'x' * 5000}'", "h must be real numbers, not text"),
        (f"{'k' * 5000} = 1", r"no field 'k{50,200}\.\.\.$"),
        ('"a\\nb" = 1', r"no field 'a\\nb'"),
        (f"a = [1]\n{'a.' * 300}a = 1", r"namespace \('a', .*\.\.\.$"),
    ],
    ids=["digits", "number", "text", "key", "line break", "dotted key"],
)
def test_a_message_is_one_line_of_a_screen(tmp_path, line, text):
    path = tmp_path / "top.toml"
    fields = "inertia = [1, 2, 3]\nm0 = [1, 2, 3]\nq0 = [1, 0, 0, 0]\nu0 = [1, 2, 3]\nt_end = 1\n"
    path.write_text(f"{fields}\n\n\n{line}\n", encoding="utf-8")
    with pytest.raises(problem.ProblemError, match=text) as raised:
        problem.read(path, "example1")
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) - len(str(path)) < problem_files.LINE
