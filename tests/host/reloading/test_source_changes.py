"""The watch of source files: what counts as a change, and new folders."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard.reloading.source_changes import WatchedPlaces, watch_places, with_packages
from tests.host.loading.third_party.installed import pegboard, samples, stdio
from tests.support.peer import WAIT


def write(folder: Path, name: str, text: str = "") -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_folders_with_modules_are_found(tmp_path: Path) -> None:
    for name in ("shop.py", "parts/__init__.py", "parts/deep/tea.py", ".venv/a.py", "parts/__pycache__/a.py"):
        write(tmp_path, name)
    for name in ("not-a-package/a.py", "notes/today.txt", "node_modules/a.py"):
        write(tmp_path, name)
    folders = {tmp_path, tmp_path / "parts", tmp_path / "parts" / "deep"}
    assert with_packages([str(tmp_path)]) == {str(folder) for folder in folders}


CHANGES = {
    "kit/shop.py": True,
    "kit/new.py": True,
    "my.toml": True,
    "site/toolkit_tea-1.0.dist-info": True,
    "kit/answer.json": False,
    "kit/__pycache__/shop.cpython-311.pyc": False,
    "other.toml": False,
    "site/loose.py": False,
    "kit/toolkit_tea-1.0.dist-info": False,
}


@pytest.fixture
def places(tmp_path: Path) -> WatchedPlaces:
    for name in ("kit/shop.py", "my.toml", "site/a.txt"):
        write(tmp_path, name)
    kit, file, site = (str(tmp_path / name) for name in ("kit", "my.toml", "site"))
    return WatchedPlaces(folders={kit}, files={file}, installed={site})


def test_only_sources_settings_and_distributions_count(places: WatchedPlaces, tmp_path: Path) -> None:
    assert {name: places.has(str(tmp_path / name)) for name in CHANGES} == CHANGES


async def test_each_change_is_noticed(places: WatchedPlaces, tmp_path: Path) -> None:
    calls: asyncio.Queue[None] = asyncio.Queue()
    watching = asyncio.create_task(watch_places(lambda: places, lambda: calls.put_nowait(None)))
    await asyncio.wait_for(calls.get(), WAIT)
    for name in [name for name, counts in CHANGES.items() if counts]:
        write(tmp_path, f"{name}/METADATA" if name.endswith("info") else name, "changed")
        await asyncio.wait_for(calls.get(), WAIT)
    watching.cancel()
    await asyncio.wait((watching,))


async def test_a_new_package_is_watched_and_a_removed_one_does_not_end_the_watch(tmp_path: Path) -> None:
    write(tmp_path, "shop.py")
    calls: asyncio.Queue[None] = asyncio.Queue()

    def find() -> WatchedPlaces:
        return WatchedPlaces(folders=with_packages([str(tmp_path)]), files=())

    watching = asyncio.create_task(watch_places(find, lambda: calls.put_nowait(None)))
    prepared = tmp_path.parent / f"{tmp_path.name}-prepared" / "parts"
    write(prepared, "tea.py")
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: os.renames(prepared, tmp_path / "parts"),
        lambda: write(tmp_path, "parts/tea.py", "CUPS = 2"),
        lambda: shutil.rmtree(tmp_path / "parts"),
    ]
    for step in steps:
        step()
        await asyncio.wait_for(calls.get(), WAIT)
    watching.cancel()
    await asyncio.wait((watching,))


MISSING = "changes of files are not noticed: watchfiles is not installed; install it with: pip install watchfiles"


async def test_a_server_runs_without_the_extra_reload() -> None:
    async with stdio(samples(), "[host]\nreload = true\n") as wire:
        await wire.wait_for_stderr(re.escape(MISSING))
        await wire.initialize()
    assert wire.stderr.count(MISSING) == 1


@pytest.mark.needs("dev")
def test_the_prompt_works_without_the_extra_reload(tmp_path: Path) -> None:
    write(tmp_path, "shop.py", 'from pegboard import Toolkit\nkit = Toolkit("shop")\n')
    done = pegboard(samples(), "dev", str(tmp_path / "shop.py"))
    assert done.code == 0
    assert f"{MISSING}\n" in done.err
    assert "shop.py serves 0 tools; `help` shows the commands" in done.err
