"""The contenders, and the command that starts each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from benchmarks.environments import HERE, Environment, Environments
from benchmarks.messages import ERAS, LEGACY

PEGBOARD: Final = "pegboard"
PEGBOARD_FILES: Final = "pegboard+files"
PEGBOARD_UVLOOP: Final = "pegboard+uvloop"
PEGBOARD_PUBLIC: Final = "pegboard+public"
SDK: Final = "mcp"
SDK_STATELESS: Final = "mcp+stateless"
SDK_FAST: Final = "mcp+fast"
SDK_1: Final = "mcp1"
FASTMCP: Final = "fastmcp"
ARCADE: Final = "arcade-mcp"
FLOOR: Final = "floor"
FLOOR_TASKS: Final = "floor+tasks"
FLOOR_UVLOOP: Final = "floor+uvloop"

PEERS: Final = (SDK, SDK_1, FASTMCP, ARCADE)
"""Other frameworks for servers."""
SERVERS: Final = (PEGBOARD, *PEERS, FLOOR, FLOOR_TASKS)
"""The contenders that serve the tools of the benchmarks over stdio."""
HTTP_SERVERS: Final = (PEGBOARD, PEGBOARD_UVLOOP, PEGBOARD_PUBLIC, *PEERS, SDK_STATELESS, SDK_FAST, FLOOR, FLOOR_UVLOOP)
"""The contenders that serve the tools of the benchmarks over HTTP."""
CLIENTS: Final = {PEGBOARD: "pegboard", SDK: "sdk", FASTMCP: "fastmcp"}
"""The contenders with a measured client, each with the name of its program."""
NAMES: Final = tuple(dict.fromkeys((PEGBOARD, PEGBOARD_FILES, *SERVERS, *HTTP_SERVERS, *CLIENTS)))

_UVLOOP: Final = "uvloop"
_TOOLS: Final = ("add", "add_inline", "add_thread")
_READY = "import os; os.write(1, b'ready\\n'); os.read(0, 1)"
_STATE: Final = os.path.join(tempfile.gettempdir(), "pegboard-bench")


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that can be started.

    Attributes:
        name: its name in results.
        environment: its environment.
        command: the command for stdio; empty if it is measured over HTTP only.
        serve: the command for HTTP; empty if it is measured over stdio only.
        uvloop: True if it runs on uvloop.
        tools: the name on the wire of each tool that adds numbers.
        records: the name on the wire of the tool with a large result; "" if it has none.
        eras: the eras that it serves.
        imports: the code whose import is measured, by the name of the package or object.
    """

    name: str
    environment: Environment
    command: tuple[str, ...] = ()
    serve: tuple[str, ...] = ()
    uvloop: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    records: str = ""
    eras: tuple[str, ...] = ERAS
    imports: Mapping[str, str] = field(default_factory=dict)

    @property
    def tool_count(self) -> int:
        """The number of its tools without additional ones."""
        return len(self.tools) + bool(self.records)

    def environ(self, more_tools: int = 0, port: int | None = None, **more: str) -> dict[str, str]:
        """Return all environment variables of its process. Variables of this machine have no effect on it."""
        bare = "/nonexistent"
        variables = {"PATH": os.defpath, "HOME": bare, "XDG_CONFIG_HOME": bare, "LANG": "C.UTF-8"}
        variables["ARCADE_USAGE_TRACKING"] = "0"  # it starts a process for each call, and sends data
        if port is not None:
            variables |= {"PEGBOARD__PLUGINS__HTTP__PORT": str(port), "BENCH_PORT": str(port)}
            # the operator is not limited in calls and sessions
            variables |= {"PEGBOARD__PLUGINS__HTTP__LOOPBACK_IS_OPERATOR": "true", "PEGBOARD_STATE_DIR": _STATE}
        return variables | {"BENCH_MORE_TOOLS": str(more_tools), **more}

    def python(self, code: str) -> tuple[str, ...]:
        """Return a command that runs code in its environment, prints "ready", and waits until its input ends."""
        return (self.environment.python, "-c", f"{code}\n{_READY}")


