"""Sections of plugins and toolkits against their models, references to variables, and unknown names."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import Host
from pegboard.config import PluginConfig, validate_section
from pegboard.loading.discovery import Selection
from pegboard.names import MAX_CORRECTED_NAMES
from tests.support.config import load


def validated(tmp_path: Path, text: str, model: Any, environ: Mapping[str, str] | None = None) -> Any:
    """Return the settings of [plugins.acme], or the problems with them without the file's name."""
    result = validate_section(load(tmp_path, f"[plugins.acme]\n{text}", environ), "plugins", "acme", model)
    return [str(problem).removeprefix("hostconfig.toml:") for problem in result] if isinstance(result, list) else result


class Tls(PluginConfig):
    cert: str
    key: str | None = None


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Acme(PluginConfig):
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 80
    tls: Tls | None = None
    servers: Mapping[str, Tls] = Field(default_factory=dict)
    listeners: tuple[Tls, ...] = ()
    colour: Colour = Colour.RED
    mode: Literal["fast", "slow"] | int = "fast"
    token: SecretStr | None = None
    password: str | None = None
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "a"
    allow: Annotated[tuple[str, ...], Field(min_length=1, alias="allowed")] = ("x",)


def test_every_wrong_key_is_reported_with_its_line_and_the_nearest_name(tmp_path: Path) -> None:
    text = """prot = 1
port = "abc"
host = 5
colour = "rde"
mode = "fsat"
code = "A"
allowed = []
allow = []
[plugins.acme.tls]
cret = "x"
[plugins.acme.servers.one]
cert = 1
kee = ""
[[plugins.acme.listeners]]
cert = "a"
[[plugins.acme.listeners]]
cert = "b"
keey = 1
"""
    assert validated(tmp_path, text, Acme) == [
        '2: plugins.acme.prot: unknown key; did you mean "port"?',
        '3: plugins.acme.port: expected an integer, found text "abc"',
        "4: plugins.acme.host: expected a string, found the number 5; put it in quotes",
        '5: plugins.acme.colour: expected "red" or "blue", found text "rde"; did you mean "red"?',
        '6: plugins.acme.mode: expected "fast" or "slow" or an integer, found text "fsat"; did you mean "fast"?',
        "7: plugins.acme.code: must match the regular expression ^[a-z]+$",
        "8: plugins.acme.allowed: must not be empty",
        '9: plugins.acme.allow: unknown key; did you mean "allowed"?',
        "10: plugins.acme.tls.cert: is required and missing",
        '11: plugins.acme.tls.cret: unknown key; did you mean "cert"?',
        "13: plugins.acme.servers.one.cert: expected a string, found the number 1; put it in quotes",
        '14: plugins.acme.servers.one.kee: unknown key; did you mean "key"?',
        '19: plugins.acme.listeners[1].keey: unknown key; did you mean "key"?',
    ]


@pytest.mark.parametrize(
    ("model", "line", "problem"),
    [
        (Acme, "colour = true", 'colour: expected "red" or "blue", found true'),
        (Acme, "code = 2026-01-02", "code: expected a string, found a date or time"),
        (Acme, "listeners = ['a']", 'listeners[0]: expected a table, found text "a"; write { cert = ... }'),
        (Acme, "port = 'postgres://a:p@ss@db/x'", 'port: expected an integer, found text "postgres://**********@db/x"'),
        (None, "a = 1", "a: takes no settings"),
    ],
)
def test_a_problem_in_words(model: Any, line: str, problem: str, tmp_path: Path) -> None:
    (text,) = validated(tmp_path, line, model)
    assert text.startswith(f"2: plugins.acme.{problem}")
    (cut,) = validated(tmp_path, f"port = '{'x' * 500}'\n", Acme)
    assert len(cut) < 150


class Checked(PluginConfig):
    port: int = 0

    @model_validator(mode="after")
    def _never(self) -> Checked:
        raise ValueError("refused")


class CheckedDefault(PluginConfig):
    port: int = Field(default=0, ge=1, validate_default=True)


def test_defaults_are_not_validated_unless_the_model_checks_them(tmp_path: Path) -> None:
    assert validate_section(load(tmp_path), "toolkits", "acme", Acme) == Acme()
    assert all(isinstance(validated(tmp_path, "", kind), list) for kind in (Checked, CheckedDefault, Tls))


