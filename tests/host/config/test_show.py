"""The configuration as `config show` reports it, and the configuration file of this checkout."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, SecretStr

from pegboard.config import PluginConfig, validate_section
from pegboard.config.explain import config_show
from tests.support.config import load


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
