"""Where keys stand in a TOML document, held against a TOML parser and against how the document was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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


def test_tables_and_keys() -> None:
    found = lines("# a comment = 1\n\n[host]\nname = 'x' # [no]\n\n  [plugins.http]  # here\n  port = 1\n")
    assert found == {
        ("host",): 3,
        ("host", "name"): 4,
        ("plugins",): 6,
        ("plugins", "http"): 6,
        ("plugins", "http", "port"): 7,
    }


def test_a_table_whose_own_header_comes_late_stands_at_that_header() -> None:
    assert lines("[a.b]\nx = 1\n[a]\ny = 2\n")[("a",)] == 3


def test_dotted_and_quoted_keys() -> None:
    found = lines('a . "b.c" . \'d e\' = 1\n"q\\u0041\\"" = 2\n[\'x.y\'."z"]\n"" = 3\n')
    assert found[("a", "b.c", "d e")] == 1
    assert found[('qA"',)] == 2
    assert found[("x.y", "z")] == 3
    assert found[("x.y", "z", "")] == 4


def test_a_dotted_key_adds_to_a_table_that_stands_above() -> None:
    found = lines("[t]\na.x = 1\na.y = 2\n")
    assert found[("t", "a")] == 2
    assert found[("t", "a", "y")] == 3


def test_inline_tables_have_their_keys_on_their_line() -> None:
    found = lines("x = 1\nsecret = { env = \"NAME\", 'more' = { a.b = [1, {c = 2}] } }\nend = {}\n")
    assert found[("secret", "env")] == 2
    assert found[("secret", "more", "a", "b", 1, "c")] == 2
    assert found[("end",)] == 3


def test_list_elements_stand_on_their_own_lines() -> None:
    found = lines('a = [ # one\n  "x", "y",\n  # two\n  [\n    3,\n  ],\n]\nb = []\n')
    assert [found[("a", place)] for place in (0, 1, 2)] == [2, 2, 4]
    assert found[("a", 2, 0)] == 5
    assert found[("b",)] == 8


def test_arrays_of_tables() -> None:
    found = lines("[[a]]\nx = 1\n[[a]]\nx = 2\n[a.sub]\ny = 3\n[[a.list]]\nz = 4\n[[a.list]]\nz = 5\n")
    assert found[("a",)] == 1
    assert found[("a", 0, "x")] == 2
    assert found[("a", 1)] == 3
    assert found[("a", 1, "sub", "y")] == 6
    assert found[("a", 1, "list", 1, "z")] == 10


def test_strings_of_several_lines_hide_what_looks_like_keys() -> None:
    text = 'a = """\nb = 1\n[c]\n\\"""\n""quoted"""""\nd = \'\'\'\ne = 2\'\'\'\'\'\nf = 3\n'
    assert lines(text) == {("a",): 1, ("d",): 6, ("f",): 8}


def test_strings_that_hold_brackets_quotes_and_hashes() -> None:
    found = lines(
        'a = ["]", \'}\', "#\\"", ""]\nb = { c = \'# "\', d = \'\' }\ne = 1979-05-27 07:32:00 # t\nf = +inf\n'
    )
    assert found[("a", 3)] == 1
    assert found[("b", "d")] == 2
    assert found[("f",)] == 4


def test_line_ends_of_windows() -> None:
    assert lines("a = 1\r\n[b]\r\nc = [\r\n 1,\r\n]\r\n")[("b", "c", 0)] == 4


def test_documents_without_anything() -> None:
    assert lines("") == {}
    assert lines("  # only this") == {}


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
