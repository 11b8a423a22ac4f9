"""The client for tests without `async`: each method runs the event loop until it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pegboard.host import Host
from pegboard.loading.plugins import LoadProblem
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Completion
from pegboard_client.asked import Asked
from pegboard_client.in_flight import Message
from pegboard_testing.client import Logged, Reported, TestClient
from pegboard_testing.client_results import CallResult, PromptGiven, ReadResult
from pegboard_testing.in_memory_host import Kit
from pegboard_testing.memory_stream import Traffic
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


def kit_definitions(kit: Kit) -> Definitions:
    """Return the definitions of a kit that needs no settings. In a running loop, use another thread."""
    from pegboard_testing.in_memory import connect

    def look() -> Definitions:
        with connect(kit) as client:
            return client.definitions()

    with ThreadPoolExecutor(1) as threads:
        return threads.submit(look).result()


class PlainClient:
    """A `TestClient` whose methods need no `await`. The host runs only while a method runs.

    Attributes:
        host: the host.
    """

    def __init__(self, client: TestClient, runner: asyncio.Runner) -> None:
        self._client = client
        self.host: Host = client.host
        self._runner = runner

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop of the host."""
        return self._runner.run(coroutine)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> CallResult:
        """See `TestClient.call`."""
        return self.run(self._client.call(name, arguments, **more))

    def tools(self) -> list[Message]:
        """See `TestClient.tools`."""
        return self.run(self._client.tools())

    def tool(self, name: str) -> Message:
        """See `TestClient.tool`."""
        return self.run(self._client.tool(name))

    def resources(self) -> list[Message]:
        """See `TestClient.resources`."""
        return self.run(self._client.resources())

    def templates(self) -> list[Message]:
        """See `TestClient.templates`."""
        return self.run(self._client.templates())

    def read(self, uri: str) -> ReadResult:
        """See `TestClient.read`."""
        return self.run(self._client.read(uri))

    def prompts(self) -> list[Message]:
        """See `TestClient.prompts`."""
        return self.run(self._client.prompts())

    def prompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **more: str) -> PromptGiven:
        """See `TestClient.prompt`."""
        return self.run(self._client.prompt(name, arguments, **more))

    def complete(self, of: str, argument: str, value: str = "", context: Mapping[str, str] = EMPTY) -> Completion:
        """See `TestClient.complete`."""
        return self.run(self._client.complete(of, argument, value, context))

    def definitions(self) -> Definitions:
        """See `TestClient.definitions`."""
        return self.run(self._client.definitions())

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """See `TestClient.request`."""
        return self.run(self._client.request(method, params))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """See `TestClient.notify`."""
        self._client.notify(method, params)

    def heard(self, method: str, matches: Callable[[Message], bool] = bool) -> Message:
        """See `TestClient.heard`."""
        return self.run(self._client.heard(method, matches))

    def listen(self, *uris: str) -> None:
        """See `TestClient.listen`."""
        self.run(self._client.listen(*uris))

    def answer(self, *answers: Any) -> None:
        """See `TestClient.answer`."""
        self._client.answer(*answers)

    @property
    def asked(self) -> list[Asked]:
        """Every question so far."""
        return self._client.asked

    @property
    def notifications(self) -> list[Message]:
        """Every notification of the host so far, as it was received."""
        return self._client.notifications

    @property
    def logs(self) -> list[Logged]:
        """The log messages so far."""
        return self._client.logs

    @property
    def progress(self) -> list[Reported]:
        """The progress notifications so far."""
        return self._client.progress

    @property
    def revision(self) -> str:
        """The revision of MCP that the client speaks."""
        return self._client.revision

    @property
    def meta(self) -> dict[str, Any]:
        """The members to add to the `_meta` of each request. A test may change this dict."""
        return self._client.meta

    @property
    def problems(self) -> tuple[LoadProblem, ...]:
        """The problems that the host found; with `strict`, only warnings."""
        return self._client.problems

    @property
    def traffic(self) -> list[Traffic]:
        """Every message on the wire, and who sent it."""
        return self._client.traffic
