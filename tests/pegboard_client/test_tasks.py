"""Clients of tasks: they subscribe to a task, and poll if the server does not offer this."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.pegboard_client.pairs import MemoryEnd
from tests.pegboard_client.scripted import DISCOVERED, scripted_stream

META = "io.modelcontextprotocol/"
TASK: dict[str, Any] = {"taskId": "t", "status": "working"}
RESULT: dict[str, Any] = {"content": []}
COMPLETED = {**TASK, "status": "completed", "result": RESULT}


class TaskServer:
    """Serves one task, which has ended at the third poll.

    Args:
        way: what it does with a subscription: "send" the end of the task, "refuse" it, "ignore" the task, or "end" it.
    """

    def __init__(self, way: str) -> None:
        self.methods: list[str] = []
        self._way = way

    async def serve(self, end: MemoryEnd) -> None:
        async for data in end.messages():
            request = json.loads(data)
            self.methods.append(request["method"])
            if request["method"] == "server/discover":
                self._respond(end, request, result=DISCOVERED)
            elif request["method"] == "tasks/get":
                working = {**TASK, "pollIntervalMs": 10**6 if self._way == "send" else 0}
                self._respond(end, request, result=COMPLETED if self.methods.count("tasks/get") == 3 else working)
            elif request["method"] == "subscriptions/listen":
                assert request["params"]["notifications"] == {"taskIds": ["t"]}
                assert f"{META}tasks" in request["params"]["_meta"][f"{META}clientCapabilities"]["extensions"]
                self._listen(end, request)

    def _listen(self, end: MemoryEnd, request: Any) -> None:
        def notify(method: str, params: Any) -> None:
            params = {**params, "_meta": {f"{META}subscriptionId": request["id"]}}
            end.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

        if self._way == "refuse":
            self._respond(end, request, error={"code": -32601, "message": "unknown"})
            return
        accepted = {} if self._way == "ignore" else {"taskIds": ["t"]}
        notify("notifications/subscriptions/acknowledged", {"notifications": accepted})
        if self._way == "send":
            notify("notifications/tasks", {**COMPLETED, "taskId": "another", "result": {}})
            notify("notifications/tasks", COMPLETED)
        elif self._way == "end":
            self._respond(end, request, result={})

    def _respond(self, end: MemoryEnd, request: Any, **outcome: Any) -> None:
        end.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}).encode())


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("way", "polls", "ends"), [("send", 1, True), ("refuse", 3, False), ("ignore", 3, True), ("end", 3, False)]
)
async def test_a_client_subscribes_to_a_task_or_polls(way: str, polls: int, ends: bool) -> None:
    server, heard = TaskServer(way), list[str]()
    stream = scripted_stream(server.serve, on_notification=lambda method, params: heard.append(method))
    async with stream as client, client, asyncio.timeout(30):
        assert await client.task("t") == RESULT
    assert server.methods.count("tasks/get") == polls
    assert server.methods.count("subscriptions/listen") == 1
    assert ("notifications/cancelled" in server.methods) is ends
    assert heard == []
