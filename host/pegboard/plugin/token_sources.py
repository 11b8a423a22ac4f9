"""The contract for token sources."""

from abc import ABC, abstractmethod

from pegboard.types.authorization import TokenRequest, ToolAuthorization
from pegboard.types.callers import Authorization


class TokenSource(ABC):
    """A source of tokens for tools (`requires_auth`). The host stores no tokens; a source may.

    A source lives as long as the host. Its methods run on the event loop and may run concurrently.
    """

    def secret(self, required: ToolAuthorization) -> str | None:
        """Return the name of the host's secret that contains the operator's token, or None.

        If all sources name secrets that are not set, the host warns the operator at the start, and the call's error
        names the secrets.
        """
        return None

    @abstractmethod
    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token that a call requires, or None if the source does not have it.

        The host calls this method for every call of a tool that requires a token, and waits at most `[host]
        token_seconds`. A source must never return the token of a different user: `user_id` and `issuer` together
        identify the user. They are as trustworthy as the caller. A source finds the token by `request.required.name`,
        the name that `[host.toolkits.NAME] providers` grants.

        Args:
            request: the required token, the tool, the user and the call.

        Raises:
            AuthorizationRequiredError: the user must first authorize at the error's URL. The host calls the remaining
                sources before it sends the error to the caller.
        """
