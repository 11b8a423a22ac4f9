"""`pegboard serve --workers N`: several processes at one port, over the wire."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio

from pegboard_plugins.transports.http import workers
from pegboard_plugins.transports.http.settings import HttpConfig
from pegboard_plugins.transports.http.workers import supervisor
from pegboard_plugins.transports.http.workers.listening import open_sockets
from tests.host.hosting import until
from tests.protocol.http.test_service import MANAGER
from tests.support import kept
from tests.support.forks import forks
from tests.support.http import Line, Served, http_config
from tests.support.http_mcp import Session, ask, call, opened, send
from tests.support.mcp_client import text_of
from tests.support.peer import LIMIT, WAIT
from tests.support.pool import make_site, stores
from tests.support.wire import PEGBOARD, client_environment

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux distributes connections among sockets of one port"),
]

SEALED = '[plugins.mcp]\nsessions = "sealed"\nstate_keys = ["0123456789abcdef0123456789abcdef"]\n'
TOOLS = '''
import os
from pathlib import Path
from pegboard import Toolkit

with open(Path(__file__).with_name("imported"), "a") as file:
    print(os.getpid(), file=file)
kit = Toolkit("demo")


@kit.tool
def pid() -> int:
    """Return the process."""
    return os.getpid()


@kit.tool
def version() -> str:
    """Return the version of this file."""
    return "old"


@kit.tool
def read() -> str:
    """Read a pipe to its end."""
    return Path(__file__).with_name("pipe").read_text()


@kit.tool
def leave() -> None:
    """End the process."""
    os._exit(7)
'''
MAX_CONNECTIONS = 300
"""How many connections may all reach one of two workers by chance: 1 in 2^300."""


def with_workers(
    folder: Path,
    http: str = "port = 0",
    more: str = SEALED,
    command: Sequence[str | Path] = (),
    before: str = "",
    tools: str = TOOLS,
) -> Served:
    (folder / "tools.py").write_text(tools)
    start = ("-c", f"{before}; from pegboard.cli import main; sys.exit(main())") if before else ("-m", "pegboard")
    command = command or (sys.executable, *start, "serve", str(folder / "tools.py"), "--workers", "2")
    return Served(folder, http_config(http, more=more), command=command)


def pids_of(parent: int) -> set[int]:
    return {*map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split())}


def threads_of(pid: int) -> int:
    return len([*Path(f"/proc/{pid}/task").iterdir()])


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def text(served: Served, tool: str) -> str:
    return text_of((await ask(served, call(tool))).result)


async def reached(line: Line) -> int:
    """Return the process at the other end of a connection."""
    await send(line, call("demo_pid"))
    return int(text_of((await line.answer()).json["result"]))


async def until_each_answers(served: Served, pids: set[int], session: Session | None = None) -> None:
    """Send calls until each of these processes has answered, and no other one."""
    seen: set[int] = set()
    for _ in range(MAX_CONNECTIONS):
        request = call("demo_pid")
        exchanged = await (ask(served, request) if session is None else session.post(request))
        seen.add(int(text_of(exchanged.result)))
        if seen == pids:
            return
    raise AssertionError(f"{seen} of {pids} answered")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tools")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(folder: Path) -> AsyncIterator[Served]:
    async with with_workers(folder) as served:
        yield served


async def test_each_worker_serves_calls_and_sealed_sessions(served: Served) -> None:
    pids = pids_of(served.pid)
    assert len(pids) == 2
    await until_each_answers(served, pids)
    await until_each_answers(served, pids, await opened(served))


async def test_the_first_process_imports_no_toolkit_and_has_one_thread(served: Served, folder: Path) -> None:
    imported = {*map(int, (folder / "imported").read_text().split())}
    assert served.pid not in imported
    assert pids_of(served.pid) <= imported  # workers that have ended are in it, too
    assert threads_of(served.pid) == 1


async def test_the_first_process_imports_no_other_plugin(tmp_path: Path) -> None:
    names = "*sorted(name for name in sys.modules if name.startswith('pegboard_plugins.'))"
    before = (
        f"import atexit, os, sys; atexit.register(lambda: print('imported', os.getpid(), {names}, file=sys.stderr))"
    )
    async with with_workers(tmp_path, before=before) as served:
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
    (printed,) = re.findall(rf"imported {served.pid} (.*)", served.stderr)
    own = ("pegboard_plugins.transports", "pegboard_plugins.support")
    assert [name for name in printed.split() if not name.startswith(own)] == []


async def test_a_killed_worker_is_replaced_and_the_other_one_goes_on(served: Served) -> None:
    """Connections that arrive meanwhile wait for the new process: none is reset."""
    killed, other = sorted(pids_of(served.pid))
    async with await served.connect() as kept:
        while await reached(kept) != other:
            kept = await served.connect()
        os.kill(killed, signal.SIGKILL)
        lines = [await served.connect() for _ in range(20)]
        answering = await asyncio.gather(*map(reached, lines))
        assert await reached(kept) == other
    (new,) = pids_of(served.pid) - {other}
    assert new != killed
    assert {*answering} <= {new, other}
    await until_each_answers(served, {new, other})
    assert f"(process {killed}) has ended with -9" in served.stderr


async def test_a_second_server_at_the_port_is_refused(served: Served, tmp_path: Path) -> None:
    second = with_workers(tmp_path, f"port = {served.port}")
    await second.assert_refuses(5, f"cannot listen at 127.0.0.1:{served.port}")


async def reload(served: Served) -> str:
    environment = client_environment(served.home)
    return (await asyncio.to_thread(forks().run, ["reload"], served.cwd, environment, merged=True)).out


class Load:
    """Calls, one after the other, until the end of the block. All must succeed."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._ends = False

    async def _call(self) -> None:
        while not self._ends:
            await text(self._served, "demo_pid")

    async def __aenter__(self) -> None:
        self._calling = asyncio.gather(self._call(), self._call())

    async def __aexit__(self, *_: object) -> None:
        self._ends = True
        await self._calling


