"""The journeys of a soak: each is one client from its first request to its end.

A journey checks its responses, and raises `WrongAnswerError` if the protocol requires another response.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

import aiohttp

from benchmarks.messages import WrongAnswerError
from benchmarks.soak.tools import THREADS

MODERN: Final = "2026-07-28"
SESSION_REVISIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25")
ACCEPT: Final = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
CAPABILITIES: Final[Mapping[str, Any]] = {"elicitation": {"form": {}}}

_ids = count(1)


class Peer:
    """An HTTP client of one server.

    Args:
        http: the connections.
        base: the server's URL, without a path.
        worker_token: the token for the routes of the worker.
        chance: the source of all random choices, so that a run can be repeated.
    """

    def __init__(self, http: aiohttp.ClientSession, base: str, worker_token: str, chance: random.Random) -> None:
        self.http = http
        self.base = base
        self.worker_token = worker_token
        self.chance = chance

    async def modern(self, method: str, params: dict[str, Any], **meta: Any) -> Any:
        """Send a request of 2026-07-28 and return its result or error."""
        about = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
        }
        message = _request(method, {**params, "_meta": {**about, **meta}})
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if name := params.get("name") or params.get("uri"):
            headers["Mcp-Name"] = name
        async with self.http.post(f"{self.base}/mcp", json=message, headers={**ACCEPT, **headers}) as response:
            return await _answer_of(response)

    @asynccontextmanager
    async def session(self, revision: str | None = None) -> AsyncIterator[Session]:
        """Open a session, in any revision by default. Half of the clients delete it, the others let it expire."""
        revision = revision or self.chance.choice(SESSION_REVISIONS)
        hello = {
            "protocolVersion": revision,
            "capabilities": CAPABILITIES,
            "clientInfo": {"name": "soak", "version": "1"},
        }
        async with self.http.post(f"{self.base}/mcp", json=_request("initialize", hello), headers=ACCEPT) as response:
            await _answer_of(response)
            headers = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"], "MCP-Protocol-Version": revision}
        session = Session(self, headers)
        await session.notify("notifications/initialized")
        yield session
        if self.chance.random() < 0.5:
            async with self.http.delete(f"{self.base}/mcp", headers=headers) as response:
                _expect(response.status, 200, 204)


class Session:
    """One session of a client."""

    def __init__(self, peer: Peer, headers: Mapping[str, str]) -> None:
        self.peer = peer
        self.headers = {**ACCEPT, **headers}

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its result or error."""
        async with self.post(_request(method, params)) as response:
            return await _answer_of(response)

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})
        async with self.post(message) as response:
            _expect(response.status, 202)

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool of the soak's toolkit, with a progress token."""
        params = {"name": f"soak_{tool}", "arguments": arguments, "_meta": {"progressToken": next(_ids)}}
        return await self.request("tools/call", params)

    def post(self, message: Any) -> Any:
        """Post a message."""
        return self.peer.http.post(f"{self.peer.base}/mcp", json=message, headers=self.headers)

    def stream(self) -> Any:
        """Open the stream for messages that the server sends without a request."""
        return self.peer.http.get(f"{self.peer.base}/mcp", headers=self.headers)


async def start_threads(peer: Peer) -> None:
    """Let the host start all its threads at once. It starts each when a call needs it, which could be late in a run."""
    meetings = [peer.modern("tools/call", {"name": "soak_meet", "arguments": {}}) for _ in range(THREADS)]
    for result in await asyncio.gather(*meetings):
        _same(result.get("isError", False), False)


async def add_without_session(peer: Peer) -> None:
    """Discover the server, list its tools, and call some of them."""
    await peer.modern("server/discover", {})
    await peer.modern("tools/list", {})
    for tool in ("soak_add", "soak_add_thread"):
        left, right = peer.chance.randrange(10**6), peer.chance.randrange(10**6)
        result = await peer.modern("tools/call", {"name": tool, "arguments": {"a": left, "b": right}})
        _same(result["content"][0]["text"], str(left + right))


async def add_in_session(peer: Peer) -> None:
    """Open a session, list everything, and call tools."""
    async with peer.session() as session:
        for method in ("tools/list", "resources/templates/list", "prompts/list", "ping"):
            await session.request(method, {})
        for number in range(5):
            result = await session.call("add", a=number, b=1)
            _same(result["content"][0]["text"], str(number + 1))
        await session.request("resources/read", {"uri": f"soak://notes/{peer.chance.random()}"})
        await session.request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})


async def return_much(peer: Peer) -> None:
    """Ask for large results, structured and not."""
    result = await peer.modern("tools/call", {"name": "soak_rows", "arguments": {"count": 2000}})
    _same(len(result["structuredContent"]), 2000)
    async with peer.session() as session:
        result = await session.call("text", size=peer.chance.randrange(1_000_000))
        _same("content" in result, True)


async def watch_progress(peer: Peer) -> None:
    """Call a tool that reports progress and logs."""
    async with peer.session() as session:
        _same((await session.call("steps"))["content"][0]["text"], "done")
    result = await peer.modern("tools/call", {"name": "soak_steps", "arguments": {}}, progressToken=next(_ids))
    _same(result["content"][0]["text"], "done")


