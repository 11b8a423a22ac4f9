"""What a tool must be authorized for at other services, who describes those, and where its tokens come from."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pegboard.types.calls import Call


class AuthProvider(NamedTuple):
    """A description of somebody whose tokens tools may require.

    Attributes:
        id: such as "github"; None for providers that an operator names, by the `id` of a requirement.
        title: a name for people.
        documentation: where its authorization is described.
        type: how it authorizes.
        error_adapters: the name of the plugin whose error adapters know the failures of its services; None where the
            host's usual order is good enough.
    """

    id: str | None
    title: str
    documentation: str | None = None
    type: str = "oauth2"
    error_adapters: str | None = None


class ToolAuthorization:
    """A token that a tool requires (`requires_auth`). Each provider has a subclass; objects are frozen, and compared.

    Args:
        id: which of several registrations with the provider; the only one, or the usual one, when None.
        scopes: what the token must allow, in the provider's words.

    Attributes:
        provider: who gives the token.
    """

    __slots__ = ("id", "scopes")

    provider: ClassVar[AuthProvider]
    id: str | None
    scopes: tuple[str, ...]

    def __init__(self, *, id: str | None = None, scopes: Sequence[str] | None = None) -> None:
        object.__setattr__(self, "id", id)
        # one text is one scope, not its letters
        object.__setattr__(self, "scopes", (scopes,) if isinstance(scopes, str) else tuple(scopes or ()))

    @property
    def provider_id(self) -> str | None:
        """The provider's id; None for one that only `id` names."""
        return self.provider.id

    @property
    def provider_type(self) -> str:
        """How the provider authorizes."""
        return self.provider.type

    @property
    def name(self) -> str:
        """What tokens for it are kept under: its own id, else the provider's."""
        return self.id or self.provider.id or ""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def _key(self) -> tuple[Any, ...]:
        return self.provider, self.id, self.scopes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolAuthorization) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, scopes={list(self.scopes)!r})"


class ToolRequirements(NamedTuple):
    """What a tool declares that it requires beside its arguments.

    Attributes:
        authorization: the provider of a token, and what that must allow; None for no token.
        scopes: what the caller's own token must allow.
        secrets: names of secrets.
        metadata: keys of metadata.
    """

    authorization: ToolAuthorization | None = None
    scopes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()


class TokenRequest(NamedTuple):
    """What a token is wanted for.

    Attributes:
        required: the provider, and what the token must allow.
        tool: the name of the tool on the wire.
        user_id: for whom the tool runs, None where nobody knows.
        call: the call. `call.caller` is who is behind it, as far as the transport can vouch for that.
    """

    required: ToolAuthorization
    tool: str
    user_id: str | None
    call: Call

    @property
    def issuer(self) -> str | None:
        """Who vouches for the caller, None where only one can: by one `user_id` two issuers may mean two people."""
        return self.call.caller.issuer
