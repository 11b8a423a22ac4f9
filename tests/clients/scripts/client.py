"""The client of the official SDK, in the line that is installed (`mcp` 1.x or 2.x), as `scenarios.py` uses it.

In the second line, `mode` decides the era: "legacy" opens a session with `initialize`, "auto" requests
`server/discover` first and stays stateless if that succeeds, a date pins a stateless revision.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import mcp  # type: ignore[import-not-found]  # of the client's environment
from adapter import Answers, Changes, Json, Progress  # type: ignore[import-not-found]  # of the client's environment
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client  # type: ignore[import-not-found]  # of the client's environment
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # of the client's environment
from pydantic import AnyUrl, BaseModel
from scenarios import main  # type: ignore[import-not-found]  # of the client's environment
from tap import Connections, tapped_client  # type: ignore[import-not-found]  # of the client's environment

FIRST_LINE = version("mcp").startswith("1.")
LOG_LEVEL = "io.modelcontextprotocol/logLevel"

if FIRST_LINE:
    import httpx as http_library

    SdkError = mcp.McpError
else:
    import httpx2 as http_library  # type: ignore[no-redef]
    from mcp.client.subscriptions import ResourceUpdated  # type: ignore[import-not-found]  # of the client's environment

    SdkError = mcp.MCPError
    warnings.simplefilter("ignore", mcp.MCPDeprecationWarning)


def plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def address(uri: str) -> Any:
    return AnyUrl(uri) if FIRST_LINE else uri


class Listener:
    """The changes of a subscription (2026-07-28)."""

    def __init__(self, subscription: Any) -> None:
        self.subscription = subscription

    async def next(self) -> str:
        event = await anext(self.subscription)
        return event.uri if isinstance(event, ResourceUpdated) else type(event).__name__.split("List")[0].lower()


class Client:
    """A connected client.

    Attributes:
        client: a `ClientSession` in the first line, an `mcp.Client` in the second.
    """

    def __init__(self, answers: Answers, changes: Changes, connections: Connections, *, http: bool) -> None:
        self.answers = answers
        self.changes = changes
        self.connections = connections
        self.http = http
        self.client: Any = None
        self.opened: Any = None
        self.begun: Any = 0
        self.more: Json = {}

    def is_stateless(self) -> bool:
        return not FIRST_LINE and str(self.client.protocol_version) >= "2026"

    def opening(self) -> Json:
        if FIRST_LINE:
            return plain(self.opened)
        info = self.client.server_info
        return {
            "protocolVersion": self.client.protocol_version,
            "serverInfo": plain(info) if info else None,
            "capabilities": plain(self.client.server_capabilities),
            "instructions": self.client.instructions,
        }

    async def list(self, kind: str, cursor: str | None) -> Json:
        page: Json = {"cursor": cursor}
        if FIRST_LINE:
            page = {"params": types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None}
        return plain(await getattr(self.client, f"list_{kind}")(**page))

    async def call(self, name: str, arguments: Json | None = None, progress: Progress | None = None) -> Json:
        if FIRST_LINE:
            self.begun = self.client._request_id  # the SDK has no public way to learn the id of a request
        return plain(await self.client.call_tool(name, arguments, progress_callback=progress, **self.more))

    async def read(self, uri: str) -> Json:
        return plain(await self.client.read_resource(address(uri)))

    async def prompt(self, name: str, arguments: Json | None = None) -> Json:
        return plain(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: Json, argument: Json, chosen: Json | None) -> Json:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return plain(await self.client.complete(kind.model_validate(ref), argument, chosen))

    async def set_level(self, level: str) -> None:
        if self.is_stateless():
            self.more = {"meta": {LOG_LEVEL: level}}
        else:
            await self.client.set_logging_level(level)

    @asynccontextmanager
    async def watching(self, kinds: Sequence[str], uris: Sequence[str]) -> AsyncIterator[Any]:
        """Hear of changes: of these lists and resources in the stateless era, of all lists in sessions."""
        if self.is_stateless():
            wanted = {f"{kind}_list_changed": True for kind in kinds}
            async with self.client.listen(**wanted, resource_subscriptions=uris) as subscription:
                yield Listener(subscription)
            return
        if self.http:
            await self.connections.reached("GET 200", 1)  # the SDK opens it by itself, and does not say when
        for uri in uris:
            await self.client.subscribe_resource(address(uri))
        yield self.changes
        for uri in uris:
            await self.client.unsubscribe_resource(address(uri))

    async def ping(self) -> Json:
        return plain(await self.client.send_ping())

    async def before_cancel(self) -> None:
        """Cancel the call that began last, which only the first line does not do by itself."""
        if FIRST_LINE:
            params = types.CancelledNotificationParams(requestId=self.begun, reason="enough")
            notification = types.ClientNotification(types.CancelledNotification(params=params))
            await self.client.send_notification(notification)

    def error(self, error: Exception) -> Json | None:
        return plain(error.error) if isinstance(error, SdkError) else None


async def transport(plan: dict[str, Any], connections: Connections, stack: AsyncExitStack) -> Any:
    if "url" in plan:
        http = await stack.enter_async_context(tapped_client(http_library, plan["record"], connections))
        return streamable_http_client(plan["url"], http_client=http)
    command, *arguments = plan["command"]
    server = StdioServerParameters(command=command, args=arguments, env=plan["env"], cwd=plan["cwd"])
    return stdio_client(server) if FIRST_LINE else server


@asynccontextmanager
async def connect(plan: dict[str, Any]) -> AsyncIterator[Client]:
    answers, changes, connections = Answers(types), Changes(), Connections()
    more = {"logging_callback": answers.log, "message_handler": changes.message}
    if plan.get("answers"):
        more |= answers.callbacks() | ({} if FIRST_LINE else {"log_level": "info"})
    client = Client(answers, changes, connections, http="url" in plan)
    async with AsyncExitStack() as stack:
        server = await transport(plan, connections, stack)
        if FIRST_LINE:
            reader, writer, *_ = await stack.enter_async_context(server)
            client.client = await stack.enter_async_context(ClientSession(reader, writer, **more))
            client.opened = await client.client.initialize()
        else:
            client.client = await stack.enter_async_context(mcp.Client(server, mode=plan["mode"], **more))
        yield client


main(connect)
