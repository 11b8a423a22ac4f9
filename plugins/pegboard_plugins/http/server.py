"""The server: opens the port or socket, serves until the host stops, and finishes requests in flight."""

from __future__ import annotations

import asyncio
import errno
import ssl
from ipaddress import ip_address

from aiohttp import web

from pegboard.plugin import TransportContext, TransportError
from pegboard_plugins.http import HttpConfig
from pegboard_plugins.http.access_log import access_logger, wants_access_log
from pegboard_plugins.http.aiohttp_access_log import AccessLogger
from pegboard_plugins.http.handler import Handler
from pegboard_plugins.http.http_connection import HttpServer, IsOperator
from pegboard_plugins.http.port_owner import owner_of_port
from pegboard_plugins.http.request_guard import RequestGuard
from pegboard_plugins.http.unix_socket import UnixSocket, is_own_peer

FINISH_SECONDS = 0.2
"""The time limit for writing finished responses after the host has drained, and for ending unfinished responses.
"""
LINGER_SECONDS = 2.0
"""How long the rest of a rejected body is read and discarded, so that the client can read the rejection."""
MAX_PENDING_CONNECTIONS = 1024


async def serve_http(config: HttpConfig, host: TransportContext) -> None:
    """Serve until the host stops.

    Raises:
        TransportError: the port, the socket or the certificate cannot be used.
        PluginError: a configured store cannot be opened.
    """
    loopback = config.socket is not None or _is_loopback(config.host)
    local = loopback and not config.trusted_proxies  # a proxy passes on requests of other machines
    tls = _tls(config)
    handler = Handler(config, RequestGuard(config, loopback=loopback, public_hosts=host.public_hosts), host)
    await host.open_stores()
    runner = web.ServerRunner(_server(config, handler), handle_signals=False, shutdown_timeout=FINISH_SECONDS)
    await runner.setup()
    unix = UnixSocket(config.socket, config.socket_mode) if config.socket is not None else None
    try:
        listener = await _listen(config, runner, tls, unix)
        try:
            host.opened(_url(config, listener, tls), local=local)
            await host.wait_stopping()
        finally:
            listener.close()
        await asyncio.get_running_loop().create_future()  # until the host has drained and cancels this task
    finally:
        await handler.finish(FINISH_SECONDS)
        await runner.cleanup()
        if unix is not None:
            unix.remove()


def _server(config: HttpConfig, handler: Handler) -> HttpServer:
    return HttpServer(
        handler.handle,
        request_factory=handler.request,
        handler_cancellation=True,
        header_seconds=config.header_seconds,
        proves=_proof(config),
        keepalive_timeout=config.idle_seconds,
        lingering_time=LINGER_SECONDS,
        max_field_size=config.max_header_bytes,
        max_line_size=config.max_header_bytes,
        auto_decompress=False,
        access_log=access_logger if wants_access_log() else None,
        access_log_class=AccessLogger,
    )


def _proof(config: HttpConfig) -> IsOperator:
    """Return the check that a peer is the operator. Over TCP it succeeds only if a setting allows it."""
    if config.socket is not None:
        return is_own_peer if "unix" not in config.trusted_proxies else lambda transport: False
    by_word = config.loopback_is_operator and _is_loopback(config.host)
    return lambda transport: by_word


async def _listen(
    config: HttpConfig, runner: web.ServerRunner, tls: ssl.SSLContext | None, unix: UnixSocket | None
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    factory = runner.server
    assert factory is not None
    handshake = config.header_seconds if tls else None
    try:
        if unix is not None:
            return await loop.create_unix_server(
                factory, sock=unix.bind(), ssl=tls, backlog=MAX_PENDING_CONNECTIONS, ssl_handshake_timeout=handshake
            )
        return await loop.create_server(
            factory, config.host, config.port, ssl=tls, backlog=MAX_PENDING_CONNECTIONS, ssl_handshake_timeout=handshake
        )
    except OSError as error:
        raise TransportError(_cannot_open(config, error)) from error


def _url(config: HttpConfig, listener: asyncio.Server, tls: ssl.SSLContext | None) -> str:
    if config.socket is not None:
        return f"unix:{config.socket}"
    scheme = "https" if tls else "http"
    name = f"[{config.host}]" if ":" in config.host else config.host
    return f"{scheme}://{name}:{listener.sockets[0].getsockname()[1]}"


def _cannot_open(config: HttpConfig, error: OSError) -> str:
    where = str(config.socket or f"{config.host}:{config.port}")
    if error.errno != errno.EADDRINUSE:
        return f"http: cannot listen at {where}: {error.strerror or error}"
    owner = None if config.socket else owner_of_port(config.port)
    used = f"{owner} uses it" if owner else "it is in use"
    return f"http: cannot listen at {where}: {used}; choose another with [plugins.http] {_key(config)}"


def _key(config: HttpConfig) -> str:
    return "port" if config.socket is None else "socket"


def _tls(config: HttpConfig) -> ssl.SSLContext | None:
    certificate, key = config.certificate, config.key
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        files = certificate if key is None else f"{certificate} and {key}"
        raise TransportError(f"http: the certificate cannot be used ({files}): {error}") from error
    return context


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
