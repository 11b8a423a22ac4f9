"""A plugin that raises any error anywhere: in a tool, resource, prompt or completion, in middleware, in a method.

It is copied into a distribution that the process under test finds, and runs where `[host] plugins` names `errors`. What
is to be raised is said as Python, in hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Iterable

import pegboard
from pegboard import errors, plugin
from pegboard.plugin import (
    Method,
    Middleware,
    Plugin,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
    around,
    hookimpl,
)
from pegboard.types import Call, CallNext, Outcome

NAMES = {name: getattr(module, name) for module in (pegboard, plugin, errors) for name in module.__all__}
"""The public names, and every error: the host itself raises some that are not public."""


def fail(code: str) -> str:
    """Raise it."""
    error: BaseException = eval(bytes.fromhex(code).decode(), dict(NAMES))
    raise error


async def fail_later(code: str) -> str:
    """Raise it on the loop."""
    return fail(code)


class ErrorsPlugin(Plugin):
    """Everything that can be asked for."""

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        tools = [
            ToolDefinition(fail, name=name, inline=name == "errors_inline")
            for name in ("errors_inline", "errors_thread")
        ]
        return [*tools, *(ToolDefinition(fail_later, name=name) for name in ("errors_async", "errors_around"))]

    @hookimpl
    def register_resources(self) -> Iterable[ResourceDefinition]:
        return [ResourceDefinition("errors://{code}", fail_later)]

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        return [PromptDefinition(fail_later, name="errors", completions={"code": fail})]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [around("tools/call")(self.handle)]

    @hookimpl
    def register_methods(self) -> Iterable[Method]:
        return [Method("errors/raise", self.answer)]

    async def handle(self, call: Call, call_next: CallNext) -> Outcome:
        if call.params.get("name") == "errors_around":
            fail(call.params["arguments"]["code"])
        return await call_next(call)

    async def answer(self, call: Call) -> Outcome:
        fail(call.params["code"])
        raise AssertionError
