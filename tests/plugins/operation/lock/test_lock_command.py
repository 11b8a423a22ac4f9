"""`pegboard lock` writes, compares and updates the lock; `--locked` serves nothing else; other commands report it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.docs.pages import Page, pegboard
from tests.plugins.servers.upstreams.mounts import scripted, toml, tool, tools
from tests.support.command_line import SHOP, Command, findings_of
from tests.support.http_mcp import message, modern
from tests.support.recorder import Conversation
from tests.support.wire import PEGBOARD

EXTRA = '''
@kit.tool
def pay(amount: int) -> str:
    """Pay."""
    return str(amount)
'''
CHANGED = SHOP.replace("Find a cup.", "Find a cub.") + EXTRA
LOCKED = {"PEGBOARD__PLUGINS__LOCK__LOCKED": "true"}

REORDERED = SHOP.replace("Find a cup.", "Find a \u202ecup.")
REFUSED = [
    "- tool shop_find, from toolkit:shop: removed",
    "    -description: Find a cup.",
    "    +description: Find a \\u202ecup.",
]
NOTES = "notes_shop_find, from plugin:upstreams/notes"


@pytest.fixture
def shop(bare: Command) -> Command:
    """A folder with a lock of the toolkit `shop`, and the toolkit."""
    bare.install("shop", SHOP)
    file = bare.folder / "pegboard.lock"
    done = bare("lock")
    assert (done.code, done.out) == (0, f"wrote {file}: 1 tool\n")
    assert file.stat().st_mode == (bare.folder / "hostconfig.toml").stat().st_mode
    return bare


def listed(shop: Command, *options: str) -> list[str]:
    conversation, request = Conversation(), json.dumps(modern(message("tools/list")))
    conversation.sent(request.encode())
    answer = conversation.received(shop("stdio", *options, typed=f"{request}\n").out.encode())
    return [tool["name"] for tool in answer["result"]["tools"]]


def test_a_change_is_shown_and_served_once_it_is_accepted(shop: Command) -> None:
    file = shop.folder / "pegboard.lock"
    before = file.read_bytes()
    assert shop("lock", "--check").out == f"nothing has changed in {file}: 1 tool\n"
    shop.install("shop", CHANGED)
    for arguments in (("lock",), ("lock", "--check", "--update", "--yes"), ("lock", "--update")):
        done = shop(*arguments)
        assert (done.code, file.read_bytes()) == (1, before)
        assert "~ tool shop_find, from toolkit:shop: changed\n" in done.out
        assert "    -description: Find a cup.\n    +description: Find a cub.\n" in done.out
        assert "+ tool shop_pay, from toolkit:shop: added\n" in done.out
        assert "`pegboard lock --update` accepts the differences" in done.err
    assert listed(shop, "--locked") == []
    refused = shop("lock", "--update", typed="n\n", terminal=(0, 2))
    assert (refused.code, "Accept 2 differences? [y/N]" in refused.err) == (1, True)
    assert shop("lock", "--update", typed="y\n", terminal=(0, 2)).code == 0
    assert listed(shop, "--locked") == ["shop_find", "shop_pay"]


@pytest.mark.needs("why")
def test_an_unreliable_lock_is_refused_and_not_offered_for_acceptance(shop: Command) -> None:
    assert shop("lock", "--only", "shop").code == 3
    file = shop.folder / "pegboard.lock"
    file.write_text(file.read_text().replace("Find a cup.", "Find a cub."))
    story = shop("why", "shop_find", env=LOCKED).out
    assert story.count("digest") == 1
    commands = [shop("lock", *options) for options in (["--check"], ["--update", "--yes"])]
    assert [done.code for done in commands] == [3, 3]
    for text in (story, *(done.err for done in commands)):
        assert "does not match its definition" in text
        assert "restore the file, or remove it and run `pegboard lock`" in text
    assert "the digest of shop_find does not match" in commands[0].err
    file.write_text(json.dumps({"format": 99}))
    done = shop("lock", "--update", "--yes")
    assert (done.code, "has format 99 and canonical form None" in done.err) == (3, True)


def test_suites_that_name_a_changed_tool_are_named(shop: Command) -> None:
    deep = {"e": "-" * 100_000 + "find", "f": "pay" + ".pay" * 20_000}  # 3.14 parses the second
    for name, code in {"a": "shop.find", "b": "call('Shop.Find')", "c": "shop.pay", "d": "find =", **deep}.items():
        shop.write(code, f"eval_{name}.py")
    assert shop("lock", "--check", "--json").data["suites"] == []
    shop.install("shop", SHOP.replace("Find a cup.", "Find cups."))
    suites = [str(shop.folder / f"eval_{name}.py") for name in "ab"]
    assert shop("lock", "--check", "--json").data["suites"] == suites
    assert f"{suites[1]} names a tool that differs: run `pegboard evals {suites[1]}`" in shop("lock").err


def test_programs_read_the_differences(shop: Command) -> None:
    shop.install("shop", SHOP + EXTRA)
    done = shop("lock", "--check", "--json")
    (difference,) = done.data["differences"]
    assert done.code == 1
    assert (difference["name"], difference["change"], difference["kind"]) == ("shop_pay", "added", "tools")
    assert shop("lock", "--update", "--yes", "--json").data["written"]
    assert shop("lock", "--check", "--json").data["differences"] == []


@pytest.mark.needs("why")
def test_commands_explain_what_the_lock_withholds(shop: Command) -> None:
    shop.install("shop", CHANGED)
    assert listed(shop) == ["shop_find", "shop_pay"]
    story = shop("why", "shop_find", env=LOCKED).out
    assert story.startswith('tool shop_find: not served; it differs from pegboard.lock: description was "Find a cup."')
    assert story.count("Find a cub.") == 1
    listed_now = shop("list", env=LOCKED)
    assert listed_now.out == ""
    assert "2 more are not served" in listed_now.err
    assert "there are no tools" not in listed_now.err
    assert "install a toolkit" not in shop("stdio", env=LOCKED, typed="").err


@pytest.mark.parametrize("command", [("serve", "--locked"), ("stdio", "--locked")])
def test_a_host_does_not_start_without_its_lock(command: tuple[str, ...], shop: Command) -> None:
    (shop.folder / "pegboard.lock").unlink()
    done = shop(*command)
    assert (done.code, "pegboard.lock does not exist: create it with `pegboard lock`" in done.err) == (3, True)
    for section in ("", "\n[plugins.lock]\nlazy = true\n"):
        shop.configure(f'disabled_plugins = ["lock"]{section}')
        done = shop(*command)
        assert done.code == 3
        assert "an option sets this section, but the plugin is disabled by 'lock'" in done.err


def mount(command: Command) -> Path:
    """Mount a server, and return its file."""
    server = command.write(SHOP, "server.py")
    program, *arguments = command.arguments("stdio", str(server))
    env = {"PYTHONPATH": str(command.site), "PATH": {"env": "PATH"}}
    notes = toml("notes", {"command": program, "args": arguments, "env": env})
    command.configure(sections=f"[plugins.upstreams]\nfirst_list_seconds = 60\n{notes}")
    return server


def test_a_link_to_itself_is_replaced(shop: Command) -> None:
    file = shop.folder / "pegboard.lock"
    file.unlink()
    file.symlink_to(file)
    assert (shop("lock").code, file.is_symlink(), b"shop_find" in file.read_bytes()) == (0, False, True)


def test_a_check_fails_if_the_only_item_is_not_served_or_cannot_be_compared(shop: Command) -> None:
    server = mount(shop)
    assert shop("lock", "--update", "--yes").code == 0
    file = shop.folder / "pegboard.lock"
    before = file.read_bytes()
    shop.install("shop", REORDERED)
    done = shop("lock", "--check")
    assert (done.code, done.out.splitlines()) == (1, REFUSED)
    assert "description has U+202E" in done.err
    shop.install("shop", SHOP)
    server.write_text("")
    done = shop("lock", "--check")
    assert (done.code, done.out) == (1, "? plugin:upstreams/notes: unavailable\n")
    assert "cannot be compared: repair the servers" in done.err
    assert (shop("lock", "--update").code, file.read_bytes()) == (0, before)


def test_a_server_that_is_unavailable_at_its_first_lock_is_named(bare: Command) -> None:
    mount(bare).unlink()
    file = bare.folder / "pegboard.lock"
    for again in (False, True):
        done = bare("lock")
        assert (done.code, done.out) == (1, "? plugin:upstreams/notes: unavailable\n")
        assert "notes: cannot connect" in done.err
        assert ("not written" in done.err, file.exists()) == (not again, again)
        accepted = bare("lock", "--update", "--yes")
        assert (accepted.code, accepted.out.startswith(done.out), file.exists()) == (0, True, True)
    checked = bare("lock", "--check")
    assert (checked.code, checked.out) == (1, "? plugin:upstreams/notes: unavailable\n")


@pytest.mark.needs("why")
def test_a_check_passes_after_an_update_if_a_server_has_lost_its_items(bare: Command) -> None:
    section = scripted(bare.folder, tools("a"))
    bare.configure(sections=toml("notes", section))
    for script in (tools("a"), tools()):
        Path(section["args"][-1]).write_text(json.dumps(script))
        assert bare("lock", "--update", "--yes").out.endswith("1 tool\n")
        assert bare("lock", "--check").code == 0
    assert "notes has no items now; the lock keeps its definitions" in bare("lock", "--check").err
    locked = "tool notes_a: not served; pegboard.lock has it from plugin:upstreams/notes, which"
    assert bare("why", "notes.a").out == f"{locked} does not list it now\n"
    Path(section["args"][-1]).write_text(json.dumps({"initialize": "exit"}))
    assert bare("why", "notes_a").out == f"{locked} is not available now\n"


def test_a_plugin_that_cannot_tell_its_unavailable_toolkits_is_named(pegboard: Command) -> None:
    text = """
