"""Frontmatter as JSON: YAML 1.2, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard_plugins.protocols.skills.skill_files import read_frontmatter


def block(text: str) -> bytes:
    return f"---\n{text}\n---\n# Title\n".encode()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-02", "2026-01-02"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("0755", 755),
        ("0o755", 493),
        ("0x1f", 31),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("yes", "yes"),
        ("TRUE", True),
        ("~", None),
        ("", None),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".nan", ".nan"),
        ("!!str 010", "010"),
        ('"2"', "2"),
        ("{on: [1, -2]}", {"on": [1, -2]}),
        ("{7: a, true: b, <<: c}", {"7": "a", "true": "b", "<<": "c"}),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_a_value_is_what_its_author_wrote(text: str, value: Any) -> None:
    fields = read_frontmatter(block(f"x: {text}"))
    assert (fields, type(fields["x"])) == ({"x": value}, type(value))


def test_lines_may_end_with_a_carriage_return() -> None:
    assert read_frontmatter(b"---\r\nx: a\r\n---\r\nbody") == {"x": "a"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"# Title", "must begin with frontmatter"),
        (b"\xef\xbb\xbf---\nx: a\n---\n", "must begin with frontmatter"),
        (b"---\nx: a\n", "must begin with frontmatter"),
        (b"---\n---\n", "no fields"),
        (b"---\nx: \xff\n---\n", "codec can't decode"),
        (block("- a"), "must have fields"),
        (block("x: [a"), "not valid YAML"),
        (block("x: &a [1]\ny: *a"), "an alias"),
        (block("x: 1\nx: 2"), "line 3 repeats a key"),
        (block("? [a]\n: b"), "not a text"),
        (block("x: !!python/object/apply:os.getcwd []"), "python/object"),
        (block("x: !!binary aGk="), "binary"),
        (block("x: !!map a"), "type tag:yaml.org,2002:map"),
        (block("x: " + "[" * 5000), "not valid YAML"),
        (block("x: " + "[" * 40 + "]" * 40), "more than 32 levels"),
        (block("x: " + "9" * 5000), "4300 digits"),
        (block("x: " + "a" * 70_000), "longer than"),
    ],
)
def test_what_is_no_frontmatter_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("[", r"\[")):
        read_frontmatter(content)
