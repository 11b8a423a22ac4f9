"""The modules that a command loads. `list` and `stdio` are checked elsewhere."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.host.cli.conftest import Command
from tests.support.peer import WAIT

RUN = """
import sys
from pegboard.cli import main
code = main(sys.argv[1:])
sys.stderr.write("LOADED " + " ".join(sorted(sys.modules)) + "\\n")
sys.exit(code)
"""
NEVER = {"dotenv", "jwt", "difflib", "pegboard.config.explain", "pegboard.config.show", "pegboard.uris.matching"}
"""Needed for mistakes, the command `config` and resource templates only."""
OF_HTTP = {"aiohttp", "yarl", "pegboard_plugins.http.server"}
OF_STDIO = {"ctypes", "pegboard_plugins.stdio"}
OF_COMMANDS = {f"pegboard.cli.{name}" for name in ("call", "config_commands", "listing", "no_command", "serve", "why")}


@pytest.mark.parametrize(
    ("line", "own", "unused"),
    [
        ("plugins", "listing", OF_HTTP | OF_STDIO),
        ("call demo_nothing", "call", OF_HTTP | OF_STDIO),
        ("serve", "serve", OF_STDIO),
    ],
)
def test_a_command_loads_the_modules_that_it_uses(line: str, own: str, unused: set[str], pegboard: Command) -> None:
    if line == "serve":
        pegboard.configure('transports = ["http"]', "[plugins.http]\nport = 0")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *line.split()],
        cwd=pegboard.folder,
        env=pegboard.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process:
        try:
            if line == "serve":
                next(text for text in process.stderr if "serves" in text)
                process.send_signal(signal.SIGTERM)
            _, talk = process.communicate(timeout=WAIT)
        finally:
            process.kill()
    (told,) = [text for text in talk.splitlines() if text.startswith("LOADED ")]
    loaded = set(told.split()[1:])
    assert {"demo_kit", f"pegboard.cli.{own}"} <= loaded
    assert loaded & (NEVER | unused | OF_COMMANDS - {f"pegboard.cli.{own}"}) == set()