async def fail_often(peer: Peer) -> None:
    """Call tools that fail, tools that do not exist, and with wrong arguments."""
    async with peer.session() as session:
        for tool, arguments in (("fail", {}), ("retry", {}), ("add", {"a": "x", "b": 1}), (f"no_{next(_ids)}", {})):
            answer = await session.call(tool, **arguments)
            _same(answer.get("isError") or "code" in answer, True)


async def send_nonsense(peer: Peer) -> None:
    """Send broken JSON, an unknown session, an unknown path and a foreign host."""
    url = f"{peer.base}/mcp"
    for body, headers, status in (
        (b'{"jsonrpc": "2.0", ', {}, 400),
        (b"[1]", {}, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', {"Mcp-Session-Id": f"{next(_ids):032x}"}, 404),
        (b"{}", {"Host": "evil.example"}, 421),
        (b"{}", {"Origin": "https://evil.example"}, 403),
    ):
        async with peer.http.post(url, data=body, headers={**ACCEPT, **headers}) as response:
            _expect(response.status, status)
    async with peer.http.get(f"{peer.base}/nothing/{next(_ids)}") as response:
        _expect(response.status, 404)


async def give_up(peer: Peer) -> None:
    """Cancel a call, and disconnect during another."""
    async with peer.session() as session:
        request = _request("tools/call", {"name": "soak_slow", "arguments": {"seconds": 30}})
        cancelled = asyncio.create_task(_status_of(session.post(request)))
        await session.request("ping", {})
        await session.notify("notifications/cancelled", {"requestId": request["id"]})
        cancelled.cancel()
        await asyncio.wait((cancelled,))
        abandoned = asyncio.create_task(session.call("slow", seconds=0.5))
        await session.request("ping", {})
        abandoned.cancel()
        await asyncio.wait((abandoned,))
    left = asyncio.create_task(peer.modern("tools/call", {"name": "soak_slow", "arguments": {"seconds": 30}}))
    await peer.modern("tools/list", {})
    left.cancel()
    await asyncio.wait((left,))


async def answer_questions(peer: Peer) -> None:
    """Answer what a tool asks, in both eras."""
    async with peer.session(SESSION_REVISIONS[-1]) as session:
        params = {"name": "soak_ask", "arguments": {}}
        async with session.post(_request("tools/call", params)) as response:
            async for message in _messages(response):
                if message.get("method") == "elicitation/create":
                    answer = {"action": "accept", "content": {"word": "soak"}}
                    async with session.post({"jsonrpc": "2.0", "id": message["id"], "result": answer}) as accepted:
                        _expect(accepted.status, 202)
                else:
                    _same(message["result"]["content"][0]["text"], "soak")
    question = await peer.modern("tools/call", params)
    (key,) = question["inputRequests"]
    answers = {"inputResponses": {key: {"action": "accept", "content": {"word": "soak"}}}}
    result = await peer.modern("tools/call", {**params, **answers, "requestState": question["requestState"]})
    _same(result["content"][0]["text"], "soak")


async def listen(peer: Peer) -> None:
    """Open the stream of a session, and disconnect after a moment."""
    async with peer.session() as session, session.stream() as response:
        _expect(response.status, 200)
        await session.call("add", a=1, b=2)


async def invoke_as_worker(peer: Peer) -> None:
    """List tools and call one over the worker protocol."""
    headers = {"Authorization": f"Bearer {peer.worker_token}"}
    async with peer.http.get(f"{peer.base}/worker/tools", headers=headers) as response:
        _expect(response.status, 200)
        await response.read()
    invocation = {"tool": {"name": "Add", "toolkit": "Soak"}, "inputs": {"a": 20, "b": 22}}
    async with peer.http.post(f"{peer.base}/worker/tools/invoke", json=invocation, headers=headers) as response:
        _expect(response.status, 200)
        _same((await response.json())["output"]["value"], 42)


JOURNEYS: Final[Mapping[Callable[[Peer], Awaitable[None]], int]] = {
    add_without_session: 20,
    add_in_session: 10,
    return_much: 2,
    watch_progress: 4,
    fail_often: 6,
    send_nonsense: 4,
    give_up: 2,
    answer_questions: 3,
    listen: 4,
    invoke_as_worker: 8,
}
"""All journeys, each with its relative frequency."""


def _request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params}


async def _status_of(posting: Any) -> int:
    async with posting as response:
        await response.read()
        return int(response.status)


async def _answer_of(response: aiohttp.ClientResponse) -> Any:
    """Return the result, or the error, that ends a response."""
    last: dict[str, Any] = {}
    async for message in _messages(response):
        last = message
    if "result" not in last and "error" not in last:
        raise WrongAnswerError(f"{response.status} without an answer: {last}")
    return last.get("result") or last.get("error") or {}


async def _messages(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    if response.content_type != "text/event-stream":
        yield json.loads(await response.read())
        return
    rest = b""
    async for chunk in response.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and (data := line[5:].strip()):
                yield json.loads(data)


def _expect(status: int, *expected: int) -> None:
    if status not in expected:
        raise WrongAnswerError(f"status {status}, expected {expected}")


def _same(actual: object, expected: object) -> None:
    if actual != expected:
        raise WrongAnswerError(f"{str(actual)[:200]!r}, expected {expected!r}")
