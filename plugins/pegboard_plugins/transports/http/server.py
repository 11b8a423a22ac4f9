"""The server: opens the port or socket, serves until the host stops, and finishes requests in flight."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from aiohttp import web

from pegboard.plugin import TransportContext, TransportError
from pegboard_plugins.support.loopback import is_loopback
from pegboard_plugins.support.refusal_log import RefusalLog
from pegboard_plugins.transports.http.exchange import Exchange
from pegboard_plugins.transports.http.handler import Handler
from pegboard_plugins.transports.http.http_connection import IsOperator
from pegboard_plugins.transports.http.http_server import HttpServer
from pegboard_plugins.transports.http.passed_sockets import (
    WORKER_VARIABLE,
    address_of,
    is_of_this_machine,
    is_unix,
    passed_sockets,
)
from pegboard_plugins.transports.http.port_owner import cannot_open
from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.settings import HttpConfig
from pegboard_plugins.transports.http.unix_socket import bound_unix_socket, is_own_peer

FINISH_SECONDS = 0.2
"""The time limit for writing finished responses after the host has drained, and for ending unfinished responses.
"""
MAX_PENDING_CONNECTIONS = 1024


async def serve_http(config: HttpConfig, host: TransportContext, serving: Callable[[Exchange[Any]], None]) -> None:
    """Serve until the host stops, at the sockets that a service manager passed or else at the configured address.

    Args:
        config: the settings.
        host: the host that provides the routes.
        serving: called with the requests of the server.

    Raises:
        TransportError: the port, the socket or the certificate cannot be used.
        PluginError: a configured store cannot be opened.
    """
    passed = passed_sockets()
    own = config.socket is not None or is_loopback(config.host)
    loopback = all(map(is_of_this_machine, passed)) if passed else own
    local = loopback and not config.trusted_proxies  # a proxy passes on requests of other machines
    tls = _tls(config)
    handler = Handler(config, RequestGuard(config, loopback=loopback, public_hosts=host.public_hosts), host)
    serving(handler.exchange)
    await host.open_stores()
    server = HttpServer(handler, config, _proof(config, loopback))
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=FINISH_SECONDS)
    await runner.setup()
    files = ExitStack()
    closing: list[asyncio.Task[None]] = []
    try:
        listeners = await _listen(config, runner, tls, files, passed)
        try:
            host.opened(_url(config, listeners[0], passed, "https" if tls else "http"), local=local)
            await host.wait_stopping()
        finally:
            # sockets of a service manager stay open, and a TLS handshake can be repeated
            accepts_rest = not tls and (not passed or WORKER_VARIABLE in os.environ)
            stops = [stop_listening(listener, server, accepts_rest=accepts_rest) for listener in listeners]
            closing = [asyncio.create_task(stop) for stop in stops]
        await asyncio.get_running_loop().create_future()  # until the host has drained and cancels this task
    finally:
        await asyncio.gather(*closing)
        await handler.end_streams(FINISH_SECONDS)
        await server.end(await host.wait_stopping() if host.stopping else 0.0)
        if any(handler.exchange.load):
            await handler.end_requests(FINISH_SECONDS)
            await server.end()
        await runner.cleanup()
        files.close()


def check_http(config: HttpConfig, host: TransportContext) -> None:
    """Check the configured address, the certificate and the authenticators, without listening.

    Raises:
        TransportError: the address, the socket or the certificate cannot be used.
        ConfigError: other machines can reach the address, but a route has no authenticator.
    """
    scheme = "http" if _tls(config) is None else "https"
    try:
        if config.socket is not None:
            os.stat(config.socket.parent)
        else:
            family, kind, protocol, _, address = socket.getaddrinfo(config.host, 0, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.bind(address)
    except OSError as error:
        raise TransportError(cannot_open(config, error)) from error
    local = (config.socket is not None or is_loopback(config.host)) and not config.trusted_proxies
    host.opened(_address(config, scheme, config.port), local=local)


def _proof(config: HttpConfig, loopback: bool) -> IsOperator:
    """Return the check that a peer is the operator. Over TCP it succeeds only if a setting allows it."""
    by_word = config.loopback_is_operator and loopback
    behind_socket = "unix" in config.trusted_proxies

    def proves(transport: asyncio.BaseTransport) -> bool:
        peer = transport.get_extra_info("socket")
        if peer is not None and is_unix(peer):
            return not behind_socket and is_own_peer(transport)
        return by_word

    return proves


async def _listen(
    config: HttpConfig,
    runner: web.ServerRunner,
    tls: ssl.SSLContext | None,
    files: ExitStack,
    passed: Sequence[socket.socket],
) -> list[asyncio.Server]:
    loop = asyncio.get_running_loop()
    factory = runner.server
    assert factory is not None
    options: dict[str, Any] = {"ssl": tls, "backlog": MAX_PENDING_CONNECTIONS}
    if tls:
        options["ssl_handshake_timeout"] = config.header_seconds
    try:
        if config.socket is not None and not passed:
            passed = [files.enter_context(bound_unix_socket(config.socket, config.socket_mode))]
        return [await _accept(loop, factory, sock, options) for sock in passed or await _bound(loop, config)]
    except OSError as error:
        raise TransportError(cannot_open(config, error)) from error


async def _bound(loop: asyncio.AbstractEventLoop, config: HttpConfig) -> list[socket.socket]:
    """Return a socket for each address of the configured host, bound by the event loop."""
    server = await loop.create_server(asyncio.Protocol, config.host, config.port, start_serving=False)
    try:
        return [socket.fromfd(sock.fileno(), sock.family, sock.type, sock.proto) for sock in server.sockets]
    finally:
        server.close()


async def _accept(
    loop: asyncio.AbstractEventLoop, factory: web.Server, bound: socket.socket, options: dict[str, Any]
) -> asyncio.Server:
    """Serve at a socket. `create_unix_server` of asyncio would remove the file of a passed socket at the end."""
    if isinstance(loop, asyncio.SelectorEventLoop):
        return await loop.create_server(factory, sock=Listener(bound), **options)
    if is_unix(bound):
        return await loop.create_unix_server(factory, sock=bound, **options)
    return await loop.create_server(factory, sock=bound, **options)


async def stop_listening(listener: asyncio.Server, server: HttpServer, *, accepts_rest: bool) -> None:
    """Close a listening socket.

    Args:
        listener: the socket.
        server: the server for connections.
        accepts_rest: accept the connections that wait, because the system would reset them.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, asyncio.SelectorEventLoop):
        for sock in listener.sockets:
            loop.remove_reader(sock.fileno())
        await asyncio.sleep(0)  # asyncio drops connections that it has just accepted if the listener is closed
    copies = []
    with suppress(OSError):  # no descriptor is free
        if accepts_rest:
            copies = [socket.fromfd(sock.fileno(), sock.family, sock.type) for sock in listener.sockets]
    listener.close()
    await asyncio.sleep(0)  # uvloop closes the socket at the end of this turn of the loop
    accepted = []
    for copy in copies:
        with copy, suppress(OSError):  # until none waits
            copy.setblocking(False)
            while True:
                accepted.append(copy.accept()[0])
    connecting = (loop.connect_accepted_socket(server, sock) for sock in accepted)
    await asyncio.gather(*connecting, return_exceptions=True)


