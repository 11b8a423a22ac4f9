"""The settings that widen access, found by their marks wherever a type has them, and the values that are masked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeVar

import pytest
from pydantic import Field
from typing_extensions import TypeAliasType

from pegboard import PluginConfig
from pegboard.config import HostConfig, SecretRef, validate_section
from pegboard.config.references import secrets_in_section
from pegboard.config.widened_access import access_settings
from pegboard.plugin import WidensAccess
from tests.support.config import load

Item = TypeVar("Item")
Marked = Annotated[str, WidensAccess("opens")]
Named = TypeAliasType("Named", Annotated[str, WidensAccess("opens")])
Many = TypeAliasType("Many", list[Annotated[Item, WidensAccess("opens")]], type_params=(Item,))
Tree = TypeAliasType("Tree", "int | list[Tree]")


class Settings(PluginConfig):
    whole: Marked = ""
    part: Marked | None = None
    items: tuple[Marked, ...] = ()
    named: Named = ""
    many: Many[int] = Field([])
    tree: Tree = 0
    write: Annotated[bool, Field(alias="writes"), WidensAccess("writes")] = False


def marked(config: HostConfig, model: type[PluginConfig] = Settings) -> list[str]:
    return [
        setting.key.removeprefix("plugins.mine.") for setting in access_settings(config, {"plugins": {"mine": model}})
    ]


def test_marks_are_found_in_parts_of_types_and_in_aliases() -> None:
    values = {"whole": "a", "part": "a", "items": ["b"], "named": "c", "many": [1], "tree": 2, "writes": True}
    config = HostConfig.of({"plugins": {"mine": values}})
    assert not isinstance(validate_section(config, "plugins", "mine", Settings), list)
    assert marked(config) == ["whole", "part", "items", "named", "many", "writes"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 needs Python 3.12")
def test_marks_are_found_in_statements_of_types() -> None:
    names = {"Annotated": Annotated, "WidensAccess": WidensAccess, "PluginConfig": PluginConfig, "__name__": __name__}
    code = (
        "type Named = Annotated[str, WidensAccess('opens')]\ntype Tree = int | list[Tree]\n"
        "class Other(PluginConfig):\n    tree: Tree = 0\n    named: Named | None = None"
    )
    exec(compile(code, "settings", "exec", dont_inherit=True), names)
    assert marked(HostConfig.of({"plugins": {"mine": {"tree": 1, "named": "a"}}}), names["Other"]) == ["named"]  # type: ignore[arg-type]  # of the code


def test_a_variable_that_widens_access_is_listed(tmp_path: Path) -> None:
    config = load(tmp_path, environ={"WRITE": "true"})
    declared = [("writes", "WRITE", "literals")]
    assert not isinstance(validate_section(config, "plugins", "mine", Settings, declared), list)
    assert marked(config) == ["writes"]


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
