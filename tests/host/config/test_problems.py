"""Problems, the ways to values, and how both are written."""

from __future__ import annotations

import pytest

from pegboard.config import ConfigProblem
from pegboard.config.problems import ABSENT, KeyPath, dotted, in_order, step, undotted


def test_a_problem_says_no_more_than_it_knows() -> None:
    problem = ConfigProblem("unknown key", "plugins.http.prot", "hostconfig.toml", 12, "port")
    assert str(problem) == 'hostconfig.toml:12: plugins.http.prot: unknown key; did you mean "port"?'
    assert str(ConfigProblem("is wrong")) == "is wrong"
    assert str(ConfigProblem("is wrong", file="a.toml", line=3, column=4)) == "a.toml:3:4: is wrong"
    assert str(ConfigProblem("is wrong", "host.name", place="command line")) == "command line: host.name: is wrong"
    late, early, none = ConfigProblem("c", file="f", line=9), ConfigProblem("b", file="f", line=2), ConfigProblem("a")
    assert in_order([late, early, none]) == [none, early, late]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("a", "list", 0, "x"), "a.list[0].x"),
        (("plugins", "a.b", "c d", ""), 'plugins."a.b"."c d".""'),
        (("a-b", "c_1"), "a-b.c_1"),
    ],
)
def test_a_way_is_written_as_in_toml(path: KeyPath, text: str) -> None:
    assert dotted(path) == text
    assert undotted("host.name") == ("host", "name")
    assert undotted(path) == path


def test_a_step_leads_into_tables_and_lists_only() -> None:
    assert (step({"a": 1}, "a"), step([1, 2], 1), step((1, 2), 0)) == (1, 2, 1)
    for value, part in (({"a": 1}, "b"), ([1, 2], 2), ([1, 2], "a"), ("text", 0), (5, 0)):
        assert step(value, part) is ABSENT
