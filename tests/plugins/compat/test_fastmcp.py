"""Servers in the style of FastMCP, served by pegboard."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Dict, List, NotRequired, Optional, Required, TypedDict
from weakref import WeakSet

import pytest
from typing_extensions import TypedDict as RecursiveTypedDict

from pegboard import Host
from pegboard.loading.discovery import Selection
from pegboard.plugin import PluginError
from pegboard_plugins.compat.fastmcp import (
    Context,
    CurrentContext,
    Depends,
    FastMCP,
    Image,
    MCPServer,
    Message,
    Prompt,
    Resolve,
    ToolError,
)
from pegboard_plugins.compat.fastmcp.apps import AppConfig, ResourceCSP
from pegboard_plugins.compat.fastmcp.exceptions import AuthorizationError, ValidationError
from pegboard_plugins.compat.fastmcp.item_definitions import before_sections
from pegboard_plugins.compat.fastmcp.prompts import PromptResult
from pegboard_plugins.compat.fastmcp.server.dependencies import get_access_token, get_http_request
from pegboard_plugins.compat.fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from pegboard_plugins.compat.fastmcp.tools import Tool, ToolResult
from pegboard_plugins.compat.fastmcp.types import Completion, TextContent
from pegboard_plugins.compat.mcp import FastMCP as OfficialFastMCP
from pegboard_plugins.compat.typed_dicts import plain_type
from pegboard_testing import PlainClient, accept, connect, decline, reply
from tests.plugins.compat.bookshop import EVENTS, in_a_thread, mcp, sell
from tests.plugins.compat.bookshop import lifespan as bookshop_lifespan
from tests.support.asgi import lifespan as asgi_lifespan
from tests.support.asgi import send
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.http_mcp import call, mirrored, modern
from tests.support.issuer import RESOURCE, Issuer
from tests.support.serving import serving

REVISIONS = ["2025-11-25", "2026-07-28"]


@pytest.fixture(params=REVISIONS)
def client(request: pytest.FixtureRequest) -> Iterator[PlainClient]:
    with connect(mcp, revision=request.param) as client:
        assert client.problems == ()
        yield client


def test_its_schemas_come_from_its_annotations(client: PlainClient) -> None:
    tools = {tool["name"]: tool for tool in client.tools()}
    assert tools["untyped"]["inputSchema"]["properties"] == {"a": {}, "b": {"default": 2}}
    assert tools["untyped"]["annotations"] == {"readOnlyHint": True}
    assert tools["order"]["inputSchema"]["properties"].keys() == {"title"}
    assert tools["reserve"]["inputSchema"]["properties"].keys() == {"title"}
    assert tools["shelf"]["outputSchema"]["required"] == ["row"]
    assert tools["checked"]["outputSchema"]["properties"] == {"copies": {"type": "integer"}}
    assert "outputSchema" not in tools["mixed"]
    assert tools["cover"]["_meta"]["pegboard/tags"] == ["shop"]


class Leaf(TypedDict):
    color: str


class Tree(RecursiveTypedDict):
    branches: list[Tree]


def test_typed_dicts_of_typing_are_accepted_at_any_depth() -> None:
    server = FastMCP()

    @server.tool()
    def grow(trees: list[Tree], leaves: dict[str, list[Leaf]]) -> tuple[list[Tree], dict[str, list[Leaf]]]:
        return trees, leaves

    grown: dict[str, Any] = {"trees": [{"branches": [{"branches": []}]}], "leaves": {"a": [{"color": "red"}]}}
    with connect(server) as client:
        assert json.loads(client.call("grow", grown).text) == list(grown.values())


class Branch(TypedDict):
    length: int
    color: NotRequired[str]


class Twig(TypedDict, total=False):
    length: Required[int]
    color: str


@pytest.mark.parametrize("kind", [Branch, Twig])
def test_marks_of_members_count_in_annotations_that_are_strings(kind: Any) -> None:
    assert plain_type(kind).__required_keys__ == {"length"}


class Labels(TypedDict):
    by_leaf: Dict  # type: ignore[type-arg]
    notes: Optional[List]  # type: ignore[type-arg]


def test_bare_generics_and_all_types_of_binary_data_have_schemas() -> None:
    server = FastMCP()

    @server.tool()
    def scan(data: bytes | bytearray | memoryview, extra: bytearray | None = None) -> memoryview | str:
        return f"{data!r} {extra!r}"

    @server.tool()
    def label(labels: Labels, more: Dict = {}) -> Dict:  # type: ignore[type-arg]  # noqa: B006
        return {**labels["by_leaf"], **more}

    with connect(server) as client:
        assert client.call("scan", data="AP8=", extra="AA==").text == "b'\\x00\\xff' b'\\x00'"
        assert client.call("label", labels={"by_leaf": {"oak": 1}, "notes": None}).structured == {"oak": 1}


def test_its_results_become_content(client: PlainClient) -> None:
    assert client.call("untyped", {"a": 1}).text == "3"
    assert client.call("cover").raw["content"] == [{"type": "image", "data": "cG5n", "mimeType": "image/png"}]
    text, image, data = client.call("mixed").raw["content"]
    assert (text["text"], image["mimeType"], json.loads(data["text"])) == ("text", "image/jpeg", {"data": 1})
    assert client.call("shelf").structured == {"row": 3, "label": None}
    checked, measured = client.call("checked"), client.call("measured")
    assert (checked.text, checked.structured, checked.raw["_meta"]["com.acme/a"]) == ("one", {"copies": 1}, 1)
    assert (measured.text, measured.structured) == ("done", {"copies": 2})


@pytest.mark.parametrize("error", [AuthorizationError, ValidationError])
def test_its_errors_reach_the_model(error: type[Exception]) -> None:
    def fail() -> None:
        raise error("not today")

    with connect(FastMCP(tools=[fail])) as client:
        assert client.call("fail").text == "not today"


def test_its_context_asks_logs_and_reads(client: PlainClient) -> None:
    client.answer(accept(copies=4), decline())
    assert client.call("order", {"title": "Dune"}).text == "Book Shop: 4"
    assert client.call("order", {"title": "Dune"}).text == "Book Shop: decline"
    assert ("info", "ordering Dune") in [log[:2] for log in client.logs]
    assert (1, 2) in [report[:2] for report in client.progress]
    client.answer(reply("first"), reply("second"))
    assert client.call("blurb", {"title": "Dune"}).text == '{"number":1} first second'


def test_a_log_message_has_its_extra_values() -> None:
    server = FastMCP()

    @server.tool
    async def low(ctx: Context) -> None:
        await ctx.info("low", extra={"left": 1})
        await ctx.log("empty", "warning", extra={"left": 0})

    with connect(server) as client:
        client.call("low")
        logged = [log[:2] for log in client.logs]
    values = ("low", 1), ("empty", 0)
    info, warning = [{"msg": text, "extra": {"left": left}} for text, left in values]
    assert logged == [("info", info), ("warning", warning)]


@pytest.mark.parametrize(
    ("choices", "answer"),
    [
        (["a", "b"], "a"),
        ({"a": {"title": "A"}, "b": {}}, "b"),
        ([["a", "b"]], ["a", "b"]),
        ([{"a": {"title": "A"}, "b": {}}], ["a"]),
    ],
)
def test_an_elicitation_offers_choices(choices: Any, answer: Any) -> None:
    server = FastMCP()

    @server.tool
    async def choose(ctx: Context) -> list[Any]:
        return [(await ctx.elicit("Which?", response_type=choices)).data]

    with connect(server) as client:
        client.answer(accept(value=answer))
        assert json.loads(client.call("choose").text) == [answer]


def test_resolvers_fill_in_parameters(client: PlainClient) -> None:
    assert client.call("reserve", {"title": "Dune"}).text == "9 of Dune"
    client.answer(accept(copies=1))
    assert client.call("reserve", {"title": "rare"}).text == "1 of rare"
    client.answer(decline())
    assert client.call("reserve", {"title": "rare"}).text == "The user did not answer: decline."


def test_dependencies_fill_in_parameters_and_state_lasts_as_long_as_the_session() -> None:
    EVENTS.clear()
    about = "stdio clerk at the till of Book Shop, till of Book Shop"
    with connect(mcp, revision="2025-11-25") as client:
        texts = [client.call("sell", title=title).text for title in ("Dune", "Emma", "Dune")]
        assert client.tool("sell")["inputSchema"]["properties"].keys() == {"title"}
    assert texts == [f"{about}: ['Dune']", f"{about}: ['Dune', 'Emma']", f"{about}: ['Dune']"]
    with connect(mcp) as client:
        assert "This call has none" in client.call("sell", title="Dune").text
    assert EVENTS == ["closed"] * 4


def test_resources_prompts_and_completions(client: PlainClient) -> None:
    assert client.read("books://7").text == '{"number":7}'
    prompt = client.prompt("review", {"book": "Dune"})
    assert [(message["role"], message["content"]["text"]) for message in prompt.raw["messages"]] == [
        ("user", "Review Dune"),
        ("assistant", '{"tone":"kind"}'),
    ]
    completion = client.complete("review", "tone", "k", {"book": "Dune"})
    assert (completion.values, completion.has_more) == (("kind {'book': 'Dune'}",), True)


def test_a_running_server_changes() -> None:
    with connect(mcp) as client:
        assert client.call("stock_new", {"title": "Dune"}).text == "added"
        assert client.call("newest").text == "Dune"
    mcp.remove_tool("newest")


def test_a_name_that_is_defined_twice(caplog: pytest.LogCaptureFixture) -> None:
    for kind, kept in ((FastMCP, "later"), (MCPServer, "first")):
        server = kind()
        for text in ("first", "later"):
            server.add_tool(lambda text=text: text, name="same")
        with connect(server) as client:
            assert client.call("same").text == kept
        assert f"the {kept} definition is used" in caplog.text


def test_decorators_of_dependencies_run() -> None:
    created: list[str] = []

    @lru_cache
    def settings() -> str:
        created.append("settings")
        return "a"

    @contextmanager
    def opened() -> Iterator[str]:
        yield "b"
        created.append("closed")

    def use(first: str = Depends(settings), second: str = Depends(opened)) -> str:
        return first + second

    server = FastMCP()
    server.add_tool(use)
    with connect(server) as client:
        assert [client.call("use").text for _ in range(2)] == ["ab", "ab"]
    assert created == ["settings", "closed", "closed"]


def _shelf() -> dict[str, int]:
    return {"a": 1}


def _doubled(shelf: Annotated[dict[str, int], Depends(_shelf)]) -> int:
    return shelf["a"] * 2


def _look(count: Annotated[int, Depends(_doubled)], ctx: Annotated[Any, CurrentContext()], row: str) -> str:
    return f"{row} {count} {ctx.transport}"


def _twice(a: Annotated[int, Depends(int)] = Depends(int)) -> int:
    return a


def test_a_dependency_may_stand_in_the_annotation() -> None:
    server = FastMCP(tools=[_look])
    with connect(server) as client:
        assert client.tool("_look")["inputSchema"]["properties"].keys() == {"row"}
        assert client.call("_look", row="b").text == "b 2 stdio"
    with pytest.raises(TypeError, match="'a' has two dependencies"):
        server.add_tool(_twice)


def test_a_prompt_that_is_added_while_the_server_runs_has_completion() -> None:
    server = FastMCP()

    @server.completion()
    def complete(reference: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[f"{reference.name} {argument.value} {in_a_thread()}"])

    @server.tool()
    def publish() -> None:
        server.add_prompt(Prompt.from_function(lambda tone: tone, name="review"))

    with connect(server) as client:
        client.call("publish")
        assert client.complete("review", "tone", "k").values == ("review k True",)


def test_a_prompt_result_has_messages_of_fastmcp() -> None:
    server = FastMCP()
    server.prompt("ask")(lambda: PromptResult(messages=[Message("hi", "assistant")], description="greets"))  # type: ignore[arg-type]
    with connect(server) as client:
        raw = client.prompt("ask").raw
    content = {"type": "text", "text": "hi"}
    assert (raw["description"], raw["messages"]) == ("greets", [{"role": "assistant", "content": content}])


def test_async_functions_may_have_a_sync_decorator() -> None:
    def decorated(function: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            return function()

        return run

    async def answer() -> Message:
        return Message("async")

    server = FastMCP()
    server.prompt("ask")(decorated(answer))
    server.tool("media")(decorated(lambda: asyncio.sleep(0, Image(data=b"png"))))
    with connect(server) as client:
        assert client.prompt("ask").text == "async"
        assert client.call("media").raw["content"][0]["type"] == "image"


def test_sync_resolvers_run_in_threads() -> None:
    server = FastMCP()

    @server.tool()
    async def resolved(threaded: Annotated[bool, Resolve(in_a_thread)]) -> bool:
        return threaded

    with connect(server) as client:
        assert client.call("resolved").text == "true"


def twice(function: str) -> str:
    return function * 2


def test_arguments_may_have_any_name() -> None:
    server = FastMCP()

    @server.tool()
    def join(self: str, function: str, given: str, twice: Annotated[str, Resolve(twice)]) -> str:
        return self + function + given + twice

    server.prompt("ask")(lambda typed, chosen: typed)
    server.completion(lambda reference, argument, context: Completion(values=[f"{argument.name} {argument.value}"]))
    with connect(server) as client:
        assert client.call("join", {"self": "a", "function": "b", "given": "c"}).text == "abcbb"
        assert client.complete("ask", "typed", "k").values == ("typed k",)


def test_dropped_servers_are_forgotten() -> None:
    servers: WeakSet[FastMCP] = WeakSet()
    for _ in range(300):
        server = FastMCP()
        server.add_tool(sell)
        servers.add(server)
    gc.collect()
    assert len(servers) <= 129  # `typing` keeps the last 128 types


def test_an_unknown_item_cannot_be_removed() -> None:
    with pytest.raises(ToolError, match="gone"):
        FastMCP().remove_tool("gone")
    with pytest.raises(ValueError, match="gone"):
        FastMCP().remove_prompt("gone")


def test_mounted_servers_have_a_namespace() -> None:
    child, parent = FastMCP("child"), FastMCP("parent")
    child.add_tool(lambda: "hello", name="greet")
    child.resource("data://one")(lambda: "1")
    child.add_tool(lambda: "bye", name="leave")
    parent.mount(child, "sub", tool_names={"leave": "farewell"})
    with connect(parent) as client:
        assert client.call("sub_greet").text == "hello"
        assert client.call("farewell").text == "bye"
        assert client.read("data://sub/one").text == "1"


def test_an_invalid_tool_is_told_with_its_own_file_and_line() -> None:
    server = FastMCP("invalid")

    @server.tool
    def many(*numbers: int) -> int:
        return len(numbers)

    place = f"({__file__}:{many.__code__.co_firstlineno})"
    with pytest.raises(PluginError, match=re.escape(place)), connect(server):
        pass


@pytest.mark.parametrize("option", ["auth", "providers", "porrt"])
def test_an_option_that_pegboard_lacks_is_named(option: str) -> None:
    with pytest.raises(TypeError, match=option):
        FastMCP("x", **{option: object()})  # type: ignore[arg-type]
    texts = {"serializer": "return", "desc": "`description`", "exclude_args": "Depends", "app": "AppConfig"}
    for name, advice in texts.items():
        with pytest.raises(TypeError, match=rf"{name}.*{advice}"):
            FastMCP("x").tool(print, **{name: True})
    for show_or_hide in (FastMCP("x").enable, FastMCP("x").disable):
        with pytest.raises(TypeError, match=r"'only' does not exist in pegboard: .*profiles"):
            show_or_hide(tags={"public"}, only=True)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("add_provider", "register_tools"),
        ("add_extension", "register_methods"),
        ("from_openapi", "write tools"),
        ("call_tool", "connect"),
        ("local_provider", "methods of the server"),
    ],
)
def test_a_method_that_pegboard_lacks_names_only_its_replacement(
    name: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for of in (FastMCP, FastMCP("x")):
        with pytest.raises(AttributeError, match=rf"FastMCP\.{name} does not exist in pegboard: .*{advice}") as raised:
            getattr(of, name)
        sys.__excepthook__(AttributeError, raised.value, None)
        assert "Did you mean" not in capsys.readouterr().err


class Polite(Middleware):
    """Adds an argument, a mark to the result, and hides a tool."""

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
        context.message.arguments["tone"] = "polite"
        result = await call_next(context)
        return result._replace(content=[*result.content, TextContent(type="text", text="thanks")])

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
        return [tool for tool in await call_next(context) if tool.name != "hidden"]


async def refuse_nobody(context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
    if context.method == "tools/call" and context.message.arguments.get("who") == "nobody":
        raise ToolError("nobody is refused")
    return await call_next(context)


def test_middleware_changes_calls_results_and_lists() -> None:
    server = FastMCP("Door", middleware=[Polite()])
    server.add_middleware(refuse_nobody)

    @server.tool
    def greet(who: str, tone: str = "rude") -> ToolResult:
        return ToolResult(content=f"{tone} {who}")

    server.add_tool(Tool.from_function(lambda: "found", name="hidden"))
    with connect(server) as client:
        assert [tool["name"] for tool in client.tools()] == ["greet"]
        assert client.call("greet", who="ann").raw["content"] == [
            {"type": "text", "text": "polite ann"},
            {"type": "text", "text": "thanks"},
        ]
        assert client.call("greet", who="nobody").text == "nobody is refused"
        assert client.call("hidden", tone="").is_error


def test_middleware_sees_results_as_in_fastmcp() -> None:
    async def add(context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
        result = await call_next(context)
        if context.method != "tools/call" or context.message.name == "plain":
            return result
        shown = (result.content[0].text, result.structured_content)
        assert shown == {"shelf": ('{"a":1}', {"a": 1})}.get(context.message.name, ("3", {"result": 3}))
        return ToolResult(result.content, {key: value + 1 for key, value in result.structured_content.items()})

    async def answer(context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
        if context.method == "tools/call" and context.message.name == "early":
            return ToolResult(content="3", structured_content={"result": 3})
        return await call_next(context)

    server = FastMCP("Shop", middleware=[add, answer])
    server.add_tool(Tool.from_function(_count, name="count"))
    server.add_tool(Tool.from_function(lambda: "late", name="early"))
    server.add_tool(Tool.from_function(_count, name="plain"))
    server.add_tool(Tool.from_function(_shelf, name="shelf"))
    with connect(server) as client:
        results = [client.call(name).raw for name in ("count", "plain", "shelf", "early")]
    assert [result["structuredContent"] for result in results] == [4, 3, {"a": 2}, {"result": 4}]
    assert [result["content"][0]["text"] for result in results] == ["3", "3", '{"a":1}', "3"]


def _count() -> int:
    return 3


def test_tools_are_disabled_by_name_or_tag() -> None:
    server = FastMCP("Shop")
    for name, tags in (("buy", {"money"}), ("pay", {"money"}), ("look", set())):
        server.add_tool(lambda: "done", name, tags=tags)
    server.disable(tags={"money"}, names=["look"])
    server.enable(names=["pay"])
    with connect(server) as client:
        assert [tool["name"] for tool in client.tools()] == ["pay"]


def test_untyped_parameters_and_strings_in_annotated_are_those_of_the_official_sdk() -> None:
    server = OfficialFastMCP("Shop")

    @server.tool()
    def buy(title, count: Annotated[int, "copies"] = 1) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """Buy a book.

        Args:
            title: its title.
        """
        return f"{title} {count}"

    with connect(server) as client:
        assert client.tool("buy")["inputSchema"]["properties"] == {
            "title": {"type": "string"},
            "count": {"type": "integer", "default": 1},
        }
        assert client.tool("buy")["description"].endswith("title: its title.")
        assert client.call("buy", title=["Dune"]).text == "['Dune'] 1"


@pytest.mark.parametrize("section", ["Tip:\n    x", "See Also:\n    x", "Parameters\n----------\na : int\n    x"])
def test_a_description_ends_before_the_sections_of_its_docstring(section: str) -> None:
    assert before_sections(f"Buy.\n\n{section}") == "Buy."
    assert before_sections("Buy.\n\nRules:\n    x") == "Buy.\n\nRules:\n    x"


async def answered(server: FastMCP, plugins: dict[str, Any], *fields: tuple[str, str]) -> Any:
    """Call the tool `who` over HTTP, and return its result."""
    request = modern(call("who"))
    body = json.dumps(request).encode()
    async with Host({"plugins": plugins}, toolkits={"door": server}, selection=Selection(autoload=False)) as host:
        answer = await send(host.asgi(), "POST", "/mcp", [*mirrored(request), *fields], body).answer()
    assert answer.status == 200, answer.text
    return answer.json["result"]


@pytest.mark.needs("auth")
async def test_functions_read_the_request_and_what_the_token_says() -> None:
    server = FastMCP("Door")

    @server.tool
    def who() -> list[Any]:
        headers, token = get_http_request().headers, get_access_token()
        assert token is not None
        return [headers["X-Shop"], headers.get("authorization", "none"), "x-none" in headers, token.token, token.claims]

    door_token = "0123456789abcdefghijklmnopqrstuvwxyz"
    plugins = {"auth_token": {"callers": {"ada": {"token": door_token}}}}
    result = await answered(server, plugins, ("Authorization", f"Bearer {door_token}"), ("X-Shop", "books"))
    assert json.loads(result["content"][0]["text"]) == ["books", "none", False, "", {"sub": "ada"}]
    assert get_access_token() is None
    with pytest.raises(RuntimeError, match="no HTTP request"):
        get_http_request()


@pytest.mark.needs("resource_server")
async def test_the_claims_of_a_token_are_those_that_fastmcp_returns() -> None:
    """They are those of FastMCP 4.2.3, without `iat` and `jti`."""
    server = FastMCP("Door")

    @server.tool
    def who() -> dict[str, Any]:
        token = get_access_token()
        assert token is not None
        return token.model_dump()

    async with Issuer() as issuer:
        guard = {"resource": RESOURCE, "authorization_servers": [{"issuer": issuer.url}]}
        more: dict[str, Any] = {"email": "ann@example.com", "client_id": None, "azp": "desk", "jti": "7"}
        claims = issuer.claims(**more)
        bearer = ("Authorization", f"Bearer {issuer.token(**more | claims)}")
        token = (await answered(server, {"resource_server": guard}, bearer))["structuredContent"]
    assert (token["client_id"], token["subject"], token["scopes"]) == ("desk", "ann", ["other", "work"])
    assert token["expires_at"] == claims["exp"]
    kept = {name: value for name, value in claims.items() if name not in ("iat", "jti")}
    assert token["claims"] == {**kept, "scope": "other work"}


@pytest.mark.parametrize(
    ("result", "of_fastmcp", "of_the_official_sdk"),
    [
        (Dict, {"a": 1}, {"result": {"a": 1}}),
        (Dict[str, int], {"a": 1}, {"result": {"a": 1}}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict, {"a": 1}, None),
        (Any, {"a": 1}, None),
    ],
    ids=str,
)
def test_objects_are_sent_as_the_original_sends_them(result: Any, of_fastmcp: Any, of_the_official_sdk: Any) -> None:
    for kind, expected in (
        (FastMCP, of_fastmcp),
        (OfficialFastMCP, of_the_official_sdk),
        (MCPServer, of_the_official_sdk),
    ):

        def count() -> Any:
            return {"a": 1}

        count.__annotations__["return"] = result
        server = kind("Count")
        server.tool()(count)
        with connect(server) as client:
            counted = client.call("count")
            assert (counted.structured, counted.text) == (expected, '{"a":1}')


def test_tools_and_resources_have_interfaces() -> None:
    server = FastMCP("Shop")

    @server.resource("ui://shop/page", app=AppConfig(csp=ResourceCSP(connect_domains=["https://acme.example"])))
    def page() -> str:
        return "<p>shop</p>"

    @server.tool(app=AppConfig(resource_uri="ui://shop/page", visibility=["app"]))
    def buy() -> str:
        return "bought"

    with connect(server) as client:
        assert client.tool("buy")["_meta"]["ui"] == {"resourceUri": "ui://shop/page", "visibility": ["app"]}
        [part] = client.read("ui://shop/page").raw["contents"]
        assert part["_meta"]["ui"]["csp"] == {"connectDomains": ["https://acme.example"]}
        assert part["mimeType"] == "text/html;profile=mcp-app"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Skill", "skills="),
        ("CallArgument", "argument"),
        ("GitHubProvider", "plugins.login"),
        ("UserSession", "set_state"),
    ],
)
def test_a_missing_name_is_told_with_its_replacement(name: str, place: str) -> None:
    for module in ("fastmcp", "fastmcp.dependencies", "fastmcp.exceptions", "fastmcp.prompts", "fastmcp.utilities"):
        with pytest.raises(ImportError, match=rf"has no '{name}': .*{re.escape(place)}.*plugins\.upstreams"):
            _ = getattr(import_module(f"pegboard_plugins.compat.{module}"), name)


@pytest.mark.parametrize("module", ["fastmcp", "fastmcp.server", "fastmcp.server.dependencies", "fastmcp.tools", "mcp"])
def test_a_missing_name_is_told_with_a_way_out(module: str) -> None:
    with pytest.raises(ImportError, match=r"has no 'create_proxy': .*plugins\.upstreams"):
        _ = import_module(f"pegboard_plugins.compat.{module}").create_proxy


def test_it_runs_in_an_event_loop_of_the_program(tmp_path: Path) -> None:
    program = tmp_path / "shop.py"
    program.write_text(
        "import asyncio\n"
        "from pegboard_plugins.compat.fastmcp import FastMCP\n"
        "from pegboard_plugins.compat.fastmcp.utilities.logging import configure_logging, get_logger\n"
        "configure_logging()\n"
        "get_logger('shop').info('the shop opens')\n"
        "asyncio.run(FastMCP('Shop').run_stdio_async())\n"
    )
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n"
    done = subprocess.run([sys.executable, program], input=request, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert "the shop opens" in done.stderr


async def test_it_is_an_asgi_application() -> None:
    server = FastMCP("Asgi", streamable_http_path="/first", lifespan=bookshop_lifespan)
    server.add_tool(twice)
    request = modern(call("twice", {"function": "ab"}, id=1))
    for path, app in (("/first", server.streamable_http_app()), ("/second", server.http_app("/second"))):
        async with asgi_lifespan(app):
            answer = await send(app, "POST", path, mirrored(request), json.dumps(request).encode()).answer()
            assert answer.status == 200, answer.text
            assert "abab" in answer.text
    assert (await send(app, "GET", "/healthz").answer()).status == 503
    async with server.session_manager.run():
        assert (await send(app, "GET", "/healthz").answer()).status == 200


def test_an_asgi_application_has_no_options_that_pegboard_lacks() -> None:
    with pytest.raises(TypeError, match="middleware"):
        FastMCP().http_app(middleware=[object()])
    with pytest.raises(TypeError, match=r"host_origin_protection.*plugins\.http"):
        FastMCP().http_app(host_origin_protection=True)
    FastMCP(experimental_capabilities={}).http_app(host_origin_protection=False)
    with pytest.raises(ValueError, match="sse"):
        FastMCP().http_app(transport="sse")
    with pytest.raises(RuntimeError, match="streamable_http_app"):
        _ = FastMCP().session_manager


def test_it_serves_http_with_custom_routes(tmp_path: Path) -> None:
    environment = make_environment("starlette", "pegboard", "starlette", wheels=built_wheels())
    command = [executable(environment), Path(__file__).with_name("bookshop.py")]
    with serving(command, tmp_path, os.environ) as server:
        address = server.url.removesuffix("/mcp")
        with urllib.request.urlopen(f"{address}/health?q=a+b") as response:
            assert (response.read(), response.headers["X-Shop"]) == (b"GET a b", "books")
        with urllib.request.urlopen(f"{address}/cart?book=Dune&book=Emma&empty=") as response:
            cookies = [field.partition(";")[0] for field in response.headers.get_all("Set-Cookie")]
            assert (response.read(), cookies) == (b"Dune,Emma", ["cart=1", "reader=ada"])
        with urllib.request.urlopen(f"{address}/stream") as response:
            assert response.read() == b"ab"
