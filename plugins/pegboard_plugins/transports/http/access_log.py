"""Log lines of HTTP requests: every rejected request, and all requests if the operator enables the access log."""

from __future__ import annotations

import logging
import re
from typing import Any

from pegboard.plugin import decode
from pegboard.types import Caller, Headers, Response
from pegboard_plugins.support.refusal_log import RefusalLog, fingerprint

logger = logging.getLogger("pegboard.plugins.http")
access_logger = logging.getLogger("pegboard.access")
"""The access logger. It logs every request if its own level is set, by `[plugins.logging] access` or a program."""

MAX_LOGGED_CHARACTERS = 200
"""The maximum logged length of a path, header field or reason."""
MAX_REASON_BYTES = 4096
"""The largest body that is searched for the reason."""

_DECISIVE_HEADERS = {403: "Origin", 421: "Host"}
"""The header fields that are logged for a status, because they can cause it."""


def wants_access_log() -> bool:
    """Return True if every request is logged."""
    return access_logger.level != logging.NOTSET and access_logger.isEnabledFor(logging.INFO)


def log_refusal(
    method: str, path: str, headers: Headers, answer: Response, *, peer: str, caller: Caller | None
) -> None:
    """Log a rejected request with the reason and the peer."""
    if not logger.isEnabledFor(logging.INFO):
        return
    path, reason = _short(path), _reason(answer)
    data = {"method": method, "path": path, "status": answer.status, "reason": reason}
    field = _DECISIVE_HEADERS.get(answer.status, "")
    if value := headers.get(field):
        data[field.lower()] = _short(value)
        reason += f" ({field}: {_short(value)})"
    about = {"peer": peer, "caller": caller, "data": data}
    logger.info("refused %s %s: %d %s", method, path, answer.status, reason, extra=about)


def log_access(
    method: str, path: str, status: int, size: int, seconds: float, *, peer: str | None, caller: Caller | None
) -> None:
    """Log a request after its response."""
    path, milliseconds = _short(path), round(seconds * 1000, 3)
    data: dict[str, Any] = {"method": method, "path": path, "status": status, "bytes": size}
    about = {"peer": peer, "caller": caller, "data": {**data, "duration_ms": milliseconds}}
    text = "%s %s %d %d bytes in %.1f ms"
    access_logger.info(text, method, path, status, size, milliseconds, extra=about)


def _reason(answer: Response) -> str:
    """Return the reason in a response: the message of a JSON error, or the first line of a string."""
    if len(answer.body) > MAX_REASON_BYTES:
        return ""
    if answer.content_type != "application/json":
        return _short(answer.body.decode("utf-8", "replace").partition("\n")[0])
    try:
        body = decode(answer.body)
    except ValueError:
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(body, dict):
            body = body.get(name, body)
    return _short(body) if isinstance(body, str) else ""


def _short(text: str) -> str:
    return text if len(text) <= MAX_LOGGED_CHARACTERS else f"{text[:MAX_LOGGED_CHARACTERS]}..."


_WRONG = r'error_description="([^"]*)"'
_AUDIT = RefusalLog()


def log_refused_token(path: str, headers: Headers, answer: Response, peer: str) -> None:
    """Log a refusal because of an invalid token. A request without a token is not logged.

    A response with status 400 is such a refusal only if its challenge has a description.
    """
    if answer.status not in (400, 401):
        return
    reason = re.search(_WRONG, answer.headers.get("WWW-Authenticate", ""))
    scheme, _, rest = (headers.get("Authorization") or "").strip().partition(" ")
    token = rest.strip() if scheme.lower() == "bearer" else ""
    if not (reason or (token and answer.status == 401)):
        return
    facts = {
        "why": reason[1] if reason else None,
        "peer": peer,
        "path": path,
        "token": fingerprint(token) if token else None,
    }
    _AUDIT.refused("a token", None, facts, logging.INFO)
