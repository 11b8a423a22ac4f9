"""What a host of the test kit is made of: what the test gives it, and nothing of the machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import pytest

from pegboard import Authorization, Context, Depends, ErrorKind, PluginConfig, ToolDefinitionError, Toolkit, ToolResult
from pegboard.errors import ConfigError
from pegboard.plugin import Middleware, Plugin, PluginError, around, hookimpl
from pegboard.types import Call, Caller, CallNext, Outcome
from pegboard_plugins.auth.auth_providers import GitHub, OAuth2
from pegboard_testing import PlainClient, TestClient, cancel, connect
from tests.pegboard_testing import kits


class LoudConfig(PluginConfig):
    mark: str = "!"


class VeryLoudPlugin(Plugin):
    """Middleware with a setting."""

    Config = LoudConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [around("tools/call")(self.shout)]

    async def shout(self, call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call)
        assert isinstance(outcome, ToolResult)
        return outcome._replace(value=f"{outcome.value}{self.config.mark}")


def greeter() -> Toolkit:
    kit = Toolkit("greeter")

    @kit.tool
    def hello(context: Context) -> str:
        """Greet."""
        return f"hello {context.user_id}"

    return kit


async def test_a_plugin_class_has_a_name_of_its_own() -> None:
    async with connect(greeter(), plugins={"loud": VeryLoudPlugin}) as client:
        assert (await client.call("hello")).value == "hello None!"
        assert [tool["name"] for tool in await client.tools()] == ["greeter_hello"]
    async with connect(VeryLoudPlugin, greeter(), config={"mark": "?"}, user="ada") as client:
        assert (await client.call("hello")).value == "hello ada?"
        assert "very_loud" in [plugin.origin.name for plugin in client.host.report.plugins]


def marked(context: Context) -> str:
    """Return the setting."""
    return str(context.config.mark)


async def test_an_installed_plugin_is_given_by_name_or_class(tmp_path: Path) -> None:
    pytest.importorskip("toolkit_files", exc_type=ImportError)
    (tmp_path / "note.txt").write_text("hello")
    async with connect("files", config={"roots": [str(tmp_path)]}) as client:
        assert "hello" in (await client.call("read", path="note.txt")).text
    async with connect("mcp", greeter(), config={"list_ttl_ms": 8}) as client:
        assert (await client.request("tools/list"))["ttlMs"] == 8
    kit = Toolkit("files", config=LoudConfig)
    kit.tool(marked)
    async with connect(kit, config={"mark": "mine"}) as client:
        assert (await client.call("marked")).value == "mine"
        assert [tool["name"] for tool in await client.tools()] == ["files_marked"], "the installed one is replaced"


async def test_secrets_are_the_tests_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AGENCY_KEY", "of the machine")
    (tmp_path / ".env").write_text("AGENCY_KEY=of the machine")
    monkeypatch.chdir(tmp_path)
    async with connect(kits.kit, secrets={"AGENCY_KEY": "of the test"}) as client:
        assert (await client.call("secret")).value == "of the test"
    async with connect(kits.kit) as client:
        assert "AGENCY_KEY" in (await client.call("secret")).error.message
        assert any("AGENCY_KEY" in str(problem) for problem in client.problems)
    assert 'set it by `connect(..., secrets={"AGENCY_KEY": "..."})`' in caplog.text


async def test_the_caller_may_be_anonymous() -> None:
    """What uses a secret is for the operator."""
    async with connect(kits.kit, secrets={"AGENCY_KEY": "k"}, caller=Caller()) as client:
        assert "trips_secret" in [tool["name"] for tool in await client.tools()]
        assert "the server does not know the caller" in (await client.call("secret")).text
        assert "for None" in (await client.call("route", to="Rome")).text


def broken() -> Toolkit:
    kit = greeter()

    @kit.tool
    def wrong(*what: str) -> str:
        return ""

    return kit


async def test_a_wrong_definition_is_raised_or_reported() -> None:
    with pytest.raises(PluginError, match="wrong") as caught:
        async with connect(broken()):
            pass
    assert f"{Path(__file__).name}:" in str(caught.value)
    async with connect(broken(), strict=False) as client:
        assert [tool["name"] for tool in await client.tools()] == ["greeter_hello"]
        assert any("wrong" in str(problem) for problem in client.problems)


async def test_wrong_settings_and_an_unknown_revision_are_raised() -> None:
    for options in ({"config": {"nonsense": 1}}, {"hostconfig": {"host": {"nonsense": 1}}}):
        with pytest.raises(ConfigError, match="nonsense"):
            async with connect(kits.kit, **options):
                pass
    with pytest.raises(ValueError, match="the host does not speak 2020-01-01; it offers 2025-11-25"):
        async with connect(greeter(), revision="2020-01-01"):
            pass


async def test_a_host_ends_in_the_task_that_began_it(caplog: pytest.LogCaptureFixture) -> None:
    connection = connect(kits.kit)
    client = await asyncio.create_task(connection.__aenter__())
    await client.call("nothing")
    await asyncio.create_task(connection.__aexit__(None, None, None))
    assert "failed to end" not in caplog.text


def test_the_plain_client_has_all_methods_and_needs_no_loop() -> None:
    assert {name for name in dir(TestClient) if not name.startswith("_")} - set(dir(PlainClient)) == set()
    with connect(kits.kit, answers=[cancel()]) as client:
        assert client.call("book").value == "cancel"
        assert client.asked[0].message == "Who travels?"
        client.listen("trips://home")
        client.call("tell")
        assert client.heard("notifications/resources/updated")["params"]["uri"] == "trips://home"
        assert (client.logs[0].data["message"], client.progress[0].message) == ("looking", "half")


async def test_tokens_are_the_tests_own() -> None:
    kit = Toolkit("stars")

    @kit.tool(requires_auth=GitHub(scopes=["repo"]))
    def star(context: Context) -> str:
        """Star it."""
        return context.get_auth_token_or_empty()

    @kit.tool(requires_auth=OAuth2(id="intranet"))
    def who(context: Context) -> dict[str, Any]:
        """Say who it is."""
        return dict(context.authorization.user_info)

    intranet = Authorization("t", {"name": "Ada"})
    sources = {"static_tokens": {"tokens": {"github": "of the operator"}}}
    async with connect(kit, tokens={"github": "of the test", "intranet": intranet}, plugins=sources) as client:
        assert (await client.call("star")).value == "of the test"
        assert (await client.call("who")).value == {"name": "Ada"}
    async with connect(kit) as client:
        assert (await client.call("star")).error.kind == ErrorKind.TOOL_RUNTIME_CONTEXT_REQUIRED


async def test_a_test_replaces_dependencies_and_what_they_need() -> None:
    kit = Toolkit("x")
    kit.tool(name="go", description="Return it.")(greeting)

    async def fake(context: Context) -> str:
        return context.name

    async with connect(kit, overrides={address: fake}) as client:
        assert (await client.call("go")).value == "hello x_go"
    with pytest.raises(ValueError, match="no tool, resource or prompt has the dependency 'fake'"):
        async with connect(kit, overrides={fake: address}):
            pass
    with pytest.raises(ToolDefinitionError, match="'len' has the parameter 'obj'"):
        async with connect(kit, overrides={address: len}):
            pass


def address() -> str:
    raise OSError("a test reaches the service")


def client_of(address: Annotated[str, Depends(address)]) -> str:
    return f"hello {address}"


def greeting(client: Annotated[str, Depends(client_of)]) -> str:
    return client