from pegboard.plugin import Plugin


class Broken(Plugin):
    def unavailable(self):
        raise RuntimeError("lost")
"""
    pegboard.install("broken", text, group="pegboard.plugins", target="Broken")
    pegboard.configure(sections="[plugins.broken]")
    done = pegboard("lock")
    assert (done.code, "Traceback" in done.err) == (3, False)
    assert "plugin 'broken' from dist-broken" in done.err
    assert "unavailable failed: RuntimeError: lost" in done.err


def test_the_refused_text_of_the_only_tool_of_a_server_is_shown(bare: Command) -> None:
    def locked(words: str) -> str:
        script = {"tools/list": {"tools": [tool("shop_find", description=words)]}}
        bare.configure(sections=toml("notes", scripted(bare.folder, script)))
        return bare("lock").out

    assert locked("Find a cup.").endswith(": 1 tool\n")
    assert locked("Find a \u202ecup.").splitlines() == [
        line.replace("shop_find, from toolkit:shop", NOTES) for line in REFUSED
    ]


def test_a_toolkit_or_server_without_items_keeps_its_definitions(shop: Command) -> None:
    file = shop.folder / "pegboard.lock"
    before = file.read_bytes()
    shop.configure(off=["shop"])
    done = shop("lock", "--update", "--yes")
    assert (done.code, "toolkit:shop has no items now" in done.err, file.read_bytes()) == (0, True, before)
    done = shop("lock", "--update", "--prune", "--yes")
    assert (done.code, "- tool shop_find, from toolkit:shop: removed" in done.out) == (0, True)
    assert b"shop_find" not in file.read_bytes()


@pytest.mark.needs("doctor")
@pytest.mark.parametrize("section", ["", "[plugins.lock]"])
def test_a_lock_that_others_can_change_is_reported_once_and_not_fixed(section: str, pegboard: Command) -> None:
    pegboard.configure(sections=section)
    pegboard("lock")
    assert findings_of(pegboard, "lock file") == []
    file = pegboard.folder / "pegboard.lock"
    file.chmod(0o666)
    (finding,) = findings_of(pegboard, "lock file", "--fix")
    assert (finding["level"], finding["message"]) == ("error", f"{file} is refused because other users can write it")
    assert file.stat().st_mode & 0o777 == 0o666


@pytest.mark.needs("why")
def test_why_names_a_lock_that_cannot_be_read(pegboard: Command) -> None:
    pegboard.configure(sections='[plugins.upstreams.servers.far]\ncommand = "/none/server"')
    file = pegboard.write("{", "pegboard.lock")
    assert pegboard("why", "far_tool").out.startswith(f"{file} is not JSON: ")


PAGE = Page("docs/lock.md")


@pytest.mark.needs("tool_commands")
def test_the_mounted_server_loses_the_tool_that_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(PEGBOARD.parent), prepend=os.pathsep)
    PAGE.write(tmp_path)
    for line in ("config trust", "lock"):
        assert pegboard(*line.split(), cwd=tmp_path).code == 0
    (tmp_path / "server/changed.py").replace(tmp_path / "server/weather.py")
    checked = pegboard("lock", "--check", cwd=tmp_path)
    assert (checked.code, checked.out) == (1, PAGE.blocks["text output"])
    called = pegboard("call", "weather_forecast", "city=Oslo", cwd=tmp_path)
    assert (called.code, "is not served: it differs from pegboard.lock: description was" in called.err) == (1, True)
