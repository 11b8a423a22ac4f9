"""Who is measured, and how each is started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from benchmarks.environments import HERE, Environment, Environments

PEGBOARD: Final = "pegboard"
PEGBOARD_FILES: Final = "pegboard+files"
SDK: Final = "mcp"
FLOOR: Final = "floor"
FLOOR_TASKS: Final = "floor+tasks"
NAMES: Final = (PEGBOARD, PEGBOARD_FILES, SDK, FLOOR, FLOOR_TASKS)
SERVERS: Final = (PEGBOARD, SDK, FLOOR, FLOOR_TASKS)
"""Those that serve the benchmarks' own tools."""

_READY = "import os; os.write(1, b'ready\\n'); os.read(0, 1)"


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that can be started.

    Attributes:
        name: how results call it.
        environment: what it runs in.
        command: what starts it.
        tools: how each tool of the benchmarks is called on the wire.
        imports: what `python -c` runs to measure importing it, by what is imported.
    """

    name: str
    environment: Environment
    command: tuple[str, ...]
    tools: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)

    def environ(self, more_tools: int = 0) -> dict[str, str]:
        """All the environment variables of its process: few, so that nothing of this machine has a say."""
        bare = "/nonexistent"
        variables = {"PATH": os.defpath, "HOME": bare, "XDG_CONFIG_HOME": bare, "LANG": "C.UTF-8"}
        return variables | {"BENCH_MORE_TOOLS": str(more_tools)}

    def python(self, code: str) -> tuple[str, ...]:
        """A command that runs some code in its environment, says when it is through, and stays until its input ends."""
        return (self.environment.python, "-c", f"{code}\n{_READY}")


class Contenders:
    """All contenders, each made when it is first asked for."""

    def __init__(self, environments: Environments) -> None:
        self._environments = environments
        self.get = cache(self._make)

    def _make(self, name: str) -> Contender:
        if name == PEGBOARD:
            environment = self._environments.pegboard("toolkit-bench")
            tools = {tool: f"bench_{tool}" for tool in ("add", "add_inline", "add_thread")}
            imports = {"pegboard": "import pegboard", "Toolkit": "from pegboard import Toolkit"}
            return Contender(name, environment, (environment.command("pegboard"), "stdio"), tools, imports)
        if name == PEGBOARD_FILES:
            environment = self._environments.pegboard("toolkit-files")
            return Contender(name, environment, (environment.command("pegboard"), "stdio"))
        if name == SDK:
            environment = self._environments.sdk()
            imports = {"mcp": "import mcp", "MCPServer": "from mcp.server.mcpserver import MCPServer"}
            tools = {tool: tool for tool in ("add", "add_thread")}
            return Contender(name, environment, _script(environment, "sdk.py"), tools, imports)
        environment = self._environments.pegboard("toolkit-bench")
        tools = {tool: tool for tool in ("add", "add_inline", "add_thread")}
        options = ("--tasks",) if name == FLOOR_TASKS else ()
        return Contender(name, environment, (*_script(environment, "floor.py"), *options), tools)


def _script(environment: Environment, name: str) -> tuple[str, ...]:
    return (environment.python, str(HERE / "servers" / name))
