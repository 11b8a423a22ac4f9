"""A person with a browser, without a screen: opens pages, logs in and agrees."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Self
from urllib.parse import urljoin

import aiohttp
import pytest

MAX_PAGES = 20


class Person:
    """A browser that keeps its cookies: `async with Person() as person`.

    Args:
        fields: the fields that the person fills in.

    Attributes:
        texts: the texts of all pages.
        shown: the status and the text of the last page.
        visited: the addresses of all pages.
    """

    def __init__(self, **fields: str) -> None:
        self._fields = {"login": "ann", "password": "any", **fields}
        self.shown: tuple[int, str] = (0, "")
        self.texts: list[str] = []
        self.visited: list[str] = []

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=False)  # the person trusts the certificates of tests
        self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.CookieJar(unsafe=True))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def open(self, url: str, until: str = "") -> str:
        """Open a page, follow redirects and submit forms to the end, or until an address begins with `until`."""
        form: dict[str, str] | None = None
        for _ in range(MAX_PAGES):
            self.visited.append(url)
            if until and url.startswith(until):
                return url
            sent = self._session.request("GET" if form is None else "POST", url, data=form, allow_redirects=False)
            async with sent as answer:
                text = await answer.text()
                self.shown, form = (answer.status, text), None
                self.texts.append(text)
                if location := answer.headers.get("Location"):
                    url = urljoin(url, location)
                    continue
            action = re.search(r'<form[^>]* action="([^"]+)"', text)
            if action is None:
                return url
            url = urljoin(url, action[1])
            form = {**dict(re.findall(r'name="(\w+)" value="([^"]*)"', text)), **self._fields}
        raise AssertionError(f"no end after {MAX_PAGES} pages: {url}")

    async def post(self, url: str, fields: dict[str, str], **headers: str) -> int:
        """Send a form, and return the status of the response."""
        async with self._session.post(url, data=fields, headers=headers, allow_redirects=False) as answer:
            return answer.status


@pytest.fixture
async def person() -> AsyncIterator[Person]:
    async with Person() as person:
        yield person
