"""Starts `driver.py` on real descriptors and reads its output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

DRIVER = Path(__file__).with_name("driver.py")
Stream = int | IO[Any] | None


class Driven(subprocess.Popen[bytes]):
    """A scene that runs. At the end of a `with` block it is killed, if it has not ended."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    def __exit__(self, *exc: object) -> None:
        if self.poll() is None:
            self.kill()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    def call(self, message: str) -> None:
        """Send a message of the scene `prints` and wait for its echo, which must be all that comes."""
        data = json.dumps(message).encode() + b"\n"
        self.stdin.write(data)
        assert self.read(len(data)) == data

    def read(self, size: int) -> bytes:
        """Return so many bytes of the wire, or all there are."""
        received = b""
        while len(received) < size and (chunk := self.stdout.read(size - len(received))):
            received += chunk
        return received

    def finish(self, data: bytes | None = None, received: bytes = b"") -> str:
        """Send the rest of the input and end it. Compare the rest of the wire and return standard error."""
        out, err = self.communicate(data)
        assert (self.returncode, out or b"") == (0, received), (err or b"").decode()
        return (err or b"").decode()


def start(
    *arguments: str,
    stdin: Stream = subprocess.PIPE,
    stdout: Stream = subprocess.PIPE,
    shell: str = "",
    env: dict[str, str] | None = None,
) -> Driven:
    """Start a scene; `shell` is a redirection to add, such as `2>&1`."""
    command = [sys.executable, str(DRIVER), *arguments]
    if shell:
        command = ["sh", "-c", f'exec "$0" "$@" {shell}', *command]
    pipe = subprocess.PIPE
    return Driven(command, stdin=stdin, stdout=stdout, stderr=pipe, bufsize=0, env=os.environ | (env or {}))


def reported(err: str, name: str) -> Any:
    (line,) = [line for line in err.splitlines() if line.startswith(f"report {name} ")]
    return json.loads(line.split(" ", 2)[2])
