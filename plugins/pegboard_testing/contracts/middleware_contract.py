"""The rules of middleware (`pegboard.plugin.Middleware`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any, get_args

from pegboard.content.function_results import as_tool_result, shown_content
from pegboard.errors import MCPError, NotFoundError
from pegboard.middleware.chain import Around
from pegboard.plugin.middleware import Middleware
from pegboard.types.callers import ANONYMOUS, LOCAL, Caller
from pegboard.types.calls import (
    Call,
    CallNext,
    Completion,
    Listing,
    Outcome,
    PromptMessage,
    PromptResult,
    RawResult,
    ResourceContents,
    ResourceResult,
    ToolResult,
)
from pegboard.types.catalogue import Inventory, Tool, ToolAnnotations
from pegboard.types.content import Content, ImageContent, TextContent
from pegboard_testing.contracts.contract import Contract, rule

_METHODS: Mapping[str, tuple[str, dict[str, Any], Any]] = {
    "tools/call": ("on_call_tool", {"name": "contract_tool", "arguments": {"a": [1]}}, ToolResult("x")),
    "resources/read": ("on_read_resource", {"uri": "x://y"}, ResourceResult((ResourceContents("x://y", "x"),))),
    "prompts/get": ("on_get_prompt", {"name": "contract_prompt"}, PromptResult((PromptMessage("x"),))),
    "completion/complete": (
        "on_complete",
        {"ref": {"type": "ref/prompt", "name": "contract_prompt"}, "argument": {"name": "a", "value": ""}},
        Completion(("x",)),
    ),
}
"""For each method the hook of middleware, the parameters of a call, and its outcome."""

_TEXT = "a result of the contract"
_RESULTS: tuple[ToolResult | RawResult, ...] = (
    ToolResult(_TEXT),
    ToolResult({"a": [_TEXT]}, structured=True),
    ToolResult(content=(TextContent(_TEXT), ImageContent(b"\x89PNG", "image/png"))),
    ToolResult(_TEXT, is_error=True),
    RawResult({"content": [{"type": "text", "text": _TEXT}], "structuredContent": {"a": [_TEXT]}}),
)
"""Results of tools, also of a mounted server (`RawResult`)."""

_USER = Caller("ada", scopes=frozenset({"read"}), client_id="app", issuer="https://issuer.example")
_DATA: Mapping[Caller, str] = {
    user: f"the data of {user.subject} at {user.issuer}"
    for user in (_USER, _USER._replace(subject="bob"), _USER._replace(issuer="https://other.example"))
}
_OUTCOMES = get_args(Outcome)
_READ_ONLY = "contract_one"
"""The tool that only reads, so that a cache may keep its results."""


class MiddlewareContract(Contract[Middleware]):
    """The rules of middleware. The tests run the middleware around calls with test handlers."""

    _assembled = False

    @abstractmethod
    def make(self) -> Middleware | Awaitable[Middleware]:
        """Return middleware. A function becomes middleware by `pegboard.plugin.around`."""

    def calls(self) -> Iterable[Call]:
        """Return calls that the rules run; by default one of each method for each kind of caller.

        Add calls for which the middleware does something special.
        """
        for caller in (LOCAL, ANONYMOUS, _USER):
            for method, (_, params, _) in _METHODS.items():
                yield Call(method, deepcopy(params), caller)

    @rule
    async def test_its_name_is_valid(self, middleware: Middleware) -> None:
        """Order lists in `[host] middleware` refer to the name."""
        assert middleware.name is None or str(middleware.name).strip(), f"its name is {middleware.name!r}"
        assert isinstance(middleware.outermost, bool), f"outermost is {middleware.outermost!r}"

    @rule
    async def test_it_accepts_an_inventory(self, middleware: Middleware) -> None:
        """`assembled` returns warnings, and does not fail if the host serves nothing."""
        warnings = list(middleware.assembled(_INVENTORY))
        assert all(isinstance(warning, str) for warning in warnings), f"assembled returned {warnings!r}"

    @rule
    async def test_wants_and_view_are_valid(self, middleware: Middleware) -> None:
        """The host calls `wants` for each call and uses the result of `view` as a key."""
        self._assemble(middleware)
        for call in self.calls():
            assert isinstance(middleware.wants(call), bool), "wants must return a bool"
            assert middleware.view(call) == middleware.view(call), "view must return equal values for equal calls"
            hash(middleware.view(call))

    @rule
    async def test_each_call_ends_with_an_outcome(self, middleware: Middleware) -> None:
        """Middleware returns an outcome or raises an `MCPError`."""
        await self._check_outcomes(middleware, _succeed)

    @rule
    async def test_an_error_of_the_call_stays_typed(self, middleware: Middleware) -> None:
        """The errors that `call_next` raises, and the errors that the middleware raises, are MCPErrors."""

        async def fail(call: Call) -> Outcome:
            raise NotFoundError("not found")

        await self._check_outcomes(middleware, fail)

    @rule
    async def test_a_cancelled_call_ends(self, middleware: Middleware) -> None:
        """Middleware does not suppress `asyncio.CancelledError`."""
        for call in self.calls():
            running = asyncio.Event()

            async def wait(call: Call, running: asyncio.Event = running) -> Outcome:
                running.set()
                await asyncio.get_running_loop().create_future()
                raise AssertionError("it waits until it is cancelled")

            task = asyncio.ensure_future(self._run(middleware, call, wait))
            started = asyncio.create_task(running.wait())
            await asyncio.wait((task, started), return_when=asyncio.FIRST_COMPLETED)
            started.cancel()
            if task.done():  # it did not pass the call on
                task.exception()
                continue
            task.cancel()
            await asyncio.wait((task,))
            assert task.cancelled(), f"{call.method} went on after it was cancelled"

    @rule
    async def test_a_call_that_succeeded_is_not_repeated(self, middleware: Middleware) -> None:
        """Tools may have effects: `call_next` is called again only after a failure."""
        for call in self.calls():
            runs: list[Call] = []

            async def count(call: Call, runs: list[Call] = runs) -> Outcome:
                runs.append(call)
                return await _succeed(call)

            with suppress(MCPError):
                await self._run(middleware, call, count)
            assert len(runs) <= 1, f"{call.method} ran {len(runs)} times"

    @rule
    async def test_clients_receive_the_result_of_a_tool(self, middleware: Middleware) -> None:
        """Middleware adds to a result. Its text, its other content and its structured content remain."""
        for call in self.calls():
            for result in _RESULTS if call.method == "tools/call" else ():
                passed: list[Call] = []

                async def answer(call: Call, result: Outcome = result, passed: list[Call] = passed) -> Outcome:
                    passed.append(call)
                    return deepcopy(result)

                with suppress(MCPError):
                    outcome = await self._run(middleware, call, answer)
                    assert isinstance(outcome, _OUTCOMES), f"{call.method} ended with {outcome!r}"
                    if passed and isinstance(outcome, ToolResult | RawResult):  # it did not respond by itself
                        _check_received(result, outcome)

    @rule
    async def test_the_parameters_of_a_call_are_not_changed(self, middleware: Middleware) -> None:
        """Middleware passes changed parameters on in a new call; others use the old call."""
        for call in self.calls():
            before = deepcopy(dict(call.params))
            with suppress(MCPError):
                await self._run(middleware, call, _succeed)
            assert dict(call.params) == before, f"the parameters of {call.method} became {dict(call.params)}"

    @rule
    async def test_concurrent_calls_are_independent(self, middleware: Middleware) -> None:
        """A call that is passed on keeps its caller and its id."""

        async def run(call: Call) -> None:
            passed: list[Call] = []

            async def handle(inner: Call) -> Outcome:
                passed.append(inner)
                await asyncio.sleep(0)
                return await _succeed(inner)

            with suppress(MCPError):
                await self._run(middleware, call, handle)
            for inner in passed:
                assert inner.request_id == call.request_id, "a call got the request id of another"
                assert inner.caller == call.caller, "a call got the caller of another"

        await asyncio.gather(*[run(call._replace(request_id=place)) for place, call in enumerate(self.calls())])

    @rule
    async def test_lists_keep_their_kind_and_get_no_new_names(self, middleware: Middleware) -> None:
        """Middleware leaves items out or replaces them; a plugin adds tools by `register_tools`."""

        async def listing(call: Call) -> Outcome:
            return Listing("tools", tuple(_INVENTORY.tools.values()))

        self._assemble(middleware)
        for caller in (LOCAL, ANONYMOUS, _USER):
            outcome = await middleware.on_list_tools(Call("tools/list", caller=caller), listing)
            assert isinstance(outcome, Listing), f"tools/list ended with {outcome!r}"
            assert outcome.kind == "tools", f"a list of tools became a list of {outcome.kind}"
            names = {item.name for item in outcome.items}
            assert names <= _INVENTORY.tools.keys(), f"the list has new names: {names - _INVENTORY.tools.keys()}"

    @rule
    async def test_notifications_are_accepted(self, middleware: Middleware) -> None:
        """A notification has no result, and no caller waits for it."""
        call = Call("notifications/roots/list_changed")
        with suppress(MCPError):
            await self._run(middleware, call, _succeed)

    @rule
    async def test_each_caller_gets_its_own_result(self, middleware: Middleware) -> None:
        """The key of a kept result has the caller's `identity`: a tool may return other data to each caller."""
        calls = [call for call in self.calls() if call.method == "tools/call"]
        reading = [call._replace(params={**call.params, "name": _READ_ONLY}) for call in calls]
        for call in (*calls, *reading):
            for user, data in _DATA.items():
                with suppress(MCPError):
                    outcome = await self._run(middleware, call._replace(caller=user), _tell_data)
                    is_foreign = any(other in repr(outcome) for other in _DATA.values() if other != data)
                    assert not is_foreign, f"a caller did not get {data!r}, but {outcome!r}"

    async def _check_outcomes(self, middleware: Middleware, handler: CallNext) -> None:
        for call in self.calls():
            with suppress(MCPError):
                outcome = await self._run(middleware, call, handler)
                assert isinstance(outcome, _OUTCOMES), f"{call.method} ended with {outcome!r}"

    def _assemble(self, middleware: Middleware) -> None:
        """Call `assembled` before the first call, as the host does."""
        if not self._assembled:
            self._assembled = True
            list(middleware.assembled(_INVENTORY))

    async def _run(self, middleware: Middleware, call: Call, handler: CallNext) -> Outcome:
        """Run the hooks of a call as the host does: `on_message`, the hook of the kind, and the hook of the method."""
        self._assemble(middleware)
        if not middleware.wants(call):
            return await handler(call)
        if isinstance(middleware, Around):
            stands = middleware.wraps_method(call.method)
            return await (middleware.on_message(call, handler) if stands else handler(call))
        hook = _METHODS[call.method][0] if call.method in _METHODS else None
        kind = "on_notification" if call.method.startswith("notifications/") else "on_request"
        for name in filter(None, (hook, kind, "on_message")):
            handler = _around(getattr(middleware, name), handler)
        return await handler(call)


