"""`pegboard list`, `show` and `call` with `--url` or `--stdio`: another MCP server instead of the host."""

from __future__ import annotations

import asyncio
import gc
import os
from argparse import Namespace
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pegboard.cli import FAILED, OK, USAGE, code_for
from pegboard.cli.call_arguments import parse_arguments
from pegboard.cli.other_server_output import (
    print_lists,
    print_prompt_result,
    print_resource_contents,
    print_shown,
    print_tool_result,
)
from pegboard.cli.output import diverted, is_interactive, print_json, print_result_json, say, say_progress
from pegboard.client import Asked, Client, Endpoint, LoginRequiredError, OAuth, Program, QuestionHandler
from pegboard.errors import ClientError, MCPError, NotFoundError, ProtocolError, TransportError
from pegboard.names import nearest, same_name
from pegboard.wire.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND

STDERR_LINES = 20
"""The last lines of a program's standard error that are printed if it fails."""
ITEM_KINDS = {
    "tools": ("tool", "name", Client.tools),
    "prompts": ("prompt", "name", Client.prompts),
    "resources": ("resource", "uri", Client.resources),
    "resourceTemplates": ("resource template", "uriTemplate", Client.templates),
}
"""The members of list results, each with its noun, the member that names an item, and the method of the client."""

Item = dict[str, Any]
T = TypeVar("T")


def list_server(options: Namespace) -> int:
    """List the tools, prompts, resources and resource templates of the server."""
    lists = _use_server(options, _lists)
    if options.json:
        print_json(lists)
    else:
        print_lists(lists)
    return OK


def show_item(options: Namespace) -> int:
    """Show one tool, prompt or resource of the server."""

    async def find(client: Client) -> tuple[str, Item]:
        return _found(options.tool, await _lists(client))

    kind, item = _use_server(options, find)
    if options.json:
        print_json(item)
    else:
        print_shown(kind, item)
    return OK


def call_item(options: Namespace) -> int:
    """Call a tool, get a prompt, or read a resource, and print the result."""
    try:
        arguments = parse_arguments(options.arguments)
    except ValueError as error:
        say(str(error))
        return USAGE

    async def call(client: Client) -> tuple[str, Item]:
        shows = options.verbose or is_interactive()
        progress = say_progress if shows else None
        if "://" in options.tool:
            return "resources", await client.read(options.tool, progress=progress)
        kind, item = _found(options.tool, await _lists(client, "tools", "prompts"))
        if kind == "prompts":
            texts = {name: value if isinstance(value, str) else str(value) for name, value in arguments.items()}
            return kind, await client.prompt(item["name"], texts, progress=progress)
        return kind, await client.call(item["name"], arguments, progress=progress, timeout=None)

    try:
        kind, result = _use_server(options, call)
    except MCPError as error:
        if not options.json:
            raise
        detail = {"code": error.code, "data": error.data} if isinstance(error, ProtocolError) else {}
        print_json({"error": {"message": str(error), **detail}})
        return code_for(error)
    if options.json:
        print_result_json(result)
    elif kind == "tools":
        print_tool_result(result)
    else:
        (print_prompt_result if kind == "prompts" else print_resource_contents)(result)
    return FAILED if result.get("isError") is True else OK


# --- the connection


def _use_server(options: Namespace, use: Callable[[Client], Awaitable[T]]) -> T:
    """Connect to the server, and return the result of a function.

    Raises:
        MCPError: the server cannot be reached, requires a login, or responds with an error.
    """
    heard: deque[str] = deque(maxlen=STDERR_LINES)

    async def connected() -> T:
        gc.enable()
        asks = is_interactive()
        address = _address(options, heard)
        capabilities: dict[str, Any] = {}
        if asks:
            from pegboard.cli.terminal import TERMINAL_CAPABILITIES

            capabilities = TERMINAL_CAPABILITIES
        ask = _at_terminal(address.label) if asks else None
        async with Client(address, ask=ask, capabilities=capabilities) as client:
            return await use(client)

    try:
        with diverted():
            return asyncio.run(connected())
    except LoginRequiredError as error:
        if error.problem or options.login:
            raise
        raise MCPError(f"{error} Add --login to log in.") from None
    except TransportError:
        for line in heard:
            say(f"{options.stdio[0]}: {line}")
        raise


def _address(options: Namespace, heard: deque[str]) -> Endpoint | Program:
    if options.stdio:

        def hear(line: str) -> None:
            if options.verbose:
                say(f"{options.stdio[0]}: {line}")
            else:
                heard.append(line)

        return Program(options.stdio[0], options.stdio[1:], stderr=hear)
    headers = dict(options.header)
    if any(name.lower() == "authorization" for name in headers):
        return Endpoint(options.url, headers)
    from pegboard.cli.login_store import LoginStore

    auth = OAuth(_open_page if options.login else None, client_name="pegboard", store=LoginStore(os.environ))
    return Endpoint(options.url, headers, auth)


async def _open_page(url: str) -> None:
    """Show the page on which a person logs in. At a terminal, open the browser too."""
    say(f"open this page to log in: {url}")
    if is_interactive():
        import webbrowser

        await asyncio.to_thread(webbrowser.open, url)


def _at_terminal(label: str) -> QuestionHandler:
    """Return a function that asks the person at the terminal."""
    from pegboard.cli.terminal import Terminal

    terminal = Terminal()

    async def ask(asked: Asked) -> Mapping[str, Any]:
        say(f"{label} asks:")
        try:
            return await terminal(asked.method, dict(asked.params))
        except ClientError as error:
            raise ProtocolError(METHOD_NOT_FOUND, str(error)) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            say("the question is invalid and is refused")
            raise ProtocolError(INVALID_PARAMS, "the question is invalid") from error

    return ask


# --- items


async def _lists(client: Client, *kinds: str) -> dict[str, list[Item]]:
    """Return the lists of the server, or some of them. Lists that it does not offer are absent."""
    lists: dict[str, list[Item]] = {}
    for kind in kinds or ITEM_KINDS:
        capability = "resources" if kind == "resourceTemplates" else kind
        if capability not in client.server.capabilities:
            continue
        try:
            lists[kind] = await ITEM_KINDS[kind][2](client)
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
    return lists


def _found(name: str, lists: Mapping[str, list[Item]]) -> tuple[str, Item]:
    """Return the kind and the item with a name or a URI. Prefer exact names to other spellings, and tools to prompts.

    Raises:
        NotFoundError: the name matches no item or several.
    """
    named = [(kind, item, str(item.get(ITEM_KINDS[kind][1]))) for kind, items in lists.items() for item in items]
    matches = [(kind, item) for kind, item, own in named if own == name]
    if not matches:
        similar = {own: (kind, item) for kind, item, own in named if same_name(own, name)}
        if len(similar) > 1:
            raise NotFoundError(f"{name!r} is ambiguous: {', '.join(similar)}")
        matches = list(similar.values())
    if matches:
        return matches[0]
    nouns = [ITEM_KINDS[kind][0] for kind in lists] or ["tool"]
    close = nearest(name, [own for _, _, own in named])
    hint = f"; did you mean {close!r}?" if close else "; `pegboard list` with the same options shows all"
    raise NotFoundError(f"the server has no {' or '.join(nouns)} {name!r}{hint}")
