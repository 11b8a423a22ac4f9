"""`[plugins.lock] lazy = true`: lists come from the lock, and a toolkit is imported at its first call."""

from __future__ import annotations

import asyncio
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, ToolResult
from pegboard.catalogue import binding
from pegboard.cli.serving.access_settings import access_of
from pegboard.config import HostConfig
from pegboard.errors import ConfigError
from pegboard.loading.discovery import defaults
from pegboard.plugin import ProtocolError
from pegboard.types import Call, Change
from pegboard_plugins.operation.lock import lazy_start
from pegboard_plugins.operation.lock.lazy_start import LateLoadError
from pegboard_plugins.operation.lock.lock_command import lock_of
from pegboard_plugins.operation.lock.lock_text import write_lock
from pegboard_plugins.support.lock_files import LOCK_FILE_NAME
from tests.host.hosting import call, failure, until, value
from tests.plugins.servers.upstreams.mounted_hosts import far_client
from tests.support.distributions import make_distribution

KIT = '''
from typing import Annotated
from pegboard import Context, PluginConfig, Toolkit, ToolAnnotations

class Settings(PluginConfig):
    cups: int = 3

kit = Toolkit("shop", config=Settings, version="7.1", description="A shop.")

@kit.tool(tags=["sale"], annotations=ToolAnnotations(read_only=True), requires_secrets=["SHOP_KEY"])
async def count(context: Context, of: Annotated[str, "the thing"] = "cups") -> int:
    """Count cups."""
    return context.config.cups

@kit.tool
def twice(a: int) -> int:
    """Double."""
    return 2 * a

@kit.resource("shop://{name}/cup", title="Cup")
def cup(name: str) -> str:
    return f"the cup of {name}"

@kit.prompt
def sell(thing: str) -> str:
    """Sell."""
    return f"Sell {thing}!"
'''


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the module path with the toolkit, and its lock."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SHOP_KEY", "cupcake")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    install(tmp_path, KIT)
    asyncio.run(lock(tmp_path))
    yield tmp_path
    forget()


def forget() -> None:
    sys.modules.pop("shop_kit", None)
    sys.modules.pop("bad_kit", None)


def install(site: Path, text: str, name: str = "shop", version: str = "1") -> None:
    forget()
    module = f"{name}_kit"
    make_distribution(
        site, f"toolkit-{name}", version, {"pegboard.toolkits": {name: f"{module}:kit"}}, {f"{module}.py": text}
    )
    sys.path_importer_cache.clear()
    for cached in site.rglob("*.pyc"):
        cached.unlink()


def host_of(site: Path, *, lazy: Any = True, locked: bool = False, toolkits: Any = None, **settings: Any) -> Host:
    plugins = {"lock": {"lazy": lazy, "locked": locked, **settings}} if lazy or locked else {}
    section = {"host": {"autoload": False, "required": [], "transports": []}, "plugins": plugins}
    named = toolkits or {"shop": {}}
    return Host(HostConfig.of({**section, "toolkits": named}, defaults=defaults(), directory=site))


async def lock(site: Path, toolkits: Any = None) -> None:
    async with host_of(site, lazy=False, toolkits=toolkits) as host:
        write_lock(lock_of(host), site / LOCK_FILE_NAME, None)
    forget()


def remarks(host: Host) -> list[str]:
    return [remark for plugin in host.report.plugins for remark in plugin.remarks]


async def lists(host: Host) -> dict[str, Any]:
    async with far_client(host) as client:
        return {"tools": await client.tools(), "prompts": await client.prompts(), "templates": await client.templates()}


@pytest.mark.parametrize(("locked", "text"), [(False, KIT), (True, KIT), (True, KIT.replace(', version="7.1"', ""))])
async def test_lists_are_the_same_without_an_import(site: Path, *, locked: bool, text: str) -> None:
    install(site, text)
    await lock(site)
    async with host_of(site, lazy=False) as host:
        expected = await lists(host)
    forget()
    async with host_of(site, locked=locked) as host:
        assert (remarks(host), host.problems) == (["imported at its first call"], ())
        assert await lists(host) == expected
        assert host.assembly.tools["shop_count"].tool._replace(raw=None, definition=None).owner_description == "A shop."
        assert "shop_kit" not in sys.modules
        changes: list[Change] = []
        host.watch(changes.append)
        assert await value(host, "shop_count", {"of": "tea"}) == 3
        assert "shop_kit" in sys.modules
        assert (await lists(host), changes) == (expected, [])