def _url(config: HttpConfig, listener: asyncio.Server, passed: Sequence[socket.socket], scheme: str) -> str:
    if passed:
        return address_of(listener.sockets[0], scheme)
    return _address(config, scheme, 0 if config.socket is not None else listener.sockets[0].getsockname()[1])


def _address(config: HttpConfig, scheme: str, port: int) -> str:
    if config.socket is not None:
        return f"unix:{config.socket}"
    name = f"[{config.host}]" if ":" in config.host else config.host
    return f"{scheme}://{name}:{port}"


def _tls(config: HttpConfig) -> ssl.SSLContext | None:
    certificate, key = config.certificate, config.key
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        files = f"certificate {certificate}" + (f" and key {key}" if key is not None else "")
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        fix = "correct the path or replace the file"
        raise TransportError(f"http: [plugins.http] {files} cannot be used: {reason}; {fix}") from error
    return context


# --- A listening socket that refuses connections while the process has no free file descriptor.
# asyncio's event loop would try `backlog` times to accept a connection, log each failure with a traceback, and do all
# of this again for each failure.

_FULL = frozenset((errno.EMFILE, errno.ENFILE))
_NO_DESCRIPTOR = "a connection, as no file descriptor is free: raise the limit of the process (ulimit -n)"
_AUDIT = RefusalLog()


class Listener(socket.socket):
    """The socket. It keeps a spare descriptor, and uses it to accept a connection and close it.

    Args:
        bound: the socket to replace. It is detached.
    """

    __slots__ = ("_fails_next", "_spare")

    def __init__(self, bound: socket.socket) -> None:
        super().__init__(fileno=bound.detach())
        self._spare = _opened()
        self._fails_next = False

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            BlockingIOError: there is no connection, or it was refused.
            OSError: even the spare descriptor is in use. The event loop tries again after a second.
        """
        if self._fails_next:
            self._fails_next = False
            raise BlockingIOError
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            if self._spare is None:
                self._spare = _opened()
                self._fails_next = True  # the event loop calls again at once
                raise
        self._refuse(self._spare)
        raise BlockingIOError

    def _refuse(self, spare: int) -> None:
        os.close(spare)
        try:
            super().accept()[0].close()
            _AUDIT.refused(_NO_DESCRIPTOR)  # while a descriptor is free, as the log may import modules
        finally:
            self._spare = _opened()

    def close(self) -> None:
        """Close the socket and the spare descriptor."""
        super().close()
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None


def _opened() -> int | None:
    """Return a new descriptor, or None if none is free."""
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return None
