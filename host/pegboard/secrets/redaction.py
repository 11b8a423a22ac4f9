"""Removal of secrets from log lines, errors and printed output. Results of functions are not changed.

Known secrets are:

- values that stores returned for tools
- values in the configuration that come from references, or whose key suggests a secret
- values in a request, during its call; if the call fails, also later in the same task

Values with fewer than `MIN_SECRET_CHARACTERS` characters are ignored, because they would match parts of words.
"""

from __future__ import annotations

import logging
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from copy import copy
from functools import lru_cache
from threading import RLock
from typing import Any, TypeAlias
from weakref import WeakSet

from pegboard.config.references import MASK, MIN_SECRET_CHARACTERS
from pegboard.context import current_context
from pegboard.errors import FatalToolError, MCPError, ServerError, ToolkitError
from pegboard.types.calls import Call

MIN_LINE_CHARACTERS = 16
"""The minimum length of a line of a secret that is searched for separately."""
MAX_REMEMBERED_SECRETS = 64
"""The number of secrets of failed calls that a task remembers."""


SecretSource: TypeAlias = Callable[[], Iterable[str]]


class Redactor:
    """A set of secrets that this process masks until the redactor is closed or garbage-collected.

    Args:
        sources: functions that return more secrets. They are called before the first search.
    """

    def __init__(self, *sources: SecretSource) -> None:
        self._values: dict[str, None] = {}
        self._names: set[str] = set()
        self._sources: list[SecretSource] = []
        self._forms: list[Forms] | None = None
        self._lock = RLock()
        self.learn(*sources)

    def learn(self, *sources: SecretSource) -> None:
        """Add sources of secrets, and reopen a closed redactor."""
        with self._lock:
            self._sources += sources
        _living.add(self)

    def close(self) -> None:
        """Stop searching for these secrets."""
        _living.discard(self)

    def add(self, value: str) -> None:
        """Add a secret, from any thread."""
        with self._lock:
            if value not in self._values and value not in self._names:
                self._values[value] = None
                self._forms = None

    def spare(self, name: str) -> None:
        """Exempt the name of a secret from masking. The configuration may have the name under a key such as
        `secret`.
        """
        with self._lock:
            self._names.add(name)
            if name in self._values:
                del self._values[name]
                self._forms = None

    def forms(self) -> list[Forms]:
        """Return the written forms of all secrets, from any thread."""
        with self._lock:
            while self._sources:
                for value in self._sources[-1]():
                    self.add(value)
                self._sources.pop()
            if self._forms is None:
                self._forms = [forms_of(value) for value in self._values]
            return self._forms


_living: WeakSet[Redactor] = WeakSet()
_of_failed: ContextVar[tuple[str, ...]] = ContextVar("pegboard.secrets.redaction.of_failed", default=())
"""Secrets in the requests of failed calls of this task."""


def redacted(text: str, *more: Redactor) -> str:
    """Return a string with every written form of every secret masked.

    Args:
        text: the string.
        more: redactors to use in addition, even if they are closed.
    """
    patterns = [*_known(), *(forms for redactor in more for forms in redactor.forms())]
    if patterns and _VALUE in text:
        text = _without_cut_values(text)
    matches: set[str] = set()
    for texts, pattern in patterns:
        matches.update(form for form in texts if form in text)
        if pattern is not None:
            matches.update(pattern.findall(text))
    if not matches:
        return text
    for form in sorted(matches, key=len, reverse=True):
        text = text.replace(form, MASK)
    return text


_VALUE, _VALUE_END = "input_value=", ", input_type="
"""The strings around a value in a message of pydantic."""


def _without_cut_values(text: str) -> str:
    """Remove the values that pydantic has cut to their beginning and end. Both may be parts of a secret.

    The time is proportional to the length of the string, which a caller may have sent.
    """
    first, *parts = text.split(_VALUE)
    for place, part in enumerate(parts):
        value, end, rest = part.partition(_VALUE_END)
        if end and "..." in value and "\n" not in value:
            parts[place] = f"...{end}{rest}"
    return _VALUE.join((first, *parts))


def _known() -> Iterator[Forms]:
    for redactor in tuple(_living):
        yield from redactor.forms()
    context = current_context()
    yield from map(forms_of, {*_of_failed.get(), *(_values(context._call) if context else ())})


def remember(call: Call) -> None:
    """Mask the secrets of a request in later logs and errors of its task."""
    if values := _values(call):
        secrets = dict.fromkeys((*_of_failed.get(), *values))
        _of_failed.set(tuple(secrets)[-MAX_REMEMBERED_SECRETS:])


def _values(call: Call) -> list[str]:
    header = None if call.headers is None else call.headers.get("Authorization")
    values = [header.strip().rpartition(" ")[2]] if header else []
    if call.supplied is not None:
        values += call.supplied.secrets.values()
        if call.supplied.authorization is not None:
            values.append(call.supplied.authorization.token)
    return values


