"""Formatters for log records: text for people, JSON for programs. Each line contains the call of its record.

The call is the current call when the record is created, or `extra={"call": call}`. Outside of calls, `extra` may
contain `caller` and `peer`. `extra["data"]` contains values for programs.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from pegboard.config.environment import this_worker
from pegboard.context import current_context
from pegboard.errors.tracebacks import ShortFormatter
from pegboard.secrets.redaction import INDENT, escaped
from pegboard.types.callers import Caller
from pegboard.wire.codec import encode

MAX_VALUE_CHARACTERS = 200
"""The maximum length of a request id, a caller or a peer in a line."""

_WITHOUT_NAME = ("operator", "anonymous")
"""The words for callers without a name. If a token contains the same word as its subject, the word is quoted."""
_PLAIN = re.compile(r"[A-Za-z0-9_.:@/|+-]+")


class TextFormatter(ShortFormatter):
    """`2026-11-22T10:00:00.000Z INFO pegboard.calls [request_id=7 caller=alice peer=10.0.0.5]: message`."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in logging
        """Return the beginning of the record: time, level, logger, call and message."""
        about = {name: _told(value) for name, value in _about(record).items()}
        shown = " ".join(f"{name}={value}" for name, value in about.items())
        place = f"{record.name} [{shown}]" if shown else record.name
        return f"{_time(record)} {record.levelname} {place}: {record.message}"


class MessageFormatter(ShortFormatter):
    """`pegboard: warning: message`, for commands that end soon: without the time and the call."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in logging
        """Return the beginning of the record: logger, level and message."""
        return f"{record.name}: {record.levelname.lower()}: {record.message}"


class JsonFormatter(ShortFormatter):
    """One JSON object with `time`, `level`, `logger` and `message`.

    The members `worker`, `request_id`, `caller`, `peer`, `exception` and `data` are added if they are known.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        line |= {"message": record.getMessage()} | {name: _plain(value) for name, value in _about(record).items()}
        if record.exc_info or record.exc_text:
            text = record.exc_text or self.formatException(record.exc_info)  # type: ignore[arg-type]
            line["exception"] = text.removeprefix(INDENT).replace(f"\n{INDENT}", "\n")
        data = getattr(record, "data", None)
        if isinstance(data, Mapping):
            line["data"] = _plain(data)  # the whole line is masked later
        return encode(line).decode()


def caller_name(caller: Caller) -> str:
    """Return a short name of a caller, for people."""
    name = caller.subject or caller.client_id
    return name or ("operator" if caller.trusted else "anonymous")


def caller_facts(caller: Caller) -> dict[str, Any]:
    """Return the known properties of a caller, for programs."""
    facts = {"subject": caller.subject, "client_id": caller.client_id, "issuer": caller.issuer}
    return {name: value for name, value in facts.items() if value is not None} | {"trusted": caller.trusted}


def _about(record: logging.LogRecord) -> dict[str, Any]:
    call = getattr(record, "call", None)
    if call is None and (context := current_context()) is not None:
        call = context._call
    about: dict[str, Any] = dict(_of_process())
    if call is not None:
        about |= {"request_id": call.request_id, "caller": call.caller, "peer": call.peer}
    about |= {name: value for name in ("caller", "peer") if (value := getattr(record, name, None))}
    return {name: value for name, value in about.items() if value not in (None, "")}


@cache
def _of_process() -> Mapping[str, Any]:
    worker = this_worker()
    return {"worker": worker[0]} if worker else {}


def _told(value: object) -> str:
    text = caller_name(value) if isinstance(value, Caller) else str(value)
    claimed = isinstance(value, Caller) and text in _WITHOUT_NAME and text in (value.subject, value.client_id)
    plain = _PLAIN.fullmatch(text) and len(text) <= MAX_VALUE_CHARACTERS and not claimed
    return text if plain else ascii(text[:MAX_VALUE_CHARACTERS])


def _plain(value: Any) -> Any:
    """Return a JSON value with the invisible characters of all strings escaped."""
    if isinstance(value, Caller):
        return _plain(caller_facts(value))
    if isinstance(value, Mapping):
        return {escaped(str(name)): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | float | None) else escaped(str(value))


def _time(record: logging.LogRecord) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"
