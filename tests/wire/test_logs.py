"""The log of `pegboard stdio`: no caller writes a line of its own into it, and services that refuse take one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import logs_kit
from tests.support.pool import CONFIG, make_site
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORGED = "x\n2026-01-01T00:00:00.000Z ERROR pegboard: forged\r\x1b[2J\x9b2J\u2028\u202egnp.exe"
TOOLS = [f"logs_{name}" for name in ("tell", "crash", "upstream", "warn", "end_thread", "break_finalizer")]
LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z [A-Z]+ ([\w.]+)(?: \[[^]]*\])?: |    |pegboard: ")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path, {"logs": logs_kit})


async def stderr_of(site: Path, tool: str, **arguments: object) -> tuple[dict[str, object], list[str]]:
    """The result of a call, and the lines that the host wrote to standard error."""
    async with Wire(config=CONFIG + 'log_level = "info"', site=site) as wire:
        result = await wire.call(tool, modern=True, **arguments)
    return result, wire.stderr.split("\n")[:-1]


@pytest.mark.parametrize("tool", [*TOOLS, f"logs_{FORGED}"])
async def test_an_argument_neither_forges_a_line_nor_controls_a_terminal(site: Path, tool: str) -> None:
    arguments = {"text": FORGED} | ({"status": 404} if tool == "logs_upstream" else {})
    if tool.endswith(FORGED):
        async with Wire(config=CONFIG + 'log_level = "info"', site=site) as wire:
            await wire.error("tools/call", {"name": tool, "arguments": {}}, modern=True)
        lines = wire.stderr.split("\n")[:-1]
    else:
        _, lines = await stderr_of(site, tool, **arguments)
    assert any("forged" in line for line in lines)
    assert [line for line in lines if not LINE.match(line)] == []
    assert [line for line in lines if re.match(r"2026-01-01|.* ERROR pegboard: forged$", line)] == []
    assert [char for line in lines for char in line if char in "\r\x1b\x9b\u2028\u202e"] == []


@pytest.mark.parametrize("status", [404, 429, 503])
async def test_a_service_that_refuses_takes_one_line_and_no_error_id(site: Path, status: int) -> None:
    result, lines = await stderr_of(site, "logs_upstream", status=status, text="GET api.example/issues")
    (told,) = [line for line in lines if "api.example" in line]
    assert " WARNING pegboard [" in told
    assert not any("Traceback" in line for line in lines)
    assert "rror id" not in str(result)
    assert "errorId" not in str(result)


async def test_each_line_names_the_request_the_caller_and_the_peer(site: Path) -> None:
    _, lines = await stderr_of(site, "logs_tell", text="it")
    about = {LINE.match(line)[1]: re.findall(r"(\w+)=(\S+?)[] ]", line) for line in lines if "=" in line}  # type: ignore[index]  # all are lines
    assert set(about) == {"pegboard.tools.logs_tell", "logs.own", "pegboard.calls"}
    assert {str(one) for one in about.values()} == {
        "[('request_id', '1000000'), ('caller', 'operator'), ('peer', 'stdio')]"
    }
