"""`[plugins.local_files]` serves the tools of files and folders, and runs no other file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, MCPError
from pegboard.config import HostConfig
from pegboard_plugins.toolkit_sources import local_files
from tests.host.hosting import value

TOOL = "from pegboard import tool as t\n@t\ndef {name}() -> str:\n    '''Say the name.'''\n    return __file__\n"
KIT = """from pegboard import Toolkit
kit = Toolkit("{name}")
@kit.tool
def say() -> str:
    '''Say nothing.'''
    return ""
"""
TRAP = "raise SystemExit('this file was run')\n"


@pytest.fixture(autouse=True)
def module_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, **files: str) -> Path:
    """Write files. `__` in a name separates folders."""
    for name, text in files.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


def host_of(folder: Path, *paths: str, **host: Any) -> Host:
    section = {"autoload": False, "transports": [], **host}
    return Host(HostConfig.of({"host": section, "plugins": {"local_files": {"paths": list(paths)}}}, directory=folder))


def loaded(folder: Path, *paths: str, **host: Any) -> Host:
    started = host_of(folder, *paths, **host)
    started.load()
    return started


async def test_a_folder_serves_its_files_with_tools_and_runs_no_other(tmp_path: Path) -> None:
    write(
        tmp_path, demo=TOOL.format(name="add"), tools__text__demo=TOOL.format(name="upper"),
        arcade_tools__shout=KIT.format(name="loud"), tools__deep__down__kit=KIT.format(name="deep"),
        setup=TRAP, tools__helper=f"import pegboard\n{TRAP}", test_demo=TOOL.format(name="test") + TRAP,
        tools__demo_test=KIT.format(name="tested") + TRAP, other__kit=KIT.format(name="elsewhere") + TRAP,
        **{"tools__.venv__kit": KIT.format(name="hidden") + TRAP},
    )  # fmt: skip
    async with host_of(tmp_path, ".") as host:
        assert set(host.assembly.tools) == {"demo_add", "demo_upper", "loud_say", "deep_say"}
        assert await value(host, "demo_add") == str(tmp_path / "demo.py"), "equal names do not clash"
        assert await value(host, "demo_upper") == str(tmp_path / "tools/text/demo.py")
        assert host.problems == ()
    reasons = {
        choice.origin.name: choice.reason
        for choice in host.report.choices
        if choice.on and choice.origin.kind == "toolkit"
    }
    assert reasons == dict.fromkeys(("deep", "demo", "loud"), "found by [plugins.local_files]")


@pytest.mark.needs("compat")
async def test_a_mounted_server_is_served_only_by_the_other_server(tmp_path: Path) -> None:
    start = "from pegboard_plugins.compat.fastmcp import FastMCP\nsub = FastMCP('sub')\napp = FastMCP('app')\n"
    write(tmp_path, server=f"{start}sub.add_tool(lambda: 'hello', name='greet')\napp.mount(sub, 'sub')\n")
    async with host_of(tmp_path, "server.py") as host:
        assert [*host.assembly.tools] == ["sub_greet"]


async def test_modules_of_the_folder_can_be_imported(tmp_path: Path) -> None:
    text = "import beside_tools, beside_root\n" + TOOL.format(name="add")
    write(tmp_path, tools__demo=text, tools__beside_tools="", beside_root="")
    assert (set(loaded(tmp_path, ".").assembly.tools), loaded(tmp_path, ".").problems) == ({"demo_add"}, ())


def test_a_file_that_fails_disables_only_its_toolkit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, bad=KIT.format(name="bad") + "1 / 0\n", good=KIT.format(name="good"), odd="import pegboard\n(")
    write(tmp_path, null="import pegboard\0", deep=f"import pegboard\n{'-' * 100_000}1")
    write(
        tmp_path, twin=KIT.format(name="same"), other=KIT.format(name="same"), gone=KIT.format(name="gone") + "del kit"
    )
    host = loaded(tmp_path, ".")
    assert set(host.assembly.tools) == {"good_say"}
    problems = {problem.origin.name: problem for problem in host.problems if problem.origin}
    assert set(problems) == {"bad", "same", "gone"}
    assert "bad.py: ZeroDivisionError: division by zero" in problems["bad"].message
    assert problems["same"].message == (
        f"{tmp_path / 'other.py'}:kit has a toolkit with the same name, so neither runs; rename one toolkit"
    )
    assert not any(problem.fatal for problem in host.problems)
    reasons = {
        "odd": r"line 2: '\(' was never closed",
        "null": "source code string cannot contain null bytes",
        "deep": r"\w",
    }
    for name, reason in reasons.items():
        assert re.search(f"{name}.py is left out, because it cannot be read: {reason}", caplog.text)


@pytest.mark.parametrize("path", ["demo.py", "."])
async def test_a_syntax_error_keeps_the_tools_until_it_is_repaired(tmp_path: Path, path: str) -> None:
    write(tmp_path, demo=TOOL.format(name="add"))
    async with host_of(tmp_path, path) as host:
        write(tmp_path, demo=TOOL.format(name="more") + "x = (\n")
        (result,) = await host.reload()
        assert (result.outcome, [*host.assembly.tools]) == ("kept", ["demo_add"])
        assert result.reason == f"SyntaxError: '(' was never closed ({tmp_path / 'demo.py'}:6)"
        write(tmp_path, demo=TOOL.format(name="more"))
        (result,) = await host.reload()
        assert (result.outcome, [*host.assembly.tools]) == ("reloaded", ["demo_more"])


async def test_a_file_that_was_broken_at_the_start_is_added(tmp_path: Path) -> None:
    write(tmp_path, demo="import pegboard\n(")
    async with host_of(tmp_path, "demo.py") as host:
        write(tmp_path, demo=TOOL.format(name="add"))
        (result,) = await host.reload()
        assert (result.outcome, [*host.assembly.tools]) == ("added", ["demo_add"])


def test_names_of_toolkits_decide_about_files_too(tmp_path: Path) -> None:
    write(tmp_path, off=KIT.format(name="off") + TRAP, on=KIT.format(name="on"))
    assert set(loaded(tmp_path, "off.py", "on.py", disabled_toolkits=["off"]).assembly.tools) == {"on_say"}


@pytest.mark.parametrize(
    ("paths", "message"), [(["absent"], "absent does not exist"), (["many"], "many has more than 1 Python files")]
)
async def test_wrong_paths_prevent_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], message: str
) -> None:
    monkeypatch.setattr(local_files, "MAX_FILES_COUNT", 1)
    write(tmp_path, many__a="", many__b="")
    with pytest.raises(MCPError, match=message):
        await host_of(tmp_path, *paths).start()


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, outside__kit=KIT.format(name="outside") + TRAP, inside__own="")
    (tmp_path / "inside/kit.py").symlink_to(tmp_path / "outside/kit.py")
    assert not loaded(tmp_path, "inside").assembly.tools
    assert "leads out of" in caplog.text
    assert "no tools are defined in" in caplog.text
