"""`pegboard call` on tools that give content: text as it is, the rest counted, the exit code by whether it failed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import WAIT
from tests.support import content_kit
from tests.support.pool import make_site
from tests.support.wire import PEGBOARD, client_environment


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"), {"content": content_kit})


def called(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(PEGBOARD), "call", "--only", "content", *arguments]
    env = client_environment(folder, {"PYTHONPATH": str(site)})
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=WAIT)


@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        ("mixed", "one\n[image: image/png, 3 bytes]\nthree\n"),
        ("audio", "[audio: audio/wav, 3 bytes]\n"),
        ("link", "The y: x://y\n"),
        ("embedded", "[x://y: x/y, 3 bytes]\n"),
    ],
)
def test_content_is_shown_as_text(site: Path, tmp_path: Path, tool: str, shown: str) -> None:
    done = called(site, tmp_path, tool)
    assert (done.returncode, done.stdout) == (0, shown), done.stderr


def test_a_result_that_says_it_failed_is_a_failure(site: Path, tmp_path: Path) -> None:
    done = called(site, tmp_path, "passed")
    assert done.returncode == 1
    assert done.stdout.startswith("raw\n")


def test_content_as_json_has_everything(site: Path, tmp_path: Path) -> None:
    done = called(site, tmp_path, "full", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "result": {"a": 1},
        "content": [{"type": "ImageContent", "data": "eA==", "mime_type": "image/png"}],
    }
