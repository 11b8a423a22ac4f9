"""Folders of distributions for hosts under test, and their configuration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from tests.support import asking_plugin, fixture_kit, hostile_kit
from tests.support.distributions import make_distribution

TOOLKITS = sorted(path.name for path in (Path(__file__).parent.parent.parent / "toolkits").iterdir())
"""The toolkits of the checkout, all of which the environment of the tests has installed."""

CONFIG = f"""
[host]
name = "wire-tests"
version = "9.8.7"
title = "Wire tests"
instructions = "Only for tests."
website_url = "https://example.invalid/"
disabled_toolkits = {TOOLKITS}
"""
"""The host's introduction, and no toolkits but those of the tests."""


def make_site(site: Path, kits: Mapping[str, ModuleType], *plugins: ModuleType) -> Path:
    """Write distributions into a folder, with copies of their modules.

    Args:
        site: the folder.
        kits: the modules of toolkits by name; each has a `kit`.
        plugins: the modules of plugins, such as `asking_plugin` with the class `AskingPlugin`.
    """
    files = {module: module.__name__.rpartition(".")[2] for module in (*kits.values(), *plugins)}
    sources = {module: {f"{name}.py": inspect.getsource(module)} for module, name in files.items()}
    targets = {name: f"{files[module]}:kit" for name, module in kits.items()}
    code = {path: text for module in kits.values() for path, text in sources[module].items()}
    make_distribution(site, "fixture-kits", "1.2.3", {"pegboard.toolkits": targets}, code)
    for module in plugins:
        name = files[module].removesuffix("_plugin")
        points = {"pegboard.plugins": {name: f"{files[module]}:{name.capitalize()}Plugin"}}
        make_distribution(site, f"{name}-plugin", "1.0", points, sources[module])
    return site


FIXTURE = {"fixture": fixture_kit, "hostile": hostile_kit}
"""The toolkits of most tests."""
ASKING = 'plugins = ["asking"]\n'
"""A line of `[host]` that runs the plugin `asking` (`make_asking_site`)."""


def make_fixture_site(site: Path) -> Path:
    """Write the toolkits `fixture` and `hostile` into a folder."""
    return make_site(site, FIXTURE)


def make_asking_site(site: Path) -> Path:
    """Write the plugin `asking`, `fixture` and `hostile` into a folder."""
    return make_site(site, FIXTURE, asking_plugin)


def stores(folder: Path, *, sessions: str = "kept", events: str = "kept", more: str = "") -> str:
    """Return sections of a configuration that keeps sessions and events in files, or in other stores."""
    return (
        f'\n[plugins.kept]\nfolder = "{folder}"\n{more}\n'
        f'[plugins.mcp]\nsession_store = "{sessions}"\nevent_store = "{events}"\n'
    )
