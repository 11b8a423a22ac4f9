"""Tools that need a secret or a token which the host neither has nor can obtain, in the lists of callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import Middleware
from pegboard.types import ANONYMOUS, LOCAL, Caller, Change, Supplied
from pegboard_plugins.auth.auth_providers import GitHub
from tests.host.hosting import Passing, listed, plugin_of
from tests.plugins.auth.static_tokens.test_static_tokens import Store

FREE, ALL = ["free"], ["free", "keyed", "starred"]
STDIO: dict[str, Any] = {"transport": "stdio"}
HTTP: dict[str, Any] = {"transport": "http", "headers": {}}


def hosting(store: Store, *middleware: Middleware, host: Mapping[str, Any] | None = None, **plugins: Any) -> Host:
    kit = Toolkit("t", prefix=False)
    kit.tool(name="free", description="Need nothing.")(lambda: 1)
    kit.tool(name="keyed", description="Need a key.", requires_secrets=["THE_KEY"])(lambda: 1)
    kit.tool(name="starred", description="Need a token.", requires_auth=GitHub())(lambda: 1)
    section = {"autoload": False, "transports": [], "secret_stores": [], **(host or {})}
    stores = {"store": plugin_of(stores=[store], middleware=middleware)}
    return Host({"host": section, "plugins": plugins}, toolkits={"t": kit}, plugins=stores)


@pytest.mark.parametrize("middleware", [(), (Passing(),)], ids=["alone", "middleware"])
async def test_only_the_operator_on_a_stream_is_not_offered_them(middleware: Any) -> None:
    async with hosting(Store(), *middleware) as host:
        for _ in range(2):
            assert await listed(host, **STDIO) == FREE
            # the worker, the operator and others over HTTP, a program, and other callers of streams
            worker = Caller(client_id="worker", service=True)
            assert await listed(host, worker, supplied=Supplied(), **HTTP) == ALL
            for caller in (LOCAL, Caller("ann"), ANONYMOUS):
                assert await listed(host, caller, **HTTP) == ALL
            assert await listed(host) == await listed(host, Caller("ann"), **STDIO) == ALL


@pytest.mark.parametrize(
    ("secrets", "plugins", "host", "offered"),
    [
        ({"THE_KEY": "k", "GITHUB_TOKEN": "t"}, {}, {}, ALL),
        ({}, {"static_tokens": {"tokens": {"github": "t"}}}, {}, ["free", "starred"]),
        ({"GIT": "t"}, {"static_tokens": {"tokens": {"github": {"secret": "GIT"}}}}, {}, ["free", "starred"]),
        ({}, {"vault": {"providers": {"github": {"client_id": "i"}}}}, {}, ["free", "starred"]),
        ({"THE_KEY": "k"}, {}, {"disabled_plugins": ["static_tokens"]}, ["free", "keyed"]),
        ({"GITHUB_TOKEN": "t"}, {}, {"missing_secrets": "hide"}, ["free", "starred"]),
    ],
    ids=["secrets", "token", "token from a secret", "vault", "no source", "hide"],
)
async def test_what_the_host_has_or_can_obtain_is_offered(
    secrets: Any, plugins: Any, host: Any, offered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    async with hosting(Store(**secrets), host=host, **plugins) as running:
        assert await listed(running, **STDIO) == offered
        assert await listed(running, **HTTP) == (["free", "starred"] if "missing_secrets" in host else ALL)


async def test_a_reload_with_the_token_announces_the_tools() -> None:
    changes: list[Change] = []
    async with hosting(Store()) as host:
        assert await listed(host, **STDIO) == FREE
        host.watch(changes.append)
        section = {"static_tokens": {"tokens": {"github": "t"}}}
        await host.reload(config=replace(host.config, plugins={**host.config.plugins, **section}))
        assert await listed(host, **STDIO) == ["free", "starred"]
    assert [change.kind for change in changes] == ["tools"]
