"""The client of the official SDK's second line, as `scenarios.py` wants it. Runs where `mcp` 2.x is installed.

Its `mode` decides the era: "legacy" opens a session with `initialize`, "auto" asks `server/discover` first and stays
modern where that is answered, a date pins a modern revision without asking.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import mcp  # type: ignore[import-not-found]  # of the client's environment
from adapter import Answers, Changes, Json, OnToken, Progress  # type: ignore[import-not-found]  # of the client's environment
from mcp import ClientSession, MCPError, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.subscriptions import ResourceUpdated, Subscription, SubscriptionLost  # type: ignore[import-not-found]  # of the client's environment
from mcp.shared.message import ClientMessageMetadata  # type: ignore[import-not-found]  # of the client's environment
from pydantic import BaseModel
from scenarios import main  # type: ignore[import-not-found]  # of the client's environment
from tap import Connections, tapped_client  # type: ignore[import-not-found]  # of the client's environment

warnings.simplefilter("ignore", mcp.MCPDeprecationWarning)  # what is deprecated is still to be answered


def plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


LOG_LEVEL = "io.modelcontextprotocol/logLevel"


class Listener:
    """What `subscriptions/listen` tells (2026-07-28)."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription

    async def next(self) -> str:
        event = await anext(self.subscription)
        return event.uri if isinstance(event, ResourceUpdated) else type(event).__name__.split("List")[0].lower()

    async def end(self) -> str:
        try:
            async for _ in self.subscription:
                pass
        except SubscriptionLost:
            return "lost"
        return "graceful"


class Client:
    def __init__(self, client: mcp.Client, answers: Answers, changes: Changes, connections: Connections) -> None:
        self.client = client
        self.answers = answers
        self.changes = changes
        self.connections = connections
        self.session: ClientSession | None = None
        self.http = False
        self.meta: Any = None

    def modern(self) -> bool:
        return str(self.client.protocol_version) >= "2026"

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
        return plain(await self.client.call_tool(name, arguments, progress_callback=progress, meta=self.meta))

    async def read(self, uri: str) -> Json:
        return plain(await self.client.read_resource(uri))

    async def prompt(self, name: str, arguments: Json | None = None) -> Json:
        return plain(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: Json, argument: Json, chosen: Json | None) -> Json:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return plain(await self.client.complete(kind.model_validate(ref), argument, chosen))

    async def set_level(self, level: str) -> None:
        if self.modern():
            self.meta = {LOG_LEVEL: level}
        else:
            await self.client.set_logging_level(level)

    @asynccontextmanager
    async def watching(self, kinds: Sequence[str], uris: Sequence[str]) -> AsyncIterator[Any]:
        if self.modern():
            wanted = {f"{kind}_list_changed": True for kind in kinds}
            async with self.client.listen(**wanted, resource_subscriptions=uris) as subscription:
                yield Listener(subscription)
            return
        if self.http:
            await self.connections.reached("GET 200", 1)  # the SDK opens it by itself, and does not say when
        async with self.changes.of(uris, self.client.subscribe_resource, self.client.unsubscribe_resource) as events:
            yield events

    async def open_stream(self) -> None:
        await self.client.session.send_notification(types.InitializedNotification())

    async def begin(self, name: str, arguments: Json, on_token: OnToken) -> Json:
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        return await self.send(params, ClientMessageMetadata(on_resumption_token_update=on_token))

    async def resume(self, token: str) -> Json:
        params = types.CallToolRequestParams(name="", arguments={})  # it is not sent
        return await self.send(params, ClientMessageMetadata(resumption_token=token))

    async def send(self, params: types.CallToolRequestParams, metadata: ClientMessageMetadata) -> Json:
        session = self.session or self.client.session
        return plain(
            await session.send_request(types.CallToolRequest(params=params), types.CallToolResult, metadata=metadata)
        )

    async def ping(self) -> Json:
        return plain(await self.client.send_ping())

    async def before_cancel(self) -> None:
        """The SDK tells the server by itself."""

    def error(self, error: Exception) -> Json | None:
        return plain(error.error) if isinstance(error, MCPError) else None


async def transport(plan: dict[str, Any], connections: Connections, stack: AsyncExitStack) -> Any:
    if "url" in plan:
        tapped = tapped_client(httpx2, plan["record"], connections, plan.get("headers"))
        http = await stack.enter_async_context(tapped)
        return streamable_http_client(plan["url"], http_client=http, terminate_on_close=not plan.get("stay"))
    command, *arguments = plan["command"]
    return StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"])


@asynccontextmanager
async def connect(plan: dict[str, Any]) -> AsyncIterator[Client]:
    answers, changes, connections = Answers(types, plan.get("action", "accept")), Changes(), Connections()
    more = {"logging_callback": answers.log, "message_handler": changes.message}
    more |= answers.callbacks() | {"log_level": "info"} if plan.get("answers") else {}
    async with AsyncExitStack() as stack:
        server = await transport(plan, connections, stack)
        client = Client(mcp.Client(server, mode=plan["mode"], **more), answers, changes, connections)
        client.http = "url" in plan
        if "headers" in plan:  # those of a session that is there already, to which `mcp.Client` cannot come back
            reader, writer = await stack.enter_async_context(server)
            client.session = await stack.enter_async_context(ClientSession(reader, writer, **more))
        else:
            await stack.enter_async_context(client.client)
        yield client


main(connect)
