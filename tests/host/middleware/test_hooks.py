"""The calls that a middleware wraps, their order, and the changes it may make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import (
    Completion,
    Host,
    PromptResult,
    ResourceContents,
    ResourceResult,
    Toolkit,
    ToolResult,
)
from pegboard.plugin import Method, Middleware, NotificationHandler, Plugin, around, hookimpl
from pegboard.types import Call, CallNext, Failure, MethodResult, Outcome
from tests.host.hosting import make_host, passing, plugin_of, value

PROGRESS = "notifications/progress"


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    def say(word: str = "a") -> str:
        """Say it back."""
        return word

    kit.resource("x://one")(lambda: "one")

    @kit.prompt
    def ask(name: str) -> str:
        """Ask."""
        return name

    @kit.completion(ask, "name")
    def names(typed: str) -> list[str]:
        return [typed + "a"]

    return kit


def hosting(*middleware: Any, **host: Any) -> Host:
    return make_host(make_kit(), plugins={"m": plugin_of(register_middleware=middleware)}, **host)


REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools/call": ("on_call_tool", {"name": "x_say", "arguments": {}}),
    "tools/list": ("on_list_tools", {}),
    "resources/read": ("on_read_resource", {"uri": "x://one"}),
    "resources/list": ("on_list_resources", {}),
    "resources/templates/list": ("on_list_resource_templates", {}),
    "prompts/get": ("on_get_prompt", {"name": "x_ask", "arguments": {"name": "b"}}),
    "prompts/list": ("on_list_prompts", {}),
    "completion/complete": (
        "on_complete",
        {"ref": {"type": "ref/prompt", "name": "x_ask"}, "argument": {"name": "name", "value": "b"}},
    ),
}


async def request(host: Host, method: str) -> Outcome:
    return await host.dispatch(Call(method, REQUESTS[method][1]))


def noting(*hooks: str, into: list[str]) -> Middleware:
    """Return a middleware with these methods, which record their names."""

    def method(hook: str) -> Any:
        async def note(self: Middleware, call: Call, call_next: CallNext) -> Outcome:
            into.append(hook)
            return await call_next(call)

        return note

    kind: type[Middleware] = type("Noting", (Middleware,), {hook: method(hook) for hook in hooks})
    return kind()


async def test_a_request_passes_its_own_methods_from_the_widest_to_the_narrowest() -> None:
    seen: list[str] = []
    hooks = ("on_message", "on_request", "on_notification", *(hook for hook, _ in REQUESTS.values()))
    async with hosting(noting(*hooks, into=seen)) as host:
        for method, (hook, _) in REQUESTS.items():
            assert not isinstance(await request(host, method), Failure)
            assert seen == ["on_message", "on_request", hook]
            seen.clear()


async def test_calls_and_outcomes_may_be_replaced() -> None:
    class Rewriting(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            outcome = await call_next(call._replace(params={"name": "x_say", "arguments": {"word": "b"}}))
            assert isinstance(outcome, ToolResult)
            return outcome._replace(value=f"{outcome.value}!")

        async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
            return ResourceResult((ResourceContents("x://one", "two"),))

        async def on_get_prompt(self, call: Call, call_next: CallNext) -> Outcome:
            outcome = await call_next(call)
            assert isinstance(outcome, PromptResult)
            return outcome._replace(description="more")

        async def on_complete(self, call: Call, call_next: CallNext) -> Outcome:
            outcome = await call_next(call)
            assert isinstance(outcome, Completion)
            return outcome._replace(values=[*outcome.values, "z"])

    async with hosting(Rewriting()) as host:
        assert await value(host, "x_gone") == "b!"
        read: Any = await request(host, "resources/read")
        got: Any = await request(host, "prompts/get")
        completed: Any = await request(host, "completion/complete")
    assert (read.contents[0].content, got.description, list(completed.values)) == ("two", "more", ["ba", "z"])


class Jobs(Plugin):
    """A method and a notification."""

    heard: list[Any]

    @hookimpl
    def register_methods(self) -> Iterable[Method | NotificationHandler]:
        return [Method("jobs/get", self.get), NotificationHandler("notifications/jobs/seen", self.note)]

    async def get(self, call: Call) -> Outcome:
        return MethodResult({"job": call.params["job"]})

    async def note(self, call: Call) -> None:
        type(self).heard.append(call.params)


async def test_around_an_unknown_method_is_a_problem() -> None:
    misplaced = around("tool/call", "jobs/get", PROGRESS)(passing)
    async with make_host(plugins={"j": Jobs, "m": plugin_of(middleware=[misplaced])}) as host:
        (problem,) = host.problems
    assert (problem.level, problem.fatal) == ("warning", False)
    assert "middleware around 'tool/call': no such method; did you mean 'tools/call'?" in str(problem)


async def test_methods_and_notifications_of_plugins_pass_too(caplog: pytest.LogCaptureFixture) -> None:
    Jobs.heard = []

    class Changing(Middleware):
        async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
            return await call_next(call._replace(params={"job": 2}))

        async def on_notification(self, call: Call, call_next: CallNext) -> Any:
            """Return no outcome: notifications need none."""
            if call.params.get("job") != 0:
                await call_next(call._replace(params={"job": 3}))

    async with make_host(plugins={"j": Jobs, "m": plugin_of(middleware=[Changing()])}) as host:
        outcome = await host.dispatch(Call("jobs/get", {"job": 1}))
        for job in (0, 1):
            assert not isinstance(await host.dispatch(Call("notifications/jobs/seen", {"job": job})), Failure)
    assert outcome == MethodResult({"job": 2})
    assert Jobs.heard == [{"job": 3}]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_host_hears_notifications_only_if_a_middleware_does() -> None:
    for hook, heard in (("on_request", False), ("on_notification", True)):
        async with hosting(noting(hook, into=[])) as host:
            assert [host.for_protocols.hears(method) for method in (PROGRESS, "notifications/cancelled")] == [heard] * 2
            assert not host.for_protocols.hears("notifications/made_up")
