"""A program that mounts peers: `mounting_program.py CONFIG NAMES`. It serves them over HTTP.

CONFIG is the configuration as JSON. NAMES are the peers that it makes itself, separated by commas. It runs in an
environment with pegboard, the official SDK and FastMCP.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).with_name("servers")))

from pegboard import Host


def made(name: str) -> Any:
    """Return the server of a name such as "fastmcp_object"."""
    if name.startswith("peg"):
        from pegboard_peer import host  # type: ignore[import-not-found]

        return host(name)
    from library_peer import server  # type: ignore[import-not-found]

    return server(name, "sdk" if name.startswith("sdk") else None)


async def main() -> None:
    """Serve until the process is ended."""
    objects = {name: made(name) for name in filter(None, sys.argv[2].split(","))}
    async with Host(json.loads(sys.argv[1]), mount=objects) as host:
        await host.run()


asyncio.run(main())
