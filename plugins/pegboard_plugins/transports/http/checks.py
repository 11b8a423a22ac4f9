"""Checks of `pegboard doctor` for the HTTP server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from pegboard.plugin import CommandContext, Finding
from pegboard_plugins.transports.http.port_owner import owner_of_port
from pegboard_plugins.transports.http.workers import refusal

EXPIRY_DAYS = 30
"""The number of days before its expiry from which a certificate is reported."""


def check_ports(command: CommandContext) -> Iterator[Finding]:
    """Report the port if a process listens at it."""
    settings = command.settings
    if "http" not in command.plugin.transports or settings.socket or not settings.port:
        return
    with suppress(OSError), socket.create_connection((settings.host, settings.port), timeout=1):
        owner = owner_of_port(settings.port) or "a process"
        message = f"{owner} listens at {settings.host}:{settings.port}, so `pegboard serve` cannot open this port now"
        yield Finding(
            "warning", message, "if this is not your running server, end the process or select another port with --port"
        )


def check_workers(command: CommandContext) -> Iterator[Finding]:
    """Report transports that several processes cannot serve."""
    if problem := refusal(command.settings.workers, command.plugin.transports):
        yield Finding("error", problem)


def check_certificates(command: CommandContext) -> Iterator[Finding]:
    """Report a TLS certificate that has expired or expires soon."""
    file = command.settings.certificate
    if file is None or not file.is_file():
        return  # the check of transports reports a missing file
    from cryptography import x509  # most servers have no certificate

    with suppress(ValueError):  # the check of transports reports an invalid certificate
        ends = x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
        left = ends - datetime.now(UTC)
        if left < timedelta(days=EXPIRY_DAYS):
            verb = "expired" if left < timedelta(0) else "expires"
            message = f"the certificate {file} of [plugins.{command.plugin.name}] {verb} on {ends:%Y-%m-%d}"
            yield Finding(
                "error" if verb == "expired" else "warning", message, "renew the certificate and restart the server"
            )
