"""The client of the official SDK's first line, as `scenarios.py` wants it. Runs where `mcp` 1.x is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from answers import Answers  # type: ignore[import-not-found]  # of the client's environment
from mcp import ClientSession, McpError, StdioServerParameters, types  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.stdio import stdio_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from pydantic import AnyUrl, BaseModel
from scenarios import Json, Progress, main  # type: ignore[import-not-found]  # of the client's environment
from tap import tapped_client  # type: ignore[import-not-found]  # of the client's environment


def plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Client:
    def __init__(self, session: ClientSession, opening: types.InitializeResult, answers: Answers) -> None:
        self.session = session
        self.answers = answers
        self.opened = opening
        self.begun = 0

    def opening(self) -> Json:
        return plain(self.opened)

    async def list(self, kind: str, cursor: str | None) -> Json:
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        return plain(await getattr(self.session, f"list_{kind}")(params=params))

    async def call(self, name: str, arguments: Json | None = None, progress: Progress | None = None) -> Json:
        self.begun = self.session._request_id  # the SDK has no public way to learn the id of a request
        return plain(await self.session.call_tool(name, arguments, progress_callback=progress))

    async def read(self, uri: str) -> Json:
        return plain(await self.session.read_resource(AnyUrl(uri)))

    async def prompt(self, name: str) -> Json:
        return plain(await self.session.get_prompt(name))

    async def ping(self) -> Json:
        return plain(await self.session.send_ping())

    async def before_cancel(self) -> None:
        params = types.CancelledNotificationParams(requestId=self.begun, reason="enough")
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))

    def error(self, error: Exception) -> Json | None:
        return plain(error.error) if isinstance(error, McpError) else None


@asynccontextmanager
async def streams(plan: dict[str, Any]) -> AsyncIterator[tuple[Any, ...]]:
    if "url" in plan:
        async with (
            tapped_client(httpx, plan["record"]) as client,
            streamable_http_client(plan["url"], http_client=client) as found,
        ):
            yield found
    else:
        command, *arguments = plan["command"]
        server = StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"])
        async with stdio_client(server) as found:
            yield found


@asynccontextmanager
async def connect(plan: dict[str, Any]) -> AsyncIterator[Client]:
    answers = Answers(types, plan.get("action", "accept"))
    more = answers.callbacks() if plan.get("answers") else {}
    async with streams(plan) as (reader, writer, *_), ClientSession(reader, writer, **more) as session:
        yield Client(session, await session.initialize(), answers)


main(connect)
