"""A user at a terminal who waits for output before typing: `with Typist(command, folder, env) as user`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from select import select
from types import TracebackType
from typing import Self

from tests.support.peer import WAIT


def heed_interrupts() -> None:
    """Restore the default of SIGINT, which a shell ignores in programs that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Typist:
    """A process whose standard streams are a terminal.

    Attributes:
        seen: the output that was not expected yet.
        process: the process.
    """

    def __init__(self, command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> None:
        import pty

        self.seen = ""
        self._screen, terminal = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=folder,
            env=env,
            start_new_session=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - it calls only `signal`
        )
        os.close(terminal)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)

    def sees(self, text: str) -> str:
        """Wait for text, and return the output up to its end."""
        while text not in self.seen:
            assert select([self._screen], (), (), WAIT)[0], f"{text!r} does not follow {self.seen!r}"
            self.seen += os.read(self._screen, 65536).decode().replace("\r\n", "\n")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def types(self, text: str) -> None:
        """Type text."""
        os.write(self._screen, text.encode())

    def interrupts(self) -> None:
        """Send Ctrl-C as a terminal does to the processes in front."""
        os.killpg(self.process.pid, signal.SIGINT)


def plain(output: str) -> str:
    """Return what a terminal shows at last: without control sequences, and without text that was overwritten."""
    lines = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", output).split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines)
