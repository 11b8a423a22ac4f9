"""`pegboard configure` as users run it: the entry is written, and the server is started as its client would."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard_plugins.authoring.configure.clients import CLIENTS
from tests.docs.pages import Page, serving
from tests.support.command_line import INSTALLED, Command, findings_of
from tests.support.forks import Done

SERVER = """
import os
from pegboard import Toolkit
kit = Toolkit("shop", version="7")
@kit.tool
def place() -> str:
    "Tell the working directory."
    return os.getcwd()
@kit.prompt
def greet() -> str:
    "Greet."
    return os.environ["MOOD"]
"""


@pytest.fixture
def home(bare: Command) -> Path:
    """The home directory, in which Cursor has been started once."""
    (bare.folder / ".cursor").mkdir()
    return bare.folder


def entries(home: Path) -> dict[str, Any]:
    servers: dict[str, Any] = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    return servers


def test_a_file_is_served_from_another_folder_with_the_configuration_of_this_one(bare: Command, home: Path) -> None:
    bare.write(SERVER, "my_shop.py")
    done = bare("configure", "cursor", "my_shop.py", "--env", "MOOD=fine")
    assert (done.code, done.err) == (0, "")
    assert "shop 7, MCP 2026-07-28" in done.out
    assert "  it serves 1 tool (shop_place); 1 prompt (shop_greet)" in done.out
    entry = entries(home)["my-shop"]
    assert entry["args"] == ["stdio", f"{home}/my_shop.py", "--config", f"{home}/hostconfig.toml"]
    assert (Path(entry["command"]).is_file(), entry["env"]) == (True, {"MOOD": "fine"})
    shown = bare("configure", "cursor", "my_shop.py", terminal=(2,), env={"TERM": "xterm"})
    assert shown.err == "starting the server as Cursor does\x1b[K\x1b[K"
    data = bare("configure", "cursor", "my_shop.py", "--json").data
    assert (data["changed"], data["difference"], data["answer"]["items"]["tools"]) == (False, [], ["shop_place"])


def test_a_server_that_does_not_start_is_reported_with_its_output(bare: Command, home: Path) -> None:
    bare.write("raise RuntimeError('no shop today')", "shop.py")
    done = bare("configure", "cursor", "shop.py")
    assert done.code == 1
    assert "the server does not answer" in done.out
    assert "no shop today" in done.out
    assert done.out.endswith("or remove the entry: pegboard configure remove cursor shop\n")
    assert "shop" in entries(home)


def test_a_server_at_a_url_is_asked(bare: Command, home: Path, tmp_path: Path) -> None:
    bare.write(SERVER, "shop.py")
    with serving(home, "shop.py", "--config", "hostconfig.toml") as address:
        done = bare("configure", "cursor", "--url", f"{address}/mcp", "--header", "X-Key: hidden-value")
        assert (done.code, "1 tool (shop_place)" in done.out, "hidden-value" in done.out) == (0, True, False)
    assert entries(home)["pegboard"] == {"url": f"{address}/mcp", "headers": {"X-Key": "hidden-value"}}
    done = bare("configure", "cursor", "--url", f"{address}/mcp")
    assert (done.code, "the server does not answer" in done.out) == (1, True)


@pytest.mark.needs("auth_token")
def test_a_refused_token_is_reported_with_the_reason(bare: Command, home: Path) -> None:
    bare.write(SERVER, "shop.py")
    bare.write(f'[plugins.auth_token]\ntoken = "{"0123456789" * 4}"\n', "own.toml")
    with serving(home, "shop.py", "--config", "own.toml") as address:
        done = bare("configure", "cursor", "--url", f"{address}/mcp", "--header", "Authorization: Bearer x")
    assert (done.code, "refused the token: The token is not known here." in done.out) == (1, True), done


def test_the_list_has_every_client_and_tells_which_command_is_gone(bare: Command, home: Path) -> None:
    assert "no client has an entry" in bare("configure", "list").err
    bare("configure", "cursor", "--no-check")
    gone = {"gone": {"command": "/no/such/pegboard"}, "far": {"httpUrl": "https://u:p@x.example/mcp?key=1"}, "odd": 1}
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": gone}))
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("broken")
    rows = {(row["client"], row["name"]): row for row in bare("configure", "list", "--json").data}
    assert rows["cursor", "pegboard"]["state"] == "ok"
    assert rows["gemini-cli", "gone"]["state"] == "the command does not exist"
    assert rows["gemini-cli", "far"]["server"] == "https://x.example/mcp"
    assert rows["gemini-cli", "odd"]["state"] == "it has no command and no URL"
    assert "it is not TOML" in rows["codex", ""]["state"]
    assert "gemini-cli" in bare("configure", "list").out


def test_a_client_that_was_never_started_has_nothing_to_remove(bare: Command) -> None:
    done = bare("configure", "remove", "cursor")
    assert (done.code, done.out, "has no entry of pegboard: nothing to remove" in done.err) == (0, "", True)


def test_a_project_has_its_own_file(bare: Command, home: Path) -> None:
    assert bare("configure", "vscode", "--project", "--dry-run").code == 0
    assert not (home / ".vscode").exists()
    assert bare("configure", "vscode", "--project", "--no-check").code == 0
    entry = json.loads((home / ".vscode" / "mcp.json").read_text())["servers"]["pegboard"]
    assert (entry["type"], Path(entry["command"]).is_file()) == ("stdio", True)
    assert bare("configure", "remove", "vscode", "--project").code == 0
    assert bare("configure", "windsurf", "--project").code == 2


def test_the_tools_for_files_get_a_folder_that_a_person_chose_or_are_left_out(bare: Command, home: Path) -> None:
    off = f"[host]\ndisabled_toolkits = {[name for name in INSTALLED if name != 'files']}\n"
    bare.write(off)
    work, other_home = home / "work", home.parent / "person"
    for folder in (work, other_home / ".cursor"):
        folder.mkdir(parents=True)
    own = ["stdio", "--config", f"{home}/hostconfig.toml"]
    left_out, question = [*own, "--without", "files"], f"read the files in {home}? [y/N]"

    def entry(*more: str, place: Path = home, **options: Any) -> tuple[list[str], Done]:
        done = bare("configure", "cursor", *more, env={"HOME": str(place)}, **options)
        return entries(place)["pegboard"]["args"], done

    args, done = entry("--root", "work")
    assert (args, done.code, "it serves 7 tools (files_find" in done.out) == ([*own, "--root", str(work)], 0, True)
    args, done = entry()
    assert (args, "ERROR" in done.out) == (left_out, False)
    assert "the tools for files are left out; to add them, run: pegboard configure cursor --root FOLDER" in done.err
    for answer, arguments in (("y\n", [*own, "--root", str(home)]), ("\n", left_out)):
        args, done = entry("--no-check", place=other_home, typed=answer, terminal=(0, 2))
        assert (args, question in done.err) == (arguments, True)
    args, done = entry("--no-check", typed="y\n", terminal=(0, 2))
    assert (args, question in done.err) == (left_out, False)  # the working directory is the home directory
    bare.write(f"{off}[toolkits.files]\nroots = ['work']\n")
    assert entry("--no-check")[0] == own


def test_a_link_out_of_the_project_is_not_followed(bare: Command, home: Path, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other")
    (home / ".vscode").symlink_to(other)
    for command in ([], ["remove"]):
        done = bare("configure", *command, "vscode", "--project", *([] if command else ["--no-check"]))
        assert (done.code, f"leads to {other}/mcp.json, outside of this project" in done.err) == (1, True)
        assert "--path" in done.err
    assert list(other.iterdir()) == []
    (home / ".vscode").unlink()
    (home / "settings").mkdir()
    (home / ".vscode").symlink_to("settings")
    assert bare("configure", "vscode", "--project", "--no-check").code == 0


def test_the_secrets_of_a_url_are_not_printed(bare: Command, home: Path) -> None:
    outputs = []
    for number in range(2):
        url = f"http://ann:pass-canary{number}@127.0.0.1:1/mcp?key=query-canary{number}"
        for more in ([], ["--json"], ["--no-check"]):
            done = bare("configure", "cursor", "--url", url, *more)
            outputs.append(done.out + done.err)
        assert entries(home)["pegboard"]["url"] == url
    assert "canary" not in "".join(outputs)
    assert '+ "url": "http://***@127.0.0.1:1/mcp?***"' in " ".join(outputs[0].split())
    assert '+ "url": "http://*** (changed)@127.0.0.1:1/mcp?*** (changed)"' in " ".join(outputs[3].split())


@pytest.mark.parametrize("values", [["--env", "KEY=canary"], ["--url", "http://127.0.0.1:1/", "--header", "X: canary"]])
def test_values_in_a_file_that_others_can_read_are_reported(bare: Command, home: Path, values: list[str]) -> None:
    new = bare("configure", "cursor", *values, "--no-check")
    assert (new.code, "other users can read" in new.err) == (0, False)  # only its owner can read a new file
    file = home / ".cursor" / "mcp.json"
    file.chmod(0o644)
    warning = f"pegboard: other users can read {file}, which has the values that you gave: run chmod 600 {file}"
    assert warning in bare("configure", "cursor", *values, "--no-check").err
    assert "other users" not in bare("configure", "cursor", "--no-check").err


def test_one_of_several_entries_is_removed_by_name(bare: Command, home: Path) -> None:
    for name in ("one", "two", "three"):
        bare("configure", "cursor", "--name", name, "--no-check")
    done = bare("configure", "remove", "cursor")
    assert (done.code, "several entries start pegboard: name one of them: one, three, two" in done.err) == (2, True)
    assert bare("configure", "remove", "cursor", "one").code == 0
    assert bare("configure", "remove", "cursor", "--name", "two").code == 0
    assert bare("configure", "remove", "cursor", "three", "--name", "two").code == 2
    assert list(entries(home)) == ["three"]


def test_other_clients_get_the_entry_printed(bare: Command) -> None:
    printed = bare("configure", "json", "--only", "math", "--name", "sums").data
    assert printed["mcpServers"]["sums"]["args"][-2:] == ["--only", "math"]
    printed = bare("configure", "json", "--url", "https://x.example/mcp", "--header", "A: b").data
    assert printed == {
        "mcpServers": {"pegboard": {"type": "http", "url": "https://x.example/mcp", "headers": {"A": "b"}}}
    }


@pytest.mark.parametrize(
    ("line", "code", "problem"),
    [
        ("cursr", 2, "did you mean 'cursor'?"),
        ("remove cursr", 2, "did you mean 'cursor'?"),
        ("cursor gone.py", 2, "gone.py does not exist"),
        ("cursor --name a/b", 2, "'a/b' is not a valid name"),
        ("cursor --url https://x.example --only math", 2, "leave them out"),
        ("cursor --header A:b", 2, "add --url"),
        ("cursor --root /", 2, "name a folder below it"),
        ("cursor --root .", 2, "is or holds your home directory"),
        ("cursor --root gone", 2, "does not exist"),
        ("cursor --url https://x.example --root .", 2, "leave them out"),
        ("cursor --env A-B=secret", 2, "NAME=VALUE"),
        ("cursor --env UNSET", 2, "UNSET is not set"),
        ("windsurf", 1, "start Windsurf once"),
        ("cursor --config gone.toml", 3, "gone.toml"),
        *([] if sys.platform == "darwin" else [("claude-desktop", 2, "documents no file for this platform")]),
        ("claude-desktop --path a.json --url https://x.example", 2, "reads only commands"),
    ],
)
def test_a_wrong_command_line_has_one_clear_message(
    line: str, code: int, problem: str, bare: Command, home: Path
) -> None:
    done = bare("configure", *line.split())
    assert (done.code, problem in done.err, "secret" in done.err) == (code, True, False), done
    assert not (home / ".cursor" / "mcp.json").exists()


# --- docs/clients.md, and the check of doctor


PAGE = Page("docs/clients.md")


def test_each_client_has_a_section_with_its_command_file_and_source() -> None:
    sections = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", PAGE, re.M | re.S))
    for client in CLIENTS.values():
        section = sections[client.title]
        assert f"`pegboard configure {client.name}`" in section
        assert f"[Source]({client.source})" in section
        assert client.project_file in section
        assert client.servers in ("mcpServers", "mcp_servers") or f"`{client.servers}`" in section
        assert client.url in ("", "url") or f"`{client.url}`" in section
    assert list(sections) == [client.title for client in CLIENTS.values()]


def test_a_client_with_a_missing_command_is_found(pegboard: Command) -> None:
    entry = {"mcpServers": {"mine": {"command": "/none/pegboard", "args": ["stdio"]}, "other": {"command": "/none/x"}}}
    pegboard.write(json.dumps(entry), ".mcp.json")
    (finding,) = findings_of(pegboard, "clients")
    assert finding["level"] == "error"
    assert finding["message"].startswith(
        "Claude Code starts the server 'mine' with /none/pegboard, which does not exist"
    )
    assert finding["fix"] == "write the entry again: pegboard configure claude-code --name mine"
