"""The assembly of all contributions: names, contested names, invalid definitions, disabled tools, order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from pegboard import Host, Toolkit
from pegboard.plugin import (
    ConfigError,
    Middleware,
    Plugin,
    PluginError,
    ProtocolContext,
    Route,
    ToolDefinition,
    Transport,
    TransportContext,
    around,
    hookimpl,
)
from pegboard.types import Call, CallNext, Outcome, Request, Response
from tests.host.context.test_requirements import Store
from tests.host.hosting import failure, make_host, plugin_of, value


def simple(name: str = "work") -> Callable[[], str]:
    def function() -> str:
        """Do some work."""
        return name

    function.__name__ = name
    return function


def kit_of(*names: str, toolkit: str = "github") -> Toolkit:
    kit = Toolkit(toolkit)
    for name in names:
        kit.tool(simple(name))
    return kit


def loaded(*kits: Toolkit, **more: Any) -> Host:
    host = make_host(*kits, **more)
    host.load()
    return host


def tools(host: Host) -> list[str]:
    return list(host.assembly.tools)


def problems(host: Host) -> list[str]:
    return [problem.message for problem in host.problems]


# --- names


@pytest.mark.requirement("TOOL-07")
def test_names_carry_the_toolkit_in_the_configured_style_and_are_sorted() -> None:
    kits = [kit_of("listIssues", "create_issue", "HTTPGet", toolkit="GitHub"), kit_of("b", toolkit="a")]
    plugin = plugin_of(tools=[ToolDefinition(simple("Any_Name-1")), ToolDefinition(simple(), name="other")])
    snake = ["Any_Name-1", "a_b", "git_hub_create_issue", "git_hub_http_get", "git_hub_list_issues", "other"]
    pascal = ["A_B", "Any_Name-1", "GitHub_CreateIssue", "GitHub_HttpGet", "GitHub_ListIssues", "other"]
    for order in (kits, kits[::-1]):
        assert tools(loaded(*order, plugins={"p": plugin})) == snake
        assert tools(loaded(*order, plugins={"p": plugin}, tool_names="pascal")) == pascal


@pytest.mark.requirement("TOOL-02", "TOOL-03")
@pytest.mark.parametrize(
    ("name", "complaint"),
    [("ünï", "it contains 'ü'"), ("a b/c", "it contains '/'"), ("x" * 58, "characters, the limit is 64")],
)
def test_a_name_that_cannot_go_on_the_wire_disables_only_its_tool(name: str, complaint: str) -> None:
    kit = kit_of("good")
    kit.tool(name=name)(simple())
    kit.tool(name="y" * 57)(simple())
    host = loaded(kit)
    assert tools(host) == ["github_good", "github_" + "y" * 57]
    (message,) = problems(host)
    assert complaint in message
    assert "it is not served" in message


# --- contested names


@pytest.mark.requirement("TOOL-06")
@pytest.mark.parametrize("style", ["snake", "pascal"])
def test_neither_of_two_tools_with_one_name_is_served(style: str) -> None:
    host = loaded(kit_of("listIssues", "list_issues", "other"), tool_names=style)
    assert len(tools(host)) == 1
    (message,) = problems(host)
    assert "is claimed 2 times by toolkit 'github'; neither is served" in message


OF_KITS, OF_PLUGINS = "toolkit 'a' and toolkit 'b'", "plugin 'first' and plugin 'second'"
CONTESTED = {
    "resource 'docs://same'": OF_KITS,
    "tool 'same'": OF_KITS,
    "prompt 'same'": OF_KITS,
    "transport 'line'": OF_PLUGINS,
    "route 'GET /same'": OF_PLUGINS,
    "route 'POST /same'": OF_PLUGINS,
}


def test_neither_of_two_contributions_with_one_name_is_served() -> None:
    kits = [Toolkit("a", prefix=False), Toolkit("b", prefix=False)]
    for kit in kits:
        for name in ("same", f"of_{kit.name}"):
            kit.tool(name=name)(simple())
            kit.prompt(name=name)(simple())
            kit.resource(f"docs://{name}")(simple())
    for order in (kits, kits[::-1]):
        host = loaded(*order, plugins={"first": Serving, "second": ServingAgain})
        assembly = host.assembly
        assert tools(host) == list(assembly.prompts) == ["of_a", "of_b"]
        assert list(assembly.resources) == ["docs://of_a", "docs://of_b"]
        assert (assembly.routes, assembly.transports) == ({}, {})
        messages = problems(host)
        for message, (what, owners) in zip(messages, CONTESTED.items(), strict=True):
            assert message.startswith(f"{what} is claimed by {owners}; neither is served")


class Line:
    """A transport that ends at once."""

    name = "line"

    async def run(self, host: TransportContext) -> None:
        """Do nothing."""


class Serving(Plugin):
    @hookimpl
    def register_routes(self) -> list[Route]:
        return [Route("GET", "/same", answer), Route("POST", "/same", answer, auth=type(self).__name__)]

    @hookimpl
    def register_transports(self) -> list[Transport]:
        return [Line()]


class ServingAgain(Serving):
    """The same contributions."""


async def answer(request: Request, host: ProtocolContext) -> Response:
    return Response()


def test_a_route_without_an_authenticator_for_its_policy_is_not_served() -> None:
    host = loaded(plugins={"first": Serving})
    assert list(host.assembly.routes["/same"]) == ["GET"]
    (message,) = problems(host)
    assert "route 'POST /same' has the policy 'Serving', which no enabled plugin authenticates" in message


# --- invalid definitions


def no_docstring() -> str:
    return "x"


def any_arguments(*args: int) -> str:
    """Take anything."""
    return "x"


class Explosive:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise RuntimeError("no description today")


def explosive(a: Explosive) -> str:
    """Take something odd."""
    return "x"


def too_large(a: Any) -> str:
    """Take a very large thing."""
    return "x"


too_large.__annotations__["a"] = Literal[tuple(f"choice number {number}" for number in range(20_000))]


def unbounded(a: Annotated[float, Field(le=float("inf"))]) -> str:
    """Take a number."""
    return "x"


def raising(config: Any) -> bool:
    raise KeyError("no such setting")


def leaving(config: Any) -> bool:
    raise SystemExit(3)


INVALID: list[tuple[Any, dict[str, Any], str]] = [
    (no_docstring, {}, "it has no description"),
    (simple(), {"name": "b", "description": " \n "}, "it has no description"),
    (any_arguments, {}, f"({__file__}:{any_arguments.__code__.co_firstlineno}): "),
    (explosive, {}, "no description today"),
    (int, {"description": "Make a number."}, "int is a class"),
    (iter, {"description": "Make an iterator."}, "signature"),
    (5, {"name": "five", "description": "Five."}, "5 is not a function"),
    (unbounded, {}, "infinity"),
    (too_large, {}, "the limit is 262144"),
    (simple(), {"requires_secrets": ["A B"]}, "invalid secret name 'A B'"),
    (simple(), {"requires_secrets": ["../x"]}, "invalid secret name '../x'"),
    (simple(), {"requires_secrets": [""]}, "invalid secret name ''"),
    (simple(), {"requires_secrets": ["Mcp_Key"]}, "Mcp_Key, which is reserved for the host"),
    (simple(), {"enabled": raising}, "its `enabled` function raised KeyError"),
    (simple(), {"enabled": leaving}, "SystemExit"),
]


@pytest.mark.parametrize(("function", "options", "reason"), INVALID)
async def test_an_invalid_definition_disables_only_that_tool(
    function: Any, options: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    kit = kit_of("good")
    kit.tool(**options)(function)
    async with make_host(kit, kit_of("sibling", toolkit="other")) as host:
        assert tools(host) == ["github_good", "other_sibling"]
        assert await value(host, "github_good") == "good"
        (problem,) = host.problems
    assert reason in problem.message
    assert "it is not served" in problem.message
    assert not problem.fatal
    assert "github" in str(problem)
    assert problem.message in caplog.text


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    ("uri", "function", "reason"),
    [
        ("no uri", simple(), "its URI is not absolute"),
        ("/relative", simple(), "its URI is not absolute"),
        ("docs://a b", simple(), "its URI is not absolute"),
        ("docs://path", any_arguments, "takes any number of arguments"),
        (5, simple(), "its URI is not absolute"),
        ("docs://x", 5, "5 is not a function"),
        ("docs://x", int, "int is a class"),
    ],
)
def test_an_invalid_resource_disables_only_that_resource(uri: Any, function: Any, reason: str) -> None:
    kit = kit_of("good")
    kit.resource("docs://good")(simple())
    kit.resource(uri)(function)
    host = loaded(kit)
    assert list(host.assembly.resources) == ["docs://good"]
    assert tools(host) == ["github_good"]
    (message,) = problems(host)
    assert reason in message


@pytest.mark.parametrize(
    ("options", "function", "reason"),
    [
        ({}, no_docstring, "it has no description"),
        ({"name": "ünï"}, simple(), "it contains 'ü'"),
        ({}, any_arguments, "takes any number of arguments"),
        ({"name": "five", "description": "Five."}, 5, "5 is not a function"),
    ],
)
def test_an_invalid_prompt_disables_only_that_prompt(options: Any, function: Any, reason: str) -> None:
    kit = kit_of("good")
    kit.prompt(name="good")(simple())
    kit.prompt(**options)(function)
    host = loaded(kit)
    assert list(host.assembly.prompts) == ["github_good"]
    (message,) = problems(host)
    assert reason in message


def documented(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


class Adder:
    """Add one number to another."""

    def __call__(self, a: int) -> int:
        return a


class Doubler:
    def __call__(self, a: int) -> int:
        """Double a number."""
        return a * 2


def test_every_callable_has_a_name_and_a_description() -> None:
    kit = Toolkit("x")
    for function in (functools.partial(documented, b=2), Adder(), Doubler()):
        kit.tool(function)
    assert {name: one.tool.description for name, one in loaded(kit).assembly.tools.items()} == {
        "x_adder": "Add one number to another.",
        "x_documented": "Add two numbers.",
        "x_doubler": "Double a number.",
    }


# --- disabled tools


@pytest.mark.requirement("TOOL-09")
@pytest.mark.parametrize("style", ["snake", "pascal"])
@pytest.mark.parametrize("pattern", ["github_delete_repo", "Github.DeleteRepo", "github::delete_*", "*::deleterepo"])
async def test_a_tool_is_disabled_in_every_spelling_and_not_compiled(pattern: str, style: str) -> None:
    kit = kit_of("list_repos")
    kit.tool(name="delete_repo")(any_arguments)
    async with make_host(kit, disabled_tools=[pattern], tool_names=style) as host:
        (name,) = tools(host)
        (unserved,) = host.assembly.unserved
        assert unserved.owner == "github"
        assert "[host] disabled_tools" in unserved.reason
        assert problems(host) == []
        assert (await failure(host, unserved.name)).error.message == f"Unknown tool: {unserved.name}"
        assert await value(host, name) == "list_repos"


def test_a_pattern_may_disable_one_of_two_tools_with_one_name() -> None:
    plain = Toolkit("plain", prefix=False)
    plain.tool(name="github_list")(simple())
    host = loaded(kit_of("list"), plain, disabled_tools=["github.list"])
    assert host.assembly.tools["github_list"].tool.owner == "plain"


def test_a_pattern_that_matches_nothing_is_reported_with_the_nearest_name() -> None:
    patterns = ["github_delete_rep", "githbu_*", "zzzz", "off_l*"]
    kits = kit_of("delete_repo"), kit_of("list", toolkit="off")
    host = loaded(*kits, disabled_tools=patterns, disabled_toolkits=["off"])
    assert tools(host) == ["github_delete_repo"]
    first, second, third = problems(host)
    assert ("github_delete_rep" in first, "github_delete_repo" in first) == (True, True)
    assert "github_*" in second
    assert "zzzz" in third
    assert {(problem.level, problem.fatal) for problem in host.problems} == {("warning", False)}


# --- missing secrets


class BrokenStore:
    name = "vault"

    def get(self, name: str) -> str | None:
        raise ConnectionError("the vault is down")


class OddStore:
    name = "odd"

    def get(self, name: str) -> str | None:
        return b"bytes"  # type: ignore[return-value]


def secret_kit() -> Toolkit:
    kit = kit_of("free")
    kit.tool(name="needy", requires_secrets=["SET", "UNSET", "EMPTY", "Set"])(simple("needy"))
    return kit


def stores(**secrets: str) -> dict[str, Any]:
    return {"store": plugin_of(stores=[Store(secrets)])}


async def test_missing_secrets_cause_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(secret_kit(), plugins=stores(SET="s", EMPTY="")) as host:
        assert tools(host) == ["github_free", "github_needy"]
        assert [problem.level for problem in host.problems] == ["warning", "warning"]
        assert "UNSET" in (await failure(host, "github_needy")).error.message
        required = host.assembly.tools["github_needy"].requirements
        assert required is not None
        assert list(required.secrets) == ["SET", "UNSET", "EMPTY"]
    for name in ("UNSET", "EMPTY"):
        assert any("'github_needy'" in record.getMessage() and name in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
async def test_missing_secrets_hide_the_tool(empty: str) -> None:
    async with make_host(secret_kit(), plugins=stores(SET="s", EMPTY=empty), missing_secrets="hide") as host:
        assert tools(host) == ["github_free"]
        (unserved,) = host.assembly.unserved
    assert unserved.reason == "; ".join(f"the secret {name} is not set: set it in store" for name in ("UNSET", "EMPTY"))


async def test_missing_secrets_stop_the_start() -> None:
    with pytest.raises((PluginError, ConfigError)) as caught:
        await make_host(secret_kit(), plugins=stores(SET="s"), missing_secrets="fail").start()
    assert all(name in str(caught.value) for name in ("UNSET", "EMPTY", "github_needy"))


@pytest.mark.parametrize("policy", ["warn", "hide", "fail"])
async def test_secrets_that_are_set_cause_no_problem(policy: str) -> None:
    plugins = stores(SET="s", UNSET="u", EMPTY="e")
    async with make_host(secret_kit(), plugins=plugins, missing_secrets=policy) as host:
        assert await value(host, "github_needy") == "needy"
        assert host.problems == ()


@pytest.mark.parametrize("policy", ["warn", "hide"])
async def test_a_store_that_fails_is_skipped(policy: str) -> None:
    plugins = {"a": plugin_of(stores=[BrokenStore(), OddStore()]), **stores(SET="s", UNSET="u", EMPTY="e")}
    async with make_host(secret_kit(), plugins=plugins, missing_secrets=policy) as host:
        assert await value(host, "github_needy") == "needy"
        messages = problems(host)
    assert any("vault" in message for message in messages)
    assert "the secret store 'odd' must return a string for SET" in messages


# --- the order of middleware

trail: list[str] = []


def marking(mark: str, *methods: str, name: str | None = None) -> Middleware:
    async def handle(call: Call, call_next: CallNext) -> Outcome:
        trail.append(mark)
        return await call_next(call)

    return around(*methods, name=name)(handle)


PLUGINS = {
    **{name: plugin_of(middleware=[marking(name)]) for name in ("gamma", "alpha")},
    "many": plugin_of(middleware=[marking("two", name="two"), marking("one", name="one")]),
    "tools": plugin_of(middleware=[marking("tools", "tools/list")]),
}


@pytest.mark.parametrize(
    ("listed", "order"),
    [
        ([], ["alpha", "gamma", "one", "tools", "two"]),
        (["gamma"], ["gamma", "alpha", "one", "tools", "two"]),
        (["two", "tools", "alpha"], ["two", "tools", "alpha", "gamma", "one"]),
    ],
)
async def test_middleware_runs_in_the_listed_order_then_by_name(listed: list[str], order: list[str]) -> None:
    async with make_host(plugins=PLUGINS, middleware=listed) as host:
        trail.clear()
        await host.dispatch(Call("tools/list"))
        assert trail == order
        trail.clear()
        await host.dispatch(Call("prompts/list"))
        assert trail == [name for name in order if name != "tools"]


async def test_an_unknown_name_in_an_order_list_stops_the_start() -> None:
    with pytest.raises(ConfigError, match=r"middleware.*alhpa.*alpha"):
        await make_host(plugins=PLUGINS, middleware=["alhpa"]).start()
