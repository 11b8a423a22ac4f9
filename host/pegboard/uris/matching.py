"""The matching of URIs against templates.

Each URI has at most one set of values, because ambiguous templates are rejected: variables must be separated by a
reserved character such as `/`, and at most one variable before the query may span several segments (`{+name}`,
`{name*}`, `{;name}`). Every other variable ends at the next separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from pegboard.uris.template import (
    OPERATORS,
    RESERVED,
    Expression,
    TemplatePart,
    UriTemplateError,
    Variable,
    parse_template,
    variables,
)

MAX_URI_CHARACTERS = 8192
"""The number of characters of a URI above which no template matches."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = r"A-Za-z0-9\-._~\u0080-\U0010ffff"
_IN_PATHS = "!$&'()*+,;=:@"
"""The reserved characters that a path segment may contain unencoded (RFC 3986 section 3.3)."""


class _Group(NamedTuple):
    """The variable that a group of the regular expression captures, and the operator of the variable's expression."""

    variable: Variable
    operator: str

    def value(self, text: str) -> str | list[str] | None:
        """Return the decoded value, or None if the value is not allowed."""
        first, separator, named, slashes = OPERATORS[self.operator]
        if not self.variable.explode:
            return _decoded(text.removeprefix("=") if named else text, slashes=slashes)
        items = text.removeprefix(first).split(separator) if text else []
        if named:
            items = [item.partition("=")[2] for item in items]
        values = [value for item in items if (value := _decoded(item, slashes=slashes)) is not None]
        return values if len(values) == len(items) else None


class Matcher:
    """A template that is ready to match.

    Attributes:
        template: the template.
        names: the names of the variables, in order.
        rank: the sort key of the template. Templates with more literal characters come first. Ranks are unique.
    """

    def __init__(self, template: str, *, needs_scheme: bool = True) -> None:
        """Compile a template.

        Args:
            template: the template.
            needs_scheme: False to accept a template that does not begin with a scheme.

        Raises:
            UriTemplateError: the template is invalid or ambiguous.
        """
        self.template = template
        parts = parse_template(template)
        all_variables = variables(parts)
        self.names = tuple(variable.name for variable in all_variables)
        if needs_scheme:
            _check_scheme(parts)
        _check_variables(all_variables)
        head, self._query = _divided(parts)
        _check_separators(head)
        _check_lengths(head)
        self._groups: list[_Group] = []
        self._regex = re.compile(self._pattern(parts, head))
        literal = sum(len(part) for part in parts if isinstance(part, str))
        wide = sum(OPERATORS[part.operator].reserved for part in parts if isinstance(part, Expression))
        lists = sum(variable.explode for variable in all_variables)
        self.rank = (wide, lists, -literal, len(all_variables), template)

    def match(self, uri: str) -> dict[str, str | list[str]] | None:
        """Return the values of the variables, or None if the URI does not match.

        Variables outside of queries, fragments and lists must have a value that is not empty. A URI does not match if a
        value is an absolute path, or contains NUL, `..` as a segment, or invalid UTF-8. Only values of `{+name}` and
        `{#name}` may contain a slash, whether encoded or not.
        """
        if len(uri) > MAX_URI_CHARACTERS:
            return None
        match = self._regex.fullmatch(_uppercase(uri))
        if match is None:
            return None
        values: dict[str, str | list[str]] = {}
        for place, group in enumerate(self._groups):
            text = match[f"v{place}"]
            value = None if text is None else group.value(text)
            if value is not None:
                values[group.variable.name] = value
            elif text is not None:
                return None
        return self._with_query(values, match["query"]) if self._query else values

    def _with_query(self, values: dict[str, str | list[str]], text: str | None) -> dict[str, str | list[str]] | None:
        """Add the parameters of a query. Parameters may have any order. Only list parameters may be repeated."""
        for pair in text.split("&") if text is not None else ():
            name, equals, raw = pair.partition("=")
            variable = self._query.get(name)
            value = _decoded(raw, slashes=False)
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

    # --- the regular expression

    def _pattern(self, parts: Sequence[TemplatePart], head: Sequence[TemplatePart]) -> str:
        operators = [part.operator for part in parts if isinstance(part, Expression)]
        query = next((operator for operator in operators if operator in ("?", "&")), None)
        separators = _separators(parts)
        narrow = _characters(set(_IN_PATHS) - separators)
        wide = _characters(set(RESERVED) - {query, "#" if "#" in operators else None})
        patterns = [
            re.escape(_uppercase(part))
            if isinstance(part, str)
            else self._expression(part, wide if OPERATORS[part.operator].reserved else narrow)
            for part in head
        ]
        if query:
            place = len(head) - _is_fragment(head[-1])
            # a value of {+name} may contain a query, so that a second `?` would be ambiguous
            characters = "[^#?]" if "+" in operators else "[^#]"
            patterns.insert(place, rf"(?:{re.escape(query)}(?P<query>{characters}*))?")
        return "".join(patterns)

    def _expression(self, expression: Expression, value: str) -> str:
        first, separator, named, _ = OPERATORS[expression.operator]
        before = first
        pattern = ""
        for variable in expression.variables:
            group = f"(?P<v{len(self._groups)}>"
            self._groups.append(_Group(variable, expression.operator))
            item = f";{re.escape(variable.name)}(?:={value})?" if named else f"{re.escape(separator)}{value}"
            if named and variable.explode:
                pattern += f"(?:{group}(?:{item})+))?"
            elif named:
                pattern += f"(?:;{re.escape(variable.name)}{group}(?:={value})?))?"
            elif not variable.explode:
                pattern += f"{re.escape(before)}{group}{value})"
            elif before == separator and first == separator:
                pattern += f"{group}(?:{item})+)?"
            else:
                pattern += f"{re.escape(before)}{group}{value}(?:{item})*)"
            before = separator
        return f"(?:{pattern})?" if first == "#" else pattern


