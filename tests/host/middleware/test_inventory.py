"""The inventory that middleware receives, its warnings, and the callers that share its lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pytest

from pegboard import Host, MCPError, ToolDefinitionError, Toolkit
from pegboard.plugin import Gate, Method, Middleware, Plugin, PluginError, ProtocolError, hookimpl
from pegboard.types import Call, Caller, CallNext, Inventory, ItemKind, Listing, MethodResult, Outcome
from tests.host.hosting import failure, make_host, plugin_of


def make_kit() -> Toolkit:
    kit = Toolkit("x")
    kit.tool(name="a", description="Work.", scopes=["work"])(lambda: "done")
    kit.resource("x://one", name="one")(lambda: "text")
    kit.resource("x://of/{name}", name="of")(of)
    kit.resource("x://{more}/{name}", name="more")(more)
    kit.prompt(name="ask", description="Ask.")(lambda: "text")
    return kit


def of(name: str) -> str:
    return name


def more(more: str, name: str) -> str:
    return name


def late() -> str:
    """Come late."""
    return "late"


class Told(Middleware):
    """Remembers what it was told, and says what a test wants."""

    def __init__(self, *says: str, fails: bool = False) -> None:
        self.says, self.fails = says, fails
        self.inventories: list[Inventory] = []

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        if self.fails:
            raise KeyError("x")
        self.inventories.append(inventory)
        return self.says


async def answer(call: Call) -> Outcome:
    return MethodResult()


class Jobs(Plugin):
    @hookimpl
    def register_methods(self) -> Iterable[Any]:
        return [Method("jobs/get", answer)]


async def test_it_is_told_of_all_that_there_is_and_of_every_change() -> None:
    told = Told()
    async with make_host(make_kit(), plugins={"told": plugin_of(middleware=[told]), "jobs": Jobs}) as host:
        (first,) = told.inventories
        host.catalogue.add(late)
        host.catalogue.remove("tools", "late")
    assert [sorted(one.tools) for one in told.inventories] == [["x_a"], ["late", "x_a"], ["x_a"]]
    tool = first.tools["x_a"]
    assert (tool.owner, tool.requires and tool.requires.scopes) == ("x", ("work",))
    assert sorted(first.resources) == ["x://of/{name}", "x://one", "x://{more}/{name}"]
    assert sorted(first.prompts) == ["x_ask"]
    requests = {"tools/call", "resources/read", "prompts/get", "completion/complete", "jobs/get"}
    assert first.methods == requests


async def test_it_can_tell_what_answers_for_a_uri() -> None:
    told = Told()
    async with make_host(make_kit(), plugins={"told": plugin_of(middleware=[told])}):
        answering = told.inventories[0].answering
    assert list(answering("x://one")) == ["x://one"]
    assert sorted(answering("x://of/me")) == ["x://of/{name}", "x://{more}/{name}"]
    assert list(answering("x://to/me")) == ["x://{more}/{name}"]
    assert list(answering("x://of/{name}")) == []
    assert list(answering("y://one")) == []


async def test_it_is_told_before_any_call_can_ask() -> None:
    """A tool that is added is known to what guards it, when it can be called first."""
    seen: list[bool] = []

    class Before(Told):
        def assembled(self, inventory: Inventory) -> Iterable[str]:
            if self.inventories:
                seen.append(host.tool("late", Caller("ann")) is None)
            return super().assembled(inventory)

    async with make_host(make_kit(), plugins={"told": plugin_of(middleware=[Before()])}) as host:
        host.catalogue.add(late)
        assert host.tool("late", Caller("ann")) is not None
    assert seen == [True]


async def test_its_complaints_are_warnings_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(make_kit(), plugins={"told": plugin_of(middleware=[Told("no tool is called 'y'")])}) as host:
        (problem,) = [one for one in host.problems if "'y'" in one.message]
        assert (problem.stage, problem.level, problem.fatal) == ("assemble", "warning", False)
        assert str(problem) == "plugin 'told': no tool is called 'y'"
        assert caplog.text.count("no tool is called 'y'") == 1
        host.catalogue.add(late)
        assert caplog.text.count("no tool is called 'y'") == 1


async def test_one_that_fails_then_keeps_the_host_from_starting() -> None:
    """It may be one that guards, and would guard nothing."""
    told = Told(fails=True)
    with pytest.raises(PluginError, match=r"\(Told\.assembled\) raised KeyError"):
        async with make_host(make_kit(), plugins={"told": plugin_of(middleware=[told])}):
            pass
    told.fails = False
    async with make_host(make_kit(), plugins={"told": plugin_of(middleware=[told])}) as host:
        told.fails = True
        with pytest.raises(ToolDefinitionError, match=r"\(Told\.assembled\) raised KeyError"):
            host.catalogue.add(late)
        assert "late" not in host.assembly.tools


async def test_a_change_that_does_not_come_is_taken_back_from_those_who_heard_of_it() -> None:
    """A guard goes by what it was told last: it would not know what is served."""
    first, second = Told(), Told()
    plugins = {"first": plugin_of(middleware=[first]), "second": plugin_of(middleware=[second])}
    async with make_host(make_kit(), plugins=plugins) as host:
        host.catalogue.add(late)
        second.fails = True
        with pytest.raises(ToolDefinitionError, match="KeyError"):
            host.catalogue.remove("tools", "late")
        assert sorted(host.assembly.tools) == sorted(first.inventories[-1].tools) == ["late", "x_a"]


# --- lists that callers share


class ByLetter(Gate):
    """Callers see what begins with the first letter of their names."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        self.asked.append(caller.subject)
        return name.startswith((caller.subject or "")[:1])

    def view(self, call: Call) -> Hashable:
        return (call.caller.subject or "")[:1]


