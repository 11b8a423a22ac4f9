"""The inventory that middleware receives, its warnings, and the callers that share its lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pytest

from pegboard import Host, MCPError, ToolDefinitionError, Toolkit
from pegboard.plugin import Gate, Middleware, PluginError, ProtocolError
from pegboard.types import Call, Caller, CallNext, Inventory, ItemKind, Outcome
from tests.host.hosting import Passing, failure, listed, make_host, plugin_of, work

ANN = Caller("ann")


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
    return more + name


class Informed(Middleware):
    """Records its inventories, and complains or fails as a test says."""

    def __init__(self, *complaints: str) -> None:
        self.complaints, self.fails = complaints, False
        self.inventories: list[Inventory] = []

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        if self.fails:
            raise KeyError("x")
        self.inventories.append(inventory)
        return self.complaints


def hosting(*middleware: Middleware, kit: Toolkit | None = None) -> Host:
    return make_host(kit or make_kit(), plugins={"m": plugin_of(middleware=middleware)})


async def test_middleware_gets_the_inventory_at_the_start_and_after_every_change() -> None:
    informed = Informed()
    async with hosting(informed) as host:
        (first,) = informed.inventories
        host.catalogue.add(work)
        host.catalogue.remove("tools", "work")
    assert [sorted(inventory.tools) for inventory in informed.inventories] == [["x_a"], ["work", "x_a"], ["x_a"]]
    tool = first.tools["x_a"]
    assert (tool.owner, tool.requires and tool.requires.scopes) == ("x", ("work",))
    assert sorted(first.resources) == ["x://of/{name}", "x://one", "x://{more}/{name}"]
    assert sorted(first.prompts) == ["x_ask"]
    assert first.methods == {"tools/call", "resources/read", "prompts/get", "completion/complete"}


async def test_an_inventory_knows_the_resources_that_may_serve_a_uri() -> None:
    informed = Informed()
    async with hosting(informed):
        answering = informed.inventories[0].answering
    assert list(answering("x://one")) == ["x://one"]
    assert sorted(answering("x://of/me")) == ["x://of/{name}", "x://{more}/{name}"]
    assert list(answering("x://of/{name}")) == list(answering("y://one")) == []


async def test_a_guard_knows_an_added_tool_before_it_can_be_called() -> None:
    seen: list[bool] = []

    class Before(Informed):
        def assembled(self, inventory: Inventory) -> Iterable[str]:
            if self.inventories:
                seen.append(host.for_protocols.tool("work", ANN) is None)
            return super().assembled(inventory)

    async with hosting(Before()) as host:
        host.catalogue.add(work)
        assert host.for_protocols.tool("work", ANN) is not None
    assert seen == [True]


async def test_complaints_are_warnings_at_the_start_alone(caplog: pytest.LogCaptureFixture) -> None:
    async with hosting(Informed("no tool is called 'y'")) as host:
        (problem,) = [problem for problem in host.problems if "'y'" in problem.message]
        assert (problem.stage, problem.level, problem.fatal) == ("assemble", "warning", False)
        assert str(problem) == "plugin 'm': no tool is called 'y'"
        host.catalogue.add(work)
    assert caplog.text.count("no tool is called 'y'") == 1


async def test_a_guard_that_fails_then_prevents_the_start_or_the_change() -> None:
    first, second = Informed(), Informed()
    second.fails = True
    with pytest.raises(PluginError, match=r"\(Informed\.assembled\) raised KeyError"):
        async with hosting(second):
            pass
    second.fails = False
    async with hosting(first, second) as host:
        second.fails = True
        with pytest.raises(ToolDefinitionError, match=r"\(Informed\.assembled\) raised KeyError"):
            host.catalogue.add(work)
        # the guards that had accepted it are given the inventory that is served
        assert sorted(host.assembly.tools) == sorted(first.inventories[-1].tools) == ["x_a"]


class ByLetter(Gate):
    """Shows callers the names that begin as their own do."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        self.asked.append(caller.subject)
        return name.startswith((caller.subject or "")[:1])

    def view(self, call: Call) -> Hashable:
        return (call.caller.subject or "")[:1]


def letters(*scopes: str) -> Toolkit:
    kit = Toolkit("x", prefix=False)
    for name in ("a_one", "a_two", "b_one"):
        kit.tool(name=name, description="Work.", scopes=scopes if name == "a_two" else ())(lambda: "done")
    return kit


@pytest.mark.parametrize(("others", "expected"), [((), {"ann", "ben"}), ((Passing(),), {"ann", "ben", "ada", "bob"})])
async def test_callers_share_a_list_by_what_all_its_middleware_depend_on(others: Any, expected: set[str]) -> None:
    gate = ByLetter()
    async with hosting(gate, *others, kit=letters()) as host:
        for caller, tools in (("ann", "a_one a_two"), ("ben", "b_one"), ("ada", "a_one a_two"), ("bob", "b_one")):
            assert await listed(host, Caller(caller)) == tools.split()
    assert set(gate.asked) == expected


async def test_shared_lists_depend_on_the_scopes_of_tools_too() -> None:
    async with hosting(ByLetter(), kit=letters("work")) as host:
        assert await listed(host, ANN) == ["a_one"]
        assert await listed(host, Caller("ada", scopes=frozenset(["work"]))) == ["a_one", "a_two"]
        assert await listed(host, Caller("abe")) == ["a_one"]


class Rude(Gate):
    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return False

    def refusal(self, kind: ItemKind, name: str, call: Call) -> MCPError:
        return ProtocolError(-32001, f"No {kind} for {call.caller.subject} by {call.method}: {name}")


class Broken(Gate):
    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        raise KeyError(name)


class Uninterested(Rude):
    def wants(self, call: Call) -> bool:
        return call.method != "resources/subscribe"


async def test_a_gate_refuses_subscriptions_in_its_own_words() -> None:
    async with hosting(Rude()) as host:
        refused = await failure(host, "x_a", caller=ANN)
    assert refused.error.message == "No tools for ann by tools/call: x_a"
    subscribe = Call("resources/subscribe", caller=ANN)
    rude = "No resources for ann by resources/subscribe: x://one"
    for gates, message in (
        ([], None), ([Rude()], rude), ([Gate(), Broken()], "Resource not found"), ([Uninterested()], None)
    ):  # fmt: skip
        async with hosting(Passing(), *gates) as host:
            error = host.for_protocols.subscribe("x://one", subscribe)
            assert (error and error.message) == message
