"""A process with telemetry has sent everything when it ends, over both transports."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.plugins.operation.opentelemetry.otlp_receiver import OtlpReceiver, attributes
from tests.support.mcp_client import McpServer

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


async def test_a_process_sends_its_telemetry_before_it_ends(transport: str, sites: dict[str, Path]) -> None:
    meta = {"_meta": {"traceparent": f"00-{TRACE}-{PARENT}-01"}}
    async with OtlpReceiver() as collector:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "ARCADE_MCP_OTEL_ENABLE": "true"}
        async with McpServer(transport, sites["fixture"], env=env) as server:
            client = await server.client("2025-11-25")
            call = {"name": "fixture_echo", "arguments": {"text": "x"}, **meta}
            assert (await client.request("tools/call", call)).text == "x"
            if transport == "http":
                server.served.signal(signal.SIGTERM)
                assert await server.served.wait() == 0
        (span,) = collector.spans["tools/call fixture_echo"]
    members = attributes(span.attributes)
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert members["network.transport"] == {"stdio": "pipe", "http": "tcp"}[transport]
    assert ("mcp.session.id" in members) is (transport == "http")
    (session,) = collector.metrics["mcp.server.session.duration"].histogram.data_points
    assert (session.count, attributes(session.attributes)["mcp.protocol.version"]) == (1, "2025-11-25")
