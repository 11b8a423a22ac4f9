"""The server itself: opens the port or socket, serves until the host stops, and lets what is in flight come to its end."""

from __future__ import annotations

import asyncio
import errno
import ssl
from contextlib import suppress
from ipaddress import ip_address

from aiohttp import web

from pegboard import TransportError, TransportHost
from pegboard_plugins.http import HttpConfig
from pegboard_plugins.http.connection import Server
from pegboard_plugins.http.edge import Edge
from pegboard_plugins.http.handler import Handler
from pegboard_plugins.http.owner import owner_of_port

SHUTDOWN_SECONDS = 1.0
"""How long open connections may take to end once the host has drained."""


async def serve_http(config: HttpConfig, host: TransportHost) -> None:
    """Serve until the host stops.

    Raises:
        TransportError: the port, the socket or the certificate cannot be used.
    """
    loopback = config.socket is not None or _is_loopback(config.host)
    handler = Handler(config, Edge(config, loopback=loopback), host, trusted=loopback)
    server = Server(
        handler.handle,
        request_factory=handler.request,
        handler_cancellation=True,
        header_seconds=config.header_seconds,
        keepalive_timeout=config.idle_seconds,
        max_field_size=config.max_header_bytes,
        max_line_size=config.max_header_bytes,
        auto_decompress=False,
        access_log=None,
    )
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        host.opened(await _open(config, runner), trusted=loopback)
        await host.wait_stopping()
        for site in list(runner.sites):
            await site.stop()
        await asyncio.get_running_loop().create_future()  # until the host has drained and cancels this
    finally:
        await runner.cleanup()
        if config.socket is not None:
            with suppress(FileNotFoundError):
                config.socket.unlink()


async def _open(config: HttpConfig, runner: web.ServerRunner) -> str:
    """Open the port or socket; the URL by which it is reached."""
    tls = _tls(config)
    scheme = "https" if tls else "http"
    try:
        if config.socket is not None:
            await web.UnixSite(runner, config.socket, ssl_context=tls).start()
            return f"{scheme}+unix://{config.socket}"
        await web.TCPSite(runner, config.host, config.port, ssl_context=tls).start()
    except OSError as error:
        raise TransportError(_cannot_open(config, error)) from error
    name = f"[{config.host}]" if ":" in config.host else config.host
    return f"{scheme}://{name}:{runner.addresses[0][1]}"


def _cannot_open(config: HttpConfig, error: OSError) -> str:
    where = str(config.socket or f"{config.host}:{config.port}")
    if error.errno != errno.EADDRINUSE:
        return f"http: cannot listen at {where}: {error.strerror or error}"
    owner = None if config.socket else owner_of_port(config.port)
    used = f"{owner} uses it" if owner else "it is in use"
    return f"http: cannot listen at {where}: {used}; choose another with [plugins.http] port"


def _tls(config: HttpConfig) -> ssl.SSLContext | None:
    certificate, key = config.certificate, config.key
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
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
