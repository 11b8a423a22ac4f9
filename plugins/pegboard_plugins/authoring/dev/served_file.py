"""The file of `pegboard dev`. Its newest working version runs in a child process, to which a client is connected."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pegboard
from pegboard.errors import MCPError
from pegboard.terminal import printable, say, watch_sources
from pegboard_client import Client, Program, QuestionHandler
from pegboard_plugins.servers.other_servers.server_items import ITEM_KINDS, Item, lists_of

REVISION = "2025-11-25"
"""The newest revision with sessions, so that tools keep data from one call to the next."""
START_SECONDS = 30.0
"""The time limit for the start of a version, including the lists of its items."""


class FileVersion:
    """One version of the file.

    Attributes:
        client: the client of its process.
        lists: its tools, resources and prompts.
        turn: held during a call and at the end of the process.
    """

    def __init__(self, client: Client, lists: dict[str, list[Item]], process: AsyncExitStack) -> None:
        self.client = client
        self.lists = lists
        self.turn = asyncio.Lock()
        self._process = process

    def items(self) -> dict[str, Item]:
        """Return the tools, prompts and resources by name."""
        return {str(item.get(ITEM_KINDS[kind].key)): item for kind, items in self.lists.items() for item in items}

    async def end(self) -> None:
        """End the process after the running call."""
        async with self.turn:
            await self._process.aclose()


class ServedFile:
    """Starts a process for each version of a file, and keeps the last process that works.

    Args:
        options: the options of the command line, with the file.
        ask: answers the questions of tools; None if they cannot be asked.
        capabilities: the capabilities of the client.

    Attributes:
        version: the last version that works; None if there is none.
    """

    def __init__(self, options: Namespace, ask: QuestionHandler | None, capabilities: Mapping[str, Any]) -> None:
        self.version: FileVersion | None = None
        self._loaded = asyncio.Event()
        self._file: Path = options.path
        self._options = options
        self._ask = ask
        self._capabilities = capabilities
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None

    async def follow(self) -> None:
        """Start a version now and after each change, until this is cancelled. Then end the process."""
        changed = asyncio.Event()
        self._watching = asyncio.create_task(self._watch(changed.set))
        loading: asyncio.Task[None] | None = None
        try:
            while True:
                await changed.wait()
                changed.clear()
                await _end(loading)
                loading = asyncio.create_task(self._load())
        finally:
            await _end(self._watching)
            await _end(loading)
            if self.version is not None:
                self._retire(self.version)
            if self._tasks:
                await asyncio.wait(self._tasks)

    async def _watch(self, changed: Callable[[], None]) -> None:
        settings = (str(self._options.config or "hostconfig.toml"), ".env")
        await watch_sources([str(self._file.resolve().parent)], settings, changed)

    async def wait_loaded(self) -> None:
        """Wait while a version is being started."""
        await self._loaded.wait()

    async def restart(self) -> None:
        """Start the file again. If this is cancelled, the start continues."""
        self._keep(loading := asyncio.create_task(self._load()))
        await asyncio.shield(loading)

    async def _load(self) -> None:
        """Start a version. If it works, replace the last one, which ends after its running call.

        Only `follow` cancels this, and starts the next version at once. Commands then wait for the next version.
        """
        self._loaded.clear()
        try:
            async with asyncio.timeout(START_SECONDS):
                new = await self._started()
        except (MCPError, TimeoutError) as error:
            # what the process printed names the file, the line and the problem
            slow = f"{self._file} did not start in {START_SECONDS:.0f} s" if isinstance(error, TimeoutError) else ""
            stays = "the last working version stays" if self.version else "there is no working version yet"
            say("; ".join(text for text in (slow, stays, f"correct {self._file.name} and save it") if text), 40)
        else:
            old, self.version = self.version, new
            is_watched = self._watching is not None and not self._watching.done()
            say(_news(self._file.name, old, new, is_watched=is_watched))
            if old is not None:
                self._retire(old)
        self._loaded.set()

    async def _started(self) -> FileVersion:
        async with AsyncExitStack() as stack:
            client = Client(
                self._program(),
                name="pegboard dev",
                revision=REVISION,
                ask=self._ask,
                capabilities=self._capabilities,
                on_notification=_say_log,
                timeout=None,
            )
            await stack.enter_async_context(client)
            if "logging" in client.server.capabilities:
                await client.request("logging/setLevel", {"level": "debug"})
            return FileVersion(client, await lists_of(client), stack.pop_all())

    def _program(self) -> Program:
        options = self._options
        words = ["--config", str(options.config)] if options.config else []
        words += ["--only", ",".join(options.only)] if options.only else []
        words += [word for file in options.file for word in ("--file", str(file))]
        words += [name for name, is_set in (("--strict", options.strict), ("--safe", options.safe)) if is_set]
        words += ["-v"] * options.verbose
        # without -B, a second save in the same second could find the compiled code of the first
        command = ("-B", "-m", "pegboard", "stdio", str(self._file), *words)
        return Program(sys.executable, command, env=os.environ, stderr=ServerLines(verbose=bool(options.verbose)))

    def _retire(self, version: FileVersion) -> None:
        self._keep(asyncio.create_task(version.end()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        """Keep a task until its end. The event loop has only weak references."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _end(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and wait for its end."""
    if task is not None:
        task.cancel()
        await asyncio.wait((task,))


