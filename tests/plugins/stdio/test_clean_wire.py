"""The real command: only JSON-RPC on standard output; printed lines are logged under the name of their tool.

`Wire` refuses any line of the host's standard output that is not a message the protocol allows.
"""

from __future__ import annotations

from pathlib import Path

from tests.plugins.stdio import printing_kit
from tests.support.pool import make_site
from tests.support.wire import Wire

CONFIG = "[host]\nautoload = false\n[toolkits.printer]\n"
RECORD = "WARNING pegboard.stdout: {} printed to standard output: {}"


async def test_printed_lines_are_logged_under_the_name_of_their_tool(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"printer": printing_kit})
    calls = [(how, tool) for how in printing_kit.WAYS for tool in ("sync", "async", "inline")]
    calls += [(how, tool) for how in ("descriptor", "C printf") for tool in ["sync", "inline"] * 20]
    async with Wire(config=CONFIG, site=site, env={"PYTHONUTF8": "1"}) as wire:
        wire.modern = True
        for number, (how, tool) in enumerate(calls):
            params = {"name": f"printer_{tool}", "arguments": {"how": how, "text": f"{number} {how}"}}
            result = await wire.result("tools/call", params)
            assert result["content"][0]["text"] == f"{number} {how}"
        # tools that print at the same time are distinguished where that is possible
        both = [{"name": f"printer_{tool}", "arguments": {"own": tool}} for tool in ("one", "two")]
        for request in [await wire.begin("tools/call", params) for params in both]:
            assert "result" in await wire.answer(request)
        wire.process.stdin.close()  # type: ignore[union-attr]  # made with a pipe
        assert await wire.wait() == 0
    log = [line.partition("Z ")[2] for line in wire.stderr.splitlines()]
    either = "one of the tools printer_one, printer_two"
    assert log[: len(calls)] == [
        RECORD.format(f"tool printer_{tool}", f"{number} {how}") for number, (how, tool) in enumerate(calls)
    ]
    assert sorted(log[len(calls) :]) == [
        RECORD.format(either, "written by one"),
        RECORD.format(either, "written by two"),
        RECORD.format("tool printer_one", "begun by one, ended by one"),
        RECORD.format("tool printer_two", "begun by two, ended by two"),
    ]
