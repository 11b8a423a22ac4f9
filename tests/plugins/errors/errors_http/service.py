"""A loopback server with prepared responses, and tools that request it with one library each."""

from __future__ import annotations

import socket
import socketserver
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Self

import aiohttp
import httpx
import httpx2
import requests
import urllib3

CANARY = "canary-5d0c"
"""A secret in queries, headers and bodies. Callers must not see it."""
SENT = {"Authorization": f"Bearer {CANARY}"}
MAX_SECONDS = 10.0


def answer(status: int, headers: Mapping[str, str] | None = None, body: bytes = CANARY.encode()) -> bytes:
    """Return a response with the canary in its reason phrase, a header and its body."""
    fields = {"Content-Length": str(len(body)), "X-Canary": CANARY, "Connection": "close", **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {CANARY}\r\n{lines}\r\n".encode() + body


class Service:
    """A server on a free port.

    Attributes:
        answers: the response by path; other paths get none.
        held: paths whose connections stay open.
    """

    def __init__(self) -> None:
        service = self
        self.answers: dict[str, bytes] = {}
        self.held: set[str] = set()
        self._done = threading.Event()

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                if self.connection.recv(1, socket.MSG_PEEK) == b"\x16":  # a TLS handshake
                    self.wfile.write(b"this is no TLS\r\n\r\n")
                    return
                line = self.rfile.readline().decode("latin-1").split()
                size = 0
                while header := self.rfile.readline().strip().lower():
                    if header.startswith(b"content-length:"):
                        size = int(header.partition(b":")[2])
                self.rfile.read(size)  # what is not read would end the connection with a reset
                path = line[1].partition("?")[0] if len(line) == 3 else "no HTTP"
                self.wfile.write(service.answers.get(path, b""))
                if path in service.held:
                    service._done.wait()

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def place(self) -> str:
        """The host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def root(self) -> str:
        """A URL without a path."""
        return f"http://{self.place}"

    def url(self, path: str, scheme: str = "http") -> str:
        """Return a URL with the canary in its query."""
        return f"{scheme}://{self.place}{path}?token={CANARY}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


# --- tools: each gets a URL with one library, and expects no failure


async def with_aiohttp(url: str, timeout: float = MAX_SECONDS) -> str:  # noqa: ASYNC109 - as the other tools have it
    limit = aiohttp.ClientTimeout(sock_read=timeout)
    session = aiohttp.ClientSession(timeout=limit, raise_for_status=True, headers=SENT)
    async with session, session.get(url) as response:
        return await response.text()


async def with_httpx(url: str, timeout: float = MAX_SECONDS) -> str:  # noqa: ASYNC109 - as above
    async with httpx.AsyncClient(timeout=timeout, trust_env=False, headers=SENT, follow_redirects=True) as client:
        return (await client.get(url)).raise_for_status().text


def with_httpx2(url: str, timeout: float = MAX_SECONDS) -> str:
    with httpx2.Client(timeout=timeout, trust_env=False, headers=SENT, follow_redirects=True) as client:
        return client.get(url).raise_for_status().text


def with_requests(url: str, timeout: float = MAX_SECONDS) -> str:
    with requests.Session() as session:
        session.trust_env = False
        response = session.get(url, timeout=timeout, headers=SENT)
        response.raise_for_status()
        return response.text


def with_urllib3(url: str, timeout: float = MAX_SECONDS) -> str:
    with urllib3.PoolManager(timeout=timeout, retries=urllib3.Retry(0, redirect=3)) as pool:
        return pool.request("GET", url, headers=SENT).data.decode()


def with_urllib(url: str, timeout: float = MAX_SECONDS) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=SENT), timeout=timeout) as response:
            return str(response.read().decode())
    except urllib.error.HTTPError as error:
        error.close()
        raise


LIBRARIES: tuple[Callable[..., Any], ...] = (
    with_aiohttp, with_httpx, with_httpx2, with_requests, with_urllib3, with_urllib,
)  # fmt: skip
