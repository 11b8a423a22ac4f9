"""The wrong calls, and the answers of a server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

SHOP = Path(__file__).with_name("shop.py")
PASSENGERS = [{"name": "Ada"}]


class WrongCall(NamedTuple):
    """A call with a mistake that models make.

    Attributes:
        tool: the name of the tool.
        arguments: the arguments.
    """

    tool: str
    arguments: Any


CALLS = (
    WrongCall("add", {"a": 1}),
    WrongCall("add", {"a": "one", "b": 2}),
    WrongCall("add", {"a": 1.5, "b": 2}),
    WrongCall("add", {"a": True, "b": 2}),
    WrongCall("add", {"a": 1, "b": 2, "c": 3}),
    WrongCall("search", {"qurey": "bees"}),
    WrongCall("search", {"query": 5}),
    WrongCall("search", {"query": "bees", "limit": 1000}),
    WrongCall("search", {"query": "bees", "limit": None}),
    WrongCall("search", {"query": "bees", "order": "newst"}),
    WrongCall("search", {"query": "bees", "order": 1}),
    WrongCall("search", {"query": "bees", "tags": "honey"}),
    WrongCall("search", {"query": "bees", "tags": '["honey", "wax"]'}),
    WrongCall("search", {"query": "bees", "since": "yesterday"}),
    WrongCall("book", {"passengers": PASSENGERS[0]}),
    WrongCall("book", {"passengers": PASSENGERS, "extras": '{"meal": "vegan"}'}),
    WrongCall("book", {"passengers": [{"name": 5}, {"born": "1815"}]}),
    WrongCall("sign_in", {"user": "ada", "password": ["hunter2"]}),
    WrongCall("serch", {"query": "bees"}),
    WrongCall("add", [1, 2]),
)


def answers(python: Path, *arguments: str) -> list[str]:
    """Start a server, and return its answers to all wrong calls."""
    command = [str(python), str(SHOP), *arguments]
    with subprocess.Popen(
        command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True, cwd=SHOP.parent
    ) as server:
        try:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}
            _ask(server, 0, "initialize", hello)
            _send(server, {"method": "notifications/initialized"})
            calls = enumerate(CALLS, start=1)
            return [
                _text(_ask(server, number, "tools/call", {"name": call.tool, "arguments": call.arguments}))
                for number, call in calls
            ]
        finally:
            server.kill()


def _ask(server: subprocess.Popen[str], number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    _send(server, {"id": number, "method": method, "params": params})
    assert server.stdout is not None
    for line in server.stdout:
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == number:
            return message
    raise EOFError(f"the server ended before its answer to {method}")


def _send(server: subprocess.Popen[str], message: Mapping[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def _text(answer: Mapping[str, Any]) -> str:
    """Return the text of an answer. The text of a success and the number of a JSON-RPC error are marked."""
    if error := answer.get("error"):
        return f"JSON-RPC {error['code']}: {error['message']}"
    result = answer["result"]
    text = "\n".join(str(block.get("text")) for block in result["content"])
    return text if result.get("isError") else f"accepted: {text}"
