"""Headless Chromium, driven by the Chrome DevTools Protocol."""

from __future__ import annotations

import asyncio
import re
import shutil
from itertools import count
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest

WAIT = 60.0
_SUBMIT = """(() => {
  const form = document.forms[0];
  if (!form || form.dataset.sent || document.readyState !== "complete") return;
  form.dataset.sent = "yes";
  for (const name of ["login", "password"]) if (form[name]) form[name].value = "ann";
  form.querySelector("button.main, [type=submit]").click();
})()"""


class Chromium:
    """One page of a browser: `async with Chromium(folder) as browser`.

    Args:
        folder: the folder of its profile.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)

    async def __aenter__(self) -> Self:
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if browser is None:
            pytest.skip("Chromium is not installed")
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0")
        self._process = await asyncio.create_subprocess_exec(
            browser, *options, f"--user-data-dir={self._folder}", stderr=asyncio.subprocess.PIPE
        )
        assert self._process.stderr is not None
        async with asyncio.timeout(WAIT):
            while not (address := re.search(rb"ws://127\.0\.0\.1:\d+/\S+", await self._process.stderr.readline())):
                assert self._process.returncode is None
        self._session = aiohttp.ClientSession()
        self._socket = await self._session.ws_connect(address[0].decode(), max_msg_size=0)
        self._page: dict[str, Any] = {}
        target = await self._send("Target.createTarget", url="about:blank")
        attached = await self._send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._page = {"sessionId": attached["sessionId"]}
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        self._process.kill()
        await self._process.communicate()

    async def open(self, url: str) -> None:
        """Open a page."""
        await self._send("Page.navigate", url=url)

    async def run(self, script: str) -> Any:
        """Return the value of an expression on the page."""
        answer = await self._answer("Runtime.evaluate", expression=script, returnByValue=True)
        return answer.get("result", {}).get("result", {}).get("value")  # nothing while another page opens

    async def until(self, script: str) -> None:
        """Wait until an expression on the page is true."""
        async with asyncio.timeout(WAIT):
            while not await self.run(script):
                pass

    async def agree(self, until: str) -> None:
        """Log in as ann and agree on each page, until an expression on the page is true."""
        async with asyncio.timeout(WAIT):
            while not await self.run(until):
                await self.run(_SUBMIT)

    async def _send(self, method: str, **params: Any) -> dict[str, Any]:
        message = await self._answer(method, **params)
        assert "result" in message, message
        result: dict[str, Any] = message["result"]
        return result

    async def _answer(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params, **self._page})
        async with asyncio.timeout(WAIT):
            while (message := await self._socket.receive_json()).get("id") != number:
                pass
        answer: dict[str, Any] = message
        return answer
