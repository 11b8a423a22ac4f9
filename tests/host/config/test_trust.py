"""Pins of trusted files, the one reading of a file that is checked and parsed, and the search in trusted folders."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pegboard.config import HostConfig
from pegboard.config.files import FileContent
from pegboard.config.trust import check_trust, pin_of, trust, trust_folder, untrust
from pegboard.plugin.base import FoundFile


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "PEGBOARD_STATE_DIR": str(tmp_path / "state")}


def named(path: Path, name: str) -> FileContent:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'[host]\nname = "{name}"\n')
    return FileContent(path, path.read_bytes())


def test_the_bytes_that_were_checked_are_parsed(tmp_path: Path, environ: dict[str, str]) -> None:
    file = tmp_path / "hostconfig.toml"
    named(file, "checked")
    config = HostConfig.load(
        environ=environ, directory=tmp_path, on_untrusted=lambda _: bool(named(file, "put there meanwhile"))
    )
    assert config.host.name == "checked"


def test_concurrent_decisions_leave_a_whole_pin(tmp_path: Path, environ: dict[str, str]) -> None:
    contents = [named(tmp_path / "hostconfig.toml", "x" * (1 + size * 1000)) for size in range(4)]
    trust(contents[0], {"host.name": "x"}, environ)

    def decide(turn: int) -> bool:
        content = contents[turn % len(contents)]
        trust(content, {"host.name": "x" * turn}, environ)
        check_trust(content.path, content, environ, tmp_path)
        return pin_of(content.path, environ) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(decide, range(200)))
    assert untrust(contents[0].path, environ)
    assert list((tmp_path / "state").iterdir()) == []


PIN = b'{"target": "a", "digest": "b", "settings": %s}'


@pytest.mark.parametrize("saved", [b"", b"[]", b"{}", b'{"target": 1}', b"\xff", b"[" * 100_000, PIN % b"5"])
def test_a_damaged_pin_is_none(saved: bytes, tmp_path: Path, environ: dict[str, str]) -> None:
    content = named(tmp_path / "hostconfig.toml", "x")
    trust(content, {}, environ)
    (pin,) = (tmp_path / "state").iterdir()
    pin.write_bytes(saved)
    assert pin_of(content.path, environ) is None
    assert check_trust(content.path, content, environ, tmp_path) is not None


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
