"""An audit log: one JSON line for each tool call, resource read and prompt request.

Arguments are recorded as a keyed digest. Results are not recorded. Docs: `docs/audit.md`.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from pegboard import (
    FatalToolError,
    MCPError,
    NotFoundError,
    PluginConfig,
    ToolkitError,
    ToolResult,
    UpstreamError,
)
from pegboard.errors import AuthorizationError
from pegboard.plugin import (
    CommandContext,
    Finding,
    Middleware,
    Plugin,
    ProtocolError,
    StateFiles,
    TransportError,
    WidensAccess,
    encode,
    hookimpl,
)
from pegboard.types import Call, Caller, CallNext, Failure, InputRequired, Outcome, RawResult
from pegboard_plugins.support.line_file import LineFile, check_line_file
from pegboard_plugins.support.refusal_log import fingerprint
from pegboard_plugins.support.secret_strength import is_weak_secret

logger = logging.getLogger("pegboard.plugins.audit")

KEY_FILE = "audit.key"
"""The name of the file in the state directory that holds the digest key."""
KEY_BYTES = 32
_MAX_TEXT_CHARACTERS = 200
"""The maximum recorded length of a string from a client."""
MAX_KEPT_LINES = 1000
"""The maximum number of lines held in memory while the file cannot be written."""
TOO_MANY_REQUESTS = 429


class AuditConfig(PluginConfig):
    """`[plugins.audit]`.

    Attributes:
        file: the file to append lines to, relative to the configuration's folder.
        key: the key of the digests, at least 32 characters; by default a key in the state directory. Hosts with the
            same key produce comparable digests.
        required: refuse calls while the file cannot be written. Otherwise a warning is logged.
        sync: write each line to disk (fsync) before the response is sent.
    """

    file: Annotated[Path, WidensAccess("appends to this file")]
    key: SecretStr | None = Field(None, min_length=32)
    required: bool = False
    sync: bool = False

    @field_validator("file")
    @classmethod
    def _resolve_file(cls, file: Path, info: ValidationInfo) -> Path:
        return cls.folder_of(info) / file.expanduser()


class AuditPlugin(Plugin):
    """The audit plugin. It provides the middleware, and keeps the audit file open while the host runs."""

    Config = AuditConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware, which runs outermost."""
        self._audit = Audit(self.config)
        return [self._audit]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Open the file and the key when the host starts."""
        self._audit.open()
        try:
            yield
        finally:
            self._audit.close()


class Audit(Middleware):
    """Middleware that appends a line when a call ends.

    Args:
        config: the settings.
    """

    outermost = True

    def __init__(self, config: AuditConfig) -> None:
        self._config = config
        self._key = b""
        self._file: LineFile | None = None
        self._kept: deque[bytes] = deque(maxlen=MAX_KEPT_LINES)
        self._lost = 0
        self._is_failing = False
        self._lock = Lock()

    def open(self) -> None:
        """Open the file, and read or create the key.

        Raises:
            TransportError: the file or the key cannot be used.
        """
        try:
            self._key = self._load_key()
            self._file = LineFile(self._config.file)
        except OSError as error:
            raise TransportError(_unusable(error)) from error

    def close(self) -> None:
        """Write the lines held in memory."""
        self._write_kept()

    def _load_key(self) -> bytes:
        if self._config.key is not None:
            return self._config.key.get_secret_value().encode()
        return _sound(StateFiles(os.environ).create(KEY_FILE, secrets.token_hex(KEY_BYTES).encode()))

    # --- calls

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        if self._config.required and not self._write_kept():
            raise FatalToolError(
                "This server refuses calls because it cannot record them. Tell the user that the operator must "
                "make room for the audit file."
            )
        began, started = time.time(), time.perf_counter()
        record = self._facts(call, began)
        try:
            outcome = await call_next(call)
        except asyncio.CancelledError:
            self._append(self._line(record, "cancelled", None, started), sync=False)
            raise
        except BaseException as error:
            await self._append_and_wait(self._line(record, *_error_outcome(error), started))
            raise
        if (
            not await self._append_and_wait(self._line(record, *_outcome_and_kind(outcome), started))
            and self._config.required
        ):
            raise FatalToolError("The call ended, but it could not be recorded. Its result is withheld.")
        return outcome

    on_read_resource = on_call_tool
    on_get_prompt = on_call_tool

    def _facts(self, call: Call, began: float) -> dict[str, Any]:
        """Return the facts about a call before the call runs, because the function may change the arguments."""
        arguments = call.params.get("arguments")
        uri = call.params.get("uri")
        return {
            "time": datetime.fromtimestamp(began, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "method": call.method,
            "name": _shorten(call.params.get("name") if uri is None else uri),
            "arguments_digest": None if call.method == "resources/read" else self._digest(arguments),
            "request_id": call.request_id if isinstance(call.request_id, int) else _shorten(call.request_id),
            "session": None if call.session_id is None else fingerprint(call.session_id),
            "peer": call.peer or None,
            "caller": _caller_facts(call.caller),
            "for_user": _shorten(None if call.supplied is None else call.supplied.user_id),
            "client": _shorten(f"{call.client.name} {call.client.version}".strip() or None),
            "path": list(call.path) or None,
        }

    def _digest(self, arguments: Any) -> str:
        text = json.dumps({} if arguments is None else arguments, sort_keys=True, separators=(",", ":"))
        return hmac.new(self._key, text.encode(), "sha256").hexdigest()

    def _line(self, record: Mapping[str, Any], outcome: str, error: str | None, started: float) -> bytes:
        ended = {"outcome": outcome, "error": error, "duration_ms": round((time.perf_counter() - started) * 1000, 3)}
        line = {name: value for name, value in {**record, **ended}.items() if value is not None}
        text = encode(line)
        # escape characters that readers take for line breaks, or terminals for commands
        return text if text.decode().isprintable() else json.dumps(line, separators=(",", ":")).encode()

    # --- the file

    async def _append_and_wait(self, line: bytes) -> bool:
        """Append a line; with `sync`, do so in a thread. Return True if the line was written."""
        if self._config.sync:
            return await asyncio.to_thread(self._append, line, sync=True)
        return self._append(line, sync=False)

    def _append(self, line: bytes, *, sync: bool) -> bool:
        """Append a line after the lines held in memory, or hold it too. Return True if the line was written."""
        with self._lock:
            self._lost += len(self._kept) == MAX_KEPT_LINES
            self._kept.append(line)
            return self._write_all(sync=sync)

    def _write_kept(self) -> bool:
        """Write the lines held in memory since a failure. Return True if all were written."""
        if not self._is_failing:  # another thread may be writing a line
            return True
        with self._lock:
            return self._write_all(sync=self._config.sync)

    def _write_all(self, *, sync: bool) -> bool:
        try:
            while self._kept:
                self._write(self._kept[0], sync=sync)
                self._kept.popleft()
        except OSError as error:
            if not self._is_failing:
                logger.warning("the audit file cannot be written: %s", error.strerror or error)
            self._is_failing = True
            return False
        if self._is_failing:
            logger.warning("the audit file can be written again: %d lines were lost", self._lost)
            self._is_failing, self._lost = False, 0
        return True

    def _write(self, line: bytes, *, sync: bool) -> None:
        if self._file is None:
            raise OSError("the audit file is not open")
        self._file.write(line, sync=sync)


def check_audit_file(command: CommandContext) -> Iterator[Finding]:
    """Report a file that cannot be opened, or a damaged key. Neither is created."""
    settings: AuditConfig = command.settings
    try:
        if settings.key is None and (key := StateFiles(os.environ).read(KEY_FILE)) is not None:
            _sound(key)
        check_line_file(settings.file)
    except OSError as error:
        yield Finding("error", _unusable(error))


def _sound(key: bytes) -> bytes:
    """Return a key that was read from its file.

    Raises:
        OSError: others can guess the key.
    """
    key = key.strip()
    if is_weak_secret(key.decode("utf-8", "replace")):
        raise OSError(f"the file {KEY_FILE} in the state directory is damaged: restore it, or remove it")
    return key


def _unusable(error: OSError) -> str:
    return f"the audit file or its key cannot be used: {error}"


def _outcome_and_kind(outcome: Outcome) -> tuple[str, str | None]:
    if isinstance(outcome, Failure):
        return _error_outcome(outcome.error)
    if isinstance(outcome, InputRequired):
        return "input_required", None
    return ("error" if isinstance(outcome, ToolResult | RawResult) and outcome.is_error else "ok"), None


def _error_outcome(error: BaseException) -> tuple[str, str | None]:
    """Return the outcome and the kind of an error. The outcome is "refused" if no tool, resource or prompt ran."""
    if not isinstance(error, MCPError):
        return "error", "internal"
    kind = error.kind.value if isinstance(error, ToolkitError) else type(error).__name__
    refused = isinstance(error, NotFoundError | AuthorizationError | ProtocolError)
    limited = isinstance(error, ToolkitError) and error.status_code == TOO_MANY_REQUESTS
    return ("refused" if refused or (limited and not isinstance(error, UpstreamError)) else "error"), kind


def _caller_facts(caller: Caller) -> dict[str, Any]:
    facts = {"subject": caller.subject, "client_id": caller.client_id, "issuer": caller.issuer}
    return {name: _shorten(value) for name, value in facts.items() if value is not None} | {"trusted": caller.trusted}


def _shorten(value: object) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= _MAX_TEXT_CHARACTERS else f"{text[:_MAX_TEXT_CHARACTERS]}..."
