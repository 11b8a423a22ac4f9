"""A client of 2026-07-28 that answers questions round by round, with the toolkit `asks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.mcp_client import McpClient, Reply
from tests.support.peer import META, Message
from tests.support.rounds import accept

ABLE: Message = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
"""Every capability that a client may declare for questions."""
CAPABILITIES = f"{META}clientCapabilities"

Answer = Callable[[str, Message], Any]
"""Given the method and the parameters of a question, the client's answer."""


def willing(method: str, params: Message) -> Any:
    """Answer any question."""
    if method == "roots/list":
        return {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]}
    if method == "sampling/createMessage":
        content: Any = {"type": "text", "text": "Paris"}
        if "tools" in params:
            content = [content, {"type": "tool_use", "id": "1", "name": "look", "input": {}}]
        return {"role": "assistant", "model": "m", "content": content, "stopReason": "endTurn"}
    if params.get("mode") == "url":
        return {"action": "accept"}
    values = {"string": "Ann", "integer": 7, "number": 0.5, "boolean": True, "array": ["red"]}
    schema = params["requestedSchema"]
    fields = {name: field for name, field in schema["properties"].items() if name in schema.get("required", ())}
    return accept(**{name: values[field["type"]] for name, field in fields.items()})


def questions(reply: Reply) -> Message:
    """Return the questions of a reply, by their keys."""
    assert reply.result["resultType"] == "input_required", reply.message
    requests: Message = reply.result["inputRequests"]
    return requests


class RoundsClient:
    """Makes one call after the other, each in as many rounds as it takes.

    Attributes:
        rounds: the questions of each round of the last call.
        told: all notifications of the host.
    """

    def __init__(self, client: McpClient) -> None:
        self.client = client
        self.rounds: list[Message] = []
        self.told: list[Any] = []

    async def request(self, method: str, params: Message, capabilities: Any = ABLE) -> Reply:
        """Send one request; a further round has `inputResponses` and `requestState` among its parameters."""
        meta = {**params.get("_meta", {}), CAPABILITIES: capabilities}
        reply = await self.client.request(method, {**params, "_meta": meta})
        self.told += reply.told
        return reply

    async def call(self, tool: str, arguments: Message | None = None, **more: Any) -> Reply:
        """Make one round of a call; `more` are further parameters."""
        capabilities = more.pop("capabilities", ABLE)
        params = {"name": f"asks_{tool}", "arguments": arguments or {}, **more}
        return await self.request("tools/call", params, capabilities)

    async def state(self, tool: str, arguments: Message | None = None) -> str:
        state: str = (await self.call(tool, arguments)).result["requestState"]
        return state

    async def play(self, method: str, params: Message, answer: Answer = willing) -> Reply:
        """Answer every question of a request."""
        self.rounds = []
        reply = await self.request(method, params)
        while reply.message.get("result", {}).get("resultType") == "input_required":
            requests = questions(reply)
            self.rounds.append(requests)
            responses = {key: answer(request["method"], request.get("params", {})) for key, request in requests.items()}
            state = reply.result["requestState"]
            reply = await self.request(method, {**params, "inputResponses": responses, "requestState": state})
        return reply

    async def finish(self, tool: str, arguments: Message | None = None, answer: Answer = willing) -> Reply:
        """Answer every question of the call of a tool."""
        return await self.play("tools/call", {"name": f"asks_{tool}", "arguments": arguments or {}}, answer)
