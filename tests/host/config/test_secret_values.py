"""The values of a configuration that are not to be told."""

from __future__ import annotations

from pathlib import Path

from pegboard.config import SecretRef
from pegboard.config.secret_values import secrets_in_section
from pegboard.plugin import HostConfig


def test_values_that_are_not_to_be_told_are_found(tmp_path: Path) -> None:
    (tmp_path / "key.pem").touch()
    section = {
        "password": "canary-1",
        "colour": "blue",
        "nested": {"api_key": ["canary-2", {"deep": "canary-3"}], "limit": 5},
        "who": SecretRef("VARIABLE", "canary-4"),
        "unset": SecretRef("OTHER", None),
        "database": "postgres://me:canary-5@127.0.0.1/x",
        "also": SecretRef("URL", "redis://:canary-6@127.0.0.1"),
        "key": str(tmp_path / "key.pem"),
        "token": 12345678,
    }
    assert sorted(secrets_in_section({"x": section}, ("plugins",))) == [
        "canary-1", "canary-2", "canary-3", "canary-4", "canary-5", "canary-6", "redis://:canary-6@127.0.0.1",
    ]  # fmt: skip


def test_a_configuration_tells_what_is_not_to_be_told() -> None:
    config = HostConfig.of({"toolkits": {"x": {"password": "canary-1"}}, "plugins": {"y": {"token": "canary-2"}}})
    assert sorted(config.secret_values()) == ["canary-1", "canary-2"]
    assert list(HostConfig.of({"plugins": {"y": {}}}).secret_values()) == []


def test_what_types_tokens_are_of_is_no_secret() -> None:
    section = {"token_types": ["at+jwt"], "token_type": "Bearer", "token_key": "canary-1", "type_token": "canary-2"}
    assert list(secrets_in_section({"y": section}, ("plugins",))) == ["canary-1", "canary-2"]


def test_authorization_servers_are_no_secret_but_what_they_hold_may_be() -> None:
    """And so may be all of a text that stands in their place."""
    server = {"issuer": "https://auth.example", "introspection": {"client_id": "x", "client_secret": "canary-1"}}
    assert list(secrets_in_section({"y": {"authorization_servers": [server]}}, ("plugins",))) == ["canary-1"]
    assert list(secrets_in_section({"y": {"authorization_servers": "canary-2"}}, ("plugins",))) == ["canary-2"]
    assert list(secrets_in_section({"y": {"authorization": {"value": "canary-3"}}}, ("plugins",))) == ["canary-3"]
