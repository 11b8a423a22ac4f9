"""Who is measured, and how each is started."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from benchmarks.environments import HERE, Environment, Environments

PEGBOARD: Final = "pegboard"
PEGBOARD_FILES: Final = "pegboard+files"
PEGBOARD_UVLOOP: Final = "pegboard+uvloop"
SDK: Final = "mcp"
SDK_STATELESS: Final = "mcp+stateless"
SDK_FAST: Final = "mcp+fast"
FASTMCP: Final = "fastmcp"
FLOOR: Final = "floor"
FLOOR_TASKS: Final = "floor+tasks"
FLOOR_UVLOOP: Final = "floor+uvloop"

SERVERS: Final = (PEGBOARD, SDK, FLOOR, FLOOR_TASKS)
"""Those that serve the benchmarks' own tools over standard streams."""
HTTP_SERVERS: Final = (PEGBOARD, PEGBOARD_UVLOOP, SDK, SDK_STATELESS, SDK_FAST, FLOOR, FLOOR_UVLOOP)
"""Those that serve them over HTTP."""
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
        name: how results call it.
        environment: what it runs in.
        command: what starts it on standard streams; empty for one that is measured over HTTP alone.
        serve: what starts it as an HTTP server; empty for one that is not measured so.
        uvloop: whether its event loop is uvloop's.
        tools: how each tool of the benchmarks is called on the wire.
        imports: what `python -c` runs to measure importing it, by what is imported.
    """

    name: str
    environment: Environment
    command: tuple[str, ...] = ()
    serve: tuple[str, ...] = ()
    uvloop: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)

    def environ(self, more_tools: int = 0, port: int | None = None, **more: str) -> dict[str, str]:
        """All the environment variables of its process: few, so that nothing of this machine has a say."""
        bare = "/nonexistent"
        variables = {"PATH": os.defpath, "HOME": bare, "XDG_CONFIG_HOME": bare, "LANG": "C.UTF-8"}
        if port is not None:
            variables |= {"PEGBOARD__PLUGINS__HTTP__PORT": str(port), "BENCH_PORT": str(port)}
            # the operator is not limited in calls and sessions
            variables |= {"PEGBOARD__PLUGINS__HTTP__LOOPBACK_IS_OPERATOR": "true", "PEGBOARD_STATE_DIR": _STATE}
        return variables | {"BENCH_MORE_TOOLS": str(more_tools), **more}

    def python(self, code: str) -> tuple[str, ...]:
        """Return a command that runs code in its environment, reports its end, and stays until its input ends."""
        return (self.environment.python, "-c", f"{code}\n{_READY}")


class Contenders:
    """All contenders, each made when it is first asked for."""

    def __init__(self, environments: Environments) -> None:
        self._environments = environments
        self.get = cache(self._make)

    def _make(self, name: str) -> Contender:
        if name.startswith(PEGBOARD):
            return self._pegboard(name)
        if name == FASTMCP:
            return Contender(name, self._environments.fastmcp())
        return self._sdk(name) if name.startswith(SDK) else self._floor(name)

    def _pegboard(self, name: str) -> Contender:
        if name == PEGBOARD_FILES:
            environment = self._environments.pegboard("toolkit-files")
            return Contender(name, environment, (environment.command("pegboard"), "stdio"))
        uvloop = name == PEGBOARD_UVLOOP
        environment = self._bench(uvloop)
        tools = {tool: f"bench_{tool}" for tool in _TOOLS}
        imports = {"pegboard": "import pegboard", "Toolkit": "from pegboard import Toolkit"}
        command = environment.command("pegboard")
        return Contender(name, environment, (command, "stdio"), (command, "serve"), uvloop, tools, imports)

    def _sdk(self, name: str) -> Contender:
        fast = name == SDK_FAST
        environment = self._environments.sdk(_UVLOOP, "httptools") if fast else self._environments.sdk()
        imports = {"mcp": "import mcp", "MCPServer": "from mcp.server.mcpserver import MCPServer"}
        tools = {tool: tool for tool in ("add", "add_thread")}
        command = _script(environment, "sdk.py", "stdio")
        way = {SDK: "http", SDK_STATELESS: "stateless", SDK_FAST: "fast"}[name]
        return Contender(name, environment, command, _script(environment, "sdk.py", way), fast, tools, imports)

    def _floor(self, name: str) -> Contender:
        uvloop = name == FLOOR_UVLOOP
        environment = self._bench(uvloop)
        command = _script(environment, "floor.py", *(("--tasks",) if name == FLOOR_TASKS else ()))
        serve = _script(environment, "floor_http.py", *(("--uvloop",) if uvloop else ()))
        return Contender(name, environment, command, serve, uvloop, {tool: tool for tool in _TOOLS})

    def _bench(self, uvloop: bool) -> Environment:
        return self._environments.pegboard("toolkit-bench", *((_UVLOOP,) if uvloop else ()))


def _script(environment: Environment, name: str, *options: str) -> tuple[str, ...]:
    return (environment.python, str(HERE / "servers" / name), *options)
