"""Tools, resources and prompts that plugins add, update and remove while the host runs."""

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
    ToolResult,
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
from tests.host.hosting import failure, make_host, plugin_of, value


def work() -> str:
    """Do some work."""
    return "done"


def other_work() -> str:
    """Do some other work."""
    return "done otherwise"


def named(name: str, function: Callable[..., Any] = work) -> ToolDefinition:
    return ToolDefinition(function, name=name)


class Growing:
    """A plugin with a tool "first" that hands out its catalogue."""

    def __init__(self, *, when: Callable[[PluginContext], object] | None = None) -> None:
        growing = self
        self.catalogue: Catalogue

        class GrowingPlugin(Plugin):
            @hookimpl
            def register_tools(self, context: PluginContext) -> list[ToolDefinition]:
                growing.catalogue = context.catalogue
                if when is not None:
                    when(context)
                return [named("first")]

        self.plugin = GrowingPlugin


async def page(host: Host, kind: ItemKind, after: str | None = None, **fields: Any) -> Listing:
    cursor = "" if after is None else base64.urlsafe_b64encode(f"{kind}:{after}".encode()).decode()
    outcome = await host.dispatch(Call(f"{kind}/list", {"cursor": cursor}, **fields))
    assert isinstance(outcome, Listing)
    return outcome


async def listed(host: Host, kind: ItemKind, **fields: Any) -> list[str]:
    return [getattr(item, "uri", item.name) for item in (await page(host, kind, **fields)).items]


# --- changes

KINDS: dict[ItemKind, tuple[Callable[..., Any], str, Call, type[Any]]] = {
    "tools": (ToolDefinition, "work", Call("tools/call", {"name": "work"}), ToolResult),
    "resources": (
        lambda function, **named: ResourceDefinition("x://work", function, **named),
        "x://work",
        Call("resources/read", {"uri": "x://work"}),
        ResourceResult,
    ),
    "prompts": (PromptDefinition, "work", Call("prompts/get", {"name": "work"}), PromptResult),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_item_is_added_updated_and_removed(kind: ItemKind) -> None:
    define, name, use, result = KINDS[kind]
    async with make_host() as host:
        for change in (host.catalogue.update, lambda one: host.catalogue.remove(kind, name)):
            with pytest.raises(ToolDefinitionError, match=f"there is no {kind[:-1]} '{name}' of plugin 'program'"):
                change(define(work))
        assert host.catalogue.add(define(work)) == (name,)
        first = await host.dispatch(use)
        assert isinstance(first, result)
        assert host.catalogue.update(define(other_work, name="work")) == (name,)
        second = await host.dispatch(use)
        assert isinstance(second, result)
        assert second != first
        assert await listed(host, kind) == [name]
        with pytest.raises(ToolDefinitionError, match="'gone'"):  # all of them, or none
            host.catalogue.remove(kind, name, "gone")
        assert await listed(host, kind) == [name]
        host.catalogue.remove(kind, name)
        assert await listed(host, kind) == []
        gone = await host.dispatch(use)
        assert isinstance(gone, Failure)
        assert isinstance(gone.error, NotFoundError)


async def test_a_change_publishes_a_new_assembly_and_keeps_unchanged_pages() -> None:
    async with make_host(page_size=2) as host:
        host.catalogue.add(PromptDefinition(work), *map(named, "abfec"))
        before = host.assembly
        first, prompts = await page(host, "tools"), await page(host, "prompts")
        host.catalogue.add(named("d"), ResourceDefinition("x://a", work))
        after = host.assembly
        assert [list(one.tools) for one in (before, after)] == [list("abcef"), list("abcdef")]
        assert [set(one.forms) for one in (before, after)] == [set(one.tools) for one in (before, after)]
        assert after.prompts is before.prompts
        assert await page(host, "prompts") is prompts
        assert await page(host, "tools") is first
        assert [item.name for item in (await page(host, "tools", "b")).items] == ["c", "d"]
        assert [item.name for item in (await page(host, "tools", "d")).items] == ["e", "f"]


async def test_pages_of_schemas_that_are_equal_but_not_the_same_are_different() -> None:
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


# --- owners


async def test_a_toolkits_tools_carry_its_name_and_have_its_settings_and_state() -> None:
    class Config(PluginConfig):
        size: int = 3

    kit = Toolkit("my_kit", config=Config)

    @kit.lifespan
    async def live(config: Config) -> AsyncIterator[str]:
        yield "state"

    def seen(context: Context) -> list[Any]:
        """Return the settings and the state."""
        return [context.config.size, context.state]

    for style, name in {"snake": "my_kit_seen", "pascal": "MyKit_Seen"}.items():
        async with make_host(kit, tool_names=style) as host:
            catalogue = host.report.plugins[0].context.catalogue
            assert catalogue.add(seen) == (name,)
            assert await value(host, name) == [3, "state"]
            assert host.assembly.tools[name].tool.owner == "my_kit"
            catalogue.remove("tools", "seen")
            catalogue.add(seen, named("my_kit_seen"))
            catalogue.remove("tools", name)  # a name on the wire comes before a plugin's own
            assert len(await listed(host, "tools")) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda catalogue: catalogue.add(named("first")),
        lambda catalogue: catalogue.update(named("first")),
        lambda catalogue: catalogue.remove("tools", "first"),
    ],
    ids=["add", "update", "remove"],
)
async def test_a_plugin_cannot_change_what_another_brought(change: Callable[[Catalogue], None]) -> None:
    async with make_host(Toolkit("grown"), plugins={"grown": Growing().plugin}) as host:
        before = host.assembly
        (kits,) = (one.context.catalogue for one in host.report.plugins if one.origin.kind == "toolkit")
        with pytest.raises(ToolDefinitionError, match=r"^tool 'first' .* from plugin 'grown'"):
            change(host.catalogue)
        with pytest.raises(ToolDefinitionError, match="from plugin 'grown'"):  # not by the toolkit of that name
            kits.remove("tools", "first")
        assert host.assembly is before


