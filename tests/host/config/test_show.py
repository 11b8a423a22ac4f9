"""The configuration as `config show` reports it, and the configuration file of this checkout."""

from __future__ import annotations

import json
import re
from pathlib import Path

import tomli
from pydantic import BaseModel, SecretStr

from pegboard.config import HostConfig, HostSection, PluginConfig, config_show, validate_section
from pegboard.loading.discovery import defaults
from tests.support.config import load
from tools.install import ROOT


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
ACME = {
    "url": "https://**********@example.com/",
    "token": {"env": "TOKEN"},
    "password": "**********",
    "names": [{"env": "NAME"}],
}


def test_defaults_of_running_plugins_are_shown_too(tmp_path: Path) -> None:
    config = load(tmp_path, TEXT, ENVIRON)
    settings = validate_section(config, "plugins", "acme", Acme)
    assert isinstance(settings, Acme)
    models: dict[str, dict[str, BaseModel | None]] = {
        "plugins": {"acme": settings, "mcp": None},
        "toolkits": {"math": Inner()},
    }
    view = config_show(config, models)
    assert view.values["plugins"] == {"acme": {**ACME, "pin": "**********", "inner": {"path": "a/b"}}}
    assert view.values["toolkits"] == {"files": {}, "math": {"path": "a/b"}}
    assert str(view.sources["plugins.acme.inner.path"]) == str(view.sources["toolkits.math.path"]) == "default"
    assert str(view.sources["plugins.acme.pin"]) == "environment variable PEGBOARD__PLUGINS__ACME__PIN"
    assert not [secret for secret in ("s3cret", "n4me", "hunter2", "me:pw") if secret in json.dumps(view.values)]


def test_the_file_of_this_checkout_lets_files_be_read_only_and_shows_every_key() -> None:
    config = HostConfig.load(ROOT / "hostconfig.toml", environ={}, directory=ROOT)
    assert config.host == HostSection(disabled_toolkits=("github",))
    assert {name: dict(section) for name, section in config.toolkits.items()} == {
        "files": {"roots": (".",), "write": False}
    }
    text = (ROOT / "hostconfig.toml").read_text("utf-8")
    shown = re.findall(r"^# ([a-z_]+) = (.+?)(?:\s+# default: (.+?)(?:;.*)?)?$", text, re.MULTILINE)
    assert sorted(key for key, _, _ in shown) == sorted(HostSection.model_fields)
    known = HostSection.model_validate(defaults()["host"]).model_dump()
    for key, value, remark in shown:
        parsed = tomli.loads(f"value = {value}")["value"]
        HostSection.model_validate({key: parsed})
        if remark:
            assert known[key] is None or key == "version"
        else:
            assert known[key] == (tuple(parsed) if isinstance(parsed, list) else parsed)
