"""Authorization of tools at other services: providers, required tokens, and requests for tokens."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pegboard.types.calls import Call


class AuthProvider(NamedTuple):
    """The description of a provider whose tokens tools may require.

    Attributes:
        id: the identifier, such as "github"; None for providers that an operator names by the `id` of a requirement.
        title: the provider's name for people.
        documentation: the URL of the provider's documentation about authorization.
        type: the kind of authorization.
        error_adapters: the name of the plugin whose error adapters are called before those of other plugins, for tools
            that require this provider; None for the usual order.
    """

    id: str | None
    title: str
    documentation: str | None = None
    type: str = "oauth2"
    error_adapters: str | None = None


class ToolAuthorization:
    """The requirement of a token for a tool (`requires_auth`). Each provider has a subclass. Objects are immutable.

    Args:
        id: the id of the registration with the provider, if several exist. None means the default registration.
        scopes: the provider's names of the scopes that the token must have. A single string is one scope.

    Attributes:
        provider: the provider of the token.
    """

    __slots__ = ("id", "scopes")

    provider: ClassVar[AuthProvider]
    id: str | None
    scopes: tuple[str, ...]

    def __init__(self, *, id: str | None = None, scopes: Sequence[str] | None = None) -> None:
        object.__setattr__(self, "id", id)
        # one string is one scope, not a sequence of letters
        object.__setattr__(self, "scopes", (scopes,) if isinstance(scopes, str) else tuple(scopes or ()))

    @property
    def provider_id(self) -> str | None:
        """The provider's id; None if only `id` names the provider."""
        return self.provider.id

    @property
    def provider_type(self) -> str:
        """The kind of the provider's authorization."""
        return self.provider.type

    @property
    def name(self) -> str:
        """The name under which tokens for this requirement are stored: `id`, or else the provider's id."""
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
    """The requirements that a tool declares in addition to its arguments. See `Tool.requires`."""

    authorization: ToolAuthorization | None = None
    scopes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()


class TokenRequest(NamedTuple):
    """A request for the token that a call needs.

    Attributes:
        required: the provider and the scopes.
        tool: the name of the tool on the wire.
        user_id: the user for whom the tool runs; None if unknown.
        call: the call. `call.caller` is as trustworthy as the transport that authenticated it. If `call.supplied` has a
            `user_id`, the call is for that user. This counts only if `call.caller` is `trusted` or a `service`. Without
            it, a call of a `trusted` caller is one of the operator.
    """

    required: ToolAuthorization
    tool: str
    user_id: str | None
    call: Call

    @property
    def issuer(self) -> str | None:
        """The issuer of the caller; None if only one exists. Two issuers may give one `user_id` to two people."""
        return self.call.caller.issuer
