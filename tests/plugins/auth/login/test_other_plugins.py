"""The plugin beside others of the host, as `pegboard serve` and `pegboard config check` see them."""

from __future__ import annotations

import pytest

from pegboard.cli import CANNOT_START
from tests.support.command_line import Command

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
def test_a_host_has_one_plugin_for_tokens_of_people(bare: Command, command: list[str]) -> None:
    bare.write(CONFIG)
    done = bare(*command)
    assert done.code == CANNOT_START, done.err
    assert "hostconfig.toml:5: plugins.login: the plugin 'login' cannot run beside" in done.err