def _characters(reserved: Iterable[str]) -> str:
    """Return the pattern of a value that may contain the reserved characters `reserved`."""
    return rf"(?:[{_UNRESERVED}{re.escape(''.join(sorted(reserved)))}]|%[0-9A-F]{{2}})+"


def _separators(parts: Sequence[TemplatePart]) -> set[str]:
    """Return the characters that separate values in a template. Only values of lists contain these characters."""
    separators: set[str] = set()
    for place, part in enumerate(parts):
        if isinstance(part, str):
            separators.update(part if place else _SCHEME.sub("", part, count=1))
            continue
        first, separator, named, _ = OPERATORS[part.operator]
        several = len(part.variables) > 1 or part.variables[0].explode
        separators.update(first, separator if several or named else "", "=" if named else "")
    return separators


# --- rules


def _check_scheme(parts: Sequence[TemplatePart]) -> None:
    first = parts[0] if parts else ""
    if not isinstance(first, str) or not _SCHEME.match(first):
        raise UriTemplateError("missing scheme: begin the template with a scheme, such as docs://{name} (RFC 3986)")


def _check_variables(all_variables: Sequence[Variable]) -> None:
    names = [variable.name for variable in all_variables]
    for variable in all_variables:
        if variable.prefix is not None:
            raise UriTemplateError(f"{{{variable}}} matches only the beginning of a value: use {{{variable.name}}}")
        if names.count(variable.name) > 1:
            raise UriTemplateError(f"duplicate variable {variable.name!r}: give each variable its own name")


def _divided(parts: Sequence[TemplatePart]) -> tuple[list[TemplatePart], dict[str, Variable]]:
    """Return the parts of a template before and after the query, and the variables of the query."""
    query: dict[str, Variable] = {}
    head: list[TemplatePart] = []
    before = ""
    for part in parts:
        if isinstance(part, Expression) and part.operator in ("?", "&"):
            _check_query(part, before)
            query |= {variable.name: variable for variable in part.variables}
        elif query and not _is_fragment(part):
            raise UriTemplateError(f"{part} follows the query: move {part} before the query")
        else:
            head.append(part)
        before += part if isinstance(part, str) else part.operator
    return head, query


def _check_query(part: Expression, before: str) -> None:
    if "#" in before:
        raise UriTemplateError(f"{part} follows the fragment: move {part} before the #")
    if part.operator == "?" and "?" in before:
        raise UriTemplateError(f"{part} begins a second query: use {{&...}}")
    if part.operator == "&" and "?" not in before:
        raise UriTemplateError(f"{part} continues a query that does not exist: use {{?...}}")


def _check_separators(head: Sequence[TemplatePart]) -> None:
    """Raise an error if two variables are not separated by a reserved character."""
    last, between = None, ""
    for part in head:
        if isinstance(part, str):
            between += _TRIPLET.sub("", part)
            continue
        first, separator, _, reserved = OPERATORS[part.operator]
        several = len(part.variables) > 1 or part.variables[0].explode
        if several and (reserved or separator not in RESERVED):
            raise UriTemplateError(f"{part} is ambiguous, since a value may contain {separator!r}: use {{/...}}")
        between += first
        if last and not set(between) & set(RESERVED):
            name = part.variables[0].name
            raise UriTemplateError(
                f"{{{last}}} and {{{name}}} are ambiguous: separate them by a reserved character, "
                f"as in {{{last}}}/{{{name}}} (one of {RESERVED})"
            )
        last = part.variables[-1].name
        between = ""


def _check_lengths(head: Sequence[TemplatePart]) -> None:
    """Raise an error if more than one variable may span several segments. Variables of the fragment do not count."""
    spans: list[str] = []
    for place, part in enumerate(head):
        if isinstance(part, str):
            continue
        if _is_fragment(part) and place < len(head) - 1:
            raise UriTemplateError(f"{part} is not at the end of the template: move {part} to the end")
        if part.operator in ("+", ";"):
            spans.append(str(part))
        else:
            spans += [f"{{{part.operator}{variable}}}" for variable in part.variables if variable.explode]
    if len(spans) > 1:
        raise UriTemplateError(
            f"{' and '.join(spans)} are ambiguous: only one variable may span several segments; use {{name}} for others"
        )


def _is_fragment(part: TemplatePart) -> bool:
    return isinstance(part, Expression) and part.operator == "#"


# --- values


def _uppercase(uri: str) -> str:
    """Return a URI with the hexadecimal digits of its percent-encodings in upper case."""
    return _TRIPLET.sub(lambda triplet: triplet[0].upper(), uri)


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
