"""The end of a login in the browser: a redirect to this machine (RFC 8252, section 7.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from hmac import compare_digest
from http import HTTPStatus
from typing import Protocol
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pegboard.types.http import Response
from pegboard_client.http_auth import origin
from pegboard_client.oauth.browser_pages import foreign_page, message_page
from pegboard_client.oauth.json_requests import names_this_machine

MAX_HEAD_BYTES = 16 * 1024
"""The limit of the head of a request."""
MAX_HEAD_SECONDS = 10.0
"""The time limit for reading the head of a request."""
MAX_REDIRECT_PARAMETERS = 32
"""The limit of the parameters of a response."""


class RedirectReceiver(Protocol):
    """Receives the authorization response. `OAuth` uses one receiver for one login at a time."""

    async def start(self, state: str, earlier: str, issuer: str) -> str:
        """Start to receive, and return the redirect URI.

        Args:
            state: the parameter `state` of the response. Other responses are ignored.
            earlier: the redirect URI of an earlier login, to use again if possible; "" if there is none.
            issuer: the last segment of a redirect URI for one authorization server only. Responses at another address
                are ignored, because they may come from another server (RFC 9700, section 4.4). "" if the redirect URI
                of the client is fixed.

        Raises:
            OSError: responses cannot be received. The message is for the person.
        """

    async def receive(self) -> Mapping[str, str]:
        """Wait for the response, and return its parameters."""

    async def close(self) -> None:
        """Stop receiving."""


class LoopbackRedirect:
    """A receiver on a free port of this machine.

    Args:
        redirect_uri: the redirect URI for a client that is registered with one, such as "http://127.0.0.1:3000/callback".

    Raises:
        ValueError: `redirect_uri` is not an http URL of this machine with a port.
    """

    def __init__(self, redirect_uri: str = "") -> None:
        if redirect_uri and not (redirect_uri.startswith("http://") and names_this_machine(redirect_uri)):
            raise ValueError("the redirect URI must begin with http:// and a name of this machine")
        if redirect_uri and urlsplit(redirect_uri).port is None:
            raise ValueError("the redirect URI must have a port, such as http://127.0.0.1:3000/callback")
        self._fixed = redirect_uri
        self._server: asyncio.Server | None = None
        self._path = "/callback"
        self._origin = ""
        self._state = ""
        self._received: asyncio.Future[Mapping[str, str]] | None = None

    async def start(self, state: str, earlier: str, issuer: str) -> str:
        """Listen. Without a fixed redirect URI, use the port of an earlier login if it is free."""
        self._received = asyncio.get_running_loop().create_future()
        self._state = state
        for wanted in dict.fromkeys([self._fixed] if self._fixed else [earlier, ""]):
            parts = urlsplit(wanted)
            try:
                self._server = await asyncio.start_server(
                    self._serve, parts.hostname or "127.0.0.1", parts.port or 0, limit=MAX_HEAD_BYTES
                )
            except OSError:
                continue
            self._path = (parts.path or "/") if self._fixed else "/callback" + (issuer and f"/{issuer}")
            port: int = self._server.sockets[0].getsockname()[1]
            self._origin = origin(self._fixed) if self._fixed else f"http://127.0.0.1:{port}"
            return self._fixed or self._origin + self._path
        raise OSError(f"the port of {self._fixed or '127.0.0.1'} cannot be opened: another program uses it.")

    def paste(self, url: str) -> bool:
        """Take the address of the last page, from a person whose browser cannot reach this machine.

        Return False if it is not the response of this login.
        """
        return self._accept(urlsplit(url))

    async def receive(self) -> Mapping[str, str]:
        """Wait for the browser."""
        assert self._received is not None
        return await self._received

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(MAX_HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            line, *fields = head.decode("latin-1").split("\r\n")
            page = foreign_page(self._origin, _values(fields, "host"), _values(fields, "origin"))
            writer.write(_response(page or message_page(*self._handle(line))))
            await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser
        finally:
            writer.close()

    def _handle(self, line: str) -> tuple[HTTPStatus, str]:
        """Return the status and the text of the page for a request line."""
        method, _, rest = line.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        if method != "GET" or target.path != self._path:
            return HTTPStatus.NOT_FOUND, "There is no such page"
        if not self._accept(target):
            return HTTPStatus.BAD_REQUEST, "This page belongs to no login that waits"
        return HTTPStatus.OK, "The login continues in the program that started it. You can close this page"

    def _accept(self, target: SplitResult) -> bool:
        try:
            pairs = parse_qsl(target.query, keep_blank_values=True, max_num_fields=MAX_REDIRECT_PARAMETERS)
        except ValueError:
            return False
        fields = dict(pairs)
        is_ours = compare_digest(fields.get("state", "").encode(), self._state.encode())
        if not is_ours or target.path != self._path or len(fields) != len(pairs) or self._received is None:
            return False
        if not self._received.done():
            self._received.set_result(fields)
        return True


def _values(fields: Sequence[str], wanted: str) -> list[str]:
    """Return the values of the header fields with a name in small letters."""
    pairs = (field.partition(":") for field in fields)
    return [value.strip() for name, _, value in pairs if name.lower() == wanted]


def _response(page: Response) -> bytes:
    """Return a page as a whole response."""
    own = {"Content-Type": page.content_type, "Content-Length": str(len(page.body)), "Connection": "close"}
    fields = "".join(f"{name}: {value}\r\n" for name, value in {**own, **page.headers}.items())
    status = HTTPStatus(page.status)
    return f"HTTP/1.1 {status} {status.phrase}\r\n{fields}\r\n".encode() + page.body
