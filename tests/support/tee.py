"""Records the lines between a foreign client and the server: `tee.py RECORD COMMAND [ARGUMENT ...]`.

It imports no other module of the tests, because it runs in the client's environment. Each line of the record is `>` or
`<`, for the client and the server, and the line. The last line is `=` and the server's exit code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from threading import Thread
from typing import IO


def forward(source: IO[bytes], target: IO[bytes], record: IO[bytes], mark: bytes) -> None:
    """Pass lines on until they end. Each is recorded before the other side can respond to it."""
    reachable = True
    for line in iter(source.readline, b""):
        record.write(mark + line.rstrip(b"\n") + b"\n")  # one write to an unbuffered file: whole among the others
        if reachable:
            try:
                target.write(line)
                target.flush()
            except OSError:
                reachable = False
    with suppress(OSError):
        target.close()


def main(path: str, command: list[str]) -> int:
    """Run the command with recorded streams and return its exit code."""
    with open(path, "ab", buffering=0) as record:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        Thread(target=forward, args=(sys.stdin.buffer, server.stdin, record, b">"), daemon=True).start()
        forward(server.stdout, sys.stdout.buffer, record, b"<")
        code = server.wait()
        record.write(b"=%d\n" % code)
        return code


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2:]))  # the thread that waits for the client must not hold up the end
