"""A proxy on this machine that answers in place of services: `async with FakeInternet(folder) as internet`.

The processes of the toolkits reach every host through it, with a certificate that their environment trusts.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import re
import ssl
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tools.arcade_toolkits.services import SERVICES

_IN_BATCH = re.compile(r"Content-ID: <(.+?)>.*?^([A-Z]+) ([^\s?]+)\S* HTTP/", re.S | re.M | re.I)
DAY = datetime.timedelta(days=1)


class FakeInternet:
    """The proxy and the services.

    Args:
        folder: where the certificate is written.

    Attributes:
        unknown: the requests that no service answers, with their number.
        environment: the variables with which a process uses the proxy.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "fake-internet.pem"
        self.unknown: Counter[str] = Counter()
        self.environment: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        _write_certificate(self._file)
        context.load_cert_chain(self._file)
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context).start()
        self._proxy = await asyncio.start_server(self._tunnel, "127.0.0.1", 0)
        proxy = f"http://127.0.0.1:{self._proxy.sockets[0].getsockname()[1]}"
        file = str(self._file)
        trusted = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "HTTPLIB2_CA_CERTS", "CURL_CA_BUNDLE")
        self.environment = {
            **dict.fromkeys(trusted, file),
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), proxy),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        }
        return self

    async def __aexit__(self, *_: object) -> None:
        self._proxy.close()
        await self._runner.cleanup()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer CONNECT, and pass bytes to the services."""
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            host, port = self._runner.addresses[0][:2]
            there, to = await asyncio.open_connection(host, port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pass(reader, to), _pass(there, writer))

    async def _answer(self, request: web.Request) -> web.Response:
        host, body = request.host.partition(":")[0], await request.read()
        if request.path == "/batch":
            return self._batch(host, body)
        status, value, fields = self._found(host, f"{request.method} {request.path}", request.query, body)
        if value is None:
            return web.Response(status=status)
        return web.json_response(value, status=status, headers=fields)

    def _found(
        self, host: str, line: str, query: Mapping[str, str], body: bytes
    ) -> tuple[int, Any, Mapping[str, str] | None]:
        """Return the status, the value and header fields of the answer to a request."""
        sent: Any = body
        with suppress(ValueError):
            sent = json.loads(body)
        for pattern, made in SERVICES.get(host, ()):
            if match := re.fullmatch(pattern, line):
                value = made(match, query, sent) if callable(made) else made
                status, value, *fields = value if isinstance(value, tuple) else (200, value)
                return status, value, fields[0] if fields else None
        self.unknown[f"{line} at {host}"] += 1
        return 404, {"message": "Not Found"}, None

    def _batch(self, host: str, body: bytes) -> web.Response:
        """Answer the requests in a batch: https://developers.google.com/workspace/gmail/api/guides/batch."""
        parts = []
        for id, method, path in _IN_BATCH.findall(body.decode()):
            status, value, _ = self._found(host, f"{method} {path}", {}, b"")
            head = f"Content-Type: application/http\r\nContent-ID: <response-{id}>\r\n\r\nHTTP/1.1 {status} OK\r\n"
            parts.append(f"--batch\r\n{head}Content-Type: application/json\r\n\r\n{json.dumps(value)}\r\n")
        kind = {"Content-Type": "multipart/mixed; boundary=batch"}
        return web.Response(body="".join((*parts, "--batch--")).encode(), headers=kind)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    finally:
        writer.close()


def _write_certificate(file: Path) -> None:
    """Write a key and a certificate for the hosts of all services."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "services of a comparison")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in SERVICES]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file.touch(mode=0o600)
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
