"""Toolkits in a folder that `pegboard.lock` lists, and the commands that start them in different ways."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from benchmarks.contenders import Contender

_TOOLS: Final = 10
"""The tools of one toolkit."""
_HOST: Final = '[host]\ndisabled_toolkits = ["bench"]\n'
_HEAD: Final = """\
from typing import Annotated

from pegboard import Context, Toolkit

kit = Toolkit("{name}")
"""
_TOOL: Final = """
@kit.tool
async def look_up_{number}(context: Context, name: Annotated[str, "the name"], limits: list[int]) -> dict[str, int]:
    \"\"\"Look a name up in table {number}.\"\"\"
    return {{name: sum(limits)}}
"""


class LockedToolkits:
    """Toolkits with ten tools each, and their lock. The constructor writes them.

    Args:
        contender: pegboard.
        folder: a folder to make.
        size: the number of all tools.

    Attributes:
        environ: the environment variables of each command.
        without: starts no toolkit.
        eager: imports all toolkits.
        locked: imports all toolkits, and compares them with the lock.
        lazy: lists the tools of the lock, and imports no toolkit.
    """

    def __init__(self, contender: Contender, folder: str, size: int) -> None:
        self._command, self._folder = contender.command, Path(folder)
        self._folder.mkdir()
        self.environ = contender.environ() | {"PYTHONPATH": folder}
        for number in range(size // _TOOLS):
            self._install(f"kit{number:03}")
        self.without = self._start("without", f"{_HOST}autoload = false\n")
        self.eager = self._start("eager", _HOST)
        self.locked = (*self.eager, "--locked")
        self.lazy = self._start("lazy", f"{_HOST}[plugins.lock]\nlazy = true\n")
        lock = (self._command[0], "lock", *self.eager[len(self._command) :])
        subprocess.run(lock, env=self.environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _start(self, name: str, text: str) -> tuple[str, ...]:
        file = self._folder / f"{name}.toml"
        file.touch(0o600)
        file.write_text(text, "utf-8")
        return (*self._command, "--config", str(file))

    def _install(self, name: str) -> None:
        """Write a distribution with a toolkit."""
        tools = "".join(_TOOL.format(number=number) for number in range(_TOOLS))
        (self._folder / f"{name}.py").write_text(_HEAD.format(name=name) + tools, "utf-8")
        info = self._folder / f"toolkit_{name}-1.0.0.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: toolkit-{name}\nVersion: 1.0.0\n"
        (info / "METADATA").write_text(metadata, "utf-8")
        (info / "entry_points.txt").write_text(f"[pegboard.toolkits]\n{name} = {name}:kit\n", "utf-8")
