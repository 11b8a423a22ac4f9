"""The caller, the client program, and values that a request supplies for its tool."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

EMPTY: Mapping[str, Any] = MappingProxyType({})
"""The empty mapping that absent parameters and capabilities share."""


class Caller(NamedTuple):
    """The user or program that makes a call, as authenticated by the transport.

    Attributes:
        subject: a stable id of the authenticated user; None without authentication.
        trusted: True for the operator: the channel is standard input, or the request proved its origin. A loopback port
            is no proof.
        scopes: the scopes of the caller's token. They are ignored if `trusted`.
        client_id: the program that the token was issued to.
        expires_at: the time when the token expires, in seconds since 1970.
        resource: the address that the token was issued for.
        extra: further claims of the token; None for none.
        issuer: the issuer of the token; None if only one issuer exists. Equal subjects from two issuers may be
            different people.
        service: True for a program that acts for many users and may name one with each call (`Supplied.user_id`).
    """

    subject: str | None = None
    trusted: bool = False
    scopes: frozenset[str] = frozenset()
    client_id: str | None = None
    expires_at: float | None = None
    resource: str | None = None
    extra: Mapping[str, Any] | None = None
    issuer: str | None = None
    service: bool = False

    @property
    def identity(self) -> "Caller":
        """The caller without details of the current token. Use it as a key for data of the caller.

        A user has the same identity with every client program. A program has its own identity if no user is
        authenticated.
        """
        program = self.client_id if self.subject is None else None
        return Caller(self.subject, self.trusted, client_id=program, issuer=self.issuer)

    @property
    def is_known(self) -> bool:
        """True for the operator and for an authenticated user or program."""
        return self.trusted or self.subject is not None or self.client_id is not None

    def allows(self, scopes: Iterable[str]) -> bool:
        """Return True if the caller's token has all these scopes, or if the caller is trusted."""
        return self.trusted or self.scopes.issuperset(scopes)


ANONYMOUS = Caller()
"""A caller without authentication."""

LOCAL = Caller(trusted=True)
"""The operator, or the program that embeds the host."""


class Client(NamedTuple):
    """The client program, as it describes itself. Never trust these values.

    Attributes:
        name: the program's name; "" if it sent none.
        version: the program's version; "" if it sent none.
        revision: the protocol revision of this call, such as "2025-11-25".
        capabilities: the declared capabilities (MCP ClientCapabilities).
    """

    name: str = ""
    version: str = ""
    revision: str = ""
    capabilities: Mapping[str, Any] = EMPTY

    def extension(self, identifier: str) -> Mapping[str, Any] | None:
        """Return the settings that the client declares for an extension or an experiment, or None."""
        for place in ("extensions", "experimental"):
            declared = self.capabilities.get(place)
            settings = declared.get(identifier) if isinstance(declared, dict) else None
            if isinstance(settings, dict):
                return settings
        return None


UNKNOWN_CLIENT = Client()


class Authorization(NamedTuple):
    """A token for calls to other services, and its user. The token does not authenticate callers of the host.

    Attributes:
        token: the access token. It is never shown.
        user_info: the provider's information about the user.
        scopes: the scopes of the token, as far as they are known.
        renewal: a sentence for the caller that says how to get another token, if the service rejects this one.
    """

    token: str
    user_info: Mapping[str, Any] = EMPTY
    scopes: tuple[str, ...] = ()
    renewal: str = ""

    def __repr__(self) -> str:
        return f"Authorization(scopes={self.scopes!r})"


class Supplied(NamedTuple):
    """Values that a request supplies for its tool. These override the host's values. A tool reads only declared values.

    A protocol creates this record only for a caller that may set these values.

    Attributes:
        authorization: the token that the tool requires.
        secrets: secrets by name; case does not matter.
        metadata: metadata by key; case does not matter.
        user_id: the user for whom the tool runs.
        lenient: True to run the tool although required values are missing.
    """

    authorization: Authorization | None = None
    secrets: Mapping[str, str] = EMPTY
    metadata: Mapping[str, str] = EMPTY
    user_id: str | None = None
    lenient: bool = False

    def __repr__(self) -> str:
        return f"Supplied(secrets={sorted(self.secrets)}, metadata={sorted(self.metadata)})"
