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
    Authenticator,
    Command,
    ConfigError,
    Connection,
    ErrorAdapter,
    Extension,
    Method,
    Middleware,
    NotificationHandler,
    Plugin,
    PluginContext,
    PluginError,
    PromptDefinition,
    ProtocolContext,
    ProtocolError,
    ResourceDefinition,
    Route,
    SecretStore,
    Store,
    StoreName,
    StreamProtocol,
    TokenSource,
    ToolDefinition,
    ToolRuntimeError,
    Topic,
    Transport,
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


def greet(context: Context, name: str) -> str:
    """Greet a person."""
    return f"{context.config.word} {name}"


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
    """A protocol that returns each message in capitals."""

    name = "shouting"

    async def serve(
        self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
    ) -> None:
        async for message in messages:
            connection.send(message.upper() + host.identity.name.encode())


class OneConnection:
    """A transport that serves one connection and ends."""

    name = "one"

    def __init__(self) -> None:
        self.peer = Peer()

    async def run(self, host: TransportContext) -> None:
        host.opened("a list")
        await host.serve(self.peer, messages(b"a", b"b"))


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
    class Giving(Plugin):
        @hookimpl
        def register_resources(self) -> Iterable[ResourceDefinition]:
            return [ResourceDefinition("docs://a", lambda: "the a", mime_type="text/x")]

    async with make_host(plugins={"p": Giving}) as host:
        assert await host.dispatch(Call("resources/read", {"uri": "docs://a"})) == ResourceResult(
            (ResourceContents("docs://a", "the a", "text/x"),)
        )
        assert host.offers("resources")


async def test_hook_register_prompts() -> None:
    class Giving(Plugin):
        @hookimpl
        def register_prompts(self) -> Iterable[PromptDefinition]:
            return [PromptDefinition(lambda: "What is it?", name="ask", description="Ask.")]

    async with make_host(plugins={"p": Giving}) as host:
        assert await host.dispatch(Call("prompts/get", {"name": "ask"})) == PromptResult(
            (PromptMessage("What is it?"),), "Ask."
        )
        assert host.offers("prompts")


async def test_hook_register_middleware() -> None:
    async def shout(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        assert isinstance(outcome, ToolResult)
        return ToolResult(outcome.value.upper())

    class Giving(Plugin):
        Config = Settings

        @hookimpl
        def register_tools(self) -> Iterable[ToolDefinition]:
            return [ToolDefinition(greet)]

        @hookimpl
        def register_middleware(self) -> Iterable[Middleware]:
            return [around("tools/call")(shout)]

    async with make_host(plugins={"p": Giving}) as host:
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
    class Adapting(Plugin):
        @hookimpl
        def register_error_adapters(self) -> Iterable[ErrorAdapter]:
            return adapters

    return Adapting


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


async def test_hook_register_auth_providers() -> None:
    class Acme(ToolAuthorization):
        provider = AuthProvider("acme", "Acme")

    class Describing(Plugin):
        @hookimpl
        def register_tools(self) -> Iterable[ToolDefinition]:
            return [ToolDefinition(greet, name="greet", requires_auth=Acme(scopes=["words"]))]

        @hookimpl
        def register_auth_providers(self) -> Iterable[AuthProvider]:
            return [Acme.provider]

    async with make_host(plugins={"p": Describing}) as host:
        (listed,) = (await host.dispatch(Call("tools/list"))).items  # type: ignore[union-attr]
    assert listed.meta == {
        "pegboard/requirements": {"authorization": {"provider": "acme", "type": "oauth2", "scopes": ["words"]}}
    }


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])
async def test_hook_register_error_adapters(inline: bool) -> None:
    disk = adapting(Adapter("disk", ToolExecutionError("The disk is full."), OSError))
    tools = plugin_of(tools=[ToolDefinition(stumble, inline=inline)])
    async with make_host(plugins={"d": disk, "t": tools}) as host:
        adapted = await failure(host, "stumble", {"over": "disk"})
        assert adapted.error.message == "The disk is full."
        assert adapted.error_id is not None
        assert isinstance(adapted.error.__cause__, OSError)
        unknown = await failure(host, "stumble", {"over": "shape"})
        assert unknown.error.message == "It failed unexpectedly."
        assert (await failure(host, "stumble", {"over": "purpose"})).error.message == "on purpose"
        assert (await failure(host, "stumble", {"over": "exit"})).error.message == "It failed unexpectedly."
        assert await value(host, "stumble", {"over": "nothing"}) == "not over nothing"


