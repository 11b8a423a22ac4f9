"""Variables that settings declare, and the copy of them that the defaults hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import SecretStr

from pegboard.config import HostConfig, PluginConfig, config_show, validate_section
from pegboard.config.sections import declared_variables
from pegboard.loading.discovery import defaults, find_plugins, is_built_in
from pegboard.plugin import FromEnvironment


class Settings(PluginConfig):
    label: Annotated[str, FromEnvironment("ACME_LABEL")] = "none"
    verbose: Annotated[bool, FromEnvironment("ACME_VERBOSE")] = False
    pin: Annotated[SecretStr | None, FromEnvironment("ACME_PIN")] = None


def load(tmp_path: Path, environ: Mapping[str, str], text: str = "", **overrides: Any) -> HostConfig:
    (tmp_path / "hostconfig.toml").write_text(text, "utf-8")
    return HostConfig.load(Path("hostconfig.toml"), environ=environ, overrides=overrides, directory=tmp_path)


def test_a_variable_sets_a_setting_that_declares_it(tmp_path: Path) -> None:
    environ = {"ACME_LABEL": "[1]", "ACME_VERBOSE": "true", "ACME_PIN": "1234"}
    config = load(tmp_path, environ, '[plugins.acme]\nlabel = "file"\n')
    settings = validate_section(config, "plugins", "acme", Settings)
    assert isinstance(settings, Settings)
    assert (settings.label, settings.verbose, settings.pin) == ("[1]", True, SecretStr("1234"))
    view = config_show(config, {"plugins": {"acme": settings}})
    assert view.values["plugins"]["acme"]["pin"] == "**********"
    assert str(view.sources["plugins.acme.label"]) == "environment variable ACME_LABEL"


@pytest.mark.parametrize(
    ("environ", "overrides"),
    [
        ({"ACME_LABEL": " "}, {}),
        ({"ACME_LABEL": "low", "PEGBOARD__PLUGINS__ACME__LABEL": "high"}, {}),
        ({"ACME_LABEL": "low"}, {"plugins": {"acme": {"label": "high"}}}),
    ],
    ids=["empty", "below the own variable", "below the command line"],
)
def test_another_source_comes_first(tmp_path: Path, environ: dict[str, str], overrides: Any) -> None:
    config = load(tmp_path, environ, '[plugins.acme]\nlabel = "high"\n', **overrides)
    settings = validate_section(config, "plugins", "acme", Settings)
    assert isinstance(settings, Settings)
    assert settings.label == "high"


def test_a_wrong_value_names_the_variable(tmp_path: Path) -> None:
    problems = validate_section(load(tmp_path, {"ACME_VERBOSE": "maybe"}), "plugins", "acme", Settings)
    assert isinstance(problems, list)
    assert list(map(str, problems)) == [
        'environment variable ACME_VERBOSE: plugins.acme.verbose: expected true or false, found text "maybe"'
    ]


def test_the_defaults_list_every_variable_that_a_built_in_plugin_declares() -> None:
    models = {
        origin.name: origin.entry_point.load().Config
        for origin in find_plugins().origins
        if is_built_in(origin) and origin.entry_point is not None
    }
    declared = {
        (kind, variable, f"plugins.{name}.{key}")
        for name, model in models.items()
        if model is not None
        for key, variable, kind in declared_variables(model)
    }
    listed = {
        (kind, variable, key)
        for kind in ("values", "literals", "secrets", "lists")
        for variable, key in defaults()["environment"][kind].items()
        if key.startswith("plugins.")
    }
    assert declared == listed
