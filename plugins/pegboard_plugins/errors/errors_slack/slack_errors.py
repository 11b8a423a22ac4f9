"""Exceptions of Slack's client as typed errors (https://docs.slack.dev/reference/methods).

Slack reports most errors by a code in the body of a response with status 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard import ErrorKind, ToolRuntimeError
from pegboard.plugin import Upstream, instance_of

_ERRORS = "slack_sdk.errors"
_LIMITED = ("ratelimited", "rate_limited")
_STATUS_OF = {
    401: ("not_authed", "invalid_auth", "account_inactive", "token_revoked", "token_expired", "invalid_refresh_token"),
    403: (
        "access_denied", "missing_scope", "no_permission", "not_allowed_token_type", "ekm_access_denied",
        "org_login_required", "two_factor_setup_required", "team_access_not_granted", "restricted_action",
        "not_in_channel", "user_is_restricted", "enterprise_is_restricted", "accesslimited",
    ),
    500: ("internal_error", "fatal_error"),
    503: ("service_unavailable", "team_added_to_org", "external_channel_migrating"),
}  # fmt: skip
"""The error codes for each equivalent status. Codes not listed are 404 if they end in `_not_found`, else 400."""

_CLIENTS = (
    ("BotUserAccessError", 403, "Slack requires a user token for this, but the tool has a bot token."),
    ("SlackRequestError", 400, "Slack's client refuses the tool's request: something in it is missing or wrong."),
    ("SlackObjectFormationError", 400, "Slack's client refuses an object that the tool made: it is malformed."),
    ("SlackClientConfigurationError", 400, "The tool's Slack client is configured wrongly."),
    ("SlackClientNotConnectedError", 503, "The tool's connection to Slack is closed."),
)
"""Exceptions that the client raises without a response: class, equivalent status, and message for the caller."""


def map_slack_error(error: Any, slug: str) -> ToolRuntimeError | None:
    """Return a typed error, or None for exceptions of other libraries."""
    slack = Upstream(slug, "Slack")
    if instance_of(error, _ERRORS, "SlackApiError"):
        return _response_error(error, error.response, slack)
    if instance_of(error, _ERRORS, "SlackTokenRotationError"):
        return _rotation_error(error, slack)
    for name, status, message in _CLIENTS:
        if instance_of(error, _ERRORS, name):
            return slack.answered(error, status, message=message, extra={"error_type": type(error).__name__})
    if instance_of(error, _ERRORS, "SlackClientError"):
        return slack.unsent(error, "Slack's client failed.")
    return None


def _response_error(error: Exception, response: Any, slack: Upstream) -> ToolRuntimeError:
    status, code = _status(response), _code(response)
    method, url = _text(response, "http_verb", "method"), _text(response, "api_url", "url")
    if status < 400 and code is None:
        kind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED
        return slack.unanswered(error, "Slack sent a response that cannot be read.", kind=kind, method=method, url=url)
    if status < 400:
        status = _status_of(code or "")
    headers = getattr(response, "headers", None) or {}
    limited = code in _LIMITED
    return slack.answered(error, status, headers, code=code, limited=limited, method=method, url=url)


def _rotation_error(error: Any, slack: Upstream) -> ToolRuntimeError:
    """Return the error for an expired token that cannot be renewed."""
    response = getattr(error.api_error, "response", None)
    code, headers = _code(response), getattr(response, "headers", None) or {}
    if _status(response) == 429 or _status(response) >= 500 or code in _LIMITED:
        return _response_error(error, response, slack)
    message = "Slack does not renew the tool's token: it has expired or was revoked."
    return slack.answered(error, 401, headers, message=message, code=code, url=_text(response, "api_url"))


def _status(response: Any) -> int:
    """Return the status of a response: a Slack response, an aiohttp response (body is not JSON) or a dict."""
    candidates = (getattr(response, name, None) for name in ("status_code", "status"))
    return next((status for status in candidates if isinstance(status, int)), 200)


def _code(response: Any) -> str | None:
    data = response if isinstance(response, Mapping) else getattr(response, "data", None)
    return Upstream.error_code(data.get("error")) if isinstance(data, Mapping) else None


def _status_of(code: str) -> int:
    mapped = next((status for status, codes in _STATUS_OF.items() if code in codes), None)
    return mapped or (404 if code.endswith("_not_found") else 400)


def _text(response: Any, *names: str) -> str | None:
    values = (getattr(response, name, None) for name in names)
    return next((str(value) for value in values if value is not None), None)
