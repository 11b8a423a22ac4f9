"""Configuration of a folder, and the problems with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pegboard.config import HostConfig
from pegboard.errors import ConfigError
from pegboard.loading.discovery import defaults

VARIABLES = {"environment": defaults()["environment"]}
"""The variables that set keys, without other defaults."""


def section(name: str, values: Mapping[str, Any]) -> str:
    """Return the text of a section."""
    return "\n".join([f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items()), ""])


def _toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(member)}" for key, member in value.items()) + "}"
    return json.dumps(value)


def load(folder: Path, text: str = "", environ: Mapping[str, str] | None = None, **options: Any) -> HostConfig:
    """Load a file of this text."""
    (folder / "hostconfig.toml").write_text(text, "utf-8")
    options.setdefault("defaults", VARIABLES)
    return HostConfig.load(Path("hostconfig.toml"), environ=environ or {}, directory=folder, **options)


def problems(folder: Path, text: str = "", environ: Mapping[str, str] | None = None, **options: Any) -> list[str]:
    """Return the problems of a file that must have some."""
    with pytest.raises(ConfigError) as caught:
        load(folder, text, environ, **options)
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    return str(caught.value).splitlines()
