"""The options of `serve` and `stdio` that set keys of the configuration."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pegboard.cli.command_config import load_config
from pegboard.cli.parsing.parser import parse
from pegboard.config.problems import step
from tests.docs.pages import Page
from tests.support.command_line import Command
from tests.support.http import Served, http_config

FILE = """
[host]
transports = ["file"]
log_level = "error"
[plugins.http]
host = "192.0.2.1"
port = 1
[plugins.mcp]
path = "/file"
[plugins.stdio]
after_eof = "drop"
"""
TALKING = '''
import logging
from pegboard import Toolkit
kit = Toolkit("shop")
logging.getLogger("shop").warning("warned")
logging.getLogger("shop").info("informed")
@kit.tool
def find() -> str:
    """Find."""
    return ""
'''


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("serve --host ::1", "plugins.http.host", "::1"),
        ("serve --port 0", "plugins.http.port", 0),
        ("serve --path /tools", "plugins.mcp.path", "/tools"),
        ("serve --transport stdio,http", "host.transports", ["stdio", "http"]),
        ("serve --log-level debug", "host.log_level", "debug"),
        ("stdio --log-level info", "host.log_level", "info"),
        ("stdio --finish", "plugins.stdio.after_eof", "finish"),
    ],
)
def test_an_option_sets_its_key_and_wins(
    line: str, key: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hostconfig.toml"
    file.write_text(FILE, "utf-8")
    monkeypatch.setenv("PEGBOARD__" + key.upper().replace(".", "__"), "environment")
    config = load_config(parse([*line.split(), "--config", str(file)]))
    table, _, name = key.rpartition(".")
    node = config.sources.tree
    for part in key.split("."):
        node = step(node, part)
    assert (node, config.source(key).kind) == (value, "command line")
    section = Page("docs/configuration.md").partition(f"## [{table}]")[2].partition("\n## ")[0]
    assert re.search(rf"^- `{name}\b", section, re.M)


async def test_a_server_listens_as_the_options_say(pegboard: Command) -> None:
    options = ("--host", "127.0.0.1", "--port", "0", "--path", "/tools", "--transport", "http", "--log-level", "info")
    command = (sys.executable, "-m", "pegboard", "serve", *options)
    async with Served(pegboard.site, http_config("host = '192.0.2.1'"), command=command) as served:
        assert served.url.endswith("/tools")
        assert (await served.request("GET", "/readyz")).status == 200
        assert "INFO" in served.stderr or "info" in served.stderr


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    ("level", "options", "logged"),
    [
        ("debug", [], ["warned"]),
        ("error", [], []),
        ("debug", ["--log-level", "info"], ["warned", "informed"]),
        ("debug", ["-v"], ["warned", "informed"]),
    ],
)
def test_a_command_that_prints_data_logs_more_only_if_its_command_line_says_so(
    level: str, options: list[str], logged: list[str], bare: Command
) -> None:
    bare.install("shop", TALKING)
    bare.configure(f'log_level = "{level}"')
    done = bare("list", *options)
    assert (done.code, [line.split(": ")[-1] for line in done.err.splitlines() if "shop" in line]) == (0, logged)
