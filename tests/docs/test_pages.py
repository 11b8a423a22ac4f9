"""The examples of shorter pages work: their names are those of the pages below."""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pegboard import Completion, Host, ImageContent, PromptResult, ResourceResult, ToolResult
from pegboard.config import HostConfig
from pegboard.config.widened_access import access_settings
from pegboard.errors import ConfigError, ToolTimeoutError
from pegboard.loading.discovery import Selection, choose_plugins
from pegboard.plugin import Catalogue, Plugin, hookimpl
from pegboard.plugin.origin import Origin
from pegboard.types import AuthProvider, Failure, RawResult
from tests.docs.pages import Page
from tests.host.hosting import call, failure, got, listed, make_host, until, value
from tests.support.environments import run
from tools.error_messages.__main__ import OURS, examples
from tools.error_messages.calls import CALLS, answers

CONCURRENCY, CONTENT, DYNAMIC, TOOLKITS, TRUST = [
    Page(f"docs/{name}.md") for name in ("concurrency", "content", "dynamic-tools", "toolkits", "trust")
]
ERRORS, IN_PROCESS, SCHEMAS = [Page(f"docs/{name}.md") for name in ("error-messages", "in-process", "schemas")]


async def test_slow_tools_end_with_the_shown_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(CONCURRENCY.write(tmp_path))
    async with make_host(import_module("slow_kit").kit) as host:
        for tool in ("slow_wait", "slow_count"):
            outcome = await failure(host, tool)
            assert type(outcome.error) is ToolTimeoutError
            assert outcome.error.message == "It took longer than 0.1 seconds and was given up."
            assert outcome.error.message in CONCURRENCY
        await until(lambda: host.busy_threads == 0)


async def test_a_gateway_tells_the_host_about_items_that_come_and_go() -> None:
    page = DYNAMIC.module("python gateway")

    class Shelves(Plugin):
        @hookimpl
        def register_auth_providers(self) -> list[AuthProvider]:
            return [AuthProvider(id="shelves", title="Shelves")]

    host = Host({"host": {"autoload": False}}, plugins={"gateway": page.Gateway, "shelves": Shelves})
    async with host:
        assert host.for_protocols.offers("resources")
        (problem,) = host.problems
        (gateway,) = (plugin for plugin in host.report.plugins if plugin.origin.name == "gateway")
        assert list(gateway.unavailable()) == ["library"]
        refused = await call(host, "library_look_up", {"words": "a\u202eb"})
        assert "The library sent a text that" in str(refused)
        assert isinstance(await call(host, "library_look_up", {"words": "Emma"}), RawResult)
    assert "no running plugin describes the auth provider 'library'" in problem.message
    with pytest.raises(ConfigError, match="cannot run beside the plugin 'archive': both serve the library"):
        await Host({}, plugins={"gateway": page.Gateway, "archive": Shelves}).start()


