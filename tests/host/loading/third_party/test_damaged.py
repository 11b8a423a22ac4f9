"""Damaged, hidden and leftover distributions: they are reported, and affect no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distributions import make_distribution
from tests.support.forks import Done, forks
from tests.support.wire import client_environment

KIT = """
from pegboard import Toolkit
kit = Toolkit("acme")
@kit.tool
def hello() -> str:
    "Greet."
    return "hi"
"""
ACME = {"pegboard.toolkits": {"acme": "acme_kit:kit"}}


def run(folder: Path, *arguments: str, site: str | None = None, **env: str) -> Done:
    """Run the command with the distributions of `site`, in another folder."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (work / "hostconfig.toml").write_text('[toolkits.files]\nroots = ["."]\n')
    variables = client_environment(folder / "home", {"PYTHONPATH": site or str(folder / "site"), **env})
    return forks().run([*arguments, "--config", "hostconfig.toml"], work, variables)


def states(done: Done) -> dict[tuple[str, str], str]:
    """Return the state of each plugin by name and distribution."""
    assert done.code == 0, done.err
    return {(row["name"], row["distribution"]): row["state"] for row in done.data}


def damage(site: Path, kind: str) -> None:
    """Install a damaged distribution."""
    info = make_distribution(site, "zz-damaged", "0.1", {"pegboard.toolkits": {"zz": "zz:kit"}}, {})
    entries, metadata = info / "entry_points.txt", info / "METADATA"
    match kind:
        case "malformed":
            entries.write_text("[x]\nno equals sign\n")
        case "not UTF-8":
            entries.write_bytes(b"[x]\n\xff\xfe = 1\n")
        case "a loop of links":
            entries.unlink()
            entries.symlink_to(entries)
        case "no METADATA":
            metadata.unlink()
        case "METADATA not UTF-8":
            metadata.write_bytes(b"Name: \xff\xfe\n")
        case _:
            for file in info.iterdir():
                file.unlink()
            info.rmdir()
            info.symlink_to(site / "nowhere")


@pytest.mark.parametrize(
    ("kind", "reported"),
    [("malformed", "zz-damaged 0.1"), ("not UTF-8", "zz-damaged 0.1"), ("a loop of links", "zz-damaged 0.1"),
     ("no METADATA", "zz_damaged-0.1.dist-info"), ("METADATA not UTF-8", "zz_damaged-0.1.dist-info"),
     pytest.param("no folder", "", marks=pytest.mark.needs("auth"))],
)  # fmt: skip
def test_an_unreadable_distribution_disables_no_other(tmp_path: Path, kind: str, reported: str) -> None:
    damage(tmp_path / "site", kind)
    done = run(tmp_path, "plugins", "--json")
    assert states(done)["files", "toolkit-files"] == "on"
    lines = [line for line in done.err.splitlines() if "zz" in line]
    assert len(lines) == bool(reported)
    assert run(tmp_path, "stdio", "--strict").code == (3 if reported else 0)
    assert all(line.startswith(f"pegboard: error: the entry points of {reported} cannot be read") for line in lines)


def test_models_of_pydantic_are_built_beside_an_unreadable_distribution(tmp_path: Path) -> None:
    damage(tmp_path, "malformed")
    command = [sys.executable, "-m", "pegboard", "plugins"]  # a fork would have loaded pydantic's plugins
    env = client_environment(tmp_path, {"PYTHONPATH": str(tmp_path)})
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.count("zz-damaged") == 1
    assert "TypeError" not in done.stderr


def install_twice(folder: Path, first: str, second: str) -> str:
    """Install two versions of one distribution and return the module path."""
    for name, version in (("front", first), ("behind", second)):
        make_distribution(folder / name, "acme-kit", version, ACME, {"acme_kit.py": KIT})
    return f"{folder / 'front'}:{folder / 'behind'}"


@pytest.mark.needs("auth", "tool_commands")
def test_a_hidden_distribution_is_reported(tmp_path: Path) -> None:
    site = install_twice(tmp_path, "2", "1")
    done = run(tmp_path, "plugins", "--json", site=site)
    assert states(done)["acme", "acme-kit"] == "on"
    (line,) = [line for line in done.err.splitlines() if "acme" in line]
    assert line == (
        f"pegboard: warning: acme-kit 1 in {tmp_path / 'behind'} is hidden by acme-kit 2 in {tmp_path / 'front'}, "
        "which comes first on the module path; uninstall one of them"
    )
    assert run(tmp_path, "list", "--strict", site=site).code == 0


def test_a_checkout_behind_its_own_editable_installation_is_not_reported(tmp_path: Path) -> None:
    site = install_twice(tmp_path, "1", "1")
    info = (tmp_path / "behind/acme_kit-1.dist-info").rename(tmp_path / "behind/acme_kit.egg-info")
    (info / "METADATA").rename(info / "PKG-INFO")
    done = run(tmp_path, "plugins", "--json", site=site)
    assert (states(done)["acme", "acme-kit"], "acme" in done.err) == ("on", False)


@pytest.mark.needs("why")
def test_the_rest_of_an_interrupted_uninstallation_is_ignored(tmp_path: Path) -> None:
    info = make_distribution(tmp_path / "site", "acme-kit", "1", ACME, {"acme_kit.py": KIT})
    rest = make_distribution(tmp_path / "site", "acme-kit", "0", ACME, {})
    rest.rename(info.with_name("~cme_kit-0.dist-info"))
    (info / "direct_url.json").write_text("{")
    done = run(tmp_path, "plugins", "--json")
    assert states(done)["acme", "acme-kit"] == "on"
    assert "~cme_kit-0.dist-info" in done.err
    why = run(tmp_path, "why", "acme")
    assert (why.code, "acme: on" in why.out) == (0, True), "although its origin is damaged"
