"""`pegboard bundle`: its files are valid for the official tool, and start as a client starts them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard_client import Client, Program
from pegboard_plugins.authoring.bundle.bundled_files import server_files
from tests.support.command_line import SHOP, Command
from tests.support.environments import built_wheels, executable, make_environment, run
from tests.support.npm import node, package_folder
from tests.support.output_schema import problems

MCPB = "2.1.2"
SERVER = """\
from pegboard import Toolkit
from words.counting import count_words

kit = Toolkit("texts", version="1.4.0")


@kit.tool(requires_secrets=["TEXT_KEY"])
def count(text: str) -> int:
    \"\"\"Count words.\"\"\"
    import uritemplate  # a module that only this function needs

    return count_words(text)
"""

pytestmark = pytest.mark.timeout(300)


def official(folder: Path, *arguments: str | Path) -> str:
    script = package_folder("@anthropic-ai/mcpb", MCPB) / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
    return run(node(), script, *arguments, cwd=folder)


def bundled(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    """Write a bundle in an environment without editable packages, unpack it, and return its manifest."""
    environment = make_environment("bundle", "toolkit-files", "toolkit-math", "uritemplate", wheels=built_wheels())
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home")}
    project = folder / "project"
    project.mkdir(exist_ok=True)
    report = json.loads(run(executable(environment, "pegboard"), "bundle", "--json", *arguments, cwd=project, env=env))
    assert problems("pegboard bundle", report) == []
    official(project, "unpack", report["file"], folder / "unpacked")
    official(folder, "validate", folder / "unpacked" / "manifest.json")
    manifest: dict[str, Any] = json.loads((folder / "unpacked" / "manifest.json").read_text("utf-8"))
    assert [manifest["name"], manifest["version"]] == [report["name"], report["version"]]
    assert [tool["name"] for tool in manifest["tools"]] == report["tools"]
    return manifest


def started(folder: Path, manifest: dict[str, Any], **answers: str) -> Client:
    """Return a client that starts the server of an unpacked bundle with the answers of a user."""
    config = json.dumps(manifest["server"]["mcp_config"]).replace("${__dirname}", str(folder / "unpacked"))
    for key in manifest["user_config"]:
        config = config.replace(f"${{user_config.{key}}}", answers[key])
    server = json.loads(config)
    (folder / "bin").mkdir()
    (folder / "bin" / server["command"]).symlink_to(Path(sys.executable).resolve())
    env = {"PATH": str(folder / "bin"), "HOME": str(folder / "home"), **server["env"]}
    return Client(Program(server["command"], server["args"], env=env, cwd="/"))


async def test_a_file_is_bundled_with_its_modules_and_all_distributions(tmp_path: Path) -> None:
    words = tmp_path / "project" / "words"
    words.mkdir(parents=True)
    words.with_name("texts.py").write_text(SERVER)
    (words / "counting.py").write_text("def count_words(text: str) -> int:\n    return len(text.split())\n")
    manifest = bundled(tmp_path, "texts.py", "--author", "Ada")
    assert (manifest["name"], manifest["version"], manifest["author"]) == ("texts", "1.4.0", {"name": "Ada"})
    assert manifest["compatibility"]["platforms"] == [sys.platform]
    packed = {file.name for file in (tmp_path / "unpacked").rglob("*")}
    assert packed & {"toolkit_math", "__pycache__", "direct_url.json"} == set()
    asked = manifest["user_config"]["TEXT_KEY"]
    assert (asked["sensitive"], asked["required"]) == (True, True)
    async with started(tmp_path, manifest, TEXT_KEY="12345") as client:
        assert [tool["name"] for tool in await client.tools()] == ["texts_count"]
        assert (await client.call("texts_count", {"text": "to be"}))["structuredContent"] == 2


async def test_installed_toolkits_are_bundled_and_the_client_asks_for_a_folder(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "note.txt").write_text("hello")
    manifest = bundled(tmp_path, "--only", "files", "--output", tmp_path / "mine.mcpb")
    assert manifest["name"] == "files"
    assert manifest["user_config"]["root"]["type"] == "directory"
    async with started(tmp_path, manifest, root=str(shared)) as client:
        assert {tool["name"] for tool in await client.tools()} == {tool["name"] for tool in manifest["tools"]}
        assert "hello" in str(await client.call("files_read", {"path": "note.txt"}))


def test_the_standard_library_is_no_part_of_a_server_in_a_folder_above_it() -> None:
    library = Path(os.__file__).resolve().parent
    assert server_files([], library) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("kit.py",), "pegboard is installed in place (editable): install its wheel"),
        (("empty.py",), "there are no tools to bundle: name a file that defines tools, or install a toolkit"),
        (("kit.py", "--config", "hostconfig.toml"), "a bundle carries no configuration file: leave out --config"),
    ],
)
def test_what_cannot_be_bundled_is_refused(pegboard: Command, arguments: tuple[str, ...], problem: str) -> None:
    pegboard.write(SHOP, "kit.py")
    pegboard.write('from pegboard import Toolkit\nkit = Toolkit("empty")\n', "empty.py")
    done = pegboard("bundle", *arguments)
    assert (done.code, problem in done.err) == (2, True), done.err
    assert [name for name in os.listdir(pegboard.folder) if name.endswith(".mcpb")] == []
