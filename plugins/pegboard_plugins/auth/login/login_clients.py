"""The client programs: dynamic registration (RFC 7591) and client id metadata documents.

A registration is not stored: the client id is a signed token with the registration. Many registrations use no memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from time import time
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from pegboard.plugin import ProtocolContext, decode, encode
from pegboard.types import Request, Response
from pegboard_client import AiohttpExchange, HttpExchange, JsonRequests, LoginFailedError, names_this_machine
from pegboard_plugins.auth.login.login_signing import CLIENT_KIND, LoginSigner
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.support.fair_limit import FairLimit, peer_network
from pegboard_plugins.support.latest_entries import LatestEntries

MAX_REDIRECT_URIS = 10
MAX_REDIRECT_URI_CHARACTERS = 500
MAX_CLIENT_NAME_CHARACTERS = 60
MAX_ID_CHARACTERS = 2000
"""The limit of the client id of a registration, which is in the URLs of logins."""
MAX_DOCUMENT_SECONDS = 5.0
"""The limit of the time for a client id metadata document."""
MAX_DOCUMENT_AGE_SECONDS = 300.0
MAX_DOCUMENTS = 100
"""The limit of the documents that are kept."""
MAX_CONCURRENT_DOCUMENTS = 20
"""The limit of the documents that are fetched at the same time."""
MAX_CONCURRENT_DOCUMENTS_PER_PEER = 4
"""The limit of those that one peer causes. Slow documents of a peer do not stop the logins of others."""


class ClientRefusedError(Exception):
    """A client cannot be used.

    Args:
        problem: the problem, for the developer of the client.
        code: the error code of a registration (RFC 7591, section 3.2.2).
    """

    def __init__(self, problem: str, code: str = "invalid_client_metadata") -> None:
        super().__init__(problem)
        self.code = code


class LoginClient(NamedTuple):
    """A client program.

    Attributes:
        id: its client id.
        name: the name that it gives itself; "" for none. It may be invented.
        redirect_uris: its redirect URIs.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]

    def accepts(self, redirect_uri: str) -> bool:
        """Return True if the client has a redirect URI.

        The port of a loopback URI may differ (RFC 8252, section 7.3).
        """
        return _split(redirect_uri) is not None and any(
            uri == redirect_uri or _without_loopback_port(uri) == _without_loopback_port(redirect_uri)
            for uri in self.redirect_uris
        )