def redacted_error(error: MCPError) -> MCPError:
    """Mask the secrets in an error and return it. If the error cannot be changed, return a replacement."""
    vars(error).update({name: redacted_data(value) for name, value in vars(error).items()})
    arguments = redacted_data(error.args)
    if arguments is not error.args:
        error.args = arguments
    if redacted(error.message) == error.message:
        return error
    instead = FatalToolError if isinstance(error, ToolkitError) else ServerError
    return instead("The call failed. Its error message was removed because it contained a secret.")


def redacted_data(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """Return a JSON value with every secret masked. `inside` has the ids of the values that contain the value."""
    if isinstance(value, str):
        text = redacted(value)
        return value if text == value else text
    if not isinstance(value, Mapping | list | tuple) or id(value) in inside:
        return value
    parts = [item for pair in value.items() for item in pair] if isinstance(value, Mapping) else list(value)
    new = [redacted_data(part, (*inside, id(value))) for part in parts]
    if all(item is other for item, other in zip(new, parts, strict=True)):
        return value
    if isinstance(value, Mapping):
        return dict(zip(new[::2], new[1::2], strict=True))
    return new if isinstance(value, list) else tuple(new)


class RedactingFormatter(logging.Formatter):
    """A log formatter that removes secrets and terminal control characters.

    A message is always one line. Each line of a traceback is indented, so that it cannot look like a log record.

    Args:
        inner: the formatter to use; None to log only messages.
    """

    def __init__(self, inner: logging.Formatter | None = None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        safe = copy(record)
        safe.msg = escaped(record.getMessage())
        safe.args = None
        safe.name = escaped(record.name)
        if record.exc_info:
            safe.exc_text = _indented(record.exc_text or self.formatException(record.exc_info))
        if record.stack_info:
            safe.stack_info = _indented(record.stack_info)
        return redacted(self._inner.format(safe))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name in logging
        """Return an exception as the inner formatter writes it, with secrets masked."""
        return redacted(self._inner.formatException(ei))


INDENT = "    "
"""The indentation of each line of a traceback."""


def _indented(text: str) -> str:
    return INDENT + escaped(text, kept="\n\t").replace("\n", f"\n{INDENT}")


def escaped(text: str, kept: str = "") -> str:
    """Return a string with control and invisible characters escaped and secrets masked.

    Args:
        text: the string.
        kept: the characters that are not escaped, such as line breaks.
    """
    if text.isascii() and text.isprintable():
        return text  # the common case, without importing `texts`
    from pegboard.messages.texts import escape_invisible

    return escape_invisible(redacted(text), kept)


def redact_logs(handlers: Iterable[logging.Handler]) -> None:
    """Make log handlers mask secrets and escape control characters in all later records."""
    for handler in handlers:
        if not isinstance(handler.formatter, RedactingFormatter):
            handler.setFormatter(RedactingFormatter(handler.formatter))


# --- the forms of a secret


Forms: TypeAlias = "tuple[tuple[str, ...], re.Pattern[str] | None]"
"""The exact forms, and the pattern of forms with quoted or escaped characters, or None if no character is quoted."""


@lru_cache(128)
def forms_of(value: str) -> Forms:
    """Return the written forms of a secret: plain, URL-quoted, escaped for JSON and Python, and in base64.

    A secret that is too short has no forms.
    """
    if len(value.strip()) < MIN_SECRET_CHARACTERS:
        return (), None
    texts = {value.strip(), *_in_base64(value)}
    texts |= {line for line in value.splitlines() if len(line) >= MIN_LINE_CHARACTERS and not line.startswith("-----")}
    pattern = None if re.fullmatch(_PLAIN, value) else re.compile("".join(map(_written, value.strip())))
    return tuple(text for text in texts if len(text) >= MIN_SECRET_CHARACTERS), pattern


_PLAIN = r"[A-Za-z0-9_.~-]*"
"""Characters that are written in one way only (RFC 3986, unreserved)."""


@lru_cache(256)
def _written(char: str) -> str:
    """Return a pattern for all written forms of a character. URL libraries differ in the characters that they quote."""
    if re.fullmatch(_PLAIN, char):
        return re.escape(char)
    import json

    ways = {char, json.dumps(char)[1:-1], json.dumps(char, ensure_ascii=False)[1:-1], repr(char)[1:-1], f"\\{char}"}
    patterns = [re.escape(way) for way in ways] + ([r"\+"] if char == " " else [])
    quoted = "".join(f"%(?i:{byte:02x})" for byte in char.encode("utf-8", "replace"))
    return f"(?:{'|'.join([quoted, *sorted(patterns, key=len, reverse=True)])})"


def _in_base64(value: str) -> set[str]:
    """Return the base64 forms of a secret inside longer data such as `name:password`, one for each of three offsets."""
    data = value.encode("utf-8", "replace")
    forms = set()
    for offset in range(3):
        padded = b"\0" * offset + data
        whole = len(padded) * 8 // 6
        # characters with bits of neighbouring bytes are excluded
        for encode in (b64encode, urlsafe_b64encode):
            forms.add(encode(padded)[(0, 2, 3)[offset] : whole].decode())
    return forms
