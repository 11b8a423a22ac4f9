"""The plugin beside others of the host, as `pegboard serve` and `pegboard config check` see them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pegboard.cli import CANNOT_START
from tests.support.wire import PEGBOARD, client_environment

CONFIG = """
[plugins.http]
port = 0

[plugins.login]
resource = "http://127.0.0.1:8000/mcp"
everyone = true
provider = { issuer = "http://127.0.0.1:9", client_id = "host" }

[plugins.resource_server]
resource = "http://127.0.0.1:8000/mcp"
authorization_servers = [{ issuer = "http://127.0.0.1:9" }]
"""


@pytest.mark.parametrize("command", [["serve"], ["config", "check"]], ids=str)
def test_a_host_has_one_plugin_for_tokens_of_people(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "hostconfig.toml").write_text(CONFIG, "utf-8")
    done = subprocess.run(
        [PEGBOARD, *command, "--config", "hostconfig.toml"],
        cwd=tmp_path,
        env=client_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == CANNOT_START, done.stderr
    assert "hostconfig.toml:5: plugins.login: the plugin 'login' cannot run beside" in done.stderr
