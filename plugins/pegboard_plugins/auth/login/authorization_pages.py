"""The authorization endpoint (OAuth 2.1, section 4.1): the consent of a person, and the login at the provider.

The browser keeps the state of a login in signed cookies, so only the browser that began a login can complete it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from html import escape
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlencode, urlsplit

from multidict import CIMultiDict

from pegboard.plugin import ProtocolContext
from pegboard.types import Caller, Request, Response
from pegboard_client import PAGE_HEADERS, LoginFailedError, ServerUnavailableError, browser_page, message_page
from pegboard_plugins.auth.login.grant_store import MAX_CODE_SECONDS, GrantStore, LoginGrant
from pegboard_plugins.auth.login.grant_tokens import GrantRefusedError, form_fields
from pegboard_plugins.auth.login.identity_provider import IdentityProvider, ProviderLogin
from pegboard_plugins.auth.login.login_clients import (
    ClientRefusedError,
    LoginClient,
    LoginClients,
    client_label,
    names_document,
    names_loopback,
)
from pegboard_plugins.auth.login.login_metadata import CONSENT_ANSWER
from pegboard_plugins.auth.login.login_signing import CODE_KIND, CONSENT_KIND, FLOW_KIND, LoginSigner, LoginStateError
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.support.refusal_log import RefusalLog
from pegboard_plugins.support.request_cookies import request_cookies

logger = logging.getLogger("pegboard.plugins.login")

MAX_CONSENT_SECONDS = 600.0
"""The limit of the time that a person has for the consent, and again for the login at the provider."""
MAX_REQUEST_CHARACTERS = 3600
"""The limit of a signed request of a client. Browsers drop cookies of more than 4096 bytes."""
MAX_COOKIE_CHARACTERS = 6000
"""The limit of the cookies of unfinished logins. Proxies refuse requests with more than 8192 bytes of cookies."""
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_OTHER_BROWSER = "this login was not started in this browser, or it has ended: start it again in the program"


class AuthorizationPages:
    """The pages.

    Args:
        config: the plugin's settings.
        signer: signs codes and cookies.
        clients: the client programs.
        provider: the identity provider.
        grants: keeps the logins.
    """

    def __init__(
        self,
        config: LoginConfig,
        signer: LoginSigner,
        clients: LoginClients,
        provider: IdentityProvider,
        grants: GrantStore,
    ) -> None:
        self._config = config
        self._signer = signer
        self._clients = clients
        self._provider = provider
        self._grants = grants
        self._audit = RefusalLog()
        self._cookie = "__Host-pegboard-login" if config.is_secure else "pegboard-login"

    async def authorize(self, request: Request, host: ProtocolContext) -> Response:
        """Ask the person for consent. An invalid client or redirect URI is not sent a response."""
        query = request.query
        redirect_uri = query.get("redirect_uri", "")
        try:
            client = await self._clients.find(query.get("client_id", ""), request.peer)
        except ClientRefusedError as error:
            return error_page(400, str(error))
        if not client.accepts(redirect_uri):
            return error_page(400, "the redirect URI does not belong to the program: register it")
        try:
            scopes = self._requested(query)
        except GrantRefusedError as error:
            if not names_loopback(redirect_uri):  # before consent, a redirect could lead to any stranger's page
                return error_page(400, str(error).removesuffix("."))
            return self._to_client(query, {"error": error.code, "error_description": str(error)})
        kept = {name: query.get(name, "") for name in ("redirect_uri", "state", "code_challenge")}
        secret = request_cookies(request).get(self._cookie) or token_urlsafe(32)
        claims = {
            **kept,
            "client": client_label(client.id),
            "name": client.name,
            "scopes": scopes,
            "browser": _digest(secret),
        }
        sealed = self._signer.sign(CONSENT_KIND, claims, MAX_CONSENT_SECONDS)
        if len(sealed) > MAX_REQUEST_CHARACTERS:
            return error_page(400, "the request of the program is too long")
        title = host.identity.title or host.identity.name
        return consent_page(title, client, redirect_uri, scopes, sealed, self._set_cookie(self._cookie, secret))

    async def answer(self, request: Request, host: ProtocolContext) -> Response:
        """Redirect to the provider, or to the client if the person refuses."""
        try:
            form = form_fields(request)
        except GrantRefusedError as error:
            return error_page(400, str(error).removesuffix("."))
        claims = self._signer.read(CONSENT_KIND, form.get("request", ""))
        secret = request_cookies(request).get(self._cookie, "")
        if claims is None or not compare_digest(claims["browser"], _digest(secret)):
            return error_page(403, _OTHER_BROWSER)
        if form.get("answer") != "allow":
            return self._to_client(claims, {"error": "access_denied"})
        try:
            login = await self._provider.start()
        except LoginFailedError as error:
            logger.error("login: %s", error)
            return self._to_client(claims, {"error": "temporarily_unavailable"})
        flow = {**claims, "provider_state": login.state, "verifier": login.verifier, "nonce": login.nonce}
        sealed = self._signer.sign(FLOW_KIND, flow, MAX_CONSENT_SECONDS)
        headers = CIMultiDict({**PAGE_HEADERS, "Location": login.url})
        headers.extend(self._set_cookie(self._flow_cookie(login.state), sealed))
        for name in self._oldest(request_cookies(request), MAX_COOKIE_CHARACTERS - len(sealed)):
            headers.extend(self._set_cookie(name, "", seconds=0))
        return Response(303, headers=headers)

    async def receive(self, request: Request, host: ProtocolContext) -> Response:
        """Handle the redirect from the provider, and redirect to the client with the code."""
        name = self._flow_cookie(request.query.get("state", ""))
        claims = self._signer.read(FLOW_KIND, request_cookies(request).get(name, ""))
        if claims is None:
            return error_page(403, _OTHER_BROWSER)
        answer = await self._outcome(claims, request.query, request.peer)
        return self._to_client(claims, answer, self._set_cookie(name, "", seconds=0))

    async def _outcome(self, claims: Mapping[str, Any], response: Mapping[str, str], peer: str) -> dict[str, str]:
        """Return the parameters of the response to the client."""
        login = ProviderLogin("", claims["provider_state"], claims["verifier"], claims["nonce"])
        try:
            person = await self._provider.finish(login, response)
        except ServerUnavailableError as error:
            logger.error("login: %s", error)
            return {"error": "temporarily_unavailable", "error_description": "The identity provider does not respond."}
        except LoginFailedError as error:
            logger.warning("login: %s", error)
            return {"error": "access_denied", "error_description": "The login at the identity provider failed."}
        caller = Caller(person.subject, client_id=claims["client"], issuer=self._config.issuer)
        if not self._config.admits(person):
            facts = {"peer": peer, "account": person.email or person.login}
            self._audit.refused("a login", caller, facts, logging.INFO)
            return {
                "error": "access_denied",
                "error_description": "This account may not log in here: ask the operator.",
            }
        grant = LoginGrant(
            client=claims["client"],
            client_name=claims["name"],
            redirect_uri=claims["redirect_uri"],
            challenge=claims["code_challenge"],
            scopes=self._config.granted(tuple(claims["scopes"]), person),
            person=person,
        )
        try:
            code = {"grant": await self._grants.add(grant), "number": 0}
        except LoginStateError as error:
            logger.error("login: %s", error)
            return {"error": "server_error", "error_description": "The login could not be kept: ask the operator."}
        logger.info("login: %s uses the client %s", person.email or person.login, grant.client)
        return {"code": self._signer.sign(CODE_KIND, code, MAX_CODE_SECONDS)}

    def _requested(self, query: Mapping[str, str]) -> tuple[str, ...]:
        """Return the scopes of a valid request."""
        if len(query) != len(set(query)):
            raise GrantRefusedError("invalid_request", "Send each parameter once.")
        if query.get("response_type") != "code":
            problem = "unsupported_response_type" if "response_type" in query else "invalid_request"
            raise GrantRefusedError(problem, "The response_type must be code.")
        challenge = query.get("code_challenge", "")
        if query.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(challenge):
            raise GrantRefusedError("invalid_request", "PKCE is required: send a code_challenge with the method S256.")
        if not self._config.is_resource(query.get("resource")):
            raise GrantRefusedError("invalid_target", f"The resource must be {self._config.resource}.")
        requested = tuple(dict.fromkeys(query.get("scope", "").split()))
        allowed = tuple(scope for scope in requested if scope in self._config.scopes)
        if requested and not allowed:
            raise GrantRefusedError(
                "invalid_scope", "None of these scopes exists: request scopes that the metadata lists."
            )
        return allowed or self._config.challenge_scopes

    def _to_client(
        self, requested: Mapping[str, Any], answer: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> Response:
        """Redirect to the client with `state` and `iss` (RFC 9207). The redirect URI must have been checked."""
        state = {"state": requested["state"]} if requested.get("state") else {}
        uri = requested["redirect_uri"]
        location = f"{uri}{'&' if '?' in uri else '?'}{urlencode({**answer, **state, 'iss': self._config.issuer})}"
        return Response(303, headers={**PAGE_HEADERS, **(headers or {}), "Location": location})

    def _flow_cookie(self, state: str) -> str:
        return f"{self._cookie}-{_digest(state)[:16]}"

    def _oldest(self, cookies: Mapping[str, str], room: int) -> list[str]:
        """Return the cookies of the oldest logins to remove, so that the others have room (RFC 6265, section 5.4)."""
        flows = [name for name in cookies if name.startswith(f"{self._cookie}-")]
        for kept, name in enumerate(reversed(flows)):
            room -= len(name) + len(cookies[name])
            if room < 0:
                return flows[: len(flows) - kept]
        return []

    def _set_cookie(self, name: str, value: str, seconds: float = MAX_CONSENT_SECONDS) -> dict[str, str]:
        # Lax, because the provider redirects here from another site
        secure = "; Secure" if self._config.is_secure else ""
        return {"Set-Cookie": f"{name}={value}; Path=/; Max-Age={seconds:.0f}; HttpOnly; SameSite=Lax{secure}"}


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


# --- The pages that people see: the consent to a client, and errors.


def consent_page(
    host: str, client: LoginClient, redirect_uri: str, scopes: tuple[str, ...], sealed: str, headers: Mapping[str, str]
) -> Response:
    """Return the question to the person.

    Args:
        host: the title of this host.
        client: the client.
        redirect_uri: the redirect URI that will receive the code.
        scopes: the scopes that the client requests.
        sealed: the request, signed for the browser of the person.
        headers: more headers.
    """
    access = "".join(f"<code>{escape(scope)}</code>" for scope in scopes) or "tools that need no scopes"
    facts = {
        "Program": escape(client.name or "a program without a name"),
        "Proof of its name": escape(_proof(client, redirect_uri)),
        "Result goes to": escape(_destination(redirect_uri)),
        "Access": access,
    }
    rows = "".join(f"<dt>{title}</dt><dd>{content}</dd>" for title, content in facts.items())
    body = (
        f"<h1>Allow access to {escape(host)}?</h1><dl>{rows}</dl>{_advice(client, redirect_uri)}"
        f'<form method="post" action="{CONSENT_ANSWER}">'
        f'<input type="hidden" name="request" value="{escape(sealed)}">'
        '<button name="answer" value="deny">Deny</button>'
        '<button name="answer" value="allow" class="main">Allow</button></form>'
    )
    return browser_page(200, "Allow access?", body, headers)


def error_page(status: int, problem: str) -> Response:
    """Return a problem for the person. Nothing is sent to the client."""
    return message_page(status, f"Login failed: {problem}")


def _is_proven(client: LoginClient, redirect_uri: str) -> bool:
    return names_document(client.id) and redirect_uri.startswith("https:") and not names_loopback(redirect_uri)


def _advice(client: LoginClient, redirect_uri: str) -> str:
    advice = "Allow it only if you have just started this login in that program."
    if _is_proven(client, redirect_uri):
        return f"<p>{advice}</p>"
    return f'<p class="note">The name of this program is not verified. {advice}</p>'


def _proof(client: LoginClient, redirect_uri: str) -> str:
    if not names_document(client.id):
        return "none: the program named itself"
    if _is_proven(client, redirect_uri):
        return f"its web address, {client.id}"
    return f"none: it claims to be {client.id}, but each program on your computer can do that"


def _destination(redirect_uri: str) -> str:
    parts = urlsplit(redirect_uri)
    if names_loopback(redirect_uri):
        return f"{parts.netloc}, a program on your own computer"
    return parts.netloc if parts.scheme == "https" else f"the application for {parts.scheme}: links on your computer"
