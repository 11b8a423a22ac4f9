"""Pins of trusted files, and the one reading of a file that is checked and parsed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pegboard.config import HostConfig
from pegboard.config.files import FileContent
from pegboard.config.trust import check_trust, pin_of, trust, untrust


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
        check_trust(content, environ, tmp_path)
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
    assert check_trust(content, environ, tmp_path) is not None
