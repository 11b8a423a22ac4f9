"""Processes of the host that tests share: one for each revision, started when first asked for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Self

from tests.support import asking_plugin, asks_kit, content_kit, fixture_kit, growing_plugin, hostile_kit, kept
from tests.support.distributions import make_distribution
from tests.support.schemas import MODERN
from tests.support.wire import Wire

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
"""Names what a client may see of the host, and leaves it the toolkits that the tests bring."""


def make_site(site: Path, kits: Mapping[str, ModuleType]) -> Path:
    """Put toolkits, by name, into a folder as one distribution; each is the `kit` of a module, which is copied."""
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
    """Put the toolkits that most tests call into a folder."""
    return make_site(site, {"fixture": fixture_kit, "hostile": hostile_kit})


ASKING = 'plugins = ["asking"]\n'
"""A line of `[host]` that runs the plugin whose calls talk to their client (`make_asking_site`)."""


def make_asking_site(site: Path) -> Path:
    """Put that plugin into a folder, beside the toolkits that most tests call."""
    return make_fixture_site(_add_asking(site))


def _add_asking(site: Path) -> Path:
    make_distribution(
        site,
        "asking-plugin",
        "1.0",
        {"pegboard.plugins": {"asking": "asking_plugin:AskingPlugin"}},
        {"asking_plugin.py": inspect.getsource(asking_plugin)},
    )
    return site


def make_asks_site(site: Path) -> Path:
    """Put the toolkit whose tools, prompts and resources ask their client into a folder."""
    return make_site(site, {"asks": asks_kit})


GROWING = 'plugins = ["growing"]\n'
"""A line of `[host]` that runs the plugin whose tools change what there is (`make_growing_site`)."""


def make_growing_site(site: Path) -> Path:
    """Put that plugin, and nothing else, into a folder."""
    make_distribution(
        site,
        "growing-plugin",
        "1.0",
        {"pegboard.plugins": {"growing": "growing_plugin:GrowingPlugin"}},
        {"growing_plugin.py": inspect.getsource(growing_plugin)},
    )
    return site


EVERYTHING = 'plugins = ["asking", "growing"]\n'
"""A line of `[host]` that runs both (`make_whole_site`)."""


def make_whole_site(site: Path) -> Path:
    """Put both plugins into a folder, the toolkit with content of every kind, and stores in files (`kept.py`)."""
    make_growing_site(_add_asking(site))
    add_stores(site)
    return make_site(site, {"content": content_kit, "fixture": fixture_kit})


def add_stores(site: Path) -> Path:
    """Put the plugin whose stores are files into a folder."""
    entry_points = {"pegboard.plugins": {"kept": "kept:KeptPlugin"}}
    make_distribution(site, "kept-stores", "1.0", entry_points, {"kept.py": inspect.getsource(kept)})
    return site


def stores(folder: Path, *, sessions: str = "kept", events: str = "kept", more: str = "") -> str:
    """Sections of a configuration that keeps sessions and events in files, or in other stores."""
    return (
        f'\n[plugins.kept]\nfolder = "{folder}"\n{more}\n'
        f'[plugins.mcp]\nsession_store = "{sessions}"\nevent_store = "{events}"\n'
    )


class Pool:
    """Running hosts by revision. One that a test has ended is started anew."""

    def __init__(self, site: Path, config: str = CONFIG) -> None:
        self._site = site
        self._config = config
        self._wires: dict[str, Wire] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for wire in self._wires.values():
            await wire.__aexit__(kind, error, traceback)

    def new(self, config: str | None = None, *, env: Mapping[str, str] | None = None) -> Wire:
        """A host of the test's own, to be entered with `async with`."""
        return Wire(config=self._config if config is None else config, env=env, site=self._site)

    async def get(self, revision: str) -> Wire:
        """The host that serves this revision: in a session for a legacy one, without any handshake for a modern one."""
        wire = self._wires.get(revision)
        if wire is None or wire.process.returncode is not None:
            wire = self._wires[revision] = await self.new().__aenter__()
            if revision in MODERN:
                wire.modern = True
            else:
                await wire.initialize(revision)
                assert wire.conversation.revision == revision
        return wire
