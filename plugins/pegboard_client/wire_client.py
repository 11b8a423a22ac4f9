"""`Client`: a client for one MCP server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache, partial
from types import TracebackType
from typing import Any, Self, Unpack

from pegboard.errors import TransportError
from pegboard.types.callers import EMPTY
from pegboard_client.addresses import NORMAL_LIMITS, ClientLimits, Endpoint, Program, Stream
from pegboard_client.asked import ANSWERED_BY_ASK, Asked, QuestionHandler
from pegboard_client.handshake import SESSIONS, STATELESS, ServerDescription
from pegboard_client.in_flight import Message
from pegboard_client.incoming import Incoming, OnNotification
from pegboard_client.listening import Listening
from pegboard_client.server_connection import RequestOptions, ServerConnection
from pegboard_client.task_calls import WatchTask, finished, with_tasks


class Client:
    """A client of one MCP server: `async with Client("https://example.com/mcp") as client`.

    Results are the decoded JSON of the server. They are not validated: unknown members are kept, and a server may break
    the schema. Each method accepts the options of `RequestOptions` such as `timeout` and `progress`.

    Args:
        server: the address: an `Endpoint` or its URL, a `Program`, or a `Stream`.
        name: the name of the client.
        version: the version of the client; None for that of pegboard.
        revision: the revision of MCP; None for the newest that the server speaks.
        ask: answers the questions of the server. Without it, the client declares no support for questions.
        capabilities: the capabilities to declare; None for those that `ask` and `roots` imply.
        roots: the roots of the client, as URIs or Root objects; None if it has none.
        on_notification: receives the method and the parameters of each notification except progress.
        timeout: how many seconds a request waits for a response or progress; None for no limit.
        limits: the limits for the server.

    Raises:
        ValueError: the client does not speak the revision, or a string is not a URL.
    """

    def __init__(
        self,
        server: str | Endpoint | Program | Stream,
        *,
        name: str = "pegboard",
        version: str | None = None,
        revision: str | None = None,
        ask: QuestionHandler | None = None,
        capabilities: Mapping[str, Any] | None = None,
        roots: Sequence[str | Mapping[str, Any]] | None = None,
        on_notification: OnNotification | None = None,
        timeout: float | None = 60.0,
        limits: ClientLimits = NORMAL_LIMITS,
    ) -> None:
        if revision not in (None, STATELESS, *SESSIONS):
            raise ValueError(
                f"the client does not speak {revision!r}; use {', '.join((STATELESS, *SESSIONS))}, or None"
            )
        address = _endpoint(server) if isinstance(server, str) else server
        listed = None if roots is None else [{"uri": root} if isinstance(root, str) else root for root in roots]
        if capabilities is None:
            capabilities = {**(ANSWERED_BY_ASK if ask else {}), **({} if listed is None else {"roots": {}})}
        self._label = address.label
        self._capabilities = capabilities
        self._limits = limits
        self._wanted = revision
        incoming = Incoming(address.label, ask, listed, on_notification, limits)
        info = {"name": name, "version": _own_version() if version is None else version}
        self._connection = ServerConnection(address, incoming, info, capabilities, timeout, limits)
        self._listening = Listening(self._connection)

    async def __aenter__(self) -> Self:
        try:
            await self._connection.open(self._wanted)
        except BaseException:
            await self._connection.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._listening.close()
        finally:
            await self._connection.close()

    # --- the server ---

    @property
    def revision(self) -> str:
        """The revision of MCP, such as "2026-07-28"; "" before the client is connected."""
        return self._connection.revision

    @property
    def stateless(self) -> bool:
        """True if the revision has no sessions."""
        return self.revision == STATELESS

    @property
    def server(self) -> ServerDescription:
        """The description of the server.

        Raises:
            TransportError: the client is not connected.
        """
        if self._connection.server is None:
            raise TransportError(f"the client of {self._label} is not connected; use it in `async with`")
        return self._connection.server

    async def wait_closed(self) -> str:
        """Wait until the connection is lost or closed, and return the reason.

        Over HTTP it is lost when a stream for changes has not reached the server several times in a row.
        """
        closed = self._connection.channel.closed
        await asyncio.wait((closed,))
        return closed.result()

    # --- tools, resources and prompts ---

    async def tools(self) -> list[Message]:
        """Return the tools of the server."""
        return await self._items("tools/list", "tools")

    async def resources(self) -> list[Message]:
        """Return the resources of the server."""
        return await self._items("resources/list", "resources")

    async def templates(self) -> list[Message]:
        """Return the resource templates of the server."""
        return await self._items("resources/templates/list", "resourceTemplates")

    async def prompts(self) -> list[Message]:
        """Return the prompts of the server."""
        return await self._items("prompts/list", "prompts")

    async def call(
        self, name: str, arguments: Mapping[str, Any] = EMPTY, /, **options: Unpack[RequestOptions]
    ) -> Message:
        """Call a tool and answer its questions. Return the CallToolResult.

        Args:
            name: the name of the tool.
            arguments: its arguments.
            options: the options.

        Raises:
            ProtocolError: the server responded with an error.
            TransportError: the connection was lost.
            ServerTimeoutError: the server did not respond in time.
        """
        return await self.request("tools/call", {"name": name, "arguments": dict(arguments)}, **options)

    async def call_as_task(
        self,
        name: str,
        arguments: Mapping[str, Any] = EMPTY,
        /,
        *,
        watch: WatchTask | None = None,
        **options: Unpack[RequestOptions],
    ) -> Message:
        """Call a tool, let the server make a task of the call, and wait for it. Return the CallToolResult.

        Cancelling this method does not cancel the task; see `task` and `cancel_task`.

        Args:
            name: the name of the tool.
            arguments: its arguments.
            watch: receives each state of the task, the first with its `taskId`.
            options: the options. `timeout` is that of one request.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `call`. A task that failed raises its error.
            TaskCancelledError: the task was cancelled.
        """
        params = {"name": name, "arguments": dict(arguments)}
        result = await self.request("tools/call", params, **self._with_tasks(options))
        if result.get("resultType") != "task":
            return result
        if watch is not None:
            watch(result)
        return await self.task(str(result.get("taskId")), watch=watch, **options)

    async def task(
        self, task_id: str, /, *, watch: WatchTask | None = None, **options: Unpack[RequestOptions]
    ) -> Message:
        """Wait for a task, and answer its questions. Return the CallToolResult.

        The client subscribes to the task, or polls if the server does not offer this.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError, TaskCancelledError: as for `call_as_task`.
        """
        more = self._with_tasks(options)

        async def exchange(method: str, params: Message) -> Message:
            return await self._connection.exchange(method, params, more)

        async def answers(questions: Message) -> Message:
            return await self._answers(questions, options.get("ask"))

        return await finished(task_id, exchange, partial(self._connection.listen_to_task, more), answers, watch)

    async def cancel_task(self, task_id: str, /, **options: Unpack[RequestOptions]) -> None:
        """Ask the server to cancel a task.

        Raises:
            ProtocolError: the task is unknown.
        """
        await self._connection.exchange("tasks/cancel", {"taskId": task_id}, self._with_tasks(options))

    def _with_tasks(self, options: RequestOptions) -> RequestOptions:
        """Return the options of a request that declares tasks."""
        declared = options.get("capabilities")
        if declared is None:
            declared = {**(ANSWERED_BY_ASK if options.get("ask") else {}), **self._capabilities}
        return {**options, "capabilities": with_tasks(declared)}

    async def read(self, uri: str, **options: Unpack[RequestOptions]) -> Message:
        """Read a resource and answer its questions. Return the ReadResourceResult.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `call`.
        """
        return await self.request("resources/read", {"uri": uri}, **options)

    async def prompt(
        self, name: str, arguments: Mapping[str, str] = EMPTY, /, **options: Unpack[RequestOptions]
    ) -> Message:
        """Get a prompt and answer its questions. Return the GetPromptResult.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `call`.
        """
        return await self.request("prompts/get", {"name": name, "arguments": dict(arguments)}, **options)

    async def complete(
        self,
        ref: Mapping[str, Any],
        argument: str,
        value: str = "",
        context: Mapping[str, str] = EMPTY,
        **options: Unpack[RequestOptions],
    ) -> Message:
        """Return the CompleteResult for an argument of a prompt or a resource template.

        Args:
            ref: the reference: `{"type": "ref/prompt", "name": ...}` or `{"type": "ref/resource", "uri": ...}`.
            argument: the name of the argument.
            value: the value so far.
            context: the arguments that are already set.
            options: the options.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `call`.
        """
        params: Message = {"ref": dict(ref), "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": dict(context)}
        return await self.request("completion/complete", params, **options)

    # --- requests and notifications ---

    async def request(
        self, method: str, params: Mapping[str, Any] = EMPTY, /, **options: Unpack[RequestOptions]
    ) -> Message:
        """Send a request and answer its questions. Return its result.

        In 2026-07-28, a result with questions is answered by repeating the request with the answers.

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `call`.
        """
        result = await self._connection.exchange(method, params, options)
        rounds = 0
        while result.get("resultType") == "input_required":
            rounds += 1
            if rounds > self._limits.rounds:
                raise TransportError(
                    f"{self._label} asked questions in more than {self._limits.rounds} rounds of one request"
                )
            more = await self._answers(result, options.get("ask"))
            result = await self._connection.exchange(method, {**params, **more}, options)
        return result

    async def exchange(
        self, method: str, params: Mapping[str, Any] = EMPTY, /, **options: Unpack[RequestOptions]
    ) -> Message:
        """Send one request and return its result, even if the result asks questions (2026-07-28).

        Raises:
            ProtocolError, TransportError, ServerTimeoutError: as for `call`.
        """
        return await self._connection.exchange(method, params, options)

    def notify(self, method: str, params: Mapping[str, Any] = EMPTY) -> None:
        """Send a notification. In 2026-07-28 over HTTP, clients send no notifications, so nothing is sent."""
        self._connection.channel.notify(method, dict(params))

    # --- changes ---

    async def listen(self) -> bool:
        """Receive changes of lists. After a reconnect, every list is reported as changed.

        Returns:
            False if the server has refused the standalone stream of a session, so that changes cannot be received.

        Raises:
            ProtocolError: the server refused (2026-07-28).
        """
        if not self.stateless:
            return await self._connection.listen()
        if not self._listening.lists:
            await self._listening.begin()
        return True

    async def subscribe(self, uri: str, *more: str) -> None:
        """Receive changes of a resource, or of several. In 2026-07-28, a refusal applies to all of them.

        Raises:
            ProtocolError: the server refused.
        """
        uris = self._connection.uris
        if self.stateless:
            if new := {uri, *more} - uris:
                uris |= new
                try:
                    await self._listening.update()
                except BaseException:
                    uris -= new
                    raise
            return
        await self._connection.listen()
        for each in (uri, *more):
            await self._connection.exchange("resources/subscribe", {"uri": each}, {})
            uris.add(each)

    async def unsubscribe(self, uri: str) -> None:
        """Stop receiving changes of a resource.

        Raises:
            ProtocolError: the server refused.
        """
        self._connection.uris.discard(uri)
        if self.stateless:
            await self._listening.update()
        else:
            await self._connection.exchange("resources/unsubscribe", {"uri": uri}, {})

    async def _answers(self, result: Message, ask: QuestionHandler | None) -> Message:
        """Return the members that repeat a request with the answers to the questions in its result."""
        questions = result.get("inputRequests", {})
        if not isinstance(questions, dict) or len(questions) > self._limits.questions:
            raise TransportError(f"{self._label} asks more than {self._limits.questions} questions at once")
        more: Message = {"requestState": result["requestState"]} if "requestState" in result else {}
        if questions:
            more["inputResponses"] = {
                key: await self._answer(key, question, ask) for key, question in questions.items()
            }
        return more

    async def _answer(self, key: str, question: Any, ask: QuestionHandler | None) -> Message:
        question = question if isinstance(question, dict) else {}
        method, params = question.get("method"), question.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            raise TransportError(f"{self._label} sent an invalid question")
        return await self._connection.incoming.answer(Asked(method, params, key), ask)

    async def _items(self, method: str, member: str) -> list[Message]:
        """Return the items of all pages of a list.

        Raises:
            TransportError: the list is invalid or too long.
        """
        items: list[Message] = []
        params: Message = {}
        for _ in range(self._limits.list_pages):
            page = await self.request(method, params)
            listed, cursor = page.get(member), page.get("nextCursor")
            if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
                raise TransportError(
                    f"{self._label} sent an invalid response to {method}: {member} must be a list of objects"
                )
            items += listed
            if len(items) > self._limits.list_items:
                raise TransportError(f"{self._label} lists more than {self._limits.list_items} {member}")
            if cursor is None:
                return items
            if params.get("cursor") == cursor:
                break
            params = {"cursor": cursor}
        raise TransportError(
            f"{self._label} sends more than {self._limits.list_pages} pages of {member}, or repeats one"
        )


def _endpoint(url: str) -> Endpoint:
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(
            "a string must be a URL such as 'https://example.com/mcp'; "
            "for a command, use Program('python', ['server.py'])"
        )
    return Endpoint(url)


@cache
def _own_version() -> str:
    from importlib_metadata import PackageNotFoundError, version

    try:
        return version("pegboard")
    except PackageNotFoundError:  # it runs from its source
        return "0"