def test_a_reference_becomes_the_value_of_its_variable(tmp_path: Path) -> None:
    text = '[plugins.acme]\ntoken = {env="TOKEN"}\nport = {env="PORT"}\nallowed = [{env="A"}]\n'
    environ = {
        "TOKEN": "s3cret", "PW": "s3cret2", "PORT": "99", "A": "b", "PEGBOARD__PLUGINS__ACME__PASSWORD": '{env = "PW"}',
    }  # fmt: skip
    config = load(tmp_path, text, environ)
    settings = validate_section(config, "plugins", "acme", Acme)
    assert isinstance(settings, Acme)
    assert settings.token == SecretStr("s3cret")
    assert (settings.password, settings.port, settings.allow) == ("s3cret2", 99, ("b",))
    assert "s3cret" not in repr(config) + repr(config.plugins)
    assert repr(config.plugins["acme"]["token"]) == '{ env = "TOKEN" }'


def test_a_short_secret_does_not_garble_messages(tmp_path: Path) -> None:
    class Config(PluginConfig):
        password: SecretStr = SecretStr("")
        mode: Annotated[str, Field(min_length=3)] = "abc"

        @field_validator("mode", mode="before")
        @classmethod
        def _say(cls, mode: str) -> str:
            raise ValueError("expected another mode")

    text = 'password = "e"\nmode = "m"\n'
    assert validated(tmp_path, text, Config) == ['3: plugins.acme.mode: expected another mode, found text "m"']


def test_the_length_of_a_secret_is_told_in_characters(tmp_path: Path) -> None:
    class Config(PluginConfig):
        key: SecretStr = Field(min_length=32)

    assert validated(tmp_path, 'key = "short"\n', Config) == ["2: plugins.acme.key: must have at least 32 characters"]


def test_secret_values_are_never_repeated(tmp_path: Path) -> None:
    class Config(PluginConfig):
        password: int = 0
        pin: SecretStr = SecretStr("")
        api_key: tuple[str, ...] = ()
        keys: dict[str, int] | None = None
        token: Annotated[str, Field(pattern="^a")] = "a"
        port: int = 0
        tokens: int = 0

        @field_validator("token", mode="before")
        @classmethod
        def _say(cls, token: str) -> str:
            raise ValueError(f"bad token {token}")

    text = """password = "hunter2"
pin = 271828
api_key = "hunter3"
keys = {a = "hunter4"}
token = "hunter5"
port = {env = "PORT"}
tokens = 314159
"""
    assert validated(tmp_path, text, Config, {"PORT": "hunter6"}) == [
        "2: plugins.acme.password: expected an integer, found text",
        "3: plugins.acme.pin: expected a string, found a number; put it in quotes",
        "4: plugins.acme.api_key: expected a list, found text",
        "5: plugins.acme.keys.a: expected an integer, found text",
        "6: plugins.acme.token: bad token **********",
        "7: plugins.acme.port: expected an integer, found text",
    ]


MANY = 3 * MAX_CORRECTED_NAMES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("".join(f"[unknown{n}]\n" for n in range(MANY)), id="sections"),
        pytest.param("".join(f"unknown{n} = 1\n" for n in range(MANY)), id="keys"),
        pytest.param("[host]\n" + "".join(f"unknown{n} = 1\n" for n in range(MANY)), id="host-keys"),
        pytest.param("[plugins.http]\n" + "".join(f"unknown{n} = 1\n" for n in range(MANY)), id="plugin-keys"),
        *(
            pytest.param("".join(f"[{table}.unknown{n}]\n" for n in range(MANY)), id=table)
            for table in ("plugins", "toolkits", "host.toolkits", "host.tools")
        ),
        *(
            pytest.param(f"[host]\n{key} = {[f'unknown{n}' for n in range(MANY)]}\n", id=f"host-{key}")
            for key in ("plugins", "required", "disabled_tools", "disabled_toolkits", "disabled_plugins")
        ),
    ],
)
def test_few_of_many_unknown_names_are_compared(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comparison takes a millisecond: 20,000 took 7 seconds and more. All names are reported."""
    compared: list[Any] = []
    for module in ("config.explain", "names"):  # the former imports the latter
        monkeypatch.setattr(f"pegboard.{module}.nearest", lambda *names: compared.append(names))
    host = Host(load(tmp_path, text, collect=True), selection=Selection(autoload=False))
    host.load()
    assert sum("unknown" in str(problem) for problem in (*host.config.problems, *host.problems)) == MANY
    assert len(compared) == MAX_CORRECTED_NAMES
