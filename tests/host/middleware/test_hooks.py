"""The calls that a middleware wraps, their order, and the changes it may make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import (
    Completion,
    Context,
    NotFoundError,
    PromptResult,
    ResourceContents,
    ResourceResult,
    RetryableToolError,
    Toolkit,
    ToolResult,
    UpstreamError,
)
from pegboard.plugin import Method, Middleware, NotificationHandler, Plugin, around, hookimpl
from pegboard.types import Call, CallNext, Failure, MethodResult, Outcome
from tests.host.hosting import call, failure, make_host, plugin_of, value

PROGRESS = "notifications/progress"


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    def say(word: str = "a") -> str:
        """Say it back."""
        return word

    @kit.tool
    async def twice(context: Context, word: str = "a") -> str:
        """Let another say it twice."""
        first = await context.tools.call("x_say", {"word": word})
        return f"{first}{await context.tools.call('x_say', {'word': word})}"

    kit.resource("x://one")(lambda: "one")

    @kit.resource("x://of/{name}")
    def of(name: str) -> str:
        """Of a name."""
        return name

    @kit.prompt
    def ask(name: str) -> str:
        """Ask."""
        return name

    @kit.completion(ask, "name")
    def names(typed: str) -> list[str]:
        return [typed + "a"]

    return kit


REQUESTS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "x_say", "arguments": {}},
    "tools/list": {},
    "resources/read": {"uri": "x://one"},
    "resources/list": {},
    "resources/templates/list": {},
    "prompts/get": {"name": "x_ask", "arguments": {"name": "b"}},
    "prompts/list": {},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "x_ask"}, "argument": {"name": "name", "value": "b"}},
}
OWN = {
    "tools/call": "on_call_tool",
    "tools/list": "on_list_tools",
    "resources/read": "on_read_resource",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/get": "on_get_prompt",
    "prompts/list": "on_list_prompts",
    "completion/complete": "on_complete",
}


def noting(*hooks: str, into: list[str], mark: str = "") -> Middleware:
    """A middleware that notes which of its methods were called."""

    def method(hook: str) -> Any:
        async def note(self: Middleware, call: Call, call_next: CallNext) -> Outcome:
            into.append(f"{mark}{hook}")
            return await call_next(call)

        return note

    kind: type[Middleware] = type("Noting", (Middleware,), {hook: method(hook) for hook in hooks})
    return kind()


ALL = ("on_message", "on_request", "on_notification", *OWN.values())


@pytest.mark.parametrize("method", REQUESTS)
async def test_a_request_passes_its_own_methods_from_the_widest_to_the_narrowest(method: str) -> None:
    seen: list[str] = []
    async with make_host(make_kit(), plugins={"m": plugin_of(middleware=[noting(*ALL, into=seen)])}) as host:
        outcome = await host.dispatch(Call(method, REQUESTS[method]))
    assert not isinstance(outcome, Failure)
    assert seen == ["on_message", "on_request", OWN[method]]


async def test_one_middleware_stands_whole_around_the_next() -> None:
    seen: list[str] = []
    both = ("on_request", "on_call_tool")
    plugins = {
        "a": plugin_of(middleware=[noting(*both, into=seen, mark="a.")]),
        "b": plugin_of(middleware=[noting(*both, into=seen, mark="b.")]),
    }
    async with make_host(make_kit(), plugins=plugins, middleware=["b", "a"]) as host:
        await value(host, "x_say")
    assert seen == ["b.on_request", "b.on_call_tool", "a.on_request", "a.on_call_tool"]


async def test_methods_that_are_not_overridden_cost_nothing() -> None:
    plain, listening = (
        make_host(make_kit()),
        make_host(make_kit(), plugins={"m": plugin_of(middleware=[noting("on_complete", into=[])])}),
    )
    async with plain, listening:
        for method in REQUESTS:
            inner, outer = plain._methods[method], listening._methods[method]
            same = inner.__qualname__ == outer.__qualname__
            assert same is (method != "completion/complete")


async def test_a_call_may_be_rewritten_and_answered_by_another() -> None:
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

    async with make_host(make_kit(), plugins={"m": plugin_of(middleware=[Rewriting()])}) as host:
        assert await value(host, "x_gone") == "b!"
        read = await host.dispatch(Call("resources/read", REQUESTS["resources/read"]))
        got = await host.dispatch(Call("prompts/get", REQUESTS["prompts/get"]))
        completed = await host.dispatch(Call("completion/complete", REQUESTS["completion/complete"]))
    assert isinstance(read, ResourceResult)
    assert read.contents[0].content == "two"
    assert isinstance(got, PromptResult)
    assert got.description == "more"
    assert isinstance(completed, Completion)
    assert list(completed.values) == ["ba", "z"]


async def test_typed_errors_are_caught_around_call_next() -> None:
    kit = make_kit()

    @kit.tool
    def fail() -> str:
        """Fail."""
        raise UpstreamError("It is down.", status_code=503)

    class Mending(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            try:
                return await call_next(call)
            except UpstreamError as error:
                raise RetryableToolError("Later.", retry_after_ms=error.status_code) from None
            except NotFoundError:
                return ToolResult("nothing")

    async with make_host(kit, plugins={"m": plugin_of(middleware=[Mending()])}) as host:
        assert (await failure(host, "x_fail")).error.message == "Later."
        assert await value(host, "x_gone") == "nothing"


# --- wants


async def test_unwanted_calls_pass_by() -> None:
    seen: list[str] = []

    class Choosy(Middleware):
        def wants(self, call: Call) -> bool:
            return call.params.get("name") == "x_say"

        async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
            seen.append(f"message {call.params['name']}")
            return await call_next(call)

        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            seen.append(f"tool {call.params['name']}")
            return await call_next(call)

    async with make_host(make_kit(), plugins={"m": plugin_of(middleware=[Choosy()])}) as host:
        assert await value(host, "x_twice") == "aa"
        await host.dispatch(Call("prompts/list"))
    assert seen == ["message x_say", "tool x_say"] * 2


# --- functions


async def test_a_function_stands_around_everything_or_around_the_methods_it_names() -> None:
    seen: list[str] = []

    async def everything(call: Call, call_next: CallNext) -> Outcome:
        seen.append(f"every {call.method}")
        return await call_next(call)

    @around("tools/call", "prompts/list")
    async def some(call: Call, call_next: CallNext) -> Outcome:
        seen.append(f"some {call.method}")
        return await call_next(call)

    async with make_host(make_kit(), plugins={"m": plugin_of(middleware=[everything, some])}) as host:
        await value(host, "x_say")
        await host.dispatch(Call("prompts/list"))
        await host.dispatch(Call("tools/list"))
        await host.dispatch(Call(PROGRESS))
    assert seen == [
        "every tools/call",
        "some tools/call",
        "every prompts/list",
        "some prompts/list",
        "every tools/list",
        f"every {PROGRESS}",
    ]


async def test_a_method_that_there_is_not_is_told() -> None:
    @around("tool/call", "jobs/get", PROGRESS)
    async def misplaced(call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    async with make_host(plugins={"j": Jobs, "m": plugin_of(middleware=[misplaced])}) as host:
        (problem,) = host.problems
    assert (problem.level, problem.fatal) == ("warning", False)
    assert "middleware around 'tool/call': no such method; did you mean 'tools/call'?" in str(problem)


def test_around_is_called_with_methods() -> None:
    async def handle(call: Call, call_next: CallNext) -> Outcome:
        return await call_next(call)

    with pytest.raises(TypeError, match="names of methods"):
        around(handle)  # type: ignore[arg-type]  # that is the point of it


# --- methods and notifications of plugins


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


async def test_methods_and_notifications_of_plugins_pass_too() -> None:
    Jobs.heard = []

    class Changing(Middleware):
        async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
            return await call_next(call._replace(params={"job": 2}))

        async def on_notification(self, call: Call, call_next: CallNext) -> Outcome:
            if call.params.get("job") == 0:
                return MethodResult()
            return await call_next(call._replace(params={"job": 3}))

    async with make_host(plugins={"j": Jobs, "m": plugin_of(middleware=[Changing()])}) as host:
        outcome = await host.dispatch(Call("jobs/get", {"job": 1}))
        await host.dispatch(Call("notifications/jobs/seen", {"job": 0}))
        await host.dispatch(Call("notifications/jobs/seen", {"job": 1}))
    assert outcome == MethodResult({"job": 2})
    assert Jobs.heard == [{"job": 3}]


async def test_a_notification_needs_no_outcome(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(Middleware):
        async def on_notification(self, call: Call, call_next: CallNext) -> Any:
            await call_next(call)

    async with make_host(plugins={"m": plugin_of(middleware=[Silent()])}) as host:
        assert not isinstance(await host.dispatch(Call(PROGRESS)), Failure)
    assert caplog.records == [one for one in caplog.records if one.levelname == "WARNING"]


@pytest.mark.parametrize(
    ("hooks", "heard"), [((), False), (("on_request",), False), (("on_message",), True), (("on_notification",), True)]
)
async def test_a_host_says_whether_anybody_hears_notifications(hooks: tuple[str, ...], heard: bool) -> None:
    middleware = [noting(*hooks, into=[])] if hooks else []
    async with make_host(make_kit(), plugins={"m": plugin_of(middleware=middleware)}) as host:
        names = ("initialized", "cancelled", "progress", "roots/list_changed")
        assert [host.hears(f"notifications/{name}") for name in names] == [heard] * 4
        assert not host.hears("notifications/made_up")


async def test_the_outcome_of_a_call_that_was_told_to_nobody_is_unknown() -> None:
    async with make_host(make_kit()) as host:
        assert isinstance(await call(host, "x_say"), ToolResult)
        assert isinstance(await host.dispatch(Call(PROGRESS)), Failure)