async def test_a_reload_reaches_each_worker_and_its_results_are_printed_once(tmp_path: Path) -> None:
    async with with_workers(tmp_path) as served:
        pids = pids_of(served.pid)
        (tmp_path / "tools.py").write_text(TOOLS.replace('"old"', '"new"'))
        async with Load(served):
            printed = await reload(served)
        assert [printed.count(text) for text in (f"process {served.pid} (", "tools.py: reloaded", "\n")] == [1, 1, 1]
        await until_each_answers(served, pids)
        assert {await text(served, "demo_version") for _ in range(20)} == {"new"}
        config = (served.cwd / "hostconfig.toml").read_text()
        (served.cwd / "hostconfig.toml").write_text(config.replace("port = 0", "port = 0\nidle_seconds = 70"))
        async with Load(served):
            printed = await reload(served)
        assert "reloaded" in printed
        assert "restart needed" not in printed
        new = pids_of(served.pid) - pids
        assert len(new) == 2
        await until_each_answers(served, new)


async def test_a_worker_that_dies_while_its_replacement_starts_is_replaced_once(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    slow = TOOLS + f"\nif Path({str(gate)!r}).exists():\n    Path({str(gate)!r}).read_text()\n"
    async with with_workers(tmp_path, tools=slow) as served:
        config = (served.cwd / "hostconfig.toml").read_text()
        (served.cwd / "hostconfig.toml").write_text(config.replace("port = 0", "port = 0\nidle_seconds = 70"))
        killed = min(pids_of(served.pid))
        os.mkfifo(gate)
        reloading = asyncio.create_task(reload(served))
        pipe = await asyncio.to_thread(gate.open, "w")  # when the replacement starts
        gate.unlink()
        os.kill(killed, signal.SIGKILL)
        await served.wait_for_stderr(rf"\(process {killed}\) has ended")
        pipe.close()
        assert "reloaded" in await reloading
        await until(lambda: len(pids_of(served.pid)) == 2)
        await until_each_answers(served, pids_of(served.pid))


async def test_sigterm_lets_running_calls_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    async with with_workers(tmp_path) as served, await served.connect() as line:
        await send(line, call("demo_read"))
        pipe = await asyncio.to_thread((tmp_path / "pipe").open, "w")  # when the tool reads
        served.signal(signal.SIGTERM)
        pipe.write("done")
        pipe.close()
        assert text_of((await line.answer()).json["result"]) == "done"
        assert await served.wait() == 0


async def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    async with with_workers(tmp_path) as served:
        served.process.kill()
        assert await served.wait() == -signal.SIGKILL  # at the end of the last worker: they share standard error


async def test_the_server_ends_with_the_code_of_the_first_of_five_failures(tmp_path: Path) -> None:
    before = "import sys, pegboard_plugins.transports.http.workers.supervisor as s; s.FAILURE_SECONDS = 1000.0"
    async with with_workers(tmp_path, before=before) as served:
        for _ in range(5):
            async with await served.connect() as line:
                await send(line, call("demo_leave"))
                assert await line.rest() == b""
        assert await served.wait() == 7
        assert "5 workers have ended within 1000 s, the first with exit code 7" in served.stderr


async def test_each_failure_doubles_the_delay_until_the_next_start(tmp_path: Path) -> None:
    starting: Any = supervisor.Supervisor([[]], None, str(tmp_path))  # type: ignore[arg-type]  # nothing is recorded
    ended = SimpleNamespace(number=1, pid=1, code=1)
    assert [starting._delay_after(ended) for _ in range(4)] == [0.1, 0.2, 0.4, 0.8]


@pytest.mark.parametrize(("platform", "own_sockets"), [("linux", 3), ("darwin", 1)])
async def test_workers_have_own_sockets_only_where_the_system_distributes_connections(
    monkeypatch: pytest.MonkeyPatch, platform: str, own_sockets: int
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with open_sockets(HttpConfig(port=0), 3) as groups:
        opened = [group[0] for group in groups]
        assert len(opened) == 3
        assert len({each.fileno() for each in opened}) == own_sockets
        assert len({each.getsockname() for each in opened}) == 1


STATELESS = '[plugins.mcp]\nsessions = "off"\n'


@pytest.mark.parametrize(
    ("more", "texts"),
    [("", ['state = "redis"', 'sessions = "sealed"', '"off"', "--workers 1"]), (STATELESS, ["state_keys"])],
    ids=["sessions in memory", "no keys"],
)
async def test_settings_that_several_workers_cannot_have_are_refused_once(
    tmp_path: Path, more: str, texts: list[str]
) -> None:
    command = (sys.executable, "-m", "pegboard", "serve")
    served = with_workers(tmp_path, "port = 0\nworkers = 2", more, command)
    await served.assert_refuses(3, *texts)
    assert served.stderr.count("cannot be opened") == 1


@pytest.mark.parametrize("command", ["serve", "config check"])
async def test_workers_without_common_keys_are_refused_with_any_store(tmp_path: Path, command: str) -> None:
    config = http_config("port = 0\nworkers = 2", more=stores(tmp_path / "kept"))
    arguments = (sys.executable, "-m", "pegboard", *command.split())
    served = Served(make_site(tmp_path, {}, kept), config, command=arguments)
    await served.assert_refuses(3, "the SessionStore 'kept'", "2 workers need common keys", "state_keys")


@pytest.mark.parametrize(("names", "reason"), [("stdio", "stdio serves one client"), ("http,acme", "transport acme")])
async def test_transports_that_cannot_have_workers_are_refused(tmp_path: Path, names: str, reason: str) -> None:
    command = (sys.executable, "-m", "pegboard", "serve", "--workers", "2", "--transport", names)
    await with_workers(tmp_path, command=command).assert_refuses(3, reason, "or set workers = 1")


@pytest.mark.parametrize(("quota", "cores"), [("max 100000", 3), ("250000 100000", 2), ("50000 100000", 1)])
async def test_the_usable_cores_are_those_of_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(workers, "CPU_QUOTA", tmp_path / "cpu.max")
    (tmp_path / "cpu.max").write_text(quota)
    assert workers.usable_cores() == cores


@pytest_asyncio.fixture(loop_scope="session")
async def manager(tmp_path: Path) -> AsyncIterator[socket.socket]:
    """The socket of a service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"{tmp_path}/notify")
        heard.setblocking(False)
        yield heard


async def message_of(manager: socket.socket, name: str) -> str:
    """Return the next message with a field, without those that the workers are alive."""
    async with asyncio.timeout(WAIT):
        while not (message := (await asyncio.get_running_loop().sock_recv(manager, 4096)).decode()).startswith(name):
            assert message == "WATCHDOG=1"
    return message


async def test_workers_share_the_sockets_of_a_manager_which_hears_of_all_of_them(
    tmp_path: Path, manager: socket.socket
) -> None:
    command = (sys.executable, "-c", MANAGER, sys.executable, "SOCK_STREAM", "127.0.0.1", str(tmp_path / "passed.sock"))
    code = f'os.execv(sys.argv[1], [sys.argv[1], "-m", "pegboard", "serve", "{tmp_path}/tools.py", "--workers", "2"])'
    command = (*command[:2], MANAGER.rpartition("os.execv")[0] + code, *command[3:])
    served = with_workers(tmp_path, "port = 1", command=command)
    served._env |= {"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "20000"}
    async with served:
        assert f"STATUS=2 workers: serves 4 tools (demo) at {served.url}" in await message_of(manager, "READY=1")
        await until_each_answers(served, pids_of(served.pid))
        async with Line(*await asyncio.open_unix_connection(tmp_path / "passed.sock", limit=LIMIT)) as line:
            assert await reached(line) in pids_of(served.pid)
        assert await message_of(manager, "WATCHDOG=1")
        served.signal(signal.SIGTERM)
        assert await message_of(manager, "STOPPING=1")
        assert await served.wait() == 0


def two_free_ports() -> int:
    """Return the first of two free ports. Both are below those that the system gives to clients."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000, 2):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            socket.create_server(("127.0.0.1", port + 1)).close()
            return port
    raise AssertionError("no two ports are free")


@pytest.mark.needs("prometheus")
async def test_sighup_reloads_and_logs_and_metrics_name_the_worker(tmp_path: Path) -> None:
    port = two_free_ports()
    metrics = f"{SEALED}[plugins.prometheus]\nport = {port}\n"
    async with with_workers(tmp_path, 'port = 0\nallowed_hosts = ["*"]', metrics) as served:
        for number in (1, 2):
            assert re.search(rf" WARNING pegboard \[worker={number}\]: started with ", served.stderr)
            async with Line(*await asyncio.open_connection("127.0.0.1", port + number - 1, limit=LIMIT)) as line:
                assert f'worker="{number}"' in (await line.request("GET", "/metrics")).text
        (tmp_path / "tools.py").write_text(TOOLS.replace('"old"', '"new"'))
        served.signal(signal.SIGHUP)
        await served.wait_for_stderr(r"(?s)tools.py: reloaded.*tools.py: reloaded")
        assert {await text(served, "demo_version") for _ in range(20)} == {"new"}


async def test_one_worker_is_a_server_without_a_second_process(tmp_path: Path) -> None:
    async with with_workers(tmp_path, "port = 0\nworkers = 1", "", (PEGBOARD, "serve")) as served:
        assert (await served.request("GET", "/readyz")).status == 200
        assert not pids_of(served.pid)


async def test_workers_share_a_unix_socket_whose_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "server.sock"
    async with with_workers(tmp_path, f'socket = "{path}"') as served:
        async with Line(*await asyncio.open_unix_connection(path, limit=LIMIT)) as line:
            assert await reached(line) in pids_of(served.pid)
        served.signal(signal.SIGINT)
        assert await served.wait() == 0
    assert path.name not in files_in(tmp_path)


async def test_a_system_without_fork_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    assert "cannot pass open sockets" in workers._refusal(["http"])
