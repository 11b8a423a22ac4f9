"""The line of each key in a TOML document. TOML parsers do not return lines.

The document must be valid (TOML 1.0 or 1.1). Lines are determined only for messages.
"""

from __future__ import annotations

import re
from bisect import bisect_right

import tomli

from pegboard.config.problems import KeyPath

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_NAME = re.compile(r"""[^\s."'=\]]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_SCALAR = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'{3}.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^,\]}#\n]+''',
    re.DOTALL,
)


def find_lines(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of every table, key and list element of a valid TOML document.

    A table without a header has the line of the first header or dotted key that implies it.
    """
    finder = _Finder(text)
    finder.document()
    return finder.lines


class _Finder:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.counts: dict[KeyPath, int] = {}  # how many tables each array of tables has so far
        self.breaks = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> None:
        table: KeyPath = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)

    def header(self) -> KeyPath:
        line = self.line()
        depth = 2 if self.text.startswith("[[", self.at) else 1
        self.at += depth
        self.skip(_BLANK)
        path = self.resolve(self.names(), in_array=depth == 2, line=line)
        self.skip(_BLANK)
        self.at += depth
        return path

    def resolve(self, names: list[str], *, in_array: bool, line: int) -> KeyPath:
        """Return the path of a header's table. For an array of tables, use the index of its last element."""
        path: KeyPath = ()
        for name in names[:-1]:
            path = (*path, name)
            self.lines.setdefault(path, line)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        path = (*path, names[-1])
        if in_array:
            self.lines.setdefault(path, line)
            self.counts[path] = self.counts.get(path, 0) + 1
            path = (*path, self.counts[path] - 1)
        self.lines[path] = line
        return path

    def pair(self, table: KeyPath) -> None:
        line = self.line()
        for name in self.names():
            table = (*table, name)
            self.lines.setdefault(table, line)
        self.skip(_BLANK)
        self.at += 1  # the equals sign
        self.skip(_BLANK)
        self.value(table)

    def value(self, path: KeyPath) -> None:
        if self.text.startswith("[", self.at):
            self.elements(path)
        elif self.text.startswith("{", self.at):
            self.inline_table(path)
        else:
            self.skip(_SCALAR)

    def elements(self, path: KeyPath) -> None:
        index = 0
        while self.inside("]"):
            self.lines[(*path, index)] = self.line()
            self.value((*path, index))
            index += 1

    def inline_table(self, path: KeyPath) -> None:
        while self.inside("}"):
            self.pair(path)

    def inside(self, end: str) -> bool:
        """Skip an opening bracket or a comma. At the closing bracket, skip it and return False."""
        self.skip(_BLANK)
        if self.text[self.at] in "[{,":
            self.at += 1
            self.skip(_BLANK)
        if self.text[self.at] != end:
            return True
        self.at += 1
        return False

    def names(self) -> list[str]:
        names = [self.name()]
        while self.skip(_DOT):
            names.append(self.name())
        return names

    def name(self) -> str:
        raw = self.skip(_NAME)
        return str(tomli.loads(f"name = {raw}")["name"]) if raw.startswith(("'", '"')) else raw

    def line(self) -> int:
        return bisect_right(self.breaks, self.at) + 1

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()
