"""Metrics for Prometheus: counts of calls and sessions, gauges, and the protection of the endpoint."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families

from pegboard import Host, ToolExecutionError, Toolkit
from pegboard.errors import ConfigError, LifespanError
from pegboard.plugin import PluginError
from pegboard.types import Call
from pegboard_plugins.operation.prometheus.metrics_endpoint import MetricsEndpoint
from tests.host.hosting import Waiting, call, kit_of, work
from tests.support.asgi import open_session, send

TOKEN = "7c1f5a0e9b3d48269c5e1f7a0b4d8e63"


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    async def work(fail: bool = False) -> str:
        """Work."""
        if fail:
            raise ToolExecutionError("It failed.")
        return "done"

    kit.prompt(name="p", description="Greet.")(lambda: "Say hello.")
    return kit


def host_of(*, idle_seconds: float = 60, **prometheus: Any) -> Host:
    plugins = {"http": {}, "mcp": {"session_idle_seconds": idle_seconds}, "prometheus": {"port": 0, **prometheus}}
    return Host({"host": {"autoload": False}, "plugins": plugins}, toolkits={"x": make_kit()})


@pytest.fixture(autouse=True)
def port(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the port of the metrics."""
    ports: list[int] = []
    listen = MetricsEndpoint.listen

    def noting(self: MetricsEndpoint) -> Any:
        close = listen(self)
        ports.append(self.port)
        return close

    monkeypatch.setattr(MetricsEndpoint, "listen", noting)
    return ports


def read(text: str) -> dict[tuple[str, ...], float]:
    """Return the samples of a scrape without buckets, by the name and the values of the sorted labels."""
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for sample in samples
        if not sample.name.endswith("_bucket")
    }


async def scrape(port: int) -> dict[tuple[str, ...], float]:
    def get() -> str:
        with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
            return str(response.read(), "utf-8")

    return read(await asyncio.to_thread(get))


async def test_requests_are_counted_by_the_names_of_the_catalogue_and_kinds_of_errors(port: list[int]) -> None:
    async with host_of() as host:
        for name, arguments in (("x_work", {}), ("x_work", {"fail": True}), ("x_work", {"fail": 7}), ("none", {})):
            await call(host, name, arguments)
        await host.dispatch(Call("tools/call", {"name": ["not", "a", "name"]}))
        await host.dispatch(Call("prompts/get", {"name": "x_p"}))
        await host.dispatch(Call("resources/read", {"uri": "x://none"}))
        samples = await scrape(port[0])
        counts = {key[1:]: value for key, value in samples.items() if key[0] == "pegboard_call_duration_seconds_count"}
        errors = {key[1:]: value for key, value in samples.items() if key[0] == "pegboard_call_errors_total"}
        assert counts == {
            ("tools/call", "x_work"): 3,
            ("tools/call", ""): 2,
            ("prompts/get", "x_p"): 1,
            ("resources/read", ""): 1,
        }
        assert errors == {
            ("TOOL_RUNTIME_FATAL", "tools/call", "x_work"): 1,
            ("TOOL_RUNTIME_BAD_INPUT_VALUE", "tools/call", "x_work"): 1,
            ("NotFoundError", "tools/call", ""): 1,
            ("-32602", "tools/call", ""): 1,
            ("NotFoundError", "resources/read", ""): 1,
        }
        assert samples["pegboard_items", "tools"] == 1
    with pytest.raises(URLError):
        await scrape(port[0])


async def test_counts_of_removed_tools_are_forgotten(port: list[int]) -> None:
    async with host_of() as host:
        (name,) = host.catalogue.add(work)
        await call(host, name)
        assert ("pegboard_call_duration_seconds_count", "tools/call", name) in await scrape(port[0])
        host.catalogue.remove("tools", name)
        assert ("pegboard_call_duration_seconds_count", "tools/call", name) not in await scrape(port[0])


