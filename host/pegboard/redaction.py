"""Secrets kept out of what is told: of log lines, errors and what commands print, never of what functions return.

What is known as a secret: what stores gave to tools, what configuration refers to or holds under a key that says so,
and what a request brought, while its call runs and for a while after it failed. A value of fewer than `SHORTEST`
characters is left alone: it would be found in the middle of words.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from weakref import WeakSet

from pegboard.context import current_context
from pegboard.contracts import Supplied
from pegboard.errors import FatalToolError, MCPError, ServerError, ToolkitError

SHORTEST = 6
"""How many characters a secret has that is looked for in texts."""
LONGEST_LINE = 16
"""From how many characters on a single line of a secret is looked for by itself."""
MOST_PASSING = 64
"""How many secrets of failed calls are remembered."""


class Redactor:
    """Some secrets, kept out of what this process tells for as long as the redactor lives.

    Args:
        source: gives more of them, asked when a text is looked through for the first time; None for none.
    """

    def __init__(self, source: Callable[[], Iterable[str]] | None = None) -> None:
        self._values: dict[str, None] = {}
        self._source = source
        self._forms: tuple[str, ...] | None = None
        _living.add(self)

    def add(self, value: str) -> None:
        """Another secret; from any thread."""
        if value not in self._values:
            self._values[value] = None
            self._forms = None

    def forms(self) -> tuple[str, ...]:
        """Every text that stands for a secret."""
        if self._source is not None:
            source, self._source = self._source, None
            for value in source():
                self.add(value)
        forms = self._forms
        if forms is None:
            forms = self._forms = tuple(form for value in tuple(self._values) for form in forms_of(value))
        return forms


_living: WeakSet[Redactor] = WeakSet()
_passing: deque[str] = deque(maxlen=MOST_PASSING)


def redacted(text: str) -> str:
    """A text with every secret in it masked, in whatever form it stands there."""
    found = [form for form in _known() if form in text]
    if not found:
        return text
    from pegboard.config.masking import MASK

    for form in sorted(found, key=len, reverse=True):
        text = text.replace(form, MASK)
    return text


def _known() -> Iterator[str]:
    for redactor in tuple(_living):
        yield from redactor.forms()
    for value in (*_passing, *_of_running_call()):
        yield from forms_of(value)


def _of_running_call() -> Iterable[str]:
    context = current_context()
    supplied = None if context is None else context._call.supplied
    return () if supplied is None else _values(supplied)


def remember(supplied: Supplied | None) -> None:
    """Keep what a request brought out of what is told of its failure after its end."""
    for value in () if supplied is None else _values(supplied):
        if value not in _passing:
            _passing.append(value)


def _values(supplied: Supplied) -> list[str]:
    token = [] if supplied.authorization is None else [supplied.authorization.token]
    return [*supplied.secrets.values(), *token]


def redacted_error(error: MCPError) -> MCPError:
    """An error with the secrets in its texts masked: the same, or one in its place whose text cannot be changed."""
    vars(error).update({name: _redacted(value) for name, value in vars(error).items()})
    arguments = _redacted(error.args)
    if arguments is not error.args:
        error.args = arguments
    if redacted(error.message) == error.message:
        return error
    instead = FatalToolError if isinstance(error, ToolkitError) else ServerError
    return instead("It failed, and what it said of that held a secret.")


def _redacted(value: Any) -> Any:
    """A value as it was, or a copy where a text in it holds a secret."""
    if isinstance(value, str):
        text = redacted(value)
        return value if text == value else text
    if isinstance(value, Mapping):
        old = [one for pair in value.items() for one in pair]
        new = [_redacted(one) for one in old]
        return value if _same(new, old) else dict(zip(new[::2], new[1::2], strict=True))
    if type(value) in (list, tuple):
        new = [_redacted(item) for item in value]
        return value if _same(new, value) else type(value)(new)
    return value


def _same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))


class RedactingFormatter(logging.Formatter):
    """Formats log records as another formatter does, and masks secrets in what that gave: tracebacks, too.

    Args:
        inner: the other formatter; None for messages alone.
    """

    def __init__(self, inner: logging.Formatter | None = None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """The record as one text."""
        return redacted(self._inner.format(record))


def redact_logs(handlers: Iterable[logging.Handler]) -> None:
    """Mask secrets in all that handlers write from now on."""
    for handler in handlers:
        if not isinstance(handler.formatter, RedactingFormatter):
            handler.setFormatter(RedactingFormatter(handler.formatter))


# --- the forms of a secret


@lru_cache(128)
def forms_of(value: str) -> tuple[str, ...]:
    """The texts in which a secret may stand: as it is, quoted, escaped, encoded; none of one that is too short."""
    if len(value) < SHORTEST:
        return ()
    import json

    forms = {value, value.strip(), repr(value)[1:-1]}
    forms |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    forms |= {line for line in value.splitlines() if len(line) >= LONGEST_LINE and not line.startswith("-----")}
    forms |= _in_urls(value)
    forms |= _in_base64(value)
    return tuple(form for form in forms if len(form) >= SHORTEST)


def _in_urls(value: str) -> set[str]:
    """As libraries of URLs quote it; they differ in what they leave as it is."""
    from urllib.parse import quote, quote_plus

    forms = {quote_plus(value, errors="replace")}
    for safe in ("", "/", "/:?@!$'()*,;", "/:?@!$'()*,;=&+"):
        forms.add(quote(value, safe=safe, errors="replace"))
    return forms | {_lower_escapes(form) for form in forms}


def _lower_escapes(form: str) -> str:
    first, *rest = form.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _in_base64(value: str) -> set[str]:
    """What base64 makes of it in the middle of other text, as of a password behind a name: at each of three places."""
    from base64 import b64encode, urlsafe_b64encode

    data = value.encode("utf-8", "replace")
    forms = set()
    for offset in range(3):
        padded = b"\0" * offset + data
        whole = len(padded) * 8 // 6
        # characters that hold bits of what stands before or behind are no part of it
        for encode in (b64encode, urlsafe_b64encode):
            forms.add(encode(padded)[(0, 2, 3)[offset] : whole].decode())
    return forms
