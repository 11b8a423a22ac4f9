"""Static bearer tokens for the MCP endpoint of private servers. The operator configures the tokens."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, Field, SecretStr, model_validator

from pegboard import PluginConfig
from pegboard.plugin import Authenticator, Plugin, WidensAccess, hookimpl
from pegboard.types import Caller, Request, Response
from pegboard_plugins.support.bearer import BearerScheme, Scopes, is_bearer_token
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret


def _checked_token(token: SecretStr) -> SecretStr:
    if not is_bearer_token(token.get_secret_value()):
        raise ValueError("invalid token: use letters, digits and -._~+/, with = only at the end")
    return token


Token: TypeAlias = Annotated[SecretStr, AfterValidator(_checked_token)]


class NamedToken(PluginConfig):
    """`[plugins.auth_token.callers.NAME]`.

    Attributes:
        token: the bearer token.
        subject: the caller's name in sessions, limits and logs; the section's name by default.
        scopes: the scopes of the token.
    """

    token: Token
    subject: str | None = Field(None, min_length=1)
    scopes: Scopes = ()


class AuthTokenConfig(PluginConfig):
    """`[plugins.auth_token]`.

    Attributes:
        token: the bearer token of a single caller. With fewer than 32 characters it serves the operator alone.
        subject: the name of that caller in sessions, limits and logs. No name makes a caller the operator.
        scopes: the scopes of that token.
        callers: more callers, each in its own section with `token`, `subject` and `scopes`.
    """

    token: Annotated[Token | None, WidensAccess("admits callers with this token")] = None
    subject: str = Field("operator", min_length=1)
    scopes: Scopes = ()
    callers: Annotated[Mapping[str, NamedToken], WidensAccess("admits callers with these tokens")] = {}

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        tokens = [entry.token.get_secret_value() for entry in self.named.values()]
        if not tokens:
            raise ValueError('missing token: set a token, for example token = { env = "MY_TOKEN" }')
        if len(set(tokens)) < len(tokens):
            raise ValueError("two callers have the same token: give each caller its own token")
        return self

    @property
    def named(self) -> Mapping[str, NamedToken]:
        """All tokens with their subjects, by configuration key."""
        own = {}
        if self.token is not None:
            own["token"] = NamedToken(token=self.token, subject=self.subject, scopes=self.scopes)
        for name, entry in self.callers.items():
            own[f"callers.{name}.token"] = entry.model_copy(update={"subject": entry.subject or name})
        return own


class AuthTokenPlugin(Plugin):
    """An authenticator for the MCP endpoint."""

    Config = AuthTokenConfig

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        return [StaticBearer(self.config)]


class StaticBearer(Authenticator):
    """The authenticator for static tokens.

    Attributes:
        only_local: the reason to admit callers on this machine only; None to admit all.
    """

    policy = "mcp"

    def __init__(self, config: AuthTokenConfig) -> None:
        self._scheme = BearerScheme()
        self._known = [
            (
                self._scheme.digest(entry.token.get_secret_value()),
                Caller(entry.subject, scopes=frozenset(entry.scopes)),
            )
            for entry in config.named.values()
        ]
        self.only_local = _only_local(config)

    async def authenticate(self, request: Request) -> Caller | Response:
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return token
        return self._find(token) or self._scheme.invalid("The token is not known here.")

    def known_caller(self, request: Request) -> Caller | None:
        token = self._scheme.token(request)
        return None if isinstance(token, Response) else self._find(token)

    async def admits(self, caller: Caller) -> bool:
        """Return False if no token has the subject of a caller of tokens, or all its scopes."""
        known = [entry for _, entry in self._known if entry.subject == caller.subject]
        is_other = caller.trusted or caller.issuer is not None
        return is_other or any(caller.scopes <= entry.scopes for entry in known)

    def _find(self, token: str) -> Caller | None:
        """Return the caller of a token. The comparison takes constant time."""
        digest, found = self._scheme.digest(token), None
        for known_digest, caller in self._known:
            if hmac.compare_digest(known_digest, digest):
                found = caller
        return found


def _only_local(config: AuthTokenConfig) -> str | None:
    weak = [name for name, entry in config.named.items() if is_weak_secret(entry.token.get_secret_value())]
    if not weak:
        return None
    return (
        f"tokens of [plugins.auth_token] are weak: {', '.join(weak)}; use {SECRET_BYTES} random characters or more, "
        "for example from `openssl rand -hex 32`"
    )
