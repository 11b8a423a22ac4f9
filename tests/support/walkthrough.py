"""Walks through a page as its reader does: writes its files, runs its commands, compares what they print.

A page is made of fenced blocks, taken in order, in one folder:

    ```python file=NAME     the whole file; with add=NAME what comes at its end
    ```sh                   commands. What they print, errors too, is the block ```text that follows, or else nothing.
                            exit=N: how the last one ends; typed=TEXT: a person at a terminal types this line;
                            server: it goes on running, and prints the address that it serves at
    ```json client          settings of an MCP client, whose server answers a ping
    ```sh install           what made the environment before the walk; compared, not run

In what is shown `...` stands for anything, and PLACE for the folder; nothing else may differ.
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
    """A fenced block: its language, the options behind it, its text, the line of the page it begins in."""

    kind: str
    options: dict[str, str]
    text: str
    line: int


class WalkError(AssertionError):
    """A step of a page does not do what the page says."""


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    for found in _BLOCK.finditer(page):
        options = dict(option.partition("=")[::2] for option in shlex.split(found[2]))
        yield Block(found[1], options, found[3], page.count("\n", 0, found.start()) + 1)


def fits(shown: str, printed: str) -> bool:
    """Whether this was printed, but for what `...` stands for."""
    pattern = ".*".join(map(re.escape, shown.strip().split("...")))
    return re.fullmatch(pattern, printed.strip(), re.S) is not None


class Walk:
    """One reader in one folder, whose virtual environment is there already."""

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
        """All steps; raises WalkError at the first that is not as shown."""
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
        """As in a terminal, where the person types the line once they are asked."""
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
    """What comes next from the terminal's other end; nothing once nobody holds that any more."""
    if not select.select([terminal], [], [], _PATIENCE)[0]:
        process.kill()
        raise AssertionError("it waits for something else than is typed")
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""
