"""Sections of plugins and toolkits against their own models, references to variables, patterns that name nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator, model_validator

from pegboard.config import (
    ConfigProblem,
    HostConfig,
    PluginConfig,
    unknown_sections,
    unmatched_patterns,
    validate_section,
)
from pegboard.loading.discovery import defaults
from pegboard.names import spellings


def load(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> HostConfig:
    (tmp_path / "hostconfig.toml").write_text(text, "utf-8")
    return HostConfig.load(
        Path("hostconfig.toml"),
        environ=environ or {},
        defaults={"environment": defaults()["environment"]},
        directory=tmp_path,
    )


def wrong(
    tmp_path: Path, text: str, model: type[BaseModel] | None, environ: Mapping[str, str] | None = None
) -> list[str]:
    """What is wrong with the section [plugins.acme], a line each, without the file's name."""
    found = validate_section(load(tmp_path, text, environ), "plugins", "acme", model)
    assert isinstance(found, list)
    return [str(problem).removeprefix("hostconfig.toml:") for problem in found]


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
    text = '[plugins.acme]\nport = 9000\ntls = { cert = "c" }\nallowed = ["a", "b"]\nservers.one.cert = "d"\n'
    settings = validate_section(load(tmp_path, text), "plugins", "acme", Acme)
    assert isinstance(settings, Acme)
    assert (settings.port, settings.allow, settings.tls) == (9000, ("a", "b"), Tls(cert="c"))
    assert settings.servers == {"one": Tls(cert="d")}


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


def test_defaults_alone_build_nothing_that_validates(tmp_path: Path) -> None:
    """Building it takes milliseconds at every start."""
    settings = validate_section(load(tmp_path, ""), "plugins", "acme", Bare)
    assert isinstance(settings, Bare)
    assert not Bare.__pydantic_complete__
    assert settings.model_fields_set == set()
    assert settings == Bare()


@pytest.mark.parametrize("model", [Checked, CheckedDefault, CheckedDefaults, Needy])
def test_defaults_that_a_model_checks_are_checked(model: type[BaseModel], tmp_path: Path) -> None:
    assert isinstance(validate_section(load(tmp_path, ""), "plugins", "acme", model), list)


def test_a_model_that_makes_its_defaults_itself_does(tmp_path: Path) -> None:
    settings = validate_section(load(tmp_path, ""), "plugins", "acme", Own)
    assert isinstance(settings, Own)
    assert settings.port == 81


def test_without_a_section_the_models_defaults_hold(tmp_path: Path) -> None:
    assert validate_section(load(tmp_path, ""), "toolkits", "acme", Acme) == Acme()


