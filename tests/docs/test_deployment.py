"""The files in `deploy/`: valid units, and a server with the configuration, probes and health check of a container."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.config.models import HostSection
from tests.support.environments import executable, run, uv
from tests.support.http import Served
from tests.support.pool import make_fixture_site
from tests.support.wire import PEGBOARD
from tools.install import ROOT, UV_REQUIREMENT
from tools.requirements import neutral, pins_of_lock

DEPLOY = ROOT / "deploy"
TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="only systemd can verify its units")
def test_the_units_are_valid(tmp_path: Path) -> None:
    for unit in (DEPLOY / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/pegboard/bin/pegboard", str(PEGBOARD)))
    done = subprocess.run(
        ["systemd-analyze", "verify", *tmp_path.iterdir()], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("compose.yaml", r"stop_grace_period: (\d+)s"),
        ("kubernetes.yaml", r"terminationGracePeriodSeconds: (\d+)"),
        ("systemd/pegboard.service", r"TimeoutStopSec=(\d+)"),
    ],
)
def test_running_calls_may_finish(file: str, pattern: str) -> None:
    (seconds,) = re.findall(pattern, (DEPLOY / file).read_text())
    drains = re.findall(r'DRAIN_SECONDS.*\n +value: "(\d+)"', (DEPLOY / file).read_text())
    assert len(drains) == (file == "kubernetes.yaml")
    assert int(seconds) > HostSection().grace_seconds + sum(map(int, drains))


def test_kubernetes_ends_a_pod_before_it_starts_the_next() -> None:
    """Two processes cannot use one session store."""
    assert re.search(
        r"^spec:\n(?:  .*\n)*?  strategy:\n    type: Recreate\b", (DEPLOY / "kubernetes.yaml").read_text(), re.M
    )


def test_volumes_hold_the_state_directory_of_the_container() -> None:
    """The directory of an emptyDir has mode 0777, which the host refuses as its state directory."""
    (state,) = re.findall(r"PEGBOARD_STATE_DIR=(\S+)", (DEPLOY / "Containerfile").read_text())
    volumes = [(DEPLOY / name).read_text() for name in ("compose.yaml", "kubernetes.yaml")]
    mounted = [re.findall(r"(?:state:|mountPath: )(/var/\S+)", text) for text in volumes]
    assert [[Path(path) in Path(state).parents for path in paths] for paths in mounted] == [[True], [True]]


@pytest.mark.skipif(uv() is None, reason="the container is installed with uv")
def test_the_container_is_installed_from_the_lock(tmp_path: Path) -> None:
    for name in re.findall(r"(?m)^!(.+)", (ROOT / ".dockerignore").read_text()):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, target)
    ((requirement, command),) = re.findall(
        r"pip install \S+ (uv==\S+).*?UV_PROJECT_ENVIRONMENT=/opt/pegboard (uv sync .*?) +&&",
        (DEPLOY / "Containerfile").read_text().replace("\\\n", ""),
    )
    assert requirement == UV_REQUIREMENT
    own = {"UV_PROJECT_ENVIRONMENT": str(tmp_path / "env"), "UV_PYTHON": sys.executable}
    run(str(uv()), *command.replace("--no-cache", "").split()[1:], cwd=tmp_path, env=neutral() | own)
    freeze = run(str(uv()), "pip", "freeze", "--python", executable(tmp_path / "env"))
    installed = set(re.findall(r"(?m)^(\S+)==(\S+)$", freeze))
    assert {"pyjwt", "cryptography", "aiohttp"} <= {name for name, _ in installed}
    assert installed <= pins_of_lock((ROOT / "uv.lock").read_text()).keys()
    assert "toolkit-math @" in freeze


@pytest.mark.asyncio(loop_scope="session")
async def test_the_container_s_server_answers_its_probes_and_requires_a_token(tmp_path: Path) -> None:
    config = (DEPLOY / "hostconfig.toml").read_text().replace("port = 8000", "port = 0")
    probes = re.findall(r"path: (/\S+)", (DEPLOY / "kubernetes.yaml").read_text())
    (check,) = re.findall(r"HEALTHCHECK .*\\\n +CMD (\[.*\])", (DEPLOY / "Containerfile").read_text())
    async with Served(make_fixture_site(tmp_path), config, env={"DOOR_TOKEN": TOKEN}, ready=False) as served:
        served.url = (await served.wait_for_stderr(r"serves .* at (http:[^\"]+)"))[1]
        assert [(await served.request("GET", path)).status for path in probes] == [200] * 3
        assert (await served.request("POST", "/mcp")).status == 401
        bearer, named = ("Authorization", f"Bearer {TOKEN}"), ("Host", "tools.example.com")
        assert (await served.request("POST", "/mcp", [bearer, named])).status == 415
        assert (await served.request("POST", "/mcp", [bearer, ("Host", "evil.example")])).status == 421
        code = json.loads(check)[2]
        for port, healthy in ((served.port, True), (1, False)):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", code.replace("8000", str(port)), stderr=asyncio.subprocess.DEVNULL
            )
            assert (await process.wait() == 0) is healthy
