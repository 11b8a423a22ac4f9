"""The assembly of all contributions: names, contested names, invalid definitions, disabled tools, order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, cast

import pytest

from pegboard import Host, Toolkit
from pegboard.errors import ConfigError
from pegboard.plugin import (
    Plugin,
    PluginError,
    ProtocolContext,
    Route,
    SecretStore,
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


@pytest.mark.requirement("TOOL-07")
def test_names_carry_the_toolkit_in_the_configured_style_and_are_sorted() -> None:
    kits = [kit_of("listIssues", "HTTPGet", toolkit="GitHub"), kit_of("b", toolkit="a")]
    plugin = plugin_of(tools=[ToolDefinition(simple("Any_Name-1")), ToolDefinition(simple(), name="other")])
    snake = ["Any_Name-1", "a_b", "git_hub_http_get", "git_hub_list_issues", "other"]
    pascal = ["A_B", "Any_Name-1", "GitHub_HttpGet", "GitHub_ListIssues", "other"]
    for order in (kits, kits[::-1]):
        assert tools(loaded(*order, plugins={"p": plugin})) == snake
        assert tools(loaded(*order, plugins={"p": plugin}, tool_names="pascal")) == pascal


class Line(Transport):
    """A transport that ends at once."""

    name = "line"

    async def run(self, host: TransportContext) -> None:
        """Do nothing."""


async def answer(request: Request, host: ProtocolContext) -> Response:
    return Response()


class Serving(Plugin):
    @hookimpl
    def register_routes(self) -> list[Route]:
        return [Route("GET", "/same", answer), Route("POST", "/same", answer, auth=type(self).__name__)]

    @hookimpl
    def register_transports(self) -> list[Transport]:
        return [Line()]


class ServingAgain(Serving):
    """The same contributions."""


OF_KITS, OF_PLUGINS = "toolkit 'a' and toolkit 'b'", "plugin 'first' and plugin 'second'"
CONTESTED = {
    "resource 'docs://same'": OF_KITS,
    "tool 'same'": OF_KITS,
    "prompt 'same'": OF_KITS,
    "transport 'line'": OF_PLUGINS,
    "route 'GET /same'": OF_PLUGINS,
    "route 'POST /same'": OF_PLUGINS,
}


@pytest.mark.requirement("TOOL-06")
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
        for message, (what, owners) in zip(problems(host), CONTESTED.items(), strict=True):
            assert message.startswith(f"{what} is claimed by {owners}; neither is served")
            assert re.search(
                "; (give|use) .* of them.*, or leave one out: `pegboard disable (a|b|first|second)`$", message
            )
    host = loaded(kit_of("listIssues", "list_issues", "other"))
    assert tools(host) == ["github_other"]
    assert "is claimed 2 times by toolkit 'github'; neither is served" in problems(host)[0]
    assert problems(host)[0].endswith("; give one of them another name, as in @kit.tool(name=...)")


def test_a_route_without_an_authenticator_for_its_policy_is_not_served() -> None:
    host = loaded(plugins={"first": Serving})
    assert list(host.assembly.routes["/same"]) == ["GET"]
    (message,) = problems(host)
    assert "no enabled plugin authenticates the policy 'Serving' of the route 'POST /same'; it is not served" in message


def test_a_route_that_no_request_reaches_is_reported() -> None:
    class Unreachable(Plugin):
        @hookimpl
        def register_routes(self) -> list[Route]:
            wrong = [("GET", "same"), ("post", "/same"), ("GET", "/same/*/b"), ("GET", "/same/b*")]
            return [Route("GET", "/same/*", answer), *(Route(method, path, answer) for method, path in wrong)]

    host = loaded(plugins={"first": Unreachable})
    assert host.assembly.routes.keys() == {"/same/*"}
    assert problems(host) == [
        "no request reaches the route 'GET /same/*/b': write '*' only as its last segment",
        "no request reaches the route 'GET /same/b*': write '*' only as its last segment",
        *(f"no request reaches the route {name!r}: write it as 'GET /path'" for name in ("GET same", "post /same")),
    ]


@pytest.mark.needs("auth")
@pytest.mark.parametrize("failing", ["toolkit", "definition"])
def test_names_are_not_called_unknown_after_a_failure(failing: str) -> None:
    kit, rest = kit_of("read"), kit_of("read", toolkit="rest")
    if failing == "toolkit":
        kit.version = "wrong"
    else:
        kit.tool(tags=["a"])(any_arguments)
    settings = {"profiles": {"part": {"tags": ["a"]}}, "stream_profile": "part"}
    host = Host(
        {
            "host": {
                "autoload": False,
                "disabled_tags": ["b"],
                "disabled_tools": ["github_r*"],
                "tools": {"github_read": {}},
            },
            "plugins": {"mcp": settings, "cache": {"tools": ["github_x"]}, "scopes": {"tools": {"github_x": ["a"]}}},
        },
        toolkits={"github": kit, "rest": rest},
    )
    host.load()
    (problem,) = host.problems
    assert problem.origin is not None


def any_arguments(*args: int) -> str:
    """Take anything."""
    return "x"


def of_name(name: str) -> str:
    """Take a name."""
    return name


def wraps_itself() -> None:
    """Wrap itself."""


wraps_itself.__wrapped__ = wraps_itself  # type: ignore[attr-defined]


def too_large(a: Any) -> str:
    """Take a very large thing."""
    return "x"


too_large.__annotations__["a"] = Literal[tuple(f"choice number {number}" for number in range(20_000))]


def leaving(config: Any) -> bool:
    raise SystemExit(3)


@pytest.mark.requirement("RES-10", "TOOL-02", "TOOL-03")
async def test_an_invalid_definition_disables_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    kit, no_list = kit_of("good", "y" * 57), cast(Any, 5)
    kit.tool(name="now", inline=True, timeout=0, max_result=0)(simple("now"))
    kit.resource("docs://good")(simple())
    kit.prompt(name="good")(simple())
    wrong: list[tuple[Any, Any, str]] = [
        (kit.resource("docs://a b"), simple(), "its URI is not absolute"),
        (kit.resource("docs://path"), any_arguments, "accepts any number of arguments"),
        (kit.resource("docs://{a}-{b}"), simple(), "its URI template cannot be served: {a} and {b} are ambiguous"),
        (kit.resource("docs://{id}"), of_name, "the URI has the variable 'id', but the function has no such parameter"),
        (kit.resource("docs://{name}", completions={"name": lambda a, b: []}), of_name, "'b', which is not an arg"),
        (kit.tool, any_arguments, f"({__file__}:{any_arguments.__code__.co_firstlineno}): "),
        (kit.tool(name="five"), 5, "5 is not a function"),
        (kit.tool(name="x" * 58), simple(), "characters, the limit is 64"),
        (kit.tool, too_large, "the limit is 262144"),
        (kit.tool(name="a", requires_secrets=["../x"]), simple(), "invalid secret name '../x'"),
        (kit.tool(name="b", requires_secrets=["Mcp_Key"]), simple(), "Mcp_Key, which is reserved for the host"),
        (kit.tool(name="c", enabled=leaving), simple(), "SystemExit"),
        (kit.tool(name="d", timeout=1, inline=True), simple(), "an inline tool cannot be interrupted"),
        (kit.tool(name="e", max_result=-1), simple(), "its max_result must be a number of bytes"),
        (kit.tool(name="f", requires_metadata=["Client_Id"]), simple(), "the metadata client_id without a token"),
        (kit.tool(name="g", requires_metadata=["a b"]), simple(), "invalid metadata name 'a b'"),
        (kit.tool(name="h", requires_metadata=no_list), simple(), "its requires_metadata must be a list of names, not"),
        (kit.tool(name="i"), wraps_itself, "tool 'i': "),
        (kit.prompt(name="ünï"), simple(), "it contains 'ü'"),
    ]
    for decorate, function, _ in wrong:
        decorate(function)
    async with make_host(kit, kit_of("sibling", toolkit="other")) as host:
        assert tools(host) == ["github_good", "github_now", "github_" + "y" * 57, "other_sibling"]
        assert await value(host, "github_good") == "good"
        assert (list(host.assembly.resources), list(host.assembly.prompts)) == (["docs://good"], ["github_good"])
        for (_, _, reason), problem in zip(wrong, host.problems, strict=True):
            assert reason in problem.message
            assert "it is not served" in problem.message
            assert "github" in str(problem)
            assert problem.message in caplog.text
            assert not problem.fatal


@pytest.mark.requirement("TOOL-09")
@pytest.mark.parametrize(
    ("pattern", "style"), [("github_delete_repo", "pascal"), ("Github.DeleteRepo", "snake"), ("*::deleterepo", "snake")]
)
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


def test_a_pattern_that_matches_nothing_is_reported_with_the_nearest_name() -> None:
    kits = kit_of("delete_repo"), kit_of("list", toolkit="off")
    kits[0].tool(name="tagged", tags=["one"])(simple())
    disabled = ["githbu_*", "zzzz", "off_l*"]
    host = loaded(*kits, disabled_tools=disabled, disabled_toolkits=["off"], disabled_tags=["onne"])
    first, second, tag = problems(host)
    assert "github_*" in first
    assert "zzzz" in second
    assert 'host.disabled_tags[0]: "onne" matches nothing; did you mean "one"?' in tag
    assert {(problem.level, problem.fatal) for problem in host.problems} == {("warning", False)}


class BadStore(SecretStore):
    name = "vault"

    def get(self, name: str) -> str | None:
        if name == "SET":
            raise ConnectionError("the vault is down")
        return b"bytes"  # type: ignore[return-value]


def secret_kit() -> Toolkit:
    kit = kit_of("free")
    kit.tool(name="needy", requires_secrets=["SET", "UNSET", "EMPTY", "Set"])(simple("needy"))
    return kit


def stores(**secrets: str) -> dict[str, Any]:
    return {"store": plugin_of(stores=[Store(secrets)])}


async def test_missing_secrets_warn_hide_the_tool_or_stop_the_start() -> None:
    plugins = stores(SET="s", EMPTY=" \n")
    async with make_host(secret_kit(), plugins=plugins) as host:
        assert tools(host) == ["github_free", "github_needy"]
        assert [problem.level for problem in host.problems] == ["warning", "warning"]
        assert "UNSET" in (await failure(host, "github_needy")).error.message
        assert list(host.assembly.tools["github_needy"].requirements.secrets) == ["SET", "UNSET", "EMPTY"]
    async with make_host(secret_kit(), plugins=plugins, missing_secrets="hide") as host:
        assert tools(host) == ["github_free"]
        (unserved,) = host.assembly.unserved
    assert unserved.reason == "; ".join(f"the secret {name} is not set: set it in store" for name in ("UNSET", "EMPTY"))
    with pytest.raises((PluginError, ConfigError)) as caught:
        await make_host(secret_kit(), plugins=plugins, missing_secrets="fail").start()
    assert all(name in str(caught.value) for name in ("UNSET", "EMPTY", "github_needy"))


async def test_a_store_that_fails_is_skipped() -> None:
    plugins = {"a": plugin_of(stores=[BadStore()]), **stores(SET="s", UNSET="u", EMPTY="e")}
    async with make_host(secret_kit(), plugins=plugins, missing_secrets="hide") as host:
        assert await value(host, "github_needy") == "needy"
        messages = problems(host)
    assert any("the vault is down" in message for message in messages)
    assert "the secret store 'vault' must return a string for UNSET" in messages


async def test_middleware_runs_in_the_listed_order_then_by_name() -> None:
    trail: list[str] = []

    def marking(mark: str, *methods: str, name: str | None = None) -> Any:
        async def handle(call: Call, call_next: CallNext) -> Outcome:
            trail.append(mark)
            return await call_next(call)

        return around(*methods, name=name)(handle)

    plugins = {
        **{name: plugin_of(middleware=[marking(name)]) for name in ("gamma", "alpha")},
        "many": plugin_of(middleware=[marking("two", name="two"), marking("one", name="one")]),
        "tools": plugin_of(middleware=[marking("tools", "tools/list")]),
    }
    async with make_host(plugins=plugins, middleware=["two", "tools", "alpha"]) as host:
        await host.dispatch(Call("tools/list"))
        await host.dispatch(Call("prompts/list"))
    assert " ".join(trail) == "two tools alpha gamma one two alpha gamma one"
    with pytest.raises(ConfigError, match=r"middleware.*alhpa.*alpha"):
        await make_host(plugins=plugins, middleware=["alhpa"]).start()
