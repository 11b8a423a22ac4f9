"""Runs a page of the documentation as its reader does: writes its files, runs its commands, compares their output.

A page consists of fenced blocks, taken in order, in one folder:

    ```python file=NAME     the whole file; add=NAME appends to the file
    ```sh                   commands. Their output and errors are the block ```text that follows, or empty.
                            exit=N: the exit code of the last one; typed=TEXT: a line typed at a terminal;
                            server: it continues to run, and prints its address
    ```json client          settings of an MCP client, whose server responds to a ping
    ```sh install           the commands that made the environment; compared, not run

A command `cd` changes the folder of the following steps. In output `...` matches anything. PLACE is the first folder.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.forks import SECONDS, Done, communicate
from tests.support.serving import serving

PLACE = "/path/to/reading-list"
ADDRESS = "http://127.0.0.1:8000"
"""The address of servers in the page; they listen at a free port."""
NOTICES = re.compile("is new since the last start|pegboard is untested on")
"""What a start may report in any environment: a toolkit that was just installed, and the platform."""


class Block(NamedTuple):
    """A fenced block, and the line of the page in which it begins."""

    kind: str
    options: dict[str, str]
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page, in order."""
    for match in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", page, re.M | re.S):
        options = dict(option.partition("=")[::2] for option in shlex.split(match[2]))
        yield Block(match[1], options, match[3], page.count("\n", 0, match.start()) + 1)


class Walk(ExitStack):
    """A reader in a folder that has a virtual environment.

    Args:
        folder: the folder.
        install: the commands that made the environment.
        env: further variables. With an index of packages (`PIP_INDEX_URL`), the environment may lack packages.
    """

    def __init__(self, folder: Path, install: str, env: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._folder, self._install = folder, install
        self._cwd = folder
        self._address = ADDRESS
        self._env = {
            "PATH": f"{folder}/.venv/bin:/usr/bin:/bin",
            "HOME": str(folder.parent),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PEGBOARD__PLUGINS__HTTP__PORT": "0",
            # for pip, 0 is the option: hatchling is installed
            **(env or {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}),
        }

    def run(self, page: str) -> None:
        """Run all steps. Raise AssertionError at the first whose output differs."""
        steps = list(blocks(page))
        for block, following in zip(steps, [*steps[1:], None], strict=True):
            shown = following.text if following is not None and following.kind == "text" else ""
            try:
                self._step(block, shown)
            except AssertionError as error:
                raise AssertionError(f"line {block.line}:\n{block.text}\n{error}") from error

    def _step(self, block: Block, shown: str) -> None:
        if name := block.options.get("file") or block.options.get("add"):
            path = self._cwd / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text if "file" in block.options else f"{path.read_text()}\n\n{block.text}")
        elif block.kind == "json":
            self._client(block.text)
        elif "install" in block.options:
            assert block.text == self._install
        elif block.kind == "sh":
            self._command(block, shown)
        else:
            assert block.kind == "text", f"a block {block.kind} is nothing that a reader does"

    def _command(self, block: Block, shown: str) -> None:
        text, code = block.text.replace(ADDRESS, self._address), 0
        if "server" in block.options:
            server = self.enter_context(serving(["sh", "-c", f"exec {text}"], self._cwd, self._env))
            self._address = server.url.removesuffix("/mcp")
            printed = next(line for line in server.said if not NOTICES.search(line))
        elif line := block.options.get("typed"):
            line += "\n"
            done = self._ran(["sh", "-e", "-c", text], self._cwd, typed=line, terminal=(0, 2))
            code, printed = done.code, done.err.removeprefix(line) + line + done.out  # it was typed ahead
        else:
            done = self._ran(["sh", "-e", "-c", text], self._cwd, merged=True)
            for folder in re.findall(r"^cd (.*)", text, re.M):
                self._cwd /= folder
            code, printed = done.code, done.out
        printed = printed.replace(str(self._folder), PLACE).replace(self._address, ADDRESS)
        expected = ".*".join(map(re.escape, shown.strip().split("...")))
        assert re.fullmatch(expected, printed.strip(), re.S), f"must print\n{shown}\nand prints\n{printed}"
        assert code == int(block.options.get("exit", 0)), f"exit {code}\n{printed}"

    def _client(self, settings: str) -> None:
        (server,) = json.loads(settings.replace(PLACE, str(self._folder)))["mcpServers"].values()
        command, ping = [server["command"], *server.get("args", ())], '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
        done = self._ran(command, Path("/"), server.get("env", {}), typed=ping)
        assert done.out == '{"jsonrpc":"2.0","id":1,"result":{}}\n', done.err
        assert all(NOTICES.search(line) for line in done.err.splitlines()), done.err

    def _ran(self, command: list[str], cwd: Path, env: Mapping[str, str] | None = None, **options: Any) -> Done:
        def run(stdin: int, stdout: int, stderr: int) -> int:
            with subprocess.Popen(
                command, cwd=cwd, env={**self._env, **(env or {})}, stdin=stdin, stdout=stdout, stderr=stderr
            ) as process:
                return process.wait(SECONDS)

        return communicate(run, **options)
