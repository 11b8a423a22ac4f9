"""Which URIs a template (RFC 6570) makes, and of which values. What cannot be told is refused, not guessed.

A value is whatever stands between what the template fixes. It comes decoded, and never holds what makes a path of it:
see `Matcher.match`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from pegboard.uris.grammar import Alphabet, Grammar, Piece
from pegboard.uris.template import OPERATORS, Expression, Part, UriTemplateError, Variable, parse, variables

MAX_URI_CHARACTERS = 8192
"""A longer URI matches nothing."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
_IN_PATHS = "!$&'()*+,;=:@"
"""What a URI may hold unencoded within a segment of its path (RFC 3986 section 3.3), besides unreserved characters."""


class _Taken(NamedTuple):
    """How the text of one group becomes a value."""

    variable: Variable
    operator: str

    def value(self, text: str) -> str | list[str] | None:
        """The value, None where it is not one that may be passed on."""
        separator = OPERATORS[self.operator].separator
        if not self.variable.explode:
            return _decoded(text.removeprefix("=") if self.operator == ";" else text, slashes=self.slashes)
        members = text.removeprefix(OPERATORS[self.operator].first).split(separator) if text else []
        if self.operator == ";":
            members = [member.partition("=")[2] for member in members]
        values = [value for member in members if (value := _decoded(member, slashes=self.slashes)) is not None]
        return values if len(values) == len(members) else None

    @property
    def slashes(self) -> bool:
        """Whether the template asks for slashes in the value."""
        return OPERATORS[self.operator].reserved


class Matcher:
    """One template, ready to match.

    Attributes:
        template: its text.
        parts: the template, parsed.
        names: its variables, in their order.
        lists: those that match several values (`{/path*}`).
        rank: sorts templates, those that fix more of a URI first; never equal for two.
    """

    def __init__(self, template: str) -> None:
        """Compile a template.

        Raises:
            UriTemplateError: it is none, or cannot be matched without guessing.
        """
        self.template = template
        self.parts = parse(template)
        found = variables(self.parts)
        self.names = tuple(one.name for one in found)
        self.lists = frozenset(one.name for one in found if one.explode)
        _check(self.parts, found)
        head, self._query = _divided(self.parts)
        self._taken: list[_Taken] = []
        self._regex = re.compile(self._compiled(head))
        literal = sum(len(part) for part in self.parts if isinstance(part, str))
        wide = sum(OPERATORS[part.operator].reserved for part in self.parts if not isinstance(part, str))
        self.rank = (wide, len(self.lists), -literal, len(self.names), template)

    def match(self, uri: str) -> dict[str, str | list[str]] | None:
        """The values that make this URI, None when it is not one of this template's.

        A variable outside of queries, fragments and lists is there and not empty. Refused, as if they did not match:
        values that hold NUL, a slash (encoded or not) where the template does not ask for slashes by `{+name}` or
        `{#name}`, a `..` between slashes or backslashes, an absolute path, and what is not UTF-8.
        """
        if len(uri) > MAX_URI_CHARACTERS:
            return None
        found = self._regex.fullmatch(_TRIPLET.sub(lambda triplet: triplet[0].upper(), uri))
        if found is None:
            return None
        values: dict[str, str | list[str]] = {}
        for place, taken in enumerate(self._taken):
            text = found[f"v{place}"]
            value = None if text is None else taken.value(text)
            if value is not None:
                values[taken.variable.name] = value
            elif text is not None:
                return None
        return self._with_query(values, found["query"]) if self._query else values

    def _with_query(self, values: dict[str, str | list[str]], text: str | None) -> dict[str, str | list[str]] | None:
        """With the parameters of a query added, which may come in any order, each once or not at all."""
        for pair in text.split("&") if text is not None else ():
            name, equals, raw = pair.partition("=")
            variable, value = self._query.get(name), _decoded(raw, slashes=False)
            if variable is None or not equals or value is None:
                return None
            if not variable.explode and name not in values:
                values[name] = value
            elif variable.explode:
                several = values.setdefault(name, [])
                assert isinstance(several, list)
                several.append(value)
            else:
                return None
        return values

    # --- compiling

    def _compiled(self, head: Sequence[Part]) -> str:
        """The regular expression of the head, once no text can be read in two ways.

        Raises:
            UriTemplateError: one can.
        """
        grammar = Grammar()
        openers = self._openers()
        separators = set("".join(part for part in self.parts[1:] if isinstance(part, str)))
        separators.update(_SCHEME.sub("", str(self.parts[0]), count=1))
        for part in self.parts:
            if isinstance(part, Expression):
                several = len(part.variables) > 1 or any(one.explode for one in part.variables)
                operator = OPERATORS[part.operator]
                separators.update(operator.first, operator.separator if several or operator.named else "")
                separators.update("=" if operator.named else "")
        narrow = Alphabet.of(set(_IN_PATHS) - separators)
        wide = Alphabet.of(set(":/?#[]@!$&'()*+,;=") - openers)
        pieces = [
            grammar.literal(part) if isinstance(part, str) else self._expression(grammar, part, narrow, wide)
            for part in head
        ]
        grammar.finish(grammar.then(*pieces))
        if clash := grammar.ambiguity():
            raise UriTemplateError(_reason(*clash))
        texts = [piece.regex for piece in pieces]
        if self._query:
            at = next((place for place, part in enumerate(head) if _is(part, "#")), len(texts))
            texts.insert(at, rf"(?:{re.escape(min(openers - {'#'}))}(?P<query>[^#]*))?")
        return "".join(texts)

    def _openers(self) -> set[str]:
        """What begins the query and the fragment, which no value before them can hold then."""
        operators = [part.operator for part in self.parts if isinstance(part, Expression)]
        query = next((operator for operator in operators if operator in ("?", "&")), None)
        return {one for one in (query, "#" if "#" in operators else None) if one}

    def _expression(self, grammar: Grammar, expression: Expression, narrow: Alphabet, wide: Alphabet) -> Piece:
        operator = OPERATORS[expression.operator]
        alphabet = wide if operator.reserved else narrow
        pieces: list[Piece] = []
        for variable in expression.variables:
            between = operator.separator if pieces and operator.first in ("", "#") else operator.first
            before = between if between != "#" else ""
            pieces.append(self._variable(grammar, _Taken(variable, expression.operator), alphabet, before))
        whole = grammar.then(*pieces)
        return grammar.maybe(grammar.then(grammar.literal("#"), whole)) if operator.first == "#" else whole

    def _variable(self, grammar: Grammar, taken: _Taken, alphabet: Alphabet, before: str) -> Piece:
        variable, group = taken.variable, f"v{len(self._taken)}"
        self._taken.append(taken)

        def text() -> Piece:
            return grammar.several(alphabet, variable.name)

        if taken.operator == ";":
            one = [grammar.literal(f";{variable.name}"), grammar.maybe(grammar.then(grammar.literal("="), text()))]
            if variable.explode:
                return grammar.maybe(grammar.group(group, grammar.many(grammar.then(*one))))
            return grammar.maybe(grammar.then(one[0], grammar.group(group, one[1])))
        if not variable.explode:
            return grammar.then(grammar.literal(before), grammar.group(group, text()))
        separator = OPERATORS[taken.operator].separator
        more = grammar.many(grammar.then(grammar.literal(separator), text()))
        if before == separator and taken.operator in ("/", "."):
            return grammar.maybe(grammar.group(group, more))
        return grammar.then(grammar.literal(before), grammar.group(group, grammar.then(text(), grammar.maybe(more))))


