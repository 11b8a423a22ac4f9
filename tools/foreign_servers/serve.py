"""Serves a file over stdio, or over HTTP: `python serve.py FILE [PORT]`. Runs in the environment of any framework."""

import importlib.util
import random
import sys
from pathlib import Path


def main() -> None:
    """Import the file and run its first server."""
    file = Path(sys.argv[1])
    sys.path.insert(0, str(file.parent))
    if file.parent.parent.name == "src":
        sys.path.append(str(file.parent.parent))
    spec = importlib.util.spec_from_file_location("example", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["example"] = module
    spec.loader.exec_module(module)
    random.seed(1)
    values = vars(module).values()
    server = next(value for value in values if type(value).__name__ in ("FastMCP", "MCPServer", "MCPApp"))
    if len(sys.argv) == 2:
        server.run(transport="stdio")
    else:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]))


main()