@pytest.mark.parametrize(
    ("first", "result"),
    [
        (Call("tools/call", {"name": "shop_twice", "arguments": {"a": 4}}), "8"),
        (Call("prompts/get", {"name": "shop_sell", "arguments": {"thing": "tea"}}), "Sell tea!"),
        (Call("resources/read", {"uri": "shop://Ada/cup"}), "the cup of Ada"),
    ],
)
async def test_the_first_use_of_any_item_imports_the_toolkit(site: Path, first: Call, result: str) -> None:
    async with host_of(site) as host:
        assert result in str(await host.dispatch(first))
        wrong = await failure(host, "shop_twice", {"a": "four"})
        assert "must be" in wrong.error.message, "the arguments are validated"


@pytest.mark.parametrize(
    ("lazy", "version", "toolkits", "reason"),
    [
        (["sh*"], "1", None, "imported at its first call"),
        (["other"], "1", None, ""),
        (True, "2", None, "imported at the start: pegboard.lock has it from toolkit-shop 1"),
        (True, "1", {"shop": {"cups": 4}}, "imported at the start: its settings differ from those of pegboard.lock"),
    ],
)
async def test_a_toolkit_is_lazy_if_locked(site: Path, lazy: Any, version: str, toolkits: Any, reason: str) -> None:
    if version != "1":
        shutil.rmtree(site / "toolkit_shop-1.dist-info")
        install(site, KIT, version=version)
    async with host_of(site, lazy=lazy, toolkits=toolkits) as host:
        assert remarks(host) == ([reason] if reason else [])
        assert ("shop_kit" in sys.modules) is (reason != "imported at its first call")


LIFE = """
import sys

@kit.lifespan
async def life(config):
    sys.shop_life = ["entered"]
    yield "open"
    sys.shop_life.append("left")

@kit.tool
async def state(context: Context) -> str:
    "Return the state."
    return context.state
"""


async def test_a_lazy_toolkits_lifespan_begins_at_its_first_call(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "shop_life", [], raising=False)
    install(site, KIT + LIFE)
    await lock(site)
    monkeypatch.setattr(sys, "shop_life", [])
    async with host_of(site) as host:
        assert remarks(host) == ["imported at its first call"]
        assert (sys.shop_life, "shop_kit" in sys.modules) == ([], False)  # type: ignore[attr-defined]
        assert await value(host, "shop_state") == "open"
        assert sys.shop_life == ["entered"]  # type: ignore[attr-defined]
    assert sys.shop_life == ["entered", "left"]  # type: ignore[attr-defined]


async def test_a_lifespan_of_a_toolkit_that_is_not_served_ends(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, KIT + LIFE)
    await lock(site)
    async with host_of(site) as host:
        monkeypatch.setattr(host._registry, "_serve_imported", lambda *_: 1 / 0)
        assert isinstance((await failure(host, "shop_state")).error, LateLoadError)
        assert sys.shop_life == ["entered", "left"]  # type: ignore[attr-defined]


async def test_settings_of_a_lazy_toolkit_are_shown_as_settings_that_may_widen_access(site: Path) -> None:
    toolkits = {"shop": {"cups": 4}}
    async with host_of(site, lazy=False, toolkits=toolkits) as host:
        write_lock(lock_of(host), site / LOCK_FILE_NAME, None)
        assert access_of(host) == []
    forget()
    async with host_of(site, toolkits=toolkits) as host:
        (setting,) = access_of(host)
        assert (setting.key, setting.value) == ("toolkits.shop.cups", 4)
        assert setting.access == "may widen access; its toolkit is imported at the first call"


async def test_a_toolkit_with_other_hooks_is_not_lazy(site: Path) -> None:
    async with host_of(site, lazy=False) as host:
        current = lock_of(host)
    forget()
    owner = current.owners["toolkit:shop"]._replace(hooks=("lifespan", "register_commands"))
    write_lock(current._replace(owners={"toolkit:shop": owner}), site / LOCK_FILE_NAME, None)
    async with host_of(site) as host:
        assert remarks(host) == ["imported at the start: it has hooks that run at the start (register_commands)"]


async def test_settings_with_secrets_are_validated_by_the_schema_of_the_lock(site: Path) -> None:
    install(site, KIT.replace("cups: int = 3", "cups: int = 3\n    api_key: str = ''"))
    await lock(site, {"shop": {"api_key": "a"}})
    with pytest.raises(ConfigError, match=r"toolkits\.shop\.api_key: must be a string"):
        await host_of(site, toolkits={"shop": {"api_key": 5}}).start()
    assert "shop_kit" not in sys.modules


async def test_accepted_settings_are_not_validated_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolkits = {"shop": {"cups": 4}}
    await lock(site, toolkits)
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    async with host_of(site, toolkits=toolkits) as host:
        assert remarks(host) == ["imported at its first call"]


