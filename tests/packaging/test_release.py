"""`make release` sets versions, `server.json` is valid, and the promises of docs/releasing.md hold."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from pegboard import hookspecs
from pegboard.loading.hook_manager import HookManager
from pegboard.plugin import hookimpl
from tests.support.server_json import check_server_json
from tools.install import ROOT, distributions
from tools.release import check_tag, edited


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 (unreleased)\n\n- A change.\n", "utf-8")
    for file in (
        ROOT / "docs" / "tutorial.md",
        ROOT / "server.json",
        ROOT / "tools" / "site" / "static" / "versions.js",
        *(folder / "pyproject.toml" for folder in distributions()),
    ):
        copy = tmp_path / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    return tmp_path


@pytest.mark.parametrize(("version", "bounds"), [("0.7.2", ">=0.7,<0.8"), ("3.4.0", ">=3.4,<4")])
def test_all_distributions_get_the_version_and_the_changelog_a_date(checkout: Path, version: str, bounds: str) -> None:
    files = dict(edited(checkout, version, "2030-01-02"))
    assert f"\n## {version} (2030-01-02)\n" in files.pop(checkout / "CHANGELOG.md")
    assert f"\npegboard {version}\n" in files.pop(checkout / "docs" / "tutorial.md")
    server = json.loads(files.pop(checkout / "server.json"))
    assert set(re.findall(r"\d+\.\d+\.\d+", json.dumps(server["packages"]))) == {server["version"]} == {version}
    (versions,) = re.findall(r"= (\[.*\]);", files.pop(checkout / "tools" / "site" / "static" / "versions.js"))
    assert json.loads(versions)[0] == version
    projects = {path: tomllib.loads(text)["project"] for path, text in files.items()}
    assert {project["version"] for project in projects.values()} == {version}
    toolkits = [project for path, project in projects.items() if path.parent != checkout]
    assert len(toolkits) == len(distributions()) - 1
    assert all(f"pegboard{bounds}" in project["dependencies"] for project in toolkits)


def test_an_invalid_version_and_a_changelog_without_changes_are_refused(checkout: Path) -> None:
    with pytest.raises(SystemExit, match="three numbers"):
        list(edited(checkout, "v1", ""))
    (checkout / "CHANGELOG.md").write_text("# Changelog\n", "utf-8")
    with pytest.raises(SystemExit, match="unreleased"):
        list(edited(checkout, "1.0.0", ""))


def test_a_tag_of_another_version_is_not_published(checkout: Path) -> None:
    for path, text in edited(checkout, "1.2.3", ""):
        path.write_text(text, "utf-8")
    with pytest.raises(SystemExit, match=r"server\.json has no owner: replace OWNER there and in README\.md"):
        check_tag(checkout, "v1.2.3")
    server = checkout / "server.json"
    server.write_text(server.read_text("utf-8").replace("OWNER", "ann"), "utf-8")
    check_tag(checkout, "v1.2.3")
    with pytest.raises(SystemExit, match=r"the tag is v1\.2\.4, but pegboard has the version 1\.2\.3"):
        check_tag(checkout, "v1.2.4")
    toolkit = checkout / "toolkits/math/pyproject.toml"
    toolkit.write_text(toolkit.read_text().replace('version = "1.2.3"', 'version = "1.2.2"'))
    with pytest.raises(SystemExit, match=r"toolkit-math has the version 1\.2\.2"):
        check_tag(checkout, "v1.2.3")


def test_the_registry_can_describe_the_server_and_finds_its_name_in_the_readme() -> None:
    described = json.loads((ROOT / "server.json").read_text("utf-8"))
    check_server_json(described)
    assert f"<!-- mcp-name: {described['name']} -->" in (ROOT / "README.md").read_text("utf-8")
    names = {tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"] for folder in distributions()}
    (package,) = described["packages"]
    installed = {argument["value"].partition("==")[0] for argument in package["runtimeArguments"]}
    assert {package["identifier"], *installed} <= names


def test_a_plugin_with_a_deprecated_hook_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    @hookspecs.hookspec(warn_on_impl=DeprecationWarning("use register_stores"))
    def register_old() -> list[str]:
        return []

    class OldPlugin:
        @hookimpl
        def register_old(self) -> list[str]:
            return []

    monkeypatch.setattr(hookspecs, "register_old", register_old, raising=False)
    with pytest.warns(DeprecationWarning, match="use register_stores"), HookManager().registered(OldPlugin(), "old"):
        pass
