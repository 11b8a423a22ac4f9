"""Installed plugins and entry points, read from metadata alone, and the decision whether each is enabled."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.config import HostConfig
from pegboard.loading.discovery import Selection, choose_plugins, defaults, find_plugins, is_built_in, provided
from pegboard.loading.plugins import PluginChoice
from pegboard.plugin.origin import Origin
from tests.support.distributions import make_distribution


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [
        (b"Metadata-Version: 2.1\nName: acme\nVersion: 3\n\nName: of the description\n", "acme 3"),
        (b"Name: acme\nName: evil\nVersion: 1\n", "acme 1"),
    ],
)
def test_metadata_are_read_as_far_as_possible(
    metadata: bytes, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    info = make_distribution(tmp_path, "acme", "3", {"pegboard.toolkits": {"damaged_kit": "acme:kit"}}, {})
    (info / "METADATA").write_bytes(metadata)
    (origin,) = [origin for origin in find_plugins().origins if origin.name == "damaged_kit"]
    assert f"{origin.distribution} {origin.version}" == shown


PLUGIN = Origin("plugin", "shout", "acme:Shout", "acme-tools", "1", entry_point=object())  # type: ignore[arg-type]  # any
TOOLKIT = Origin("toolkit", "kit", "acme:kit", "acme-tools", "1", entry_point=object())  # type: ignore[arg-type]  # any
BUILT_IN = Origin("plugin", "mcp", "pegboard_plugins.protocols.mcp:McpPlugin", "pegboard", "1", entry_point=object())  # type: ignore[arg-type]  # any
GIVEN = Origin("plugin", "mine", "program:Mine", given=object())


def choice(origin: Origin, config: dict[str, Any], *, safe: bool = False, only: tuple[str, ...] = ()) -> PluginChoice:
    """Decide about one plugin, with a built-in plugin beside it."""
    settings = HostConfig.of(config, defaults=defaults())
    return choose_plugins([origin, BUILT_IN], settings, Selection(only=only, safe=safe))[0]


@pytest.mark.parametrize(
    ("origin", "config", "on", "named", "reason"),
    [
        (TOOLKIT, {}, True, False, "installed"),
        (TOOLKIT, {"host": {"autoload": False}}, False, False, "a section [toolkits.kit] turns it on"),
        (TOOLKIT, {"host": {"autoload": False}, "toolkits": {"kit": {}}}, True, True, "[toolkits.kit]"),
        (TOOLKIT, {"host": {"required": ["kit"]}}, True, True, "[host] required"),
        (TOOLKIT, {"host": {"disabled_toolkits": ["Acme_Tools:K*"]}}, False, False, "disabled by 'Acme_Tools:K*'"),
        (TOOLKIT, {"host": {"disabled_toolkits": ["kit"]}, "toolkits": {"kit": {}}}, False, False, "disabled by"),
        (PLUGIN, {}, False, False, "no section [plugins.shout] and no list in [host] names it"),
        (PLUGIN, {"plugins": {"shout": {}}}, True, True, "named by [plugins.shout] (given by the program)"),
        (PLUGIN, {"host": {"transports": ["shout"]}}, True, True, "[host] transports"),
        (BUILT_IN, {}, True, False, "on by default"),
        (BUILT_IN._replace(name="http"), {}, True, True, "on by default"),
        (BUILT_IN, {"plugins": {"mcp": {}}}, True, True, "[plugins.mcp]"),
        (BUILT_IN, {"host": {"disabled_plugins": ["mcp"]}}, False, False, "disabled by 'mcp'"),
        (GIVEN, {}, True, True, "passed by the program"),
    ],
)
def test_the_configuration_decides(origin: Origin, config: dict[str, Any], on: bool, named: bool, reason: str) -> None:
    decided = choice(origin, config)
    assert (decided.on, decided.named, decided.refused) == (on, named, False)
    assert reason in decided.reason


@pytest.mark.parametrize(
    ("origin", "only", "on", "named"),
    [
        (TOOLKIT, ("kit",), True, True),
        (TOOLKIT, ("acme-tools:kit",), True, True),
        (TOOLKIT, ("k*",), True, False),
        (BUILT_IN, ("kit",), True, False),
        (GIVEN, ("kit",), True, True),
    ],
)
def test_only_selects_toolkits(origin: Origin, only: tuple[str, ...], on: bool, named: bool) -> None:
    decided = choice(origin, {}, only=only)
    assert (decided.on, decided.named) == (on, named)
    if origin is TOOLKIT:
        assert choice(origin, {"host": {"autoload": False}}, only=only).on is named


@pytest.mark.parametrize("origin", [TOOLKIT, PLUGIN, GIVEN], ids=lambda origin: origin.name)
def test_safe_disables_all_but_built_in_plugins(origin: Origin) -> None:
    config = {"host": {"required": ["kit"], "disabled_plugins": ["mcp"]}, "plugins": {"shout": {}, "mine": {}}}
    assert not choice(origin, config, safe=True).on
    assert choice(BUILT_IN, config, safe=True).on


@pytest.mark.parametrize("name", ["mcp", "MCP", " mcp"])
def test_a_third_party_plugin_with_the_name_of_a_built_in_plugin_is_refused(name: str) -> None:
    decided = choice(PLUGIN._replace(name=name), {"plugins": {"mcp": {}}})
    assert (decided.on, decided.named, decided.refused) == (False, False, True)
    assert choice(TOOLKIT._replace(name=name), {}).on
    disabled = {"host": {"disabled_plugins": ["acme-tools:*mcp"]}}
    assert not choice(PLUGIN._replace(name="mcp"), disabled).refused
    assert choice(BUILT_IN, disabled).on


@pytest.mark.needs("vault", "arcade_toolkits")  # `tool_packages` needs the latter
def test_messages_know_the_commands_and_transports_of_built_in_plugins() -> None:
    loaded = {
        origin.name: origin.entry_point.load()
        for origin in find_plugins().origins
        if is_built_in(origin) and origin.entry_point
    }
    adding = {name for name, plugin in loaded.items() if hasattr(plugin, "register_transports")}
    assert set(provided("transports").values()) == adding
    assert provided("commands")["login"] == "vault"


LINES = """
# a comment
[console_scripts]
acme = acme.cli:main [color]
[pegboard.toolkits]
acme=acme.kit:kit
invalid = my-module:kit
second = pathlib : Path.cwd [color]
"""


def archive(site: Path) -> None:
    """Put a distribution in an archive on the module path."""
    make_distribution(site / "inner", "zipped", "2", {"pegboard.toolkits": {"zipped": "zipped:kit"}}, {})
    sys.path.append(shutil.make_archive(str(site / "archive"), "zip", site / "inner"))


def second(site: Path) -> None:
    """Install an older version in a later folder."""
    make_distribution(site / "later", "Acme.Tools", "0", {"pegboard.toolkits": {"acme": "old:kit"}}, {})
    sys.path.append(str(site / "later"))


def link(site: Path) -> None:
    """Name the folder a second time."""
    (site / "link").symlink_to(site)
    sys.path.append(str(site / "link"))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    info = make_distribution(tmp_path, "Acme.Tools", "1.5", {}, {})
    (info / "entry_points.txt").write_text(LINES, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path), str(tmp_path / "absent")])
    return tmp_path


ACME = [
    ("acme", "acme.kit:kit", "Acme.Tools", "1.5", "acme.kit"),
    ("invalid", "my-module:kit", "Acme.Tools", "1.5", "my-module"),
    ("second", "pathlib : Path.cwd [color]", "Acme.Tools", "1.5", "pathlib"),
]


@pytest.mark.parametrize(
    ("more", "expected"),
    [(archive, [("zipped", "zipped:kit", "zipped", "2", "zipped")]), (second, []), (link, [])],
)
def test_each_distribution_is_found_once(
    site: Path, more: Callable[[Path], None], expected: list[tuple[str, ...]]
) -> None:
    more(site)
    origins = find_plugins().origins
    assert [(*origin[1:5], origin.module) for origin in origins] == [*ACME, *expected]


@pytest.mark.usefixtures("site")
def test_an_entry_point_is_loaded_or_explained() -> None:
    _, invalid, valid = find_plugins().origins
    assert valid.load() == Path.cwd
    with pytest.raises(Exception, match="its entry point 'my-module:kit' is not of the form `module:attribute`"):
        invalid.load()
