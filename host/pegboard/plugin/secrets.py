"""The contracts for secret stores and token sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from pegboard.types.authorization import TokenRequest, ToolAuthorization
from pegboard.types.callers import Authorization


class SecretStore(ABC):
    """A store of secrets. It lives as long as the host.

    Attributes:
        name: the name of the store in messages.
        files_read: the paths of files that the store read. The host logs them when it starts, and a
            reload loads the plugin again if one of the files has changed.
    """

    name: str
    files_read: Sequence[str] = ()

    @abstractmethod
    def get(self, name: str) -> str | None:
        """Return the secret `name` unchanged, also blanks at its ends, or None if the store does not have it.

        `name` is spelt as in the tool or plugin that requires it. In other upper or lower case it is another secret.

        The host calls this method once per secret, on the event loop: when the host starts, or when the first tool that
        requires the secret is added. A store that may block must limit the time itself. If the method raises, the host
        reports the exception's message and calls the next store. The message must not contain a secret.
        """

    def hint(self, name: str) -> str:
        """Return where to set the secret `name`, such as "in the environment".

        If a `WritableSecretStore` runs, the host adds `pegboard secret set` itself.
        """
        return f"in {self.name}"


class WritableSecretStore(SecretStore):
    """A secret store in which `pegboard secret` can set secrets. The host itself never writes."""

    @abstractmethod
    def set(self, name: str, value: str) -> str:
        """Store a secret in place of the old one, and return the place for the operator, such as the path of a file.

        `pegboard secret set` passes the name in the spelling of the tool that requires it.

        Raises:
            ValueError: the store cannot hold this name or value, or it is not set up. The message contains the fix and
                not the value.
            OSError: the store cannot be written.
        """

    @abstractmethod
    def unset(self, name: str) -> bool:
        """Remove a secret. Return False if the store does not have it.

        Raises:
            ValueError: the store is not set up.
            OSError: the store cannot be written.
        """


# --- Token sources


class TokenSource(ABC):
    """A source of tokens for tools (`requires_auth`). The host stores no tokens; a source may.

    A source lives as long as the host. Its methods run on the event loop and may run concurrently.
    """

    def secret(self, required: ToolAuthorization) -> str | None:
        """Return the name of the host's secret that contains the operator's token.

        Return "" if the source does not supply tokens of the provider, and None if it may have the token in another
        way. If no source returns None, and none of the named secrets is set, the host warns the operator at the start.
        The error of a call without a token names the secrets in any case.
        """
        return None

    async def state(self, required: ToolAuthorization) -> str:
        """Return what the source knows about the operator's login for `pegboard why`, or "" for nothing.

        The source asks no other machine. The host is loaded and may not be started: the lifespan of the plugin has then
        not begun, but `PluginContext.get_secret` returns secrets. Call it in a thread, as it may block.
        """
        return ""

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
