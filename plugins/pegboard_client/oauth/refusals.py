"""Error responses of authorization servers, as text for the person (RFC 6749, sections 4.1.2.1 and 5.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegboard.messages.texts import escape_invisible

MAX_REASON_CHARACTERS = 200
"""The limit of a description that is shown."""
_CODE = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")


def refusal(problem: str, status: int | None, document: Mapping[str, Any] | None) -> str:
    """Return a problem with the error code and the description of an authorization server.

    Args:
        problem: the problem.
        status: the HTTP status; None if the error is not an HTTP response.
        document: the members `error` and `error_description`.
    """
    code, description = oauth_error(document), (document or {}).get("error_description")
    details = [code] if code else [] if status is None else [f"status {status}"]
    if isinstance(description, str) and description.strip():
        details.append(excerpt(description))
    return f"{problem}: {': '.join(details)}" if details else f"{problem}."


def oauth_error(document: Mapping[str, Any] | None) -> str:
    """Return the error code of a response, or "" if it has none."""
    code = (document or {}).get("error")
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


def excerpt(value: object) -> str:
    """Return a value of a foreign document as a short line without invisible characters."""
    return escape_invisible(" ".join(str(value).split()))[:MAX_REASON_CHARACTERS]
