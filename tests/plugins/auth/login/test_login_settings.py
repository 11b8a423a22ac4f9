"""The settings of the plugin `login`: mistakes that a message explains, and spellings that are the same."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.cli import CANNOT_START
from pegboard_plugins.auth.login.settings import LoginConfig
from tests.plugins.auth.login.front import CONFIG
from tests.support.command_line import Command

PROVIDER = {"issuer": "https://login.example.com", "client_id": "x"}
DISCOVERY = f"{PROVIDER['issuer']}/.well-known/openid-configuration"
VALID = {"resource": "https://tools.example.com/mcp", "provider": PROVIDER, "allowed_users": ["7", "ann@example.com"]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"allowed_users": []}, "no person may log in"),
        ({"challenge_scopes": ["unknown"]}, "missing in scopes"),
        ({"keys": ["short"]}, "a key is weak"),
        ({"resource": "http://tools.example.com/mcp"}, "must be https"),
        ({"resource": "https://tools.example.com/mcp?x=1"}, "without user, query and fragment"),
        ({"redirect_schemes": ["javascript"]}, "belongs to browsers"),
        ({"redirect_schemes": ["cursor://"]}, "without '://'"),
        ({"allowed_domains": ["@example.com"]}, "such as example.com"),
        ({"allowed_domains": ["*.example.com"]}, "such as example.com"),
        ({"allowed_domains": ["https://example.com"]}, "such as example.com"),
        ({"login_seconds": float("inf")}, "finite number"),
        ({"database": ""}, "at least 1 character"),
        ({"provider": PROVIDER | {"issuer": "http://login.example.com"}}, "must be https"),
        ({"provider": PROVIDER | {"issuer": DISCOVERY}}, "issuer is https://login.example.c"),
        ({"provider": PROVIDER | {"issuer": "https://github.com"}}, "GitHub does not prove addresses"),
        ({"provider": PROVIDER | {"issuer": "https://github.com/"}}, "GitHub does not prove addresses"),
        ({"provider": PROVIDER | {"client_secret": ""}}, "at least 1"),
        ({"provider": PROVIDER | {"scopes": ["email"]}}, "add it to scopes"),
        ({"provider": PROVIDER | {"scopes": ["openid email"]}}, "list scopes separately"),
        ({"provider": PROVIDER | {"parameters": {"state": "x"}}}, "remove it from parameters"),
        ({"provider": PROVIDER | {"subject_claim": "email"}}, "use a stable claim"),
        ({"provider": PROVIDER | {"subject_claim": ""}}, "at least 1 character"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    LoginConfig.model_validate(VALID)
    with pytest.raises(ValidationError, match=message):
        LoginConfig.model_validate({**VALID, **settings})


def test_spellings_of_one_resource() -> None:
    config = LoginConfig.model_validate({**VALID, "resource": "HTTPS://Tools.Example.com:443/mcp"})
    assert (config.resource, config.issuer) == ("https://tools.example.com/mcp", "https://tools.example.com")
    assert config.is_secure
    assert config.is_resource("HTTPS://tools.EXAMPLE.com/mcp/")
    for other in ("https://tools.example.com/MCP", "http://tools.example.com/mcp", "https://[", ""):
        assert not config.is_resource(other)


def test_spaces_around_a_name_do_not_count() -> None:
    config = LoginConfig.model_validate({**VALID, "allowed_users": [" ann@example.com "]})
    assert config.allowed_users == ("ann@example.com",)


BESIDE = """
[plugins.resource_server]
resource = "http://127.0.0.1:8000/mcp"
authorization_servers = [{ issuer = "http://127.0.0.1:9" }]
"""


@pytest.mark.parametrize("command", [["serve"], ["config", "check"]], ids=str)
def test_a_host_has_one_plugin_for_tokens_of_people(bare: Command, command: list[str]) -> None:
    bare.write(f"{CONFIG}{BESIDE}[plugins.http]\nport = 0\n")
    done = bare(*command)
    assert done.code == CANNOT_START, done.err
    assert "hostconfig.toml:2: plugins.login: the plugin 'login' cannot run beside" in done.err
