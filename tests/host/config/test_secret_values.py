"""The values of a configuration that are masked."""

from __future__ import annotations

from pathlib import Path

from pegboard.config import HostConfig, SecretRef
from pegboard.config.references import secrets_in_section


def test_values_of_secret_keys_references_and_passwords_in_urls_are_secret(tmp_path: Path) -> None:
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
        "token_types": ["at+jwt"],
        "token_endpoint": "https://auth.example/token",
        "type_token": "canary-7",
    }
    assert sorted(secrets_in_section({"x": section}, ("plugins",))) == [
        "canary-1", "canary-2", "canary-3", "canary-4", "canary-5", "canary-6", "canary-7",
        "redis://:canary-6@127.0.0.1",
    ]  # fmt: skip
    config = HostConfig.of({"toolkits": {"x": {"password": "canary-1"}}, "plugins": {"y": {"token": "canary-2"}}})
    assert sorted(config.secret_values()) == ["canary-1", "canary-2"]


def test_every_value_of_a_table_of_headers_is_secret() -> None:
    table = {"servers": {"one": {"headers": {"X-Custom": "canary-1"}, "url": "https://a.example"}}}
    assert list(secrets_in_section(table, ("plugins", "x"))) == ["canary-1"]


def test_authorization_servers_are_public_and_their_secrets_are_not() -> None:
    server = {"issuer": "https://auth.example", "introspection": {"client_id": "x", "client_secret": "canary-1"}}
    assert list(secrets_in_section({"y": {"authorization_servers": [server]}}, ("plugins",))) == ["canary-1"]
    assert list(secrets_in_section({"y": {"authorization_servers": "canary-2"}}, ("plugins",))) == ["canary-2"]
    assert list(secrets_in_section({"y": {"authorization": {"value": "canary-3"}}}, ("plugins",))) == ["canary-3"]
