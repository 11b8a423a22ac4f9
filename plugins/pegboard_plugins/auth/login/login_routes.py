"""The routes of the authorization server."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hmac import compare_digest
from html import escape
from secrets import token_urlsafe
from typing import Any, TypeAlias

from pegboard.plugin import ProtocolContext, Route, encode
from pegboard.types import Request, Response
from pegboard_client import PAGE_HEADERS, LoginFailedError, ServerUnavailableError, browser_page
from pegboard_plugins.auth.login.authorization_pages import AuthorizationPages, error_page
from pegboard_plugins.auth.login.grant_store import GrantStore, LoginGrant
from pegboard_plugins.auth.login.grant_tokens import GrantRefusedError, GrantTokens, form_fields
from pegboard_plugins.auth.login.identity_provider import IdentityProvider, ProviderLogin
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
from pegboard_plugins.auth.login.login_signing import PROGRAMS_KIND, LoginSigner, LoginStateError
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.support.own_page import own_page
from pegboard_plugins.support.request_cookies import request_cookies

logger = logging.getLogger("pegboard.plugins.login")

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


# --- The page on which a person sees the programs with access in the person's name, and ends their logins.
# The person logs in at the identity provider first. A signed cookie proves this login for a few minutes.


MAX_VISIT_SECONDS = 600.0
"""The time after which the person must log in again to use the page."""


class ProgramPages:
    """The page, and the login for it.

    Args:
        config: the plugin's settings.
        signer: signs the cookie.
        provider: the identity provider.
        grants: the logins of people.
    """

    def __init__(
        self, config: LoginConfig, signer: LoginSigner, provider: IdentityProvider, grants: GrantStore
    ) -> None:
        self._config = config
        self._signer = signer
        self._provider = provider
        self._grants = grants
        self._cookie = "__Host-pegboard-programs" if config.is_secure else "pegboard-programs"

    async def show(self, request: Request, host: ProtocolContext) -> Response:
        """List the programs of the person, or redirect to the provider."""
        visit = self._visit(request)
        if "subject" in visit:
            title = host.identity.title or host.identity.name
            return _page(title, visit, await self._grants.find(_of(visit["subject"])))
        try:
            login = await self._provider.start()
        except LoginFailedError as error:
            return _outage_page(error)
        started = {"state": login.state, "verifier": login.verifier, "nonce": login.nonce}
        return self._redirect(login.url, started)

    def expects(self, request: Request) -> bool:
        """Return True if a response of the provider belongs to a login for this page."""
        return _are_equal(self._visit(request).get("state"), request.query.get("state"))

    async def receive(self, request: Request, host: ProtocolContext) -> Response:
        """Handle the redirect from the provider."""
        visit = self._visit(request)
        login = ProviderLogin("", visit["state"], visit["verifier"], visit["nonce"])
        try:
            person = await self._provider.finish(login, request.query)
        except ServerUnavailableError as error:
            return _outage_page(error)
        except LoginFailedError as error:
            logger.warning("login: %s", error)
            return error_page(403, "the login at the identity provider failed")
        who = person.email or person.name or person.login
        return self._redirect(PROGRAMS, {"subject": person.subject, "who": who, "key": token_urlsafe(16)})

    async def end(self, request: Request, host: ProtocolContext) -> Response:
        """End one login, or all logins of the person."""
        try:
            form = form_fields(request)
        except GrantRefusedError as error:
            return error_page(400, str(error).removesuffix("."))
        visit = self._visit(request)
        if not _are_equal(visit.get("key"), form.get("key")):
            return error_page(403, "this page has ended: open it again")
        chosen = form.get("end", "")
        logins = [grant for grant in await self._grants.find(_of(visit["subject"])) if chosen in ("all", grant.label)]
        await self._grants.remove(*logins)
        logger.info("login: %s ends %d logins", visit["who"], len(logins))
        return Response(303, headers={**PAGE_HEADERS, "Location": PROGRAMS})

    def _visit(self, request: Request) -> Mapping[str, Any]:
        return self._signer.read(PROGRAMS_KIND, request_cookies(request).get(self._cookie, "")) or {}

    def _redirect(self, location: str, visit: Mapping[str, Any]) -> Response:
        value = self._signer.sign(PROGRAMS_KIND, visit, MAX_VISIT_SECONDS)
        secure = "; Secure" if self._config.is_secure else ""
        cookie = f"{self._cookie}={value}; Path=/; Max-Age={MAX_VISIT_SECONDS:.0f}; HttpOnly; SameSite=Lax{secure}"
        return Response(303, headers={**PAGE_HEADERS, "Set-Cookie": cookie, "Location": location})


def _outage_page(error: LoginFailedError) -> Response:
    logger.error("login: %s", error)
    return error_page(502, "the identity provider cannot be reached: try again later")


def _are_equal(expected: str | None, actual: str | None) -> bool:
    return bool(expected and actual) and compare_digest(
        str(expected).encode(), str(actual).encode("utf-8", "surrogateescape")
    )


def _of(subject: str) -> Callable[[LoginGrant], bool]:
    return lambda grant: grant.person.subject == subject


def _page(host: str, visit: Mapping[str, Any], grants: Sequence[LoginGrant]) -> Response:
    rows = "".join(
        f"<dt>{escape(grant.client_name or 'a program without a name')}</dt>"
        f"<dd>at {escape(grant.destination)}, until <time>{grant.until}</time> {_scopes(grant)}</dd>"
        f'<dd><button name="end" value="{grant.label}">End this login</button></dd>'
        for grant in grants
    )
    every = '<button name="end" value="all" class="main">End all logins</button>' if len(grants) > 1 else ""
    form = f'<input type="hidden" name="key" value="{visit["key"]}"><dl>{rows}</dl>{every}'
    content = f'<form method="post" action="{PROGRAMS}">{form}</form>' if grants else "<p>No program has access.</p>"
    title = f"Programs with access to {host}"
    return browser_page(200, title, f"<h1>{escape(title)}</h1><p>You are {escape(visit['who'])}.</p>{content}")


def _scopes(grant: LoginGrant) -> str:
    return "".join(f"<code>{escape(scope)}</code>" for scope in grant.scopes)
