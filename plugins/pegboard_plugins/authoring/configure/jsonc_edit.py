"""Changes in JSON with comments and trailing commas (JSONC). All text outside of the changed member is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pegboard_plugins.support.edited_file import EditedFileError

_SPACE = " \t\r\n"
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")


class Node(NamedTuple):
    """A value in the text. `members` is None for a value that is not an object."""

    start: int
    end: int
    value: Any
    members: list[Member] | None = None


class Member(NamedTuple):
    """A member of an object. `comma` is the position of the comma after it, or None without one."""

    name: str
    start: int
    node: Node
    comma: int | None


def parse_jsonc(text: str) -> Node:
    """Return the value of a document.

    Raises:
        EditedFileError: the text is not JSON with comments.
    """
    reader = _Reader(text)
    try:
        root = reader.value(reader.skip(1 if text.startswith("\ufeff") else 0))
        end = reader.skip(root.end)
    except RecursionError:
        raise EditedFileError("it is nested too deeply") from None
    if end != len(text):
        raise reader.wrong(end, "unexpected text after the end")
    return root


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def wrong(self, position: int, problem: str) -> EditedFileError:
        return EditedFileError(f"line {self.text.count(chr(10), 0, position) + 1}: {problem}")

    def skip(self, position: int) -> int:
        """Return the position after white space and comments."""
        match = _TRIVIA.match(self.text, position)
        assert match is not None
        return match.end()

    def value(self, position: int) -> Node:
        char = self.text[position : position + 1]
        if char == "{":
            return self.object(position)
        if char == "[":
            return self.array(position)
        match = (_STRING if char == '"' else _WORD).match(self.text, position)
        if match is None:
            raise self.wrong(position, "a value is missing" if char else "the end is missing")
        try:
            return Node(position, match.end(), json.loads(match.group()))
        except ValueError:
            raise self.wrong(position, f"{match.group()[:20]} is not a JSON value") from None

    def object(self, start: int) -> Node:
        members: list[Member] = []
        value: dict[str, Any] = {}
        position = self.skip(start + 1)
        while not self.text.startswith("}", position):
            if not self.text.startswith('"', position) or (members and members[-1].comma is None):
                raise self.wrong(position, 'expected "," or "}"' if members else 'expected a name in quotes or "}"')
            name = self.value(position)
            colon = self.skip(name.end)
            if not self.text.startswith(":", colon):
                raise self.wrong(colon, 'expected ":"')
            node = self.value(self.skip(colon + 1))
            after = self.skip(node.end)
            comma = after if self.text.startswith(",", after) else None
            members.append(Member(name.value, position, node, comma))
            value[name.value] = node.value
            position = after if comma is None else self.skip(after + 1)
        return Node(start, position + 1, value, members)

    def array(self, start: int) -> Node:
        values: list[Any] = []
        position, comma = self.skip(start + 1), True
        while not self.text.startswith("]", position):
            if not comma:
                raise self.wrong(position, 'expected "," or "]"')
            node = self.value(position)
            values.append(node.value)
            position = self.skip(node.end)
            comma = self.text.startswith(",", position)
            position = self.skip(position + 1) if comma else position
        return Node(start, position + 1, values)


# --- changes


def read_jsonc(text: str, path: Sequence[str]) -> dict[str, Any]:
    """Return the object at a path of names; {} if it is missing.

    Raises:
        EditedFileError: the text is not JSON with comments, or a value on the path is not an object.
    """
    if not text.strip(_SPACE + "\ufeff"):
        return {}
    node, missing = _at(parse_jsonc(text), path)
    return {} if missing else dict(node.value)


def set_jsonc(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with the value at a path of names. Missing objects on the path are added.

    Raises:
        EditedFileError: the text is not JSON with comments, or a value on the path is not an object.
    """
    if not text.strip(_SPACE + "\ufeff"):
        return formatted(_nested(path, value), "", "  ", "\n", own_line=True) + "\n"
    root = parse_jsonc(text)
    node, missing = _at(root, path[:-1])
    if missing:
        return _inserted(text, root, node, missing[0], _nested([*missing[1:], path[-1]], value))
    member = _member(node, path[-1])
    if member is None:
        return _inserted(text, root, node, path[-1], value)
    if member.node.value == value:
        return text
    own_line = _is_on_lines(text, node)
    shown = formatted(value, _indent_at(text, member.start), _unit(text, root), _newline(text), own_line=own_line)
    return text[: member.node.start] + shown + text[member.node.end :]


