"""The client of the official SDK's first line, as `scenarios.py` wants it. Runs where `mcp` 1.x is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
from adapter import Answers, Changes, Json, OnToken, Progress  # type: ignore[import-not-found]  # of the client's environment
from mcp import ClientSession, McpError, StdioServerParameters, types  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.stdio import stdio_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.shared.message import ClientMessageMetadata  # type: ignore[import-not-found]  # of the client's environment
from pydantic import AnyUrl, BaseModel
from scenarios import main  # type: ignore[import-not-found]  # of the client's environment
from tap import Connections, tapped_client  # type: ignore[import-not-found]  # of the client's environment


def plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Client:
    def __init__(self, session: ClientSession, answers: Answers, changes: Changes, connections: Connections) -> None:
        self.session = session
        self.answers = answers
        self.changes = changes
        self.connections = connections
        self.opened: types.InitializeResult | None = None
        self.begun = 0
        self.http = False

    def opening(self) -> Json:
        assert self.opened is not None
        return plain(self.opened)

    async def list(self, kind: str, cursor: str | None) -> Json:
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        return plain(await getattr(self.session, f"list_{kind}")(params=params))

    async def call(self, name: str, arguments: Json | None = None, progress: Progress | None = None) -> Json:
        self.begun = self.session._request_id  # the SDK has no public way to learn the id of a request
        return plain(await self.session.call_tool(name, arguments, progress_callback=progress))

    async def read(self, uri: str) -> Json:
        return plain(await self.session.read_resource(AnyUrl(uri)))

    async def prompt(self, name: str, arguments: Json | None = None) -> Json:
        return plain(await self.session.get_prompt(name, arguments))

    async def complete(self, ref: Json, argument: Json, chosen: Json | None) -> Json:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return plain(await self.session.complete(kind.model_validate(ref), argument, chosen))

    async def set_level(self, level: str) -> None:
        await self.session.set_logging_level(level)

    @asynccontextmanager
    async def watching(self, kinds: Sequence[str], uris: Sequence[str]) -> AsyncIterator[Changes]:
        if self.http:
            await self.connections.reached("GET 200", 1)  # the SDK opens it by itself, and does not say when
        async with self.changes.of(
            uris,
            lambda uri: self.session.subscribe_resource(AnyUrl(uri)),
            lambda uri: self.session.unsubscribe_resource(AnyUrl(uri)),
        ) as events:
            yield events

    async def open_stream(self) -> None:
        await self.session.send_notification(types.ClientNotification(types.InitializedNotification()))

    async def begin(self, name: str, arguments: Json, on_token: OnToken) -> Json:
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        metadata = ClientMessageMetadata(on_resumption_token_update=on_token)
        return await self.send(params, metadata)

    async def resume(self, token: str) -> Json:
        params = types.CallToolRequestParams(name="", arguments={})  # it is not sent
        return await self.send(params, ClientMessageMetadata(resumption_token=token))

    async def send(self, params: types.CallToolRequestParams, metadata: ClientMessageMetadata) -> Json:
        request = types.ClientRequest(types.CallToolRequest(params=params))
        return plain(await self.session.send_request(request, types.CallToolResult, metadata=metadata))

    async def ping(self) -> Json:
        return plain(await self.session.send_ping())

    async def before_cancel(self) -> None:
        params = types.CancelledNotificationParams(requestId=self.begun, reason="enough")
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))

    def error(self, error: Exception) -> Json | None:
        return plain(error.error) if isinstance(error, McpError) else None


@asynccontextmanager
async def streams(plan: dict[str, Any], connections: Connections) -> AsyncIterator[tuple[Any, ...]]:
    if "url" in plan:
        async with (
            tapped_client(httpx, plan["record"], connections, plan.get("headers")) as client,
            streamable_http_client(plan["url"], http_client=client, terminate_on_close=not plan.get("stay")) as found,
        ):
            yield found
    else:
        command, *arguments = plan["command"]
        server = StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"])
        async with stdio_client(server) as found:
            yield found


@asynccontextmanager
async def connect(plan: dict[str, Any]) -> AsyncIterator[Client]:
    answers, changes, connections = Answers(types, plan.get("action", "accept")), Changes(), Connections()
    more = {"logging_callback": answers.log, "message_handler": changes.message}
    more |= answers.callbacks() if plan.get("answers") else {}
    async with streams(plan, connections) as (reader, writer, *_), ClientSession(reader, writer, **more) as session:
        client = Client(session, answers, changes, connections)
        client.http = "url" in plan
        if "headers" not in plan:  # those of a session that is there already
            client.opened = await session.initialize()
        yield client


main(connect)
