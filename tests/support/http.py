"""The real command `pegboard serve` on a free port, and raw HTTP/1.1 over sockets. `http_mcp.py` adds MCP."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.support.peer import LIMIT, WAIT
from tests.support.pool import CONFIG
from tests.support.wire import PEGBOARD, Process

Fields = Iterable[tuple[str, str]]

OPEN_MCP = "[plugins.mcp]\nanonymous = true\n"
"""The section that allows anonymous callers beyond this machine."""

LEAKS = ("pydantic", "Traceback", "jiter", "aiohttp", "Python", "int_max_str", ".py", "validation error", "llhttp")
"""Words of the implementation that no error message may contain."""


def http_config(http: str = "port = 0", *, host: str = "", more: str = "") -> str:
    """Return a configuration: lines of `[plugins.http]`, further lines of `[host]`, further sections."""
    return f'{CONFIG}transports = ["http"]\n{host}\n[plugins.http]\n{http}\n{more}\n'


def make_certificate(folder: Path) -> None:
    """Write a new certificate of localhost and its key into a folder."""
    make = "openssl req -x509 -newkey rsa:2048 -days 2 -subj /CN=localhost -nodes -keyout key.pem -out cert.pem"
    subprocess.run(f"{make} -addext subjectAltName=DNS:localhost".split(), cwd=folder, check=True, capture_output=True)


def with_tls(folder: Path) -> tuple[str, ssl.SSLContext]:
    """Return lines of `[plugins.http]` for the certificate in a folder, and the context of a client that trusts it."""
    lines = f'certificate = "{folder}/cert.pem"\nkey = "{folder}/key.pem"\n'
    return lines, ssl.create_default_context(cafile=str(folder / "cert.pem"))


def without_uvloop(site: Path) -> Path:
    """Hide uvloop from processes that search a folder first."""
    (site / "uvloop.py").write_text("raise ImportError")
    return site


class Answer(NamedTuple):
    """A whole response."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name: str) -> str | None:
        """Return the only field of a name, None if it is missing."""
        values = self.all(name)
        assert len(values) < 2, self.fields
        return values[0] if values else None

    @property
    def json(self) -> Any:
        assert self.get("Content-Type") == "application/json", self
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class Line:
    """One connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proof: Fields = ()) -> None:
        self.reader = reader
        self.writer = writer
        self._proof = proof

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.abort()

    def abort(self) -> None:
        self.writer.transport.abort()

    async def send(self, data: bytes) -> None:
        """Send bytes unchanged."""
        self.writer.write(data)
        async with asyncio.timeout(WAIT):
            await self.writer.drain()

    async def ask(self, method: str, path: str, fields: Fields = (), body: bytes = b"") -> None:
        """Send a request; Host and Content-Length are added unless they are given."""
        own = () if any(name.lower() == "authorization" for name, _ in fields) else self._proof
        await self.send(request_bytes(method, path, [*own, *fields], body))

    async def request(self, method: str, path: str, fields: Fields = (), body: bytes = b"") -> Answer:
        await self.ask(method, path, fields, body)
        return await self.answer(method)

    async def head(self) -> Answer:
        """Read the head of a response; its body is empty here."""
        async with asyncio.timeout(WAIT):
            lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        protocol, status, *_ = lines[0].split(" ")
        assert protocol in {"HTTP/1.1", "HTTP/1.0"}
        fields = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:] if line))
        return Answer(int(status), fields, b"")

    async def answer(self, method: str = "POST") -> Answer:
        head = await self.head()
        if method == "HEAD" or head.status in {100, 204, 304}:
            return head
        if head.get("Transfer-Encoding") == "chunked":
            chunks = []
            while chunk := await self.chunk():
                chunks.append(chunk)
            return head._replace(body=b"".join(chunks))
        length = head.get("Content-Length")
        async with asyncio.timeout(WAIT):
            body = await (self.reader.read() if length is None else self.reader.readexactly(int(length)))
        return head._replace(body=body)

    async def chunk(self) -> bytes:
        async with asyncio.timeout(WAIT):
            size = int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16)
            return (await self.reader.readexactly(size + 2))[:-2]

    async def rest(self) -> bytes:
        """Read until the server closes the connection, which it must."""
        async with asyncio.timeout(WAIT):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""


def request_bytes(method: str, path: str, fields: Fields = (), body: bytes = b"") -> bytes:
    """Return the bytes of a request."""
    names = {name.lower() for name, _ in fields}
    lines = [f"{method} {path} HTTP/1.1"]
    if "host" not in names:
        lines.append("Host: localhost")
    if (body or method == "POST") and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Served(Process):
    """A process of `pegboard serve`: `async with Served(site) as served`.

    Args:
        site: a folder of distributions for it to find.
        config: the content of its `hostconfig.toml`; the default listens at a free port of loopback.
        ready: wait until it listens.
        command: the command to start instead of `pegboard serve`.
        stdin: the descriptor of its standard input; `/dev/null` by default.
        operator: requests without a token carry the operator token.
    """

    def __init__(
        self,
        site: Path,
        config: str | None = None,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        ready: bool = True,
        command: Sequence[str | Path] = (PEGBOARD, "serve"),
        stdin: int = asyncio.subprocess.DEVNULL,
        operator: bool = False,
    ) -> None:
        super().__init__(command, http_config() if config is None else config, env, site, cwd)
        self._operator = operator
        self._ready = ready
        self._stdin = stdin
        self.lines: list[Line] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        await self.start(self._stdin)
        try:
            if self._ready:
                self.url = (await self.wait_for_stderr(r"serves .* at (\S+)\n"))[1]
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for line in self.lines:
            line.abort()
        await self.stop()

    async def assert_refuses(self, code: int, *texts: str) -> None:
        """Check that the server does not start: it ends with a code, and standard error has these texts."""
        self._ready = False
        async with self:
            assert await self.wait() == code
            assert "Traceback" not in self.stderr
            for text in texts:
                assert text in self.stderr

    @property
    def port(self) -> int:
        match = re.search(r":(\d+)(/|$)", self.url)
        assert match, self.url
        return int(match[1])

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def proof(self) -> tuple[str, str]:
        """The header field with the operator token."""
        token = (self.home / ".local/state/pegboard/operator-token").read_text().strip()
        return "Authorization", f"Bearer {token}"

    def descriptors(self) -> int:
        """Return the number of its open files and sockets (Linux)."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    async def connect(self, host: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None) -> Line:
        name = "localhost" if tls else None
        async with asyncio.timeout(WAIT):
            streams = await asyncio.open_connection(host, self.port, limit=LIMIT, ssl=tls, server_hostname=name)
        line = Line(*streams, proof=[self.proof] if self._operator else ())
        self.lines.append(line)
        return line

    async def request(self, method: str, path: str, fields: Fields = (), body: bytes = b"") -> Answer:
        async with await self.connect() as line:
            return await line.request(method, path, fields, body)
