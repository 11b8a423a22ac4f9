"""JSON documents of authorization servers, fetched with limits of size and time. Redirects are not followed.

Nothing is cached here; `keys.py` and `introspection.py` do that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from pegboard_plugins.auth.resource_server.conversions import is_on_this_machine, url_problem
from pegboard_plugins.auth.resource_server.settings import AuthorizationServer

NOTHING: Mapping[str, str] = MappingProxyType({})
MAX_DOCUMENT_BYTES = 256 * 1024
"""The maximum size of a document."""


_OWN_KEYS = {"jwks_uri": "jwks_uri", "introspection_endpoint": "introspection.url"}
"""The settings of a server that replace a URL of its metadata."""
_MAX_SHOWN_CHARACTERS = 200


class FetchError(Exception):
    """A document cannot be fetched or used. The message is for the operator.

    Args:
        message: the problem.
        fix: the setting that the operator may change.
    """

    def __init__(self, message: str, fix: str = "check the address, and the network of this machine") -> None:
        super().__init__(message)
        self.fix = fix


async def fetch_keys(server: AuthorizationServer, seconds: float) -> list[Any]:
    """Return the members of a server's key set (RFC 7517, section 5), unchecked.

    Args:
        server: the authorization server.
        seconds: the time limit for all requests.

    Raises:
        FetchError: no key set was found in time.
    """
    try:
        async with asyncio.timeout(seconds):
            uri = server.jwks_uri or await discover(server.issuer, "jwks_uri")
            document = await fetch(uri)
    except TimeoutError:
        raise late(seconds) from None
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise FetchError(f"{uri} is not a key set", "set jwks_uri to the key set of the server")
    return keys


def late(seconds: float) -> FetchError:
    """Return the error of a server that has not responded in time."""
    return FetchError(
        f"no response within {seconds:g} seconds", "check the network of this machine, or raise fetch_seconds"
    )


async def discover(issuer: str, member: str) -> str:
    """Return a URL from a server's metadata (RFC 8414, section 3; OpenID Connect Discovery, section 4).

    Args:
        issuer: the issuer.
        member: the name of the URL in the metadata.

    Raises:
        FetchError: the metadata has no such URL, or an unsafe one.
    """
    problems, fix = [], f"correct issuer, check the network, or set {_OWN_KEYS[member]} if there is no metadata"
    for url in _metadata_urls(issuer):
        try:
            document = await fetch(url)
        except FetchError as error:
            problems.append(str(error))
            continue
        try:
            return _named_url(document, url, issuer, member)
        except FetchError as error:
            problems.append(str(error))
            fix = error.fix
    raise FetchError("; ".join(problems), fix)


def _named_url(document: Any, url: str, issuer: str, member: str) -> str:
    """Return a URL from the metadata at `url`, or raise a `FetchError` if it is unsafe to use."""
    found = document.get("issuer") if isinstance(document, dict) else None
    if found != issuer:
        name = f": {found[:_MAX_SHOWN_CHARACTERS]!r}" if isinstance(found, str) else ""
        raise FetchError(f"{url} is the metadata of another issuer{name}", "set issuer exactly as in its metadata")
    uri = document.get(member)
    if not isinstance(uri, str) or not _may_point_to(issuer, uri):
        raise FetchError(f"{url} has no {member} that is safe to use", f"set {_OWN_KEYS[member]}")
    return uri


def _metadata_urls(issuer: str) -> list[str]:
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    urls = [f"{origin}/.well-known/{name}{path}" for name in ("oauth-authorization-server", "openid-configuration")]
    return [*urls, f"{origin}{path}/.well-known/openid-configuration"] if path else urls


def _may_point_to(issuer: str, uri: str) -> bool:
    """Return True if a server may name this URL. Only servers on this machine may name URLs on this machine."""
    return url_problem(uri.partition("?")[0]) is None and (is_on_this_machine(issuer) or not is_on_this_machine(uri))


async def fetch(url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] = NOTHING) -> Any:
    """Return a JSON document. Redirects are not followed.

    Args:
        url: the URL.
        form: the form to post; None for a GET request.
        headers: additional headers.

    Raises:
        FetchError: the document cannot be fetched. The message contains nothing of form, headers or document.
    """
    import aiohttp

    plain = {"Accept": "application/json", "Accept-Encoding": "identity", **headers}
    method = "GET" if form is None else "POST"
    try:
        async with (
            aiohttp.ClientSession(headers=plain, auto_decompress=False) as session,
            session.request(method, url, data=form, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise FetchError(f"{url} returned status {response.status}")
            body = b""
            async for chunk in response.content.iter_chunked(MAX_DOCUMENT_BYTES):
                body += chunk
                if len(body) > MAX_DOCUMENT_BYTES:
                    raise FetchError(f"{url} is larger than {MAX_DOCUMENT_BYTES // 1024} KiB")
        return json.loads(body)
    except (aiohttp.ClientError, OSError) as error:
        raise FetchError(f"{url} cannot be reached: {type(error).__name__}") from None
    except (ValueError, RecursionError):
        raise FetchError(f"{url} is not JSON") from None