async def test_resources_are_read_and_a_tool_returns_an_image() -> None:
    async with make_host(CONTENT.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        assert host.problems == ()
        index = await got(ResourceResult, host, "resources/read", uri="notes://all")
        note = await got(ResourceResult, host, "resources/read", uri="notes://note/work/plan")
        await got(Failure, host, "resources/read", uri="notes://note/none")
        sketch = await got(ToolResult, host, "tools/call", name="notes_sketch", arguments={"title": "shopping"})
    assert index.contents[0].content == '["shopping","work/plan"]'
    assert note.contents[0][1:3] == ("Ship it.", "text/markdown")
    assert sketch.content is not None
    assert isinstance(sketch.content[1], ImageContent)


async def test_a_prompt_and_its_completions() -> None:
    async with make_host(CONTENT.module("toolkit_notes/__init__.py", "toolkit_notes").kit) as host:
        arguments = {"title": "shopping", "words": "9"}
        prompt = await got(PromptResult, host, "prompts/get", name="notes_rewrite", arguments=arguments)
        reference = {"type": "ref/prompt", "name": "notes_rewrite"}
        values = []
        for name, value, chosen in (("tone", "f", {}), ("title", "", {}), ("title", "", {"tone": "friendly"})):
            more: Any = {"argument": {"name": name, "value": value}, "context": {"arguments": chosen}}
            values.append((await got(Completion, host, "completion/complete", ref=reference, **more)).values)
    assert prompt.messages[1].content == "Rewrite this note in a formal tone, in 9 words at most."
    assert values == [("friendly", "formal"), ("work/plan",), ("shopping", "work/plan")]


async def test_tools_and_resources_change_while_the_host_runs(tmp_path: Path) -> None:
    DYNAMIC.write(tmp_path)
    output = run(sys.executable, tmp_path / "changing.py", cwd=tmp_path)
    assert "Good evening" in output
    assert output.endswith("3 changes\n")
    settings = {"host": {"autoload": False, "disabled_plugins": ["pegboard:*"]}}
    async with Host(settings, plugins={"notes": DYNAMIC.module("notes.py").NotesPlugin}) as host:
        note = {"title": "To do: all", "text": "Everything."}
        uri = await value(host, "write_note", note)
        assert uri == "note:///To%20do%3A%20all"
        assert "Everything." in str(await got(ResourceResult, host, "resources/read", uri=uri))
        await value(host, "forget_note", {"uri": uri})
        await got(Failure, host, "resources/read", uri=uri)
        assert await listed(host, method="resources/list") == []


def test_the_table_of_the_catalogue_has_every_method_and_its_parameters() -> None:
    expected = {}
    for name, method in vars(Catalogue).items():
        if not name.startswith("_") and inspect.isfunction(method):
            parameters = list(inspect.signature(method).parameters.values())[1:]
            expected[name] = ", ".join(str(parameter).partition(":")[0] for parameter in parameters)
    assert dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", DYNAMIC, re.M)) == expected


def settings(block: str) -> dict[str, Any]:
    read = tomllib.loads(TOOLKITS.blocks[block])
    return {**read, "host": {"autoload": False, **read["host"]}}


def test_a_distribution_before_the_name_selects_one_toolkit() -> None:
    owners = ("other-weather", "toolkit-weather")
    origins = [Origin("toolkit", "weather", "x:kit", owner, "1", entry_point=object()) for owner in owners]  # type: ignore[arg-type]  # any
    choices = choose_plugins(origins, HostConfig.of(settings("toml select")), Selection())
    assert [choice.on for choice in choices] == [False, True]


def test_the_marked_settings_are_those_that_widen_access() -> None:
    module = TRUST.module("python widens")
    for section, keys in (({"send": True}, ["toolkits.mail.send"]), ({"send": False}, []), ({}, [])):
        config = HostConfig.of({"toolkits": {"mail": section}})
        assert [setting.key for setting in access_settings(config, {"toolkits": {"mail": module.MailConfig}})] == keys


def test_the_page_has_the_answers_of_a_server_to_mistakes() -> None:
    assert ERRORS.blocks["text answers"] == f"{examples(answers(Path(sys.executable), *OURS))}\n"
    assert len(CALLS) == 20


async def test_the_tool_of_the_mounted_host_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    module = IN_PROCESS.module("mounted_shop.py")
    await module.main()
    assert "'text': '350'" in capsys.readouterr().out
    code = "host = " + IN_PROCESS.blocks["python options"]
    exec(code, vars(module))
    async with module.host:
        await module.main.__globals__["host"].dispatch(module.Call("tools/list", {}))
        assert list(module.host.assembly.tools) == ["price"]


@pytest.mark.requirement("SCHEMA-02")
async def test_a_schema_of_ones_own() -> None:
    async with make_host(SCHEMAS.module("places.py").kit) as host:
        assert host.problems == ()
        assert await value(host, "places_nearby", {"city": "Porto"}) == ["a café near Porto"]
        error = (await failure(host, "places_nearby", {"latitude": 91, "longitude": "west"})).error
        problems = "latitude: must be at most 90\nlongitude: must be a number, got a string"
        assert error.message == f"Invalid arguments:\n{problems}"
        await failure(host, "places_nearby", {"city": "Porto", "latitude": 1, "longitude": 1})


async def test_arguments_in_headers() -> None:
    async with make_host(SCHEMAS.module("regions.py").kit) as host:
        schema = host.assembly.tools["regions_query"].tool.input_schema
    assert schema["properties"]["region"]["x-mcp-header"] == "Region"
