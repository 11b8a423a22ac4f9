"""The lines of keys in a TOML document, compared with a TOML parser and with the way the document was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

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
    found = find_lines(text)
    assert set(found) == set(paths(tomli.loads(text)))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("  # only this", {}),
        (
            "# a = 1\n\n[host]\nname = 'x' # [no]\n\n  [plugins.http]  # here\n",
            {"host": 3, "host name": 4, "plugins": 6},
        ),
        ("[a.b]\nx = 1\n[a]\ny = 2\n", {"a": 3}),
        ("[t]\na.x = 1\na.y = 2\n", {"t a": 2, "t a y": 3}),
        (
            "x = 1\nkey = { env = \"NAME\", 'more' = { a.b = [1, {c = 2}] } }\nend = {}\n",
            {"key more a b 1 c": 2, "end": 3},
        ),
        (
            'a = [ # one\n  "x", "y",\n  # two\n  [\n    3,\n  ],\n]\nb = []\n',
            {"a 0": 2, "a 1": 2, "a 2": 4, "a 2 0": 5},
        ),
        (
            "[[a]]\nx = 1\n[[a]]\nx = 2\n[a.sub]\ny = 3\n[[a.list]]\nz = 4\n[[a.list]]\nz = 5\n",
            {"a": 1, "a 0 x": 2, "a 1": 3, "a 1 sub y": 6, "a 1 list 1 z": 10},
        ),
        ('a = """\nb = 1\n[c]\n\\"""\n""quoted"""""\nd = \'\'\'\ne = 2\'\'\'\'\'\nf = 3\n', {"a": 1, "d": 6, "f": 8}),
        ('a = ["]", \'}\', "#\\"", ""]\nb = { c = \'# "\', d = \'\' }\nf = +inf\n', {"a 3": 1, "b d": 2, "f": 3}),
        ("a = 1\r\n[b]\r\nc = [\r\n 1,\r\n]\r\n", {"b c 0": 4}),
    ],
)
def test_a_key_is_found_on_its_line(text: str, expected: dict[str, int]) -> None:
    found = {" ".join(map(str, path)): line for path, line in lines(text).items()}
    assert {key: found[key] for key in expected} == expected


def test_dotted_and_quoted_keys() -> None:
    found = lines('a . "b.c" . \'d e\' = 1\n"q\\u0041\\"" = 2\n[\'x.y\'."z"]\n"" = 3\n')
    assert (found["a", "b.c", "d e"], found[('qA"',)], found["x.y", "z"], found["x.y", "z", ""]) == (1, 2, 3, 4)


class _Writer:
    """Writes a TOML document and notes where each key goes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.expected: dict[KeyPath, int] = {}
        self.names = 0

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def name(self) -> tuple[str, str]:
        """A new name, and how it is written here."""
        self.names += 1
        name = f"k{self.names}" + self.draw(st.sampled_from(["", "", "-x", ".y", " z", "#", "'", '"', "=", "]", "é"]))
        bare = name.replace("-", "").isalnum() and name.isascii()
        styles = ["basic"] + ["literal"] * ("'" not in name) + ["bare"] * bare
        quoted = name.replace('"', '\\"')
        return name, {"basic": f'"{quoted}"', "literal": f"'{name}'", "bare": name}[self.draw(st.sampled_from(styles))]

    def gap(self, *, breaks: bool = True) -> None:
        self.text += self.draw(st.sampled_from(["", " ", "\t ", *(["\n", ' # ] } = "x\n', "\n\n"] if breaks else [])]))

    def value(self, path: KeyPath, depth: int) -> None:
        kinds = ["plain"] if depth > 2 else ["plain", "plain", "list", "table"]
        match self.draw(st.sampled_from(kinds)):
            case "list":
                self.elements(path, depth)
            case "table":
                self.inline(path, depth)
            case _:
                self.text += self.draw(st.sampled_from(_PLAIN))

    def elements(self, path: KeyPath, depth: int) -> None:
        self.text += "["
        count = self.draw(st.integers(0, 3))
        for place in range(count):
            self.gap()
            self.expected[(*path, place)] = self.line
            self.value((*path, place), depth + 1)
            self.gap()
            self.text += "," if place < count - 1 or self.draw(st.booleans()) else ""
        self.gap()
        self.text += "]"

    def inline(self, path: KeyPath, depth: int) -> None:
        self.text += "{"
        count = self.draw(st.integers(0, 2))
        for place in range(count):
            self.gap(breaks=False)
            self.pair(path, depth + 1)
            self.gap(breaks=False)
            self.text += "," if place < count - 1 else ""
        self.text += "}"

    def pair(self, table: KeyPath, depth: int = 0) -> None:
        line, written = self.line, []
        for _ in range(self.draw(st.integers(1, 2))):
            name, text = self.name()
            table = (*table, name)
            self.expected[table] = line
            written.append(text)
        self.text += " . ".join(written) + self.draw(st.sampled_from(["=", " = "]))
        self.value(table, depth)

    def header(self, arrays: dict[str, tuple[str, int]]) -> KeyPath:
        line = self.line
        if self.draw(st.booleans()):
            name, text = self.name()
            self.text += f"[ {text} ]"
            self.expected[(name,)] = line
            return (name,)
        known = self.draw(st.sampled_from([*arrays, None]))
        name, text = self.name() if known is None else (known, arrays[known][0])
        place = arrays[name][1] + 1 if known else 0
        arrays[name] = (text, place)
        self.text += f"[[{text}]]"
        self.expected.setdefault((name,), line)
        self.expected[(name, place)] = line
        return (name, place)


_PLAIN = [
    "1", "0x1f", "1.5e3", "true", "nan", "1979-05-27 07:32:00", '"a # ] } , = \\" \\\\"', "'\\'",
    '""', "''", '"""\n[x]\ny = "1" \\""""""', "'''\n[x]\n\"\"\" y = 1 ''''", '""""""', "''''''",
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> _Writer:
    writer = _Writer(draw)
    arrays: dict[str, tuple[str, int]] = {}
    table: KeyPath = ()
    for _ in range(draw(st.integers(0, 8))):
        writer.gap()
        if draw(st.booleans()):
            table = writer.header(arrays)
        else:
            writer.pair(table)
        writer.text += draw(st.sampled_from(["\n", " # [end]\n"]))
    return writer


@given(documents())
def test_every_key_of_any_document_is_found_where_it_was_written(writer: _Writer) -> None:
    assert lines(writer.text) == writer.expected
