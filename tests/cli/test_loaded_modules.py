"""What a command loads: what this run does not use stays on the disk. `list` and `stdio` are pinned elsewhere."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.conftest import WAIT, Command

RUN = """
import sys
from pegboard.cli import main
code = main(sys.argv[1:])
sys.stderr.write("LOADED " + " ".join(sorted(sys.modules)) + "\\n")
sys.exit(code)
"""
NEVER = {"dotenv", "jwt", "difflib", "pegboard.config.explain", "pegboard.config.show", "pegboard.uris.matching"}
"""What only mistakes, the command `config` and templates of resources need."""
OF_HTTP = {"aiohttp", "yarl", "pegboard_plugins.http.server", "pegboard_plugins.mcp.streamable_http"}
OF_STDIO = {"ctypes", "pegboard_plugins.stdio.stdio_redirect", "pegboard_plugins.stdio.stdout_pipe"}


def commands(*but: str) -> set[str]:
    """The modules of commands, but for these."""
    names = {"call", "config_commands", "listing", "no_command", "serve", "why"}
    return {f"pegboard.cli.{name}" for name in names.difference(but)}


def start(pegboard: Command, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        cwd=pegboard.folder,
        env=pegboard.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def loaded_at_the_end(process: subprocess.Popen[str]) -> set[str]:
    with process:
        try:
            _, talk = process.communicate(timeout=WAIT)
        finally:
            process.kill()
    assert process.returncode == 0, talk
    (line,) = [line for line in talk.splitlines() if line.startswith("LOADED ")]
    return set(line.split()[1:])


@pytest.mark.parametrize(
    ("arguments", "own"), [(["plugins"], "listing"), (["call", "demo_nothing"], "call")], ids=["plugins", "call"]
)
def test_a_command_loads_nothing_that_it_does_not_use(arguments: list[str], own: str, pegboard: Command) -> None:
    loaded = loaded_at_the_end(start(pegboard, *arguments))
    assert "demo_kit" in loaded
    assert loaded & (NEVER | OF_HTTP | OF_STDIO | commands(own)) == set()


def test_serving_http_loads_nothing_of_stdio(pegboard: Command) -> None:
    pegboard.configure('transports = ["http"]', "[plugins.http]\nport = 0")
    process = start(pegboard, "serve")
    assert process.stderr is not None
    for line in process.stderr:
        if "serves" in line:
            break
    process.send_signal(signal.SIGTERM)
    assert loaded_at_the_end(process) & (NEVER | OF_STDIO | commands("serve") | {"pegboard_plugins.stdio"}) == set()
