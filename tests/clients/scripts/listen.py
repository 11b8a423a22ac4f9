"""Serve an ASGI application at a free port: `listen.py uvicorn|hypercorn MODULE:NAME`. It ends at SIGTERM with 0."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from importlib import import_module
from typing import Any

sys.path.insert(0, "")
GRACE_SECONDS = 1


async def serve(server: str, app: Any, listener: socket.socket) -> None:
    if server == "uvicorn":
        import uvicorn  # type: ignore[import-not-found]  # of the server's environment

        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE_SECONDS)
        await uvicorn.Server(config).serve(sockets=[listener])
        return
    from hypercorn.asyncio import serve as serve_app  # type: ignore[import-not-found]  # of the server's environment
    from hypercorn.config import Config  # type: ignore[import-not-found]  # of the server's environment

    own = Config()
    own.bind, own.graceful_timeout = [f"fd://{listener.fileno()}"], GRACE_SECONDS
    await serve_app(app, own)


if __name__ == "__main__":
    module, _, name = sys.argv[2].partition(":")
    bound = socket.create_server(("127.0.0.1", 0))
    print(f"serves tools at http://127.0.0.1:{bound.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises the signal again when it has ended
    asyncio.run(serve(sys.argv[1], getattr(import_module(module), name), bound))
