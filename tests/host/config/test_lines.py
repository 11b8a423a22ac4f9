"""The lines of keys in a TOML document, compared with a TOML parser and with the way the document was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tomli

from pegboard.config.lines import find_lines
from pegboard.config.problems import KeyPath


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every way to something in a parsed document."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from paths(item, (*path, place))


def lines(text: str) -> dict[KeyPath, int]:
    """The lines found, after a check that they are those of exactly what a parser finds."""
    line_numbers = find_lines(text)
    assert set(line_numbers) == set(paths(tomli.loads(text)))
    return line_numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a = 1\n\n[host]\nname = 'x' # [no]\n\n  [plugins.http]  # x\n", {"host": 3, "host name": 4, "plugins": 6}),
        ("[a.b]\nx = 1\n[a]\ny = 2\n", {"a": 3}),
        ("x = 1\nkey = { env = \"N\", 'more' = { a.b = [1, {c = 2}] } }\ne = {}\n", {"key more a b 1 c": 2, "e": 3}),
        ('a = [ # 1\n  "x", "y",\n  # 2\n  [\n    3,\n  ],\n]\nb = []\n', {"a 0": 2, "a 1": 2, "a 2": 4, "a 2 0": 5}),
        (
            "[[a]]\nx = 1\n[[a]]\nx = 2\n[a.sub]\ny = 3\n[[a.list]]\nz = 4\n[[a.list]]\nz = 5\n",
            {"a": 1, "a 0 x": 2, "a 1": 3, "a 1 sub y": 6, "a 1 list 1 z": 10},
        ),
        ('a = """\nb = 1\n[c]\n\\"""\n""quoted"""""\nd = \'\'\'\ne = 2\'\'\'\'\'\nf = 3\n', {"a": 1, "d": 6, "f": 8}),
        ('a . "b.c" . \'d e\' = 1\n["x"]\n"" = 3\n', {"a b.c d e": 1, "x ": 3}),
        ('a = ["]", \'}\', "#\\"", ""]\nb = { c = \'# "\', d = \'\' }\nf = +inf\n', {"a 3": 1, "b d": 2, "f": 3}),
        # not in quadratic time
        (
            "a = [\n" + 20_000 * "{b = 1},\n" + ']\nc = """\n' + 20_000 * "[\n" + '"""\nd = 1\n',
            {"a 9 b": 11, "d": 40_005},
        ),
    ],
)
def test_a_key_is_found_on_its_line(text: str, expected: dict[str, int]) -> None:
    line_numbers = {" ".join(map(str, path)): line for path, line in lines(text).items()}
    assert {key: line_numbers[key] for key in expected} == expected