async def test_a_contested_name_cannot_be_added() -> None:
    async with make_host(plugins={"a": Growing().plugin, "b": Growing().plugin}) as host:
        with pytest.raises(
            ToolDefinitionError, match=r"tool 'first' is claimed by two other plugins, so it is not served"
        ):
            host.catalogue.add(named("first"))
        assert await listed(host, "tools") == []


# --- invalid changes


def undescribed() -> str:
    return "x"


def untyped(x) -> str:  # type: ignore[no-untyped-def] # noqa: ANN001 - the case under test
    """Take anything."""
    return "x"


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (named("work"), "tool 'work' exists already, from plugin 'program'; use update to replace it"),
        (named("fine"), "tool 'fine' exists already"),
        (undescribed, "it has no description"),
        (untyped, f"tool 'untyped' ({__file__}:{untyped.__code__.co_firstlineno}): parameter 'x' has no type"),
        (named("no good"), "its name on the wire, 'no good', is invalid"),
        (ResourceDefinition("relative", work), "its URI is not absolute"),
        (ResourceDefinition("x://work", work), "resource 'x://work' exists already"),
        (PromptDefinition(work), "prompt 'work' exists already"),
        (PromptDefinition(undescribed), "it has no description"),
        (5, "5 must be a definition or a function"),
    ],
)
async def test_an_invalid_addition_raises_and_adds_nothing(definition: Any, message: str) -> None:
    received: list[Change] = []
    async with make_host() as host:
        host.catalogue.add(work, ResourceDefinition("x://work", work), PromptDefinition(work))
        before = host.assembly
        host.watch(received.append)
        with pytest.raises(ToolDefinitionError) as caught:
            host.catalogue.add(named("fine"), definition)
        assert message in str(caught.value)
        assert isinstance(caught.value, ToolInputSchemaError) == (definition is untyped)
        with pytest.raises(ToolDefinitionError, match="unknown kind 'tool'; there are: prompts, resources, tools"):
            host.catalogue.remove("tool", "work")  # type: ignore[arg-type]
        assert host.assembly is before
    assert received == []


# --- the operator's policies


async def test_a_disabled_tool_is_not_served_and_listeners_are_not_called() -> None:
    received: list[Change] = []
    async with make_host(disabled_tools=["bad_*"]) as host:
        host.watch(received.append)
        for change in (host.catalogue.add, host.catalogue.update):
            assert change(named("bad_one")) == ("bad_one",)
            assert await listed(host, "tools") == []
            (unserved,) = host.assembly.unserved
            assert (unserved.name, unserved.owner) == ("bad_one", "program")
            assert "disabled by 'bad_*'" in unserved.reason
        host.catalogue.remove("tools", "bad_one")
        assert host.assembly.unserved == ()
    assert received == []


async def test_an_update_may_disable_a_tool_and_enable_it_again() -> None:
    received: list[Change] = []
    async with make_host() as host:
        host.catalogue.add(work)
        host.watch(received.append)
        for enabled in (False, True):
            host.catalogue.update(ToolDefinition(work, enabled=lambda config, enabled=enabled: enabled))  # type: ignore[misc]
            assert (len(await listed(host, "tools")), len(host.assembly.unserved)) == (enabled, not enabled)
    assert received == [Change("tools"), Change("tools")]


@pytest.mark.parametrize("policy", ["warn", "hide", "fail"])
async def test_missing_secrets_follow_the_policy(policy: str, caplog: pytest.LogCaptureFixture) -> None:
    needy = ToolDefinition(work, requires_secrets=("KEY",))
    async with make_host(missing_secrets=policy) as host:
        if policy == "fail":
            with pytest.raises(ToolDefinitionError, match=r"tool 'work': the secret KEY is not set"):
                host.catalogue.add(needy)
        else:
            with caplog.at_level(logging.WARNING, "pegboard"):
                host.catalogue.add(needy)
        assert await listed(host, "tools", caller=LOCAL) == (["work"] if policy == "warn" else [])
        assert ("tool 'work': the secret KEY is not set" in caplog.text) == (policy == "warn")


