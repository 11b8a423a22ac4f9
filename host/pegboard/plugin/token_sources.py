"""Contracts for the sources of tokens that tools require."""

from typing import Protocol

from pegboard.types.authorization import TokenRequest
from pegboard.types.callers import Authorization


class TokenSource(Protocol):
    """Where tokens for tools come from. The host keeps none: a source may.

    It may have a method `secret(required: ToolAuthorization) -> str | None` that tells in which secret of the host it
    looks for a token for this machine's user, None where it looks elsewhere. Where all sources name secrets that are
    not set, the operator is told so when the host starts, and the user at the call.
    """

    async def token(self, request: TokenRequest) -> Authorization | None:
        """The token that a call needs, None when this source has none for it.

        It is asked at each call, and must give a person's token to nobody else: `user_id`, together with `issuer`,
        says for whom the tool runs, and is as good as the caller is trusted.

        Raises:
            AuthorizationRequiredError: there will be one once the person has authorized, at its URL. Other sources are
                asked first.
        """
        ...
