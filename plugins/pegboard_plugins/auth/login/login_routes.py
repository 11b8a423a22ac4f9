"""The routes of the authorization server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pegboard.plugin import ProtocolContext, Route, encode
from pegboard.types import Request, Response
from pegboard_plugins.auth.login.authorization_pages import AuthorizationPages
from pegboard_plugins.auth.login.grant_tokens import GrantTokens
from pegboard_plugins.auth.login.identity_provider import IdentityProvider
from pegboard_plugins.auth.login.login_authenticator import unavailable
from pegboard_plugins.auth.login.login_clients import LoginClients
from pegboard_plugins.auth.login.login_metadata import (
    AUTHORIZE,
    CALLBACK,
    CONSENT_ANSWER,
    PROGRAMS,
    REGISTER,
    RESOURCE_PATH,
    REVOKE,
    SERVER_PATH,
    TOKEN,
    resource_metadata,
    resource_metadata_path,
    server_metadata,
)
from pegboard_plugins.auth.login.login_signing import LoginStateError
from pegboard_plugins.auth.login.program_pages import ProgramPages
from pegboard_plugins.support.own_page import own_page

if TYPE_CHECKING:
    from pegboard_plugins.auth.login.grant_store import GrantStore
    from pegboard_plugins.auth.login.login_signing import LoginSigner
    from pegboard_plugins.auth.login.settings import LoginConfig

Handler: TypeAlias = Callable[[Request, ProtocolContext], Awaitable[Response]]


def login_routes(config: LoginConfig, signer: LoginSigner, grants: GrantStore) -> Sequence[Route]:
    """Return the routes. They need no authentication.

    Args:
        config: the plugin's settings.
        signer: signs the tokens.
        grants: keeps the logins of people.
    """
    clients = LoginClients(config, signer)
    provider = IdentityProvider(config)
    pages = AuthorizationPages(config, signer, clients, provider, grants)
    programs = ProgramPages(config, signer, provider, grants)
    tokens = GrantTokens(config, signer, clients, grants)

    async def receive(request: Request, host: ProtocolContext) -> Response:
        return await (programs if programs.expects(request) else pages).receive(request, host)

    async def describe_resource(request: Request, host: ProtocolContext) -> Response:
        return _document(resource_metadata(config, host.identity.title or host.identity.name))

    async def describe_server(request: Request, host: ProtocolContext) -> Response:
        return _document(server_metadata(config))

    shown = {
        ("GET", AUTHORIZE): pages.authorize,
        ("POST", CONSENT_ANSWER): pages.answer,
        ("GET", CALLBACK): receive,
        ("GET", PROGRAMS): programs.show,
        ("POST", PROGRAMS): programs.end,
    }
    handlers = {
        **{key: own_page(config.issuer, handler) for key, handler in shown.items()},
        ("POST", REGISTER): clients.register,
        ("POST", TOKEN): tokens.issue,
        ("POST", REVOKE): tokens.revoke,
        ("GET", SERVER_PATH): describe_server,
        ("GET", RESOURCE_PATH): describe_resource,
        ("GET", resource_metadata_path(config)): describe_resource,
    }
    return [Route(method, path, _answered(handler), auth="public") for (method, path), handler in handlers.items()]


def _answered(handler: Handler) -> Handler:
    """Return a handler with a response to problems of files."""

    async def handle(request: Request, host: ProtocolContext) -> Response:
        try:
            return await handler(request, host)
        except LoginStateError as error:
            return unavailable(error)

    return handle


def _document(members: dict[str, Any]) -> Response:
    return Response(body=encode(members))