@pytest.mark.requirement("LIST-09")
async def test_a_tool_with_scopes_makes_the_list_of_tools_private() -> None:
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


async def test_additions_before_the_start_are_served_from_the_start() -> None:
    host = make_host()
    definitions = work, undescribed, ResourceDefinition("x://a", work), PromptDefinition(work)
    assert host.catalogue.add(*definitions) == ("work", "undescribed", "x://a", "work")
    for change in (lambda: host.catalogue.update(named("work")), lambda: host.catalogue.remove("tools", "work")):
        with pytest.raises(ToolDefinitionError, match="the host has not started"):
            change()
    async with host:
        assert await value(host, "work") == "done"
        assert (await listed(host, "resources"), await listed(host, "prompts")) == (["x://a"], ["work"])
        (problem,) = host.problems
        assert "tool 'undescribed'" in str(problem)
    assert list(make_host().load().tools) == []


async def test_a_plugin_may_add_in_a_hook_and_in_its_lifespan_and_nothing_outlives_the_host() -> None:
    growing = Growing(when=lambda context: context.catalogue.add(named("early")))
    starting = Toolkit("starting")

    @starting.lifespan
    async def live(config: None) -> AsyncIterator[None]:
        assert growing.catalogue.add(named("late")) == ("late",)
        yield

    host = make_host(starting, plugins={"growing": growing.plugin})
    async with host:
        old = growing.catalogue
        old.add(named("second"))
        assert await listed(host, "tools") == ["early", "first", "late", "second"]
        assert {bound.tool.owner for bound in host.assembly.tools.values()} == {"growing"}
    starting.tool(work)
    async with host:
        starting.tool(other_work)
        assert await listed(host, "tools") == ["early", "first", "late", "starting_work"]
        with pytest.raises(ToolDefinitionError, match="is not enabled in this host"):
            old.add(named("second"))


# --- listeners


async def test_a_change_is_announced_once_for_each_kind_when_it_is_visible() -> None:
    received: list[tuple[Change, list[str], list[str]]] = []
    async with make_host() as host:
        assert [host.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, False, False]
        host.watch(lambda change: received.append((change, list(host.assembly.tools), list(host.assembly.prompts))))
        host.catalogue.add(PromptDefinition(work), named("a"), named("b"))
        host.catalogue.update(named("a"))
        host.catalogue.remove("prompts", "work")
        host.catalogue.add(ResourceDefinition("x://a", work))
        host.catalogue.add()
        assert received == [
            (Change("tools"), ["a", "b"], ["work"]),
            (Change("prompts"), ["a", "b"], ["work"]),
            (Change("tools"), ["a", "b"], ["work"]),
            (Change("prompts"), ["a", "b"], []),
            (Change("resources"), ["a", "b"], []),
        ]
        host.catalogue.remove("resources", "x://a")
        assert [host.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, True, True]


async def test_a_listener_may_change_more() -> None:
    async with make_host() as host:

        def listener(change: Change) -> None:
            if change.kind == "tools":
                host.catalogue.add(PromptDefinition(work))

        host.watch(listener)
        host.catalogue.add(work)
        assert await listed(host, "prompts") == ["work"]


# --- calls in flight


@pytest.mark.parametrize("held", ["function", "middleware"])
async def test_a_call_in_flight_ends_as_it_began(held: str) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def hold(call: Call, call_next: CallNext) -> Outcome:
        if held == "middleware":
            began.set()
            await go.wait()
        return await call_next(call)

    async def slow() -> str:
        """Wait."""
        began.set()
        await go.wait()
        return "the first"

    async with make_host(plugins={"hold": plugin_of(middleware=[hold])}) as host:
        host.catalogue.add(slow)
        task = asyncio.create_task(value(host, "slow"))
        await began.wait()
        if held == "function":
            host.catalogue.update(named("slow", other_work))
        host.catalogue.remove("tools", "slow")
        go.set()
        assert await task == "the first"
        assert isinstance((await failure(host, "slow")).error, NotFoundError)


# --- resources


@pytest.mark.requirement("LIST-06")
@pytest.mark.parametrize("fields", [{"ttl_ms": -1}, {"ttl_ms": True}, {"ttl_ms": 0.5}, {"ttl_ms": None}, {"public": 1}])
async def test_invalid_cache_settings_of_a_resource_are_masked(fields: dict[str, Any]) -> None:
    async with make_host() as host:
        host.catalogue.add(ResourceDefinition("x://a", lambda: ResourceResult((), **fields), name="a"))
        outcome = await host.dispatch(Call("resources/read", {"uri": "x://a"}))
    assert isinstance(outcome, Failure)
    assert outcome.error_id is not None
