"""The output of commands with `--json` has the published JSON Schema."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

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
