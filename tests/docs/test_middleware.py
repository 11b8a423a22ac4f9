"""What docs/middleware.md shows is what happens: its plugins run, and its tables are what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, TextContent, Toolkit, ToolResult, UpstreamRateLimitError
from pegboard.errors import ResultTooLargeError
from pegboard.loading.hook_manager import MIDDLEWARE_METHODS
from pegboard.plugin import Middleware
from pegboard.types import ANONYMOUS, Call, CallNext, Listing, Outcome
from pegboard_plugins.operation.cache import CacheConfig
from pegboard_plugins.operation.rate_limit import RateLimitConfig
from pegboard_testing import connect
from tests.docs.pages import Page
from tests.host.hosting import failure, got, listed, make_host, pages, plugin_of, value

PAGE = Page("docs/middleware.md")


def plugin(name: str) -> Any:
    return PAGE.module(f"{name}/__init__.py", name)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in cells] for cells in lines[2:]]


def make_kit() -> Toolkit:
    kit = Toolkit("x", prefix=False)
    tries: list[str] = []

    @kit.tool
    async def busy(tone: str = "rude") -> str:
        """Be busy the first time.

        Then do it.
        """
        tries.append(tone)
        if len(tries) == 1:
            raise UpstreamRateLimitError("Busy.", 1000)
        return f"done, {tone}"

    @kit.tool
    async def admin_stop(tone: str = "rude") -> str:
        """Stop it; deprecated."""
        return "stopped"

    return kit


async def test_it_rewrites_retries_and_thanks() -> None:
    async with make_host(make_kit(), plugins={"patient": plugin("pegboard_patient").PatientPlugin}) as host:
        outcome = await got(ToolResult, host, "tools/call", name="busy")
    assert outcome.content == (TextContent("done, polite"), TextContent("Thank you."))


async def test_a_program_gives_its_middleware_to_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))
    async with PAGE.module("polite_app.py").host as host:
        outcome = await got(ToolResult, host, "tools/call", name="letters_write", arguments={"text": "Dear Ann"})
    assert outcome.content == (TextContent("Dear Ann (polite)"), TextContent("Many thanks."))


async def test_a_function_stands_around_what_it_names() -> None:
    tally = plugin("pegboard_tally")
    async with make_host(make_kit(), plugins={"tally": tally}) as host:
        await value(host, "admin_stop")
        await host.dispatch(Call("prompts/list"))
    assert dict(tally.seen) == {"admin_stop": 1}


async def test_a_history_has_results_and_errors() -> None:
    history = plugin("pegboard_history")
    async with make_host(make_kit(), plugins={"history": history}) as host:
        await failure(host, "busy")
        assert await value(host, "busy") == "done, rude"
    assert list(history.lines) == ["Busy.", "done, rude"]


async def test_a_late_tool_is_called_and_its_large_result_cut_off() -> None:
    async with make_host(make_kit(), plugins={"late": plugin("pegboard_late")}, max_result_bytes=1024) as host:
        text = await value(host, "dial", {"number": "110"})
        assert text.endswith("busy ... (1505 characters)")
        await failure(host, "hang_up")


async def test_a_list_is_shortened_and_what_it_hides_can_be_called() -> None:
    async with make_host(make_kit(), plugins={"short": plugin("pegboard_short")}) as host:
        listing = await got(Listing, host, "tools/list")
        described = [(getattr(item, "name", ""), getattr(item, "description", "")) for item in listing.items]
        assert described == [("busy", "Be busy the first time.")]
        assert listing.private
        assert await value(host, "admin_stop") == "stopped"


async def test_a_gate_hides_and_refuses() -> None:
    async with make_host(make_kit(), plugins={"staff": plugin("pegboard_staff")}) as host:
        assert await listed(host) == ["admin_stop", "busy"]
        assert await listed(host, ANONYMOUS) == ["busy"]
        refused = await failure(host, "admin_stop", caller=ANONYMOUS)
        assert refused.error.message == "Unknown tool: admin_stop"
        assert await value(host, "admin_stop") == "stopped"


class Redacting(Middleware):
    """Masks results, also large ones, and errors, and lists another schema."""

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        try:
            return await call_next(call)
        except ResultTooLargeError as error:
            build = error.build
            raise ResultTooLargeError(
                error.limit, lambda limit: build(limit).replace("secret", "x"), is_structured=False
            ) from error
        except UpstreamRateLimitError as error:
            error.args = ("It is late.",)
            raise

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        listing = await call_next(call)
        assert isinstance(listing, Listing)
        return Listing("tools", tuple(tool._replace(input_schema={"type": "string"}) for tool in listing.items))  # type: ignore[call-arg]


async def test_middleware_changes_messages_of_errors_and_schemas_of_lists_alone() -> None:
    async with make_host(make_kit(), plugins={"p": plugin_of(register_middleware=[Redacting()])}) as host:
        error = (await failure(host, "busy")).error
        assert isinstance(error, UpstreamRateLimitError)
        assert (error.message, error.retry_after_ms) == ("It is late.", 1000)
        (listing,) = await pages(host)
        assert {getattr(tool, "input_schema", {})["type"] for tool in listing.items} == {"string"}
        assert await value(host, "busy", {"tone": "kind"}) == "done, kind"


def test_large_results_are_redacted_inside() -> None:
    kit = Toolkit("x", prefix=False)

    @kit.tool
    def large() -> str:
        """Return much."""
        return "secret " * 1000

    plugins = {"redacting": plugin_of(register_middleware=[Redacting()]), "large_results": {}}
    host = {"middleware": ["large_results", "redacting"], "max_result_bytes": 1024}
    with connect(kit, plugins=plugins, hostconfig={"host": host}) as client:
        *_, link = client.call("large").content
        assert client.read(link["uri"]).text == "x " * 1000


def test_the_tables_have_every_method_and_the_state_of_each_built_in_middleware() -> None:
    methods = [name for row in rows("Methods") for name in re.findall(r"`(on_\w+)`", row[0])]
    assert sorted(methods) == sorted(MIDDLEWARE_METHODS)
    host = Host({"host": {"autoload": False}})
    host.load()
    on = {choice.origin.name: choice.on for choice in host.report.choices if choice.origin.distribution == "pegboard"}
    shown = {row[0].strip("`"): row[1] == "on" for row in rows("Built-in middleware")}
    assert shown == {name: on[name] for name in shown}
    assert len(shown) == 9
    CacheConfig.model_validate(tomllib.loads(PAGE.blocks["toml cache"])["plugins"]["cache"])
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)
    config = RateLimitConfig.model_validate(tomllib.loads(text)["plugins"]["rate_limit"])
    assert config.tools["github_*"].burst == 10