async def test_a_cancelled_call_is_counted(port: list[int]) -> None:
    waiting = Waiting()
    kit = kit_of(waiting, name="y_wait")
    async with Host({"host": {"autoload": False}, "plugins": {"prometheus": {"port": 0}}}, toolkits={"y": kit}) as host:
        running = asyncio.create_task(call(host, "y_wait"))
        await waiting.begun.wait()
        assert (await scrape(port[0]))["pegboard_calls_running",] == 1
        running.cancel()
        await asyncio.wait((running,))
        assert (await scrape(port[0]))["pegboard_call_errors_total", "cancelled", "tools/call", "y_wait"] == 1


async def test_streams_and_sessions_are_counted_until_they_end(port: list[int]) -> None:
    async with host_of() as host:
        app = host.asgi()
        named = await open_session(app)
        listening = send(app, "GET", "/mcp", [("Accept", "text/event-stream"), named])
        await listening.head()
        samples = await scrape(port[0])
        assert (samples["pegboard_http_requests",], samples["pegboard_http_streams",]) == (0, 1)
        assert (samples["pegboard_sessions",], samples["pegboard_sessions_started_total", "http"]) == (1, 1)
        listening.tell("http.disconnect")
        await listening.ended()
        assert (await scrape(port[0]))["pegboard_http_streams",] == 0
        await send(app, "DELETE", "/mcp", [named]).answer()
        samples = await scrape(port[0])
        assert (samples["pegboard_sessions",], samples["pegboard_session_duration_seconds_count", "http"]) == (0, 1)


async def test_an_expired_session_is_no_longer_counted(port: list[int]) -> None:
    async with host_of(idle_seconds=0.001) as host:
        app = host.asgi()
        expired = await open_session(app)
        while (await send(app, "DELETE", "/mcp", [expired]).answer()).status != 404:
            expired = await open_session(app)  # the clock is coarse
        samples = await scrape(port[0])
        ended = samples["pegboard_session_duration_seconds_count", "http"]
        assert (samples["pegboard_sessions",], samples["pegboard_sessions_started_total", "http"]) == (0, ended)


@pytest.mark.parametrize(
    ("name", "status"), [("127.0.0.1", 200), ("localhost:9464", 200), ("[::1]", 200), ("evil.example", 421), ("[", 421)]
)
async def test_the_port_serves_no_foreign_host(port: list[int], name: str, status: int) -> None:
    async with (
        host_of(),
        ClientSession() as client,
        client.get(f"http://127.0.0.1:{port[0]}/metrics", headers={"Host": name}) as response,
    ):
        assert response.status == status


async def test_the_http_server_serves_the_metrics_only_with_the_token(port: list[int]) -> None:
    async with host_of(token=TOKEN) as host:
        app = host.asgi()
        await call(host, "x_work")

        async def get(*fields: tuple[str, str]) -> Any:
            return await send(app, "GET", "/metrics", fields).answer()

        for refused in (await get(), await get(("Authorization", f"Bearer {TOKEN}x"))):
            assert (refused.status, b"pegboard" in refused.body) == (401, False)
        answer = await get(("Authorization", f"Bearer {TOKEN}"))
        assert (answer.status, dict(answer.fields)["content-type"].split(";")[0]) == (200, "text/plain")
        assert read(answer.text)["pegboard_call_duration_seconds_count", "tools/call", "x_work"] == 1
        assert port == []


@pytest.mark.parametrize(
    ("name", "missing"),
    [("opentelemetry", "opentelemetry"), ("opentelemetry", "opentelemetry.sdk"), ("prometheus", "prometheus_client")],
)
async def test_a_missing_library_is_named_with_a_fix(name: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.sdk", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    config = {"host": {"autoload": False}, "plugins": {name: {}}}
    with pytest.raises(PluginError, match=f"pip install {name}"):
        await Host(config).start()


async def test_a_port_in_use_and_a_weak_token_are_refused_with_the_fix() -> None:
    in_use = r"cannot be opened: .*; set \[plugins.prometheus\] port"
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(LifespanError, match=in_use):
        await host_of(port=taken.getsockname()[1]).start()
    with pytest.raises(ConfigError, match="openssl rand -hex 32"):
        await host_of(token="secret").start()
