"""A client of the second line of the official SDK that calls a tool within a trace of its program."""

import asyncio
import json
import sys

import mcp  # type: ignore[import-not-found]  # of the client's environment
from opentelemetry.context import attach
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

PLAN = json.loads(sys.argv[1])


async def call() -> None:
    parent = SpanContext(int(PLAN["trace"], 16), int(PLAN["span"], 16), is_remote=False, trace_flags=TraceFlags(1))
    attach(set_span_in_context(NonRecordingSpan(parent)))
    server = mcp.StdioServerParameters(command=PLAN["command"], args=PLAN["arguments"], env=PLAN["env"])
    async with mcp.Client(server) as client:
        await client.call_tool(PLAN["tool"], {})


asyncio.run(call())