class Other(Middleware):
    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)


async def names(host: Host, caller: Caller) -> list[str]:
    listing = await host.dispatch(Call("tools/list", caller=caller))
    assert isinstance(listing, Listing)
    return [getattr(tool, "name", "") for tool in listing.items]


def letters(*scopes: str) -> Toolkit:
    kit = Toolkit("x", prefix=False)
    for name in ("a_one", "a_two", "b_one"):
        kit.tool(name=name, description="Work.", scopes=scopes if name == "a_two" else ())(lambda: "done")
    return kit


async def test_lists_are_made_for_what_they_depend_on() -> None:
    gate = ByLetter()
    async with make_host(letters(), plugins={"letters": plugin_of(middleware=[gate])}) as host:
        for caller, found in (("ann", "a_one a_two"), ("ben", "b_one"), ("ada", "a_one a_two"), ("bob", "b_one")):
            assert await names(host, Caller(caller)) == found.split()
    assert set(gate.asked) == {"ann", "ben"}


async def test_they_depend_on_scopes_that_tools_ask_for_too() -> None:
    async with make_host(letters("work"), plugins={"letters": plugin_of(middleware=[ByLetter()])}) as host:
        assert await names(host, Caller("ann")) == ["a_one"]
        assert await names(host, Caller("ada", scopes=frozenset(["work"]))) == ["a_one", "a_two"]
        assert await names(host, Caller("abe")) == ["a_one"]


async def test_one_that_does_not_say_depends_on_all_that_is_known() -> None:
    gate = ByLetter()
    async with make_host(letters(), plugins={"letters": plugin_of(middleware=[gate, Other()])}) as host:
        for caller in ("ann", "ada"):
            assert await names(host, Caller(caller)) == ["a_one", "a_two"]
    assert set(gate.asked) == {"ann", "ada"}


# --- what a gate says


class Rude(Gate):
    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return False

    def refusal(self, kind: ItemKind, name: str, call: Call) -> MCPError:
        return ProtocolError(-32001, f"No {kind} for {call.caller.subject} by {call.method}: {name}")


async def test_a_gate_may_say_something_else() -> None:
    async with make_host(make_kit(), plugins={"rude": plugin_of(middleware=[Rude()])}) as host:
        refused = await failure(host, "x_a", caller=Caller("ann"))
        assert refused.error.message == "No tools for ann by tools/call: x_a"
        call = Call("resources/subscribe", caller=Caller("ann"))
        assert str(host.refused("x://one", call)) == "No resources for ann by resources/subscribe: x://one"


async def test_a_gate_keeps_callers_from_hearing_of_a_resource() -> None:
    class Broken(Gate):
        def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
            raise KeyError(name)

    class Passing(Rude):
        def wants(self, call: Call) -> bool:
            return call.method != "resources/subscribe"

    call = Call("resources/subscribe", caller=Caller("ann"))
    for gates, told in (([], None), ([Gate(), Broken()], "Resource not found"), ([Passing()], None)):
        async with make_host(make_kit(), plugins={"gates": plugin_of(middleware=[Other(), *gates])}) as host:
            error = host.refused("x://one", call)
            assert (error and error.message) == told
