"""The configuration in force as it is shown, and the file that this checkout brings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import tomli
from pydantic import SecretStr

from pegboard.config import HostConfig, HostSection, PluginConfig, config_show, validate_section
from pegboard.loading import discovery
from pegboard.loading.discovery import defaults

ROOT = Path(__file__).parents[3]


def load(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> HostConfig:
    (tmp_path / "hostconfig.toml").write_text(text, "utf-8")
    return HostConfig.load(
        Path("hostconfig.toml"),
        environ=environ or {},
        directory=tmp_path,
        defaults={**defaults(), "plugins": {"mcp": {}}},
    )


class Inner(PluginConfig):
    path: Path = Path("a/b")


class Acme(PluginConfig):
    url: str = ""
    token: SecretStr = SecretStr("")
    password: str = ""
    pin: SecretStr | None = None
    inner: Inner = Inner()
    names: tuple[str, ...] = ()


TEXT = """[host]
name = "x"
disabled_tools = ["a"]
[plugins.acme]
url = "https://me:pw@example.com/"
token = { env = "TOKEN" }
password = "hunter2"
names = [{ env = "NAME" }]
[toolkits.files]
"""
ENVIRON = {"TOKEN": "s3cret", "NAME": "n4me", "ARCADE_DISABLED_TOOLS": "b", "PEGBOARD__PLUGINS__ACME__PIN": "1234"}


def test_every_value_is_shown_with_its_source_and_no_secret(tmp_path: Path) -> None:
    view = config_show(load(tmp_path, TEXT, ENVIRON))
    assert view.file == str(tmp_path / "hostconfig.toml")
    assert list(view.values) == ["host", "plugins", "toolkits"]
    assert view.values["host"]["name"] == "x"
    assert view.values["host"]["title"] is None
    assert view.values["host"]["missing_secrets"] == "warn"
    assert view.values["host"]["disabled_tools"] == ["a", "b"]
    assert view.values["plugins"] == {
        "acme": {
            "url": "https://**********@example.com/",
            "token": {"env": "TOKEN"},
            "password": "**********",
            "names": [{"env": "NAME"}],
            "pin": 1234,
        },
        "mcp": {},
    }
    sources = {key: str(source) for key, source in view.sources.items()}
    assert sources["host.name"] == "hostconfig.toml:2"
    assert sources["host.title"] == "default"
    assert sources["plugins.acme.token"] == "hostconfig.toml:6"
    assert sources["plugins.acme.names"] == "hostconfig.toml:8"
    assert sources["plugins.mcp"] == "defaults of the built-in plugins"
    assert sources["toolkits.files"] == "hostconfig.toml:9"
    assert not {"plugins", "toolkits", "host", "plugins.acme"} & set(sources)


def test_with_the_settings_of_what_runs_their_defaults_are_shown_too(tmp_path: Path) -> None:
    config = load(tmp_path, TEXT, ENVIRON)
    settings = validate_section(config, "plugins", "acme", Acme)
    assert isinstance(settings, Acme)
    view = config_show(
        config, {"plugins": {"acme": settings, "mcp": None, "bare": None}, "toolkits": {"math": Inner()}}
    )
    assert view.values["plugins"]["acme"] == {
        "url": "https://**********@example.com/",
        "token": {"env": "TOKEN"},
        "password": "**********",
        "pin": "**********",
        "inner": {"path": "a/b"},
        "names": [{"env": "NAME"}],
    }
    assert view.values["toolkits"] == {"files": {}, "math": {"path": "a/b"}}
    assert list(view.values["plugins"]) == ["acme", "mcp"]
    sources = {key: str(source) for key, source in view.sources.items()}
    assert sources["plugins.acme.inner.path"] == sources["toolkits.math.path"] == "default"
    assert sources["plugins.acme.pin"] == "environment variable PEGBOARD__PLUGINS__ACME__PIN"
    text = json.dumps(view.values)
    for secret in ("s3cret", "n4me", "hunter2", "me:pw"):
        assert secret not in text


def test_dates_and_nested_tables_can_be_shown(tmp_path: Path) -> None:
    view = config_show(load(tmp_path, '[plugins."a.b"]\nday = 2026-01-02\nt.secrets = {a = "x", on = true}\n'))
    assert json.loads(json.dumps(view.values["plugins"]["a.b"])) == {
        "day": "2026-01-02",
        "t": {"secrets": {"a": "**********", "on": True}},
    }
    assert str(view.sources['plugins."a.b".t.secrets.a']) == "hostconfig.toml:3"


def test_a_plugin_called_env_and_a_key_called_env_are_no_references(tmp_path: Path) -> None:
    config = HostConfig.of({"plugins": {"env": {"env": "prod"}}}, directory=tmp_path)
    view = config_show(config)
    assert view.values["plugins"] == {"env": {"env": "prod"}}
    assert str(view.sources["plugins.env.env"]) == "given by the program"


# --- the checkout's own file ---


def test_the_checkouts_file_works_and_lets_files_be_read_only() -> None:
    config = HostConfig.load(ROOT / "hostconfig.toml", environ={}, directory=ROOT)
    assert config.host == HostSection(disabled_toolkits=("github",))
    assert {name: dict(section) for name, section in config.toolkits.items()} == {
        "files": {"roots": (".",), "write": False}
    }
    assert dict(config.plugins) == {}


def test_the_checkouts_file_shows_every_key_of_host_with_its_default() -> None:
    text = (ROOT / "hostconfig.toml").read_text("utf-8")
    shown = re.findall(r"^# ([a-z_]+) = (.+?)(?:\s+# default: (.+?)(?:;.*)?)?$", text, re.MULTILINE)
    assert sorted(key for key, _, _ in shown) == sorted(HostSection.model_fields)
    defaults = HostSection.model_validate(discovery.defaults()["host"]).model_dump()
    for key, value, remark in shown:
        parsed = tomli.loads(f"value = {value}")["value"]
        HostSection.model_validate({key: parsed})
        if remark:
            assert defaults[key] is None or key == "version"
        else:
            assert defaults[key] == (tuple(parsed) if isinstance(parsed, list) else parsed)
