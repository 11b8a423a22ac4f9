"""The notifications of a running call: only those that the client requested, in the form of its revision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any, Final

from pegboard.plugin import ProtocolError, redacted
from pegboard.types import Notify
from pegboard_plugins.protocols.mcp.jsonrpc_messages import is_request_id
from pegboard_plugins.protocols.mcp.progress_reports import PROGRESS, ProgressReports
from pegboard_plugins.protocols.mcp.revisions import LOG_LEVEL, LOG_LEVELS
from pegboard_plugins.protocols.mcp.session import Session
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, RequestId, jsonrpc_notification

MESSAGE: Final = "notifications/message"

_RANK = {level: rank for rank, level in enumerate(LOG_LEVELS)}

Send = Callable[[bytes], None]
"""A function that sends a message to the client on the stream of one call, from any thread."""


def check_level(level: object) -> str:
    """Validate a log level from a client and return it.

    Raises:
        ProtocolError: the level is unknown.
    """
    if isinstance(level, str) and level in _RANK:
        return level
    raise ProtocolError(INVALID_PARAMS, f"params.level must be one of {', '.join(LOG_LEVELS)}")


def progress_token(meta: Mapping[str, Any] | None) -> RequestId | None:
    """Return the progress token of a request, or None if the client requests no progress. 0 and "" are valid tokens.

    Raises:
        ProtocolError: the token is neither a string nor an integer.
    """
    if type(meta) is not dict or "progressToken" not in meta:
        return None
    token = meta["progressToken"]
    if not is_request_id(token):
        raise ProtocolError(INVALID_PARAMS, "params._meta.progressToken must be a string or an integer")
    return token


def stateless_notify(
    meta: Mapping[str, Any], progress: ProgressReports | None, send: Send, logs_per_second: float
) -> Notify | None:
    """Return a function that sends progress and log messages of a call in revision 2026-07-28.

    Return None if the client requests neither.
    """
    least = _RANK[meta[LOG_LEVEL]] if LOG_LEVEL in meta else None
    if progress is None and least is None:
        return None
    limit = log_limit(logs_per_second)

    def notify(method: str, params: dict[str, Any]) -> None:
        if method == PROGRESS and progress is not None:
            progress.report(_masked(params))
        elif method == MESSAGE and least is not None and _RANK.get(params.get("level", ""), -1) >= least:
            _send_log(params, limit, send)

    return notify


def session_notify(session: Session, progress: ProgressReports | None, send: Send) -> Notify:
    """Return a function that sends notifications of a session's call.

    The function drops progress that was not requested and log messages below the session's level.
    """
    revision = session.client.revision

    def notify(method: str, params: dict[str, Any]) -> None:
        if method == PROGRESS:
            if progress is None:
                return
            params = _masked(params)
            if revision == "2024-11-05":
                params.pop("message", None)
            progress.report(params)
            return
        if method == MESSAGE:
            if _RANK.get(params.get("level", ""), -1) < _RANK[session.level]:
                return
            _send_log(params, session.log_limit, send)
            return
        send(jsonrpc_notification(method, params))

    return notify


def log_limit(per_second: float) -> LogLimit | None:
    """Return a limit of log messages. Return None for 0, which is no limit."""
    return LogLimit(per_second) if per_second else None


class LogLimit:
    """Admits a number of messages per second, and as many at once. Messages beyond it are dropped.

    Args:
        per_second: the number of messages.
        clock: returns the time in seconds.
    """

    __slots__ = ("_burst", "_clock", "_interval", "_left_out", "_lock", "_sent_until")

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._interval = 1 / per_second
        self._burst = max(1.0, per_second) * self._interval
        self._clock = clock
        self._lock = Lock()
        self._sent_until = 0.0
        self._left_out = 0

    def admit(self) -> int | None:
        """Return the number of messages dropped before this message; None if it is dropped. Any thread may call."""
        with self._lock:
            now = self._clock()
            until = max(self._sent_until, now) + self._interval
            if until > now + self._burst:
                self._left_out += 1
                return None
            self._sent_until = until
            left_out, self._left_out = self._left_out, 0
            return left_out


def _send_log(params: dict[str, Any], limit: LogLimit | None, send: Send) -> None:
    """Send a log message, unless the limit drops it. Report how many were dropped before it."""
    left_out = 0 if limit is None else limit.admit()
    if left_out is None:
        return
    if left_out:
        notice = {"level": "warning", "logger": "pegboard", "data": f"{left_out} log messages were left out"}
        send(jsonrpc_notification(MESSAGE, notice))
    send(jsonrpc_notification(MESSAGE, _masked(params)))


def _masked(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with secrets masked in their strings (server/utilities/logging, security)."""
    texts: dict[str, Any] = {name: _redacted(params[name]) for name in ("message", "data") if name in params}
    return {**params, **texts}


def _redacted(value: Any) -> Any:
    """Return a JSON value with secrets masked in its strings and in the names of its members."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {_redacted(name): _redacted(inner) for name, inner in value.items()}
    return [_redacted(inner) for inner in value] if isinstance(value, list | tuple) else value
