"""OAuth requests to one provider: the page for logins, tokens, their renewal and their revocation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from secrets import token_urlsafe
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

from pegboard_client import (
    AuthorizationRequest,
    JsonRequests,
    LoginFailedError,
    OAuthClient,
    ServerMetadata,
    at_server,
    authorization_request,
    credentials,
    find_server,
    is_access_token,
    oauth_error,
    received_code,
    refusal,
    renewal_time,
    scope_fields,
    with_offline_access,
)
from pegboard_plugins.auth.vault.named_providers import NAMED_PROVIDERS, NamedProvider
from pegboard_plugins.auth.vault.settings import ADDRESSES, ProviderSettings
from pegboard_plugins.auth.vault.vault_store import VaultToken

MIN_SECRET_CHARACTERS = 6
"""The minimum length of a secret that is masked in messages of the provider."""
DEFAULT_DEVICE_SECONDS = 5.0
"""The interval of requests for the token of a device login (RFC 8628, section 3.5)."""
MIN_DEVICE_SECONDS = 1.0
"""The shortest interval that a provider can ask for."""
MAX_DEVICE_SECONDS = 60.0
"""The longest interval that a provider can ask for."""
MAX_USER_CODE_CHARACTERS = 64
"""The limit of a code that a person enters."""
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
REFUSED_REFRESH = frozenset(("invalid_grant", "bad_refresh_token", "invalid_refresh_token", "token_expired"))
"""The error codes for a refresh token that is no longer valid: of RFC 6749, GitHub and Slack."""
_ACCOUNT_CLAIMS = ("email", "preferred_username", "sub")


class ProviderRefusedError(LoginFailedError):
    """The provider refuses a token.

    Args:
        message: the problem.
        code: its error code, such as "invalid_grant".
    """

    code: str = ""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class DeviceLogin(NamedTuple):
    """A login on another device (RFC 8628).

    Attributes:
        device_code: the code that the host presents.
        user_code: the code that the person enters.
        page: the page on which the person enters the code.
        seconds: the interval between requests for the token.
    """

    device_code: str
    user_code: str
    page: str
    seconds: float

    def __repr__(self) -> str:
        """Return the page. The codes must not reach logs."""
        return f"DeviceLogin(page={self.page!r})"


class ProviderClient:
    """A registration at a provider.

    Args:
        name: the name of the section, which is the name of its tokens.
        settings: the section.
    """

    def __init__(self, name: str, settings: ProviderSettings) -> None:
        named = NAMED_PROVIDERS.get(settings.provider or name)
        self.settings = settings
        self.facts = _with_settings(named or NamedProvider(name, "", reports_scopes=True), settings)
        self._metadata: ServerMetadata | None = None
        secret = settings.client_secret
        self._client = OAuthClient(settings.client_id, None if secret is None else secret.get_secret_value())

    # --- logins

    async def authorization(self, redirect_uri: str, scopes: Sequence[str]) -> AuthorizationRequest:
        """Return the request for the person's consent."""
        async with self._requests() as requests:
            server = await self._server(requests)
            for url in filter(None, (server.authorization_endpoint, server.token_endpoint)):
                requests.check(url)
        fields = self._scope_fields(with_offline_access(self.wanted(scopes), server), self.facts.scope_parameter)
        fields |= dict(self.facts.parameters) | dict(self.settings.parameters)
        return authorization_request(
            server, self._client.client_id, redirect_uri, token_urlsafe(32), fields, requires_pkce=self.facts.pkce
        )

    def wanted(self, scopes: Sequence[str]) -> tuple[str, ...]:
        """Return the scopes of a login: those that are needed, and those that every login requests."""
        return tuple(dict.fromkeys([*self.facts.scopes, *self.settings.scopes, *scopes]))

    def _scope_fields(self, scopes: Sequence[str], parameter: str) -> dict[str, str]:
        fields = scope_fields(scopes)
        if self.facts.documentation:  # the entry of a named provider has all its parameters
            fields.pop("prompt", None)
        if "scope" in fields:
            fields[parameter] = self.facts.scope_separator.join(fields.pop("scope").split())
        return fields

    async def redeem(
        self, request: AuthorizationRequest, response: Mapping[str, str], scopes: Sequence[str]
    ) -> VaultToken:
        """Return the token for the response to an authorization request.

        Raises:
            LoginFailedError: the response is of another provider, or consent or the token was refused.
        """
        checked = response if request.server.issuer else {**response, "iss": ""}
        form = {
            "grant_type": "authorization_code",
            "code": received_code(request, checked),
            "redirect_uri": request.redirect_uri,
            **({"code_verifier": request.verifier} if request.verifier else {}),
        }
        return await self._token(form, scopes)

    async def start_device_login(self, scopes: Sequence[str]) -> DeviceLogin:
        """Start a login on another device.

        Raises:
            LoginFailedError: the provider does not support that, or refuses it.
        """
        async with self._requests() as requests:
            server = await self._server(requests)
            if not server.device_endpoint:
                raise LoginFailedError(f"{self.facts.title} has no device flow: log in with a browser instead.")
            headers, own = credentials(at_server(self._client, server), server.issuer)
            wanted = self._scope_fields(self.wanted(scopes), self.facts.device_scope_parameter)
            fields = {**wanted, **own, "client_id": self._client.client_id}
            status, document = await requests.post_form(server.device_endpoint, fields, headers)
            return self._device_login(requests, status, document)

    def _device_login(self, requests: JsonRequests, status: int, document: Mapping[str, Any] | None) -> DeviceLogin:
        members = document or {}
        page = (
            members.get("verification_uri_complete")
            or members.get("verification_uri")
            or members.get("verification_url")
        )
        codes = members.get("device_code"), members.get("user_code"), page
        if status != 200 or not all(isinstance(text, str) and text for text in codes):
            raise LoginFailedError(refusal(f"{self.facts.title} refuses the device flow", status, document))
        requests.check(str(page))
        user_code = str(codes[1])
        if not user_code.isprintable() or len(user_code) > MAX_USER_CODE_CHARACTERS:
            raise LoginFailedError(f"{self.facts.title} sent no usable code.")
        return DeviceLogin(str(codes[0]), user_code, str(page), _interval(members.get("interval")))

    async def device_token(self, login: DeviceLogin, scopes: Sequence[str]) -> VaultToken:
        """Return the token of a login on another device.

        Raises:
            ProviderRefusedError: "authorization_pending" and "slow_down" mean that the person has not agreed yet.
            LoginFailedError: the provider cannot be reached at present.
        """
        return await self._token({"grant_type": DEVICE_GRANT, "device_code": login.device_code}, scopes)

    # --- tokens

    async def find_addresses(self) -> None:
        """Read the metadata of the provider, unless they are known. Later requests do not wait for them.

        Raises:
            LoginFailedError: the provider cannot be reached.
        """
        async with self._requests() as requests:
            await self._server(requests)

    async def refresh(self, token: VaultToken) -> VaultToken:
        """Return the token that replaces an expired token.

        Raises:
            ProviderRefusedError: the refresh token is not valid.
            LoginFailedError: the provider cannot be reached.
        """
        form = {"grant_type": "refresh_token", "refresh_token": token.refresh_token or ""}
        fresh = await self._token(form, token.scopes)
        return fresh._replace(
            refresh_token=fresh.refresh_token or token.refresh_token,  # without rotation the earlier token stays valid
            account=fresh.account or token.account,
        )

    async def revoke(self, token: VaultToken) -> bool:
        """Revoke a token (RFC 7009). Return False if the provider does not offer that.

        Raises:
            LoginFailedError: the provider refuses, or cannot be reached.
        """
        async with self._requests() as requests:
            server = await self._server(requests)
            if not server.revocation_endpoint:
                return False
            status, document, sent = await self._send_revocation(requests, server, token)
            if status >= 400 or (document or {}).get("ok") is False:
                raise LoginFailedError(self._refusal("refuses to revoke the token", status, document, sent))
            return True

    async def _send_revocation(
        self, requests: JsonRequests, server: ServerMetadata, token: VaultToken
    ) -> tuple[int, dict[str, Any] | None, Mapping[str, str]]:
        """Return the status, the response and the values that were sent."""
        facts, client = self.facts, at_server(self._client, server)
        refresh_token = None if facts.revokes_access_token else token.refresh_token
        fields = {"token": refresh_token or token.access_token}
        if facts.revocation_auth == "bearer":
            bearer = {"Authorization": f"Bearer {token.access_token}"}
            return *await requests.post_json(server.revocation_endpoint, None, bearer), fields
        if facts.revocation_auth and client.method != "none":
            client = client._replace(method=facts.revocation_auth)
        headers, own = credentials(client, server.issuer)
        send = requests.post_json if facts.sends_json else requests.post_form
        sent = {**fields, **own}
        return *await send(server.revocation_endpoint, sent, {**headers, **dict(facts.headers)}), sent

    async def account(self, token: VaultToken) -> str:
        """Return the name of the user of a token, or "" if the provider has no address for that."""
        if not self.facts.account_endpoint:
            return token.account
        async with self._requests() as requests:
            headers = {"Authorization": f"Bearer {token.access_token}"}
            document = await requests.get(self.facts.account_endpoint, headers) or {}
        members = (self.facts.account_member,) if self.facts.account_member else _ACCOUNT_CLAIMS
        return next((str(document[name]) for name in members if document.get(name)), token.account)

    async def _token(self, form: Mapping[str, str], scopes: Sequence[str]) -> VaultToken:
        async with self._requests() as requests:
            server = await self._server(requests)
            headers, own = credentials(at_server(self._client, server), server.issuer)
            if form["grant_type"] == DEVICE_GRANT:
                own = {**own, "client_id": self._client.client_id}
            send = requests.post_json if self.facts.sends_json else requests.post_form
            renews = form["grant_type"] == "refresh_token"
            endpoint = (self.facts.refresh_endpoint if renews else "") or server.token_endpoint
            status, document = await send(endpoint, {**form, **own}, {**headers, **dict(self.facts.headers)})
        members = (document or {}).get(self.facts.token_member) if self.facts.token_member else document
        members = members if isinstance(members, dict) else {}
        members = members if members.get("access_token") else document or {}  # a renewed token of Slack is at the top
        access_token = members.get("access_token")
        refused = self._standard_error(document)
        if status >= 500:
            raise LoginFailedError(self._refusal("issues no token at present", status, refused, {**form, **own}))
        if status != 200 or refused.get("error"):  # some providers send errors with status 200
            problem = self._refusal("refuses a token", status, refused, {**form, **own})
            raise ProviderRefusedError(problem, oauth_error(refused))
        if not is_access_token(access_token):
            raise ProviderRefusedError(f"{self.facts.title} sent no usable token.", "")
        refresh_token = members.get("refresh_token")
        return VaultToken(
            access_token=access_token,
            refresh_token=refresh_token if isinstance(refresh_token, str) and refresh_token else None,
            expires_at=renewal_time(members.get("expires_in")),
            scopes=self._granted(members.get("scope"), scopes),
            account=_account(members.get("id_token")),
        )

    def _standard_error(self, document: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Return an error response with the members and codes of RFC 6749, section 5.2."""
        members = document or {}
        message = members.get("message")
        code = dict(self.facts.error_codes).get(message) if isinstance(message, str) else None
        return {"error_description": message, **members, **({"error": code} if code else {})}

    def _granted(self, reported: object, requested: Sequence[str]) -> tuple[str, ...]:
        if not self.facts.reports_scopes or not isinstance(reported, str):
            return tuple(requested)
        return tuple(dict.fromkeys(reported.replace(",", " ").split()))

    def _refusal(self, problem: str, status: int, document: Mapping[str, Any] | None, sent: Mapping[str, str]) -> str:
        """Return a problem with the provider's reason, without a value that the host sent."""
        values = [text for name, text in sent.items() if name not in ("grant_type", "redirect_uri")]
        details = {
            name: _without(text, [*values, self._client.client_secret or ""])
            for name in ("error", "error_description")
            if isinstance(text := (document or {}).get(name), str)
        }
        return refusal(f"{self.facts.title} {problem}", status, details)

    # --- the provider

    async def _server(self, requests: JsonRequests) -> ServerMetadata:
        if self._metadata is None:
            facts, issuer = self.facts, self.settings.issuer
            metadata = await find_server(requests, issuer) if issuer else ServerMetadata(facts.issuer, "")
            is_known = self.facts.documentation or self.settings.pkce or not issuer  # metadata may omit the methods
            supports = ("S256",) if is_known else metadata.challenge_methods
            self._metadata = metadata._replace(
                authorization_endpoint=facts.authorization_endpoint or metadata.authorization_endpoint,
                token_endpoint=facts.token_endpoint or metadata.token_endpoint,
                revocation_endpoint=facts.revocation_endpoint or metadata.revocation_endpoint,
                device_endpoint=facts.device_endpoint or metadata.device_endpoint,
                auth_methods=metadata.auth_methods or (facts.auth_method,),
                challenge_methods=supports if facts.pkce else (),
            )
        return self._metadata

    def _requests(self) -> AbstractAsyncContextManager[JsonRequests]:
        return JsonRequests.opened(self.settings.issuer or self.facts.token_endpoint)


def _with_settings(facts: NamedProvider, settings: ProviderSettings) -> NamedProvider:
    """Return the description of a provider with the addresses of the settings.

    Tokens of a server with another address must not be sent to the named provider.
    """
    if settings.issuer is not None:
        facts = facts._replace(authorization_endpoint="", token_endpoint="")
    if settings.issuer is not None or settings.token_endpoint is not None:
        facts = facts._replace(refresh_endpoint="", revocation_endpoint="", device_endpoint="", account_endpoint="")
    own = {name: value for name in ADDRESSES if (value := getattr(settings, name))}
    may_use_pkce = facts.pkce and (facts.pkce_with_secret or settings.client_secret is None)
    return facts._replace(**own, pkce=may_use_pkce if settings.pkce is None else settings.pkce)


def _interval(seconds: object) -> float:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return DEFAULT_DEVICE_SECONDS
    return float(max(MIN_DEVICE_SECONDS, min(seconds, MAX_DEVICE_SECONDS)))


def _without(text: str, secrets: Iterable[str]) -> str:
    """Return a foreign text with secrets masked, plain and URL-quoted. Short secrets would match inside words."""
    for secret in secrets:
        if len(secret) >= MIN_SECRET_CHARACTERS:
            for form in (secret, quote(secret, safe=""), quote_plus(secret)):
                text = text.replace(form, "***")
    return text


def _account(id_token: object) -> str:
    """Return the user that an ID token names, or "" for none. The name is only shown, so no signature is checked."""
    if not isinstance(id_token, str):
        return ""
    import jwt  # only some providers send ID tokens

    try:
        claims = jwt.decode(id_token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        return ""
    return next((str(claims[name]) for name in _ACCOUNT_CLAIMS if claims.get(name)), "")
