"""The effect of every hook: a host with a plugin serves its contributions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from time import time
from typing import Annotated, Any

import pytest

from pegboard import (
    Authorization,
    Context,
    Host,
    PluginConfig,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceResult,
    ToolExecutionError,
    ToolResult,
    hookspecs,
)
from pegboard.plugin import (
    Command,
    ConfigError,
    Connection,
    ErrorAdapter,
    Extension,
    Method,
    Plugin,
    PluginContext,
    PluginError,
    PromptDefinition,
    ProtocolContext,
    ProtocolError,
    ResourceDefinition,
    Route,
    Store,
    StoreName,
    ToolDefinition,
    ToolRuntimeError,
    TransportContext,
    TransportError,
    around,
    hookimpl,
)
from pegboard.types import (
    ANONYMOUS,
    LOCAL,
    AuthProvider,
    Call,
    Caller,
    CallNext,
    EventStream,
    Failure,
    MethodResult,
    Outcome,
    Request,
    Response,
    TokenRequest,
    ToolAuthorization,
)
from tests.host.hosting import failure, make_host, plugin_of, value


class Settings(PluginConfig):
    word: str = "hello"


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme")


def greet(context: Context, name: str) -> str:
    """Greet a person."""
    return f"{context.config.word} {name}"


def contributing(**contributions: Any) -> type[Plugin]:
    """Return a plugin with settings whose hooks return these contributions."""

    def returning(contribution: Any) -> Any:
        return hookimpl(lambda self: contribution)

    hooks = {hook: returning(contribution) for hook, contribution in contributions.items()}
    return type("Contributing", (Plugin,), {**hooks, "Config": Settings})


async def test_hook_register_tools() -> None:
    class Giving(Plugin):
        Config = Settings

        @hookimpl
        def register_tools(self, context: PluginContext) -> Iterable[ToolDefinition]:
            return [ToolDefinition(greet, name=f"greet_{context.config.word}")]

    async with make_host(plugins={"p": Giving}, config={"plugins": {"p": {"word": "moin"}}}) as host:
        assert await value(host, "greet_moin", {"name": "you"}) == "moin you"
        assert host.assembly.tools["greet_moin"].tool.owner == "p"


async def test_hook_register_resources() -> None:
    plugin = contributing(register_resources=[ResourceDefinition("docs://a", lambda: "the a", mime_type="text/x")])
    async with make_host(plugins={"p": plugin}) as host:
        read = await host.dispatch(Call("resources/read", {"uri": "docs://a"}))
    assert read == ResourceResult((ResourceContents("docs://a", "the a", "text/x"),))


async def test_hook_register_prompts() -> None:
    plugin = contributing(register_prompts=[PromptDefinition(lambda: "What is it?", name="ask", description="Ask.")])
    async with make_host(plugins={"p": plugin}) as host:
        got = await host.dispatch(Call("prompts/get", {"name": "ask"}))
    assert got == PromptResult((PromptMessage("What is it?"),), "Ask.")


async def test_hook_register_middleware() -> None:
    async def shout(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        assert isinstance(outcome, ToolResult)
        return ToolResult(outcome.value.upper())

    plugin = contributing(register_tools=[ToolDefinition(greet)], register_middleware=[around("tools/call")(shout)])
    async with make_host(plugins={"p": plugin}) as host:
        assert await value(host, "greet", {"name": "you"}) == "HELLO YOU"


class Adapter:
    """Adapts one kind of exception to `says`, and counts its calls."""

    def __init__(self, slug: str, says: Any, kind: type[Exception] = Exception, *, fallback: bool = False) -> None:
        self.slug = slug
        self.says = says
        self.kind = kind
        self.fallback = fallback
        self.asked = 0

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        self.asked += 1
        if isinstance(self.says, BaseException) and not isinstance(self.says, ToolRuntimeError):
            raise self.says
        return self.says if isinstance(error, self.kind) else None


def adapting(*adapters: ErrorAdapter) -> type[Plugin]:
    return contributing(register_error_adapters=adapters)


DISK = adapting(Adapter("disk", ToolExecutionError("The disk is full."), OSError))


def stumble(over: str) -> str:
    """Raise the named exception."""
    known: dict[str, BaseException] = {
        "disk": OSError("canary"),
        "shape": KeyError("canary"),
        "purpose": ToolExecutionError("on purpose"),
        "exit": SystemExit(3),
    }
    if over in known:
        raise known[over]
    return f"not over {over}"


STUMBLING = plugin_of(tools=[ToolDefinition(stumble)])


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])
async def test_hook_register_error_adapters(inline: bool) -> None:
    tools = plugin_of(tools=[ToolDefinition(stumble, inline=inline)])
    async with make_host(plugins={"d": DISK, "t": tools}) as host:
        adapted = await failure(host, "stumble", {"over": "disk"})
        others = [(await failure(host, "stumble", {"over": name})).error for name in ("shape", "purpose", "exit")]
        assert await value(host, "stumble", {"over": "nothing"}) == "not over nothing"
    assert adapted.error.message == "The disk is full."
    assert adapted.error_id is not None
    assert isinstance(adapted.error.__cause__, OSError)
    unexpected = "It failed unexpectedly."
    assert [error.message for error in others] == [unexpected, "on purpose", unexpected]


async def test_error_adapters_adapt_errors_of_resources_and_prompts() -> None:
    def fails() -> str:
        """Fail."""
        raise OSError("canary")

    failing = contributing(
        register_resources=[ResourceDefinition("x://y", fails)], register_prompts=[PromptDefinition(fails)]
    )
    async with make_host(plugins={"d": DISK, "f": failing}) as host:
        for call in (Call("resources/read", {"uri": "x://y"}), Call("prompts/get", {"name": "fails"})):
            outcome = await host.dispatch(call)
            assert isinstance(outcome, Failure)
            assert outcome.error.message == "The disk is full."


async def test_error_adapters_are_tried_by_name_and_fallbacks_last() -> None:
    says = {name: Adapter(name, ToolExecutionError(name), OSError) for name in ("b", "c")}
    last = Adapter("last", ToolExecutionError("last"), fallback=True)
    plugins = {"c": adapting(says["c"]), "a": adapting(last), "b": adapting(says["b"]), "t": STUMBLING}
    async with make_host(plugins=plugins) as host:
        assert (await failure(host, "stumble", {"over": "disk"})).error.message == "b"
        assert (says["b"].asked, says["c"].asked, last.asked) == (1, 0, 0)
        assert (await failure(host, "stumble", {"over": "shape"})).error.message == "last"
        assert (says["b"].asked, says["c"].asked, last.asked) == (2, 1, 1)


@pytest.mark.parametrize(
    ("says", "logged"),
    [
        (ValueError("a bug"), "the error adapter bad failed on OSError"),
        (SystemExit(2), "the error adapter bad failed on OSError"),
        ("no error at all", "the error adapter bad returned str"),
    ],
    ids=["raises", "exits", "gives no error"],
)
async def test_an_error_adapter_that_fails_is_logged_and_skipped(
    says: Any, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    bad = Adapter("bad", says)
    async with make_host(plugins={"a": adapting(bad), "b": DISK, "t": STUMBLING}) as host:
        assert (await failure(host, "stumble", {"over": "disk"})).error.message == "The disk is full."
    assert bad.asked == 1
    assert logged in caplog.text


async def test_hook_register_auth_providers() -> None:
    tool = ToolDefinition(greet, name="greet", requires_auth=Acme(scopes=["words"]))
    plugin = contributing(register_tools=[tool], register_auth_providers=[Acme.provider])
    async with make_host(plugins={"p": plugin}) as host:
        (listed,) = (await host.dispatch(Call("tools/list"))).items  # type: ignore[union-attr]
    assert listed.meta == {
        "pegboard/requirements": {"authorization": {"provider": "acme", "type": "oauth2", "scopes": ["words"]}}
    }


class Peer:
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


async def messages(*lines: bytes) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


class Shouting:
    """A protocol that returns each message in capitals, and fails on one."""

    name = "shouting"

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> None:
        async for message in messages:
            if message == b"fall":
                raise ValueError("the protocol fell over")
            connection.send(message.upper() + host.identity.name.encode())


class OneConnection:
    """A transport that serves one connection and ends."""

    name = "one"

    def __init__(self) -> None:
        self.peer = Peer()

    async def run(self, host: TransportContext) -> None:
        host.opened("a list")
        await host.serve(self.peer, messages(b"a", b"b"))


SPEAKING = contributing(register_protocols=[Shouting()])


async def test_hook_register_transports() -> None:
    transport, opened = OneConnection(), list[str]()
    plugins = {"p": SPEAKING, "t": contributing(register_transports=[transport])}
    async with make_host(plugins=plugins, transports=["one"], name="!") as host:
        host.on_opened = lambda address, _: opened.append(address)
        await host.run()
        with pytest.raises(TransportError, match="'two'"):
            await host.run(["two"])
    assert (opened, transport.peer.sent, transport.peer.closed) == (["a list"], [b"A!", b"B!"], True)


async def test_hook_register_protocols(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(plugins={"p": SPEAKING}, name="!") as host:
        first, second = Peer(), Peer()
        await host.serve(first, messages(b"a", b"fall", b"b"))
        await host.serve(second, messages(b"c"))
    assert (first.sent, first.closed) == ([b"A!"], True)
    assert (second.sent, second.closed) == ([b"C!"], True)
    assert "the protocol fell over" in caplog.text


@pytest.mark.parametrize("count", [0, 2])
async def test_message_streams_need_exactly_one_protocol(count: int) -> None:
    async with make_host(plugins={"p": contributing(register_protocols=[Shouting()] * count)}) as host:
        there = "shouting" if count else "none"
        with pytest.raises(TransportError, match=f"exactly one protocol; there are: {there}"):
            await host.serve(Peer(), messages())


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
    async def endless() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    async with make_host(plugins={"p": SPEAKING}, name="!") as host:
        peer = Peer()
        await host.serve(peer, endless(), caller=Caller("ada", expires_at=time() + 0.05))
    assert (peer.sent, peer.closed) == ([b"A!"], True)


class NoHeaders(dict[str, str]):
    """The header fields of a request without any."""

    def getall(self, name: str, default: Any) -> Any:
        return default


async def requested(host: Host, method: str, path: str, body: bytes = b"", caller: Caller = LOCAL) -> Response:
    found = await host.respond(Request(method, path, {}, NoHeaders(), body, caller))
    assert isinstance(found, Response)
    return found


async def test_hook_register_routes() -> None:
    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        if request.body == b"crash":
            raise KeyError("canary-7f3a91")
        return Response(201, host.identity.name.encode() + request.body)

    async def other(request: Request, host: ProtocolContext) -> Response:
        return Response(204)

    routes = [Route("POST", "/made", answer), Route("GET", "/any", answer), Route("*", "/any", other)]
    async with make_host(plugins={"p": contributing(register_routes=routes)}, name="n") as host:
        wrong = await requested(host, "GET", "/made")
        assert (wrong.status, wrong.headers["Allow"]) == (405, "POST")
        statuses = [(await requested(host, method, "/any")).status for method in ("GET", "HEAD", "POST", "ODD")]
        assert statuses == [201, 201, 204, 204]
        assert (await requested(host, "POST", "/other")).status == 404
        crashed = await requested(host, "POST", "/made", b"crash")
        assert (crashed.status, b"canary" in crashed.body) == (500, False)
        assert await requested(host, "POST", "/made", b"?") == Response(201, b"n?")


class Door:
    """Admits callers who know the word, with the name that they give."""

    def __init__(self, policy: str, word: str, only_local: str | None = None) -> None:
        self.policy = policy
        self.word = word
        self.only_local = only_local

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
    return contributing(register_authenticators=doors, register_routes=routes)


async def test_hook_register_authenticators() -> None:
    plugin = guarded_by(Door("vault", "sesame"), Door("vault", "mellon"), Door("public", "nobody"))
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


async def test_an_authenticator_for_this_machine_only_refuses_other_machines() -> None:
    async with make_host(plugins={"p": guarded_by(Door("vault", "dev", "its word is known"))}) as host:
        host.opened("http://127.0.0.1:1", local=True)
        with pytest.raises(ConfigError, match="and its word is known"):
            host.opened("http://0.0.0.0:1", local=False)


async def test_an_authenticator_for_this_machine_only_refuses_requests_of_a_proxy() -> None:
    local = Door("vault", "dev", "its word is known")
    async with make_host(plugins={"p": guarded_by(local)}) as host:
        assert (await requested(host, "POST", "/vault", b"dev Ada")).body == repr(Caller("Ada")).encode()
        assert (await requested(host, "POST", "/vault", b"dev Ada", ANONYMOUS)).status == 403
    async with make_host(plugins={"p": guarded_by(local, Door("vault", "long"))}) as host:
        assert await requested(host, "POST", "/vault", b"dev Ada", ANONYMOUS) == Response(401, b"long")
        assert (await requested(host, "POST", "/vault", b"long Ada", ANONYMOUS)).status == 200


async def test_hook_register_commands() -> None:
    command = Command("greet", "greet somebody", lambda options: f"hello {options}")
    host = make_host(plugins={"p": contributing(register_commands=[command])})
    host.load()
    (command,) = (command for plugin in host.report.plugins for command in plugin.contributions["register_commands"])
    assert command.run("Ada") == "hello Ada"


async def test_hook_register_methods() -> None:
    async def get(call: Call) -> Outcome:
        if call.params.get("jobId") != "1":
            raise ProtocolError(-32602, "There is no such job.")
        return MethodResult({"status": "working"})

    added = [Extension("com.acme/jobs", {"cancel": False}), Method("jobs/get", get, "com.acme/jobs")]
    async with make_host(plugins={"p": contributing(register_methods=added)}) as host:
        assert await host.dispatch(Call("jobs/get", {"jobId": "1"})) == MethodResult({"status": "working"})
        wrong = await host.dispatch(Call("jobs/get", {"jobId": "2"}))
        assert isinstance(wrong, Failure)
        assert wrong.error.message == "There is no such job."
        assert host.contributed.extensions["com.acme/jobs"].settings == {"cancel": False}


async def test_hook_register_token_sources() -> None:
    class Mint:
        async def token(self, request: TokenRequest) -> Authorization | None:
            return Authorization(f"{request.user_id} for {request.tool}")

    def use(context: Context) -> str:
        """Use the token."""
        return context.get_auth_token_or_empty()

    plugin = contributing(
        register_tools=[ToolDefinition(use, name="use", requires_auth=Acme())],
        register_auth_providers=[Acme.provider],
        register_token_sources=[Mint()],
    )
    async with make_host(plugins={"p": plugin}, user="ann") as host:
        assert await value(host, "use") == "ann for use"


async def test_hook_register_secret_stores() -> None:
    class Vault:
        name = "vault"

        def get(self, name: str) -> str | None:
            return f"the {name}" if name == "KEY" else None

    def use(context: Context) -> str:
        """Use the key."""
        return context.get_secret("KEY")

    tools = [ToolDefinition(use, requires_secrets=("KEY",))]
    plugin = contributing(register_secret_stores=[Vault()], register_tools=tools)
    async with make_host(plugins={"p": plugin}) as host:
        assert await value(host, "use") == "the KEY"


async def test_hook_register_stores() -> None:
    class Names:
        """A contract."""

    class Selecting(PluginConfig):
        store: Annotated[str, StoreName(Names)] = "offering"

    story: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[Names]:
        story.append("opened")
        yield Names()
        story.append("closed")

    async def answer(request: Request, host: ProtocolContext) -> Response:
        return Response(body=type(await host.store(Names, "offering")).__name__.encode())

    offering = contributing(register_stores=[Store(Names, opened), Store(Names, opened, "unused")])
    using = contributing(register_routes=[Route("GET", "/name", answer)])
    using.Config = Selecting
    async with make_host(plugins={"offering": offering, "using": using}) as host:
        assert story == []
        found = await host.respond(Request("GET", "/name", {}, NoHeaders()))
        assert isinstance(found, Response)
        assert found.body == b"Names"
        with pytest.raises(PluginError, match="no setting selects a Names named 'unused'"):
            await host.store(Names, "unused")
    assert story == ["opened", "closed"]


async def test_hook_lifespan() -> None:
    def state(context: Context) -> str:
        """Return the state."""
        return str(context.state)

    class Living(Plugin):
        Config = Settings

        @hookimpl
        @asynccontextmanager
        async def lifespan(self, context: PluginContext) -> AsyncIterator[str]:
            yield f"{context.name} says {context.config.word}"

        @hookimpl
        def register_tools(self) -> Iterable[ToolDefinition]:
            return [ToolDefinition(state)]

    async with make_host(plugins={"p": Living}) as host:
        assert await value(host, "state") == "p says hello"


REGISTERING = [hook for hook in vars(hookspecs) if hook.startswith("register_")]


def implementing_every_hook(called: list[str]) -> type[Plugin]:
    """Return a plugin that notes when each of its hooks is called."""

    def noting(hook: str) -> Any:
        def note(self: Plugin, context: PluginContext) -> list[Any]:
            called.append(f"{context.name} {hook}")
            return []

        return hookimpl(note)

    @asynccontextmanager
    async def lifespan(self: Plugin, context: PluginContext) -> AsyncIterator[None]:
        called.append(f"{context.name} enters")
        yield
        called.append(f"{context.name} leaves")

    members = {hook: noting(hook) for hook in REGISTERING}
    return type("Everything", (Plugin,), {**members, "lifespan": hookimpl(lifespan)})


async def test_hooks_are_called_once_for_each_plugin_in_the_order_of_names_and_before_any_lifespan() -> None:
    called: list[str] = []
    every = implementing_every_hook(called)
    async with make_host(plugins={"b": every, "a": every}) as host:
        contributed = called[:-2]
        await host.dispatch(Call("tools/list"))
        assert called[-2:] == ["a enters", "b enters"]
    assert called[-2:] == ["b leaves", "a leaves"]
    assert sorted(contributed) == sorted(f"{name} {hook}" for name in "ab" for hook in REGISTERING)
    assert [line[0] for line in contributed] == ["a"] * len(REGISTERING) + ["b"] * len(REGISTERING)


@pytest.mark.parametrize("hook", ["register_tools", "register_middleware", "register_secret_stores"])
async def test_a_plugin_whose_hook_raises_is_left_out_and_affects_no_other(hook: str) -> None:
    def fail(self: Any) -> Any:
        raise OSError("no disk")

    broken = contributing(register_tools=[ToolDefinition(greet, name="of_the_broken")])
    fail.__name__ = hook
    setattr(broken, hook, hookimpl(fail))
    host = make_host(plugins={"broken": broken, "good": contributing(register_transports=[OneConnection()])})
    host.load()
    assert list(host.assembly.tools) == []
    assert list(host.assembly.transports) == ["one"]
    (problem,) = host.problems
    assert "no disk" in problem.message
    assert problem.origin is not None
    assert problem.origin.name == "broken"
