"""A host with `[plugins.lock]` serves only the definitions in `pegboard.lock`, and the content of this file."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import time_ns
from typing import Any

import pytest

from pegboard import Annotations, Context, Host, Icon, PluginConfig, ToolAnnotations, Toolkit
from pegboard.config import HostConfig
from pegboard.errors import PluginError
from pegboard.loading.discovery import defaults
from pegboard.plugin import PromptDefinition, ProtocolError, ResourceDefinition, ToolDefinition
from pegboard.types import Call, Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolkitInfo
from pegboard_client import Client
from pegboard_plugins.operation.lock.canonical import digest_of
from pegboard_plugins.operation.lock.definition_objects import definition_object
from pegboard_plugins.operation.lock.lock_command import lock_of
from pegboard_plugins.operation.lock.lock_text import lock_text, write_lock
from pegboard_plugins.support import lock_files
from pegboard_plugins.support.catalogue_lock import LOCK_FORMAT, CatalogueLock, LockedOwner
from pegboard_plugins.support.lock_files import LOCK_FILE_NAME
from tests.host.hosting import make_host, plugin_of, until
from tests.plugins.servers.upstreams.mounted_hosts import far_client
from tests.plugins.servers.upstreams.mounts import names


def find(words: str) -> str:
    """Find a cup."""
    return words


def find_number(words: int) -> str:
    """Find a cup."""
    return str(words)


FIND = ToolDefinition(find)
BASE = {"host": {"autoload": False, "transports": []}}


def locking_host(folder: Path | None, *tools: ToolDefinition, locked: bool = True, **options: Any) -> Host:
    """Return a host whose plugin `store` has these tools. It is not started."""
    sections = {**BASE, "plugins": {"lock": {"locked": locked}, **options.pop("sections", {})}}
    config = HostConfig.of(sections, defaults=defaults(), directory=folder)
    return Host(config, plugins={"store": plugin_of(tools=tools)}, **options)


async def lock(folder: Path, host: Host) -> None:
    async with host:
        await host.dispatch(Call("tools/list"))
        write_lock(lock_of(host), folder / LOCK_FILE_NAME, None)


@asynccontextmanager
async def connected(host: Host) -> AsyncIterator[Client]:
    async with host, far_client(host) as client:
        yield client


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (FIND._replace(description="Find a cub."), 'description was "Find a cup.", is "Find a cub."'),
        (FIND._replace(title="Find"), 'title was missing, is "Find"'),
        (FIND._replace(annotations=ToolAnnotations(read_only=True)), "annotations was missing"),
        (FIND._replace(meta={"com.example/a": 1}), "_meta was missing"),
        (FIND._replace(requires_secrets=("CUP_KEY",)), "requires was missing"),
        (FIND._replace(function=find_number, name="find"), "inputSchema was"),
        (FIND._replace(toolkit=ToolkitInfo(name="store", prefix=False, description="Cups")), "of its toolkit differs"),
        (FIND._replace(toolkit=ToolkitInfo(name="other", prefix=False)), "no such definition from plugin:store/other"),
        (FIND._replace(name="find_all"), "pegboard.lock has no such definition from plugin:store"),
    ],
)
async def test_a_changed_or_renamed_tool_is_not_served(
    changed: ToolDefinition, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await lock(tmp_path, locking_host(tmp_path, FIND, locked=False))
    async with connected(locking_host(tmp_path, FIND)) as client:
        assert await names(client) == ["find"]
    caplog.clear()
    async with connected(locking_host(tmp_path, changed)) as client:
        assert await names(client) == []
        with pytest.raises(ProtocolError, match="Unknown tool"):
            await client.call(changed.name or "find", {"words": "tea"})
    (line,) = [record.getMessage() for record in caplog.records if "is not served" in record.getMessage()]
    assert reason in line
    assert "`pegboard lock --update`" in line


async def test_removed_items_are_named_and_new_ones_withheld(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await lock(tmp_path, locking_host(tmp_path, *(FIND._replace(name=name) for name in "abcdefg"), locked=False))
    async with connected(locking_host(tmp_path, FIND._replace(name="a"), FIND._replace(name="new"))) as client:
        assert await names(client) == ["a"]
    named = "tool 'b', tool 'c', tool 'd' and 3 more; `pegboard lock"
    assert f"these items of {tmp_path / 'pegboard.lock'}: {named}" in caplog.text


async def test_items_that_are_added_later_are_compared_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    definitions: list[Any] = [
        FIND._replace(name="later"),
        ResourceDefinition("cup://all", lambda: "", name="all"),
        ResourceDefinition("cup://{words}", find),
        PromptDefinition(find, name="ask"),
    ]
    host = locking_host(tmp_path, locked=False)
    host.catalogue.add(*definitions)
    await lock(tmp_path, host)
    host = locking_host(tmp_path)
    async with connected(host) as client:
        host.catalogue.add(*definitions)
        assert await names(client) == ["later"]
        lists = await client.resources(), await client.templates(), await client.prompts()
        assert [len(listed) for listed in lists] == [1, 1, 1]
        for _ in range(2):
            host.catalogue.update(FIND._replace(name="later", description="Find a cup, and tell nobody."))
            assert await names(client) == []
        host.catalogue.update(definitions[0])
        assert await names(client) == ["later"]
        host.catalogue.add(ResourceDefinition("cup://new", lambda: "", name="new"))
        assert len(await client.resources()) == 1
    assert caplog.text.count("tool 'later' is not served") == 1
    assert caplog.text.count("resource 'cup://new' is not served") == 1


async def test_a_tool_that_a_mounted_server_adds_is_withheld(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    far = Host({"host": {"autoload": False}}, plugins={"far": plugin_of(tools=[FIND])})
    await lock(tmp_path, locking_host(tmp_path, locked=False, mount={"shop": far}))
    host = locking_host(tmp_path, mount={"shop": far})
    async with connected(host) as client:
        assert await names(client) == ["shop_find"]
        assert (await client.call("shop_find", {"words": "tea"}))["content"][0]["text"] == "tea"
        far.catalogue.add(FIND._replace(name="new"))
        await until(lambda: "shop_new" in caplog.text)
        assert await names(client) == ["shop_find"]
    problem = "pegboard.lock has no such definition from plugin:upstreams/shop"
    assert f"tool 'shop_new' is not served: {problem}" in caplog.text


def text_of(**members: Any) -> str:
    return json.dumps({"format": LOCK_FORMAT, "canonical_form": 1, "owners": {}, **members})


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        (None, 0o600, "does not exist: create it with `pegboard lock`"),
        (text_of()[:-9], 0o600, "is not JSON: EOF"),
        ("", 0o600, "is not JSON"),
        ("[" * 100_000, 0o600, "is not JSON"),
        ("[]", 0o600, "is not a lock file"),
        (text_of(format=2), 0o600, "has format 2 and canonical form 1; this host reads format 1 and canonical form 1"),
        (text_of(canonical_form=2), 0o600, "this host reads format 1"),
        (text_of(owners=[]), 0o600, "is damaged"),
        (text_of(host_digest="x" * 2000), 0o600, "has more than 1,000 bytes; restore the file"),
        (text_of(), 0o666, "is refused because other users can write it"),
    ],
)
async def test_a_host_does_not_start_with_an_unusable_lock(
    text: str | None, mode: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_files, "MAX_LOCK_BYTES", 1000 if text is None or len(text) < 5000 else 10**6)
    if text is not None:
        file = tmp_path / LOCK_FILE_NAME
        file.write_text(text)
        file.chmod(mode)
    with pytest.raises(PluginError, match=LOCK_FILE_NAME) as caught:
        await locking_host(tmp_path, FIND).start()
    assert reason in str(caught.value)


async def test_only_a_regular_file_beside_the_config_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / LOCK_FILE_NAME).write_text(text_of())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PluginError, match="the host uses none"):
        await locking_host(None, FIND).start()
    folder = tmp_path / "other"
    folder.mkdir()
    os.mkfifo(folder / LOCK_FILE_NAME)
    with pytest.raises(PluginError, match="it is not a regular file"):
        await locking_host(folder, FIND).start()


@pytest.mark.parametrize("lazy", [False, True])
async def test_a_reload_reads_a_changed_lock(tmp_path: Path, lazy: bool) -> None:
    await lock(tmp_path, locking_host(tmp_path, FIND, locked=False))
    other = FIND._replace(name="find_all")
    host = locking_host(tmp_path, other, sections={"lock": {"lazy": lazy}})
    async with connected(host) as client:
        assert (await names(client), await host.reload()) == ([], [])
        await lock(tmp_path, locking_host(tmp_path, other, locked=False))
        (result,) = await host.reload()
        if lazy:
            reason = f"{tmp_path / LOCK_FILE_NAME}: a running host cannot replace the loading of toolkits"
            assert (result.outcome, result.reason) == ("restart needed", reason)
        else:
            assert (str(result), await names(client)) == ("plugin lock: reloaded", ["find_all"])
            damaged = tmp_path / LOCK_FILE_NAME
            damaged.write_text("{")
            os.utime(damaged, ns=(time_ns() + 10**9,) * 2)  # the clock of file systems is some milliseconds late
            (result,) = await host.reload()
            assert (result.outcome, "is not JSON" in result.reason) == ("kept", True)
            assert await names(client) == ["find_all"]


# --- what the lock has, so that a host can list the items of each owner without importing it


class Settings(PluginConfig):
    word: str = "tea"
    api_key: str = ""


def shop(*, lasting: bool = False) -> Toolkit:
    kit = Toolkit("shop", config=Settings, description="A shop.")

    @kit.tool(requires_secrets=["SHOP_KEY"], version="1.2")
    def find(words: str, context: Context[Any]) -> str:
        """Find a cup."""
        return words

    if lasting:

        @kit.lifespan
        async def life(config: Settings) -> AsyncIterator[None]:
            yield

    return kit


def locked(kit: Toolkit, settings: dict[str, Any] | None = None, **host: Any) -> CatalogueLock:
    made = make_host(kit, config={"toolkits": {"shop": settings or {}}}, **host)
    made.load()
    return lock_of(made)


def owner(lock: CatalogueLock) -> LockedOwner:
    return lock.owners["toolkit:shop"]


def test_requirements_hooks_and_the_schema_of_settings_are_recorded() -> None:
    recorded = owner(locked(shop()))
    tool = recorded.tools["shop_find"]
    assert (recorded.description, recorded.hooks, tool.digest) == ("A shop.", (), digest_of(tool.definition))
    assert (tool.definition["requires"], tool.definition["version"]) == ({"secrets": ["SHOP_KEY"]}, "1.2.0")
    assert dict(recorded.settings_schema or {})["properties"].keys() == {"word", "api_key"}
    assert owner(locked(shop(lasting=True))).hooks == ("lifespan",)


def test_settings_are_recorded_as_a_digest_without_secrets() -> None:
    plain, other, secret = (locked(shop(), settings) for settings in ({}, {"word": "milk"}, {"api_key": "canary"}))
    changed = locked(shop(), {"api_key": "another"})
    assert len({owner(lock).settings_digest for lock in (plain, other, secret)}) == 3
    assert owner(secret).settings_digest == owner(changed).settings_digest
    assert b"canary" not in lock_text(secret)
    assert locked(shop(), tool_names="pascal").host_digest != plain.host_digest == locked(shop(), name="x").host_digest


SCHEMA = {"type": "object"}
RAW_TOOL = {"name": "far", "description": "", "annotations": {"readOnlyHint": "maybe", "x": 1}, "later": [1]}
RAW_PROMPT = {"name": "far", "arguments": [{"name": "a", "required": "yes", "later": 1}], "icons": [{"src": "x:y"}]}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            Tool("t", "d", SCHEMA, annotations=ToolAnnotations(read_only=False, extra={"e": ""}), icons=(Icon("i:j"),)),
            {"annotations": {"readOnlyHint": False, "e": ""}, "icons": [{"src": "i:j"}], "inputSchema": SCHEMA},
        ),
        (
            Tool("t", "", SCHEMA, annotations=ToolAnnotations(), meta={"a": 1}, raw={**RAW_TOOL, "_meta": {"b": 2}}),
            {"annotations": RAW_TOOL["annotations"], "later": [1], "_meta": {"a": 1}, "name": "t"},
        ),
        (
            Resource("a:b", "r", size=0, annotations=Annotations(audience=["user"], priority=0)),
            {"uri": "a:b", "size": 0, "annotations": {"audience": ["user"], "priority": 0}},
        ),
        (
            ResourceTemplate("a:{b}", "r", mime_type="text/x", raw={"uriTemplate": "c:{b}", "annotations": {"x": 1}}),
            {"uriTemplate": "a:{b}", "mimeType": "text/x", "annotations": {"x": 1}},
        ),
        (
            Prompt("p", arguments=(PromptArgument("a", description="A"),)),
            {"arguments": [{"name": "a", "description": "A", "required": False}]},
        ),
        (
            Prompt("p", arguments=(PromptArgument("a"),), raw=RAW_PROMPT),
            {"name": "p", "arguments": RAW_PROMPT["arguments"], "icons": RAW_PROMPT["icons"]},
        ),
    ],
)
def test_every_member_is_there(item: Any, expected: dict[str, Any]) -> None:
    assert definition_object(item).items() >= expected.items()