@dataclass(frozen=True, slots=True)
class _Peer:
    """Another framework: the program of its server, and its requirements.

    Attributes:
        script: the program, in `servers/`.
        requirements: the requirements to install from the package index.
        way: the argument of the program for HTTP.
        uvloop: True if it runs on uvloop over HTTP.
        tools: the names of `add`, `add_thread` and `records` on the wire.
        eras: the eras that it serves.
        imports: as in `Contender`.
    """

    script: str
    requirements: tuple[str, ...]
    way: str = "http"
    uvloop: bool = False
    tools: tuple[str, str, str] = ("add", "add_thread", "records")
    eras: tuple[str, ...] = ERAS
    imports: Mapping[str, str] = field(default_factory=dict)


_SDK_IMPORTS: Final = {"mcp": "import mcp", "MCPServer": "from mcp.server.mcpserver import MCPServer"}
_PEERS: Final = {
    SDK: _Peer("sdk.py", ("mcp==2.3.0",), imports=_SDK_IMPORTS),
    SDK_STATELESS: _Peer("sdk.py", ("mcp==2.3.0",), "stateless"),
    SDK_FAST: _Peer("sdk.py", ("mcp==2.3.0", _UVLOOP, "httptools"), "fast", uvloop=True),
    SDK_1: _Peer("sdk_1.py", ("mcp==1.30.0",), eras=(LEGACY,)),
    FASTMCP: _Peer("fastmcp_server.py", ("fastmcp==4.2.3",)),
    ARCADE: _Peer(
        "arcade_server.py",
        ("arcade-mcp-server==1.32.1",),
        tools=("Bench_Add", "Bench_AddThread", "Bench_Records"),
        eras=(LEGACY,),
    ),
}


class Contenders:
    """All contenders. Each is made at its first use."""

    def __init__(self, environments: Environments) -> None:
        self._environments = environments
        self.get = cache(self._make)

    def _make(self, name: str) -> Contender:
        if name.startswith(PEGBOARD):
            return self._pegboard(name)
        return self._floor(name) if name.startswith(FLOOR) else self._peer(name)

    def _pegboard(self, name: str) -> Contender:
        if name == PEGBOARD_FILES:
            environment = self._environments.pegboard("toolkit-files")
            return Contender(name, environment, (environment.command("pegboard"), "stdio"))
        uvloop = name == PEGBOARD_UVLOOP
        environment = self._bench(uvloop)
        tools = {tool: f"bench_{tool}" for tool in _TOOLS}
        imports = {"pegboard": "import pegboard", "Toolkit": "from pegboard import Toolkit"}
        installed = (environment.command("pegboard"),)
        command = _script(environment, "public_aiohttp.py") if name == PEGBOARD_PUBLIC else installed
        return Contender(
            name,
            environment,
            (*command, "stdio"),
            (*command, "serve"),
            uvloop,
            tools,
            "bench_records",
            imports=imports,
        )

    def _peer(self, name: str) -> Contender:
        peer = _PEERS[name]
        environment = self._environments.peer(*peer.requirements)
        tools = dict(zip(("add", "add_thread"), peer.tools, strict=False))
        script = (environment.python, str(HERE / "servers" / peer.script))
        return Contender(
            name,
            environment,
            (*script, "stdio"),
            (*script, peer.way),
            _UVLOOP in environment.versions and peer.uvloop,
            tools,
            peer.tools[2],
            peer.eras,
            peer.imports,
        )

    def _floor(self, name: str) -> Contender:
        uvloop = name == FLOOR_UVLOOP
        environment = self._bench(uvloop)
        command = _script(environment, "floor.py", *(("--tasks",) if name == FLOOR_TASKS else ()))
        serve = _script(environment, "floor_http.py", *(("--uvloop",) if uvloop else ()))
        return Contender(name, environment, command, serve, uvloop, {tool: tool for tool in _TOOLS}, "records")

    def _bench(self, uvloop: bool) -> Environment:
        return self._environments.pegboard("toolkit-bench", *((_UVLOOP,) if uvloop else ()))


def _script(environment: Environment, name: str, *options: str) -> tuple[str, ...]:
    return (environment.python, str(HERE / "servers" / name), *options)
