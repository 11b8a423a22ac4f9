"""Traces, metrics and logs that the real SDK sends to a collector."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from pegboard import Context, Host, ToolExecutionError, Toolkit
from pegboard.plugin import SessionInfo
from pegboard.types import Call, Client, Outcome
from pegboard_plugins.operation.opentelemetry import semantic_attributes
from pegboard_plugins.support.refusal_log import fingerprint
from tests.host.hosting import call, kit_of
from tests.plugins.operation.opentelemetry.otlp_receiver import OtlpReceiver, attributes

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
HTTP_TRACE = "0af7651916cd43dd8448eb211c80319c"
SECRET = "canary-7f3a91-canary"
SPAN = "tools/call work"


def make_kit() -> Toolkit:
    async def work(text: str = "", fail: bool = False) -> str:
        logging.getLogger("toolkit_x").warning("working with %s", SECRET)
        if fail:
            raise ToolExecutionError("It failed.", developer_message="It broke.")
        return f"done {text}"

    async def outer(context: Context) -> Any:
        return str(await context.tools.call_raw("work", {}))

    kit = kit_of(work, outer)
    kit.prompt(name="p", description="Greet.")(lambda: "Say hello.")
    return kit


@asynccontextmanager
async def collecting(
    monkeypatch: pytest.MonkeyPatch, kit: Toolkit | None = None, env: dict[str, str] | None = None, **settings: Any
) -> AsyncIterator[tuple[Host, OtlpReceiver]]:
    """Run a host that sends to a collector. The collector has everything when the host has stopped."""
    async with OtlpReceiver() as collector:
        for name, value in {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **(env or {})}.items():
            monkeypatch.setenv(name, value)
        config = {"host": {"autoload": False}, "plugins": {"opentelemetry": settings}}
        async with Host(config, toolkits={"x": kit or make_kit()}) as host:
            yield host, collector


def work(**fields: Any) -> Call:
    params = {"name": "work", "arguments": {}, "_meta": fields.pop("meta", {})}
    return Call("tools/call", params, **fields)


async def test_a_span_has_the_attributes_of_the_conventions(monkeypatch: pytest.MonkeyPatch) -> None:
    request = work(
        client=Client("c", "1", "2025-11-25"), request_id=7, session_id="s-1", transport="http", peer="192.0.2.1"
    )
    async with collecting(monkeypatch, env={"OTEL_RESOURCE_ATTRIBUTES": "team=red"}) as (host, collector):
        await host.dispatch(request)
    (span,) = collector.spans[SPAN]
    assert (span.kind, span.status.code) == (Span.SPAN_KIND_SERVER, Status.STATUS_CODE_UNSET)
    assert attributes(span.attributes) == {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "work",
        "gen_ai.operation.name": "execute_tool",
        "mcp.protocol.version": "2025-11-25",
        "mcp.session.id": fingerprint("s-1"),
        "jsonrpc.request.id": "7",
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "client.address": "192.0.2.1",
    }
    assert (collector.resource["service.name"], collector.resource["team"]) == ("pegboard", "red")


@pytest.mark.parametrize(
    ("arguments", "name", "expected", "message"),
    [
        (("tools/call", {"name": "work", "arguments": {"fail": True}}), SPAN, "tool_error", ""),
        (("tools/call", {"name": "none"}), "tools/call", "-32602", "Unknown tool: none"),
        (("tools/call", {"name": ["none"]}), "tools/call", "-32602", "params.name must be a string"),
        (("resources/read", {"uri": "x://none"}), "resources/read", "-32002", "Resource not found"),
        (("prompts/get", {"name": "p", "arguments": 7}), "prompts/get p", "-32602", "must be an object"),
    ],
)
async def test_a_failed_request_has_its_error(
    arguments: tuple[str, dict[str, Any]], name: str, expected: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with collecting(monkeypatch) as (host, collector):
        await host.dispatch(Call(*arguments))
    (span,) = collector.spans[name]
    members = attributes(span.attributes)
    assert members["error.type"] == expected
    assert members.get("rpc.response.status_code") == (None if expected == "tool_error" else expected)
    assert span.status.code == Status.STATUS_CODE_ERROR
    assert message in span.status.message


@pytest.mark.parametrize(
    ("meta", "http", "parent", "linked"),
    [
        ({"traceparent": TRACEPARENT, "tracestate": "a=b"}, None, TRACE, None),
        ({"traceparent": TRACEPARENT}, f"00-{HTTP_TRACE}-{PARENT}-01", TRACE, HTTP_TRACE),
        ({}, f"00-{HTTP_TRACE}-{PARENT}-01", HTTP_TRACE, None),
        ({"traceparent": 7, "baggage": ["x"]}, None, None, None),
        ({"traceparent": "nonsense"}, "nonsense", None, None),
    ],
)
async def test_the_parent_is_in_meta_and_the_http_request_is_linked(
    meta: dict[str, Any], http: str | None, parent: str | None, linked: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers: Any = None if http is None else {"traceparent": http}
    async with collecting(monkeypatch) as (host, collector):
        await host.dispatch(work(meta=meta, headers=headers))
    (span,) = collector.spans[SPAN]
    assert (span.parent_span_id.hex() or None) == (PARENT if parent else None)
    assert parent in (span.trace_id.hex(), None)
    assert [link.trace_id.hex() for link in span.links] == ([linked] if linked else [])
    assert span.trace_state == meta.get("tracestate", "")


async def test_tool_calls_and_log_records_belong_to_the_span_of_their_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async with collecting(monkeypatch) as (host, collector):
        await call(host, "outer")
        assert not trace.get_current_span().get_span_context().is_valid
    (outer,), (inner,) = collector.spans["tools/call outer"], collector.spans[SPAN]
    record = next(log for log in collector.logs if "working" in log.body.string_value)
    assert inner.parent_span_id == outer.span_id
    assert (record.trace_id, record.span_id, record.severity_text) == (inner.trace_id, inner.span_id, "WARNING")


async def test_the_log_record_of_a_failure_belongs_to_the_span_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async with collecting(monkeypatch) as (host, collector):
        await call(host, "work", {"fail": True})
        logging.getLogger("pegboard").error("later", extra={"call": work()})
    (span,) = collector.spans[SPAN]
    record, later = (
        next(log for log in collector.logs if text in log.body.string_value) for text in ("It broke.", "later")
    )
    assert (record.trace_id, record.span_id, later.trace_id) == (span.trace_id, span.span_id, b"")


@pytest.mark.needs("upstreams")
async def test_a_request_to_a_mounted_server_continues_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    async with OtlpReceiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        config = {"host": {"autoload": False}, "plugins": {"opentelemetry": {}}}
        async with Host(config, mount={"shop": Host(config, toolkits={"x": make_kit()})}) as host:
            while not (listed := [tool for tool in host.assembly.tools if tool.endswith("work")]):
                await host.dispatch(Call("tools/list"))
            (name,) = listed
            await call(host, name)
            await call(host, name, {"fail": True})
        received = collector.spans[f"tools/call {name}"][0]
        of_server = collector.spans[SPAN]
        sent = next(span for span in of_server if span.kind == Span.SPAN_KIND_CLIENT)
        mounted = next(span for span in of_server if span.kind == Span.SPAN_KIND_SERVER)
    assert (sent.parent_span_id, mounted.parent_span_id) == (received.span_id, sent.span_id)
    points = collector.metrics["mcp.client.operation.duration"].histogram.data_points
    for item in (sent, *points):
        members = attributes(item.attributes)
        assert (members["gen_ai.tool.name"], members["service.peer.name"]) == ("work", "shop")
    counts = {attributes(point.attributes).get("error.type"): point.count for point in points}
    assert counts == {None: 1, "tool_error": 1}


@pytest.mark.parametrize("shown", [False, True])
async def test_arguments_and_results_are_recorded_without_secrets(shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic_attributes, "MAX_RECORDED_CHARACTERS", 30)
    async with collecting(monkeypatch, arguments=shown, results=shown) as (host, collector):
        host.admit_operator(SECRET)  # a secret that is masked everywhere
        await call(host, "work", {"text": f"{SECRET} {'x' * 50}"})
    (span,) = collector.spans[SPAN]
    own = {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"}
    recorded = {key: value for key, value in attributes(span.attributes).items() if key in own}
    assert bool(recorded) is shown
    assert all(len(value) == 30 for value in recorded.values())
    assert SECRET not in f"{span} {collector.logs}"


async def test_durations_and_gauges_are_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    async with collecting(monkeypatch) as (host, collector):
        await host.dispatch(work(transport="stdio"))
        await call(host, "none")
        host.for_protocols.session_started(
            "s", SessionInfo(id=None, client=Client(revision="2025-11-25"), transport="stdio")
        )
    points = collector.metrics["mcp.server.operation.duration"].histogram.data_points
    assert {attributes(point.attributes).get("error.type"): point.count for point in points} == {None: 1, "-32602": 1}
    assert list(points[0].explicit_bounds) == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
    (session,) = collector.metrics["mcp.server.session.duration"].histogram.data_points
    assert attributes(session.attributes) == {"mcp.protocol.version": "2025-11-25", "network.transport": "pipe"}
    items = collector.metrics["pegboard.items"].gauge.data_points
    assert {attributes(item.attributes)["kind"]: item.as_double or item.as_int for item in items}["tools"] == 2


@pytest.mark.parametrize("off", ["TRACES", "METRICS", "LOGS"])
async def test_each_signal_can_be_turned_off(off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with collecting(monkeypatch, env={f"OTEL_{off}_EXPORTER": "none"}) as (host, collector):
        await call(host, "work")
    received = {"TRACES": collector.spans, "METRICS": collector.metrics, "LOGS": collector.logs}
    assert {name: bool(batch) for name, batch in received.items()} == {name: name != off for name in received}


async def test_a_collector_that_does_not_answer_fails_no_call_and_delays_the_stop_only_briefly(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "0.2"}
        async with collecting(monkeypatch, env=env, flush_seconds=0.01) as (host, _):
            outcome: Outcome = await call(host, "work")
            assert getattr(outcome, "value", None) == "done "
            async with asyncio.timeout(5):
                await host.stop()
        for thread in threading.enumerate():
            if thread.name == "pegboard-telemetry":
                await asyncio.to_thread(thread.join)  # its retries would disturb the next tests
    lost = "the collector did not accept the last telemetry within 0.01 s (flush_seconds), so it is lost"
    assert lost in caplog.messages


async def test_the_variable_of_the_existing_system_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async with collecting(monkeypatch, enabled=False) as (host, collector):
        await call(host, "work")
        assert host.for_protocols.observation is None
    assert (collector.spans, collector.metrics, collector.logs) == ({}, {}, [])