def _is(part: Part, *operators: str) -> bool:
    return isinstance(part, Expression) and part.operator in operators


def _check(parts: Sequence[Part], found: Sequence[Variable]) -> None:
    first = parts[0] if parts else ""
    if not isinstance(first, str) or not _SCHEME.match(first):
        raise UriTemplateError("it does not begin with a scheme, such as docs://{name} (RFC 3986)")
    names = [one.name for one in found]
    for variable in found:
        if variable.prefix is not None:
            raise UriTemplateError(
                f"{{{variable.name}:{variable.prefix}}} holds the beginning of a value, not the value"
            )
        if names.count(variable.name) > 1:
            raise UriTemplateError(f"the variable {variable.name!r} stands there twice")


def _divided(parts: Sequence[Part]) -> tuple[list[Part], dict[str, Variable]]:
    """The parts without those of the query, and the variables of the query."""
    query: dict[str, Variable] = {}
    head: list[Part] = []
    before = ""
    for part in parts:
        if isinstance(part, Expression) and part.operator in ("?", "&"):
            _check_query(part, before)
            query |= {one.name: one for one in part.variables}
        elif query and not _is(part, "#"):
            raise UriTemplateError(f"{part} follows the query; only {{#...}} may")
        else:
            head.append(part)
        before += part if isinstance(part, str) else part.operator
    return head, query


def _check_query(part: Expression, before: str) -> None:
    if "#" in before:
        raise UriTemplateError(f"{part} stands behind the fragment; put it before the #")
    if part.operator == "?" and "?" in before:
        raise UriTemplateError(f"{part} begins a query where there is one already; use {{&...}}")
    if part.operator == "&" and "?" not in before:
        raise UriTemplateError(f"{part} goes on with a query where there is none; use {{?...}}")


def _reason(one: str | None, other: str | None) -> str:
    names = sorted({f"{{{name}}}" for name in (one, other) if name})
    if len(names) == 1:
        return f"{names[0]} has no clear end: its value may hold what follows it"
    return f"{' and '.join(names)} cannot be told apart: a value may hold what stands between them"


def _decoded(text: str, *, slashes: bool) -> str | None:
    try:
        value = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return None
    segments = re.split(r"[/\\]", value)
    if "\0" in value or ".." in segments or ("/" in value and not slashes):
        return None
    is_absolute = len(segments) > 1 and re.fullmatch(r"|[A-Za-z]:", segments[0])
    return None if is_absolute else value
