"""Who is behind a call, by what program it came, and what it brings along for the function that runs."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

EMPTY: Mapping[str, Any] = MappingProxyType({})
"""The empty mapping that absent parameters and capabilities share."""


class Caller(NamedTuple):
    """The person or program behind a call, as far as the transport can vouch for it.

    Attributes:
        subject: a stable id of the authenticated user, None when nobody is authenticated.
        trusted: it is the operator: the channel is standard input, or the request proved it. A loopback port proves
            nothing.
        scopes: what their token allows here; of no account where the channel is trusted.
        client_id: the program that the token was given to.
        expires_at: when the token ends, in seconds since 1970.
        resource: for which address the token was given.
        extra: what else the token says of them, None for nothing.
        issuer: who vouches for the subject, None where only one can; by one subject two issuers may mean two people.
        service: the caller is a program that acts for many users, and may name one with each call (`Supplied.user_id`).
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
        """Who it is, whatever token they came with this time: what belongs to somebody is bound to this.

        That is the person, by whatever program they come, or the program, where it comes in no person's name.
        """
        program = self.client_id if self.subject is None else None
        return Caller(self.subject, self.trusted, client_id=program, issuer=self.issuer)

    @property
    def is_known(self) -> bool:
        """Whether it is the operator, or a person or program that authenticated."""
        return self.trusted or self.subject is not None or self.client_id is not None

    def allows(self, scopes: Iterable[str]) -> bool:
        """Whether they may do what needs these scopes: their token has all of them, or the channel is trusted."""
        return self.trusted or self.scopes.issuperset(scopes)


ANONYMOUS = Caller()
"""Somebody, from anywhere."""

LOCAL = Caller(trusted=True)
"""The operator, or the program that embeds the host."""


class Client(NamedTuple):
    """The program that speaks to us, as it describes itself; never a basis for trust.

    Attributes:
        name: its own name, "" when it gave none.
        version: its own version, "" when it gave none.
        revision: the protocol revision this call is served in, such as "2025-11-25".
        capabilities: what it says it can do (MCP ClientCapabilities).
    """

    name: str = ""
    version: str = ""
    revision: str = ""
    capabilities: Mapping[str, Any] = EMPTY

    def extension(self, identifier: str) -> Mapping[str, Any] | None:
        """The settings that the client declares for an extension or an experiment, None when it declares none."""
        for place in ("extensions", "experimental"):
            declared = self.capabilities.get(place)
            settings = declared.get(identifier) if isinstance(declared, dict) else None
            if isinstance(settings, dict):
                return settings
        return None


UNKNOWN_CLIENT = Client()


class Authorization(NamedTuple):
    """A token that a tool calls other services with, and whose it is. It is never a proof of who calls the host.

    Attributes:
        token: the access token; never shown.
        user_info: what its provider says of the person.
        scopes: what it may be used for, as far as that is known.
    """

    token: str
    user_info: Mapping[str, Any] = EMPTY
    scopes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Authorization(scopes={self.scopes!r})"


class Supplied(NamedTuple):
    """What a request itself brings for its tool; it comes before what the host has. A tool sees what it declared.

    Whoever makes one vouches for it: that the request came from somebody who may say such things.

    Attributes:
        authorization: the token that the tool requires.
        secrets: by name, in any case.
        metadata: by key, in any case.
        user_id: the person for whom it runs.
        lenient: what the tool requires and nobody has is no reason to refuse the call.
    """

    authorization: Authorization | None = None
    secrets: Mapping[str, str] = EMPTY
    metadata: Mapping[str, str] = EMPTY
    user_id: str | None = None
    lenient: bool = False

    def __repr__(self) -> str:
        return f"Supplied(secrets={sorted(self.secrets)}, metadata={sorted(self.metadata)})"
