"""`pegboard list`, `show` and `call` with `--url` or `--stdio`: another MCP server instead of the host."""

from __future__ import annotations

import asyncio
import gc
import os
from argparse import Namespace
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from pegboard.errors import ClientError, MCPError, ProtocolError, TransportError
from pegboard.plugin import CommandContext, StateFiles, decode, encode
from pegboard.terminal import (
    Terminal,
    clear_progress,
    diverted,
    is_interactive,
    parse_arguments,
    print_json,
    say,
    show_progress,
)
from pegboard_client import Asked, Client, Endpoint, LoginRequiredError, OAuth, Program, QuestionHandler
from pegboard_plugins.servers.other_servers.server_items import (
    Item,
    are_unsuitable,
    call_named,
    found_in,
    has_failed,
    lists_of,
    parameters_hint,
    print_called,
    print_lists,
    print_shown,
    say_error,
)
from pegboard_plugins.servers.other_servers.server_options import check_server_options
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from pegboard_plugins.support.pasted_redirect import PastedRedirect, show_login_page

_QUIET_SECONDS = 5.0
"""How long a server may take to respond before a person at a terminal is told."""
STDERR_LINES = 20
"""The last lines of a program's standard error that are printed if it fails."""
_ALL = "`pegboard list` with the same options"

T = TypeVar("T")


def list_server(command: CommandContext) -> int:
    """List the tools, prompts, resources and resource templates of the server."""
    lists = use_server(command, lists_of)
    if command.options.json:
        print_json(lists)
    else:
        print_lists(lists)
    return 0


def show_item(command: CommandContext) -> int:
    """Show one tool, prompt or resource of the server."""

    async def find(client: Client) -> tuple[str, Item]:
        return found_in(await lists_of(client), command.options.tool, _ALL)

    kind, item = use_server(command, find)
    if command.options.json:
        print_json(item)
    else:
        print_shown(kind, item)
    return 0


def call_item(command: CommandContext) -> int:
    """Call a tool, get a prompt, or read a resource, and print the result.

    A task continues after the command, so without an address, the running server of the configuration has the task.
    """
    options = command.options
    arguments = parse_arguments(options.arguments)
    task = WatchedTask()

    async def call(client: Client) -> tuple[str, Item, Item]:
        if options.resume is not None:
            return "tools", {}, await client.task(options.resume, watch=task)
        shows = options.verbose or is_interactive()
        kind, item = (
            ("resources", {})
            if "://" in options.tool
            else found_in(await lists_of(client, "tools", "prompts"), options.tool, _ALL)
        )
        if options.task and kind == "tools":
            return kind, item, await client.call_as_task(item["name"], arguments, watch=task)
        progress = show_progress if shows else None
        return kind, item, await call_named(client, (kind, item), options.tool, arguments, progress)

    try:
        kind, item, result = use_server(command, call)
    except KeyboardInterrupt:
        if task.id:
            say(f"the task goes on; to wait for it, add to the command: --resume {task.id}")
        raise
    finally:
        clear_progress()
    if not has_failed(result) or options.json:
        print_called(kind, result, as_json=options.json)
        return 1 if has_failed(result) else 0
    say_error(result)
    if are_unsuitable(arguments, item):
        say(parameters_hint(f"`pegboard show {options.tool}` with the same options"))
    return 1


class WatchedTask:
    """Shows the states of a task.

    Attributes:
        id: the id of the task; "" before its creation.
    """

    def __init__(self) -> None:
        self.id = ""
        self._shown: Any = None

    def __call__(self, task: Mapping[str, Any]) -> None:
        if not self.id:
            self.id = str(task.get("taskId"))
            say(f"the task {self.id} has begun")
        message = task.get("statusMessage") or task.get("status")
        if message != self._shown and task.get("status") == "working":
            self._shown = message
            say(f"{message}")


# --- the connection


