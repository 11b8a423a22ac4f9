"""Discovery: the metadata of an MCP server (RFC 9728) and of its authorization server (RFC 8414, OpenID Connect)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pegboard_client.challenges import valid_scopes
from pegboard_client.http_auth import origin
from pegboard_client.oauth.json_requests import JsonRequests, LoginFailedError, canonical, origin_of
from pegboard_client.oauth.refusals import excerpt


class ResourceMetadata(NamedTuple):
    """The metadata of an MCP server.

    Attributes:
        resource: the resource identifier, for the parameter `resource` (RFC 8707).
        issuers: the identifiers of its authorization servers.
        scopes: the scopes for basic use; empty if the server does not name them.
    """

    resource: str
    issuers: tuple[str, ...]
    scopes: tuple[str, ...] = ()


class ServerMetadata(NamedTuple):
    """The metadata of an authorization server.

    Attributes:
        issuer: its identifier.
        token_endpoint: the URL for tokens.
        authorization_endpoint: the URL for the person's browser; "" if it has none.
        registration_endpoint: the URL for client registration; "" if it has none.
        revocation_endpoint: the URL for token revocation (RFC 7009); "" if it has none.
        device_endpoint: the URL for device authorization (RFC 8628); "" if it has none.
        userinfo_endpoint: the URL for claims about the person (OpenID Connect); "" if it has none.
        jwks_uri: the URL of its keys; "" if it has none.
        scopes: the scopes that it names.
        grant_types: the grants that it supports; empty if it does not name them.
        auth_methods: the ways to authenticate a client at the token endpoint; empty if it does not name them.
        challenge_methods: its PKCE methods.
        reads_client_metadata: True if a URL can be a client id (client id metadata document).
        sends_issuer: True if each authorization response has the parameter `iss` (RFC 9207).
    """

    issuer: str
    token_endpoint: str
    authorization_endpoint: str = ""
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    device_endpoint: str = ""
    userinfo_endpoint: str = ""
    jwks_uri: str = ""
    scopes: tuple[str, ...] = ()
    grant_types: tuple[str, ...] = ()
    auth_methods: tuple[str, ...] = ()
    challenge_methods: tuple[str, ...] = ()
    reads_client_metadata: bool = False
    sends_issuer: bool = False


async def find_resource(requests: JsonRequests, url: str, named: str | None) -> ResourceMetadata:
    """Return the metadata of an MCP server.

    A server without metadata is its own authorization server, as in revision 2025-03-26.

    Args:
        requests: sends the requests.
        url: the URL of the server.
        named: the address of the metadata in the challenge of the server.

    Raises:
        LoginFailedError: the metadata is invalid, or belongs to another server.
    """
    if named is not None and origin_of(named) != origin_of(url):
        wrong = excerpt(named)
        raise LoginFailedError(
            f"the metadata address '{wrong}' belongs to another server: it must have the origin {origin(url)}."
        )
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    base = f"{root}/.well-known/oauth-protected-resource"
    for address in dict.fromkeys([*([named] if named else []), base + parts.path.rstrip("/"), base]):
        if (document := await requests.get(address)) is not None:
            return _resource_metadata(document, address, url)
    return ResourceMetadata(canonical(url), (root,))


def _resource_metadata(document: Mapping[str, Any], address: str, url: str) -> ResourceMetadata:
    resource, issuers = document.get("resource"), _texts(document, "authorization_servers")
    if not isinstance(resource, str) or not _covers(resource, url):
        wrong = excerpt(resource)
        right = canonical(url).partition("?")[0]  # the query may have a key
        raise LoginFailedError(f"{address} has metadata of another server: '{wrong}' instead of '{right}'.")
    if not issuers:
        raise LoginFailedError(f"{address} names no authorization server.")
    return ResourceMetadata(resource, issuers, valid_scopes(_texts(document, "scopes_supported")))


def _covers(resource: str, url: str) -> bool:
    """Return True if a resource identifier equals a URL or one of its parent paths."""
    if origin_of(resource) is None or origin_of(resource) != origin_of(url):
        return False
    covering, wanted = urlsplit(resource), urlsplit(url)
    if covering.query and covering.query != wanted.query:
        return False
    return f"{wanted.path}/".startswith(f"{covering.path.rstrip('/')}/")


async def find_server(requests: JsonRequests, issuer: str) -> ServerMetadata:
    """Return the metadata of an authorization server.

    Raises:
        LoginFailedError: there is no metadata, or it is invalid.
    """
    requests.check(issuer)
    for address in _server_addresses(issuer):
        if (document := await requests.get(address)) is not None:
            return _server_metadata(document, address, issuer)
    raise LoginFailedError(f"the authorization server {issuer} has no metadata (RFC 8414, OpenID Connect Discovery).")


def _server_addresses(issuer: str) -> Iterator[str]:
    """Return the addresses in the order of the specification."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}/.well-known", parts.path.rstrip("/")
    yield f"{root}/oauth-authorization-server{path}"
    yield f"{root}/openid-configuration{path}"
    if path:
        yield f"{issuer.rstrip('/')}/.well-known/openid-configuration"


def _server_metadata(document: Mapping[str, Any], address: str, issuer: str) -> ServerMetadata:
    if document.get("issuer") != issuer:  # RFC 8414, section 3.3
        wrong = excerpt(document.get("issuer"))
        raise LoginFailedError(f"{address} has metadata of another issuer: '{wrong}', not '{issuer}'.")
    token_endpoint = _text(document, "token_endpoint")
    if not token_endpoint:
        raise LoginFailedError(f"{address} names no token endpoint.")
    return ServerMetadata(
        issuer=issuer,
        token_endpoint=token_endpoint,
        authorization_endpoint=_text(document, "authorization_endpoint"),
        registration_endpoint=_text(document, "registration_endpoint"),
        revocation_endpoint=_text(document, "revocation_endpoint"),
        device_endpoint=_text(document, "device_authorization_endpoint"),
        userinfo_endpoint=_text(document, "userinfo_endpoint"),
        jwks_uri=_text(document, "jwks_uri"),
        scopes=valid_scopes(_texts(document, "scopes_supported")),
        grant_types=_texts(document, "grant_types_supported"),
        auth_methods=_texts(document, "token_endpoint_auth_methods_supported"),
        challenge_methods=_texts(document, "code_challenge_methods_supported"),
        reads_client_metadata=document.get("client_id_metadata_document_supported") is True,
        sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = document.get(name)
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
