"""The trace of a program continues in the host: the official SDK sends it in `_meta`."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.plugins.operation.opentelemetry.otlp_receiver import OtlpReceiver
from tests.support.sdk import SCRIPTS, WAIT, sdk_python
from tests.support.wire import PEGBOARD, client_environment

pytestmark = pytest.mark.timeout(600)  # the first run makes an environment

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
KIT = '''
from pegboard import Toolkit

kit = Toolkit("shop")


@kit.tool
def price() -> int:
    """Return a price."""
    return 350
'''


async def test_a_call_of_the_official_sdk_continues_its_trace(tmp_path: Path) -> None:
    python = await asyncio.to_thread(sdk_python, "2")
    (tmp_path / "kit.py").write_text(KIT)
    async with OtlpReceiver() as collector:
        env = {**client_environment(tmp_path), "ARCADE_MCP_OTEL_ENABLE": "true"}
        env["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        arguments = ["stdio", str(tmp_path / "kit.py")]
        plan = {"trace": TRACE, "span": SPAN, "tool": "shop_price", "env": env}
        plan |= {"command": str(PEGBOARD), "arguments": arguments}
        client = await asyncio.create_subprocess_exec(python, SCRIPTS / "traced.py", json.dumps(plan), env=os.environ)
        async with asyncio.timeout(WAIT):
            assert await client.wait() == 0
        (span,) = collector.spans["tools/call shop_price"]
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)
