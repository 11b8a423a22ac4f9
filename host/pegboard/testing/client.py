"""The client of a test: speaks MCP, as bytes, to a host in the same process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

from pegboard.host import Host
from pegboard.loading.plugins import LoadProblem
from pegboard.names import wire_name
from pegboard.testing.answers import Asked
from pegboard.testing.client_connection import Message, Traffic
from pegboard.testing.client_results import CallResult, PromptGiven, ReadResult
from pegboard.testing.in_memory_host import Observed
from pegboard.testing.protocol_client import ProtocolClient
from pegboard.testing.replay import Replay
from pegboard.testing.snapshots import Definitions
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Completion


class Logged(NamedTuple):
    """A log message.

    Attributes:
        level: such as "info".
        data: what was logged.
        logger: by whom, None when it does not say.
    """

    level: str
    data: Any
    logger: str | None = None


class Reported(NamedTuple):
    """A report of progress."""

    progress: float
    total: float | None = None
    message: str | None = None


class TestClient:
    """Speaks MCP to a host in memory. `pegboard.testing.connect` makes one.

    Attributes:
        host: the host; what it is made of is at hand, for what no client sees.
    """

    __test__ = False  # a name that pytest would take for tests

    def __init__(self, host: Host, client: ProtocolClient, observed: Observed, repeats: Collection[str] = ()) -> None:
        self.host = host
        self._repeats = repeats
        self._client = client
        self._observed = observed

    # --- tools ---

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> CallResult:
        """Call a tool and answer what it asks.

        Args:
            name: its name on the wire, or its own name where one tool alone has it.
            arguments: its arguments.
            more: more of them.

        Raises:
            ProtocolError: the host refused the request, as for a tool that is not there.
            LookupError: several toolkits have a tool of that name.
            RepeatedEffects: it asked, and did again what it had done before (2026-07-28).
            AssertionError: it asked what the test has no answer to.
        """
        wire = self._wire_name("tools", name)
        params = {"name": wire, "arguments": {**(arguments or {}), **more}}
        bound = self.host.assembly.tools.get(wire)
        asks = bound is not None and bound.function.mode == "async" and bound.signature.context_parameter is not None
        request_id, result = await self._client.finish("tools/call", params, self._replay(wire) if asks else None)
        return CallResult(wire, result, self._observed.take(request_id))

    async def tools(self) -> list[Message]:
        """The tools that the client is offered, in the order of the list."""
        return await self._list("tools/list", "tools")

    async def tool(self, name: str) -> Message:
        """What the client knows of a tool.

        Raises:
            LookupError: it is not offered.
        """
        wire = self._wire_name("tools", name)
        for one in await self.tools():
            if one["name"] == wire:
                return one
        raise LookupError(f"the client is offered no tool {name!r}")

    # --- resources and prompts ---

    async def resources(self) -> list[Message]:
        """The resources that the client is offered."""
        return await self._list("resources/list", "resources")

    async def templates(self) -> list[Message]:
        """The templates of resources."""
        return await self._list("resources/templates/list", "resourceTemplates")

    async def read(self, uri: str) -> ReadResult:
        """Read a resource and answer what it asks.

        Raises:
            ProtocolError: the host refused, as for one that is not there.
        """
        return ReadResult((await self._client.finish("resources/read", {"uri": uri}, self._replay(uri)))[1])

    async def prompts(self) -> list[Message]:
        """The prompts that the client is offered."""
        return await self._list("prompts/list", "prompts")

    async def prompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **more: str) -> PromptGiven:
        """Get a prompt and answer what it asks.

        Raises:
            ProtocolError: the host refused, as for one that is not there.
        """
        wire = self._wire_name("prompts", name)
        params = {"name": wire, "arguments": {**(arguments or {}), **more}}
        return PromptGiven((await self._client.finish("prompts/get", params, self._replay(wire)))[1])

    async def complete(self, of: str, argument: str, value: str = "", context: Mapping[str, str] = EMPTY) -> Completion:
        """What an argument may be, as far as it has been typed.

        Args:
            of: the prompt's name, or the template's URI.
            argument: the argument's name.
            value: what has been typed.
            context: the arguments that are there already.
        """
        if "://" in of:
            ref = {"type": "ref/resource", "uri": of}
        else:
            ref = {"type": "ref/prompt", "name": self._wire_name("prompts", of)}
        params: Message = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": dict(context)}
        found = (await self.request("completion/complete", params))["completion"]
        return Completion(tuple(found["values"]), found.get("total"), found.get("hasMore", False))

    async def definitions(self) -> Definitions:
        """All that the client is told of tools, resources, templates and prompts, for a snapshot."""
        return {
            "tools": {one["name"]: one for one in await self.tools()},
            "resources": {one["uri"]: one for one in await self._offered("resources")},
            "templates": {one["uriTemplate"]: one for one in await self._offered("templates")},
            "prompts": {one["name"]: one for one in await self._offered("prompts")},
        }

    # --- what the host asks and tells ---

    def answer(self, *answers: Any) -> None:
        """Prepare answers: one function for every question, or fixed ones in the order of the questions.

        Of a form an answer is a mapping of its fields, or the value of its only one; of a page to open, and of a form
        without fields, True or False; of sampling a text; of roots a list of URIs. `accept`, `decline`, `cancel` and
        `reply` say more, and `Answer` says it all. A function is given an `Asked`.
        """
        self._client.answers.prepare(*answers)

    @property
    def asked(self) -> list[Asked]:
        """Every question so far."""
        return self._client.answers.asked

    @property
    def notifications(self) -> list[Message]:
        """Every notification of the host so far, as it came."""
        return self._client.notifications

    @property
    def logs(self) -> list[Logged]:
        """The log messages so far."""
        told = [one["params"] for one in self._client.notifications if one["method"] == "notifications/message"]
        return [Logged(params["level"], params["data"], params.get("logger")) for params in told]

    @property
    def progress(self) -> list[Reported]:
        """The reports of progress so far."""
        told = [one["params"] for one in self._client.notifications if one["method"] == "notifications/progress"]
        return [Reported(params["progress"], params.get("total"), params.get("message")) for params in told]

    async def heard(self, method: str, matches: Callable[[Message], bool] = bool) -> Message:
        """Wait for a notification, or find one that came before.

        Args:
            method: its method.
            matches: given the notification, whether it is the one.

        Raises:
            TimeoutError: it does not come.
        """
        return await self._client.heard(lambda one: one["method"] == method and matches(one), method)

    async def listen(self, *uris: str) -> None:
        """Hear of changes of lists, and of these resources, from now on. Sessions hear of lists in any case."""
        await self._client.listen(uris)

    # --- beneath ---

    @property
    def revision(self) -> str:
        """The revision of MCP that it speaks."""
        return self._client.revision

    @property
    def meta(self) -> dict[str, Any]:
        """What is added to the `_meta` of each request; yours to change."""
        return self._client.meta

    @property
    def problems(self) -> tuple[LoadProblem, ...]:
        """What the host found wrong; with `strict`, warnings alone."""
        return self.host.problems

    @property
    def traffic(self) -> list[Traffic]:
        """Every message on the wire, as bytes, and who sent it."""
        return self._client.connection.traffic

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """Send one request, once, and give its result as it comes.

        Raises:
            ProtocolError: the host refused.
            TimeoutError: no answer came.
        """
        return await self._client.request(method, params or {})

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self._client.notify(method, params or {})

    async def _offered(self, kind: Literal["resources", "templates", "prompts"]) -> list[Message]:
        """A list, empty where the host has nothing of the kind and so no such method."""
        if not self.host.offers("resources" if kind == "templates" else kind):
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
        """What watches the rounds of a call; None where there are none."""
        return Replay(name, self._observed, self._repeats) if self._client.modern else None

    def _wire_name(self, kind: Literal["tools", "prompts"], name: str) -> str:
        """The name on the wire of what a test calls by its own; the name itself where there is nothing like it."""
        served: Mapping[str, Any] = getattr(self.host.assembly, kind)
        if name in served:
            return name
        style = self.host.config.host.tool_names
        owners = {plugin.origin.name for plugin in self.host.report.plugins}
        found = sorted({wire_name(owner, name, style) for owner in owners} & served.keys())
        if len(found) > 1:
            raise LookupError(f"{name!r} may be any of: {', '.join(found)}")
        return found[0] if found else name
