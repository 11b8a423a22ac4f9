"""The client of the official SDK's second line, as `scenarios.py` wants it. Runs where `mcp` 2.x is installed.

Its `mode` decides the era: "legacy" opens a session with `initialize`, "auto" asks `server/discover` first and stays
modern where that is answered, a date pins a modern revision without asking.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import mcp  # type: ignore[import-not-found]  # of the client's environment
from answers import Answers  # type: ignore[import-not-found]  # of the client's environment
from mcp import MCPError, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from pydantic import BaseModel
from scenarios import Json, Progress, main  # type: ignore[import-not-found]  # of the client's environment
from tap import tapped_client  # type: ignore[import-not-found]  # of the client's environment

warnings.simplefilter("ignore", mcp.MCPDeprecationWarning)  # ping is deprecated, and still to be answered


def plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Client:
    def __init__(self, client: mcp.Client, answers: Answers) -> None:
        self.client = client
        self.answers = answers

    def opening(self) -> Json:
        info = self.client.server_info
        return {
            "protocolVersion": self.client.protocol_version,
            "serverInfo": plain(info) if info else None,
            "capabilities": plain(self.client.server_capabilities),
            "instructions": self.client.instructions,
        }

    async def list(self, kind: str, cursor: str | None) -> Json:
        return plain(await getattr(self.client, f"list_{kind}")(cursor=cursor))

    async def call(self, name: str, arguments: Json | None = None, progress: Progress | None = None) -> Json:
        return plain(await self.client.call_tool(name, arguments, progress_callback=progress))

    async def read(self, uri: str) -> Json:
        return plain(await self.client.read_resource(uri))

    async def prompt(self, name: str) -> Json:
        return plain(await self.client.get_prompt(name))

    async def ping(self) -> Json:
        return plain(await self.client.send_ping())

    async def before_cancel(self) -> None:
        """The SDK tells the server by itself."""

    def error(self, error: Exception) -> Json | None:
        return plain(error.error) if isinstance(error, MCPError) else None


@asynccontextmanager
async def connect(plan: dict[str, Any]) -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:
        if "url" in plan:
            http = await stack.enter_async_context(tapped_client(httpx2, plan["record"]))
            server = streamable_http_client(plan["url"], http_client=http)
        else:
            command, *arguments = plan["command"]
            server = StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"])
        answers = Answers(types, plan.get("action", "accept"))
        more = answers.callbacks() | {"log_level": "info"} if plan.get("answers") else {}
        yield Client(await stack.enter_async_context(mcp.Client(server, mode=plan["mode"], **more)), answers)


main(connect)
