"""The files in `deploy/`: valid units, and a server with the configuration, probes and health check of a container."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import yaml

from pegboard.config.models import HostSection
from tests.docs.pages import Page, pegboard, serving
from tests.support.environments import executable, run, uv
from tests.support.http import Served
from tests.support.http_mcp import Session, message, opening
from tests.support.oidc import free_port
from tests.support.pool import make_fixture_site
from tests.support.redis_server import needs_redis, server_program
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
        ("scale/compose.yaml", r"stop_grace_period: (\d+)s"),
        ("scale/kubernetes.yaml", r"terminationGracePeriodSeconds: (\d+)"),
    ],
)
def test_running_calls_may_finish(file: str, pattern: str) -> None:
    (seconds,) = re.findall(pattern, (DEPLOY / file).read_text())
    drains = re.findall(r'DRAIN_SECONDS.*\n +value: "(\d+)"', (DEPLOY / file).read_text())
    if file.startswith("scale/"):
        drains += re.findall(r"drain_seconds = (\d+)", (DEPLOY / "scale/hostconfig.toml").read_text())
    assert len(drains) == (file == "kubernetes.yaml" or file.startswith("scale/"))
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


def test_the_dockerfile_of_a_toolkit_serves_it(tmp_path: Path) -> None:
    shown = Page("docs/deployment.md").blocks["dockerfile"]
    ((copied,), (command,)) = (re.findall(pattern, shown) for pattern in (r"COPY (.+) /srv/\n", r"CMD (.+)"))
    Page("README.md").write(tmp_path)
    shutil.copy(DEPLOY / "hostconfig.toml", tmp_path / "hostconfig.toml")
    assert copied == "words.py hostconfig.toml"
    config, arguments = str(tmp_path / "hostconfig.toml"), json.loads(command.replace("/srv", str(tmp_path)))
    assert arguments[:2] == ["pegboard", "serve"]
    bearer = f"Authorization: Bearer {TOKEN}"
    with serving(tmp_path, *arguments[2:], env={"PEGBOARD_CONFIG": config, "DOOR_TOKEN": TOKEN}) as address:
        url = f"http://127.0.0.1:{address.rpartition(':')[2]}/mcp"
        done = pegboard("call", "words_count", "text=to be", "--url", url, "--header", bearer, cwd=tmp_path)
    assert (done.out, done.code) == ("2\n", 0), done.err


@pytest.mark.skipif(sys.platform != "linux", reason="systemd runs on Linux, and `install -D` is of GNU")
def test_the_recipe_for_systemd_installs_a_configuration_that_requires_a_token(tmp_path: Path) -> None:
    lines = Page("docs/deployment.md").blocks["sh systemd"].splitlines(keepends=True)
    recipe = "".join(line for line in lines if "/etc/pegboard/" in line).replace("/etc/pegboard", str(tmp_path))
    subprocess.run(["sh", "-e", "-c", recipe], cwd=ROOT, check=True)
    assert (tmp_path / "environment").stat().st_mode & 0o777 == 0o600
    environ = dict(line.split("=") for line in (tmp_path / "environment").read_text().splitlines())
    environ |= {"PEGBOARD_CONFIG": str(tmp_path / "hostconfig.toml"), "HOME": str(tmp_path)}
    with serving(tmp_path, env=environ) as address:
        url = f"http://127.0.0.1:{address.rpartition(':')[2]}/mcp"
        for token, code in ((environ["DOOR_TOKEN"], 0), (TOKEN, 1)):
            bearer = f"Authorization: Bearer {token}"
            assert pegboard("list", "--url", url, "--header", bearer, cwd=tmp_path).code == code


@asynccontextmanager
async def container(site: Path, config: str, environ: Mapping[str, str]) -> AsyncIterator[Served]:
    """Run the server of a container, whose log is JSON."""
    async with Served(make_fixture_site(site), config, env=environ, ready=False) as served:
        served.url = (await served.wait_for_stderr(r"serves .* at (http:[^\"]+)"))[1]
        yield served


@pytest.mark.asyncio(loop_scope="session")
async def test_the_container_s_server_answers_its_probes_and_requires_a_token(tmp_path: Path) -> None:
    config = (DEPLOY / "hostconfig.toml").read_text().replace("port = 8000", "port = 0")
    probes = re.findall(r"path: (/\S+)", (DEPLOY / "kubernetes.yaml").read_text())
    (check,) = re.findall(r"HEALTHCHECK .*\\\n +CMD (\[.*\])", (DEPLOY / "Containerfile").read_text())
    async with container(tmp_path, config, {"DOOR_TOKEN": TOKEN}) as served:
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


def redis_script(file: str) -> tuple[str, set[str]]:
    """Return the shell script that starts the server of an example, and the variables of its pegboard processes."""
    documents = list(yaml.safe_load_all((DEPLOY / "scale" / file).read_text()))
    if file == "compose.yaml":
        services = documents[0]["services"]
        return shlex.split(services["redis"]["command"])[2].replace("$$", "$"), {*services["pegboard"]["environment"]}
    templates = {each["metadata"]["name"]: each["spec"]["template"] for each in documents if "template" in each["spec"]}
    containers = {name: template["spec"]["containers"][0] for name, template in templates.items()}
    return containers["redis"]["args"][0], {variable["name"] for variable in containers["pegboard"]["env"]}


@needs_redis
@pytest.mark.needs("redis")
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("file", ["compose.yaml", "kubernetes.yaml"])
async def test_replicas_share_sessions(tmp_path: Path, file: str) -> None:
    script, variables = redis_script(file)
    config, port = (DEPLOY / "scale/hostconfig.toml").read_text(), free_port()
    assert {*re.findall(r'env = "(\w+)"', config)} <= variables
    environ = dict.fromkeys(variables & {"DOOR_TOKEN", "STATE_KEY", "REDIS_PASSWORD"}, TOKEN)
    (tmp_path / "valkey-server").symlink_to(str(server_program()))
    path = {"PATH": f"{tmp_path}:{os.defpath}"}
    options = f"--port {port} --dir {tmp_path}"
    redis = await asyncio.create_subprocess_exec("sh", "-c", f"{script} {options}", env=environ | path)
    config = config.replace("port = 8000", "port = 0").replace("redis:6379", f"127.0.0.1:{port}")
    fields = [("Authorization", f"Bearer {TOKEN}"), ("Host", "tools.example.com")]
    try:
        while not is_listening(port):
            await asyncio.sleep(0)  # the loop notices the end of the server
            assert redis.returncode is None, script
        async with container(tmp_path, config, environ) as first, container(tmp_path, config, environ) as second:
            session = Session(first)
            opened = await session.post(opening(), *fields)
            session.id, session.served = opened.answer.get("Mcp-Session-Id") or "", second
            assert (await session.post(message("ping"), *fields)).result == {}
    finally:
        redis.terminate()
        await redis.wait()


def is_listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