class LoginClients:
    """All clients.

    Args:
        config: the plugin's settings.
        signer: signs the registrations.
        exchange: fetches documents; None for requests to public addresses only.
    """

    def __init__(self, config: LoginConfig, signer: LoginSigner, exchange: HttpExchange | None = None) -> None:
        self._config = config
        self._signer = signer
        self._exchange = exchange
        self._documents: LatestEntries[str, tuple[float, LoginClient]] = LatestEntries(MAX_DOCUMENTS)
        self._fetches = FairLimit(MAX_CONCURRENT_DOCUMENTS, MAX_CONCURRENT_DOCUMENTS_PER_PEER)

    async def find(self, client_id: str, peer: str) -> LoginClient:
        """Return the client of an id.

        Args:
            client_id: the id.
            peer: the address of the browser, for limits.

        Raises:
            ClientRefusedError: there is no such client, or its document is invalid.
        """
        if names_document(client_id) and self._config.client_metadata_documents:
            return await self._documented(client_id, peer_network(peer))
        claims = self._signer.read(CLIENT_KIND, client_id)
        if claims is None:
            raise ClientRefusedError("the client is not registered here: remove its saved registration")
        return LoginClient(client_id, claims["name"], tuple(filter(self._allows, claims["uris"])))

    def knows(self, client_id: str) -> bool:
        """Return True if a client id is a registration, or may be the URL of a metadata document."""
        return names_document(client_id) or self._signer.read(CLIENT_KIND, client_id) is not None

    async def register(self, request: Request, host: ProtocolContext) -> Response:
        """Register a client."""
        try:
            document = decode(request.body)
        except ValueError:
            document = None
        try:
            if not isinstance(document, dict):
                raise ClientRefusedError("the registration must be a JSON object")
            name, uris = self._metadata(document)
        except ClientRefusedError as error:
            return _refusal(error)
        client_id = self._signer.sign(CLIENT_KIND, {"name": name, "uris": uris})
        if len(client_id) > MAX_ID_CHARACTERS:
            return _refusal(ClientRefusedError("the redirect URIs are too long together", "invalid_redirect_uri"))
        registered = {
            "client_id": client_id,
            "client_id_issued_at": int(time()),
            "client_name": name,
            "redirect_uris": uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        return Response(201, encode(registered), headers={"Cache-Control": "no-store"})

    async def _documented(self, url: str, peer: str) -> LoginClient:
        until, cached = self._documents.get(url, (0.0, None))
        if cached is not None and until > time():
            return cached
        parts = _split(url)
        if parts is None or len(url) > MAX_REDIRECT_URI_CHARACTERS or not _is_plain(parts):
            raise ClientRefusedError("the client id must be the https URL of a document, without query and fragment")
        try:
            async with asyncio.timeout(MAX_DOCUMENT_SECONDS), self._fetches.place(peer):
                document = await self._fetch(url)
        except (LoginFailedError, TimeoutError):
            raise ClientRefusedError(f"the document {url} cannot be fetched") from None
        if document is None or document.get("client_id") != url:
            raise ClientRefusedError(f"the document {url} is not the metadata of this client")
        if document.get("token_endpoint_auth_method", "none") != "none":
            raise ClientRefusedError("the client must be public: set its token_endpoint_auth_method to none")
        name, uris = self._metadata(document)
        if not name:
            raise ClientRefusedError(f"the document {url} has no client_name")
        client = LoginClient(url, name, tuple(uris))
        self._documents.keep(url, (time() + MAX_DOCUMENT_AGE_SECONDS, client))
        return client

    async def _fetch(self, url: str) -> dict[str, Any] | None:
        exchange = self._exchange or AiohttpExchange(public_only=True)
        try:
            return await JsonRequests(exchange, allows_loopback=False).get(url)
        finally:
            if self._exchange is None:
                await exchange.close()

    def _metadata(self, document: Mapping[str, Any]) -> tuple[str, list[str]]:
        """Return the name and the redirect URIs of client metadata."""
        uris, name = document.get("redirect_uris"), document.get("client_name", "")
        if not isinstance(uris, list) or not 0 < len(uris) <= MAX_REDIRECT_URIS:
            problem = f"redirect_uris must be a list of 1 to {MAX_REDIRECT_URIS}"
            raise ClientRefusedError(problem, "invalid_redirect_uri")
        if not all(isinstance(uri, str) and self._allows(uri) for uri in uris):
            problem = "a redirect URI must use https, http to this machine, or a scheme of redirect_schemes"
            raise ClientRefusedError(problem, "invalid_redirect_uri")
        for member, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
            values = document.get(member, [needed])
            if not isinstance(values, list) or needed not in values:
                raise ClientRefusedError(f"{member} must contain {needed}")
        if not isinstance(name, str):
            raise ClientRefusedError("client_name must be a string")
        shown = "".join(character for character in " ".join(name.split()) if character.isprintable())
        return shown[:MAX_CLIENT_NAME_CHARACTERS], uris

    def _allows(self, uri: str) -> bool:
        """Return True if a code may be sent to a URI. Others could read it on the way to any other URI."""
        parts = _split(uri)
        if parts is None or len(uri) > MAX_REDIRECT_URI_CHARACTERS:
            return False
        if parts.scheme in ("http", "https"):
            return bool(parts.hostname) and (parts.scheme == "https" or names_loopback(uri))
        return parts.scheme in self._config.redirect_schemes


def _refusal(error: ClientRefusedError) -> Response:
    refused = {"error": error.code, "error_description": str(error)}
    return Response(400, encode(refused), headers={"Cache-Control": "no-store"})


def names_document(client_id: str) -> bool:
    """Return True if a client id is the URL of a metadata document, not a registration."""
    return client_id.startswith("https://")


def client_label(client_id: str) -> str:
    """Return the short name of a client for grants, tokens and logs: its URL, or a digest of its registration."""
    return client_id if names_document(client_id) else sha256(client_id.encode()).hexdigest()[:32]


def names_loopback(redirect_uri: str) -> bool:
    """Return True if a redirect URI leads to a web server on the person's machine."""
    return urlsplit(redirect_uri).scheme in ("http", "https") and names_this_machine(redirect_uri)


def _split(uri: str) -> SplitResult | None:
    """Return the parts of a URI, or None if it is invalid or has a user or a fragment."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    plain = uri.isascii() and uri.isprintable() and not any(character in uri for character in ' "\\<>#')
    return parts if plain and "@" not in parts.netloc else None


def _is_plain(parts: SplitResult) -> bool:
    """Return True if the URL of a document has a path without dots as segments, and no query."""
    segments = parts.path.split("/")
    return len(parts.path) > 1 and not parts.query and "." not in segments and ".." not in segments


def _without_loopback_port(uri: str) -> str:
    parts = urlsplit(uri)
    if not names_loopback(uri):
        return uri
    return parts._replace(netloc=f"[{parts.hostname}]").geturl()
