"""What is installed, read from its metadata alone, and who decides whether it runs."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.loading.discovery import ProgramPlugins, choose_plugins, defaults, find_plugins, own_version
from pegboard.loading.plugins import PluginChoice
from pegboard.plugin import HostConfig, Selection
from pegboard.plugin.origin import Origin
from tests.support.distributions import make_distribution

KIT = {"pegboard.toolkits": {"kit": "sample_kit:kit"}}
BOTH = {"pegboard.plugins": {"shout": "acme.shout:Plugin"}, "pegboard.toolkits": {"kit": "acme:kit"}}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path for distributions."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def found(*names: str) -> list[Origin]:
    """What is found of these distributions."""
    return [origin for origin in find_plugins().origins if origin.distribution in names]


# --- finding


def test_both_groups_are_found_and_nothing_is_imported(site: Path) -> None:
    make_distribution(site, "acme-tools", "2.1", BOTH, {"acme.py": "raise SystemExit('imported')"})
    assert [(one.kind, one.name, one.target, one.distribution, one.version) for one in found("acme-tools")] == [
        ("toolkit", "kit", "acme:kit", "acme-tools", "2.1"),
        ("plugin", "shout", "acme.shout:Plugin", "acme-tools", "2.1"),
    ]
    assert "acme" not in sys.modules


def test_the_order_is_that_of_names_then_distributions_however_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("middle", "acme", "zebra"):
        monkeypatch.syspath_prepend(tmp_path / name)
        entries = {"pegboard.toolkits": {"same": f"{name}:kit", f"own_{name}": "x:y"}}
        make_distribution(tmp_path / name, name, "1", entries, {})
    ours = [(origin.name, origin.distribution) for origin in found("zebra", "acme", "middle")]
    assert ours == [
        ("own_acme", "acme"),
        ("own_middle", "middle"),
        ("own_zebra", "zebra"),
        ("same", "acme"),
        ("same", "middle"),
        ("same", "zebra"),
    ]


def test_other_groups_are_none_of_ours(site: Path) -> None:
    make_distribution(site, "acme", "1", {"console_scripts": {"acme": "acme:main"}, "pegboard": {"x": "acme:x"}}, {})
    assert found("acme") == []


def test_the_first_on_the_path_of_two_installations_counts(
    site: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    behind = tmp_path_factory.mktemp("behind")
    make_distribution(behind, "acme", "1", {"pegboard.toolkits": {"old": "acme:kit"}}, {})
    sys.path.append(str(behind))
    try:
        make_distribution(site, "acme", "2", {"pegboard.toolkits": {"new": "acme:kit"}}, {})
        assert [(origin.name, origin.version) for origin in found("acme")] == [("new", "2")]
    finally:
        sys.path.remove(str(behind))


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [
        ("Metadata-Version: 2.1\nName: acme\nVersion: 3\n\nName: of the description\n", ("acme", "3")),
        ("metadata-version: 2.1\nversion: 3\nname:acme\n", ("acme", "3")),
        ("Metadata-Version: 2.1\nName: acme\n", ("acme", "3")),
        ("Metadata-Version: 2.1\nName: acme\n\nVersion: of the description\n", ("acme", "3")),
        ("Name: acme\nName: evil\nVersion: 1\n", ("acme", "1")),
        ("", ("acme", "3")),
        (None, ("acme", "3")),
        (b"Name: \xff\xfe\n", ("acme", "3")),
    ],
)
def test_metadata_are_read_as_far_as_they_go(site: Path, metadata: str | bytes | None, shown: tuple[str, str]) -> None:
    info = make_distribution(site, "acme", "3", {"pegboard.toolkits": {"damaged_kit": "acme:kit"}}, {})
    (info / "METADATA").unlink()
    if metadata is not None:
        (info / "METADATA").write_bytes(metadata if isinstance(metadata, bytes) else metadata.encode())
    (origin,) = [origin for origin in find_plugins().origins if origin.name == "damaged_kit"]
    assert (origin.distribution, origin.version) == shown


def test_with_a_damaged_list_the_first_on_the_path_counts_still(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_distribution(site / "behind", "acme", "1", {"pegboard.toolkits": {"old": "acme:kit"}}, {})
    make_distribution(site / "front", "acme", "2", {"pegboard.toolkits": {"new": "acme:kit"}}, {})
    monkeypatch.syspath_prepend(site / "behind")
    monkeypatch.syspath_prepend(site / "front")
    info = make_distribution(site, "acme-damaged", "0.1", KIT, {})
    (info / "entry_points.txt").write_text("[pegboard.toolkits]\nno equals sign\n")
    assert [(origin.name, origin.version) for origin in found("acme")] == [("new", "2")]


@pytest.mark.parametrize("damage", [b"[pegboard.toolkits]\nno equals sign\n", b"[x]\n\xff\xfe = 1\n"])
def test_a_damaged_list_of_entry_points_costs_its_distribution_alone(site: Path, damage: bytes) -> None:
    info = make_distribution(site, "acme-damaged", "0.1", KIT, {})
    (info / "entry_points.txt").write_bytes(damage)
    make_distribution(site, "acme-sound", "1", KIT, {})
    result = find_plugins()
    assert [origin.distribution for origin in result.origins if origin.name == "kit"] == ["acme-sound"]
    assert {"mcp", "stdio"} <= {origin.name for origin in result.origins}
    (problem,) = result.problems
    assert problem.stage == "find"
    assert "the entry points of acme-damaged 0.1 cannot be read" in problem.message


def test_what_a_program_hands_over_is_found_too() -> None:
    kit = Toolkit("kit")
    given = ProgramPlugins(plugins={"a": importlib.metadata}, toolkits={"b": kit})
    origins = {origin.name: origin for origin in find_plugins(given).origins if not origin.distribution}
    assert [(one.kind, one.target, one.given, one.entry_point) for one in origins.values()] == [
        ("plugin", "importlib.metadata", importlib.metadata, None),
        ("toolkit", "Toolkit('kit')", kit, None),
    ]


def test_our_own_version_is_that_of_the_distribution() -> None:
    assert own_version() == importlib.metadata.version("pegboard")


def test_the_defaults_name_plugins_that_are_there() -> None:
    built_in = {
        origin.name
        for origin in find_plugins().origins
        if origin.kind == "plugin" and origin.distribution == "pegboard"
    }
    assert set(defaults()["plugins"]) <= built_in


# --- choosing

STRANGE_PLUGIN = Origin("plugin", "shout", "acme:Shout", "acme-tools", "1", entry_point=object())  # type: ignore[arg-type]  # any
STRANGE_KIT = Origin("toolkit", "kit", "acme:kit", "acme-tools", "1", entry_point=object())  # type: ignore[arg-type]  # any
BUILT_IN = Origin("plugin", "mcp", "pegboard_plugins.mcp:McpPlugin", "pegboard", "1", entry_point=object())  # type: ignore[arg-type]  # any
GIVEN = Origin("plugin", "mine", "program:Mine", given=object())


def choice(origin: Origin, config: dict[str, Any], *, safe: bool = False, only: tuple[str, ...] = ()) -> PluginChoice:
    """What is decided about one plugin, with a built-in one beside it."""
    settings = HostConfig.of(config, defaults=defaults())
    return choose_plugins([origin, BUILT_IN], settings, Selection(only=only, safe=safe))[0]


@pytest.mark.parametrize(
    ("origin", "config", "on", "named", "reason"),
    [
        (STRANGE_KIT, {}, True, False, "installed"),
        (STRANGE_KIT, {"host": {"autoload": False}}, False, False, "a section [toolkits.kit] turns it on"),
        (STRANGE_KIT, {"host": {"autoload": False}, "toolkits": {"kit": {}}}, True, True, "[toolkits.kit]"),
        (STRANGE_KIT, {"host": {"required": ["kit"]}}, True, True, "[host] required"),
        (STRANGE_KIT, {"host": {"transports": ["kit"]}}, True, False, "installed"),
        (STRANGE_KIT, {"host": {"disabled_toolkits": ["kit"]}}, False, False, "disabled by 'kit'"),
        (STRANGE_KIT, {"host": {"disabled_toolkits": ["Acme_Tools:K*"]}}, False, False, "disabled by 'Acme_Tools:K*'"),
        (STRANGE_KIT, {"host": {"disabled_toolkits": ["other:kit"]}}, True, False, "installed"),
        (STRANGE_KIT, {"host": {"disabled_plugins": ["kit"]}}, True, False, "installed"),
        (STRANGE_KIT, {"host": {"disabled_toolkits": ["kit"]}, "toolkits": {"kit": {}}}, False, False, "disabled by"),
        (STRANGE_PLUGIN, {}, False, False, "no section [plugins.shout] and no list in [host] names it"),
        (STRANGE_PLUGIN, {"host": {"autoload": True}, "toolkits": {"shout": {}}}, False, False, "no section"),
        (STRANGE_PLUGIN, {"plugins": {"shout": {}}}, True, True, "named by [plugins.shout] (given by the program)"),
        (STRANGE_PLUGIN, {"host": {"plugins": ["shout"]}}, True, True, "[host] plugins"),
        (STRANGE_PLUGIN, {"host": {"transports": ["shout"]}}, True, True, "[host] transports"),
        (STRANGE_PLUGIN, {"host": {"middleware": ["shout"]}}, True, True, "[host] middleware"),
        (STRANGE_PLUGIN, {"host": {"required": ["shout"]}}, True, True, "[host] required"),
        (
            STRANGE_PLUGIN,
            {"host": {"disabled_plugins": ["*"]}, "plugins": {"shout": {}}},
            False,
            False,
            "disabled by '*'",
        ),
        (BUILT_IN, {}, True, False, "on by default"),
        (BUILT_IN, {"plugins": {"mcp": {}}}, True, True, "[plugins.mcp]"),
        (BUILT_IN, {"host": {"disabled_plugins": ["mcp"]}}, False, False, "disabled by 'mcp'"),
        (GIVEN, {}, True, True, "handed over by the program"),
        (GIVEN, {"host": {"disabled_plugins": ["mine"]}}, False, False, "disabled by 'mine'"),
    ],
)
def test_who_decides(origin: Origin, config: dict[str, Any], on: bool, named: bool, reason: str) -> None:
    decided = choice(origin, config)
    assert (decided.on, decided.named, decided.refused) == (on, named, False)
    assert reason in decided.reason


@pytest.mark.parametrize(
    ("origin", "only", "on", "named"),
    [
        (STRANGE_KIT, ("kit",), True, True),
        (STRANGE_KIT, ("acme-tools:kit",), True, True),
        (STRANGE_KIT, ("k*",), True, False),
        (STRANGE_KIT, ("[k]it", "kit"), True, False),
        (STRANGE_KIT, ("other",), False, False),
        (BUILT_IN, ("kit",), True, False),
        (GIVEN, ("kit",), True, True),
    ],
)
def test_only_is_about_toolkits(origin: Origin, only: tuple[str, ...], on: bool, named: bool) -> None:
    decided = choice(origin, {}, only=only)
    assert (decided.on, decided.named) == (on, named)


def test_a_toolkit_that_only_names_is_on_though_autoload_is_off() -> None:
    assert choice(STRANGE_KIT, {"host": {"autoload": False}}, only=("kit",)).on
    assert not choice(STRANGE_KIT, {"host": {"autoload": False}}, only=("k*",)).on


@pytest.mark.parametrize("origin", [STRANGE_KIT, STRANGE_PLUGIN, GIVEN], ids=lambda origin: origin.name)
def test_safe_leaves_out_all_that_is_not_built_in(origin: Origin) -> None:
    config = {"host": {"required": ["kit"], "disabled_plugins": ["mcp"]}, "plugins": {"shout": {}, "mine": {}}}
    assert not choice(origin, config, safe=True).on
    assert choice(BUILT_IN, config, safe=True).on


@pytest.mark.parametrize("name", ["mcp", "MCP", " mcp"])
@pytest.mark.parametrize("config", [{}, {"plugins": {"mcp": {}}}], ids=["found", "named"])
def test_a_stranger_with_the_name_of_a_built_in_plugin_is_refused(name: str, config: dict[str, Any]) -> None:
    decided = choice(STRANGE_PLUGIN._replace(name=name), config)
    assert (decided.on, decided.named, decided.refused) == (False, False, True)
    assert choice(STRANGE_KIT._replace(name=name), config).on


def test_a_stranger_that_is_disabled_is_not_spoken_of() -> None:
    config = {"host": {"disabled_plugins": ["acme-tools:mcp"]}}
    decided = choice(STRANGE_PLUGIN._replace(name="mcp"), config)
    assert (decided.on, decided.refused) == (False, False)
    assert choice(BUILT_IN, config).on
