"""The first and the last page of a login by a command, whose browser may run on another machine."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

from pegboard.terminal import is_interactive, say
from pegboard_client import LoopbackRedirect

MAX_PASTED_BYTES = 16 * 1024


async def show_login_page(url: str, at: str = "", *, pastes: bool, opens: bool) -> None:
    """Show the page on which a person logs in.

    Args:
        url: the page.
        at: the server, after "log in".
        pastes: True if the person can paste the address of the last page.
        opens: True to open the browser too, at a terminal.
    """
    say(f"open this page to log in{at}: {url}")
    if pastes:
        say("if its browser runs on another machine, paste the address of the last page here")
    if opens and is_interactive():
        import webbrowser

        await asyncio.to_thread(webbrowser.open, url)


class PastedRedirect(LoopbackRedirect):
    """A receiver that also accepts the address of the last page on standard input, and then reads no more of it."""

    _reader: Thread | None = None

    async def start(self, state: str, earlier: str, issuer: str) -> str:
        """Listen, and read standard input."""
        redirect_uri = await super().start(state, earlier, issuer)
        if self._reader is None or not self._reader.is_alive():
            self._reader = Thread(target=self._read, args=(asyncio.get_running_loop(), SimpleQueue()), daemon=True)
            self._reader.start()
        return redirect_uri

    def _read(self, loop: asyncio.AbstractEventLoop, taken: SimpleQueue[bool]) -> None:
        """Read lines until one is the address. An unbuffered read holds no lock while it waits."""
        rest = b""
        with suppress(OSError, ValueError, RuntimeError):  # no standard input, or the loop has ended
            while len(rest) < MAX_PASTED_BYTES and (data := os.read(sys.stdin.fileno(), MAX_PASTED_BYTES)):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    loop.call_soon_threadsafe(self._take, line.decode(errors="replace").strip(), taken)
                    if taken.get():
                        return

    def _take(self, line: str, taken: SimpleQueue[bool]) -> None:
        is_ours = self.paste(line)
        if line and not is_ours:
            say("this is not the address of the last page of this login: copy the whole address")
        taken.put(is_ours)
