"""Damaged, hidden and leftover distributions: they are reported, and affect no other."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.distributions import make_distribution
from tests.support.wire import PEGBOARD, client_environment

KIT = """
from pegboard import Toolkit
kit = Toolkit("acme")
@kit.tool
def hello() -> str:
    "Greet."
    return "hi"
"""
ACME = {"pegboard.toolkits": {"acme": "acme_kit:kit"}}
CONFIG = '[toolkits.files]\nroots = ["."]\n'


def run(site: Path, folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the distributions of a folder on its module path."""
    folder.mkdir(exist_ok=True)
    (folder / "hostconfig.toml").write_text(CONFIG)
    return subprocess.run(
        [PEGBOARD, *arguments, "--config", "hostconfig.toml"],
        cwd=folder,
        env=client_environment(folder.parent / "home", {"PYTHONPATH": str(site), **env}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def states(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, str], str]:
    """Return the state of each plugin by name and distribution."""
    assert done.returncode == 0, done.stderr
    return {(row["name"], row["distribution"]): row["state"] for row in json.loads(done.stdout)}


def damage(site: Path, kind: str) -> None:
    """Install a damaged distribution."""
    info = make_distribution(site, "zz-damaged", "0.1", {"x": {"y": "z"}}, {})
    entries, metadata = info / "entry_points.txt", info / "METADATA"
    match kind:
        case "malformed":
            entries.write_text("[x]\nno equals sign\n")
        case "not UTF-8":
            entries.write_bytes(b"[x]\n\xff\xfe = 1\n")
        case "a loop of links":
            entries.unlink()
            entries.symlink_to(entries)
        case "unreadable":
            entries.unlink()
            entries.mkdir()
        case "no METADATA":
            metadata.unlink()
        case "METADATA not UTF-8":
            metadata.write_bytes(b"Name: \xff\xfe\n")
        case "no folder":
            for file in info.iterdir():
                file.unlink()
            info.rmdir()
            info.symlink_to(site / "nowhere")
        case _:
            raise ValueError(kind)


@pytest.mark.parametrize("kind", ["malformed", "not UTF-8", "a loop of links"])
def test_unreadable_entry_points_disable_no_other_distribution(tmp_path: Path, kind: str) -> None:
    damage(tmp_path / "site", kind)
    done = run(tmp_path / "site", tmp_path / "work", "plugins", "--json")
    assert states(done)["files", "toolkit-files"] == "on"
    (line,) = [line for line in done.stderr.splitlines() if "zz-damaged" in line]
    assert line.startswith("pegboard: error: the entry points of zz-damaged 0.1 cannot be read")


@pytest.mark.parametrize("kind", ["unreadable", "no METADATA", "METADATA not UTF-8", "no folder"])
def test_unreadable_metadata_disable_nothing(tmp_path: Path, kind: str) -> None:
    damage(tmp_path / "site", kind)
    done = run(tmp_path / "site", tmp_path / "work", "plugins", "--json")
    assert (states(done)["files", "toolkit-files"], "zz" in done.stderr) == ("on", False)


SPY = """
from pathlib import Path
Path("pydantic_plugin_ran").touch()
class Spy:
    def new_schema_validator(self, *_):
        return None, None, None
spy = Spy()
"""


@pytest.mark.parametrize(("env", "runs"), [({}, True), ({"PYDANTIC_DISABLE_PLUGINS": "__all__"}, False)])
def test_plugins_of_pydantic_run_beside_a_damaged_distribution(tmp_path: Path, env: dict[str, str], runs: bool) -> None:
    site = tmp_path / "site"
    damage(site, "malformed")
    make_distribution(site, "zz-spy", "1", {"pydantic": {"spy": "zz_spy:spy"}}, {"zz_spy.py": SPY})
    assert states(run(site, tmp_path / "work", "plugins", "--json", **env))["files", "toolkit-files"] == "on"
    assert (tmp_path / "work" / "pydantic_plugin_ran").exists() is runs


def install_twice(tmp_path: Path, first: str, second: str, folder: str = "acme_kit-{}.dist-info") -> str:
    """Install two versions of one distribution and return the module path."""
    for name, version in (("front", first), ("behind", second)):
        info = make_distribution(tmp_path / name, "acme-kit", version, ACME, {"acme_kit.py": KIT})
        info.rename(info.with_name(folder.format(version)) if name == "behind" else info)
    return f"{tmp_path / 'front'}:{tmp_path / 'behind'}"


def test_a_hidden_distribution_is_reported(tmp_path: Path) -> None:
    site = install_twice(tmp_path, "2", "1")
    done = run(Path(site), tmp_path / "work", "plugins", "--json")
    assert states(done)["acme", "acme-kit"] == "on"
    (line,) = [line for line in done.stderr.splitlines() if "acme" in line]
    assert line == (
        f"pegboard: warning: acme-kit 1 in {tmp_path / 'behind'} is hidden by acme-kit 2 in {tmp_path / 'front'}, "
        "which comes first on the module path; uninstall one of them"
    )
    assert run(Path(site), tmp_path / "work", "list", "--strict").returncode == 0


def test_one_installation_found_twice_is_not_reported(tmp_path: Path) -> None:
    make_distribution(tmp_path / "front", "acme-kit", "1", ACME, {"acme_kit.py": KIT})
    (tmp_path / "again").symlink_to(tmp_path / "front")
    done = run(Path(f"{tmp_path / 'front'}:{tmp_path / 'again'}"), tmp_path / "work", "plugins", "--json")
    assert states(done)["acme", "acme-kit"] == "on"
    assert "acme" not in done.stderr


def test_a_checkout_behind_its_own_editable_installation_is_not_reported(tmp_path: Path) -> None:
    site = install_twice(tmp_path, "1", "1", "acme_kit.egg-info")
    (tmp_path / "behind" / "acme_kit.egg-info" / "METADATA").rename(
        tmp_path / "behind" / "acme_kit.egg-info" / "PKG-INFO"
    )
    done = run(Path(site), tmp_path / "work", "plugins", "--json")
    assert (states(done)["acme", "acme-kit"], "acme" in done.stderr) == ("on", False)


def test_the_rest_of_an_interrupted_uninstallation_is_ignored(tmp_path: Path) -> None:
    info = make_distribution(tmp_path / "site", "acme-kit", "1", ACME, {"acme_kit.py": KIT})
    rest = make_distribution(tmp_path / "site", "acme-kit", "0", ACME, {})
    rest.rename(info.with_name("~cme_kit-0.dist-info"))
    done = run(tmp_path / "site", tmp_path / "work", "plugins", "--json")
    assert states(done)["acme", "acme-kit"] == "on"
    assert "~cme_kit-0.dist-info" in done.stderr


def test_why_works_though_the_origin_of_a_toolkit_is_damaged(tmp_path: Path) -> None:
    info = make_distribution(tmp_path / "site", "acme-kit", "1", ACME, {"acme_kit.py": KIT})
    (info / "direct_url.json").write_text("{")
    done = run(tmp_path / "site", tmp_path / "work", "why", "acme")
    assert (done.returncode, "acme: on" in done.stdout) == (0, True), done.stderr