def test_every_wrong_key_is_told_with_file_line_and_nearest_name(tmp_path: Path) -> None:
    text = """[plugins.acme]
prot = 1
port = "abc"
host = 5
ratio = []
colour = "rde"
mode = "fsat"
code = "A"
allowed = []
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
    assert wrong(tmp_path, text, Acme) == [
        '2: plugins.acme.prot: unknown key; did you mean "port"?',
        '3: plugins.acme.port: expected an integer, found text "abc"',
        "4: plugins.acme.host: expected a string, found the number 5; put it in quotes",
        "5: plugins.acme.ratio: expected a number, found a list",
        '6: plugins.acme.colour: expected "red" or "blue", found text "rde"; did you mean "red"?',
        '7: plugins.acme.mode: expected "fast" or "slow" or an integer, found text "fsat"; did you mean "fast"?',
        "8: plugins.acme.code: must match the regular expression ^[a-z]+$",
        "9: plugins.acme.allowed: must not be empty",
        "10: plugins.acme.tls.cert: is required and missing",
        '11: plugins.acme.tls.cret: unknown key; did you mean "cert"?',
        "13: plugins.acme.servers.one.cert: expected a string, found the number 1; put it in quotes",
        '14: plugins.acme.servers.one.kee: unknown key; did you mean "key"?',
        '19: plugins.acme.listeners[1].keey: unknown key; did you mean "key"?',
    ]


def test_a_field_with_an_alias_is_known_by_the_alias(tmp_path: Path) -> None:
    assert wrong(tmp_path, "[plugins.acme]\nallow = ['a']\n", Acme) == [
        '2: plugins.acme.allow: unknown key; did you mean "allowed"?'
    ]


def test_a_field_with_an_alias_for_reading_only(tmp_path: Path) -> None:
    class Config(PluginConfig):
        inner: Annotated[Tls | None, Field(validation_alias="nested")] = None

    assert wrong(tmp_path, "[plugins.acme]\nnsted = {}\nnested = {cret = 'x', cert = 'c'}\n", Config) == [
        '2: plugins.acme.nsted: unknown key; did you mean "nested"?',
        '3: plugins.acme.nested.cret: unknown key; did you mean "cert"?',
    ]


def test_what_is_wrong_in_a_table_is_told_and_not_what_else_could_stand_there(tmp_path: Path) -> None:
    class Config(PluginConfig):
        tls: Tls | bool = False
        port: int = 0

    assert wrong(tmp_path, "[plugins.acme]\ntls = {key = 'x'}\n", Config) == [
        "2: plugins.acme.tls.cert: is required and missing",
    ]
    assert wrong(tmp_path, "[plugins.acme]\ntls = 'x'\nport = []\n", Config) == [
        '2: plugins.acme.tls: expected a table or true or false, found text "x"',
        "3: plugins.acme.port: expected an integer, found a list",
    ]


def test_settings_use_the_words_of_arguments(tmp_path: Path) -> None:
    class Config(PluginConfig):
        id: UUID | None = None
        pair: Annotated[tuple[int, ...], Field(min_length=2)] = (1, 2)
        odd: int = 1

        @field_validator("odd")
        @classmethod
        def _say_nothing(cls, odd: int) -> int:
            raise ValueError

    lines = wrong(tmp_path, "[plugins.acme]\nid = 'x'\npair = [1]\nodd = 2\n", Config)
    assert lines[0].startswith("2: plugins.acme.id: expected a UUID such as")
    assert lines[1].startswith("3: plugins.acme.pair: must have at least 2 items")
    assert lines[2] == "4: plugins.acme.odd: is not valid"


def test_tables_and_values_in_each_others_place(tmp_path: Path) -> None:
    assert wrong(tmp_path, "[plugins.acme]\ntls = 1\nhost = {a = 1}\ncolour = true\ncode = 2026-01-02\n", Acme) == [
        "2: plugins.acme.tls: expected a table, found the number 1",
        "3: plugins.acme.host: expected a string, found a table",
        '4: plugins.acme.colour: expected "red" or "blue", found true',
        "5: plugins.acme.code: expected a string, found a date or time",
    ]


def test_bounds_are_told(tmp_path: Path) -> None:
    class Config(PluginConfig):
        a: Annotated[int, Field(gt=1)] = 2
        b: Annotated[float, Field(lt=1)] = 0
        c: Annotated[int, Field(multiple_of=5)] = 5

    assert wrong(tmp_path, "[plugins.acme]\na = 1\nb = 1.5\nc = 7\n", Config) == [
        "2: plugins.acme.a: expected greater than 1, found the number 1",
        "3: plugins.acme.b: expected less than 1, found the number 1.5",
        "4: plugins.acme.c: expected a multiple of 5, found the number 7",
    ]


def test_what_a_models_own_validators_say_is_repeated(tmp_path: Path) -> None:
    class Config(PluginConfig):
        root: str = "."
        low: int = 0
        high: int = 1

        @field_validator("root")
        @classmethod
        def _absolute(cls, root: str) -> str:
            raise ValueError(f"the root {root!r} does not exist")

        @model_validator(mode="after")
        def _ordered(self) -> Config:
            if self.low >= self.high:
                raise ValueError("low must be\n  below high")
            return self

    assert wrong(tmp_path, "[plugins.acme]\nroot = 'x'\n", Config) == [
        "2: plugins.acme.root: the root 'x' does not exist"
    ]
    assert wrong(tmp_path, "\n[plugins.acme]\nlow = 3\n", Config) == ["2: plugins.acme: low must be below high"]


def test_validators_know_the_directory_that_paths_are_relative_to(tmp_path: Path) -> None:
    class Config(PluginConfig):
        root: Path

        @field_validator("root")
        @classmethod
        def _absolute(cls, root: Path, info: ValidationInfo) -> Path:
            assert info.context is not None
            return info.context["directory"] / root  # type: ignore[no-any-return]

    settings = validate_section(load(tmp_path, "[plugins.acme]\nroot = 'x'\n"), "plugins", "acme", Config)
    assert isinstance(settings, Config)
    assert settings.root == tmp_path / "x"


def test_long_values_are_shortened(tmp_path: Path) -> None:
    [line] = wrong(tmp_path, f"[plugins.acme]\nport = '{'x' * 500}'\n", Acme)
    assert len(line) < 150


def test_a_plugin_without_settings_takes_none(tmp_path: Path) -> None:
    assert wrong(tmp_path, "[plugins.acme]\na = 1\nb = 2\n", None) == [
        "2: plugins.acme.a: takes no settings",
        "3: plugins.acme.b: takes no settings",
    ]
    assert validate_section(load(tmp_path, "[plugins.acme]\n"), "plugins", "acme", None) is None


def test_a_required_key_without_any_section(tmp_path: Path) -> None:
    found = validate_section(load(tmp_path, ""), "toolkits", "acme", Tls)
    assert isinstance(found, list)
    assert [str(problem) for problem in found] == ["toolkits.acme.cert: is required and missing"]


def test_a_bug_in_a_model_is_not_called_a_problem_of_the_configuration(tmp_path: Path) -> None:
    class Config(PluginConfig):
        a: int = 0

        @field_validator("a")
        @classmethod
        def _buggy(cls, a: int) -> int:
            raise KeyError("bug")

    with pytest.raises(KeyError):
        validate_section(load(tmp_path, "[plugins.acme]\na = 1\n"), "plugins", "acme", Config)


# --- secrets ---


def test_a_reference_becomes_the_variables_value(tmp_path: Path) -> None:
    text = '[plugins.acme]\ntoken = {env="TOKEN"}\npassword = {env="PW"}\nport = {env="PORT"}\nallowed = [{env="A"}]\n'
    environ = {"TOKEN": "s3cret", "PW": "s3cret2", "PORT": "99", "A": "b"}
    config = load(tmp_path, text, environ)
    settings = validate_section(config, "plugins", "acme", Acme)
    assert isinstance(settings, Acme)
    assert settings.token is not None
    assert settings.token.get_secret_value() == "s3cret"
    assert (settings.password, settings.port, settings.allow) == ("s3cret2", 99, ("b",))
    assert "s3cret" not in repr(config) + repr(config.plugins) + repr(config.plugins["acme"]["token"])
    assert repr(config.plugins["acme"]["token"]) == '{ env = "TOKEN" }'


def test_a_variable_may_hold_a_reference(tmp_path: Path) -> None:
    config = load(tmp_path, "", {"PEGBOARD__PLUGINS__ACME__TOKEN": '{ env = "TOKEN" }', "TOKEN": "s3cret"})
    settings = validate_section(config, "plugins", "acme", Acme)
    assert isinstance(settings, Acme)
    assert settings.token == SecretStr("s3cret")


@pytest.mark.parametrize("environ", [{}, {"TOKEN": ""}])
def test_a_variable_that_is_missing_or_empty_is_named_once(tmp_path: Path, environ: dict[str, str]) -> None:
    text = '[plugins.acme]\nprot = 1\ntoken = {env = "TOKEN"}\nhost = {env = "TOKEN"}\n'
    assert wrong(tmp_path, text, Acme, environ) == [
        '2: plugins.acme.prot: unknown key; did you mean "port"?',
        '3: plugins.acme.token: the environment variable "TOKEN" is missing or empty',
        '4: plugins.acme.host: the environment variable "TOKEN" is missing or empty',
    ]


def test_a_missing_variable_of_a_plugin_that_does_not_run_is_no_problem(tmp_path: Path) -> None:
    config = load(tmp_path, '[host]\ndisabled_plugins = ["acme"]\n[plugins.acme]\ntoken = {env = "TOKEN"}\n')
    assert config.problems == ()


def test_only_tables_of_exactly_that_shape_below_a_section_are_references(tmp_path: Path) -> None:
    class Config(PluginConfig):
        env: str
        a: dict[str, str]
        b: dict[str, int]

    text = '[plugins.acme]\nenv = "prod"\na = { env = "X", other = "y" }\nb = { env = 3 }\n'
    settings = validate_section(load(tmp_path, text), "plugins", "acme", Config)
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

    text = """[plugins.acme]
