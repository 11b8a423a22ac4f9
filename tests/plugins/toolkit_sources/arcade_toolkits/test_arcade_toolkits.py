"""`[plugins.arcade]` serves toolkits of the Arcade system without that system."""

from __future__ import annotations

import asyncio
import decimal
import subprocess
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Barrier, Thread

import pytest

from pegboard import Host
from pegboard.config import HostConfig
from pegboard.plugin import CommandContext, PluginError
from pegboard_plugins.authoring.doctor.catalogue_checks import check_import_times
from pegboard_plugins.toolkit_sources.arcade_toolkits.finder import has_tools
from pegboard_plugins.toolkit_sources.arcade_toolkits.loading import ALIASED
from tests.host.hosting import value
from tests.support.arcade_site import make_arcade_site
from tests.support.distributions import make_distribution
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.needs("compat")
ORIGINALS = ("arcade_mcp_server", "arcade_tdk", "arcade_core", "arcade_evals")
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: %s\n"
TOOL = "from arcade_tdk import tool\n@tool\ndef say() -> str:\n    '''Say.'''\n    return 'said'\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the module path with the toolkits, in a process that has none of them afterwards."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(ALIASED, "_distributions", {})
    monkeypatch.syspath_prepend(make_arcade_site(tmp_path))
    monkeypatch.setenv("SUMS_LIMIT", "3")
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def distribution(site: Path, name: str, source: str = TOOL, requires: str = "arcade-tdk", **files: str) -> None:
    package = name.replace("-", "_")
    texts = {f"{package}/__init__.py": "", f"{package}/tools.py": source} | {
        f"{package}/{name}.py": text for name, text in files.items()
    }
    make_distribution(site, name, "1", {}, texts, metadata=METADATA % requires)


def host_of(*names: str) -> Host:
    section = {"autoload": False, "transports": []}
    return Host(HostConfig.of({"host": section, "plugins": {"arcade": {"names": list(names)}}}))


def owners(host: Host) -> set[str]:
    return {bound.tool.owner for bound in host.load().tools.values()}


@pytest.mark.parametrize(
    ("names", "served"),
    [
        (["*"], {"ledger", "sums", "tides"}),
        (["arcade-ledger", "tides"], {"ledger", "tides"}),
        (["Arcade_Sums", "sums"], {"sums"}),
        (["*d*"], {"ledger", "sums", "tides"}),
        (["[st]*"], {"sums", "tides"}),
        ([], set()),
    ],
)
def test_names_and_globs_select_toolkits(site: Path, names: list[str], served: set[str]) -> None:
    host = host_of(*names)
    assert owners(host) == served
    assert [problem for problem in host.problems if problem.stage != "secrets"] == []


def test_a_toolkit_has_the_identity_of_its_distribution(site: Path) -> None:
    host = host_of("ledger", "sums")
    tools = host.load().tools
    ledger, sums = tools["ledger_convert"].tool, tools["sums_divide"].tool
    assert (ledger.owner, ledger.version, ledger.owner_description) == ("ledger", "1.4.0", "Tools for a ledger")
    assert (sums.version, sums.owner_description) == ("2.0.2", None)
    assert "arcade_ledger" in {plugin.origin.distribution for plugin in host.report.plugins}


@pytest.mark.parametrize("name", ["arcade-wrods", "tides-library", "pegboard", ""])
async def test_a_name_without_toolkit_prevents_the_start(site: Path, name: str) -> None:
    with pytest.raises(PluginError, match=r"no toolkit .* Installed: arcade-ledger, arcade-sums, arcade-tides"):
        await host_of(name).start()


@pytest.mark.parametrize(
    ("name", "requires", "source"),
    [
        ("arcade", "pyglet", TOOL),  # a library for games
        ("arcade-evaluated", "arcade-tdk; extra == 'dev'", TOOL),
        ("arcade-serve", "arcade-tdk", TOOL),
        ("arcade-shared", "arcade-tdk", "import arcade_tdk\n"),
        ("arcade-broken", "arcade-tdk", "from arcade_tdk import tool\n@tool\ndef (:"),
        ("arcade-deep", "arcade-tdk", f"import arcade_tdk\nx = {'-' * 100_000}1"),
    ],
)
def test_other_distributions_are_no_toolkits(site: Path, name: str, requires: str, source: str) -> None:
    distribution(site, name, source, requires)
    assert owners(host_of("*")) == {"ledger", "sums", "tides"}


