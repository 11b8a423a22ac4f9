"""The client for tests without `async`: each method runs the event loop until it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from pegboard.types.callers import EMPTY
from pegboard.types.calls import Completion
from pegboard_client.in_flight import Message
from pegboard_testing.client import ClientRecords, TestClient
from pegboard_testing.client_results import CallResult, PromptGiven, ReadResult
from pegboard_testing.snapshots import Definitions

T = TypeVar("T")


def new_runner() -> asyncio.Runner:
    """Return a new event loop, which is not set as the current loop.

    Raises:
        RuntimeError: a loop runs in this thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.Runner(loop_factory=asyncio.new_event_loop)
    raise RuntimeError("an event loop is running: write `async with connect(...)`")


class PlainClient(ClientRecords):
    """A `TestClient` whose methods need no `await`. The host runs only while a method runs."""

    def __init__(self, client: TestClient, runner: asyncio.Runner) -> None:
        super().__init__(client.host, client._client)
        self._awaited = client
        self._runner = runner

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop of the host."""
        return self._runner.run(coroutine)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> CallResult:
        """See `TestClient.call`."""
        return self.run(self._awaited.call(name, arguments, **more))

    def tools(self) -> list[Message]:
        """See `TestClient.tools`."""
        return self.run(self._awaited.tools())

    def tool(self, name: str) -> Message:
        """See `TestClient.tool`."""
        return self.run(self._awaited.tool(name))

    def resources(self) -> list[Message]:
        """See `TestClient.resources`."""
        return self.run(self._awaited.resources())

    def templates(self) -> list[Message]:
        """See `TestClient.templates`."""
        return self.run(self._awaited.templates())

    def read(self, uri: str) -> ReadResult:
        """See `TestClient.read`."""
        return self.run(self._awaited.read(uri))

    def prompts(self) -> list[Message]:
        """See `TestClient.prompts`."""
        return self.run(self._awaited.prompts())

    def prompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **more: str) -> PromptGiven:
        """See `TestClient.prompt`."""
        return self.run(self._awaited.prompt(name, arguments, **more))

    def complete(self, of: str, argument: str, value: str = "", context: Mapping[str, str] = EMPTY) -> Completion:
        """See `TestClient.complete`."""
        return self.run(self._awaited.complete(of, argument, value, context))

    def definitions(self) -> Definitions:
        """See `TestClient.definitions`."""
        return self.run(self._awaited.definitions())

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """See `TestClient.request`."""
        return self.run(self._awaited.request(method, params))

    def heard(self, method: str, matches: Callable[[Message], bool] = bool) -> Message:
        """See `TestClient.heard`."""
        return self.run(self._awaited.heard(method, matches))

    def listen(self, *uris: str) -> None:
        """See `TestClient.listen`."""
        self.run(self._awaited.listen(*uris))
