"""A client calls toolkit-files over stdio, on the folder it is started in: the whole of MCP that a first look needs.

Run it with `make demo`. It speaks the protocol by hand, so that every message can be seen; a real client uses an SDK.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from itertools import count
from typing import Any

_ids = count(1)
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "demo", "version": "1"},
}


async def request(server: Process, method: str, **params: Any) -> dict[str, Any]:
    """Send one request and wait for its answer; answers come in any order, but only one is asked for at a time here."""
    assert server.stdin is not None
    assert server.stdout is not None
    message = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": {**params, "_meta": _META}}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    answer = json.loads(await server.stdout.readline())
    if "error" in answer:
        raise SystemExit(f"{method}: {answer['error']['message']}")
    result: dict[str, Any] = answer["result"]
    return result


async def call(server: Process, tool: str, **arguments: Any) -> None:
    """Call a tool and show the beginning of what it gives."""
    result = await request(server, "tools/call", name=tool, arguments=arguments)
    shown = " ".join(f"{name}={value!r}" for name, value in arguments.items())
    text = "\n".join(block["text"] for block in result["content"])
    print(f"\n> {tool} {shown}{'   (an error)' if result['isError'] else ''}\n{text[:600]}")


async def main() -> None:
    """Ask a server who it is and what it can do, then let it do something."""
    command = (sys.executable, "-m", "pegboard", "stdio", "--config", "hostconfig.toml")
    server = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    about = await request(server, "server/discover")
    print("server:", about["_meta"]["io.modelcontextprotocol/serverInfo"])
    print("speaks:", ", ".join(about["supportedVersions"]))
    print("tools:")
    for tool in (await request(server, "tools/list"))["tools"]:
        print(f"  {tool['name']:<18} {tool['description'].splitlines()[0]}")
    await call(server, "files_find", pattern="*.toml")
    await call(server, "files_search", text="def dispatch", path="host")
    await call(server, "files_read", path="hostconfig.toml", end_line=12)
    await call(server, "files_read", path="../secret")
    assert server.stdin is not None
    server.stdin.close()
    print("\nThe server ended with", await server.wait())


if __name__ == "__main__":
    asyncio.run(main())