def test_damaged_metadata_hides_no_toolkit(site: Path) -> None:
    folder = site / "arcade_damaged-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_bytes(b"Requires-Dist: arcade-tdk\nSummary: \xff")
    assert owners(host_of("*")) == {"ledger", "sums", "tides"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import arcade_tdk\n@arcade_tdk.tool\ndef f(): ...", True),
        ("import arcade_tdk.tool\n@arcade_tdk.tool(name='F')\nasync def f(): ...", True),
        ("import arcade_mcp_server as a\n@a.tool\ndef f(): ...", True),
        ("from arcade_mcp_server import tool as t\n@t(desc='F')\ndef f(): ...", True),
        ("from arcade_tdk.tool import tool\n@tool\ndef f(): ...", True),
        ("from arcade_tdk import tool\n@tool.deprecated('g')\n@tool\ndef f(): ...", True),
        ("from arcade_tdk import tool\n", False),
        ("from arcade_tdk import ToolContext\n@ToolContext\ndef f(): ...", False),
        ("import arcade_tdk\nfrom other import tool\n@tool\ndef f(): ...", False),
        ("from arcade_mcp_server import MCPApp\napp = MCPApp()\n@app.tool\ndef f(): ...", False),
        ("from arcade_tdk import tool\nclass C:\n    @tool\n    def f(self): ...", False),
    ],
)
def test_tools_are_found_in_the_syntax(tmp_path: Path, source: str, expected: bool) -> None:
    (tmp_path / "tools.py").write_text(source)
    assert has_tools(tmp_path / "tools.py") is expected


TRAP = "raise SystemExit('the original was imported')\n"
CALLING = """
from arcade_tdk import tool
from arcade_core.schema import ToolMetadataKey
from arcade_evals.critic import BinaryCritic

@tool
def imported() -> str:
    '''Import in a function.'''
    import arcade_tdk.tool
    import arcade_mcp_server.exceptions as exceptions
    from arcade_kit.inner import name
    assert arcade_tdk.tool is tool
    return exceptions.__name__ + name() + ToolMetadataKey.CLIENT_ID
"""
INNER = "def name():\n    from arcade_mcp_server import auth\n    return auth.__name__\n"


async def test_no_module_of_the_original_is_imported(site: Path) -> None:
    for name in ORIGINALS:
        (site / f"{name}.py").write_text(TRAP)
    distribution(site, "arcade-kit", CALLING, inner=INNER)
    async with host_of("*") as host:
        compat = "pegboard_plugins.compat.arcade"
        assert await value(host, "kit_imported") == f"{compat}.exceptions{compat}.authclient_id"
        assert await value(host, "sums_compare", {"a": 1, "b": 1}) is True
    assert sys.modules.keys() & set(ORIGINALS) == set()


@pytest.mark.parametrize("times", range(5))
def test_other_modules_import_the_original_meanwhile(site: Path, times: int) -> None:
    (site / "arcade_mcp_server").mkdir()
    (site / "arcade_mcp_server" / "__init__.py").write_text("from arcade_mcp_server.mcp_app import MCPApp\n")
    (site / "arcade_mcp_server" / "mcp_app.py").write_text("MCPApp = 'the original'\n")
    (site / "own_server.py").write_text("from arcade_mcp_server import MCPApp\n")
    both, mounted, host = Barrier(2), [], host_of("*")

    def mount() -> None:
        both.wait()
        mounted.append(import_module("own_server").MCPApp)

    def load() -> None:
        both.wait()
        host.load()

    threads = [Thread(target=mount), Thread(target=load)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (mounted, owners(host)) == (["the original"], {"ledger", "sums", "tides"})
    assert str(sys.modules["arcade_mcp_server"].__file__).startswith(str(site))


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("from arcade_mcp_server import Telescope", "arcade_mcp_server.Telescope"),
        ("from arcade_tdk.telescopes import Big", "arcade_tdk.telescopes"),
        ("import arcade_core.catalog.parts", "arcade_core.catalog.parts"),
        ("from arcade_mcp_server.auth import Telescope", "arcade_mcp_server.auth.Telescope"),
    ],
)
def test_a_missing_name_is_reported_with_the_way_out(site: Path, line: str, missing: str) -> None:
    distribution(site, "arcade-kit", f"{line}\n{TOOL}")
    host = host_of("kit", "sums")
    assert owners(host) == {"sums"}
    [problem] = [str(problem) for problem in host.problems if problem.stage == "import"]
    assert f"arcade-kit imports {missing}, which pegboard does not have" in problem
    assert "mount its own server in [plugins.upstreams.servers]" in problem


@pytest.mark.parametrize("line", ["import gone_library", "from sums_gone import x"])
def test_a_missing_library_is_reported_as_such(site: Path, line: str) -> None:
    distribution(site, "arcade-kit", f"{line}\n{TOOL}")
    host = host_of("kit")
    assert owners(host) == set()
    assert f"No module named '{line.split()[1]}'" in str(host.problems)


def test_a_toolkit_that_was_imported_before_is_refused(site: Path) -> None:
    (site / "arcade_tdk.py").write_text("def tool(function): return function\n")
    distribution(site, "arcade-kit")
    import_module("arcade_kit.tools")
    host = host_of("kit")
    assert owners(host) == set()
    assert "arcade-kit was imported before it is served, with the original framework" in str(host.problems)


