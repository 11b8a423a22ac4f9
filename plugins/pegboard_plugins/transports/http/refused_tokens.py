"""The log of requests that are refused because of their token."""

from __future__ import annotations

import logging
import re

from pegboard.types import Headers, Response
from pegboard_plugins.support.refusal_log import RefusalLog, fingerprint

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
