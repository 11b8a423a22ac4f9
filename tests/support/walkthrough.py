"""Runs a page of the documentation as its reader does: writes its files, runs its commands, compares their output.

A page consists of fenced blocks, taken in order, in one folder:

    ```python file=NAME     the whole file; add=NAME appends to the file
    ```sh                   commands. Their output and errors are the block ```text that follows, or empty.
                            exit=N: the exit code of the last one; typed=TEXT: a line typed at a terminal;
                            server: it continues to run, and prints its address
    ```json client          settings of an MCP client, whose server responds to a ping
    ```sh install           the commands that made the environment; compared, not run

In output `...` matches anything, and PLACE is the folder.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

PLACE = "/path/to/reading-list"
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
_PATIENCE = 60  # seconds
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


class Block(NamedTuple):
    """A fenced block, and the line of the page in which it begins."""

    kind: str
    options: dict[str, str]
    text: str
    line: int


class WalkError(AssertionError):
    """The output of a step differs from the page."""


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page, in order."""
    for found in _BLOCK.finditer(page):
        options = dict(option.partition("=")[::2] for option in shlex.split(found[2]))
        yield Block(found[1], options, found[3], page.count("\n", 0, found.start()) + 1)


def fits(shown: str, printed: str) -> bool:
    """Return True if the output matches the text, in which `...` matches anything."""
    pattern = ".*".join(map(re.escape, shown.strip().split("...")))
    return re.fullmatch(pattern, printed.strip(), re.S) is not None


class Walk:
    """A reader in a folder that has a virtual environment."""

    def __init__(self, folder: Path, install: str) -> None:
        self._folder, self._install = folder, install
        self._address = "http://127.0.0.1:8000"
        self._servers: list[subprocess.Popen[str]] = []
        self._env = {
            "PATH": f"{folder}/.venv/bin:/usr/bin:/bin",
            "HOME": str(folder.parent),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PEGBOARD__PLUGINS__HTTP__PORT": "0",
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.terminate()
            server.communicate()

    def run(self, page: str) -> None:
        """Run all steps. Raise WalkError at the first whose output differs."""
        told = list(blocks(page))
        for block, following in zip(told, [*told[1:], None], strict=True):
            shown = following.text if following is not None and following.kind == "text" else ""
            try:
                self._step(block, shown)
            except AssertionError as error:
                raise WalkError(f"line {block.line}:\n{block.text}\n{error}") from error

    def _step(self, block: Block, shown: str) -> None:
        if name := block.options.get("file"):
            self._path(name).write_text(block.text)
        elif name := block.options.get("add"):
            path = self._path(name)
            path.write_text(f"{path.read_text()}\n\n{block.text}")
        elif block.kind == "json":
            self._client(block.text)
        elif "install" in block.options:
            assert block.text == self._install
        elif block.kind == "sh":
            self._command(block, shown)
        else:
            assert block.kind == "text", f"a block {block.kind} is nothing that a reader does"

    def _path(self, name: str) -> Path:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _command(self, block: Block, shown: str) -> None:
        text = block.text.replace("http://127.0.0.1:8000", self._address)
        if "server" in block.options:
            code, printed = 0, self._served(text)
        elif "typed" in block.options:
            code, printed = self._typed(text, block.options["typed"])
        else:
            code, printed = self._ran(text)
        printed = printed.replace(str(self._folder), PLACE).replace(self._address, "http://127.0.0.1:8000")
        assert fits(shown, printed), f"is to print\n{shown}\nand prints\n{printed}"
        assert code == int(block.options.get("exit", 0)), f"exit {code}\n{printed}"

    def _ran(self, text: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=self._folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
        return done.returncode, done.stdout

    def _typed(self, text: str, line: str) -> tuple[int, str]:
        """Run commands at a terminal. Type a line when they ask for it."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            ["sh", "-e", "-c", text], cwd=self._folder, env=self._env, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            printed = b""
            while got := _read(ours, process):
                printed += got
                if printed.endswith(b": "):
                    os.write(ours, f"{line}\n".encode())
        os.close(ours)
        return process.returncode, printed.decode().replace("\r\n", "\n")

    def _served(self, text: str) -> str:
        server = subprocess.Popen(
            ["sh", "-c", f"exec {text}"], cwd=self._folder, env=self._env, stderr=subprocess.PIPE, text=True
        )
        self._servers.append(server)
        assert server.stderr is not None
        said = server.stderr.readline()
        address = _ADDRESS.search(said)
        assert address, said + server.stderr.read()
        self._address = address[0]
        return said

    def _client(self, settings: str) -> None:
        (server,) = json.loads(settings.replace(PLACE, str(self._folder)))["mcpServers"].values()
        done = subprocess.run(
            [server["command"], *server["args"]],
            cwd="/",
            env={**self._env, **server.get("env", {})},
            input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n',
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
        assert done.stdout == '{"jsonrpc":"2.0","id":1,"result":{}}\n', done.stderr
        # a toolkit that was just installed is reported, and nothing else
        assert all("is new since the last start" in line for line in done.stderr.splitlines()), done.stderr


def _read(terminal: int, process: subprocess.Popen[bytes]) -> bytes:
    """Read from a terminal. Return no bytes after its other end was closed."""
    if not select.select([terminal], [], [], _PATIENCE)[0]:
        process.kill()
        raise AssertionError("it waits for something else than is typed")
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""
