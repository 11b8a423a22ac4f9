"""A check of an entry: a client starts the server as MCP clients do, and lists its items."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import deque
from typing import NamedTuple

from pegboard import MCPError
from pegboard_client import Client, Endpoint, LoginRequiredError, Program
from pegboard_plugins.authoring.configure.server_entry import ServerEntry

ANSWER_SECONDS = 30.0
SLOW_SECONDS = 10.0
"""The time after which clients with a short time limit give up on a server that starts."""
STDERR_LINES = 10
"""The last lines of standard error that are kept."""
MINIMAL_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
"""The PATH of programs that a desktop starts, without the changes that a shell makes."""


class Answer(NamedTuple):
    """The response of a server.

    Attributes:
        problem: the reason why it does not serve, or "" if it does.
        server: its name and version.
        revision: the revision of MCP.
        seconds: the time until it had listed its items.
        items: the names of its tools, resources and prompts.
        stderr: the last lines of its standard error.
    """

    problem: str = ""
    server: str = ""
    revision: str = ""
    seconds: float = 0.0
    items: dict[str, list[str]] = {}  # noqa: RUF012 - it is not changed
    stderr: tuple[str, ...] = ()


def answer_of(entry: ServerEntry) -> Answer:
    """Connect to the server of an entry once: a program starts in the folder / with a minimal environment."""
    stderr: deque[str] = deque(maxlen=STDERR_LINES)
    try:
        answer = asyncio.run(_answer(entry, stderr))
    except LoginRequiredError as error:
        own = "the server requires a login, which the client performs"
        answer = Answer(problem=str(error) if error.refusal else own)
    except (MCPError, OSError) as error:
        answer = Answer(problem=str(error))
    return answer._replace(stderr=tuple(stderr))


async def _answer(entry: ServerEntry, stderr: deque[str]) -> Answer:
    gc.enable()
    if entry.url:
        address: Endpoint | Program = Endpoint(entry.url, headers=entry.headers)
    else:
        command, *arguments = entry.command
        minimal = {} if sys.platform == "win32" else {"PATH": MINIMAL_PATH}
        address = Program(command, arguments, env={**minimal, **entry.env}, cwd="/", stderr=stderr.append)
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with Client(address, timeout=ANSWER_SECONDS) as client:
        declared = client.server.capabilities
        items = {
            "tools": [tool["name"] for tool in await client.tools()] if "tools" in declared else [],
            "resources": [resource["uri"] for resource in await client.resources()] if "resources" in declared else [],
            "prompts": [prompt["name"] for prompt in await client.prompts()] if "prompts" in declared else [],
        }
        name = f"{client.server.name} {client.server.version}".strip() or "the server"
        return Answer("", name, client.revision, loop.time() - start, items)