async def test_a_toolkit_changes_neither_warnings_nor_numbers_of_the_process(site: Path) -> None:
    before = list(warnings.filters), decimal.getcontext().prec
    async with host_of("sums") as host:
        assert (list(warnings.filters), decimal.getcontext().prec) == before
        quotient = await value(host, "sums_divide", {"a": "1", "b": "3"})
        assert quotient == "0." + 100 * "3"
        assert await value(host, "sums_divide", {"a": "2", "b": "1"}) == "2"
        threads = [asyncio.to_thread(lambda: decimal.getcontext().prec) for _ in "ab"]
        assert len(set(await asyncio.gather(*threads))) == 1
    assert decimal.getcontext().prec == before[1]


def test_a_slow_start_names_its_toolkits(
    site: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("pegboard_plugins.toolkit_sources.arcade_toolkits.SLOW_SECONDS", 0)

    async def start() -> None:
        async with host_of("sums", "tides"):
            pass

    asyncio.run(start())
    [line] = [record.getMessage() for record in caplog.records if record.name == "pegboard.plugins.arcade"]
    assert "arcade-sums took" in line
    assert "arcade-tides took" in line
    assert "`pegboard lock`" in line


@pytest.mark.needs("doctor")
def test_doctor_says_that_the_lock_helps(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_plugins.authoring.doctor.catalogue_checks.SLOW_IMPORT_SECONDS", 0)
    host = host_of("sums")
    host.load()
    findings = check_import_times(CommandContext(Namespace(), print, host=host))
    fixes = {finding.message.partition(" from ")[0]: finding.fix for finding in findings}
    assert "`pegboard lock`" in fixes["toolkit 'sums'"]
    assert "`pegboard lock`" not in fixes["plugin 'arcade'"]


def pegboard(site: Path, *arguments: str, config: str = "") -> subprocess.CompletedProcess[str]:
    file = site / "hostconfig.toml"
    file.write_text(f"[host]\nautoload = false\n{config}")
    return subprocess.run(
        [PEGBOARD, *arguments, "--config", file], cwd=site, capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), "HOME": str(site)},
    )  # fmt: skip


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize("command", ["list", "doctor"])
def test_without_the_section_commands_name_the_installed_toolkits(site: Path, command: str) -> None:
    lines = '`names = ["arcade-ledger", "arcade-sums", "arcade-tides"]`'
    shown = pegboard(site, command)
    assert "3 installed toolkits of the Arcade system are not served" in shown.stdout + shown.stderr
    assert f"add the lines `[plugins.arcade]` and {lines}" in shown.stdout + shown.stderr
    served = pegboard(site, command, config='[plugins.arcade]\nnames = ["tides"]\n')
    assert "not served" not in served.stdout + served.stderr


@pytest.mark.needs("tool_commands")
def test_the_section_needs_names(site: Path) -> None:
    assert "plugins.arcade.names: is required and missing" in pegboard(site, "list", config="[plugins.arcade]\n").stderr


@pytest.mark.needs("tool_commands")
def test_the_lock_lists_them_without_an_import(site: Path) -> None:
    section = '[plugins.arcade]\nnames = ["*"]\n'
    assert pegboard(site, "lock", config=section).returncode == 0
    for file in [*site.glob("arcade_*/**/*.py"), *site.glob("tides_library/*.py")]:
        file.write_text(file.read_text() + "raise SystemExit('imported')\n")
    lazy = f"{section}[plugins.lock]\nlazy = true\n"
    listed = pegboard(site, "list", config=lazy)
    assert "tides_tide_height" in listed.stdout
    assert "sums_divide" in listed.stdout
    assert "imported" in pegboard(site, "call", "tides_tide_height", "port=kiel", config=lazy).stderr


@pytest.mark.needs("tool_commands")
def test_the_lock_keeps_the_numbers_of_a_toolkit(site: Path) -> None:
    section = '[plugins.arcade]\nnames = ["sums"]\n'
    pegboard(site, "lock", config=section)
    called = pegboard(site, "call", "sums_divide", "a=1", "b=3", config=f"{section}[plugins.lock]\nlazy = true\n")
    assert 100 * "3" in called.stdout, called


@pytest.mark.parametrize("named", [{"tool_packages"}, {"tool_packages", "arcade"}])
def test_tool_packages_serves_them_too(site: Path, named: set[str]) -> None:
    section = {"autoload": False, "transports": []}
    host = Host(HostConfig.of({"host": section, "plugins": {name: {"names": ["sums"]} for name in named}}))
    assert owners(host) == {"sums"}
    assert [problem for problem in host.problems if problem.stage != "secrets"] == []
