"""The capabilities that the host declares to a mounted server with sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.types import LOCAL, Call, Caller
from pegboard.types import Client as CallingClient
from pegboard_client import Client, Program
from tests.plugins.servers.upstreams.mounts import names, peer, toml
from tests.support.wire import PEGBOARD

FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
MORE: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {"listChanged": True},
}
ALLOWED: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "roots": {}}
ANN, BOB = Caller("ann"), Caller("bob")

kit = Toolkit("kit", prefix=False)


@kit.tool
async def declared(context: Context[Any]) -> dict[str, Any]:
    """Return the capabilities of the client, and its session."""
    return {"capabilities": dict(context.client.capabilities), "session": context.session_id}


def mounting(transports: list[str], **section: Any) -> Host:
    server = {"prefix": False, "revision": "2025-11-25", **section}
    config = {
        "host": {"autoload": False, "transports": transports},
        "plugins": {"upstreams": {"servers": {"far": server}, "first_list_seconds": 30}},
    }
    return Host(config, mount={"far": Host({"host": {"autoload": False}}, toolkits={"kit": kit})})


async def seen(host: Host, capabilities: Any, caller: Caller = LOCAL, *, lists: bool = True) -> Any:
    """Return the capabilities that the server sees when a client calls it, and the session."""
    client = CallingClient(revision="2025-11-25", capabilities=capabilities)
    if lists:
        await host.dispatch(Call("tools/list", caller=caller, client=client))
    outcome: Any = await host.dispatch(Call("tools/call", {"name": "declared"}, caller=caller, client=client))
    result = outcome.value["structuredContent"]
    return result["capabilities"], result["session"]


@pytest.mark.parametrize("start", ["eager", "required"])
@pytest.mark.parametrize(("capabilities", "expected"), [({}, {}), (FORMS, FORMS), (MORE, ALLOWED)])
async def test_the_only_client_of_a_host_decides(start: str, capabilities: Any, expected: Any) -> None:
    async with mounting(["stdio"], start=start) as host:
        await host.dispatch(Call("tools/list"))  # it is no request of the client
        assert (await seen(host, capabilities))[0] == expected
        assert (await seen(host, MORE))[0] == expected


async def test_clients_that_share_a_session_decide_nothing() -> None:
    async with mounting(["http"]) as host:
        assert [(await seen(host, capabilities))[0] for capabilities in ({}, MORE)] == [ALLOWED, ALLOWED]


async def test_the_client_of_each_user_decides() -> None:
    async with mounting(["http"], identity="user") as host:
        clients = [(ANN, {}), (BOB, MORE), (ANN, FORMS), (ANN, {})]
        answers = [await seen(host, capabilities, caller) for caller, capabilities in clients]
        assert [capabilities for capabilities, _ in answers] == [{}, ALLOWED, FORMS, {}]
        sessions = [session for _, session in answers]
        assert (len(set(sessions)), sessions[3]) == (3, sessions[0])


async def test_a_client_over_stdio_decides(tmp_path: Path) -> None:
    config = tmp_path / "hostconfig.toml"
    config.write_text("[host]\nautoload = false\n" + toml("far", peer(prefix=False, revision="2025-06-18")))
    program = Program(str(PEGBOARD), ["stdio", "--config", str(config)])
    async with Client(program, capabilities=FORMS) as client:
        assert "declared" in await names(client)
        assert (await client.call("declared"))["structuredContent"] == FORMS
