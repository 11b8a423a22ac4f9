"""The scripts of `pegboard completion`, in the shells that they are for."""

from __future__ import annotations

import os
import pty
import select
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.command_line import SHOP, Command
from tests.support.distributions import make_sample_site
from tests.support.peer import WAIT

BASH = """
source "$1"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]}-1))
[[ "$2" == *" " ]] && { COMP_WORDS+=(""); COMP_CWORD=$((COMP_CWORD+1)); }
_pegboard; printf '%s\\n' "${COMPREPLY[@]}"
"""
EDITS = pytest.mark.needs("edit_config")
LINES = [
    ("pegboard compl", {"completion"}, {"config"}),
    ("pegboard config ", {"check", "trust"}, {"list"}),
    pytest.param("pegboard --json config s", {"set", "show", "schema"}, {"check", "serve"}, marks=EDITS),
    ("pegboard serve --po", {"--port"}, {"--host"}),
    ("pegboard call demo_e", {"demo_echo", "demo_evil"}, {"demo_add"}),
    ("pegboard --config ", set(), {"list", "--json"}),
    ("pegboard serve --log-level ", {"debug", "error"}, {"--port", "list"}),
    pytest.param("pegboard enable tim", {"timing"}, {"demo_echo"}, marks=EDITS),
    ("pegboard call --file shop.py ", {"shop_find"}, {"demo_echo"}),
    ("pegboard --file shop.py show shop", {"shop_find"}, set()),
    pytest.param(
        "pegboard new plugin acme --kind m", {"middleware", "method"}, {"--kind"}, marks=pytest.mark.needs("new")
    ),
]


@pytest.fixture
def script(pegboard: Command, request: pytest.FixtureRequest) -> Path:
    """Return the script for a shell. The command `pegboard` of the tests is first on the PATH."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    command = pegboard.write(f'#!/bin/sh\nexec {sys.executable} -m pegboard "$@"\n', "pegboard")
    command.chmod(0o755)
    return pegboard.write(pegboard("completion", shell).out, f"completion.{shell}")


def environment(pegboard: Command) -> dict[str, str]:
    own = pegboard.environment({"TERM": "dumb", "ZDOTDIR": str(pegboard.folder)})
    return {**own, "PATH": f"{pegboard.folder}:{own['PATH']}"}


@pytest.mark.parametrize(("line", "offered", "left_out"), LINES)
@pytest.mark.parametrize("script", ["bash", "fish"], indirect=True)
def test_a_shell_offers_commands_options_and_tools(
    script: Path, line: str, offered: set[str], left_out: set[str], pegboard: Command
) -> None:
    pegboard.write(SHOP, "shop.py")
    command = (
        ["bash", "--norc", "-c", BASH, "bash", str(script), line]
        if script.suffix == ".bash"
        else ["fish", "--no-config", "-c", f"source {script}; complete --do-complete '{line}'"]
    )
    done = pegboard.run(command, env=environment(pegboard))
    words = {row.split("\t")[0] for row in done.out.splitlines()}
    assert (done.code, offered <= words, words & left_out, done.err) == (0, True, set(), "")


def test_the_script_has_the_commands_of_enabled_plugins(pegboard: Command) -> None:
    make_sample_site(pegboard.site, "acme_desk")
    assert "/desk/wipe" not in pegboard("completion", "bash").out
    pegboard.configure(sections="[plugins.acme_desk]")
    assert '"/desk/wipe") candidates="' in pegboard("completion", "bash").out


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (b"pegboard compl\t", b"pegboard completion "),
        (b"pegboard config untr\t", b"pegboard config untrust "),
        (b"pegboard serve --po\t", b"pegboard serve --port "),
        (b"pegboard call demo_ec\t", b"pegboard call demo_echo "),
        (b"pegboard call --file shop.py shop_f\t", b"pegboard call --file shop.py shop_find "),
        (b"pegboard new plugin acme --kind middl\t", b"pegboard new plugin acme --kind middleware "),
    ],
)
def test_zsh_completes_at_a_terminal(script: Path, typed: bytes, completed: bytes, pegboard: Command) -> None:
    pegboard.write(SHOP, "shop.py")
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(pegboard.folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], environment(pegboard))
    try:
        setup = f"PS1=; autoload -Uz compinit; compinit -D -u; source {script}; echo rea''dy\n"
        os.write(terminal, setup.encode())
        read_until(terminal, b"ready")
        os.write(terminal, typed)
        read_until(terminal, completed)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def read_until(terminal: int, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        assert select.select([terminal], [], [], WAIT)[0], seen
        seen += os.read(terminal, 4096)
