"""Trial imports that hang: a reload that is cancelled, and a host that ends, end the child process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from pegboard import Host
from pegboard.loading.discovery import Selection
from pegboard.loading.source_files import toolkits_in
from pegboard.reloading.trial import Trials
from tests.support.peer import WAIT

WORKS = "from pegboard import tool\n@tool\ndef one() -> int:\n    'Return 1.'\n    return 1\n"
HANGS = """
import sys, threading
assert sys.stdin.read() == ""
held = open({pipe!r}, "w")
threading.Event().wait()
"""


class HungFile:
    """A Python file whose import hangs, with a pipe that is open while it does."""

    def __init__(self, folder: Path) -> None:
        self.file, self._pipe = folder / "hung_kit.py", str(folder / "pipe")
        os.mkfifo(self._pipe)
        self.file.write_text(WORKS)

    def write(self) -> None:
        self.file.write_text(WORKS + HANGS.format(pipe=self._pipe))

    async def opened(self) -> asyncio.Future[bytes]:
        """Wait until the import hangs. Return a future that its end completes."""
        pipe = await asyncio.wait_for(asyncio.to_thread(open, self._pipe, "rb"), WAIT)

        def rest() -> bytes:
            with pipe:
                return pipe.read()

        return asyncio.ensure_future(asyncio.to_thread(rest))


@pytest.fixture
def hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HungFile:
    monkeypatch.syspath_prepend(tmp_path)
    return HungFile(tmp_path)


async def test_a_cancelled_reload_ends_its_child_process(hung: HungFile) -> None:
    config = {"host": {"autoload": False, "disabled_plugins": ["pegboard:*"]}}
    selection = Selection(files=(hung.file,))
    async with Host(config, toolkits=toolkits_in([hung.file]), selection=selection) as host:
        hung.write()
        reloading = asyncio.create_task(host.reload())
        ended = await hung.opened()
        reloading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reloading, WAIT)
        assert await asyncio.wait_for(ended, WAIT) == b""
        hung.file.write_text(WORKS.replace("one", "two"))
        assert [result.outcome for result in await host.reload()] == ["reloaded"]


PROGRAM = """
import sys
from pathlib import Path
from pegboard.reloading.trial import Trials
Trials().try_import([], [Path(sys.argv[1])])
"""


async def test_a_killed_host_leaves_no_child_process(hung: HungFile) -> None:
    hung.write()
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, hung.file)
    ended = await hung.opened()
    host.send_signal(signal.SIGKILL)
    assert await asyncio.wait_for(ended, WAIT) == b""
    assert await host.wait() == -signal.SIGKILL


def test_nothing_is_tried_after_the_end(hung: HungFile) -> None:
    trials = Trials()
    trials.end()
    assert trials.try_import([], [hung.file]) == "the reload was interrupted"
