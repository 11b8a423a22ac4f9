"""Problems, the ways to values, and how both are written."""

from __future__ import annotations

import pytest

from pegboard.config import ConfigProblem
from pegboard.config.problems import ABSENT, KeyPath, dotted, in_order, step, undotted


def test_a_problem_says_where_which_key_what_and_what_was_meant() -> None:
    problem = ConfigProblem("unknown key", "plugins.http.prot", "hostconfig.toml", 12, "port")
    assert str(problem) == 'hostconfig.toml:12: plugins.http.prot: unknown key; did you mean "port"?'


def test_a_problem_says_no_more_than_it_knows() -> None:
    assert str(ConfigProblem("is wrong")) == "is wrong"
    assert str(ConfigProblem("is wrong", "host.name")) == "host.name: is wrong"
    assert str(ConfigProblem("is wrong", file="a.toml")) == "a.toml: is wrong"
    assert str(ConfigProblem("is wrong", file="a.toml", line=3, column=4)) == "a.toml:3:4: is wrong"
    assert str(ConfigProblem("is wrong", "host.name", place="command line")) == "command line: host.name: is wrong"


def test_problems_come_line_by_line_after_those_of_no_file() -> None:
    late, early, none = ConfigProblem("c", file="f", line=9), ConfigProblem("b", file="f", line=2), ConfigProblem("a")
    assert in_order([late, early, none]) == [none, early, late]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("host", "name"), "host.name"),
        (("a", "list", 0, "x"), "a.list[0].x"),
        (("plugins", "a.b", "c d", ""), 'plugins."a.b"."c d".""'),
        (("a-b", "c_1"), "a-b.c_1"),
    ],
)
def test_ways_as_a_person_writes_them(path: KeyPath, text: str) -> None:
    assert dotted(path) == text


def test_the_way_from_its_dotted_form() -> None:
    assert undotted("host.name") == ("host", "name")
    assert undotted(("plugins", "a.b")) == ("plugins", "a.b")


@pytest.mark.parametrize(
    ("value", "part", "below"),
    [
        ({"a": 1}, "a", 1),
        ({"a": 1}, "b", ABSENT),
        ([1, 2], 1, 2),
        ((1, 2), 0, 1),
        ([1, 2], 2, ABSENT),
        ([1, 2], "a", ABSENT),
        ("text", 0, ABSENT),
        (5, 0, ABSENT),
    ],
)
def test_one_step_down(value: object, part: str | int, below: object) -> None:
    assert step(value, part) is below