async def test_error_adapters_adapt_errors_of_resources_and_prompts() -> None:
    def fails() -> str:
        """Fail."""
        raise OSError("canary")

    class Failing(Plugin):
        @hookimpl
        def register_resources(self) -> Iterable[ResourceDefinition]:
            return [ResourceDefinition("x://y", fails)]

        @hookimpl
        def register_prompts(self) -> Iterable[PromptDefinition]:
            return [PromptDefinition(fails)]

    disk = adapting(Adapter("disk", ToolExecutionError("The disk is full."), OSError))
    async with make_host(plugins={"d": disk, "f": Failing}) as host:
        for call in (Call("resources/read", {"uri": "x://y"}), Call("prompts/get", {"name": "fails"})):
            outcome = await host.dispatch(call)
            assert isinstance(outcome, Failure)
            assert outcome.error.message == "The disk is full."


async def test_error_adapters_are_tried_by_name_and_fallbacks_last() -> None:
    says = {name: Adapter(name, ToolExecutionError(name), OSError) for name in ("b", "c")}
    last = Adapter("last", ToolExecutionError("last"), fallback=True)
    plugins = {"c": adapting(says["c"]), "a": adapting(last), "b": adapting(says["b"])}
    async with make_host(plugins={**plugins, "t": plugin_of(tools=[ToolDefinition(stumble)])}) as host:
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
    bad, good = Adapter("bad", says), Adapter("good", ToolExecutionError("The disk is full."))
    tools = plugin_of(tools=[ToolDefinition(stumble)])
    async with make_host(plugins={"a": adapting(bad), "b": adapting(good), "t": tools}) as host:
        assert (await failure(host, "stumble", {"over": "disk"})).error.message == "The disk is full."
    assert bad.asked == 1
    assert logged in caplog.text


