"""A host with the demo kit that serves the worker protocol, and a caller with a token."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from time import time
from typing import Any, NamedTuple

import jwt
import pytest
import pytest_asyncio

from pegboard.plugin import ProtocolContext
from pegboard.types import Caller, Request, header_fields
from pegboard_plugins.protocols.worker.handlers import WorkerHandlers
from tests.plugins.protocols.worker import demo_kit, more_kit, shapes
from tests.support.distributions import make_distribution
from tests.support.http import Served

SECRET = "0123456789abcdef-a-secret-of-the-tests-that-is-long-enough-for-every-algorithm-there-is"
QUIET = '[host]\ndisabled_toolkits = ["files", "github", "math"]\n'
METHODS = {"health": "GET", "tools": "GET", "tools/invoke": "POST", "resources/list": "POST", "resources/read": "POST"}


class Reply(NamedTuple):
    """A response; its body is JSON, or a string if it is not JSON."""

    status: int
    body: Any
    headers: Mapping[str, str]


def claims(**changes: Any) -> dict[str, Any]:
    """Return the claims of a valid token with changes; None removes a claim."""
    now = int(time())
    members = {"aud": "worker", "ver": "1", "iat": now, "exp": now + 600} | changes
    return {name: value for name, value in members.items() if value is not None}


def token(secret: str = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    return jwt.encode(claims(**changes), secret, algorithm=algorithm)


class Engine:
    """A caller of the worker that checks each response against the description of the protocol."""

    def __init__(self, served: Served, bearer: str | None = None) -> None:
        self._served = served
        self._bearer = bearer

    async def ask(self, method: str, path: str, body: Any = None, *, bearer: str | None = "") -> Reply:
        """Send a request; a body of bytes is sent unchanged."""
        own = self._bearer if bearer == "" else bearer
        fields = [] if own is None else [("Authorization", own)]
        sent = b""
        if body is not None:
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            fields.append(("Content-Type", "application/json"))
        answer = await self._served.request(method, f"/worker/{path}", fields, sent)
        try:
            content = json.loads(answer.body)
        except ValueError:
            content = answer.body.decode()
        if method == METHODS.get(path):
            shapes.check(path, answer.status, content)
        return Reply(answer.status, content, {name.lower(): value for name, value in answer.fields})

    async def invoke(self, tool: str, inputs: Any = None, *, toolkit: str = "DemoKit", **more: Any) -> Any:
        """Call a tool and return its ToolCallResponse."""
        reply = await self.ask("POST", "tools/invoke", {"tool": reference(tool, toolkit), "inputs": inputs, **more})
        assert reply.status == 200, reply
        return reply.body


def reference(name: str, toolkit: str = "DemoKit", **more: Any) -> dict[str, Any]:
    return {"name": name, "toolkit": toolkit, **more}


async def handle(handlers: WorkerHandlers, host: ProtocolContext, handler: str, body: Any = None, **fields: Any) -> Any:
    """Let a handler respond to a service in this process, and return the JSON."""
    caller = Caller(client_id="worker", service=True)
    request = Request("POST", "/", {}, header_fields(), json.dumps(body).encode(), caller)._replace(**fields)
    response = await getattr(handlers, handler)(request, host)
    assert response.status == 200, response
    return json.loads(response.body)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    points = {"demo_kit": "worker_demo_kit:kit", "more_kit": "worker_more_kit:kit"}
    files = {"worker_demo_kit.py": inspect.getsource(demo_kit), "worker_more_kit.py": inspect.getsource(more_kit)}
    make_distribution(folder, "demo-kit", "1.2.3", {"pegboard.toolkits": points}, files)
    return folder


def serve(
    site: Path,
    settings: str = "",
    *,
    http: str = "port = 0",
    host: str = "",
    env: Mapping[str, str] | None = None,
) -> Served:
    """Start a process with settings in `[plugins.worker]`. Without `env` its environment holds the secret."""
    config = f"{QUIET}{host}\n[plugins.http]\n{http}\n\n[plugins.worker]\n{settings}\n"
    return Served(site, config, env={"ARCADE_WORKER_SECRET": SECRET} if env is None else env)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: Path) -> AsyncIterator[Served]:
    async with serve(site) as served:
        yield served


@pytest.fixture
def engine(served: Served) -> Engine:
    return Engine(served, f"Bearer {token()}")
