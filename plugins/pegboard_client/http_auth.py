"""Authentication of the client at an MCP server over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from pegboard.errors import AuthorizationRequiredError


class HttpAuth(Protocol):
    """Adds credentials to requests, and obtains new credentials when a server refuses a request.

    `pegboard_client.OAuth` implements it. One object may serve several connections at once.
    """

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return headers for a request to a URL. The client calls it before each request.

        Raises:
            AuthorizationRequiredError: no credentials can be obtained.
        """

    async def challenged(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Handle a response with status 401, or 403 for a token without a scope.

        Args:
            url: the URL of the request.
            status: the status of the response.
            headers: the headers of the response.

        Returns:
            True if the client may repeat the request once, with new headers. False if the server requires a login that
            this object does not perform; the client then raises `login_required(...)`.

        Raises:
            AuthorizationRequiredError: a login failed.
        """


class LoginRequiredError(AuthorizationRequiredError):
    """An MCP server requires a login, or a login failed.

    Args:
        server: the origin of the server, such as "https://example.com".
        problem: the reason why a login failed; "" if none was attempted.
        scopes: the scopes that the token must have.
        refusal: the server's reason for refusing the token that was sent; "" if none was sent.
        offers_login: True if the challenge shows that the server has an authorization server: it names the metadata
            (RFC 9728), or scopes before any token. Static tokens may lack scopes, too.
    """

    problem: str = ""
    refusal: str = ""
    offers_login: bool = False

    def __init__(
        self,
        server: str,
        problem: str = "",
        *,
        scopes: Sequence[str] = (),
        refusal: str = "",
        offers_login: bool = False,
    ) -> None:
        self.problem = problem
        self.refusal = refusal
        self.offers_login = offers_login
        super().__init__(server, scopes=scopes, status="failed" if problem else "not_started")

    def _message(self, whose: str, hint: str) -> tuple[str, str]:
        _, advice = super()._message(whose, hint)
        if self.problem:
            return f"The login at {whose} failed: {self.problem}", advice
        if self.refusal:
            return f"{whose} refused the token: {self.refusal}", advice
        allowing = f" that allows {', '.join(self.scopes)}" if self.scopes else ""
        return f"{whose} requires a login{allowing}.", advice


def origin(url: str) -> str:
    """Return the scheme, the host and the port of a URL, without its path and credentials."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
