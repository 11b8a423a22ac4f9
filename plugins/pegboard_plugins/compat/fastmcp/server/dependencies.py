"""Values of the running call, as `fastmcp.server.dependencies` returns them."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel

from pegboard import current_context
from pegboard_plugins.compat.fastmcp.context import Context, get_context
from pegboard_plugins.compat.fastmcp.dependencies import CurrentContext, Depends
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names

__all__ = ["AccessToken", "Context", "CurrentContext", "Depends", "get_access_token", "get_context", "get_http_request"]

__getattr__ = missing_names(__name__)


class AccessToken(BaseModel):
    """The claims of the caller's token. The token itself does not reach tools: `token` is ""."""

    token: str = ""
    client_id: str
    scopes: list[str]
    expires_at: int | None = None
    resource: str | None = None
    subject: str | None = None
    claims: dict[str, Any] = {}


class HttpHeaders:
    """The headers of a request, without credentials."""

    def __init__(self, headers: Any) -> None:
        self._headers = headers

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of the first header with a name, or the default."""
        value = self._headers.get(name)
        return default if value is None else value

    def __contains__(self, name: str) -> bool:
        return self._headers.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return self.get(name)


class HttpRequest(NamedTuple):
    """The HTTP request of a call.

    Attributes:
        headers: its headers.
    """

    headers: HttpHeaders


def get_access_token() -> AccessToken | None:
    """Return the claims of the caller's token, or None if the caller has none."""
    context = current_context()
    caller = None if context is None else context.auth_info
    if caller is None:
        return None
    scopes = sorted(caller.scopes)
    end = None if caller.expires_at is None else int(caller.expires_at)
    extra = caller.extra or {}
    client = None if caller.client_id == extra.get("azp") else caller.client_id
    claims = {"iss": caller.issuer, "sub": caller.subject, "aud": caller.resource, "exp": end, "client_id": client}
    claims["scope"] = " ".join(scopes) or None
    return AccessToken(
        client_id=caller.client_id or caller.subject or "unknown",
        scopes=scopes,
        expires_at=end,
        resource=caller.resource,
        subject=caller.subject,
        claims={**{name: value for name, value in claims.items() if value is not None}, **extra},
    )


def get_http_request() -> HttpRequest:
    """Return the HTTP request of the running call.

    Raises:
        RuntimeError: no call runs, or it did not arrive over HTTP.
    """
    context = current_context()
    if context is None or context.headers is None:
        raise RuntimeError("no HTTP request is running: call get_http_request() in a call over HTTP")
    return HttpRequest(HttpHeaders(context.headers))