@pytest.mark.needs("auth")
async def test_an_uncompiled_lazy_tool_keeps_its_requirements(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = 'requires_auth=GitHub(scopes=["repo"]), scopes=["buy"], requires_metadata=["Shop_Id"], '
    text = KIT.replace("requires_secrets", f"{more}requires_secrets")
    provider = "from pegboard_plugins.auth.auth_providers import GitHub\nclass Settings"
    install(site, text.replace("class Settings", provider))
    await lock(site)
    monkeypatch.delenv("SHOP_KEY")
    facts = []
    for lazy in (False, True):
        async with host_of(site, lazy=lazy) as host:
            required = host.assembly.tools["shop_count"].requirements
            assert required is not None
            assert required.authorization is not None
            token = (required.authorization.name, required.authorization.scopes)
            facts.append((token, required._replace(authorization=None), [str(problem) for problem in host.problems]))
        forget()
        monkeypatch.setattr(binding, "compile_tool", None)
    assert facts[0] == facts[1]
    assert len(facts[0][2]) == 2  # SHOP_KEY and the token are not set


async def test_a_changed_definition_is_rejected_and_announced(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(site, KIT.replace("Double.", "Triple.").replace("Sell.", "Sell!"))
    async with host_of(site) as host:
        changes: list[Change] = []
        host.watch(changes.append)
        wrong = await failure(host, "shop_twice", {"a": 1})
        assert isinstance(wrong.error, ProtocolError)
        expected = "The definition of 'shop_twice' has changed since it was listed: list the tools again."
        assert wrong.error.message == expected
        await until(lambda: len(changes) == 2)
        assert {change.kind for change in changes} == {"tools", "prompts"}
        assert list(host.assembly.tools) == ["shop_count"]
        (tool, prompt) = sorted(host.assembly.unserved, reverse=True)
        assert 'description was "Double.", is "Triple."' in tool.reason
        assert (prompt.name, "it differs from pegboard.lock" in prompt.reason) == ("shop_sell", True)
        assert "Unknown tool" in (await failure(host, "shop_twice", {"a": 1})).error.message
        assert await value(host, "shop_count") == 3
    assert caplog.text.count("'shop_twice' is not served") == 1


WAITING = "import sys\nsys.modules['lazy_gate'].wait()\n"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Return the event for which the import of a module waits that begins with WAITING."""
    gate = threading.Event()
    monkeypatch.setitem(sys.modules, "lazy_gate", gate)  # no module is needed
    yield gate
    gate.set()


async def test_many_first_calls_import_once_and_block_no_other_toolkit(site: Path, gate: threading.Event) -> None:
    other = KIT.replace('"shop"', '"bad"').replace("shop://", "bad://")
    install(site, other, "bad")
    both: Any = {"shop": {}, "bad": {}}
    await lock(site, both)
    install(site, f"{WAITING}sys.lazy_imports = getattr(sys, 'lazy_imports', 0) + 1\n{other}", "bad")
    async with host_of(site, toolkits=both) as host:
        waiting = [asyncio.create_task(call(host, "bad_twice", {"a": number})) for number in range(100)]
        assert await value(host, "shop_twice", {"a": 1}) == 2
        assert not [task.result() for task in waiting if task.done()]
        gate.set()
        results = await asyncio.gather(*waiting)
        assert [result.value for result in results if isinstance(result, ToolResult)] == [2 * n for n in range(100)]
        assert sys.lazy_imports == 1  # type: ignore[attr-defined]  # counted by the toolkit


@pytest.mark.parametrize(
    ("broken", "logged"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise SystemExit\n", "SystemExit"),
        ("@kit.lifespan\nasync def life(config):\n    yield 1 / 0\n", "its lifespan: ZeroDivisionError: division"),
    ],
)
async def test_a_failed_import_answers_each_call_with_one_error(
    site: Path, caplog: pytest.LogCaptureFixture, broken: str, logged: str
) -> None:
    install(site, KIT + broken)
    async with host_of(site) as host:
        results = await asyncio.gather(*(failure(host, "shop_twice", {"a": 1}) for _ in range(20)))
    assert {type(result.error) for result in results} == {LateLoadError}
    message = "The toolkit shop cannot be loaded. The log of the host has the reason."
    assert {result.error.message for result in results} == {message}
    assert caplog.text.count(logged) == 1


async def test_a_later_call_tries_a_failed_import_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_start, "RETRY_SECONDS", 0)
    install(site, KIT + "1 / 0\n")
    async with host_of(site) as host:
        assert isinstance((await failure(host, "shop_twice", {"a": 1})).error, LateLoadError)
        install(site, KIT)
        assert await value(host, "shop_twice", {"a": 1}) == 2


async def test_an_imported_toolkit_outlives_a_reload_that_fails(site: Path) -> None:
    async with host_of(site) as host:
        assert await value(host, "shop_twice", {"a": 1}) == 2
        config = replace(host.config, host=host.config.host.model_copy(update={"plugins": ("nothing",)}))
        assert [result.outcome for result in await host.reload("shop", config=config)] == ["kept"]
        assert await value(host, "shop_twice", {"a": 1}) == 2
        assert [result.outcome for result in await host.reload("shop")] == ["reloaded"]
        assert await value(host, "shop_twice", {"a": 1}) == 2


@pytest.mark.parametrize("imported", [True, False])
async def test_a_reload_of_a_lazy_toolkit_serves_its_new_code(site: Path, *, imported: bool) -> None:
    async with host_of(site) as host:
        if imported:
            assert await value(host, "shop_twice", {"a": 1}) == 2
        (site / "shop_kit.py").write_text(KIT.replace("2 * a", "3 * a"))
        assert [result.outcome for result in await host.reload()] == (["reloaded"] if imported else [])
        assert await value(host, "shop_twice", {"a": 1}) == 3


@pytest.mark.parametrize("lazy", [True, False])
async def test_a_reload_of_a_locked_host_does_not_serve_a_changed_definition(
    site: Path, caplog: pytest.LogCaptureFixture, *, lazy: bool
) -> None:
    async with host_of(site, locked=True, lazy=["shop"] if lazy else []) as host:
        assert await value(host, "shop_twice", {"a": 1}) == 2
        (site / "shop_kit.py").write_text(KIT.replace("Double.", "Triple."))
        assert [result.outcome for result in await host.reload()] == ["reloaded"]
        await call(host, "shop_twice", {"a": 1})
        assert "Unknown tool" in (await failure(host, "shop_twice", {"a": 1})).error.message
        assert await value(host, "shop_count") == 3
    assert caplog.text.count("'shop_twice' is not served") == 1
    assert 'description was "Double.", is "Triple."' in caplog.text


async def test_hidden_characters_in_the_lock_reach_no_client(site: Path) -> None:
    path = site / LOCK_FILE_NAME
    path.write_text(path.read_text().replace('"Double."', '"Double.\\u200b"'))
    async with host_of(site) as host:
        assert [*host.assembly.tools] == ["shop_count"]
        assert any("U+200B" in str(problem) for problem in host.problems)


@pytest.mark.parametrize(
    ("written", "damaged", "problem"),
    [
        ('"SHOP_KEY"', "5", "shop_count: requires.secrets must be a list of strings"),
        ('"inputSchema"', '"schema"', "shop_count: inputSchema must be an object"),
        ('"inputSchema": {', '"inputSchema": {"required": "a", ', "inputSchema.required must be a list of strings"),
        ('"pegboard/tags": [', '"pegboard/tags": [{}, ', "shop_count: _meta.pegboard/tags must be a list of strings"),
        ('"requires": {', '"requires": {"authorization": {"scopes": 1, "type": {}}, ', "authorization.type must be a"),
        ('"requires": {', '"requires": {"authorization": {"scopes": "repo"}, ', "authorization.scopes must be a list"),
        ('"requires": {', '"requires": [], "a": {', "shop_count: requires must be an object"),
        ('"title": "Cup"', '"_meta": null', "shop://{name}/cup: _meta must be an object"),
    ],
)
@pytest.mark.parametrize("locked", [False, True])
async def test_a_toolkit_with_a_damaged_definition_is_not_lazy(
    site: Path, written: str, damaged: str, problem: str, *, locked: bool
) -> None:
    path = site / LOCK_FILE_NAME
    path.write_text(path.read_text().replace(written, damaged, 1))
    async with host_of(site, locked=locked) as host:
        (remark,) = remarks(host)
        assert problem in remark
        assert "restore the file, or remove it and run `pegboard lock`" in remark
        assert len([*host.assembly.tools, *host.assembly.resources]) == 3 - locked
        refused = [str(item) for item in host.problems]
        assert len(refused) == locked
        assert all("its digest in pegboard.lock does not match its definition there" in message for message in refused)


@pytest.mark.needs("auth")
async def test_a_locked_authorization_may_lack_its_type(site: Path) -> None:
    path = site / LOCK_FILE_NAME
    required = '"requires": {"authorization": {"provider": "github"}, '
    path.write_text(path.read_text().replace('"requires": {', required, 1))
    async with host_of(site) as host:
        assert (len(host.assembly.tools), list(remarks(host))) == (2, ["imported at its first call"])


async def test_an_import_that_hangs_answers_each_call_with_one_error(site: Path, gate: threading.Event) -> None:
    install(site, WAITING + KIT)
    async with host_of(site, import_seconds=0.01) as host:
        for _ in range(2):
            wrong = await failure(host, "shop_twice", {"a": 1})
            assert wrong.error.message == "The toolkit shop is still being loaded. Try again later."
        gate.set()
        await until(lambda: host.assembly.tools["shop_twice"].tool.raw is None)
        assert await value(host, "shop_twice", {"a": 1}) == 2
