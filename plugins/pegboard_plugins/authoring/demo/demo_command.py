"""`pegboard demo`: a client calls the tools of a server, and each message is shown. It needs no file and no network."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.plugin import CommandContext, decode
from pegboard.terminal import OutputError, print_json, print_lines, print_text
from pegboard_client import Asked, ChildProcess, Client, Program, Stream, start_process
from pegboard_plugins.authoring.demo.demo_shop import SHOP

MAX_LINE_CHARACTERS = 110
STEPS = (
    ("pegboard demo --code > shop.py", "keep this server, and change it"),
    ("pegboard configure claude-code shop.py", "use it in Claude Code; `pegboard configure -h` has other clients"),
    ("pegboard new toolkit weather", "write a toolkit of your own, with tests"),
)


class SentMessage(TypedDict):
    """A message of `pegboard demo`, and its sender."""

    sender: Literal["client", "server"]
    message: dict[str, Any]


class DemoOutput(TypedDict):
    """The output of `pegboard demo`: the messages, the errors in the log of the server, and the next commands."""

    messages: list[SentMessage]
    log: list[str]
    next: list[str]
    seconds: float


def run_demo(command: CommandContext) -> int:
    """Start the server in a child process, call each tool, and print the messages and the next steps."""
    options = command.options
    if options.code:
        print_text(SHOP.rstrip())
        return 0
    with TemporaryDirectory(prefix="pegboard-demo-") as folder:
        file = Path(folder, "shop.py")
        file.write_text(SHOP, "utf-8")
        shown, log, seconds = asyncio.run(_demonstrate(file, options))
    if options.json:
        steps = [command for command, _ in STEPS]
        print_json(DemoOutput(messages=shown.recorded, log=log, next=steps, seconds=seconds))
        return 0
    width = max(len(command) for command, _ in STEPS)
    print_lines(
        [
            "",
            f"Done in {seconds:.1f} s, over standard input and output of a process. Next:",
            *(f"  {command:{width}}  {purpose}" for command, purpose in STEPS),
        ]
    )
    return 0


async def _demonstrate(file: Path, options: Namespace) -> tuple[ShownMessages, list[str], float]:
    """Call the tools. Return the messages, the log of the server, and the duration in seconds."""
    tell = _ignore if options.json else _tell
    gc.enable()
    loop = asyncio.get_running_loop()
    start = loop.time()
    log: list[str] = []
    program = Program(sys.executable, ("-m", "pegboard", "stdio", str(file)), cwd=file.parent, stderr=log.append)
    process = await start_process(program)
    shown = ShownMessages(process, full=bool(options.verbose), prints=not options.json)
    async with Client(Stream(shown, "the demo server"), ask=_answer) as client:
        tell("This demo starts a server in a child process, and connects a client to it.")
        about = "This is a tool of the server. Its types are its schema, and its docstring its description:"
        tell(about, *SHOP.splitlines()[8:12])
        tell("A client lists the tools:")
        shown.is_shown = True
        await client.tools()
        tell("The client calls a tool:")
        await client.call("shop_price", {"product": "tea", "amount": 3})
        tell("A wrong argument gets an answer that a model can act on:")
        await client.call("shop_price", {"product": "coffee"})
        tell("A long call reports its progress:")
        await client.call("shop_pack", {"parcels": 2}, progress=_ignore)
        tell("A tool can ask the user:")
        await client.call("shop_order", {"product": "honey"})
        tell("An unexpected error may disclose a password. The client gets only its id:")
        await client.call("shop_stock", {})
        shown.is_shown = False
    if shown.failure:
        raise shown.failure
    errors = [line.partition("]: ")[2] for line in log if " ERROR " in line]
    tell("The log of the server has the details:", *errors)
    return shown, errors, loop.time() - start


class ShownMessages:
    """A message stream that prints the messages in both directions.

    Args:
        stream: the stream to the server.
        full: print whole messages. Otherwise only their main members are printed.
        prints: print messages. Otherwise they are only recorded.

    Attributes:
        is_shown: True to print and record messages.
        recorded: the messages, each with its sender.
        failure: the error that ended the output, or None if there is none.
    """

    def __init__(self, stream: ChildProcess, *, full: bool, prints: bool) -> None:
        self.is_shown = False
        self.recorded: list[SentMessage] = []
        self.failure: OSError | OutputError | None = None
        self._stream = stream
        self._full = full
        self._prints = prints
        self.drain = stream.drain
        self.close = stream.close

    def send(self, message: bytes) -> None:
        """Send a message, and print it."""
        self._show("-->", message)
        self._stream.send(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the server, after printing each."""
        async for message in self._stream.messages():
            self._show("<--", message)
            yield message

    def _show(self, arrow: str, message: bytes) -> None:
        if not self.is_shown:
            return
        self.recorded.append({"sender": "client" if arrow == "-->" else "server", "message": decode(message)})
        if not self._prints:
            return
        try:
            self._print(arrow, message)
        except (OSError, OutputError) as error:  # the reader of the output is gone
            self.is_shown = False
            self.failure = error

    def _print(self, arrow: str, message: bytes) -> None:
        if self._full:
            print_lines([f"  {arrow} {message.decode()}"])
            return
        content = decode(message)
        result = content.get("result")
        for name, value in _parts(content) if result is None or "tools" not in result else _tools(result["tools"]):
            text = json.dumps(value, ensure_ascii=False)
            print_lines([f"  {arrow} {_shortened(f'{name} {text}'.strip())}"])


def _tools(tools: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return each tool of a list with its parameters."""
    return [
        (f"{tool['name']}: {tool['description']}", list(tool["inputSchema"].get("properties", {}))) for tool in tools
    ]


def _parts(content: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the main members of a message, each with its name."""
    if "method" in content:
        params = content["params"]
        hidden = ["_meta", "progressToken", "requestState", *(["arguments"] if "inputResponses" in params else [])]
        return [(content["method"], {key: value for key, value in params.items() if key not in hidden})]
    if "error" in content:
        return [("error", content["error"])]
    result = content["result"]
    if "inputRequests" in result:
        return [(request["method"], request["params"]["message"]) for request in result["inputRequests"].values()]
    if "structuredContent" in result:
        return [("result", result["structuredContent"])]
    lines = [line for block in result["content"] for line in block["text"].splitlines() if line]
    return [("error" if result["isError"] else "result", line) for line in lines]


async def _answer(question: Asked) -> Mapping[str, Any]:
    return {"action": "accept", "content": {"value": "Ada"}}


def _ignore(*_ignored: object) -> None:
    """Ignore progress, whose messages are printed already, and explanations if the output is JSON."""


def _tell(text: str, *lines: str) -> None:
    """Print an explanation, and the lines that it is about."""
    print_lines(["", text, *(f"  {line}" for line in lines)])


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARACTERS else f"{text[: MAX_LINE_CHARACTERS - 3]}..."
