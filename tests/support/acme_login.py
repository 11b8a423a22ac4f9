"""A foreign auth provider, token source, authenticator and error adapter, and a toolkit that uses them."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import Authorization, Context, PluginConfig, ToolExecutionError, Toolkit, ToolRuntimeError, UpstreamError
from pegboard.plugin import Authenticator, ErrorAdapter, Plugin, TokenSource, hookimpl
from pegboard.types import AuthProvider, Caller, Request, Response, TokenRequest, ToolAuthorization

CANARY = "token-canary-5150"


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme", "https://acme.example/docs", error_adapters="acme_login")


class AcmeAnswered(Exception):
    """An exception of Acme's library."""


class AcmeAdapter(ErrorAdapter):
    slug = "acme"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return UpstreamError("Acme refused.", status_code=403) if isinstance(error, AcmeAnswered) else None


class Login(TokenSource):
    """Has a token for each user."""

    async def token(self, request: TokenRequest) -> Authorization | None:
        return Authorization(CANARY, {"name": request.user_id}) if request.required.name == "acme" else None


class Door(Authenticator):
    """Trusts the header fields of requests."""

    policy = "mcp"

    async def authenticate(self, request: Request) -> Caller | Response:
        user = request.headers.get("X-User")
        if user is None:
            return Response(401)
        scopes = frozenset((request.headers.get("X-Scopes") or "").split())
        return Caller(user, scopes=scopes, expires_at=float(request.headers.get("X-Expires") or 0))


class AcmeConfig(PluginConfig):
    door: bool = False


class AcmePlugin(Plugin):
    Config = AcmeConfig

    @hookimpl
    def register_auth_providers(self) -> Iterable[AuthProvider]:
        return [Acme.provider]

    @hookimpl
    def register_token_sources(self) -> Iterable[Login]:
        return [Login()]

    @hookimpl
    def register_authenticators(self) -> Iterable[Door]:
        return [Door()] if self.config.door else []

    @hookimpl
    def register_error_adapters(self) -> Iterable[AcmeAdapter]:
        return [AcmeAdapter()]


kit = Toolkit("desk")


@kit.tool(requires_auth=Acme(scopes=["read", "write"]))
def greet(context: Context) -> str:
    """Greet the owner of the token."""
    return f"hello {context.authorization.user_info['name']}, {context.get_auth_token_or_empty() == CANARY}"


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
    """Serve some callers."""
    return "done"


@kit.tool
def who(context: Context) -> str:
    """Return the caller, and the end of its authentication."""
    caller = context.auth_info
    return "nobody" if caller is None else f"{caller.subject} {sorted(caller.scopes)} {caller.expires_at}"
