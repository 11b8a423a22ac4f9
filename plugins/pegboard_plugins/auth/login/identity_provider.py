"""Logins at the identity provider: an OpenID provider, or GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from secrets import token_urlsafe
from typing import Any, NamedTuple, TypeGuard

from pegboard_client import (
    AuthorizationRequest,
    JsonRequests,
    LoginFailedError,
    OAuthClient,
    ServerMetadata,
    ServerUnavailableError,
    at_server,
    authorization_request,
    credentials,
    find_server,
    id_token_claims,
    is_outage,
    oauth_error,
    received_code,
)
from pegboard_plugins.auth.login.login_metadata import CALLBACK
from pegboard_plugins.auth.login.settings import GITHUB, LoginConfig, Person
from pegboard_plugins.support.issuer_requests import IssuerRequests

OPENID_SCOPES: tuple[str, ...] = ("openid", "email", "profile")
GITHUB_SCOPES: tuple[str, ...] = ("read:org",)
MAX_PERSON_NAME_CHARACTERS = 100
MAX_SUBJECT_CHARACTERS = 255
"""The limit of a subject (OpenID Connect Core, section 2)."""
_DOMAIN_CLAIMS = {"https://accounts.google.com": "hd"}
"""The claims with the domain that manages an account. The address of a Google account may be of another domain.