def _news(name: str, old: FileVersion | None, new: FileVersion, *, is_watched: bool) -> str:
    """Return the message about a new version: the number of its tools, or its differences from the last version."""
    if old is None:
        tools = len(new.lists.get("tools", ()))
        count = "1 tool" if tools == 1 else f"{tools} tools"
        reloads = ", and each save reloads it" if is_watched else ""
        return f"{name} serves {count}{reloads}; `help` shows the commands, and Ctrl-D ends"
    before, now = old.items(), new.items()
    differences = {
        "added": [item for item in now if item not in before],
        "changed": [item for item in now if item in before and now[item] != before[item]],
        "removed": [item for item in before if item not in now],
    }
    texts = [f"{word} {', '.join(names)}" for word, names in differences.items() if names]
    return f"{name} is reloaded" + (f": {'; '.join(texts)}" if texts else "")


def _say_log(method: str, params: Mapping[str, Any]) -> None:
    """Print the log messages of a tool."""
    if method == "notifications/message":
        data = params.get("data")
        say(f"{params.get('level')}: {printable(data if isinstance(data, str) else repr(data))}")


# --- The standard error of the process of `pegboard dev`, in the words of a prompt.

_INDENT = "    "
"""The indentation of the lines after the first line of a log record."""
_RECORD = re.compile(r"\d{4}-\d\d-\d\dT\S+Z (?P<level>[A-Z]+) (?P<logger>[\w.]+)(?: \[[^]]*\])?: (?P<message>.*)")
_FRAME = re.compile(rf'{_INDENT}  File "(?P<file>.+)", line \d+')
_OF_FRAME = _INDENT * 2
_PACKAGE = f"{Path(pegboard.__file__).parent}{os.sep}"


class ServerLines:
    """Prints lines: log records without time and caller, and tracebacks without the frames of pegboard.

    Args:
        verbose: True to print all lines unchanged.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._is_frame_hidden = False

    def __call__(self, line: str) -> None:
        """Print a line, except log messages that the client also receives, and hidden frames."""
        record = _RECORD.fullmatch(line)
        if record is not None and record["logger"].startswith("pegboard.tools"):
            return
        if self._verbose:
            say(line.removeprefix("pegboard: "))
        elif record is not None:
            say(f"{record['level'].lower()}: {record['message']}")
        elif not self._hides(line):
            say(line.removeprefix("pegboard: ").removeprefix(_INDENT))

    def _hides(self, line: str) -> bool:
        if frame := _FRAME.match(line):
            self._is_frame_hidden = frame["file"].startswith(_PACKAGE)
        elif not line.startswith(_OF_FRAME):
            self._is_frame_hidden = False
        return self._is_frame_hidden