password = "hunter2"
pin = 271828
api_key = "hunter3"
keys = {a = "hunter4"}
token = "hunter5"
port = {env = "PORT"}
tokens = 314159
"""
    lines = wrong(tmp_path, text, Config, {"PORT": "hunter6"})
    assert lines == [
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
    words: tuple[str, ...] = ()
    token: SecretStr | None = None

    @model_validator(mode="after")
    def _has_token(self) -> Gang:
        if self.token is None:
            raise ValueError("it needs a token")
        return self


def test_a_list_is_not_called_too_short_for_what_is_wrong_in_it(tmp_path: Path) -> None:
    text = """[plugins.acme]
token = "x"
pairs = [{ cert = 1 }]
[[plugins.acme.members]]
cret = "x"
"""
    assert wrong(tmp_path, text, Gang) == [
        "3: plugins.acme.pairs[0].cert: expected a string, found the number 1; put it in quotes",
        "3: plugins.acme.pairs: must have at least 2 items",
        "4: plugins.acme.members[0].cert: is required and missing",
        '5: plugins.acme.members[0].cret: unknown key; did you mean "cert"?',
    ]
    assert wrong(tmp_path, '[plugins.acme]\ntoken = "x"\nmembers = []\n', Gang) == [
        "3: plugins.acme.members: must not be empty"
    ]


def test_a_variable_that_is_not_set_is_all_that_is_said_of_it(tmp_path: Path) -> None:
    """Not, too, that what it is for is missing, in the words of the table around it."""
    text = """[plugins.acme]
