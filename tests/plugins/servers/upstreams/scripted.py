"""A scripted server on standard input and output: `python scripted.py FILE`.

The file maps methods to results. The value "hang" sends no response, "block" stops reading, and "exit" ends
the process. Of a list, each
result is used once, and the last one again and again. The server first reads the file `gate`: it waits if that is a
FIFO which nobody writes. A `tools/call` without a result returns the environment variable
that its argument names.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "scripted", "version": "1"},
}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        script: dict[str, Any] = {"initialize": INITIALIZE, "ping": {}, **json.load(file)}
    if "gate" in script:
        with open(script["gate"], encoding="utf-8") as gate:
            gate.read()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = script.get(message["method"])
        if isinstance(result, list):
            result = result.pop(0) if len(result) > 1 else result[0]
        if result == "exit":
            sys.exit(3)
        if result == "block":
            signal.pause()
        if message["method"] == "tools/call" and result is None:
            name = message["params"]["arguments"].get("name", "")
            result = {"content": [{"type": "text", "text": os.environ.get(name, "")}]}
        if result is None:
            say({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        elif result != "hang":
            say({"id": message["id"], "result": result})


if __name__ == "__main__":
    main(sys.argv[1])
