"""What the host makes of everything that was contributed: names, what is left out, and by whose word."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from pegboard import Host, ToolAnnotations, Toolkit
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
from tests.host.context.test_context import Store
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


def test_tools_are_named_by_toolkit_and_function_in_snake_case() -> None:
    kit = Toolkit("GitHub")
    for name in ("listIssues", "create_issue", "HTTPGet"):
        kit.tool(simple(name))
    assert tools(loaded(kit)) == ["git_hub_create_issue", "git_hub_http_get", "git_hub_list_issues"]


def test_tools_are_named_in_pascal_case_when_that_is_asked_for() -> None:
    host = loaded(kit_of("list_issues", "createIssue"), tool_names="pascal")
    assert tools(host) == ["Github_CreateIssue", "Github_ListIssues"]


def test_tools_of_a_plugin_carry_their_own_names() -> None:
    plugin = plugin_of(tools=[ToolDefinition(simple("Any_Name-1")), ToolDefinition(simple(), name="other")])
    assert tools(loaded(plugins={"p": plugin})) == ["Any_Name-1", "other"]


@pytest.mark.requirement("TOOL-02", "TOOL-03")
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("ünï", "it contains 'ü'"),
        ("a b/c", "it contains '/'"),
        ("x" * 64, "characters, the limit is 64"),
        ("dot$", "it contains '$'"),
    ],
)
def test_a_name_that_cannot_go_on_the_wire_costs_that_tool(name: str, complaint: str) -> None:
    kit = kit_of("good")
    kit.tool(name=name)(simple())
    host = loaded(kit)
    assert tools(host) == ["github_good"]
    (told,) = problems(host)
    assert complaint in told
    assert "it is not served" in told


@pytest.mark.requirement("TOOL-02")
def test_a_name_may_have_64_characters() -> None:
    kit = Toolkit("x")
    kit.tool(name="y" * 62)(simple())
    assert tools(loaded(kit)) == ["x_" + "y" * 62]


@pytest.mark.parametrize("style", ["snake", "pascal"])
def test_names_that_meet_only_after_mapping_are_served_by_neither(style: str) -> None:
    host = loaded(kit_of("listIssues", "list_issues", "other"), tool_names=style)
    assert len(tools(host)) == 1
    (told,) = problems(host)
    assert "is claimed 2 times by toolkit 'github'; neither is served" in told


# --- claims


@pytest.mark.requirement("TOOL-06")
def test_of_two_tools_with_one_name_neither_is_served_and_both_owners_are_named() -> None:
    plugin = plugin_of(tools=[ToolDefinition(simple("github_list")), ToolDefinition(simple("alone"))])
    host = loaded(kit_of("list", "other"), plugins={"rival": plugin})
    assert tools(host) == ["alone", "github_other"]
    (told,) = problems(host)
    assert "'github_list'" in told
    assert "toolkit 'github'" in told
    assert "plugin 'rival'" in told
    assert "neither is served" in told


def test_disabling_one_of_two_does_not_serve_the_other_by_accident_of_order() -> None:
    kits = [kit_of("list"), Toolkit("other", prefix=False)]
    kits[1].tool(name="github_list")(simple())
    for order in (kits, kits[::-1]):
        assert tools(loaded(*order)) == []


def test_resources_and_prompts_that_two_claim_are_served_by_neither() -> None:
    kits = [Toolkit("a", prefix=False), Toolkit("b", prefix=False)]
    for kit in kits:
        kit.resource("docs://same")(simple())
        kit.resource(f"docs://{kit.name}")(simple())
        kit.prompt(name="same")(simple())
        kit.prompt(name=f"of_{kit.name}")(simple())
    host = loaded(*kits)
    assert list(host.assembly.resources) == ["docs://a", "docs://b"]
    assert list(host.assembly.prompts) == ["of_a", "of_b"]
    assert len(problems(host)) == 2
    assert all("toolkit 'a'" in told and "toolkit 'b'" in told for told in problems(host))


class Line:
    """A transport that ends at once."""

    name = "line"

    async def run(self, host: TransportContext) -> None:
        """Do nothing."""


class Served(Plugin):
    """A route and a transport, and others of its own name."""

    @hookimpl
    def register_routes(self) -> list[Route]:
        return [Route("GET", "/same", answer), Route("POST", "/same", answer, auth=type(self).__name__)]

    @hookimpl
    def register_transports(self) -> list[Transport]:
        return [Line()]


class Again(Served):
    """The same once more."""


async def answer(request: Request, host: ProtocolContext) -> Response:
    return Response()


def test_a_route_and_a_transport_that_two_claim_are_served_by_neither_and_both_owners_are_named() -> None:
    host = loaded(plugins={"first": Served, "second": Again})
    assert (host.assembly.routes, host.assembly.transports) == ({}, {})
    assert problems(host) == [
        "transport 'line' is claimed by plugin 'first' and plugin 'second'; neither is served",
        "route 'GET /same' is claimed by plugin 'first' and plugin 'second'; neither is served",
        "route 'POST /same' is claimed by plugin 'first' and plugin 'second'; neither is served",
    ]


def test_a_route_whose_callers_nobody_knows_is_not_served_and_the_owner_is_told() -> None:
    host = loaded(plugins={"first": Served})
    assert list(host.assembly.routes["/same"]) == ["GET"]
    assert problems(host) == [
        "route 'POST /same' is for callers of the policy 'Served', and no plugin says who they are; it is not served"
    ]


# --- authors' mistakes


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


def unreadable(a: Any) -> str:
    """Take something unreadable."""
    return "x"


unreadable.__annotations__["a"] = "list["


def too_large(a: Any) -> str:
    """Take a very large thing."""
    return "x"


def unbounded(a: Annotated[float, Field(le=float("inf"))]) -> str:
    """Take a number."""
    return "x"


def raising(config: Any) -> bool:
    raise KeyError("no such setting")


def leaving(config: Any) -> bool:
    raise SystemExit(3)


MISTAKES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no description": (no_docstring, {}, "it has no description"),
    "blank description": (simple(), {"name": "b", "description": " \n "}, "it has no description"),
    "any arguments": (any_arguments, {}, "takes any number of arguments"),
    "a type that raises": (explosive, {}, "no description today"),
    "an unreadable annotation": (unreadable, {}, "annotation"),
    "a class": (int, {"description": "Make a number."}, "int is a class"),
    "a builtin without a signature": (iter, {"description": "Make an iterator."}, "signature"),
    "no function": (5, {"name": "five", "description": "Five."}, ""),
    "a name that is no text": (simple("numbered"), {"name": 5}, ""),
    "a description that is no text": (simple("described"), {"description": 5}, ""),
    "a title that is no text": (simple("titled"), {"title": 5}, "its title is 5"),
    "hints that are none": (simple("hinted"), {"annotations": {"read_only": True}}, "not ToolAnnotations"),
    "a hint that is no flag": (simple("flagged"), {"annotations": ToolAnnotations(read_only="yes")}, "'yes'"),  # type: ignore[arg-type]
    "a secret that is no text": (simple("keyed"), {"requires_secrets": [5]}, "the secret 5"),
    "a bound that is infinite": (unbounded, {}, "infinity"),
    "a secret that is no name": (simple("spaced"), {"requires_secrets": ["A B"]}, "the secret 'A B', which is no name"),
    "a secret that is a path": (simple("path"), {"requires_secrets": ["../x"]}, "the secret '../x', which is no name"),
    "a secret without a name": (simple("nameless"), {"requires_secrets": [""]}, "the secret '', which is no name"),
    "a secret of the host": (simple("key"), {"requires_secrets": ["Mcp_Key"]}, "Mcp_Key, which is kept for the host"),
    "enabled raises": (
        simple("maybe"),
        {"enabled": raising},
        "its `enabled`, which is given the settings, raised KeyError",
    ),
    "enabled leaves": (simple("gone"), {"enabled": leaving}, "SystemExit"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_wrong_definition_costs_that_tool_alone(mistake: str, caplog: pytest.LogCaptureFixture) -> None:
    function, options, reason = MISTAKES[mistake]
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


def test_a_problem_with_a_definition_names_its_place() -> None:
    kit = Toolkit("x")
    kit.tool(any_arguments)
    (told,) = problems(loaded(kit))
    assert f"{__file__}:{any_arguments.__code__.co_firstlineno}" in told


def test_a_schema_beyond_the_limit_costs_that_tool() -> None:
    from typing import Literal

    too_large.__annotations__["a"] = Literal[tuple(f"choice number {number}" for number in range(20_000))]
    kit = kit_of("good")
    kit.tool(too_large)
    host = loaded(kit)
    assert tools(host) == ["github_good"]
    assert "the limit is 262144" in problems(host)[0]


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    ("uri", "function", "reason"),
    [
        ("no uri", simple(), "its URI is not absolute"),
        ("/relative", simple(), "its URI is not absolute"),
        ("docs://a b", simple(), "its URI is not absolute"),
        ("docs://path", any_arguments, "takes any number of arguments"),
        (5, simple(), ""),
        ("docs://x", 5, ""),
        ("docs://x", int, ""),
    ],
    ids=["word", "relative", "blank", "parameters", "no text", "no function", "builtin"],
)
def test_a_wrong_resource_costs_that_resource_alone(uri: Any, function: Any, reason: str) -> None:
    kit = kit_of("good")
    kit.resource("docs://good")(simple())
    kit.resource(uri)(function)
    host = loaded(kit)
    assert list(host.assembly.resources) == ["docs://good"]
    assert tools(host) == ["github_good"]
    (told,) = problems(host)
    assert reason in told


@pytest.mark.parametrize(
    ("options", "function", "reason"),
    [
        ({}, no_docstring, "it has no description"),
        ({"name": "ünï"}, simple(), "it contains 'ü'"),
        ({}, any_arguments, "takes any number of arguments"),
        ({"name": "five", "description": "Five."}, 5, ""),
    ],
    ids=["description", "name", "parameters", "no function"],
)
def test_a_wrong_prompt_costs_that_prompt_alone(options: Any, function: Any, reason: str) -> None:
    kit = kit_of("good")
    kit.prompt(name="good")(simple())
    kit.prompt(**options)(function)
    host = loaded(kit)
    assert list(host.assembly.prompts) == ["github_good"]
    (told,) = problems(host)
    assert reason in told


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


@pytest.mark.parametrize(
    ("function", "name", "description"),
    [
        (documented, "x_documented", "Add two numbers."),
        (functools.partial(documented, b=2), "x_documented", "Add two numbers."),
        (Adder(), "x_adder", "Add one number to another."),
        (Doubler(), "x_doubler", "Double a number."),
    ],
    ids=["function", "partial", "object", "object of a class that says nothing"],
)
def test_whatever_can_be_called_has_its_own_name_and_description(function: Any, name: str, description: str) -> None:
    kit = Toolkit("x")
    kit.tool(function)
    assert {name: one.tool.description for name, one in loaded(kit).assembly.tools.items()} == {name: description}


def test_secrets_given_as_one_text_are_not_taken_for_letters() -> None:
    kit = Toolkit("x")
    kit.tool(requires_secrets="API_KEY")(simple())
    told = " ".join(problems(loaded(kit)))
    assert "secret A," not in told


# --- disabling

SPELLINGS = [
    "github_delete_repo", "Github_DeleteRepo", "GITHUB_DELETE_REPO", "github.delete_repo", "Github.DeleteRepo",
    "Github::DeleteRepo", "github::delete_repo", " Github :: DeleteRepo ", "github-delete-repo", "GitHub::deleteRepo",
    "github_delete_*", "Github.Delete*", "*_delete_repo", "github_d?lete_repo", "*::deleterepo", "github_[d]elete_repo",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_tool_is_disabled_in_every_spelling(spelling: str) -> None:
    host = loaded(kit_of("delete_repo", "list_repos"), disabled_tools=[spelling])
    assert tools(host) == ["github_list_repos"]
    (withheld,) = host.assembly.unserved
    assert (withheld.name, withheld.owner) == ("github_delete_repo", "github")
    assert "[host] disabled_tools" in withheld.reason
    assert problems(host) == []


@pytest.mark.parametrize("style", ["snake", "pascal"])
def test_disabling_does_not_depend_on_the_style_of_names(style: str) -> None:
    host = loaded(kit_of("delete_repo", "list_repos"), disabled_tools=["Github::DeleteRepo"], tool_names=style)
    assert len(tools(host)) == 1


@pytest.mark.requirement("TOOL-09")
async def test_a_disabled_tool_cannot_be_called() -> None:
    async with make_host(kit_of("delete_repo"), disabled_tools=["github_*"]) as host:
        outcome = await failure(host, "github_delete_repo")
    assert outcome.error.message == "Unknown tool: github_delete_repo"


def test_a_disabled_tool_is_not_compiled() -> None:
    kit = kit_of("good")
    kit.tool(any_arguments)
    host = loaded(kit, disabled_tools=["github_any_arguments"])
    assert tools(host) == ["github_good"]
    assert problems(host) == []


def test_disabling_one_of_two_claimants_needs_a_name_that_only_one_has() -> None:
    plain = Toolkit("plain", prefix=False)
    plain.tool(name="github_list")(simple())
    host = loaded(kit_of("list"), plain, disabled_tools=["github.list"])
    assert tools(host) == ["github_list"]
    assert host.assembly.tools["github_list"].tool.owner == "plain"


def test_a_pattern_that_matches_nothing_is_reported_with_the_nearest_name() -> None:
    host = loaded(kit_of("delete_repo"), disabled_tools=["github_delete_rep", "githbu_*", "zzzz"])
    assert tools(host) == ["github_delete_repo"]
    told = problems(host)
    assert len(told) == 3
    assert "github_delete_rep" in told[0]
    assert "github_delete_repo" in told[0]
    assert "github_*" in told[1]
    assert [problem.level for problem in host.problems] == ["warning"] * 3
    assert not any(problem.fatal for problem in host.problems)


def test_a_pattern_for_a_tool_of_a_disabled_toolkit_is_no_mistake() -> None:
    host = loaded(
        kit_of("list"), kit_of("a", toolkit="other"), disabled_toolkits=["github"], disabled_tools=["github_l*"]
    )
    assert tools(host) == ["other_a"]
    assert problems(host) == []


# --- secrets that are not set


def secret_kit() -> Toolkit:
    kit = kit_of("free")
    kit.tool(name="needy", requires_secrets=["SET", "UNSET", "EMPTY"])(simple("needy"))
    return kit


STORE = {"store": plugin_of(stores=[Store({"SET": "s", "EMPTY": ""})])}


async def test_missing_secrets_warn(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(secret_kit(), plugins=STORE) as host:
        assert tools(host) == ["github_free", "github_needy"]
        assert [problem.level for problem in host.problems] == ["warning", "warning"]
        assert "UNSET" in (await failure(host, "github_needy")).error.message
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    for name in ("UNSET", "EMPTY"):
        assert any("'github_needy'" in one and name in one for one in warnings)


@pytest.mark.parametrize("empty", ["", "  ", "\n"], ids=["nothing", "blanks", "a line's end"])
async def test_missing_secrets_hide_the_tool(empty: str) -> None:
    store = {"store": plugin_of(stores=[Store({"SET": "s", "EMPTY": empty})])}
    async with make_host(secret_kit(), plugins=store, missing_secrets="hide") as host:
        assert tools(host) == ["github_free"]
        (withheld,) = host.assembly.unserved
        assert withheld.reason == (
            "the secret UNSET is not set; set it in store; the secret EMPTY is not set; set it in store"
        )


async def test_missing_secrets_fail_the_start_and_all_are_named() -> None:
    host = make_host(secret_kit(), plugins=STORE, missing_secrets="fail")
    with pytest.raises((PluginError, ConfigError)) as caught:
        await host.start()
    for name in ("UNSET", "EMPTY", "github_needy"):
        assert name in str(caught.value)


@pytest.mark.parametrize("policy", ["warn", "hide", "fail"])
async def test_secrets_that_are_set_are_no_matter(policy: str) -> None:
    store = plugin_of(stores=[Store({"SET": "s", "UNSET": "u", "EMPTY": "e"})])
    async with make_host(secret_kit(), plugins={"store": store}, missing_secrets=policy) as host:
        assert await value(host, "github_needy") == "needy"
        assert host.problems == ()


class BrokenStore:
    name = "vault"

    def get(self, name: str) -> str | None:
        raise ConnectionError("the vault is down")


@pytest.mark.parametrize("policy", ["warn", "hide"])
async def test_a_store_that_raises_does_not_keep_the_host_from_starting(policy: str) -> None:
    plugins = {"a_vault": plugin_of(stores=[BrokenStore()]), "b": plugin_of(stores=[Store({"SET": "s"})])}
    kit = kit_of("free")
    kit.tool(name="needy", requires_secrets=["SET"])(simple("needy"))
    async with make_host(kit, plugins=plugins, missing_secrets=policy) as host:
        assert await value(host, "github_free") == "free"
        assert any("vault" in str(problem) for problem in host.problems)


async def test_a_store_that_gives_no_text_is_passed_over() -> None:
    class Odd:
        name = "odd"

        def get(self, name: str) -> str | None:
            return b"bytes"  # type: ignore[return-value]

    plugins = {"a": plugin_of(stores=[Odd()]), "b": plugin_of(stores=[Store({"SET": "s"})])}
    kit = Toolkit("github")
    kit.tool(name="needy", requires_secrets=["SET"])(simple("needy"))
    async with make_host(kit, plugins=plugins) as host:
        assert await value(host, "github_needy") == "needy"
        assert [problem.message for problem in host.problems] == ["the secret store 'odd' gave no text for SET"]


async def test_secrets_that_differ_in_case_alone_are_one_as_it_was_spelt_first() -> None:
    kit = Toolkit("github")
    kit.tool(name="needy", requires_secrets=["Set", "SET", "Other", "set"])(simple("needy"))
    host = loaded(kit)
    required = host.assembly.tools["github_needy"].requirements
    assert required is not None
    assert list(required.secrets) == ["Set", "Other"]


# --- middleware


def marking(name: str | None, *, methods: frozenset[str] | None = None, mark: str = "") -> Middleware:
    async def handle(call: Call, call_next: CallNext) -> Outcome:
        trail.append(mark or name or "?")
        return await call_next(call)

    return around(*methods or (), name=name)(handle)


trail: list[str] = []


async def order_of(host: Host, method: str = "tools/list") -> list[str]:
    trail.clear()
    async with host:
        await host.dispatch(Call(method))
    return list(trail)


PLUGINS = {name: plugin_of(middleware=[marking(None, mark=name)]) for name in ("gamma", "alpha", "beta", "delta")}


@pytest.mark.parametrize(
    ("listed", "order"),
    [
        ([], ["alpha", "beta", "delta", "gamma"]),
        (["gamma"], ["gamma", "alpha", "beta", "delta"]),
        (["delta", "beta"], ["delta", "beta", "alpha", "gamma"]),
        (["gamma", "delta", "beta", "alpha"], ["gamma", "delta", "beta", "alpha"]),
    ],
)
async def test_middleware_stands_in_the_order_of_the_list_then_of_names(listed: list[str], order: list[str]) -> None:
    assert await order_of(make_host(plugins=PLUGINS, middleware=listed)) == order


async def test_middleware_of_one_plugin_may_have_names_of_its_own() -> None:
    plugins = {"many": plugin_of(middleware=[marking("second"), marking("first")])}
    assert await order_of(make_host(plugins=plugins)) == ["first", "second"]
    assert await order_of(make_host(plugins=plugins, middleware=["second"])) == ["second", "first"]


async def test_middleware_stands_around_the_methods_it_names() -> None:
    plugins = {
        "tools": plugin_of(middleware=[marking("tools", methods=frozenset(("tools/list",)))]),
        "all": plugin_of(middleware=[marking("all")]),
    }
    assert await order_of(make_host(plugins=plugins)) == ["all", "tools"]
    assert await order_of(make_host(plugins=plugins), "prompts/list") == ["all"]


async def test_a_list_that_names_middleware_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"middleware.*alhpa.*alpha"):
        await make_host(plugins=PLUGINS, middleware=["alhpa"]).start()


# --- the result


@pytest.mark.requirement("TOOL-07")
def test_the_catalogue_does_not_depend_on_the_order_of_what_was_given() -> None:
    kits = [kit_of("b", "a", toolkit=name) for name in ("two", "one", "three")]
    first, second = loaded(*kits), loaded(*kits[::-1])
    assert tools(first) == tools(second) == sorted(tools(first))
    assert [str(one) for one in first.problems] == [str(one) for one in second.problems]


def test_the_assembly_cannot_be_changed() -> None:
    assembly = loaded(kit_of("a")).assembly
    with pytest.raises(AttributeError):
        assembly.tools = {}  # type: ignore[misc]
