"""The search for a file in trusted folders: upward to the nearest pyproject.toml, and never beyond a trusted folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard.config import HostConfig
from pegboard.config.trust import trust_folder
from pegboard.plugin.base import FoundFile


@pytest.mark.parametrize(
    ("files", "trusted", "found", "unread"),
    [
        ([".env"], [], None, None),
        (["a/b/.env"], [], None, "a/b/.env"),
        (["a/b/.env"], ["a/b"], "a/b/.env", None),
        (["a/.env"], ["a/b"], None, None),
        (["a/.env"], ["a"], "a/.env", None),
        (["a/.env", "a/pyproject.toml"], [], None, "a/.env"),
        (["a/.env", "a/pyproject.toml"], ["a/b"], None, "a/.env"),
        (["a/.env", "a/pyproject.toml"], ["."], "a/.env", None),
        (["a/.env", "a/b/pyproject.toml"], ["a"], None, None),
        (["a/.env", "a/b/.env"], ["a"], "a/b/.env", None),
        (["a/.env/pyproject.toml"], ["a"], None, None),
    ],
)
def test_the_search_ends_at_the_project_and_at_the_trusted_folder(
    files: list[str], trusted: list[str], found: str | None, unread: str | None, tmp_path: Path
) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    project = tmp_path / "project"
    for name in ("a/b", *trusted):
        (project / name).mkdir(parents=True, exist_ok=True)
    for file in files:
        (project / file).parent.mkdir(exist_ok=True)
        (project / file).touch()
    for name in trusted:
        trust_folder(project / name, environ)
    config = HostConfig.load(environ=environ, directory=project / "a/b")
    own = tmp_path / "home/.config/pegboard/.env"
    expected = FoundFile(str(project / found if found else own), None if unread is None else str(project / unread))
    assert config.find_file(".env") == expected


def test_a_configuration_file_decides_where_files_are(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    project, own = tmp_path / "project", tmp_path / "home/.config/pegboard"
    for folder in (project, own):
        folder.mkdir(parents=True)
        (folder / "hostconfig.toml").touch()
    (project / ".env").touch()
    trust_folder(project, environ)
    named = HostConfig.load(own / "hostconfig.toml", environ={}, directory=project)
    assert named.find_file(".env") == FoundFile(str(own / ".env"))
    config = HostConfig.load(environ=environ, directory=project, on_untrusted=lambda _: False)
    assert (config.file, config.find_file(".env")) == (own / "hostconfig.toml", FoundFile(str(project / ".env")))
    assert HostConfig.of({}).find_file(".env") == FoundFile()
