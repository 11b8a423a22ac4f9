"""The effect of hooks: a host with a plugin serves its contributions."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from types import ModuleType
from typing import Any, cast

import pytest
from importlib_metadata import EntryPoint

from pegboard import (
    Host,
    ToolExecutionError,
    Toolkit,
    ToolRuntimeError,
)
from pegboard.loading.plugins import LoadedPlugin
from pegboard.loading.source_files import toolkits_in
from pegboard.plugin import (
    Authenticator,
    CheckedDefinition,
    Connection,
    ContentFolder,
    DefinitionCheck,
    ErrorAdapter,
    FoundToolkit,
    Plugin,
    PluginContext,
    PromptDefinition,
    ProtocolContext,
    ResourceDefinition,
    Route,
    StreamProtocol,
    ToolDefinition,
    ToolkitLoader,
    Transport,
    TransportContext,
    TransportError,
    found_toolkits,
    hookimpl,
)
from pegboard.plugin.origin import Origin
from pegboard.types import (
    ANONYMOUS,
    LOCAL,
    Call,
    Caller,
    EventStream,
    Failure,
    Request,
    Response,
    ToolkitInfo,
    header_fields,
)
from tests.host.hosting import failure, make_host, plugin_context, plugin_of, value, work


async def test_hook_definition_checks_rejects_items() -> None:
    class Strict(DefinitionCheck):
        def rejection(self, definition: CheckedDefinition) -> str | None:
            if definition.name == "worse":
                raise ValueError("no")
            return f"of {definition.owner}" if definition.name == "bad" else None

    tools = [ToolDefinition(work, name=name) for name in ("good", "bad", "worse")]
    host = make_host(plugins={"shop": plugin_of(tools=tools), "x": plugin_of(register_definition_checks=[Strict()])})
    async with host:
        assert await value(host, "good") == "done"
        assert [str(item) for item in host.assembly.unserved] == [
            "tool 'bad' is not served: of plugin:shop",
            "tool 'worse' is not served: the check of plugin 'x' raised ValueError: no",
        ]


class Adapter(ErrorAdapter):
    """Adapts every exception to an error, or raises it if it is no error of a tool."""

    def __init__(self, slug: str, adapted: Any) -> None:
        self.slug = slug
        self.adapted = adapted

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if isinstance(self.adapted, ValueError):
            raise self.adapted
        return cast("ToolRuntimeError", self.adapted)


def adapting(slug: str, adapted: Any) -> type[Plugin]:
    return plugin_of(register_error_adapters=[Adapter(slug, adapted)])


def fails() -> str:
    """Fail."""
    raise OSError("canary")


DISK = adapting("disk", ToolExecutionError("The disk is full."))
FAILING = plugin_of(
    tools=[ToolDefinition(fails)],
    register_resources=[ResourceDefinition("x://y", fails)],
    register_prompts=[PromptDefinition(fails)],
)


async def test_hook_register_error_adapters() -> None:
    async with make_host(plugins={"d": DISK, "f": FAILING}) as host:
        for method, params in (
            ("tools/call", {"name": "fails"}),
            ("resources/read", {"uri": "x://y"}),
            ("prompts/get", {"name": "fails"}),
        ):
            outcome = await host.dispatch(Call(method, params))
            assert isinstance(outcome, Failure)
            assert (outcome.error.message, outcome.error_id is None) == ("The disk is full.", False)
            assert isinstance(outcome.error.__cause__, OSError)


@pytest.mark.parametrize(
    ("adapted", "logged"),
    [
        (ValueError("a bug"), "the error adapter bad failed on OSError"),
        ("no error at all", "the error adapter bad returned str"),
    ],
    ids=["raises", "returns no error"],
)
async def test_an_error_adapter_that_fails_is_logged_and_skipped(
    adapted: Any, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with make_host(plugins={"a": adapting("bad", adapted), "b": DISK, "f": FAILING}) as host:
        assert (await failure(host, "fails")).error.message == "The disk is full."
    assert caplog.text.count(logged) == 1


class Peer(Connection):
    """A connection that keeps messages in a list."""

    def __init__(self) -> None:
        self.peer = "the test"
        self.caller: Caller = ANONYMOUS
        self.sent: list[bytes] = []
        self.closed = False

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def drain(self) -> None:
        return

    async def close(self) -> None:
        self.closed = True


async def messages(*lines: bytes, end: bool = True) -> AsyncIterator[bytes]:
    for line in lines:
        yield line
    if not end:
        await asyncio.Event().wait()


class Shouting(StreamProtocol):
    """A protocol that returns each message in capitals, and fails on one."""

    name = "shouting"

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> None:
        async for message in messages:
            if message == b"fall":
                raise ValueError("the protocol fell over")
            connection.send(message.upper() + host.identity.name.encode())


class OneConnection(Transport):
    """A transport that serves one connection and ends."""

    name = "one"

    def __init__(self) -> None:
        self.peer = Peer()

    async def run(self, host: TransportContext) -> None:
        host.opened("a list")
        await host.serve(self.peer, messages(b"a", b"b"))


SPEAKING = plugin_of(register_protocols=[Shouting()])


async def test_hooks_of_transports_and_protocols(caplog: pytest.LogCaptureFixture) -> None:
    transport, opened, second = OneConnection(), list[str](), Peer()
    plugins = {"p": SPEAKING, "t": plugin_of(register_transports=[transport])}
    async with make_host(plugins=plugins, transports=["one"], name="!") as host:
        host.for_transports.on_opened = lambda address, _: opened.append(address)
        await host.run()
        with pytest.raises(TransportError, match="'two': add it to transports in"):
            await host.run(["two"])
        await host.serve(second, messages(b"c", b"fall", b"d"))
    assert (opened, transport.peer.sent, transport.peer.closed) == (["a list"], [b"A!", b"B!"], True)
    assert (second.sent, second.closed) == ([b"C!"], True)
    assert "the protocol fell over" in caplog.text


async def test_an_anonymous_stream_is_refused_if_callers_authenticate(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(plugins={"p": SPEAKING, "q": guarded_by(Door("mcp", "sesame"))}, name="!") as host:
        served: list[list[bytes]] = []
        for caller in (ANONYMOUS, Caller("ada"), LOCAL):
            peer = Peer()
            await host.serve(peer, messages(b"a"), caller=caller)
            assert peer.closed
            served.append(peer.sent)
    assert served == [[], [b"A!"], [b"A!"]]
    assert "its transport did not authenticate the caller" in caplog.text


async def test_a_stream_ends_when_the_token_of_its_caller_expires() -> None:
    async with make_host(plugins={"p": SPEAKING}, name="!") as host:
        peer = Peer()
        await host.serve(peer, messages(b"a", end=False), caller=Caller("ada", expires_at=time() + 0.05))
    assert (peer.sent, peer.closed) == ([b"A!"], True)


async def requested(host: Host, method: str, path: str, body: bytes = b"", caller: Caller = LOCAL) -> Response:
    response = await host.respond(Request(method, path, {}, header_fields(), body, caller))
    assert isinstance(response, Response)
    return response


async def test_hook_register_routes() -> None:
    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        return Response(201, host.identity.name.encode() + request.body)

    async def other(request: Request, host: ProtocolContext) -> Response:
        return Response(204)

    routes = [Route("POST", "/made", answer), Route("GET", "/any", answer), Route("*", "/any", other)]
    async with make_host(plugins={"p": plugin_of(register_routes=routes)}, name="n") as host:
        wrong = await requested(host, "GET", "/made")
        assert (wrong.status, wrong.headers["Allow"]) == (405, "POST")
        statuses = [(await requested(host, method, "/any")).status for method in ("GET", "HEAD", "POST", "ODD")]
        assert statuses == [201, 201, 204, 204]
        assert (await requested(host, "POST", "/other")).status == 404
        assert await requested(host, "POST", "/made", b"?") == Response(201, b"n?")


class Door(Authenticator):
    """Admits callers who know the word, with the name that they give."""

    def __init__(self, policy: str, word: str) -> None:
        self.policy = policy
        self.word = word

    async def authenticate(self, request: Request) -> Caller | Response:
        word, _, name = request.body.partition(b" ")
        if word == b"crash":
            raise KeyError("canary-7f3a91")
        return Caller(name.decode()) if word == self.word.encode() else Response(401, self.word.encode())


def guarded_by(*doors: Door) -> type[Plugin]:
    """Return a plugin with authenticators, and a route of each policy that returns its caller."""

    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        return Response(200, repr(request.caller).encode())

    routes = [Route("POST", f"/{policy}", answer, auth=policy) for policy in ("vault", "public", "mcp")]
    return plugin_of(register_authenticators=doors, register_routes=routes)


async def test_hook_register_authenticators() -> None:
    plugin = guarded_by(Door("vault", "sesame"), Door("vault", "mellon"), Door("public", "unused"))
    async with make_host(plugins={"p": plugin}) as host:
        for path, body, caller in (
            ("/vault", b"sesame Ada", Caller("Ada")),
            ("/vault", b"mellon Bob", Caller("Bob")),
            ("/public", b"please", LOCAL),
            ("/mcp", b"please", LOCAL),
        ):
            assert (await requested(host, "POST", path, body)).body == repr(caller).encode()
        assert await requested(host, "POST", "/vault", b"please") == Response(401, b"sesame")
        crashed = await requested(host, "POST", "/vault", b"crash")
        assert (crashed.status, b"canary" in crashed.body) == (500, False)


async def test_hooks_register_toolkits_and_register_toolkit_loaders() -> None:
    class Renaming(ToolkitLoader):
        """Serves another toolkit in place of `odd`."""

        def load(self, toolkit: FoundToolkit) -> Any | None:
            return one_tool("instead") if toolkit.name == "odd" else None

    def one_tool(name: str) -> Toolkit:
        kit = Toolkit(name)
        kit.add(name, adding)
        return kit

    def adding(a: int) -> int:
        """Add one."""
        return a + 1

    toolkits = [FoundToolkit(name, "here", lambda name=name: one_tool(name)) for name in ("even", "odd")]  # type: ignore[misc]
    plugin = plugin_of(register_toolkits=toolkits, register_toolkit_loaders=[Renaming()])
    async with make_host(plugins={"p": plugin}) as host:
        assert set(host.assembly.tools) == {"even_even", "odd_instead"}
        assert await value(host, "even_even", {"a": 1}) == 2
        reasons = {choice.reason for choice in host.report.choices if choice.origin.found}
        assert reasons == {"found by [plugins.p]"}
    late = ModuleType("late")
    late.register_toolkits = hookimpl(lambda: toolkits)  # type: ignore[attr-defined]
    host = Host({"host": {"autoload": False}}, toolkits={"late": late})
    host.load()
    assert [problem.message for problem in host.problems if problem.fatal] == [
        "a toolkit cannot implement 'register_toolkits': move it to a plugin"
    ]


async def test_hook_register_folders(tmp_path: Path) -> None:
    shipped = plugin_of(register_folders=[ContentFolder("notes", str(tmp_path)), ContentFolder("other", "x")])
    folder = ContentFolder("notes", str(tmp_path), ToolkitInfo("shipping", prefix=False))
    seen: dict[str, Sequence[ContentFolder]] = {}

    class Reader(Plugin):
        @hookimpl
        def register_tools(self, context: PluginContext) -> list[ToolDefinition]:
            def count() -> int:
                """Count the folders."""
                return len(context.folders("notes"))

            seen["hook"] = context.folders("notes")
            return [ToolDefinition(count)]

        @hookimpl
        @asynccontextmanager
        async def lifespan(self, context: PluginContext) -> AsyncIterator[None]:
            seen["lifespan"] = context.folders("notes")
            yield

    async with make_host(plugins={"reader": Reader, "shipping": shipped}) as host:
        assert await value(host, "count") == 1
    assert seen == {"hook": [], "lifespan": [folder]}


@pytest.mark.parametrize("way", ["found", "named", "module", "program"])
def test_a_relative_folder_begins_beside_its_toolkit(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bank_kit.py").write_text('from pegboard import Toolkit\nkit = Toolkit("bank", skills="x/y")\n')
    monkeypatch.syspath_prepend(tmp_path)
    kit = Toolkit("bank", skills="x/y")
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    point = EntryPoint("bank", "bank_kit:kit", "pegboard.toolkits")
    (found,) = found_toolkits([tmp_path / "bank_kit.py"])
    origins = {
        "found": Origin("toolkit", "bank", found.target, found=found),
        "named": Origin("toolkit", "bank", "", given=toolkits_in([tmp_path / "bank_kit.py"])["bank"]),
        "module": Origin("toolkit", "bank", point.value, entry_point=point),
        "program": Origin("toolkit", "bank", "", given=kit),
    }
    if way != "named":
        main.__file__ = str(tmp_path / "program.py")
    loaded = LoadedPlugin(
        origins[way], origins[way].load(), lambda plugin: plugin_context(plugin, None, logging.getLogger())
    )
    assert loaded.folder == tmp_path