def _around(hook: Any, handler: CallNext) -> CallNext:
    return lambda call: hook(call, handler)


def _sent(result: ToolResult | RawResult) -> tuple[tuple[Content, ...], ToolResult]:
    """Return the content that clients receive of a result, and the result in the form of the host."""
    if isinstance(result, RawResult):
        readable = as_tool_result(result)
        return readable.content or (), readable
    return shown_content(result), result


def _check_received(result: ToolResult | RawResult, changed: ToolResult | RawResult) -> None:
    """Check that clients receive the result of a tool after middleware changed it."""
    sent, own = _sent(result)
    received, other = _sent(changed)
    text = "\n".join(block.text for block in received if isinstance(block, TextContent))
    for block in sent:
        kept = block.text in text if isinstance(block, TextContent) else block in received
        assert kept, f"clients do not receive {block!r} of {result!r}; `pegboard.plugin.with_text` adds text"
    if own.structured:
        structured = other.value if other.structured else None
        assert structured == own.value, f"the structured content {own.value!r} became {structured!r}"
    assert changed.is_error == result.is_error, f"is_error of {result!r} became {changed.is_error}"


async def _succeed(call: Call) -> Outcome:
    outcome: Outcome = _METHODS[call.method][2] if call.method in _METHODS else ToolResult()
    return outcome


async def _tell_data(call: Call) -> Outcome:
    return ToolResult(_DATA.get(call.caller, _TEXT))


_TOOL = Tool(name="contract_tool", owner="contract", description="A tool.", input_schema={"type": "object"})
_INVENTORY = Inventory(
    tools={
        _READ_ONLY: _TOOL._replace(name=_READ_ONLY, annotations=ToolAnnotations(read_only=True, idempotent=True)),
        _TOOL.name: _TOOL,
    },
    resources={},
    prompts={},
    methods=frozenset(_METHODS),
    answering=lambda uri: (),
)
