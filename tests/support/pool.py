"""Folders of distributions for hosts under test, and their configuration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from tests.support import asking_plugin, content_kit, fixture_kit, growing_plugin, hostile_kit, kept
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


def make_site(site: Path, kits: Mapping[str, ModuleType]) -> Path:
    """Write a distribution with toolkits, by name, into a folder; each is the `kit` of a module, which is copied."""
    modules = {name: module.__name__.rpartition(".")[2] for name, module in kits.items()}
    make_distribution(
        site,
        "fixture-kits",
        "1.2.3",
        {"pegboard.toolkits": {name: f"{module}:kit" for name, module in modules.items()}},
        {f"{modules[name]}.py": inspect.getsource(module) for name, module in kits.items()},
    )
    return site


def make_fixture_site(site: Path) -> Path:
    """Write the toolkits `fixture` and `hostile` into a folder."""
    return make_site(site, {"fixture": fixture_kit, "hostile": hostile_kit})


def _add_plugin(site: Path, name: str, target: str, module: ModuleType) -> Path:
    """Write a distribution with one plugin, the class `target` of a module."""
    file = module.__name__.rpartition(".")[2]
    points = {"pegboard.plugins": {name: f"{file}:{target}"}}
    make_distribution(site, f"{name}-plugin", "1.0", points, {f"{file}.py": inspect.getsource(module)})
    return site


ASKING = 'plugins = ["asking"]\n'
"""A line of `[host]` that runs the plugin `asking` (`make_asking_site`)."""


def make_asking_site(site: Path) -> Path:
    """Write the plugin `asking`, `fixture` and `hostile` into a folder."""
    return make_fixture_site(_add_plugin(site, "asking", "AskingPlugin", asking_plugin))


GROWING = 'plugins = ["growing"]\n'
"""A line of `[host]` that runs the plugin `growing` (`make_growing_site`)."""


def make_growing_site(site: Path) -> Path:
    """Write only the plugin `growing` into a folder."""
    return _add_plugin(site, "growing", "GrowingPlugin", growing_plugin)


EVERYTHING = 'plugins = ["asking", "growing"]\n'
"""A line of `[host]` that runs both plugins (`make_whole_site`)."""


def make_whole_site(site: Path) -> Path:
    """Write both plugins, the toolkits `content` and `fixture`, and stores in files (`kept.py`) into a folder."""
    add_stores(_add_plugin(make_growing_site(site), "asking", "AskingPlugin", asking_plugin))
    return make_site(site, {"content": content_kit, "fixture": fixture_kit})


def add_stores(site: Path) -> Path:
    """Write the plugin with stores in files into a folder."""
    return _add_plugin(site, "kept", "KeptPlugin", kept)


def stores(folder: Path, *, sessions: str = "kept", events: str = "kept", more: str = "") -> str:
    """Return sections of a configuration that keeps sessions and events in files, or in other stores."""
    return (
        f'\n[plugins.kept]\nfolder = "{folder}"\n{more}\n'
        f'[plugins.mcp]\nsession_store = "{sessions}"\nevent_store = "{events}"\n'
    )
