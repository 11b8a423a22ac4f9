"""The output of commands with `--json` has the published JSON Schema, and failures have one form."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from pegboard.cli.parsing.declared_commands import host_commands
from pegboard.cli.parsing.parser import described_commands
from pegboard.plugin import CommandDescription
from tests.support.command_line import Command
from tests.support.output_schema import problems
from tools.output_schemas import output_types

LINES = {
    "show": "show demo_echo",
    "call": "call demo_add a:=1",
    "why": "why demo",
    "completion": "completion bash",
    "new": "new toolkit weather",
    "enable": "enable timing",
    "disable": "disable timing",
    "config set": "config set host.name shed",
    "config trust": "config trust hostconfig.toml",
    "config untrust": "config untrust hostconfig.toml",
    "configure CLIENT": "configure claude-code --project",
    "configure remove": "configure remove claude-code --project --name mine",
    "evals": "evals --compare report.json report.json",
    "secret set": "secret set DEMO_KEY",
    "secret unset": "secret unset DEMO_KEY",
}
"""Commands that need arguments."""
WITHOUT_SCHEMA = {"stdio", "serve", "dev", "demo", "config schema", "configure"}
"""Commands that serve or converse, and those with the output of another format: JSON Schema, entries of clients."""


@pytest.mark.parametrize("command", sorted(output_types().keys() - {"reload", "bundle"}))
def test_the_output_of_a_command_has_its_schema(command: str, pegboard: Command) -> None:
    pegboard.write('{"mcpServers": {"mine": {"command": "sh"}}}', ".mcp.json")
    pegboard.write('{"version": 1, "score": 1, "cases": []}', "report.json")
    env = {"XDG_STATE_HOME": str(pegboard.folder / "state"), "DEMO_KEY": None}
    if command == "secret unset":
        pegboard(*LINES["secret set"].split(), env=env, typed="value")
    done = pegboard(*LINES.get(command, command).split(), "--json", env=env, typed="value")
    assert done.code == 0
    assert problems(f"pegboard {command}".rstrip(), done.data) == []
    assert problems("failure", done.data)


def test_the_output_of_a_reload_has_its_schema(pegboard: Command) -> None:
    line = pegboard.arguments("serve", "--port", "0")
    env = pegboard.environment()
    with subprocess.Popen(line, cwd=pegboard.folder, env=env, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        assert any("next: " in text for text in server.stderr)
        (pegboard.site / "demo_kit.py").write_text("raise OSError('no such disk')")
        done = pegboard("reload", "--json")
        server.terminate()
    assert problems("pegboard reload", done.data) == []
    assert (done.code, done.data[0]["results"][0]["outcome"]) == (1, "kept")


def leaves(group: CommandDescription, words: str = "") -> Iterator[str]:
    """Yield the words of each command that is no group."""
    for name, command in group.commands.items():
        yield from leaves(command, f"{words}{name} ") if command.commands else [words + name]


def test_every_command_has_a_schema() -> None:
    commands = set(leaves(described_commands(host_commands().values())))
    missing = commands - output_types().keys() - WITHOUT_SCHEMA
    assert {name for name in missing if name.partition(" ")[0] not in {"configure", "completion"}} == set()


NO_FIELDS = {"file": None, "line": None, "column": None, "key": None, "place": None, "suggestion": None}


@pytest.mark.needs("configure", "edit_config", "secret", "tool_commands", "why")
@pytest.mark.parametrize(
    ("line", "text", "env", "code", "kind", "problem"),
    [
        ("lits", "", {}, 2, "USAGE", {"suggestion": "list"}),
        ("list --jsno", "", {}, 2, "USAGE", {"suggestion": "--json"}),
        ("call demo_echo text", "", {}, 2, "USAGE", {}),
        ("new planet mars", "", {}, 2, "USAGE", {}),
        ("configure remove curser", "", {}, 2, "USAGE", {"suggestion": "cursor"}),
        ("show demo_eco", "", {}, 1, "FAILED", {"suggestion": "demo_echo"}),
        ("why dmeo", "", {}, 1, "FAILED", {"suggestion": "demo"}),
        ("list", "[host", {}, 3, "CANNOT_START", {"line": 1, "column": 6}),
        ("list", "[host]\nnmae = 1", {}, 3, "CANNOT_START", {"line": 2, "key": "host.nmae", "suggestion": "name"}),
        (
            "list", "", {"PEGBOARD__HOST__PAGE_SIZE": "x"}, 3, "CANNOT_START",
            {"key": "host.page_size", "place": "environment variable PEGBOARD__HOST__PAGE_SIZE"},
        ),
        ("serve --port 99999", "", {}, 3, "CANNOT_START", {"key": "plugins.http.port", "place": "command line"}),
        ("list --config none.toml", "", {}, 3, "CANNOT_START", {"file": "none.toml"}),
        ("call demo_echo --only dmeo", "", {}, 3, "CANNOT_START", {"place": "--only", "suggestion": "demo"}),
        ("config set host.nmae x", "[host]\n", {}, 3, "CANNOT_START",
         {"line": 2, "key": "host.nmae", "suggestion": "name"}),
        ("secret unset DEMO_KEY", "", {}, 1, "FAILED", {}),
        ("show stdio", "", {}, 1, "FAILED", {}),
    ],
)  # fmt: skip
def test_a_failure_has_one_form(
    line: str, text: str, env: dict[str, str], code: int, kind: str, problem: dict[str, Any], pegboard: Command
) -> None:
    if text:
        pegboard.write(text)
    done = pegboard(*line.split(), "--json", env=env)
    assert (done.code, done.err) == (code, "")
    assert problems("failure", done.data) == []
    error = done.data["error"]
    assert (error["kind"], error["exit_code"]) == (kind, code)
    (detail,) = error["problems"]
    assert detail.pop("message") in error["message"]
    file = {"file": "hostconfig.toml"} if text else {}
    assert detail == {**NO_FIELDS, **file, **problem}


@pytest.mark.parametrize("line", ["stdio --config", "--file x stdio --config none.toml", "serve --transport stdio x"])
def test_the_failure_of_a_server_leaves_stdout_to_its_client(line: str, pegboard: Command) -> None:
    done = pegboard(*line.split(), "--json")
    assert (done.out, bool(done.err)) == ("", True)


@pytest.mark.needs("tool_commands")
def test_a_failed_call_has_the_form_of_every_failure(pegboard: Command) -> None:
    done, crashed = pegboard("call", "demo_again", "--json"), pegboard("call", "demo_crash", "--json")
    assert problems("failure", done.data) == problems("failure", crashed.data) == []
    error = done.data["error"]
    assert (error["kind"], error["exit_code"], error["retry_after_ms"]) == ("TOOL_RUNTIME_RETRY", 1, 50)
    assert error["problems"] == [{"message": error["message"], **NO_FIELDS}]