def delete_jsonc(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path of names. Comments around the member stay.

    Raises:
        EditedFileError: the text is not JSON with comments, or a value on the path is not an object.
    """
    node, missing = _at(parse_jsonc(text), path[:-1])
    member = None if missing else _member(node, path[-1])
    return text if member is None else _deleted(text, node, member)


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _at(node: Node, path: Sequence[str]) -> tuple[Node, list[str]]:
    """Return the deepest object on a path, and the names that are missing below it."""
    for number, name in enumerate(["", *path]):
        if name:
            member = _member(node, name)
            if member is None:
                return node, list(path[number - 1 :])
            node = member.node
        if node.members is None:
            raise EditedFileError(f"{'.'.join(path[:number]) or 'the document'} must be an object")
    return node, []


def _member(node: Node, name: str) -> Member | None:
    members = [member for member in node.members or () if member.name == name]
    if len(members) > 1:
        raise EditedFileError(f"it has {name!r} {len(members)} times: remove all but one")
    return members[0] if members else None


def _inserted(text: str, root: Node, node: Node, name: str, value: Any) -> str:
    """Return the text with a new last member of an object."""
    unit, newline = _unit(text, root), _newline(text)
    own_line = _is_on_lines(text, node)
    closing = _indent_at(text, node.start)
    members = node.members or []
    indent = _indent_at(text, members[0].start) if members and own_line else closing + unit
    last = members[-1] if members else None
    after = node.start + 1 if last is None else last.node.end if last.comma is None else last.comma + 1
    inner = text[after : node.end - 1]
    kept = inner.rstrip(_SPACE)  # comments
    own_line = own_line or _ends_in_line_comment(kept)
    shown = formatted(value, indent, unit, newline, own_line=own_line)
    entry = f"{newline + indent if own_line else ' '}{json.dumps(name, ensure_ascii=False)}: {shown}"
    if last is None:
        return f"{text[:after]}{kept}{entry}{newline}{closing}{text[node.end - 1 :]}"
    tail = inner[len(kept) :] + text[node.end - 1 :]
    if last.comma is None:
        return f"{text[:after]},{kept}{entry}{tail}"
    return f"{text[:after]}{kept}{entry},{tail}"


def _deleted(text: str, node: Node, member: Member) -> str:
    members = node.members or []
    number = members.index(member)
    cut = members[number - 1].comma if number else None
    lower = (node.start if cut is None else cut) + 1
    kept = text[lower : member.start].rstrip(_SPACE)
    tail = text[member.node.end if member.comma is None else member.comma + 1 :]
    if _ends_in_line_comment(kept) and not re.match(r"[ \t]*\r?\n", tail):
        kept += _newline(text)
    if cut is not None and member.comma is None:  # the previous member is the last one now
        return text[:cut] + kept + tail
    if len(members) == 1 and not kept and tail.lstrip(_SPACE).startswith("}"):
        tail = tail.lstrip(_SPACE)
    return text[:lower] + kept + tail


def formatted(value: Any, indent: str, unit: str, newline: str, *, own_line: bool) -> str:
    """Return a value as JSON on one line, or with the members of objects on lines that begin with `indent`."""
    if own_line and isinstance(value, list):  # such as `args`
        return f"[{', '.join(formatted(item, '', '', ' ', own_line=True) for item in value)}]"
    if not (own_line and isinstance(value, dict) and value):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    members = (
        f"{newline}{inner}{json.dumps(name, ensure_ascii=False)}: "
        f"{formatted(member, inner, unit, newline, own_line=True)}"
        for name, member in value.items()
    )
    return f"{{{','.join(members)}{newline}{indent}}}"


def _ends_in_line_comment(trivia: str) -> bool:
    comments = _COMMENT.findall(trivia)
    return bool(comments) and comments[-1].startswith("//") and trivia.endswith(comments[-1])


def _is_on_lines(text: str, node: Node) -> bool:
    """Return True if an object has no members, or if its first member begins on a new line."""
    return not node.members or "\n" in text[node.start : node.members[0].start]


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, root: Node) -> str:
    """Return the white space of one level."""
    return _indent_at(text, root.members[0].start) or "  " if root.members and _is_on_lines(text, root) else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
