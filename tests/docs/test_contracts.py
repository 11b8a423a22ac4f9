"""The examples in docs/contracts.md keep their contracts and run in a host."""

from __future__ import annotations

import asyncio
import ftplib
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pegboard import Host, Toolkit, UpstreamError
from pegboard import testing as kit_testing
from pegboard.plugin import (
    Command,
    Plugin,
    ProtocolError,
    Route,
    ToolRuntimeError,
    Transport,
)
from pegboard.testing import FarEnd, Lines, connect
from pegboard.types import Request
from tools.contracts import KINDS


def load(name: str) -> Any:
    return import_module(f"docs.examples.plugins.{name}")


def plugin_of(name: str) -> type[Plugin]:
    module = load(name)
    classes = (one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Plugin))
    (found,) = (one for one in classes if one.__module__ == module.__name__)
    return found


class TestTransport(kit_testing.TransportContract):
    trust = "channel"

    def make(self) -> Any:
        self.path = f"/tmp/pegboard-example-{id(self)}.sock"
        return load("transport").UnixLinesTransport(self.path)

    async def connect(self, transport: Transport) -> FarEnd:
        return Lines(*await asyncio.open_unix_connection(self.path, limit=2**24))

    def make_unopenable(self) -> Any:
        return load("transport").UnixLinesTransport("/nowhere/a.sock")

    def dispose(self, transport: Transport) -> None:
        Path(self.path).unlink(missing_ok=True)


class TestRoute(kit_testing.RouteContract):
    def make(self) -> Any:
        module = load("route")
        return Route("GET", "/status", module.status, auth="public")

    def requests(self) -> Sequence[Request]:
        return [kit_testing.http_request(path="/status")]


class TestAuthenticator(kit_testing.AuthenticatorContract):
    def make(self) -> Any:
        return load("authenticator").ApiKeyAuthenticator({"ada": SecretStr("key-of-ada-0123456789")})

    def credentials(self) -> Sequence[Mapping[str, str]]:
        return [{"Authorization": "ApiKey key-of-ada-0123456789"}]


class TestSessionStore(kit_testing.SessionStoreContract):
    def make(self) -> Any:
        return load("session_store").SqliteSessions(sqlite3.connect(":memory:"), 100)

    def dispose(self, store: Any) -> None:
        store._database.close()


class TestEventStore(kit_testing.EventStoreContract):
    def make(self) -> Any:
        return load("event_store").RecentEvents()


class TestCommand(kit_testing.CommandContract):
    def make(self) -> Any:
        (command,) = plugin_of("command")(None).register_commands()  # type: ignore[attr-defined]
        assert isinstance(command, Command)
        return command

    def lines(self) -> Sequence[str]:
        return ["Ada", "Ada --loud"]

    def invalid_lines(self) -> Sequence[str]:
        return ["", "' '"]


class TestMiddleware(kit_testing.MiddlewareContract):
    def make(self) -> Any:
        return load("middleware").Signature()


class TestErrorAdapter(kit_testing.ErrorAdapterContract):
    libraries = ("ftplib",)

    def make(self) -> Any:
        return load("error_adapter").FtpErrorAdapter()

    def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
        yield ftplib.error_perm(f"550 {self.canary}: no such file"), UpstreamError


class TestSecretStore(kit_testing.SecretStoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> Any:
        (self.folder / "secrets.json").write_text(json.dumps(dict(self.secrets)), "utf-8")
        return load("secret_store").JsonSecrets(str(self.folder / "secrets.json"))


class TestTokenSource(kit_testing.TokenSourceContract):
    def make(self) -> Any:
        return load("token_source").AcmeTokens({(None, self.user): "token-of-ada"})

    def required(self) -> Any:
        return load("token_source").Acme(scopes=["read"])


class TestAuthProvider(kit_testing.AuthProviderContract):
    def make(self) -> Any:
        return load("token_source").Acme


SETTINGS: dict[str, dict[str, Any]] = {
    "transport": {"path": "a.sock"},
    "authenticator": {"keys": {"ada": "key-of-ada-0123456789"}},
    "session_store": {"file": ":memory:"},
    "secret_store": {"file": "secrets.json"},
}


@pytest.mark.parametrize("name", sorted({kind.example for kind in KINDS}))
async def test_the_host_accepts_each_example(name: str) -> None:
    settings = {"host": {"autoload": False}, "plugins": {"example": SETTINGS.get(name, {})}}
    async with Host(settings, plugins={"example": plugin_of(name)}) as host:
        assert host.problems == ()


async def test_the_method_responds() -> None:
    async with connect(Toolkit("x"), plugins={"clock": plugin_of("method")}) as client:
        client.meta["io.modelcontextprotocol/clientCapabilities"] = {"extensions": {load("method").EXTENSION: {}}}
        assert "T" in (await client.request("clock/now", {}))["now"]
        with pytest.raises(ProtocolError, match="unknown format"):
            await client.request("clock/now", {"format": "stardate"})


async def test_the_protocol_calls_tools() -> None:
    kit = Toolkit("say", prefix=False)

    @kit.tool
    def hello() -> str:
        """Greet."""
        return "Hello."

    class Client:
        peer = "test"

        def __init__(self) -> None:
            self.received: list[bytes] = []

        def send(self, message: bytes) -> None:
            self.received.append(message)

        async def drain(self) -> None: ...

        async def close(self) -> None: ...

    async def messages() -> AsyncIterator[bytes]:
        yield b"hello"
        yield b"goodbye"

    client = Client()
    disabled = {"host": {"autoload": False, "disabled_plugins": ["mcp"]}}
    async with Host(disabled, toolkits={"say": kit}, plugins={"words": plugin_of("protocol")}) as host:
        await host.serve(client, messages())
    assert client.received == [b"Hello.", b"error: Unknown tool: goodbye"]
