"""A foreign auth provider, token source and error adapter, and a toolkit that uses them."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import Authorization, Context, PluginConfig, ToolExecutionError, Toolkit, UpstreamError
from pegboard.plugin import (
    Authenticator,
    AuthorizationRequiredError,
    ErrorAdapter,
    Plugin,
    TokenSource,
    ToolRuntimeError,
    hookimpl,
)
from pegboard.types import AuthProvider, Caller, Request, Response, TokenRequest, ToolAuthorization

CANARY = "token-canary-5150"


class Acme(ToolAuthorization):
    """A token of Acme."""

    provider = AuthProvider("acme", "Acme", "https://acme.example/docs", error_adapters="acme_login")


class AcmeAnswered(Exception):
    """An exception of Acme's library."""


class AcmeAdapter:
    """Knows the exceptions of Acme."""

    slug = "acme"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if isinstance(error, AcmeAnswered):
            return UpstreamError("Acme refused.", status_code=403)
        return None


class Login:
    """Returns a token, offers a page to log in, or fails."""

    def __init__(self, mode: str) -> None:
        self.mode = mode

    async def token(self, request: TokenRequest) -> Authorization | None:
        if request.required.name != "acme" or self.mode == "nothing":
            return None
        if self.mode == "broken":
            raise RuntimeError("the vault is shut")
        if self.mode == "page":
            url = f"https://acme.example/login?who={request.user_id}"
            raise AuthorizationRequiredError(
                "acme", title="Acme", scopes=request.required.scopes, url=url, authorization_id="a-1"
            )
        return Authorization(CANARY, {"name": request.user_id})


class Door:
    """Trusts the header fields of requests."""

    policy = "mcp"

    async def authenticate(self, request: Request) -> Caller | Response:
        user = request.headers.get("X-User")
        if user is None:
            return Response(401)
        scopes = frozenset((request.headers.get("X-Scopes") or "").split())
        return Caller(user, scopes=scopes, expires_at=float(request.headers.get("X-Expires") or 0))


class AcmeConfig(PluginConfig):
    mode: str = "token"


class AcmePlugin(Plugin):
    Config = AcmeConfig

    @hookimpl
    def register_auth_providers(self) -> Iterable[AuthProvider]:
        return [Acme.provider]

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        return [Login(self.config.mode)]

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        return [Door()] if self.config.mode == "door" else []

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        return [AcmeAdapter()]


kit = Toolkit("desk")


@kit.tool(requires_auth=Acme(scopes=["read", "write"]))
def greet(context: Context) -> str:
    """Greet the owner of the token."""
    known = context.get_auth_token_or_empty() == CANARY
    return f"hello {context.authorization.user_info['name']}, {known}"


@kit.tool(requires_auth=Acme())
def leaks(context: Context, purpose: bool) -> None:
    """Say the token, on purpose or by accident."""
    text = f"no good: {context.get_auth_token_or_empty()}"
    raise ToolExecutionError(text) if purpose else ValueError(text)


@kit.tool(requires_auth=Acme())
def fails() -> None:
    """Be refused by Acme."""
    raise AcmeAnswered("canary")


@kit.tool(scopes=["work"])
def guarded() -> str:
    """Be for some callers."""
    return "done"


@kit.tool
def who(context: Context) -> str:
    """Say who is authenticated, and until when."""
    found = context.auth_info
    return "nobody" if found is None else f"{found.subject} {sorted(found.scopes)} {found.expires_at}"


@kit.tool
def plain() -> str:
    """Require nothing."""
    return "plain"
