"""Sections of plugins and toolkits against their models, references to variables, and unknown names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator

from pegboard.config import ConfigProblem, PluginConfig, unknown_sections, unmatched_patterns, validate_section
from pegboard.names import spellings
from tests.support.config import load


def validated(tmp_path: Path, text: str, model: Any, environ: Mapping[str, str] | None = None) -> Any:
    """Return the settings of [plugins.acme], or the problems with them without the file's name."""
    found = validate_section(load(tmp_path, f"[plugins.acme]\n{text}", environ), "plugins", "acme", model)
    return [str(one).removeprefix("hostconfig.toml:") for one in found] if isinstance(found, list) else found


class Tls(PluginConfig):
    cert: str
    key: str | None = None


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Acme(PluginConfig):
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 80
    ratio: float = 1.0
    tls: Tls | None = None
    servers: Mapping[str, Tls] = Field(default_factory=dict)
    listeners: tuple[Tls, ...] = ()
    colour: Colour = Colour.RED
    mode: Literal["fast", "slow"] | int = "fast"
    token: SecretStr | None = None
    password: str | None = None
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "a"
    allow: Annotated[tuple[str, ...], Field(min_length=1, alias="allowed")] = ("x",)


def test_a_section_becomes_its_model(tmp_path: Path) -> None:
    text = 'port = 9000\ntls = { cert = "c" }\nallowed = ["a", "b"]\nservers.one.cert = "d"\n'
    settings = validated(tmp_path, text, Acme)
    assert (settings.port, settings.allow, settings.tls) == (9000, ("a", "b"), Tls(cert="c"))
    assert settings.servers == {"one": Tls(cert="d")}
    assert validate_section(load(tmp_path), "toolkits", "acme", Acme) == Acme()


class Bare(PluginConfig):
    servers: list[str] = Field(default_factory=list)
    port: int = Field(default=80, ge=1)


class Checked(Bare):
    @model_validator(mode="after")
    def _never(self) -> Checked:
        raise ValueError("refused")


class CheckedDefault(Bare):
    port: int = Field(default=0, ge=1, validate_default=True)


class CheckedDefaults(Bare, validate_default=True):
    port: int = Field(default=0, ge=1)


class Needy(Bare):
    name: str


class Own(Bare):
    def __init__(self, **given: Any) -> None:
        super().__init__(**{"port": 81, **given})


def test_defaults_build_no_validator_unless_the_model_checks_them(tmp_path: Path) -> None:
    """Building one takes milliseconds at every start."""
    settings = validated(tmp_path, "", Bare)
    assert not Bare.__pydantic_complete__
    assert (settings, settings.model_fields_set) == (Bare(), set())
    assert all(isinstance(validated(tmp_path, "", one), list) for one in (Checked, CheckedDefault, CheckedDefaults))
    assert validated(tmp_path, "", Needy) == ["1: plugins.acme.name: is required and missing"]
    assert validated(tmp_path, "", Own).port == 81


