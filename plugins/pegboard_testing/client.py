"""The client of a test: exchanges MCP messages, as bytes, with a host in the same process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

from pegboard.host import Host
from pegboard.loading.plugins import LoadProblem
from pegboard.names import wire_name
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Completion
from pegboard_client.asked import Asked
from pegboard_client.in_flight import Message
from pegboard_testing.client_results import CallResult, PromptGiven, ReadResult
from pegboard_testing.in_memory_host import Observed
from pegboard_testing.protocol_client import ProtocolClient, Traffic
from pegboard_testing.replay import Replay
from pegboard_testing.snapshots import Definitions


class Logged(NamedTuple):
    """A log message.

    Attributes:
        level: its level, such as "info".
        data: its data.
        logger: the name of its logger, or None without one.
    """

    level: str
    data: Any
    logger: str | None = None


class Reported(NamedTuple):
    """A progress notification."""

    progress: float
    total: float | None = None
    message: str | None = None


class ClientRecords:
    """The messages that the client of a test has sent and received, and its answers.

    Attributes:
        host: the host, for state that clients cannot see.
    """

    def __init__(self, host: Host, client: ProtocolClient) -> None:
        self.host = host
        self._client = client

    def answer(self, *answers: Any) -> None:
        """Prepare answers: one function for every question, or fixed ones in the order of the questions.

        An answer to a form is a mapping of its fields, or the value of its only field. An answer to a page to open, or
        to a form without fields, is True or False. An answer to sampling is a string; to roots, a list of URIs.
        `accept`, `decline`, `cancel` and `reply` return other answers, and `Answer` any result. A function receives an
        `Asked`.
        """
        self._client.answers.prepare(*answers)

    @property
    def asked(self) -> list[Asked]:
        """Every question so far."""
        return self._client.answers.asked

    @property
    def notifications(self) -> list[Message]:
        """Every notification of the host so far, as it was received."""
        return self._client.notifications

    @property
    def logs(self) -> list[Logged]:
        """The log messages so far."""
        entries = [
            message["params"] for message in self._client.notifications if message["method"] == "notifications/message"
        ]
        return [Logged(params["level"], params["data"], params.get("logger")) for params in entries]

    @property
    def progress(self) -> list[Reported]:
        """The progress notifications so far."""
        entries = [
            message["params"] for message in self._client.notifications if message["method"] == "notifications/progress"
        ]
        return [Reported(params["progress"], params.get("total"), params.get("message")) for params in entries]

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
        return self.host.problems

    @property
    def traffic(self) -> list[Traffic]:
        """Every message on the wire, as bytes, and who sent it."""
        return self._client.stream.traffic

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self._client.notify(method, params or {})


class TestClient(ClientRecords):
    """An MCP client of a host in memory. `pegboard_testing.connect` makes it."""

    __test__ = False  # pytest would collect it by its name

    def __init__(self, host: Host, client: ProtocolClient, observed: Observed, repeats: Collection[str] = ()) -> None:
        super().__init__(host, client)
        self._repeats = repeats
        self._observed = observed

    # --- tools ---

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> CallResult:
        """Call a tool and answer its questions.

        Args:
            name: its name on the wire, or its own name if only one tool has it.
            arguments: its arguments.
            more: more arguments.

        Raises:
            ProtocolError: the host rejected the request, for example because the tool does not exist.
            LookupError: several toolkits have a tool of that name.
            RepeatedEffects: the tool repeated an effect when it ran again with an answer (2026-07-28).
            AssertionError: the test has no answer to a question.
        """
        wire = self._wire_name("tools", name)
        params = {"name": wire, "arguments": {**(arguments or {}), **more}}
        bound = self.host.assembly.tools.get(wire)
        asks = bound is not None and not bound.function.is_sync and bound.signature.context_parameter is not None
        request_id, result = await self._client.finish("tools/call", params, self._replay(wire) if asks else None)
        schema = None if bound is None else bound.tool.output_schema
        return CallResult(wire, result, self._observed.take(request_id), schema, self.revision)

    async def tools(self) -> list[Message]:
        """Return the tools that the client can list, in the order of the list."""
        return await self._list("tools/list", "tools")

    async def tool(self, name: str) -> Message:
        """Return the definition of a tool.

        Raises:
            LookupError: the client cannot list the tool.
        """
        wire = self._wire_name("tools", name)
        for tool in await self.tools():
            if tool["name"] == wire:
                return tool
        raise LookupError(f"the client cannot list a tool {name!r}")

    # --- resources and prompts ---

    async def resources(self) -> list[Message]:
        """Return the resources that the client can list."""
        return await self._list("resources/list", "resources")

    async def templates(self) -> list[Message]:
        """Return the resource templates that the client can list."""
        return await self._list("resources/templates/list", "resourceTemplates")

    async def read(self, uri: str) -> ReadResult:
        """Read a resource and answer its questions.

        Raises:
            ProtocolError: the host rejected the request, for example because the resource does not exist.
        """
        return ReadResult((await self._client.finish("resources/read", {"uri": uri}, self._replay(uri)))[1])

    async def prompts(self) -> list[Message]:
        """Return the prompts that the client can list."""
        return await self._list("prompts/list", "prompts")

    async def prompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **more: str) -> PromptGiven:
        """Get a prompt and answer its questions.

        Raises:
            ProtocolError: the host rejected the request, for example because the prompt does not exist.
        """
        wire = self._wire_name("prompts", name)
        params = {"name": wire, "arguments": {**(arguments or {}), **more}}
        return PromptGiven((await self._client.finish("prompts/get", params, self._replay(wire)))[1])

    async def complete(self, of: str, argument: str, value: str = "", context: Mapping[str, str] = EMPTY) -> Completion:
        """Return the completions of an argument.

        Args:
            of: the name of the prompt, or the URI of the resource template.
            argument: the name of the argument.
            value: the value so far.
            context: the arguments that are already set.
        """
        if "://" in of:
            ref = {"type": "ref/resource", "uri": of}
        else:
            ref = {"type": "ref/prompt", "name": self._wire_name("prompts", of)}
        params: Message = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": dict(context)}
        completion = (await self.request("completion/complete", params))["completion"]
        return Completion(tuple(completion["values"]), completion.get("total"), completion.get("hasMore", False))

    async def definitions(self) -> Definitions:
        """Return the definitions of all tools, resources, templates and prompts, for a snapshot."""
        return {
            "tools": {tool["name"]: tool for tool in await self.tools()},
            "resources": {resource["uri"]: resource for resource in await self._offered("resources")},
            "templates": {template["uriTemplate"]: template for template in await self._offered("templates")},
            "prompts": {prompt["name"]: prompt for prompt in await self._offered("prompts")},
        }

    # --- notifications and requests ---

    async def heard(self, method: str, matches: Callable[[Message], bool] = bool) -> Message:
        """Return a matching notification that was received, or wait for it.

        Args:
            method: its method.
            matches: returns True for the notification.

        Raises:
            TimeoutError: the notification did not arrive.
        """
        return await self._client.heard(lambda message: message["method"] == method and matches(message), method)

    async def listen(self, *uris: str) -> None:
        """Subscribe to changes of lists and of these resources. Sessions always receive changes of lists."""
        await self._client.listen(uris)

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """Send one request and return its result as it was received.

        Raises:
            ProtocolError: the host rejected the request.
            TimeoutError: no response arrived.
        """
        return await self._client.request(method, params or {})

    async def _offered(self, kind: Literal["resources", "templates", "prompts"]) -> list[Message]:
        """Return the items of a list method, or an empty list if the host does not have the method."""
        if not self.host.for_protocols.offers("resources" if kind == "templates" else kind):
            return []
        return await {"resources": self.resources, "templates": self.templates, "prompts": self.prompts}[kind]()

    async def _list(self, method: str, member: str) -> list[Message]:
        items: list[Message] = []
        params: Message = {}
        while True:
            page = await self.request(method, params)
            items += page[member]
            if "nextCursor" not in page:
                return items
            params = {"cursor": page["nextCursor"]}

    def _replay(self, name: str) -> Replay | None:
        """Return the check of repeated effects, or None for a revision with sessions."""
        return Replay(name, self._observed, self._repeats) if self._client.modern else None

    def _wire_name(self, kind: Literal["tools", "prompts"], name: str) -> str:
        """Return the name on the wire of a tool or prompt. Return an unknown name unchanged."""
        served: Mapping[str, Any] = getattr(self.host.assembly, kind)
        if name in served:
            return name
        style = self.host.config.host.tool_names
        owners = {plugin.origin.name for plugin in self.host.report.plugins}
        matches = sorted({wire_name(owner, name, style) for owner in owners} & served.keys())
        if len(matches) > 1:
            raise LookupError(f"{name!r} is ambiguous: {', '.join(matches)}")
        return matches[0] if matches else name
