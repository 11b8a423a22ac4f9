"""A plugin whose tools send requests and notifications to the client, by `ask` and `notify` of a call.

It is copied into a distribution that the process under test finds, and runs where `[host] plugins` names `asking`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from pegboard import ClientError, Context, ToolAnnotations, ToolResult
from pegboard.plugin import Middleware, Plugin, ToolDefinition, around, hookimpl
from pegboard.types import Call, CallNext, Outcome


class AskingPlugin(Plugin):
    """The tools `asking_*`, which the middleware runs, as it has the call."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        self.released = asyncio.Event()
        self.ends: list[str] = []

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        names = ("ask", "tell", "reach", "let_go", "ended")
        served = [ToolDefinition(never, name=f"asking_{name}") for name in names]
        served.append(ToolDefinition(never, name="asking_say", annotations=ToolAnnotations(idempotent=True)))
        return [
            *served,
            *(ToolDefinition(function, name=f"asking_{function.__name__}") for function in (change, keep, put, take)),
        ]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [around("tools/call")(self.handle)]

    async def handle(self, call: Call, call_next: CallNext) -> Outcome:
        name = str(call.params.get("name"))
        arguments: dict[str, Any] = dict(call.params.get("arguments") or {})
        if name == "asking_ask":
            return ToolResult(await self._ask(call, **arguments))
        if name in {"asking_tell", "asking_say"}:
            for method, params in arguments["notifications"] * arguments.get("times", 1):
                if call.notify is not None:
                    call.notify(method, params)
            if arguments.get("stay"):
                await self.released.wait()
            return ToolResult("told")
        if name == "asking_reach":
            return ToolResult({"notify": call.notify is not None, "ask": call.ask is not None})
        if name == "asking_let_go":
            self.released.set()
            self.released = asyncio.Event()
            return ToolResult("gone")
        if name == "asking_ended":
            return ToolResult(self.ends)
        return await call_next(call)

    async def _ask(self, call: Call, **wanted: Any) -> dict[str, Any]:
        label = str(wanted.pop("label", ""))
        many = int(wanted.pop("many", 1))
        task = asyncio.gather(*[_one(call, **wanted) for _ in range(many)])
        try:
            return {"answers": await task}
        except asyncio.CancelledError:
            self.ends.append(label)
            raise


async def _one(
    call: Call, method: str = "sampling/createMessage", params: Any = None, progress: bool = False, **options: Any
) -> dict[str, Any]:
    heard: list[Any] = []
    if progress:
        options["progress"] = lambda *report: heard.append(report)
    assert call.ask is not None
    try:
        result = await call.ask(method, {"messages": [], "maxTokens": 1} if params is None else params, **options)
    except ClientError as error:
        return {"error": [type(error).__name__, error.message, error.code, error.data], "heard": heard}
    return {"result": result, "heard": heard}


def never() -> str:
    """Leave the work to the middleware, which has the call."""
    return ""


def change(context: Context, what: list[str]) -> str:
    """Notify of changes: of lists by their kind, of resources by their URI."""
    notifications = context.notifications
    for item in what:
        if item in ("tools", "resources", "prompts"):
            getattr(notifications, item).list_changed()
        else:
            notifications.resources.updated(item)
    return "changed"


async def keep(context: Context, value: str) -> str:
    """Keep a value in the session, tell the client, and return the former value."""
    former = context.session.get("value", "nothing")
    context.session.set("value", value)
    context.log.error("kept")
    return str(former)


def put(context: Context, key: str, value: str) -> None:
    """Keep a value in the session."""
    context.session.set(key, value)


def take(context: Context, key: str) -> str:
    """Return a value of the session."""
    return str(context.session.get(key, "nothing"))