class Carrying(Plugin):
    """Contributes a transport and a protocol."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.transport = OneConnection()

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        return [self.transport]

    @hookimpl
    def register_protocols(self) -> Iterable[StreamProtocol]:
        return [Shouting()]


async def test_hook_register_transports() -> None:
    async with make_host(plugins={"p": Carrying}, transports=["one"]) as host:
        opened: list[str] = []
        host.on_opened = lambda address, _: opened.append(address)
        await host.run()
        transport = host.assembly.transports["one"]
    assert isinstance(transport, OneConnection)
    assert opened == ["a list"]
    assert transport.peer.sent
    assert transport.peer.closed


async def test_hook_register_protocols() -> None:
    async with make_host(plugins={"p": Carrying}, name="!") as host:
        peer = Peer()
        await host.serve(peer, messages(b"a", b"b"))
    assert peer.sent == [b"A!", b"B!"]
    assert peer.closed


@pytest.mark.parametrize("count", [0, 2])
async def test_message_streams_need_exactly_one_protocol(count: int) -> None:
    class Speaking(Plugin):
        @hookimpl
        def register_protocols(self) -> Iterable[StreamProtocol]:
            return [Shouting()] * count

    async with make_host(plugins={"p": Speaking}) as host:
        with pytest.raises(
            TransportError, match="exactly one protocol; there are: " + ("shouting" if count else "none")
        ):
            await host.serve(Peer(), messages())


async def test_an_anonymous_stream_is_refused_if_callers_authenticate(
    caplog: pytest.LogCaptureFixture,
) -> None:
    plugins = {"p": Carrying, "q": guarded_by(Door("mcp", "sesame"))}
    async with make_host(plugins=plugins, name="!") as host:
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

    async with make_host(plugins={"p": Carrying}, name="!") as host:
        peer = Peer()
        await host.serve(peer, endless(), caller=Caller("ada", expires_at=time() + 0.05))
    assert (peer.sent, peer.closed) == ([b"A!"], True)


async def test_a_protocol_that_fails_loses_only_its_connection(caplog: pytest.LogCaptureFixture) -> None:
    class Falling:
        name = "falling"

        async def serve(
            self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolContext, caller: Caller
        ) -> None:
            async for message in messages:
                if message == b"fall":
                    raise ValueError("the protocol fell over")
                connection.send(message)

    class Speaking(Plugin):
        @hookimpl
        def register_protocols(self) -> Iterable[StreamProtocol]:
            return [Falling()]

    async with make_host(plugins={"p": Speaking}) as host:
        first, second = Peer(), Peer()
        await host.serve(first, messages(b"fall", b"a"))
        await host.serve(second, messages(b"b"))
    assert (first.sent, first.closed) == ([], True)
    assert (second.sent, second.closed) == ([b"b"], True)
    assert "the protocol fell over" in caplog.text


class NoHeaders(dict[str, str]):
    """The header fields of a request without any."""

    def getall(self, name: str, default: Any) -> Any:
        return default


async def test_hook_register_routes() -> None:
    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        if request.body == b"crash":
            raise KeyError("canary-7f3a91")
        return Response(201, host.identity.name.encode() + request.body)

    class Routing(Plugin):
        @hookimpl
        def register_routes(self) -> Iterable[Route]:
            return [Route("POST", "/made", answer), Route("GET", "/any", answer), Route("*", "/any", other)]

    async def other(request: Request, host: ProtocolContext) -> Response:
        return Response(204)

    async with make_host(plugins={"p": Routing}, name="n") as host:

        async def respond(method: str, path: str, body: bytes = b"") -> Response:
            found = await host.respond(Request(method, path, {}, NoHeaders(), body))
            assert isinstance(found, Response)
            return found

        assert await respond("POST", "/made", b"!") == Response(201, b"n!")
        assert (await respond("GET", "/made")).status == 405
        assert (await respond("GET", "/made")).headers["Allow"] == "POST"
        assert [(await respond(method, "/any")).status for method in ("GET", "HEAD", "POST", "ODD")] == [
            201,
            201,
            204,
            204,
        ]
        assert (await respond("POST", "/other")).status == 404
        crashed = await respond("POST", "/made", b"crash")
        assert crashed.status == 500
        assert b"canary" not in crashed.body
        assert (await respond("POST", "/made", b"?")).body == b"n?"


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


def guarded_by(*doors: Door, routes: Iterable[str] = ("vault", "public", "mcp")) -> type[Plugin]:
    """Return a plugin with authenticators, and a route of each policy that returns its caller."""

    async def answer(request: Request, host: ProtocolContext) -> Response | EventStream:
        return Response(200, repr(request.caller).encode())

    class Guarding(Plugin):
        @hookimpl
        def register_authenticators(self) -> Iterable[Authenticator]:
            return doors

        @hookimpl
        def register_routes(self) -> Iterable[Route]:
            return [Route("POST", f"/{policy}", answer, auth=policy) for policy in routes]

    return Guarding


async def asked(host: Host, path: str, body: bytes, caller: Caller = LOCAL) -> Response:
    found = await host.respond(Request("POST", path, {}, NoHeaders(), body, caller))
    assert isinstance(found, Response)
    return found


async def test_hook_register_authenticators() -> None:
    plugin = guarded_by(Door("vault", "sesame"), Door("vault", "mellon"), Door("public", "nobody"))
    async with make_host(plugins={"p": plugin}) as host:
        assert (await asked(host, "/vault", b"sesame Ada")).body == repr(Caller("Ada")).encode()
        assert (await asked(host, "/vault", b"mellon Bob")).body == repr(Caller("Bob")).encode()
        assert await asked(host, "/vault", b"please") == Response(401, b"sesame")
        crashed = await host.respond(Request("POST", "/vault", {}, NoHeaders(), b"crash"))
        assert isinstance(crashed, Response)
        assert (crashed.status, b"canary" in crashed.body) == (500, False)
        assert (await asked(host, "/public", b"please")).body == repr(LOCAL).encode()
        assert (await asked(host, "/mcp", b"please")).body == repr(LOCAL).encode()


async def test_an_authenticator_for_this_machine_only_refuses_other_machines() -> None:
    async with make_host(plugins={"p": guarded_by(Door("vault", "dev", "its word is known"))}) as host:
        host.opened("http://127.0.0.1:1", local=True)
        with pytest.raises(ConfigError, match="and its word is known"):
            host.opened("http://0.0.0.0:1", local=False)


async def test_hook_register_commands() -> None:
    class Commanding(Plugin):
        @hookimpl
        def register_commands(self) -> Iterable[Command]:
            return [Command("greet", "greet somebody", lambda options: f"hello {options}")]

    host = make_host(plugins={"p": Commanding})
    host.load()
    (command,) = (command for plugin in host.report.plugins for command in plugin.contributions["register_commands"])
    assert command.run("Ada") == "hello Ada"


async def test_hook_register_methods() -> None:
    async def get(call: Call) -> Outcome:
        if call.params.get("jobId") != "1":
            raise ProtocolError(-32602, "There is no such job.")
        return MethodResult({"status": "working"})

    class Adding(Plugin):
        @hookimpl
        def register_methods(self) -> Iterable[Extension | Method | NotificationHandler | Topic]:
            return [Extension("com.acme/jobs", {"cancel": False}), Method("jobs/get", get, "com.acme/jobs")]

    async with make_host(plugins={"p": Adding}) as host:
        assert await host.dispatch(Call("jobs/get", {"jobId": "1"})) == MethodResult({"status": "working"})
        wrong = await host.dispatch(Call("jobs/get", {"jobId": "2"}))
        assert isinstance(wrong, Failure)
        assert wrong.error.message == "There is no such job."
        assert host.contributed.extensions["com.acme/jobs"].settings == {"cancel": False}


async def test_hook_register_token_sources() -> None:
    class Acme(ToolAuthorization):
        provider = AuthProvider("acme", "Acme")

    class Mint:
        def __init__(self, context: PluginContext) -> None:
            self.word = context.config.word

        async def token(self, request: TokenRequest) -> Authorization | None:
            return Authorization(f"{self.word} {request.user_id} for {request.tool}")

    class Giving(Plugin):
        Config = Settings

        @hookimpl
        def register_tools(self) -> Iterable[ToolDefinition]:
            return [ToolDefinition(use, name="use", requires_auth=Acme())]

        @hookimpl
        def register_auth_providers(self) -> Iterable[AuthProvider]:
            return [Acme.provider]

        @hookimpl
        def register_token_sources(self, context: PluginContext) -> Iterable[TokenSource]:
            return [Mint(context)]

    def use(context: Context) -> str:
        """Use the token."""
        return context.get_auth_token_or_empty()

    async with make_host(plugins={"p": Giving}, user="ann") as host:
        assert await value(host, "use") == "hello ann for use"


async def test_hook_register_secret_stores() -> None:
    class Vault:
        name = "vault"

        def get(self, name: str) -> str | None:
            return f"the {name}" if name == "KEY" else None

    def use(context: Context) -> str:
        """Use the key."""
        return context.get_secret("KEY")

    class Keeping(Plugin):
        @hookimpl
        def register_secret_stores(self) -> Iterable[SecretStore]:
            return [Vault()]

        @hookimpl
        def register_tools(self) -> Iterable[ToolDefinition]:
            return [ToolDefinition(use, requires_secrets=("KEY",))]

    async with make_host(plugins={"p": Keeping}) as host:
        assert await value(host, "use") == "the KEY"


async def test_hook_register_stores() -> None:
    class Names:
        """A contract."""

        def get(self) -> str:
            raise NotImplementedError

    class Given(Names):
        def get(self) -> str:
            return "kept"

    story: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[Names]:
        story.append("opened")
        yield Given()
        story.append("closed")

    class Offering(Plugin):
        @hookimpl
        def register_stores(self) -> Iterable[Store]:
            return [Store(Names, opened), Store(Names, opened, "unused")]

    class Settings(PluginConfig):
        store: Annotated[str, StoreName(Names)] = "offering"

    class Using(Plugin):
        Config = Settings

        @hookimpl
        def register_routes(self) -> Iterable[Route]:
            return [Route("GET", "/name", self.answer)]

        async def answer(self, request: Request, host: ProtocolContext) -> Response:
            store: Names = await host.store(Names, self.config.store)
            return Response(body=store.get().encode())

    async with make_host(plugins={"offering": Offering, "using": Using}) as host:
        assert story == []
        for _ in range(2):
            found = await host.respond(Request("GET", "/name", {}, NoHeaders()))
            assert isinstance(found, Response)
            assert found.body == b"kept"
        with pytest.raises(PluginError, match="no setting selects a Names named 'unused'"):
            await host.store(Names, "unused")
    assert story == ["opened", "closed"]


async def test_hook_lifespan() -> None:
    story: list[str] = []

    def state(context: Context) -> str:
        """Return the state."""
        return str(context.state)

    class Living(Plugin):
        Config = Settings

        @hookimpl
        @asynccontextmanager
        async def lifespan(self, context: PluginContext) -> AsyncIterator[str]:
            story.append("enter")
            yield f"{context.name} says {context.config.word}"
            story.append("leave")

        @hookimpl
        def register_tools(self) -> Iterable[ToolDefinition]:
            return [ToolDefinition(state)]

    async with make_host(plugins={"p": Living}) as host:
        assert await value(host, "state") == "p says hello"
        assert story == ["enter"]
    assert story == ["enter", "leave"]


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


REGISTERING = [hook for hook in vars(hookspecs) if hook.startswith("register_")]


async def test_hooks_are_called_once_for_each_plugin_in_the_order_of_names_and_before_any_lifespan() -> None:
    called: list[str] = []
    every = implementing_every_hook(called)
    async with make_host(plugins={"b": every, "a": every}) as host:
        assert called[-2:] == ["a enters", "b enters"]
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

    def tools(self: Any) -> list[ToolDefinition]:
        return [ToolDefinition(greet, name="of_the_broken")]

    members = {"register_tools": hookimpl(tools), hook: hookimpl(fail)}
    fail.__name__ = hook
    broken = type("Broken", (Plugin,), members)
    host = make_host(plugins={"broken": broken, "good": Carrying})
    host.load()
    assert list(host.assembly.tools) == []
    assert list(host.assembly.transports) == ["one"]
    (problem,) = host.problems
    assert "no disk" in problem.message
    assert problem.origin is not None
    assert problem.origin.name == "broken"