https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
"""


class ProviderLogin(NamedTuple):
    """A login that waits for the person.

    Attributes:
        url: the page of the provider.
        state: the value that the response must repeat.
        verifier: the PKCE code verifier.
        nonce: the value that the ID token must repeat.
    """

    url: str
    state: str
    verifier: str
    nonce: str

    def __repr__(self) -> str:
        """Return the name. The values must not reach logs."""
        return "ProviderLogin()"


class IdentityProvider:
    """The identity provider of the settings.

    Args:
        config: the plugin's settings.
    """

    def __init__(self, config: LoginConfig) -> None:
        self._config = config
        self._settings = config.provider
        secret = self._settings.client_secret
        self._client = OAuthClient(self._settings.client_id, None if secret is None else secret.get_secret_value())
        self._metadata: ServerMetadata | None = None
        self._requests = IssuerRequests(self._settings.issuer)
        self._redirect_uri = config.issuer + CALLBACK

    async def start(self) -> ProviderLogin:
        """Return a new login.

        Raises:
            LoginFailedError: the provider cannot be reached.
        """
        nonce = token_urlsafe(16)
        wanted = " ".join(self._settings.scopes or self._scopes)
        fields = {"nonce": nonce, **({"scope": wanted} if wanted else {}), **self._settings.parameters}
        async with self._requests.opened() as requests:
            server = await self._server(requests)
        request = authorization_request(server, self._client.client_id, self._redirect_uri, token_urlsafe(24), fields)
        return ProviderLogin(request.url, request.state, request.verifier, nonce)

    @property
    def _scopes(self) -> tuple[str, ...]:
        """The scopes for the identity of a person."""
        if not self._settings.is_github:
            return OPENID_SCOPES
        return GITHUB_SCOPES if self._config.known_groups else ()

    async def finish(self, login: ProviderLogin, response: Mapping[str, str]) -> Person:
        """Return the person of a response.

        Raises:
            ServerUnavailableError: the provider fails at present.
            LoginFailedError: the response is of another provider, or the login was refused.
        """
        async with self._requests.opened() as requests:
            try:
                server = await self._server(requests)
            except LoginFailedError as error:
                raise ServerUnavailableError(str(error)) from None
            request = AuthorizationRequest(login.url, login.state, login.verifier, self._redirect_uri, server)
            form = {
                "grant_type": "authorization_code",
                "code": received_code(request, response),
                "redirect_uri": self._redirect_uri,
                "code_verifier": login.verifier,
            }
            headers, own = credentials(at_server(self._client, server), server.issuer)
            status, document = await requests.post_form(server.token_endpoint, {**form, **own}, headers)
            if is_outage(status) or document is None:
                raise ServerUnavailableError(f"{server.token_endpoint} sent no tokens, but status {status}")
            token = document.get("access_token")
            if status != 200 or not isinstance(token, str) or not token.isascii():
                raise LoginFailedError(f"the provider refuses the code: {oauth_error(document) or status}")
            if self._settings.is_github:
                return await self._github_person(requests, token)
            return await self._openid_person(requests, server, document, login.nonce)

    async def _openid_person(
        self, requests: JsonRequests, server: ServerMetadata, document: Mapping[str, Any], nonce: str
    ) -> Person:
        token = document.get("id_token")
        claims = await id_token_claims(requests, server, self._client.client_id, nonce, token)
        documents = [claims]
        if server.userinfo_endpoint:
            headers = {"Authorization": f"Bearer {document['access_token']}"}
            more = await _document(requests, server.userinfo_endpoint, headers)
            if more.get("sub") == claims["sub"]:  # OpenID Connect Core, section 5.3.2
                documents.append(more)
                claims = {**more, **claims}
        subject = claims.get(self._settings.subject_claim)
        if not _is_subject(subject):
            raise LoginFailedError(f"the provider sent no valid claim {self._settings.subject_claim}")
        email = _verified_address(documents)
        domain_claim = _DOMAIN_CLAIMS.get(self._settings.issuer)
        domain = str(claims.get(domain_claim, "")) if domain_claim else email.rpartition("@")[2]
        groups = claims.get(self._settings.groups_claim)
        return Person(
            subject=subject,
            login=subject,
            email=email,
            domain=domain.lower(),
            groups=self._known(groups if isinstance(groups, list) else []),
            name=str(claims.get("name") or claims.get("preferred_username") or "")[:MAX_PERSON_NAME_CHARACTERS],
        )

    async def _github_person(self, requests: JsonRequests, token: str) -> Person:
        url = self._settings.issuer
        api = "https://api.github.com" if url == GITHUB else f"{url}/api/v3"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        user = await _document(requests, f"{api}/user", headers)
        login = user.get("login")
        if not isinstance(login, str) or not isinstance(user.get("id"), int):
            raise LoginFailedError("GitHub sent no user")
        groups = []
        for group in self._config.known_groups:
            organization, _, team = group.partition("/")
            of_team = f"/orgs/{organization}/teams/{team}/memberships/{login}"
            path = of_team if team else f"/user/memberships/orgs/{organization}"
            if (await _document(requests, api + path, headers)).get("state") == "active":
                groups.append(group)
        name = str(user.get("name") or login)
        return Person(subject=str(user["id"]), login=login.lower(), groups=tuple(groups), name=name)

    def _known(self, groups: list[Any]) -> tuple[str, ...]:
        """Return the groups that the settings name. The others are not kept."""
        return tuple(group for group in self._config.known_groups if group in groups)

    async def _server(self, requests: JsonRequests) -> ServerMetadata:
        if self._metadata is None:
            url = self._settings.issuer
            if self._settings.is_github:
                base = f"{url}/login/oauth"
                metadata = ServerMetadata(base, f"{base}/access_token", f"{base}/authorize")
            else:
                metadata = await find_server(requests, url)
            # some providers support PKCE without naming it; others ignore its parameters
            self._metadata = metadata._replace(challenge_methods=("S256",))
        return self._metadata


async def _document(requests: JsonRequests, url: str, headers: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the JSON object at a URL, empty if the provider refuses it.

    Raises:
        ServerUnavailableError: the provider fails at present.
    """
    status, document = await requests.get_with_status(url, headers)
    if is_outage(status):
        raise ServerUnavailableError(f"{url} returned status {status}")
    return document if status == 200 and document is not None else {}


def _is_subject(claim: object) -> TypeGuard[str]:
    return isinstance(claim, str) and 0 < len(claim) <= MAX_SUBJECT_CHARACTERS and claim.isprintable()


def _verified_address(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return the verified email address of the first document with both claims. They must be in one document."""
    both = ("email", "email_verified")
    claims: Mapping[str, Any] = next((each for each in documents if all(name in each for name in both)), {})
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email or not email.isprintable():
        return ""
    return email.lower() if claims.get("email_verified") is True else ""
