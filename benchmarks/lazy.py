"""The start with 20 toolkits that are imported at their first calls, beside the start without toolkits."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.bench import Bench, first_list
from benchmarks.contenders import PEGBOARD
from benchmarks.messages import MODERN, WrongAnswerError, result_of
from benchmarks.process import Server

NAME: Final = "lazy"
TOOLKITS: Final = 20
TOOLS: Final = 10
"""The tools of one toolkit."""
CASE: Final = f"{TOOLKITS} toolkits, {TOOLKITS * TOOLS} tools"
WITHOUT: Final = "pegboard without toolkits"
EAGER: Final = "pegboard"
LAZY: Final = "pegboard, lazy"
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


def run(bench: Bench) -> None:
    """Measure."""
    for contender in bench.turns(NAME, (PEGBOARD,)):
        with tempfile.TemporaryDirectory() as folder:
            site, file = Path(folder), Path(folder, "hostconfig.toml")
            for number in range(TOOLKITS):
                _install(site, f"kit{number:02}")
            file.touch(0o600)
            environ = contender.environ() | {"PYTHONPATH": folder}
            file.write_text(_HOST, "utf-8")
            command = (contender.command[0], "lock", "--config", str(file))
            subprocess.run(command, env=environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name, text, tools in (
                (WITHOUT, f"{_HOST}autoload = false\n", 0),
                (LAZY, f"{_HOST}[plugins.lock]\nlazy = true\n", TOOLKITS * TOOLS),
                (EAGER, _HOST, TOOLKITS * TOOLS),
            ):
                file.write_text(text, "utf-8")
                with Server((*contender.command, "--config", str(file)), environ, bench.cpus) as server:
                    answer = first_list(server, MODERN)
                    wall, cpu = server.age_seconds(), server.cpu_seconds()
                if len(result_of(answer)["result"]["tools"]) != tools:
                    raise WrongAnswerError(f"{name} did not list {tools} tools")
                bench.results.add(NAME, CASE, name, wall_ms=wall * 1e3, cpu_ms=cpu * 1e3)


def _install(site: Path, name: str) -> None:
    """Write a distribution with a toolkit."""
    tools = "".join(_TOOL.format(number=number) for number in range(TOOLS))
    (site / f"{name}.py").write_text(_HEAD.format(name=name) + tools, "utf-8")
    info = site / f"toolkit_{name}-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toolkit-{name}\nVersion: 1.0.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[pegboard.toolkits]\n{name} = {name}:kit\n", "utf-8")
