"""The contract of error adapters, with exceptions of real HTTP clients."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Iterator

import pytest

from pegboard import NetworkTransportError, UpstreamError, UpstreamRateLimitError
from pegboard.plugin import ErrorAdapter, ToolRuntimeError
from pegboard.testing import ErrorAdapterContract
from pegboard_plugins.errors_http import HttpErrorAdapter
from tests.plugins.errors_http.service import CANARY, LIBRARIES, Service, answer

STATUSES = {"/gone": UpstreamError, "/limited": UpstreamRateLimitError}


class TestHttp(ErrorAdapterContract):
    canary = CANARY
    libraries = ("aiohttp", "httpx", "httpx2", "httplib2", "requests", "urllib3", "urllib.error")

    @pytest.fixture(autouse=True)
    def service(self) -> Iterator[None]:
        with Service() as self.running:
            self.running.answers.update({"/gone": answer(410), "/limited": answer(429, {"Retry-After": "3"})})
            yield

    def make(self) -> ErrorAdapter:
        return HttpErrorAdapter()

    def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
        for function in LIBRARIES:
            for path, expected in {**STATUSES, "/nothing": NetworkTransportError}.items():
                try:
                    given = function(self.running.url(path))
                    if inspect.iscoroutine(given):
                        asyncio.run(given)
                except Exception as error:  # noqa: BLE001 - each library has its own
                    yield error, expected
