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
from typing import Any

from pegboard.cli import OK
from pegboard.cli.demo_shop import SHOP
from pegboard.cli.output import OutputError, print_lines, print_text
from pegboard.client import Asked, Client, Program, Stream
from pegboard.client.addresses import MAX_MESSAGE_BYTES
from pegboard.client.child_process import ChildProcess, start_process
from pegboard.wire.codec import decode

MAX_LINE_CHARACTERS = 110
STEPS = (
    ("pegboard demo --code > shop.py", "keep this server, and change it"),
    ("pegboard configure claude-code shop.py", "use it in Claude Code; `pegboard configure -h` has other clients"),
    ("pegboard new toolkit weather", "write a toolkit of your own, with tests"),
)


def run_demo(options: Namespace) -> int:
    """Start the server in a process of its own, call each tool, and print the messages and the next steps."""
    if options.code:
        print_text(SHOP.rstrip())
        return OK
    with TemporaryDirectory(prefix="pegboard-demo-") as folder:
        file = Path(folder, "shop.py")
        file.write_text(SHOP, "utf-8")
        seconds = asyncio.run(_demonstrate(file, full=bool(options.verbose)))
    width = max(len(command) for command, _ in STEPS)
    print_lines(
        [
            "",
            f"Done in {seconds:.1f} s, over standard input and output of a process. Next:",
            *(f"  {command:{width}}  {purpose}" for command, purpose in STEPS),
        ]
    )
    return OK


async def _demonstrate(file: Path, *, full: bool) -> float:
    """Call the tools, and return the duration in seconds."""
    gc.enable()
    loop = asyncio.get_running_loop()
    start = loop.time()
    log: list[str] = []
    program = Program(sys.executable, ("-m", "pegboard", "stdio", str(file)), cwd=file.parent, stderr=log.append)
    shown = ShownMessages(await start_process(program, MAX_MESSAGE_BYTES), full=full)
    async with Client(Stream(shown, "the demo server"), ask=_answer) as client:
        print_lines(["This demo starts a server in a process of its own, and connects a client to it."])
        _say("This is a tool of the server. Its types are its schema, and its docstring its description:")
        print_lines(f"  {line}" for line in SHOP.splitlines()[8:12])
        _say("A client lists the tools:")
        shown.is_shown = True
        await client.tools()
        _say("The client calls a tool:")
        await client.call("shop_price", {"product": "tea", "amount": 3})
        _say("A wrong argument gets an answer that a model can act on:")
        await client.call("shop_price", {"product": "coffee"})
        _say("A long call reports its progress:")
        await client.call("shop_pack", {"parcels": 2}, progress=_ignore)
        _say("A tool can ask the user:")
        await client.call("shop_order", {"product": "honey"})
        _say("An unexpected error may disclose a password. The client gets only its id:")
        await client.call("shop_stock", {})
        shown.is_shown = False
    if shown.failure:
        raise shown.failure
    _say("The log of the server has the details:")
    print_lines(f"  {line.partition(']: ')[2]}" for line in log if " ERROR " in line)
    return loop.time() - start


class ShownMessages:
    """A message stream that prints the messages in both directions.

    Args:
        stream: the stream to the server.
        full: print whole messages. Otherwise only their main members are printed.

    Attributes:
        is_shown: True to print messages.
        failure: the error that ended the output, None if there is none.
    """

    def __init__(self, stream: ChildProcess, *, full: bool) -> None:
        self.is_shown = False
        self.failure: OSError | OutputError | None = None
        self._stream = stream
        self._full = full
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
        try:
            self._print(arrow, message)
        except (OSError, OutputError) as error:  # the reader of the output is gone
            self.is_shown, self.failure = False, error

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
        return [(content["method"], {key: one for key, one in params.items() if key not in hidden})]
    if "error" in content:
        return [("error", content["error"])]
    result = content["result"]
    if "inputRequests" in result:
        return [(one["method"], one["params"]["message"]) for one in result["inputRequests"].values()]
    if "structuredContent" in result:
        return [("result", result["structuredContent"])]
    lines = [line for block in result["content"] for line in block["text"].splitlines() if line]
    return [("error" if result["isError"] else "result", line) for line in lines]


async def _answer(question: Asked) -> Mapping[str, Any]:
    return {"action": "accept", "content": {"value": "Ada"}}


def _ignore(progress: Mapping[str, Any]) -> None:
    """Ignore progress: its messages are printed already."""


def _say(text: str) -> None:
    print_lines(["", text])


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARACTERS else f"{text[: MAX_LINE_CHARACTERS - 3]}..."
