"""Helpers of the client and its scenarios: answers to the server's requests, and notifications of changes.

Runs in the client's environment. `types` is the SDK's module of types.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

Json = dict[str, Any]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]
Adapter = Any
"""A connected client: `Client` of `client.py`. Everything it returns has the names of the wire."""

VALUES = {"string": "Ann", "integer": 7, "number": 0.5, "boolean": True, "array": ["red"]}


class Answers:
    """The callbacks of a client that answers every request, and notes requests and log messages."""

    def __init__(self, types: Any) -> None:
        self._types = types
        self.asked: list[Any] = []
        self.logged: list[Any] = []

    def _note(self, kind: str, params: Any) -> Json:
        asked: Json = params.model_dump(mode="json", by_alias=True, exclude_none=True) if params else {}
        self.asked.append([kind, asked])
        return asked

    async def elicit(self, context: Any, params: Any) -> Any:
        asked = self._note("elicitation/create", params)
        answer: Json = {"action": "accept"}
        if asked.get("mode") != "url":
            schema = asked["requestedSchema"]
            answer["content"] = {
                name: VALUES[schema["properties"][name]["type"]] for name in schema.get("required", ())
            }
        return self._types.ElicitResult.model_validate(answer)

    async def sample(self, context: Any, params: Any) -> Any:
        asked = self._note("sampling/createMessage", params)
        text = {"type": "text", "text": "Paris"}
        answer: Json = {"role": "assistant", "model": "m", "stopReason": "endTurn", "content": text}
        if "tools" not in asked:
            return self._types.CreateMessageResult.model_validate(answer)
        called = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
        answer |= {"content": [text, called], "stopReason": "toolUse"}
        return self._types.CreateMessageResultWithTools.model_validate(answer)

    async def list_roots(self, context: Any) -> Any:
        self._note("roots/list", None)
        roots = [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]
        return self._types.ListRootsResult.model_validate({"roots": roots})

    async def log(self, params: Any) -> None:
        self.logged.append(params.data)

    def callbacks(self) -> Json:
        """Return the arguments of a client that make it answer."""
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "sampling_capabilities": self._types.SamplingCapability.model_validate({"tools": {}}),
            "list_roots_callback": self.list_roots,
        }


class Changes:
    """The change notifications of a session, in order."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](1000)

    async def message(self, message: Any) -> None:
        """Take a message as a `message_handler`."""
        one = getattr(message, "root", message)  # the first line wraps it
        method = getattr(one, "method", "")
        if method == "notifications/resources/updated":
            await self._send.send(str(one.params.uri))
        elif method.endswith("/list_changed"):
            await self._send.send(method.split("/")[1])

    async def next(self) -> str:
        return await self._receive.receive()


async def pages(client: Adapter, kind: str) -> list[Json]:
    """Return all pages of a list."""
    found = [await client.list(kind, None)]
    while cursor := found[-1].get("nextCursor"):
        found.append(await client.list(kind, cursor))
    return found


async def attempt(client: Adapter, what: Awaitable[Json]) -> Json:
    """Return a result, or the error of the server's response."""
    try:
        return {"result": await what}
    except Exception as error:
        told = client.error(error)
        if told is None:
            raise
        return {"error": told}


async def begun(client: Adapter, name: str, arguments: Json, tasks: anyio.abc.TaskGroup) -> None:
    """Begin a call, and return when the tool reports that it has begun."""
    started = anyio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    tasks.start_soon(client.call, name, arguments, progress)
    with anyio.fail_after(10):
        await started.wait()
