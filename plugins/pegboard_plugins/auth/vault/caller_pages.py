"""The pages of logins by callers from the network.

The browser first logs in at the issuer of the caller's token. This proves that the browser belongs to the caller. Only
then the browser is redirected to the provider, and only this browser can complete the login. On another page, a caller
who has proved this ends logins.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl

from pegboard.plugin import ProtocolContext, Route, encode
from pegboard.types import Request, Response
from pegboard_client import (
    PAGE_HEADERS,
    AuthorizationRequest,
    LoginFailedError,
    OAuthClient,
    ServerUnavailableError,
    at_server,
    authorization_request,
    credentials,
    find_server,
    id_token_claims,
    is_outage,
    message_page,
    received_code,
    refusal,
)
from pegboard_plugins.auth.vault.login_flows import MAX_LOGIN_SECONDS, LoginFlow, LoginFlows, outcome_page
from pegboard_plugins.auth.vault.own_logins import OwnLogins
from pegboard_plugins.auth.vault.settings import CallerSettings
from pegboard_plugins.auth.vault.terms_page import terms_page
from pegboard_plugins.support.issuer_requests import IssuerRequests
from pegboard_plugins.support.latest_entries import LatestEntries
from pegboard_plugins.support.own_page import own_page
from pegboard_plugins.support.request_cookies import request_cookies

logger = logging.getLogger("pegboard.plugins.vault")

OPEN, IDENTIFY, CALLBACK = "/vault/login", "/vault/identity", "/vault/callback"
AGREE, DOCUMENTS, LOGINS = "/vault/consent", "/vault/client", "/vault/logins"
MAX_FORM_FIELDS = 10
NOT_PROVED = "This browser has not proved that it belongs to the user of the login. Open its link"
MAX_BROWSERS = 10_000
"""The limit of browsers that log in at the issuer. The oldest are forgotten first."""
MAX_PROCESSES = 5
"""The limit of other processes that are asked for the login of a browser."""
COOKIE = "pegboard-vault-"
"""The beginning of the name of a cookie. The id of its login follows."""
_PROCESS = re.compile(rf"{COOKIE}([0-9]{{1,16}})\.")
HAS_ENDED = 404, "This login has ended. Start it again"
WAITS_NOT = 400, "This page belongs to no login that waits"

Page: TypeAlias = Callable[[Request], Awaitable[Response | None]]
"""Returns the response to a request; None if no login of this process belongs to it."""
Elsewhere: TypeAlias = Callable[[Request, Iterable[int]], Awaitable[Response | None]]


class _Browser(NamedTuple):
    """A browser that has opened the link of a login, or the page of the caller's logins.

    Attributes:
        flow: the login; None for the page of the caller's logins.
        secret: the value of its cookie.
        request: the request for the login at the issuer.
        nonce: the value that the ID token must have.
    """

    flow: LoginFlow | None
    secret: str
    request: AuthorizationRequest
    nonce: str


class CallerPages:
    """The pages, as routes of the host.

    Args:
        settings: the section `[plugins.vault.callers]`.

    Attributes:
        elsewhere: returns the pages of logins that other processes began; None without other processes.
    """

    elsewhere: Elsewhere | None = None

    def __init__(self, settings: CallerSettings) -> None:
        self._settings = settings
        self._url = settings.url.rstrip("/")
        secret = settings.client_secret
        self._client = OAuthClient(settings.client_id, None if secret is None else secret.get_secret_value())
        self._flows: dict[str, LoginFlow] = {}
        self._browsers: LatestEntries[str, _Browser] = LatestEntries(MAX_BROWSERS)
        """The browsers that have opened the link of a login, by the state of their request at the issuer."""
        self._visitors: LatestEntries[str, _Browser] = LatestEntries(MAX_BROWSERS)
        """The browsers that have opened the page of a caller's logins, which strangers can open."""
        self._requests = IssuerRequests(settings.issuer)
        self._pages: Mapping[tuple[str, str], Page] = {
            ("GET", OPEN): self._open,
            ("GET", IDENTIFY): self._identify,
            ("POST", AGREE): self._agree,
            ("GET", CALLBACK): self._receive,
            ("GET", f"{CALLBACK}/*"): self._receive,
            ("GET", f"{DOCUMENTS}/*"): self._describe,
            ("GET", LOGINS): self._open_logins,
            ("POST", LOGINS): self._end_login,
        }
        self._owners: dict[str, tuple[float, OwnLogins]] = {}
        """The times until which browsers may end logins, and these logins, by the cookies of the browsers."""

    def routes(self, flows: LoginFlows) -> Sequence[Route]:
        """Return the routes.

        Args:
            flows: all logins.
        """
        self._all = flows
        return [
            Route(method=method, path=path, handler=own_page(self._url, self._answer), auth="public", anonymous=True)
            for method, path in self._pages
        ]

    async def _answer(self, request: Request, host: ProtocolContext) -> Response:
        """Return the page of a login, whichever process began it."""
        page = await self.own(request)
        if page is None and self.elsewhere is not None:
            named = f"{request.headers.get('Cookie') or ''} {COOKIE}{request.query.get('id', '')}"
            numbers = dict.fromkeys(map(int, reversed(_PROCESS.findall(named))))  # browsers send old cookies first
            page = await self.elsewhere(request, list(numbers)[:MAX_PROCESSES])
        if page is None and request.path == LOGINS:
            return _redirect(self._url + LOGINS, {})
        return page or message_page(*(HAS_ENDED if request.path in (OPEN, AGREE) else WAITS_NOT))

    async def own(self, request: Request) -> Response | None:
        """Return the page of a login that this process began; None for any other."""
        paths = request.path, f"{request.path.rpartition('/')[0]}/*"
        return await next(page for path in paths if (page := self._pages.get((request.method, path))))(request)

    @property
    def client_metadata_url(self) -> str:
        """The URL of the client id metadata documents; "" without https, which such documents require."""
        return f"{self._url}{DOCUMENTS}/{{issuer}}" if self._is_secure else ""

    async def _describe(self, request: Request) -> Response:
        """Return the client id metadata document of this host for one authorization server."""
        document = {
            "client_id": self._url + request.path,
            "client_name": "pegboard",
            "client_uri": self._url,
            "redirect_uris": [self._url + CALLBACK + request.path.removeprefix(DOCUMENTS)],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "web",
        }
        return Response(body=encode(document), content_type="application/json")

    async def start(self) -> str:
        """Return the redirect URI for the provider."""
        return self._url + CALLBACK

    def add(self, login: LoginFlow, redirect_uri: str) -> str:
        """Serve a login, and return its link."""
        self._flows[login.id] = login
        return f"{self._url}{OPEN}?id={login.id}"

    async def remove(self, login: LoginFlow) -> None:
        """End the pages of a login."""
        self._flows.pop(login.id, None)
        for state in [state for state, entry in self._browsers.items() if entry.flow is login]:
            del self._browsers[state]

    async def _open(self, request: Request) -> Response | None:
        flow = self._flows.get(request.query.get("id", ""))
        if flow is None:
            return None
        if not flow.shown.is_set() or flow.response.done():
            return message_page(*HAS_ENDED)
        return await self._ask_issuer(flow)

    async def _open_logins(self, request: Request) -> Response:
        return await self._ask_issuer(None)

    async def _ask_issuer(self, flow: LoginFlow | None) -> Response:
        """Redirect the browser to the issuer, which identifies its user."""
        try:
            browser = await self._request_identity(flow)
        except LoginFailedError as error:
            return _outage_page(error)
        self._kept(flow).keep(browser.request.state, browser)
        secure = "; Secure" if self._is_secure else ""
        rest = f"Path=/; Max-Age={MAX_LOGIN_SECONDS:.0f}; HttpOnly; SameSite=Lax{secure}"
        cookie = f"{self._cookie(flow)}={browser.secret}; {rest}"
        return _redirect(browser.request.url, {"Set-Cookie": cookie})

    async def _identify(self, request: Request) -> Response | None:
        state = request.query.get("state", "")
        browser = self._browsers.get(state) or self._visitors.get(state)
        if browser is None:
            return None
        flow = browser.flow
        if not compare_digest(self._secret(request, flow), browser.secret.encode()):
            return message_page(403, "This login was started in another browser. Open its link in this browser")
        del self._kept(flow)[state]
        try:
            claims = await self._claims(browser, request.query)
        except ServerUnavailableError as error:
            return _outage_page(error)
        except LoginFailedError as error:
            logger.warning("a caller cannot be identified: %s", error)
            return message_page(400, "The login failed. Open the link again")
        subject = claims.get(self._settings.subject_claim)
        if flow is None:
            return await self._show_logins(browser.secret, subject)
        if subject != flow.key.subject:
            return message_page(
                403, "Another user has started this login. Close this page, and tell the sender of the link"
            )
        if self._flows.get(flow.id) is not flow:
            return message_page(*HAS_ENDED)
        flow.browsers.add(browser.secret)
        if flow.must_agree and flow.terms is not None:
            return terms_page(flow.terms, flow.id, AGREE, flow.page, self._url + LOGINS)
        return _redirect(flow.page, {})

    async def _agree(self, request: Request) -> Response | None:
        """Receive the answer to the terms of a login, from a browser of its caller."""
        fields = _form(request)
        flow = self._flows.get(fields.pop("id", ""))
        if flow is None:
            return None
        if flow.response.done():
            return message_page(*HAS_ENDED)
        if not self._is_identified(request, flow):
            return message_page(403, NOT_PROVED)
        if fields.pop("answer", "") != "allow":
            flow.response.set_exception(LoginFailedError("you have refused it."))
            return await outcome_page(flow)
        flow.has_agreed = True
        if flow.page:
            return _redirect(flow.page, {})
        flow.response.set_result(fields)
        return await outcome_page(flow)

    async def _show_logins(self, secret: str, subject: object) -> Response:
        if not isinstance(subject, str):
            return message_page(403, "The login server does not identify you")
        now = monotonic()
        self._owners = {key: owner for key, owner in self._owners.items() if owner[0] > now}
        logins = OwnLogins(self._all, subject)
        self._owners[secret] = now + MAX_LOGIN_SECONDS, logins
        return await logins.page(LOGINS)

    async def _end_login(self, request: Request) -> Response | None:
        """End a login of the caller to whom the browser belongs."""
        until, logins = self._owners.get(self._secret(request, None).decode("utf-8", "surrogateescape"), (0.0, None))
        if logins is None or until <= monotonic():
            return None
        return await logins.page(LOGINS, await logins.end(_form(request).get("name", "")))

    async def _receive(self, request: Request) -> Response | None:
        state = request.query.get("state", "")
        flow = next((flow for flow in self._flows.values() if flow.expects(state)), None)
        if flow is None:
            return None
        if flow.must_agree or flow.response.done() or request.path != CALLBACK + flow.segment:
            return message_page(*WAITS_NOT)
        if not self._is_identified(request, flow):
            return message_page(403, NOT_PROVED)
        flow.response.set_result(dict(request.query))
        return await outcome_page(flow)

    def _is_identified(self, request: Request, flow: LoginFlow) -> bool:
        """Return True if a browser has proved that it belongs to the caller of a login."""
        secret = self._secret(request, flow)
        return any(compare_digest(secret, text.encode()) for text in flow.browsers)

    # --- the login at the issuer

    async def _request_identity(self, flow: LoginFlow | None) -> _Browser:
        nonce = token_urlsafe(32)
        async with self._requests.opened() as requests:
            server = await find_server(requests, self._settings.issuer)
        made = authorization_request(
            server,
            self._client.client_id,
            self._url + IDENTIFY,
            token_urlsafe(32),
            {"scope": "openid", "nonce": nonce},
            requires_pkce=False,  # the nonce binds the code to the browser where PKCE does not
        )
        return _Browser(flow=flow, secret=token_urlsafe(32), request=made, nonce=nonce)

    async def _claims(self, browser: _Browser, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the claims of the ID token for a response of the issuer."""
        server = browser.request.server
        headers, own = credentials(at_server(self._client, server), server.issuer)
        form = {
            "grant_type": "authorization_code",
            "code": received_code(browser.request, fields),
            "redirect_uri": browser.request.redirect_uri,
            **({"code_verifier": browser.request.verifier} if browser.request.verifier else {}),
        }
        async with self._requests.opened() as requests:
            status, document = await requests.post_form(server.token_endpoint, {**form, **own}, headers)
            if is_outage(status) or document is None:
                raise ServerUnavailableError(f"{server.token_endpoint} sent no tokens, but status {status}.")
            if status != 200:
                raise LoginFailedError(refusal(f"{server.issuer} refuses a token", status, {}))
            token = document.get("id_token")
            return await id_token_claims(requests, server, self._client.client_id, browser.nonce, token)

    def _kept(self, flow: LoginFlow | None) -> LatestEntries[str, _Browser]:
        """Return the browsers that wait for the issuer: those of logins, or those without a login."""
        return self._visitors if flow is None else self._browsers

    # --- cookies and states

    @property
    def _is_secure(self) -> bool:
        return self._url.startswith("https:")

    def _cookie(self, flow: LoginFlow | None) -> str:
        return (
            f"{'__Host-' if self._is_secure else ''}{COOKIE}{f'{self._all.number}.logins' if flow is None else flow.id}"
        )

    def _secret(self, request: Request, flow: LoginFlow | None) -> bytes:
        """Return the cookie of a browser for a login, or for the page of the caller's logins."""
        return request_cookies(request).get(self._cookie(flow), "").encode("utf-8", "surrogateescape")


def _form(request: Request) -> dict[str, str]:
    try:
        return dict(parse_qsl(request.body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
    except ValueError:
        return {}


def _outage_page(error: LoginFailedError) -> Response:
    logger.error("a caller cannot be identified: %s", error)
    return message_page(502, "The login server cannot be reached. Try again later")


def _redirect(url: str, headers: Mapping[str, str]) -> Response:
    return Response(status=303, headers={**PAGE_HEADERS, "Location": url, **headers})
