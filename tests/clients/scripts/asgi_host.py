"""A host with `hostconfig.toml` as an ASGI application: `alone`, and `mounted` in an application of FastAPI."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI  # type: ignore[import-not-found]  # of the server's environment

from pegboard import Host
from pegboard.config import HostConfig
from pegboard.loading.discovery import defaults

host = Host(HostConfig.load(Path("hostconfig.toml"), environ=os.environ, defaults=defaults()))
alone = host.asgi()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with host:
        yield


mounted = FastAPI(lifespan=lifespan)
mounted.add_api_route("/hello", lambda: "hello")
mounted.mount("/tools", alone)
mounted.mount("/", alone)
