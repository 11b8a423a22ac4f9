"""The channel stays clean whatever a tool prints, and no tool reads from it: section 4, F-1, F-32, clients.md 5."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.hostile_kit import SAID
from tests.support.pool import Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRINTING = ["say", "say_unflushed", "write_descriptor", "write_from_c", "run_child"]


@pytest_asyncio.fixture(loop_scope="session")
async def wire(pool: Pool) -> AsyncIterator[Wire]:
    """A host of the test's own, in a session."""
    async with pool.new() as wire:
        await wire.initialize()
        yield wire


@pytest.mark.requirement("STDIO-03")
async def test_a_host_that_is_well_says_nothing(wire: Wire) -> None:
    """clients.md 5: no banner anywhere, and nothing below a warning on the standard error."""
    await wire.call("fixture_echo", text="x")
    await wire.close()
    assert wire.stderr == ""


@pytest.mark.requirement("STDIO-02")
@pytest.mark.parametrize("tool", PRINTING)
async def test_what_a_tool_prints_stays_off_the_channel_and_is_logged_with_its_name(wire: Wire, tool: str) -> None:
    """F-1; the recorder would refuse the line."""
    assert not (await wire.call(f"hostile_{tool}")).get("isError")
    assert await wire.settle() == []
    await wire.close()
    (line,) = [line for line in wire.stderr.splitlines() if SAID in line]
    assert f"hostile_{tool}" in line


@pytest.mark.requirement("STDIO-02")
async def test_printing_between_answers_harms_none_of_them(wire: Wire) -> None:
    asked = [
        await wire.begin("tools/call", {"name": f"hostile_{PRINTING[turn % 3]}", "arguments": {}}) for turn in range(30)
    ]
    for request_id in asked:
        assert "result" in await wire.answer(request_id)


@pytest.mark.parametrize("tool", ["read_input", "child_reads_input"])
async def test_tools_read_nothing_from_the_channel(wire: Wire, tool: str) -> None:
    """They find an end of input at once; the next request is still the host's."""
    asked = await wire.begin("tools/call", {"name": f"hostile_{tool}", "arguments": {}})
    following = await wire.begin("tools/call", {"name": "fixture_echo", "arguments": {"text": "mine"}})
    assert (await wire.answer(asked))["result"]["content"][0]["text"] == "''"
    assert (await wire.answer(following))["result"]["content"][0]["text"] == "mine"


@pytest.mark.requirement("MSG-02")
@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "cp932"},
        {"PYTHONUTF8": "0", "LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONUNBUFFERED": "1"},
    ],
)
async def test_the_channel_is_utf_8_whatever_the_environment_says(pool: Pool, env: dict[str, str]) -> None:
    """F-32."""
    async with pool.new(env=env) as wire:
        await wire.initialize()
        assert (await wire.call("fixture_echo", text="größer 日本語 🧰"))["content"][0]["text"] == "größer 日本語 🧰"
        assert not (await wire.call("hostile_say", text="größer 日本語 🧰")).get("isError")
        await wire.close()
        assert "hostile_say" in wire.stderr


@pytest.mark.requirement("STDIO-12")
async def test_a_reader_that_takes_its_time_gets_everything(wire: Wire) -> None:
    """Answers wait for a client that does not read; none is lost or cut."""
    asked = [
        await wire.begin("tools/call", {"name": "fixture_large", "arguments": {"size": 300_000}}) for _ in range(40)
    ]
    for request_id in asked:
        assert len((await wire.answer(request_id))["result"]["content"][0]["text"]) == 300_000
