"""Tools, resources and prompts that come, change and go while the host runs."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pegboard import (
    Context,
    Host,
    NotFoundError,
    PluginConfig,
    PromptResult,
    ResourceResult,
    ToolDefinitionError,
    Toolkit,
)
from pegboard.plugin import (
    Catalogue,
    Plugin,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
    ToolInputSchemaError,
    hookimpl,
)
from pegboard.types import ANONYMOUS, LOCAL, Call, CallNext, Change, Failure, ItemKind, Listing, Outcome
from tests.host.hosting import call, failure, make_host, plugin_of, value


def work() -> str:
    """Do some work."""
    return "done"


def other_work() -> str:
    """Do some other work."""
    return "done otherwise"


def named(name: str, function: Callable[..., Any] = work) -> ToolDefinition:
    return ToolDefinition(function, name=name)


class Grown:
    """A plugin that hands its context out."""

    def __init__(self, *, when: Callable[[PluginContext], object] | None = None) -> None:
        grown = self
        self.context: PluginContext

        class GrowingPlugin(Plugin):
            @hookimpl
            def register_tools(self, context: PluginContext) -> list[ToolDefinition]:
                grown.context = context
                if when is not None:
                    when(context)
                return [named("first")]

        self.plugin = GrowingPlugin

    @property
    def catalogue(self) -> Catalogue:
        return self.context.catalogue


async def listed(host: Host, kind: ItemKind, **fields: Any) -> list[str]:
    outcome = await host.dispatch(Call(f"{kind}/list", {}, **fields))
    assert isinstance(outcome, Listing)
    return [getattr(item, "uri", item.name) for item in outcome.items]


# --- what can be done


async def test_a_tool_comes_changes_and_goes() -> None:
    async with make_host() as host:
        assert host.catalogue.add(work) == ("work",)
        assert await value(host, "work") == "done"
        assert host.catalogue.update(named("work", other_work)) == ("work",)
        assert await value(host, "work") == "done otherwise"
        assert await listed(host, "tools") == ["work"]
        host.catalogue.remove("tools", "work")
        assert await listed(host, "tools") == []
        assert isinstance((await failure(host, "work")).error, NotFoundError)


async def test_a_resource_comes_changes_and_goes() -> None:
    read = Call("resources/read", {"uri": "x://a"})
    async with make_host() as host:
        assert host.catalogue.add(ResourceDefinition("x://a", lambda: "one", name="a")) == ("x://a",)
        outcome = await host.dispatch(read)
        assert isinstance(outcome, ResourceResult)
        host.catalogue.update(ResourceDefinition("x://a", lambda: "two", name="b"))
        assert host.assembly.resources["x://a"][0].name == "b"
        assert await host.dispatch(read) != outcome
        assert await listed(host, "resources") == ["x://a"]
        host.catalogue.remove("resources", "x://a")
        assert await listed(host, "resources") == []
        assert isinstance(await host.dispatch(read), Failure)


async def test_a_prompt_comes_changes_and_goes() -> None:
    get = Call("prompts/get", {"name": "work"})
    async with make_host() as host:
        assert host.catalogue.add(PromptDefinition(work)) == ("work",)
        outcome = await host.dispatch(get)
        assert isinstance(outcome, PromptResult)
        host.catalogue.update(PromptDefinition(other_work, name="work"))
        assert await host.dispatch(get) != outcome
        assert await listed(host, "prompts") == ["work"]
        host.catalogue.remove("prompts", "work")
        assert await listed(host, "prompts") == []
        assert isinstance(await host.dispatch(get), Failure)


async def test_lists_stay_in_the_order_of_names() -> None:
    async with make_host() as host:
        host.catalogue.add(named("b"), named("d"), ResourceDefinition("x://b", work))
        host.catalogue.add(named("c"), named("a"), ResourceDefinition("x://a", work))
        host.catalogue.update(named("b"))
        assert list(host.assembly.tools) == await listed(host, "tools") == ["a", "b", "c", "d"]
        assert list(host.assembly.resources) == await listed(host, "resources") == ["x://a", "x://b"]


async def test_every_change_is_another_assembly_and_leaves_the_one_before_as_it_was() -> None:
    async with make_host() as host:
        before = host.assembly
        host.catalogue.add(work)
        after = host.assembly
        assert (list(before.tools), list(after.tools)) == ([], ["work"])
        assert (before.forms.keys(), after.forms.keys()) == (before.tools.keys(), after.tools.keys())
        assert after.resources is before.resources
        assert after.middleware is before.middleware


async def test_only_what_changed_is_made_anew() -> None:
    async with make_host(page_size=2) as host:
        host.catalogue.add(*map(named, "abcef"), PromptDefinition(work))
        tools = [(await page(host, "tools")), (await page(host, "tools", "b")), (await page(host, "tools", "e"))]
        prompts = await page(host, "prompts")
        host.catalogue.add(named("d"))
        assert await page(host, "prompts") is prompts
        assert await page(host, "tools") is tools[0]
        assert [item.name for item in (await page(host, "tools", "b")).items] == ["c", "d"]
        assert [item.name for item in (await page(host, "tools", "d")).items] == ["e", "f"]


async def page(host: Host, kind: ItemKind, after: str | None = None) -> Listing:
    params: dict[str, Any] = {}
    if after is not None:
        params["cursor"] = base64.urlsafe_b64encode(f"{kind}:{after}".encode()).decode()
    outcome = await host.dispatch(Call(f"{kind}/list", params))
    assert isinstance(outcome, Listing)
    return outcome


async def test_equal_is_not_the_same_a_page_of_another_schema_is_another_page() -> None:
    def whole(number: int = 1) -> str:
        """Work."""
        return "x"

    def logical(number: int = True) -> str:
        """Work."""
        return "x"

    async with make_host() as host:
        host.catalogue.add(named("work", whole))
        before = await page(host, "tools")
        host.catalogue.update(named("work", logical))
        after = await page(host, "tools")
        assert after is not before
        assert after.items[0].input_schema["properties"]["number"]["default"] is True  # type: ignore[union-attr]


# --- whose it is


async def test_a_plugins_tools_are_named_and_owned_as_those_it_had_from_the_start() -> None:
    grown = Grown()
    async with make_host(plugins={"grown": grown.plugin}) as host:
        assert grown.catalogue.add(named("second")) == ("second",)
        assert {bound.tool.owner for bound in host.assembly.tools.values()} == {"grown"}
        grown.catalogue.remove("tools", "first")
        assert await listed(host, "tools") == ["second"]


async def test_a_toolkits_tools_carry_its_name_and_have_its_settings_and_state() -> None:
    class Config(PluginConfig):
        size: int = 3

    kit = Toolkit("kit", config=Config)

    @kit.lifespan
    async def live(config: Config) -> AsyncIterator[str]:
        yield "state"

    def seen(context: Context) -> list[Any]:
        """Say what there is."""
        return [context.config.size, context.state]

    async with make_host(kit) as host:
        (plugin,) = host.report.plugins
        assert plugin.context.catalogue.add(seen) == ("kit_seen",)
        assert await value(host, "kit_seen") == [3, "state"]
        plugin.context.catalogue.remove("tools", "seen")
        assert await listed(host, "tools") == []


async def test_names_on_the_wire_come_before_a_plugins_own() -> None:
    kit = Toolkit("a")
    async with make_host(kit) as host:
        catalogue = host.report.plugins[0].context.catalogue
        assert catalogue.add(named("b"), named("a_b")) == ("a_b", "a_a_b")
        catalogue.remove("tools", "a_b")
        assert await listed(host, "tools") == ["a_a_b"]


@pytest.mark.parametrize(
    "change",
    [
        lambda catalogue: catalogue.add(named("first")),
        lambda catalogue: catalogue.update(named("first")),
        lambda catalogue: catalogue.remove("tools", "first"),
    ],
    ids=["add", "update", "remove"],
)
async def test_nobody_touches_what_another_brought(change: Callable[[Catalogue], None]) -> None:
    async with make_host(plugins={"grown": Grown().plugin}) as host:
        before = host.assembly
        with pytest.raises(ToolDefinitionError, match=r"^tool 'first' .* plugin 'grown'"):
            change(host.catalogue)
        assert host.assembly is before


async def test_a_plugin_and_a_toolkit_of_one_name_are_two() -> None:
    grown = Grown()
    kit = Toolkit("twin")
    async with make_host(kit, plugins={"twin": grown.plugin}) as host:
        (kits,) = (one.context.catalogue for one in host.report.plugins if one.origin.kind == "toolkit")
        with pytest.raises(ToolDefinitionError, match="brought by plugin 'twin'"):
            kits.remove("tools", "first")
        assert await listed(host, "tools") == ["first"]


async def test_a_name_that_two_claimed_at_the_start_is_served_to_no_third() -> None:
    twins = {"a": Grown().plugin, "b": Grown().plugin}
    async with make_host(plugins=twins) as host:
        with pytest.raises(ToolDefinitionError, match=r"tool 'first' is claimed by two others and served by neither"):
            host.catalogue.add(named("first"))
        assert await listed(host, "tools") == []


# --- what cannot be done


def undescribed() -> str:
    return "x"


def untyped(x) -> str:  # type: ignore[no-untyped-def] # noqa: ANN001 - that is the point
    """Take anything."""
    return "x"


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (named("work"), "tool 'work' is there already, brought by plugin 'program'; update replaces it"),
        (undescribed, "it has no description"),
        (untyped, "parameter 'x' has no type annotation"),
        (named("no good"), "its name on the wire, 'no good', is no good"),
        (ResourceDefinition("relative", work), "its URI is not absolute"),
        (ResourceDefinition("x://work", work), "resource 'x://work' is there already"),
        (PromptDefinition(work), "prompt 'work' is there already"),
        (PromptDefinition(undescribed), "it has no description"),
        (5, "5 is neither a definition nor a function"),
        (None, "None is neither a definition nor a function"),
    ],
)
async def test_what_cannot_be_added_is_refused_to_who_asked_and_nothing_else_of_it_is_added(
    definition: Any, message: str
) -> None:
    heard: list[Change] = []
    async with make_host() as host:
        host.catalogue.add(work, ResourceDefinition("x://work", work), PromptDefinition(work))
        before = host.assembly
        host.watch(heard.append)
        with pytest.raises(ToolDefinitionError) as caught:
            host.catalogue.add(named("fine"), definition)
        assert message in str(caught.value)
        assert host.assembly is before
        assert heard == []


async def test_the_error_says_what_and_where_and_keeps_its_kind() -> None:
    async with make_host() as host:
        with pytest.raises(ToolInputSchemaError, match=rf"^tool 'untyped' \({__file__}:\d+\): parameter 'x'"):
            host.catalogue.add(untyped)


async def test_one_call_cannot_add_the_same_twice() -> None:
    async with make_host() as host:
        with pytest.raises(ToolDefinitionError, match="tool 'a' is there already"):
            host.catalogue.add(named("a"), named("a", other_work))
        assert await listed(host, "tools") == []


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
async def test_what_is_not_there_can_neither_change_nor_go(kind: ItemKind) -> None:
    gone: dict[ItemKind, Any] = {
        "tools": named("gone"),
        "resources": ResourceDefinition("x://gone", work),
        "prompts": PromptDefinition(work, name="gone"),
    }
    name = "x://gone" if kind == "resources" else "gone"
    async with make_host() as host:
        with pytest.raises(ToolDefinitionError, match=f"there is no {kind[:-1]} '{name}' of plugin 'program'"):
            host.catalogue.update(gone[kind])
        with pytest.raises(ToolDefinitionError, match=f"there is no {kind[:-1]} '{name}' of plugin 'program'"):
            host.catalogue.remove(kind, name)


async def test_a_removal_is_whole_or_not_at_all() -> None:
    async with make_host() as host:
        host.catalogue.add(named("a"), named("b"))
        with pytest.raises(ToolDefinitionError, match="'gone'"):
            host.catalogue.remove("tools", "a", "gone", "b")
        assert await listed(host, "tools") == ["a", "b"]


async def test_there_are_three_kinds() -> None:
    async with make_host() as host:
        with pytest.raises(ToolDefinitionError, match="'tool' is no kind; there are: prompts, resources, tools"):
            host.catalogue.remove("tool", "work")  # type: ignore[arg-type]


# --- what the operator decides


async def test_what_the_operator_disabled_is_withheld() -> None:
    heard: list[Change] = []
    async with make_host(disabled_tools=["bad_*"]) as host:
        host.watch(heard.append)
        assert host.catalogue.add(named("bad_one")) == ("bad_one",)
        assert await listed(host, "tools") == []
        withheld = host.assembly.unserved[0]
        assert (withheld.name, withheld.owner) == ("bad_one", "program")
        assert "disabled by 'bad_*'" in withheld.reason
        assert host.catalogue.update(named("bad_one")) == ("bad_one",)
        assert [one.name for one in host.assembly.unserved] == ["bad_one"]
        host.catalogue.remove("tools", "bad_one")
        assert [one.name for one in host.assembly.unserved] == []
    assert heard == []


async def test_an_update_may_withhold_a_tool_and_offer_it_again() -> None:
    on = [True]

    def definition() -> ToolDefinition:
        return ToolDefinition(work, enabled=lambda config: on[0])

    heard: list[Change] = []
    async with make_host() as host:
        host.catalogue.add(definition())
        host.watch(heard.append)
        on[0] = False
        host.catalogue.update(definition())
        assert (await listed(host, "tools"), len(host.assembly.unserved)) == ([], 1)
        on[0] = True
        host.catalogue.update(definition())
        assert (await listed(host, "tools"), len(host.assembly.unserved)) == (["work"], 0)
    assert heard == [Change("tools"), Change("tools")]


async def test_names_are_in_the_operators_style() -> None:
    async with make_host(Toolkit("my_kit"), tool_names="pascal") as host:
        catalogue = host.report.plugins[0].context.catalogue
        assert catalogue.add(named("do_it")) == ("MyKit_DoIt",)
        catalogue.remove("tools", "do_it")
        assert await listed(host, "tools") == []


@pytest.mark.parametrize("policy", ["warn", "hide", "fail"])
async def test_missing_secrets_are_the_operators_policy(policy: str, caplog: pytest.LogCaptureFixture) -> None:
    needy = ToolDefinition(work, requires_secrets=("KEY",))
    async with make_host(missing_secrets=policy) as host:
        if policy == "fail":
            with pytest.raises(ToolDefinitionError, match=r"tool 'work': the secret KEY is not set"):
                host.catalogue.add(needy)
            assert await listed(host, "tools", caller=LOCAL) == []
            return
        with caplog.at_level(logging.WARNING, "pegboard"):
            host.catalogue.add(needy)
        assert await listed(host, "tools", caller=LOCAL) == ([] if policy == "hide" else ["work"])
        assert ("tool 'work': the secret KEY is not set" in caplog.text) == (policy == "warn")


@pytest.mark.requirement("LIST-09")
async def test_a_tool_with_scopes_makes_the_list_of_tools_depend_on_the_caller() -> None:
    async with make_host() as host:
        host.catalogue.add(named("open"))
        assert (await page(host, "tools")).private is False
        host.catalogue.add(ToolDefinition(work, name="needy", scopes=("write",)))
        assert (await page(host, "tools")).private is True
        assert await listed(host, "tools", caller=ANONYMOUS) == ["open"]
        assert await listed(host, "tools", caller=LOCAL) == ["needy", "open"]
        assert (await page(host, "prompts")).private is False
        host.catalogue.remove("tools", "needy")
        assert (await page(host, "tools")).private is False


# --- before the start, and after the end


async def test_what_is_added_before_the_start_is_there_from_the_start() -> None:
    host = make_host()
    assert host.catalogue.add(work, ResourceDefinition("x://a", work), PromptDefinition(work)) == (
        "work",
        "x://a",
        "work",
    )
    async with host:
        assert await value(host, "work") == "done"
        assert await listed(host, "resources") == ["x://a"]
        assert await listed(host, "prompts") == ["work"]
    assert list(make_host().load().tools) == []


async def test_a_plugin_may_add_while_it_is_asked_and_while_it_starts() -> None:
    grown = Grown(when=lambda context: context.catalogue.add(named("early")))
    starting = Toolkit("starting")

    @starting.lifespan
    async def live(config: None) -> AsyncIterator[None]:
        assert grown.catalogue.add(named("late")) == ("late",)
        yield

    async with make_host(starting, plugins={"grown": grown.plugin}) as host:
        assert await listed(host, "tools") == ["early", "first", "late"]
        assert host.assembly.tools["late"].tool.owner == "grown"


async def test_what_is_wrong_with_what_was_added_before_the_start_is_a_problem_as_any_other() -> None:
    host = make_host()
    assert host.catalogue.add(undescribed) == ("undescribed",)
    async with host:
        (problem,) = host.problems
        assert "tool 'undescribed'" in str(problem)
        assert "it has no description" in str(problem)


@pytest.mark.parametrize(
    "change",
    [lambda catalogue: catalogue.update(named("work")), lambda catalogue: catalogue.remove("tools", "work")],
    ids=["update", "remove"],
)
async def test_before_the_start_one_can_only_add(change: Callable[[Catalogue], None]) -> None:
    host = make_host()
    host.catalogue.add(work)
    with pytest.raises(ToolDefinitionError, match="nothing is served yet"):
        change(host.catalogue)


async def test_nothing_outlives_the_host_that_it_was_added_to() -> None:
    grown = Grown()
    host = make_host(plugins={"grown": grown.plugin})
    async with host:
        old = grown.catalogue
        old.add(named("second"))
        host.catalogue.add(work)
    async with host:
        assert await listed(host, "tools") == ["first"]
        with pytest.raises(ToolDefinitionError, match="does not run in this host, or no longer"):
            old.add(named("second"))


async def test_a_toolkit_that_grows_after_the_start_reaches_no_host_that_runs() -> None:
    kit = Toolkit("kit")
    async with make_host(kit) as host:
        kit.tool(work)
        assert await listed(host, "tools") == []
    async with make_host(kit) as host:
        assert await listed(host, "tools") == ["kit_work"]


# --- who hears of it


async def test_a_change_is_told_once_for_each_kind_that_changed_when_it_can_be_seen() -> None:
    heard: list[tuple[Change, list[str], list[str]]] = []
    async with make_host() as host:
        host.watch(lambda change: heard.append((change, list(host.assembly.tools), list(host.assembly.prompts))))
        host.catalogue.add(PromptDefinition(work), named("a"), named("b"))
        host.catalogue.update(named("a"))
        host.catalogue.remove("prompts", "work")
        host.catalogue.add(ResourceDefinition("x://a", work))
        host.catalogue.add()
    assert heard == [
        (Change("tools"), ["a", "b"], ["work"]),
        (Change("prompts"), ["a", "b"], ["work"]),
        (Change("tools"), ["a", "b"], ["work"]),
        (Change("prompts"), ["a", "b"], []),
        (Change("resources"), ["a", "b"], []),
    ]


async def test_who_hears_of_a_change_may_change_more() -> None:
    async with make_host() as host:

        def listener(change: Change) -> None:
            if change.kind == "tools":
                host.catalogue.add(PromptDefinition(work))

        host.watch(listener)
        host.catalogue.add(work)
        assert await listed(host, "prompts") == ["work"]


async def test_what_a_host_offers_it_goes_on_offering() -> None:
    async with make_host() as host:
        assert [host.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, False, False]
        host.catalogue.add(ResourceDefinition("x://a", work))
        host.catalogue.remove("resources", "x://a")
        assert [host.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, True, False]


# --- calls in flight


async def test_a_call_in_flight_ends_as_it_began() -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        """Wait."""
        began.set()
        await go.wait()
        return "the first"

    async with make_host() as host:
        host.catalogue.add(slow)
        task = asyncio.create_task(value(host, "slow"))
        await began.wait()
        host.catalogue.update(named("slow", other_work))
        host.catalogue.remove("tools", "slow")
        go.set()
        assert await task == "the first"


async def test_a_call_held_up_by_middleware_still_finds_what_was_there_when_it_began() -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def hold(call: Call, call_next: CallNext) -> Outcome:
        began.set()
        await go.wait()
        return await call_next(call)

    async with make_host(plugins={"hold": plugin_of(middleware=[hold])}) as host:
        host.catalogue.add(work)
        task = asyncio.create_task(value(host, "work"))
        await began.wait()
        host.catalogue.remove("tools", "work")
        go.set()
        assert await task == "done"
        assert isinstance(await call(host, "work"), Failure)


# --- what resources say of being kept


@pytest.mark.requirement("LIST-06")
@pytest.mark.parametrize("fields", [{"ttl_ms": -1}, {"ttl_ms": True}, {"ttl_ms": 0.5}, {"ttl_ms": None}, {"public": 1}])
async def test_a_resource_cannot_say_nonsense_about_being_kept(fields: dict[str, Any]) -> None:
    def read() -> ResourceResult:
        return ResourceResult((), **fields)

    async with make_host() as host:
        host.catalogue.add(ResourceDefinition("x://a", read))
        outcome = await host.dispatch(Call("resources/read", {"uri": "x://a"}))
    assert isinstance(outcome, Failure)
    assert outcome.error_id is not None
