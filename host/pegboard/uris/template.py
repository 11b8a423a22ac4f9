"""URI templates (RFC 6570) read both ways: values into a URI, and a URI back into values.

Every template of the RFC expands. One that is to be matched must give each URI back as the values it was made of, and
as no others: `matcher` refuses the rest when it is registered, with the reason, by looking for two ways to read one
text. Nothing here knows resources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

Value: TypeAlias = str | Sequence[str] | Mapping[str, str] | None
"""A variable's value; None and what is empty of members are undefined (RFC 6570 section 2.3)."""

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_RESERVED = ":/?#[]@!$&'()*+,;="
_NAME = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
_NOT_LITERAL = re.compile(r'[\x00-\x20"<>\\^`{|}\x7f]|%(?![0-9A-Fa-f]{2})')


class UriTemplateError(ValueError):
    """A text is no URI template, or one that cannot be matched; the message says why, and where."""


class Operator(NamedTuple):
    """How an expression is written (RFC 6570 appendix A).

    Attributes:
        first: what stands before the first value.
        separator: what stands between values.
        named: values are written as `name=value`.
        empty: what follows the name of an empty value.
        reserved: reserved characters and triplets stay as they are.
    """

    first: str
    separator: str
    named: bool = False
    empty: str = ""
    reserved: bool = False


OPERATORS = {
    "": Operator("", ","),
    "+": Operator("", ",", reserved=True),
    "#": Operator("#", ",", reserved=True),
    ".": Operator(".", "."),
    "/": Operator("/", "/"),
    ";": Operator(";", ";", named=True),
    "?": Operator("?", "&", named=True, empty="="),
    "&": Operator("&", "&", named=True, empty="="),
}


class Variable(NamedTuple):
    """One variable of an expression.

    Attributes:
        prefix: only so many of its characters are written, None for all.
        explode: its members are written one by one.
    """

    name: str
    prefix: int | None = None
    explode: bool = False


class Expression(NamedTuple):
    """What stands between braces."""

    operator: str
    variables: tuple[Variable, ...]

    def __str__(self) -> str:
        names = (one.name + ("*" if one.explode else f":{one.prefix}" if one.prefix else "") for one in self.variables)
        return "{" + self.operator + ",".join(names) + "}"


Part: TypeAlias = str | Expression


def parse(template: str) -> tuple[Part, ...]:
    """The literals, percent-encoded where they must be, and the expressions of a template.

    Raises:
        UriTemplateError: it is not a template of RFC 6570.
    """
    parts: list[Part] = []
    place = 0
    for found in re.finditer(r"\{([^{}]*)\}", template):
        parts.append(_literal(template, place, found.start()))
        parts.append(_expression(found[1], found[0]))
        place = found.end()
    parts.append(_literal(template, place, len(template)))
    return tuple(part for part in parts if part)


def expand(parts: Iterable[Part], values: Mapping[str, Value]) -> str:
    """The URI that a parsed template and values make (RFC 6570 section 3).

    Raises:
        UriTemplateError: a prefix is asked of a value that has members.
    """
    return "".join(part if isinstance(part, str) else _expanded(part, values) for part in parts)


def variables(parts: Iterable[Part]) -> list[Variable]:
    """All variables of a parsed template, in their order."""
    return [one for part in parts if not isinstance(part, str) for one in part.variables]


# --- parsing


def _literal(template: str, start: int, end: int) -> str:
    text = template[start:end]
    if wrong := _NOT_LITERAL.search(text):
        raise UriTemplateError(f"{wrong[0]!r} at character {start + wrong.start() + 1} cannot stand in a URI template")
    return _encoded(text, reserved=True)


def _expression(inner: str, shown: str) -> Expression:
    operator = inner[:1] if inner[:1] in OPERATORS else ""
    if inner[:1] in tuple("=,!@|"):
        raise UriTemplateError(f"the operator {inner[0]!r} of {shown} is reserved (RFC 6570 section 2.2)")
    return Expression(operator, tuple(_variable(text, shown) for text in inner[len(operator) :].split(",")))


def _variable(text: str, shown: str) -> Variable:
    name, _, length = text.partition(":")
    explode = name.endswith("*") and not length
    name = name[:-1] if explode else name
    if not _NAME.fullmatch(name) or (":" in text and not re.fullmatch(r"[1-9][0-9]{0,3}", length)):
        raise UriTemplateError(f"{text!r} in {shown} is no variable (RFC 6570 section 2.3)")
    return Variable(name, int(length) if length else None, explode)


# --- expanding


def _encoded(text: str, *, reserved: bool = False) -> str:
    if not reserved:
        return "".join(map(_octets, text))
    pieces: list[str] = []
    place = 0
    for triplet in _TRIPLET.finditer(text):
        pieces += [_octets(char, _RESERVED) for char in text[place : triplet.start()]]
        pieces.append(triplet[0])
        place = triplet.end()
    return "".join((*pieces, *(_octets(char, _RESERVED) for char in text[place:])))


def _octets(char: str, also: str = "") -> str:
    if char in _UNRESERVED or char in also:
        return char
    return "".join(f"%{octet:02X}" for octet in char.encode("utf-8", "surrogatepass"))


def _expanded(expression: Expression, values: Mapping[str, Value]) -> str:
    operator = OPERATORS[expression.operator]
    written = [
        text
        for variable in expression.variables
        for text in _written(variable, values.get(variable.name), operator, str(expression))
    ]
    return operator.first + operator.separator.join(written) if written else ""


def _written(variable: Variable, value: Value, operator: Operator, shown: str) -> list[str]:
    """The texts, each with a separator before it, that one variable comes to; none when it is undefined."""
    if value is None:
        return []
    if isinstance(value, str):
        text = _encoded(value[: variable.prefix], reserved=operator.reserved)
        return [_named(variable.name, text, operator) if operator.named else text]
    if variable.prefix is not None:
        raise UriTemplateError(f"{shown}: a value with members has no first {variable.prefix} characters")
    pairs = [list(pair) for pair in value.items()] if isinstance(value, Mapping) else [[text] for text in value]
    members = [[_encoded(text, reserved=operator.reserved) for text in pair] for pair in pairs]
    if not members:
        return []
    if not variable.explode:
        joined = ",".join(text for member in members for text in member)
        return [_named(variable.name, joined, operator) if operator.named else joined]
    if isinstance(value, Mapping):
        return [_named(key, text, operator) if operator.named else f"{key}={text}" for key, text in members]
    return [_named(variable.name, text, operator) if operator.named else text for (text,) in members]


def _named(name: str, text: str, operator: Operator) -> str:
    return f"{name}={text}" if text else name + operator.empty
