"""The contract of token sources."""

from typing import Protocol

from pegboard.types.authorization import TokenRequest
from pegboard.types.callers import Authorization


class TokenSource(Protocol):
    """A source of tokens for tools (`requires_auth`). The host stores no tokens; a source may.

    A source lives as long as the host. Its methods are called on the event loop, several at once.

    A source may have a method `secret(required: ToolAuthorization) -> str | None` that returns the name of the host's
    secret in which it looks for the token of the operator, or None. If all sources name secrets that are not set, the
    host tells the operator at the start, and the caller at the call.
    """

    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token that a call needs, or None if this source has none.

        The host calls this for every call of a tool that requires a token, and waits `[host] token_seconds` at most.
        The source must never return one user's token for another: `user_id` together with `issuer` identifies the user,
        and is as trustworthy as the caller.

        Args:
            request: the required token, the tool, the user and the call.

        Raises:
            AuthorizationRequiredError: the user must authorize first, at its URL. Other sources are asked before the
                caller receives it.
        """
        ...