def use_server(command: CommandContext, use: Callable[[Client], Awaitable[T]]) -> T:
    """Connect to the server, and return the result of a function.

    Raises:
        MCPError: the server cannot be reached, requires a login, or responds with an error.
    """
    options = command.options
    check_server_options(options)
    url, headers = options.url, dict(options.header)
    if not (url or options.stdio):
        url, token = command.running_server()
        headers["Authorization"] = f"Bearer {token}"
    heard: deque[str] = deque(maxlen=STDERR_LINES)

    async def connected() -> T:
        gc.enable()
        asks = is_interactive()
        address = _address(options, url, headers, heard)
        capabilities = Terminal.capabilities if asks else {}
        ask = ask_at_terminal(address.label) if asks else None
        slow = asyncio.get_running_loop().call_later(_QUIET_SECONDS, _tell_of_slow, address.label)
        try:
            async with Client(address, ask=ask, capabilities=capabilities) as client:
                slow.cancel()
                return await use(client)
        finally:
            slow.cancel()

    try:
        with diverted():
            return asyncio.run(connected())
    except LoginRequiredError as error:
        if error.problem or options.login:
            raise
        raise MCPError(f"{error} {_login_advice(options, url, offers_login=error.offers_login)}") from None
    except TransportError:
        for line in heard:
            say(f"{options.stdio[0]}: {line}")
        raise


def _login_advice(options: Namespace, url: str, *, offers_login: bool) -> str:
    """Return how to give the server a token that it accepts."""
    if _has_token(options.header):
        return "Give another token" + (", or --login in place of the header." if offers_login else ".")
    named = "" if options.url else f"--url {url} "
    header = f"{named}--header 'Authorization: Bearer TOKEN'"
    if offers_login:
        return f"Add {named}--login to log in, or {header}."
    return f"Add {header}, or {named}--login if it has an authorization server."


def _has_token(headers: Iterable[tuple[str, str]]) -> bool:
    return any(name.lower() == "authorization" for name, _ in headers)


def _tell_of_slow(label: str) -> None:
    if is_interactive():
        say(f"waiting for the first response of {label}; stop with Ctrl-C")


def _address(options: Namespace, url: str, headers: Mapping[str, str], heard: deque[str]) -> Endpoint | Program:
    if options.stdio:

        def hear(line: str) -> None:
            if options.verbose:
                say(f"{options.stdio[0]}: {line}")
            else:
                heard.append(line)

        return Program(options.stdio[0], options.stdio[1:], stderr=hear)
    if _has_token(headers.items()):
        return Endpoint(url, headers)
    store, redirect = SavedLogins(os.environ), PastedRedirect() if options.no_browser else None
    open_page = partial(show_login_page, pastes=options.no_browser, opens=not options.no_browser)
    auth = OAuth(open_page if options.login else None, client_name="pegboard", store=store, redirect=redirect)
    return Endpoint(url, headers, auth)


def ask_at_terminal(label: str) -> QuestionHandler:
    """Return a function that asks the person at the terminal."""
    terminal = Terminal()

    async def ask(request: Asked) -> Mapping[str, Any]:
        say(f"{label} asks:")
        try:
            return await terminal(request.method, dict(request.params))
        except ClientError as error:
            raise ProtocolError(METHOD_NOT_FOUND, str(error)) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            say("the question is invalid and is refused")
            raise ProtocolError(INVALID_PARAMS, "the question is invalid") from error

    return ask


# --- Logins at MCP servers in the state directory of the user. Only the user can read the files.


class SavedLogins:
    """A `TokenStore` with one file for each server.

    Args:
        environ: the environment variables that select the state directory.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._files = StateFiles(environ)

    async def load(self, server: str) -> Mapping[str, Any] | None:
        """Return the login at a server. A damaged file counts as absent."""
        try:
            content = self._files.read(_file(server))
        except OSError as error:
            raise MCPError(f"the login at {server} cannot be read: {error.strerror or error}") from error
        try:
            login = None if content is None else decode(content)
        except ValueError:
            return None
        return login if isinstance(login, dict) else None

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the login at a server."""
        try:
            if login is None:
                self._files.remove(_file(server))
            else:
                self._files.write(_file(server), encode(login))
        except OSError as error:
            raise MCPError(f"the login at {server} cannot be saved: {error.strerror or error}") from error


def _file(server: str) -> str:
    return f"login-{sha256(server.encode()).hexdigest()[:32]}.json"