def test_every_wrong_key_is_reported_with_its_line_and_the_nearest_name(tmp_path: Path) -> None:
    text = """prot = 1
port = "abc"
host = 5
ratio = []
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
        "5: plugins.acme.ratio: expected a number, found a list",
        '6: plugins.acme.colour: expected "red" or "blue", found text "rde"; did you mean "red"?',
        '7: plugins.acme.mode: expected "fast" or "slow" or an integer, found text "fsat"; did you mean "fast"?',
        "8: plugins.acme.code: must match the regular expression ^[a-z]+$",
        "9: plugins.acme.allowed: must not be empty",
        '10: plugins.acme.allow: unknown key; did you mean "allowed"?',
        "11: plugins.acme.tls.cert: is required and missing",
        '12: plugins.acme.tls.cret: unknown key; did you mean "cert"?',
        "14: plugins.acme.servers.one.cert: expected a string, found the number 1; put it in quotes",
        '15: plugins.acme.servers.one.kee: unknown key; did you mean "key"?',
        '20: plugins.acme.listeners[1].keey: unknown key; did you mean "key"?',
    ]


class Odd(PluginConfig):
    inner: Annotated[Tls | None, Field(validation_alias="nested")] = None
    either: Tls | bool = False
    id: UUID | None = None
    pair: Annotated[tuple[int, ...], Field(min_length=2)] = (1, 2)
    odd: int = 1
    root: str = "."
    above: Annotated[int, Field(gt=1)] = 2
    below: Annotated[float, Field(lt=1)] = 0
    step: Annotated[int, Field(multiple_of=5)] = 5

    @field_validator("odd")
    @classmethod
    def _say_nothing(cls, odd: int) -> int:
        raise ValueError

    @field_validator("root")
    @classmethod
    def _absolute(cls, root: str) -> str:
        raise ValueError(f"the root {root!r} does not\n  exist")


@pytest.mark.parametrize(
    ("model", "line", "problem"),
    [
        (Odd, "nested = {cret = 'x', cert = 'c'}", 'nested.cret: unknown key; did you mean "cert"?'),
        (Odd, "either = {key = 'x'}", "either.cert: is required and missing"),
        (Odd, "id = 'x'", "id: expected a UUID such as"),
        (Odd, "pair = [1]", "pair: must have at least 2 items"),
        (Odd, "root = 'x'", "root: the root 'x' does not exist"),
        (Odd, "step = 7", "step: expected a multiple of 5, found the number 7"),
        (Acme, "colour = true", 'colour: expected "red" or "blue", found true'),
        (Acme, "code = 2026-01-02", "code: expected a string, found a date or time"),
        (
            Acme,
            "port = 'postgres://me:p@ss@db/x'",
            'port: expected an integer, found text "postgres://**********@db/x"',
        ),
        (None, "a = 1", "a: takes no settings"),
    ],
)
def test_a_problem_in_words(model: Any, line: str, problem: str, tmp_path: Path) -> None:
    (found,) = validated(tmp_path, line, model)
    assert found.startswith(f"2: plugins.acme.{problem}")


def test_long_values_are_shortened_and_models_without_settings_accept_an_empty_section(tmp_path: Path) -> None:
    (line,) = validated(tmp_path, f"port = '{'x' * 500}'\n", Acme)
    assert len(line) < 150
    assert validated(tmp_path, "", None) is None
    required = validate_section(load(tmp_path), "toolkits", "acme", Tls)
    assert isinstance(required, list)
    assert list(map(str, required)) == ["toolkits.acme.cert: is required and missing"]


def test_validators_know_the_directory_of_relative_paths_and_their_bugs_are_raised(tmp_path: Path) -> None:
    class Config(PluginConfig):
        root: Path
        buggy: int = 0

        @field_validator("root")
        @classmethod
        def _absolute(cls, root: Path, info: ValidationInfo) -> Path:
            assert info.context is not None
            return info.context["directory"] / root  # type: ignore[no-any-return]

        @field_validator("buggy")
        @classmethod
        def _buggy(cls, value: int) -> int:
            raise KeyError("bug")

    assert validated(tmp_path, "root = 'x'\n", Config).root == tmp_path / "x"
    with pytest.raises(KeyError):
        validated(tmp_path, "root = 'x'\nbuggy = 1\n", Config)


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


def test_only_tables_of_that_shape_below_a_section_are_references(tmp_path: Path) -> None:
    class Config(PluginConfig):
        env: str
        a: dict[str, str]
        b: dict[str, int]

    settings = validated(tmp_path, 'env = "prod"\na = { env = "X", other = "y" }\nb = { env = 3 }\n', Config)
    assert settings == Config(env="prod", a={"env": "X", "other": "y"}, b={"env": 3})


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


class Gang(PluginConfig):
    members: tuple[Tls, ...] = Field(min_length=1)
    pairs: tuple[Tls, ...] = Field((), min_length=2)
    token: SecretStr | None = None

    @model_validator(mode="after")
    def _has_token(self) -> Gang:
        if self.token is None:
            raise ValueError("it needs a token")
        return self


def test_a_problem_of_a_table_that_follows_from_a_problem_in_it_is_not_reported(tmp_path: Path) -> None:
    text = 'token = "x"\npairs = [{ cert = 1 }]\n[[plugins.acme.members]]\ncret = "x"\n'
    assert validated(tmp_path, text, Gang) == [
        "3: plugins.acme.pairs[0].cert: expected a string, found the number 1; put it in quotes",
        "3: plugins.acme.pairs: must have at least 2 items",
        "4: plugins.acme.members[0].cert: is required and missing",
        '5: plugins.acme.members[0].cret: unknown key; did you mean "cert"?',
    ]
    unset = '3: plugins.acme.token: the environment variable "TOKEN" is missing or empty'
    text = 'members = [{ cert = "x" }]\ntoken = { env = "TOKEN" }\n'
    assert validated(tmp_path, text, Gang) == validated(tmp_path, text, Gang, {"TOKEN": ""}) == [unset]
    assert validated(tmp_path, text.partition("\n")[0], Gang) == ["1: plugins.acme: it needs a token"]
    assert load(tmp_path, f'[host]\ndisabled_plugins = ["acme"]\n[plugins.acme]\n{text}').problems == ()


def test_unknown_sections_and_patterns_are_reported_with_the_nearest_name(tmp_path: Path) -> None:
    text = '[host]\ndisabled_tools = [\n  "github_*",\n  "githbu_*",\n]\n[plugins.htpp]\n[plugins.mcp]\n[toolkits.z]\n'
    config = load(tmp_path, text, {"ARCADE_DISABLED_TOOLS": "Math.Add"})
    assert [str(one) for one in unknown_sections(config, "plugins", ["http", "mcp"])] == [
        'hostconfig.toml:6: plugins.htpp: no plugin with this name is installed; did you mean "http"?'
    ]
    assert [str(one) for one in unknown_sections(config, "toolkits", ["files"])] == [
        "hostconfig.toml:8: toolkits.z: no toolkit with this name is installed"
    ]
    forms = spellings("github", "delete_repo")
    unmatched = config.disabled_tools.unmatched(forms)
    assert [str(one) for one in unmatched_patterns(config, "disabled_tools", unmatched, forms)] == [
        'hostconfig.toml:4: host.disabled_tools[1]: "githbu_*" matches nothing; did you mean "github_*"?',
        'environment variable ARCADE_DISABLED_TOOLS: host.disabled_tools[2]: "Math.Add" matches nothing',
    ]


def test_a_problem_is_located_at_its_key_or_the_table_around_it(tmp_path: Path) -> None:
    config = load(tmp_path, '[host]\ntransports = [\n  "htpp"]\n')
    problem = config.problem("no such transport", ("host", "transports", 0), "http")
    assert problem == ConfigProblem("no such transport", "host.transports[0]", "hostconfig.toml", 3, "http")
    assert str(config.problem("is needed", "host.required")) == "hostconfig.toml:1: host.required: is needed"
    assert str(config.problem("is needed", "plugins.x")) == "plugins.x: is needed"


def test_plain_mypy_accepts_a_subclass_of_plugin_config(tmp_path: Path) -> None:
    """Users do not have pydantic's plugin for mypy."""
    (tmp_path / "acme.py").write_text(
        "from typing import Annotated\n\nfrom pegboard import PluginConfig, Toolkit\n"
        "from pegboard.plugin import FromEnvironment, WidensAccess\n\n\nclass Settings(PluginConfig):\n"
        '    word: Annotated[str, FromEnvironment("ACME_WORD")] = "x"\n'
        '    write: Annotated[bool, WidensAccess("changes files")] = False\n\n\n'
        'kit = Toolkit("acme", config=Settings)\nSettings(word="y")\n'
    )
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "acme.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
