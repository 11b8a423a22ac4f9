"""The floor over HTTP: a minimal aiohttp handler, with pydantic's JSON and validation.

It does only what the measured requests need. It does not check headers, messages or sessions, has no errors, and keeps
its lists as bytes. Of the worker protocol it has calls of `add`, and checks signature, audience and expiry of their
token. With `--uvloop` it runs on uvloop.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
import time
from base64 import urlsafe_b64decode
from functools import partial
from typing import Any

from aiohttp import web
from floor import (  # type: ignore[import-not-found]  # beside this
    INITIALIZED,
    Numbers,
    add,
    add_here,
    described_tools,
    records,
    result_of,
)
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

COMPLETE = {"resultType": "complete", "ttlMs": 300_000, "cacheScope": "private"}


class Floor:
    """Responds to requests.

    Args:
        more_tools: the number of additional tools in its list.
        page_size: the number of tools on a page.
    """

    def __init__(self, more_tools: int, page_size: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._secret = os.environ.get("ARCADE_WORKER_SECRET", "").encode()
        numbers = TypeAdapter(Numbers)
        self._validate = numbers.validator.validate_python
        tools = described_tools(numbers, more_tools)
        self._pages: list[bytes] = []
        for start in range(0, len(tools), page_size):
            last = start + page_size >= len(tools)
            cursor = {} if last else {"nextCursor": str(len(self._pages) + 1)}
            self._pages.append(to_json({"tools": tools[start : start + page_size], **cursor, **COMPLETE}))

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Respond to one request."""
        if request.method == "GET":
            return await self._stream(request)
        message = from_json(await request.read())
        if request.path == "/worker/tools/invoke":
            return await self._invoke(request.headers["Authorization"].removeprefix("Bearer "), message)
        method = message["method"]
        if method == "tools/call":
            return _response(await self._call(message["id"], message["params"]))
        if method == "tools/list":
            page = self._pages[int(message["params"].get("cursor", "0"))]
            return _response(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (message["id"], page))
        if method == "initialize":
            return _response(_encoded(message["id"], INITIALIZED))
        return web.Response(status=202)

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        """Open a stream on which nothing is sent."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await self._loop.create_future()
        return response

    async def _invoke(self, token: str, message: dict[str, Any]) -> web.Response:
        if not self._opens(token):
            return web.Response(status=401)
        total = await add(**self._validate(message["inputs"]))
        output = {"value": total, "error": None, "logs": None}
        answer = {"execution_id": message["execution_id"], "success": True, "output": output}
        return _response(to_json(answer))

    def _opens(self, token: str) -> bool:
        signed, _, signature = token.rpartition(".")
        right = hmac.digest(self._secret, signed.encode(), "sha256")
        claims = from_json(_decoded(signed.partition(".")[2]))
        return (
            hmac.compare_digest(_decoded(signature), right)
            and claims["aud"] == "worker"
            and claims["exp"] > time.time()
        )

    async def _call(self, number: int, params: dict[str, Any]) -> bytes:
        name, arguments = params["name"], params["arguments"]
        value = records(**arguments) if name == "records" else await self._sum(name, self._validate(arguments))
        result = result_of(value)
        if "_meta" in params:
            result["resultType"] = "complete"
        return _encoded(number, result)

    async def _sum(self, name: str, numbers: dict[str, int]) -> int:
        if name == "add":
            return int(await add(**numbers))
        if name == "add_inline":
            return int(add_here(**numbers))
        return int(await self._loop.run_in_executor(None, partial(add_here, **numbers)))


def _encoded(number: int, result: dict[str, Any]) -> bytes:
    return to_json({"jsonrpc": "2.0", "id": number, "result": result})


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "==")


def _response(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


async def main() -> None:
    """Serve until the process is terminated."""
    variables = os.environ
    page_size = int(variables.get("PEGBOARD__HOST__PAGE_SIZE", "1000"))
    floor = Floor(int(variables.get("BENCH_MORE_TOOLS", "0")), page_size)
    runner = web.ServerRunner(web.Server(floor.answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(variables["BENCH_PORT"])).start()
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    if "--uvloop" in sys.argv:
        import uvloop

        uvloop.run(main())
    else:
        asyncio.run(main())
