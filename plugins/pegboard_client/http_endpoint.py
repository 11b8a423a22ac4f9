"""Single HTTP requests to the endpoint of a server: credentials, redirects and statuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any
from urllib.parse import urljoin, urlsplit

from pegboard.errors import TransportError
from pegboard_client.addresses import ClientLimits, Endpoint
from pegboard_client.challenges import demands_login, login_required
from pegboard_client.client_errors import ConnectionLostError, HttpStatusError
from pegboard_client.http_exchange import HttpExchange, HttpReply
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.json_reading import read_json
from pegboard_client.oauth.refusals import excerpt

MIN_SECRET_CHARACTERS = 6
"""The minimum length of a value that is masked in the reason of a server."""
_POST_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_GET_HEADERS = {"Accept": "text/event-stream"}


class HttpEndpoint:
    """The endpoint of a server.

    Args:
        endpoint: its address.
        exchange: sends the requests.
        limits: the limits.

    Attributes:
        label: the name of the server in messages.
    """

    def __init__(self, endpoint: Endpoint, exchange: HttpExchange, limits: ClientLimits) -> None:
        self.label = endpoint.label
        self.message_bytes = limits.message_bytes
        self._url = self._server = endpoint.url
        self._auth = endpoint.auth
        self._exchange = exchange
        self._accepted = asyncio.Event()
        self._post = {**_POST_HEADERS, **endpoint.headers}
        self._get = {**_GET_HEADERS, **endpoint.headers}

    @asynccontextmanager
    async def open(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        flight: InFlight | None = None,
        *,
        may_log_in: bool = True,
    ) -> AsyncIterator[HttpReply]:
        """Send one request. Repeat it after a login, and after a redirect to the same origin.

        Args:
            method: the HTTP method.
            headers: further headers.
            body: the body.
            flight: the request. Its time limit is paused during a login.
            may_log_in: False to fail if the server requires a login.

        Raises:
            TransportError: the server cannot be reached, redirects to another origin, or compresses its response.
            LoginRequiredError: the server requires a login.
        """
        logins = redirects = 0
        while True:
            sent = {**(self._post if method == "POST" else self._get), **headers}
            if self._auth is not None:
                sent.update(await self._auth.headers(self._server))
            try:
                async with self._exchange(method, self._url, sent, body) as reply:
                    if reply.status in (401, 403):
                        if await self._repeats(reply, sent, flight, may_log_in=may_log_in and not logins):
                            logins += 1
                            continue
                    elif reply.status in (301, 302, 303):
                        raise _redirects_to(self._target(reply))
                    elif reply.status in (307, 308) and redirects < 2:
                        redirects += 1
                        self._follow(reply)
                        continue
                    _refuse_compression(reply)
                    if method == "POST" and reply.status < 300:
                        self._accepted.set()
                    yield reply
                    return
            except TransportError as error:
                if not error.message.startswith(self.label):
                    error.args = (f"{self.label}: {error.message}",)
                _add_reason(error, sent)
                raise

    async def accepts(self) -> None:
        """Wait until the server accepts a later request of this client, with the credentials of that time."""
        self._accepted.clear()
        await self._accepted.wait()

    async def whole_message(self, reply: HttpReply, flight: InFlight | None = None) -> Message:
        """Return the JSON-RPC message that is the body of a response.

        Args:
            reply: the response.
            flight: the request that the message must answer; None for a notification or a response of the client.

        Raises:
            ConnectionLostError: the body is too large, is not a message, or answers another request.
            HttpStatusError: the status is an error, and the body is not a JSON-RPC error.
        """
        message: Any = None
        if content_type(reply) == "application/json":
            parts: list[bytes] = []
            size = 0
            async for chunk in reply.chunks:
                parts.append(chunk)
                size += len(chunk)
                if size > self.message_bytes:
                    raise ConnectionLostError(f"the server sent a message of more than {self.message_bytes} bytes")
            try:
                message = read_json(parts[0] if len(parts) == 1 else b"".join(parts))
            except ValueError:
                if reply.status == 200:
                    raise ConnectionLostError("the response is not JSON") from None
        if isinstance(message, dict) and (reply.status == 200 or isinstance(message.get("error"), dict)):
            if flight is not None and not _answers(message, flight):
                raise ConnectionLostError("the response has the id of another request")
            return message
        if reply.status == 200:
            raise ConnectionLostError(
                f"the response is not a JSON-RPC message ({content_type(reply)[:100] or 'no type'})"
            )
        error = HttpStatusError(f"the server responded with HTTP status {reply.status}")
        error.status, error.reason = reply.status, await _reason(reply)
        raise error

    async def _repeats(
        self, reply: HttpReply, sent: Mapping[str, str], flight: InFlight | None, *, may_log_in: bool
    ) -> bool:
        """Return True if the request, with the headers that were sent, can be repeated after a login.

        Raises:
            LoginRequiredError: the server requires a login, and the client has none.
        """
        if not demands_login(reply.status, reply.headers):
            return False
        if self._auth is not None and may_log_in:
            with nullcontext() if flight is None else flight.paused():
                if await self._auth.challenged(self._server, reply.status, reply.headers):
                    return True
        own = next((value for name, value in sent.items() if name.lower() == "authorization"), "")
        raise login_required(self._url, reply.headers, sent=own)

    def _follow(self, reply: HttpReply) -> None:
        """Send requests to the target of a redirect from now on."""
        url = self._target(reply)
        if urlsplit(url)[:2] != urlsplit(self._url)[:2]:
            raise _redirects_to(url)
        if url.rstrip("/") != self._server.rstrip("/"):  # with a slash it is the same server, with the same login
            self._server = url
        self._url = url

    def _target(self, reply: HttpReply) -> str:
        try:
            url = urljoin(self._url, reply.headers.get("location", ""))
            urlsplit(url)
        except ValueError:
            raise TransportError("the server redirects to an invalid address") from None
        return url


async def _reason(reply: HttpReply) -> str:
    """Return the first line of the text of a server that fails, or ""."""
    if reply.status < 500 or content_type(reply) != "text/plain":
        return ""
    first = (await anext(reply.chunks, b"")).partition(b"\n")[0]
    return first.decode(errors="replace").strip()


def _add_reason(error: TransportError, sent: Mapping[str, str]) -> None:
    """Add the reason of the server to a message, without values of the headers that were sent, such as tokens."""
    if not isinstance(error, HttpStatusError) or not error.reason:
        return
    for value in sent.values():
        secret = value.rpartition(" ")[2]
        if len(secret) >= MIN_SECRET_CHARACTERS:
            error.reason = error.reason.replace(secret, "...")
    error.reason = excerpt(error.reason)
    error.args = (f"{error.message}: {error.reason}",)


def _redirects_to(url: str) -> TransportError:
    return TransportError(f"the server redirects to {Endpoint(url).label}; if you trust it, use that URL")


def _answers(message: Message, flight: InFlight) -> bool:
    """Return True if a response has the id of a request. Ids of the client are integers.

    Some servers send an error with another kind of id if they have not read the request.
    """
    message_id = message.get("id")
    return message_id == flight.id if type(message_id) is int else "error" in message


def _refuse_compression(reply: HttpReply) -> None:
    encoding = reply.headers.get("content-encoding", "identity").lower()
    if encoding != "identity" and reply.status == 200:
        raise ConnectionLostError(f"the server compressed the response ({encoding[:100]}), which the request forbids")


def content_type(reply: HttpReply) -> str:
    """Return the media type of a body, without parameters."""
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_stream(reply: HttpReply) -> bool:
    """Return True if a response is a stream of events."""
    return reply.status == 200 and content_type(reply) == "text/event-stream"
