"""The parts of the context that use the host: tools, resources, prompts, logs and notifications."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import partialmethod
from typing import Any

from pegboard import AudioContent, Content, EmbeddedResource, ImageContent, ToolError, ToolResult
from pegboard import Context as HostContext
from pegboard import ResourceContents as HostContents
from pegboard.plugin import as_tool_result
from pegboard.types import Failure, RawResult
from pegboard_plugins.compat.arcade.types import (
    BlobResourceContents,
    CallToolResult,
    GetPromptResult,
    MCPTool,
    Prompt,
    PromptArgument,
    ResourceTemplate,
    Root,
    TextContent,
    TextResourceContents,
)


class View:
    """A part of a context.

    Args:
        context: the call.
    """

    def __init__(self, context: HostContext) -> None:
        self._context = context


class Logs(View):
    """Log messages."""

    async def log(
        self, level: Any, message: str, logger_name: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """Send a log message. The host sends the tool's name as the name of the logger."""
        await self._context.log.log(level, message, **({"extra": dict(extra)} if extra else {}))

    __call__ = log

    debug = partialmethod(log, "debug")
    info = partialmethod(log, "info")
    warning = partialmethod(log, "warning")
    error = partialmethod(log, "error")
    """The same for one level: `await context.log.info("text")`."""


class Tools(View):
    """The tools of the host."""

    async def list(self) -> list[MCPTool]:
        """Return the tools that the caller may use."""
        return [
            MCPTool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=dict(tool.input_schema),
                output_schema=None if tool.output_schema is None else dict(tool.output_schema),
            )
            for tool in await self._context.tools.list()
        ]

    async def call_raw(self, name: str, params: Mapping[str, Any] | None = None) -> CallToolResult:
        """Call a tool by its name on the wire, such as "Kit_Tool". An error becomes a result with `isError`."""
        outcome = await self._context.tools.call_raw(name.replace(".", "_", 1), params)
        if isinstance(outcome, RawResult):
            outcome = as_tool_result(outcome)
        if isinstance(outcome, ToolResult):
            return _call_result(outcome)
        error = outcome.error if isinstance(outcome, Failure) else None
        text = "The tool asks for input." if error is None else error.message
        if isinstance(error, ToolError) and error.additional_prompt_content:
            text = f"{text}\n\n{error.additional_prompt_content}"
        return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _call_result(result: ToolResult) -> CallToolResult:
    """Return a result as Arcade sends it: a value that is not an object is wrapped as `{"result": value}`."""
    value = result.value
    if result.content is not None:
        blocks: list[Any] = [_block(part) for part in result.content]
        return CallToolResult(content=blocks, structured_content=value, is_error=result.is_error)
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    return CallToolResult(
        content=[] if value is None else [TextContent(text=text)],
        structured_content=value if value is None or isinstance(value, dict) else {"result": value},
        is_error=result.is_error,
    )


def _block(block: str | Content) -> dict[str, Any]:
    """Return a block of content as an MCP object. Blocks of text and links have the same fields in both."""
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if isinstance(block, EmbeddedResource):
        return {"type": "resource", "resource": _contents(block.resource)}
    if isinstance(block, ImageContent | AudioContent):
        data = block.data if isinstance(block.data, str) else b64encode(block.data).decode()
        kind = "image" if isinstance(block, ImageContent) else "audio"
        return {"type": kind, "data": data, "mime_type": block.mime_type}
    fields = {name: value for name, value in block._asdict().items() if name not in ("annotations", "icons", "meta")}
    return {"type": "text" if "text" in fields else "resource_link", **fields}


class Resources(View):
    """The resources of the host, and the client's roots."""

    async def read(self, uri: str) -> list[TextResourceContents | BlobResourceContents]:
        """Return the contents of a resource."""
        return [_contents(part) for part in (await self._context.resources.read(uri)).contents]

    async def get(self, uri: str) -> TextResourceContents | BlobResourceContents:
        """Return the first part of the contents of a resource.

        Raises:
            ValueError: the resource has no contents.
        """
        for part in await self.read(uri):
            return part
        raise ValueError(f"the resource {uri} has no contents")

    async def list_roots(self) -> list[Root]:
        """Return the client's roots."""
        return [Root(uri=root.uri, name=root.name) for root in await self._context.resources.list_roots()]

    async def list_templates(self) -> list[ResourceTemplate]:
        """Return the resource templates that the caller may use."""
        return [
            ResourceTemplate(
                uri_template=template.uri_template,
                name=template.name,
                title=template.title,
                description=template.description,
                mime_type=template.mime_type,
            )
            for template in await self._context.resources.list_templates()
        ]

    async def list(self) -> list[Root]:
        """Return the URIs and names of the resources that the caller may read."""
        return [Root(uri=resource.uri, name=resource.name) for resource in await self._context.resources.list()]


def _contents(part: HostContents) -> TextResourceContents | BlobResourceContents:
    fields: dict[str, Any] = {"uri": part.uri, "mime_type": part.mime_type, "_meta": part.meta}
    if isinstance(part.content, str):
        return TextResourceContents(text=part.content, **fields)
    return BlobResourceContents(blob=b64encode(part.content).decode(), **fields)


class Prompts(View):
    """The prompts of the host."""

    async def list(self) -> list[Prompt]:
        """Return the prompts that the caller may use."""
        return [
            Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    PromptArgument(name=argument.name, description=argument.description, required=argument.required)
                    for argument in prompt.arguments
                ],
            )
            for prompt in await self._context.prompts.list()
        ]

    async def get(self, name: str, arguments: Mapping[str, str] | None = None) -> GetPromptResult:
        """Return the messages of a prompt."""
        prompt = await self._context.prompts.get(name, arguments)
        messages: list[Any] = [
            {"role": message.role, "content": _block(message.content)} for message in prompt.messages
        ]
        return GetPromptResult(description=prompt.description, messages=messages)


class ListNotifications:
    """Notifications that a list has changed."""

    def __init__(self, notifications: Any) -> None:
        self._notifications = notifications

    async def list_changed(self) -> None:
        """Notify clients."""
        self._notifications.list_changed()


class Notifications:
    """Notifications that a list has changed.

    Args:
        context: the call.

    Attributes:
        tools: the list of tools.
        resources: the list of resources.
        prompts: the list of prompts.
    """

    def __init__(self, context: HostContext) -> None:
        self.tools = ListNotifications(context.notifications.tools)
        self.resources = ListNotifications(context.notifications.resources)
        self.prompts = ListNotifications(context.notifications.prompts)
