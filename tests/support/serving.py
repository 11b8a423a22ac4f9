"""A running `pegboard serve` for tests that are not asynchronous; `http.Served` is for the others."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.support.peer import WAIT


class Server(NamedTuple):
    """The URL of a server, and the lines on its standard error so far."""

    url: str
    said: list[str]

    @property
    def stderr(self) -> str:
        return "".join(self.said)


@contextmanager
def serving(command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> Iterator[Server]:
    """Run a server until the end of the block, where it must end without an error.

    Raises:
        AssertionError: it does not serve, or ends with an error.
    """
    lines: list[str] = []
    urls: SimpleQueue[str] = SimpleQueue()
    process = subprocess.Popen(
        command, cwd=folder, env=dict(env), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )

    def read() -> None:
        for line in process.stderr or ():
            lines.append(line)
            if match := re.search(r" at (http://\S+)", line):
                urls.put(match[1])
        urls.put("")

    with process, ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read)
        try:
            url = urls.get(timeout=WAIT)
            assert url, f"it does not serve:\n{''.join(lines)}"
            yield Server(url, lines)
            process.terminate()
            code = process.wait(WAIT)
        finally:
            process.kill()
            reading.result()
    assert code == 0, f"exit {code}:\n{''.join(lines)}"