token = { env = "TOKEN" }
words = 1
[[plugins.acme.members]]
cert = { env = "CERT" }
"""
    assert wrong(tmp_path, text, Gang) == [
        '2: plugins.acme.token: the environment variable "TOKEN" is missing or empty',
        "3: plugins.acme.words: expected a list, found the number 1",
        '5: plugins.acme.members[0].cert: the environment variable "CERT" is missing or empty',
    ]
    assert wrong(tmp_path, text.replace("words = 1", ""), Gang) == [
        '2: plugins.acme.token: the environment variable "TOKEN" is missing or empty',
        '5: plugins.acme.members[0].cert: the environment variable "CERT" is missing or empty',
    ]
    assert wrong(tmp_path, '[plugins.acme]\nmembers = [{ cert = "x" }]\n', Gang) == [
        "1: plugins.acme: it needs a token"
    ]
    assert wrong(tmp_path, '[plugins.acme]\ntoken = { env = "TOKEN" }\nmembers = [{ cert = "x" }]\n', Gang) == [
        '2: plugins.acme.token: the environment variable "TOKEN" is missing or empty'
    ]


def test_passwords_in_addresses_are_never_repeated(tmp_path: Path) -> None:
    [line] = wrong(tmp_path, "[plugins.acme]\nport = 'postgres://me:p@ss@db/x'\n", Acme)
    assert line == '2: plugins.acme.port: expected an integer, found text "postgres://**********@db/x"'


# --- names that nothing has ---


def test_unknown_sections_are_told_with_the_nearest_name(tmp_path: Path) -> None:
    config = load(tmp_path, "[plugins.htpp]\n[plugins.mcp]\n[toolkits.zzz]\n")
    assert [str(one) for one in unknown_sections(config, "plugins", ["http", "mcp"])] == [
        'hostconfig.toml:1: plugins.htpp: no plugin of this name is installed; did you mean "http"?'
    ]
    assert [str(one) for one in unknown_sections(config, "toolkits", ["files"])] == [
        "hostconfig.toml:3: toolkits.zzz: no toolkit of this name is installed"
    ]


def test_patterns_that_match_nothing_are_told_where_they_stand(tmp_path: Path) -> None:
    text = '[host]\ndisabled_tools = [\n  "github_*",\n  "githbu_*",\n]\n'
    config = load(tmp_path, text, {"ARCADE_DISABLED_TOOLS": "Math.Add, Github.DeletRepo"})
    forms = spellings("github", "delete_repo")
    unmatched = config.disabled_tools.unmatched(forms)
    assert [str(one) for one in unmatched_patterns(config, "disabled_tools", unmatched, forms)] == [
        'hostconfig.toml:4: host.disabled_tools[1]: "githbu_*" matches nothing; did you mean "github_*"?',
        'environment variable ARCADE_DISABLED_TOOLS: host.disabled_tools[2]: "Math.Add" matches nothing',
        (
            'environment variable ARCADE_DISABLED_TOOLS: host.disabled_tools[3]: "Github.DeletRepo" matches nothing; '
            'did you mean "github.deleterepo"?'
        ),
    ]


def test_anybody_may_make_a_problem_that_knows_its_place(tmp_path: Path) -> None:
    config = load(tmp_path, '[host]\ntransports = [\n  "htpp"]\n')
    problem = config.problem("no such transport", ("host", "transports", 0), "http")
    assert problem == ConfigProblem("no such transport", "host.transports[0]", "hostconfig.toml", 3, "http")
    assert str(config.problem("is needed", "host.required")) == "hostconfig.toml:1: host.required: is needed"
    assert str(config.problem("is needed", "plugins.x")) == "plugins.x: is needed"


# --- what starting costs ---


def test_configuring_imports_only_what_it_uses(tmp_path: Path) -> None:
    script = """
import json, sys
from pathlib import Path
import pydantic
class Model(pydantic.BaseModel):
    x: int = 1
before = set(sys.modules)
from pegboard.config import HostConfig
HostConfig.load(environ={}, directory=Path(sys.argv[1]))
without = set(sys.modules)
Path(sys.argv[1], "hostconfig.toml").write_text("[host]\\nname = 'x'\\n")
HostConfig.load(Path("hostconfig.toml"), environ={}, directory=Path(sys.argv[1]))
print(json.dumps([sorted(without - before), sorted(set(sys.modules) - without)]))
"""
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    without_file, with_file = json.loads(run.stdout)
    ours = {name for name in without_file if name.startswith("pegboard")}
    assert ours.isdisjoint({f"pegboard.config.{name}" for name in ("explain", "lines", "masking", "show")})
    assert {name.partition(".")[0] for name in without_file} <= {*sys.stdlib_module_names, "pegboard"}
    mypyc = [name for name in with_file if name.endswith("__mypyc")]  # how tomli is compiled
    assert "difflib" not in without_file + with_file
    assert {name.partition(".")[0] for name in with_file} - {"tomli"} <= {*sys.stdlib_module_names, *mypyc}
    assert "tomli" in with_file
