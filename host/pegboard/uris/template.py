"""URI templates (RFC 6570), parsed into literals and expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

RESERVED = ":/?#[]@!$&'()*+,;="
"""The reserved characters of a URI (RFC 3986 section 2.2)."""

_NAME = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*")
_NOT_LITERAL = re.compile(r'[\x00-\x20"<>\\^`{|}\x7f]|%(?![0-9A-Fa-f]{2})')


class UriTemplateError(ValueError):
    """A string is not a valid URI template, or the template is ambiguous."""


class Operator(NamedTuple):
    """The form of an expression (RFC 6570 appendix A).

    Attributes:
        first: the string before the first value.
        separator: the string between values.
        named: True if values are written as `name=value`.
        reserved: True if values may contain reserved characters.
    """

    first: str
    separator: str
    named: bool = False
    reserved: bool = False


OPERATORS = {
    "": Operator("", ","),
    "+": Operator("", ",", reserved=True),
    "#": Operator("#", ",", reserved=True),
    ".": Operator(".", "."),
    "/": Operator("/", "/"),
    ";": Operator(";", ";", named=True),
    "?": Operator("?", "&", named=True),
    "&": Operator("&", "&", named=True),
}


class Variable(NamedTuple):
    """A variable of an expression.

    Attributes:
        name: the name of the variable.
        prefix: the number of characters of the value that a URI contains, or None for the whole value.
        explode: True for a list whose items are separate in the URI (`{name*}`).
    """

    name: str
    prefix: int | None = None
    explode: bool = False

    def __str__(self) -> str:
        return self.name + ("*" if self.explode else f":{self.prefix}" if self.prefix else "")


class Expression(NamedTuple):
    """An operator and its variables, in braces."""

    operator: str
    variables: tuple[Variable, ...]

    def __str__(self) -> str:
        return "{" + self.operator + ",".join(map(str, self.variables)) + "}"


TemplatePart: TypeAlias = str | Expression


def parse_template(template: str) -> tuple[TemplatePart, ...]:
    """Parse a template and return its percent-encoded literals and its expressions.

    Raises:
        UriTemplateError: the string is not a valid template (RFC 6570).
    """
    parts: list[TemplatePart] = []
    place = 0
    for match in re.finditer(r"\{([^{}]*)\}", template):
        parts.append(_literal(template, place, match.start()))
        parts.append(_expression(match[1], match[0]))
        place = match.end()
    parts.append(_literal(template, place, len(template)))
    return tuple(part for part in parts if part)


def variables(parts: Iterable[TemplatePart]) -> list[Variable]:
    """Return all variables of a parsed template in order."""
    return [variable for part in parts if not isinstance(part, str) for variable in part.variables]


def _literal(template: str, start: int, end: int) -> str:
    text = template[start:end]
    if wrong := _NOT_LITERAL.search(text):
        position = start + wrong.start() + 1
        raise UriTemplateError(f"invalid character {wrong[0]!r} at position {position}: percent-encode it (RFC 6570)")
    return quote(text, safe=f"{RESERVED}%", errors="surrogatepass")


def _expression(inner: str, shown: str) -> Expression:
    if inner[:1] in tuple("=,!@|"):
        raise UriTemplateError(f"the operator {inner[0]!r} of {shown} is reserved (RFC 6570 section 2.2): remove it")
    operator = inner[:1] if inner[:1] in OPERATORS else ""
    return Expression(operator, tuple(_variable(text, shown) for text in inner[len(operator) :].split(",")))


def _variable(text: str, shown: str) -> Variable:
    name, _, length = text.partition(":")
    explode = name.endswith("*") and not length
    name = name[:-1] if explode else name
    if not _NAME.fullmatch(name) or (":" in text and not re.fullmatch(r"[1-9][0-9]{0,3}", length)):
        raise UriTemplateError(f"invalid variable {text!r} in {shown}: use letters, digits and '_' (RFC 6570)")
    return Variable(name, int(length) if length else None, explode)
