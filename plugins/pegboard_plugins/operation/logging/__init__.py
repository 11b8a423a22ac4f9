"""A log line for every request, at `[host] log_level` info or lower: method, name, client, outcome and duration.

Arguments and results are never logged.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal

from pydantic import ValidationInfo, field_validator

from pegboard import MCPError, PluginConfig, ToolkitError
from pegboard.plugin import CommandContext, Finding, Middleware, Plugin, WidensAccess, hookimpl
from pegboard.types import Call, CallNext, Failure, Outcome
from pegboard_plugins.support.line_file import check_line_file

_MAX_NAME_CHARACTERS = 200
"""The maximum logged length of a name from a client."""

logger = logging.getLogger("pegboard.calls")


class LoggingConfig(PluginConfig):
    """`[plugins.logging]`. `pegboard serve` and `pegboard stdio` follow `format`, `file` and `access`.

    A program that embeds the host sets up its own handlers.

    Attributes:
        format: "text" for people, or "json" for programs: one JSON object per line.
        file: the file to log to instead of standard error, relative to the configuration's folder.
        access: log each HTTP request with its status, size and duration.
        requests: log each request of a protocol.
    """

    format: Literal["text", "json"] = "text"
    file: Annotated[str | None, WidensAccess("appends to this file")] = None
    access: bool = False
    requests: bool = True

    @field_validator("file")
    @classmethod
    def _resolve_file(cls, file: str | None, info: ValidationInfo) -> str | None:
        return str(cls.folder_of(info) / Path(file).expanduser()) if file else None


class LoggingPlugin(Plugin):
    """Middleware around every request."""

    Config = LoggingConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [Logging()] if self.config.requests else []


class Logging(Middleware):
    """Middleware that logs the outcome of each request."""

    def wants(self, call: Call) -> bool:
        return logger.isEnabledFor(logging.INFO)

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        started = perf_counter()
        ended = "cancelled"
        try:
            outcome = await call_next(call)
            ended = _error_kind(outcome.error) if isinstance(outcome, Failure) else "ok"
            return outcome
        except Exception as error:
            ended = _error_kind(error)
            raise
        finally:
            _log(call, ended, (perf_counter() - started) * 1000)


def check_log_file(command: CommandContext) -> Iterator[Finding]:
    """Report a file that cannot be opened. It is not created."""
    file: str | None = command.settings.file
    try:
        if file is not None:
            check_line_file(Path(file))
    except OSError as error:
        yield Finding("error", f"{file} cannot be written: {error.strerror}", "choose another file")


def _log(call: Call, ended: str, milliseconds: float) -> None:
    name = _printable(call.params.get("name") or call.params.get("uri"))
    client = _printable(call.client.name) or "unknown client"
    facts = {"method": call.method, "name": name, "client": client, "outcome": ended}
    about = {"call": call, "data": {**facts, "duration_ms": round(milliseconds, 3)}}
    text = "%s%s for %s: %s in %.1f ms"
    logger.info(text, call.method, name and f" {name}", client, ended, milliseconds, extra=about)


def _error_kind(error: Exception | MCPError) -> str:
    return error.kind.value if isinstance(error, ToolkitError) else type(error).__name__


def _printable(text: object) -> str:
    """Return a client's string on one line, cut to the maximum length. Return "" for other types."""
    if not isinstance(text, str):
        return ""
    text = text if len(text) <= _MAX_NAME_CHARACTERS else f"{text[:_MAX_NAME_CHARACTERS]}..."
    return text if text.isprintable() else ascii(text)
