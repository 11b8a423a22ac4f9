"""`pegboard call TOOL key=value key:=json`: a tool call from the shell, processed like calls of clients."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from argparse import Namespace
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import (
    AudioContent,
    Content,
    EmbeddedResource,
    Host,
    ImageContent,
    NotFoundError,
    ResourceLink,
    TextContent,
    ToolResult,
)
from pegboard.errors import ServerError
from pegboard.plugin import CommandContext, as_tool_result
from pegboard.terminal import (
    Terminal,
    clear_progress,
    diverted,
    is_interactive,
    parse_arguments,
    print_result,
    print_result_json,
    say,
    show_progress,
)
from pegboard.types import Call, Client, Failure, MethodResult, Outcome, RawResult
from pegboard_plugins.authoring.tool_commands.call_failures import CallLog, config_options, print_failure

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has ended."""

_TYPES = {
    TextContent: "text",
    ImageContent: "image",
    AudioContent: "audio",
    ResourceLink: "resource_link",
    EmbeddedResource: "resource",
}
_NAMES = {"mime_type": "mimeType", "last_modified": "lastModified", "meta": "_meta"}


class CallOutput(TypedDict, total=False):
    """The output of `pegboard call` for a tool of this host. Only results with `content` have `is_error`."""

    result: Any
    content: list[dict[str, Any]]
    is_error: bool


def run_call(command: CommandContext) -> int:
    """Call one tool and print its result."""
    options = command.options
    arguments = parse_arguments(options.arguments)
    host = command.new_host()
    log = None if options.verbose or options.json else CallLog()
    shows = options.verbose or (sys.stderr is not None and sys.stderr.isatty())
    outcome: Outcome | None = None
    try:
        with diverted():
            outcome = asyncio.run(_call(command, host, arguments, shows=shows))
    except KeyboardInterrupt:
        if host.busy_threads:
            # a function that runs in a thread would keep the process alive
            logging.shutdown()
            os._exit(INTERRUPTED)
        raise
    except SystemExit:
        message = "a task that it started raised SystemExit, which ends the event loop"
        raise ServerError(f"{options.tool} failed: {message}") from None
    finally:
        clear_progress()
        records = [] if log is None else log.release(is_told=isinstance(outcome, Failure))
    if isinstance(outcome, Failure):
        tool = _served(command, host)
        print_failure(outcome, options, records, _missing_secrets(host, options, tool), _object_forms(arguments, tool))
        return 1
    return _print(outcome, options)


def _served(command: CommandContext, host: Host) -> Any:
    try:
        return command.find_tool(host, command.options.tool)
    except NotFoundError:
        return None


def _object_forms(arguments: Iterable[str], served: Any) -> list[str]:
    """Return the correct form of arguments such as `order.amount`, for a tool with a parameter `order`."""
    parameters = served.tool.input_schema.get("properties", {}) if served else {}
    members: dict[str, dict[str, None]] = {}
    for key in arguments:
        name, *path = key.split(".")
        if path and name in parameters and key not in parameters:
            members.setdefault(name, {})[f'"{path[0]}": ...'] = None
    return [f"{name}:='{{{', '.join(pairs)}}}'" for name, pairs in members.items()]


def _missing_secrets(host: Host, options: Namespace, served: Any) -> dict[str, str]:
    """Return the secrets that a tool requires and no store has, each with advice to set it."""
    secrets, names = host.assembly.secrets, served.missing if served else ()
    return {name: secrets.advice(name, name, config_options(options)) for name in names}


async def _call(command: CommandContext, host: Host, arguments: dict[str, Any], *, shows: bool) -> Outcome:
    name = command.options.tool
    async with host:
        gc.enable()
        client, ask = Client("pegboard call", host.identity.version), None
        if is_interactive():
            client, ask = client._replace(capabilities=Terminal.capabilities), Terminal()
        notify = _notify if shows else None

        async def call(name: str) -> Outcome:
            params = {"name": name, "arguments": arguments}
            return await host.dispatch(Call("tools/call", params, client=client, notify=notify, ask=ask))

        await command.list_items(host, name)
        try:
            tool = command.find_tool(host, name).tool
        except NotFoundError:
            # a plugin may run tools that it does not list
            if _is_unknown(outcome := await call(name), host, name):
                raise
            return outcome
        return await call(tool.name)


def _is_unknown(outcome: Outcome, host: Host, name: str) -> bool:
    """Return True if a call failed because the host serves no tool with this exact name."""
    failed = isinstance(outcome, Failure) and isinstance(outcome.error, NotFoundError)
    return failed and name not in host.assembly.tools


def _notify(method: str, params: dict[str, Any]) -> None:
    """Print the progress of the call. The call's log messages are in the host's log."""
    if method == "notifications/progress":
        show_progress(params)


def _print(outcome: Outcome, options: Namespace) -> int:
    if isinstance(outcome, MethodResult):  # middleware of a plugin returned it
        print_result_json({"result": outcome.value} if options.json else outcome.value)
        return 0
    if isinstance(outcome, RawResult):
        outcome = as_tool_result(outcome)
    assert isinstance(outcome, ToolResult)
    if outcome.content is not None:
        _print_content(outcome, as_json=options.json)
    elif options.json:
        print_result_json({"result": outcome.value})
    elif isinstance(outcome.value, str):
        print_result(outcome.value)
    elif outcome.value is not None:
        print_result_json(outcome.value)
    return 1 if outcome.is_error else 0


def _print_content(outcome: ToolResult, *, as_json: bool) -> None:
    blocks = outcome.content or ()
    if as_json:
        content = [_as_object(block) for block in blocks]
        print_result_json({"result": outcome.value, "content": content, "is_error": outcome.is_error})
        return
    for block in blocks:
        if not outcome.is_error:
            print_result(_as_text(block))
            continue
        for line in _as_text(block).splitlines():
            say(line)


def _as_text(block: Content) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ResourceLink):
        return f"{block.title or block.name}: {block.uri}"
    if isinstance(block, EmbeddedResource):
        part = block.resource
        if isinstance(part.content, str):
            return part.content
        return f"[{part.uri}: {part.mime_type or 'binary'}, {len(part.content)} bytes]"
    kind = type(block).__name__.removesuffix("Content").lower()
    size = len(block.data) if isinstance(block.data, bytes) else len(block.data) * 3 // 4
    return f"[{kind}: {block.mime_type}, {size} bytes]"


def _as_object(block: Content) -> dict[str, Any]:
    """Return a block as the object of MCP (ContentBlock). Bytes are in base64."""
    return {"type": _TYPES[type(block)], **_plain(block)}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if hasattr(value, "_asdict"):
        set_fields = ((name, member) for name, member in value._asdict().items() if member is not None)
        return {_member(name, member): _plain(member) for name, member in set_fields}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _member(field: str, value: Any) -> str:
    """Return the name that MCP has for a field."""
    if field == "content":
        return "text" if isinstance(value, str) else "blob"
    return _NAMES.get(field, field)
