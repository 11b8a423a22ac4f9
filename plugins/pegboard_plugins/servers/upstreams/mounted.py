"""The items of a mounted server as definitions. Members of the server's objects and results pass unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pegboard import Completion, Context, ToolDefinitionError
from pegboard.plugin import Bus, PromptDefinition, ProtocolError, ResourceDefinition, ToolDefinition
from pegboard.types import RawResult, ToolkitInfo
from pegboard_plugins.servers.upstreams.resource_updates import ResourceUpdates
from pegboard_plugins.servers.upstreams.served_items import MountedDefinition
from pegboard_plugins.servers.upstreams.server_log import MessageLimit
from pegboard_plugins.servers.upstreams.upstream_calls import UpstreamCalls, UpstreamRequest
from pegboard_plugins.servers.upstreams.upstream_lists import RawKind
from pegboard_plugins.support.jsonrpc import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from pegboard_client import Client
    from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer

MAX_NAME_CHARACTERS = 64
"""The maximum length of a name on the wire."""
_DIGEST_CHARACTERS = 8
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]")
_VARIABLES = re.compile(r"\{[+#./;?&]?([^{}]+)\}")
_MODIFIERS = re.compile(r"\*$|:[0-9]+$")
_LOG_LEVELS = {"debug": 10, "info": 20, "notice": 20, "warning": 30}
MAX_COMPLETION_VALUES = 100
"""The maximum number of values of a completion in the specification."""
MAX_PASSED_CHARACTERS = 65_536
"""The maximum length of a log message that a client receives."""


def wire_form(name: str) -> str:
    """Return a name with the characters and the length that clients accept.

    A changed name ends with a digest of the original name, so that different names stay different, whatever else the
    server lists.
    """
    if name and len(name) <= MAX_NAME_CHARACTERS and not _OTHER_CHARACTERS.search(name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
    plain = _OTHER_CHARACTERS.sub("_", name)[: MAX_NAME_CHARACTERS - _DIGEST_CHARACTERS - 1]
    return f"{plain}_{digest}"


class Mounted:
    """The items of one mounted server.

    Args:
        server: the server.
        bus: the bus of the plugin.
    """

    def __init__(self, server: UpstreamServer, bus: Bus) -> None:
        self._server = server
        self._calls = UpstreamCalls(server, bus)
        self._updates = ResourceUpdates(server)
        self._to_clients = MessageLimit()
        self._toolkit = ToolkitInfo(server.name, prefix=False)

    def definition(self, kind: RawKind, raw: Mapping[str, Any], place: int | None = None) -> MountedDefinition:
        """Return the definition of an item of the server.

        Args:
            kind: the kind of the item.
            raw: the MCP object that the server lists.
            place: its position in the list of the server; None for the order of names.

        Raises:
            ToolDefinitionError: the item cannot be served.
        """
        definition: MountedDefinition
        if kind == "tools":
            definition = self._tool(raw)
        elif kind == "prompts":
            definition = self._prompt(raw)
        else:
            definition = self._resource(raw, is_template=kind == "templates")
        return definition._replace(place=place)

    async def close(self) -> None:
        """End calls that wait for answers, and subscriptions."""
        self._calls.close()
        await self._updates.close()

    # --- definitions

    def _tool(self, raw: Mapping[str, Any]) -> ToolDefinition:
        name = _text(raw, "name")
        raw_annotations = raw.get("annotations")
        hints = raw_annotations if isinstance(raw_annotations, Mapping) else {}
        repeatable = hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True

        async def call(arguments: dict[str, Any], context: Context) -> RawResult:
            params = {"name": name, "arguments": arguments}
            return RawResult(await self._calls.result(context, UpstreamRequest("tools/call", params, repeatable)))

        return ToolDefinition(
            call,
            name=wire_form(self._server.config.shown_name(self._server.name, name)),
            toolkit=self._toolkit,
            raw=raw,
        )

    def _resource(self, raw: Mapping[str, Any], *, is_template: bool) -> ResourceDefinition:
        shown = _text(raw, "uriTemplate" if is_template else "uri")

        async def read(uri: str, context: Context) -> RawResult:
            result = await self._calls.result(context, UpstreamRequest("resources/read", {"uri": uri}))
            # the host may serve a resource to some callers only
            return RawResult({**result, "cacheScope": "private"} if "cacheScope" in result else result)

        names = _variables(shown) if is_template else []
        reference = {"type": "ref/resource", "uri": shown}
        return ResourceDefinition(
            shown,
            read,
            name=None if isinstance(raw.get("name"), str) else shown,
            completions={name: self._completion(reference, name) for name in names},
            toolkit=self._toolkit,
            raw=raw,
            subscribed=self._updates.follow,
        )

    def _prompt(self, raw: Mapping[str, Any]) -> PromptDefinition:
        name = _text(raw, "name")

        async def get(arguments: dict[str, str], context: Context) -> RawResult:
            request = UpstreamRequest("prompts/get", {"name": name, "arguments": arguments})
            return RawResult(await self._calls.result(context, request))

        listed = raw.get("arguments")
        names = [argument["name"] for argument in listed if _has_name(argument)] if isinstance(listed, list) else []
        reference = {"type": "ref/prompt", "name": name}
        return PromptDefinition(
            get,
            name=wire_form(self._server.config.shown_name(self._server.name, name)),
            completions={argument: self._completion(reference, argument) for argument in names},
            toolkit=self._toolkit,
            raw=raw,
        )

    def _completion(self, reference: Mapping[str, Any], argument: str) -> Any:
        async def complete(value: str, context: Context) -> Completion | RawResult:
            params: dict[str, Any] = {"ref": reference, "argument": {"name": argument, "value": value}}
            if context.arguments:
                params["context"] = {"arguments": dict(context.arguments)}
            try:
                result = await self._calls.result(context, UpstreamRequest("completion/complete", params))
            except ProtocolError as error:
                if error.code != METHOD_NOT_FOUND:
                    raise
                return Completion(())  # the server completes nothing
            return _completion(result)

        return complete

    # --- notifications

    def receive(self, client: Client, method: str, params: dict[str, Any]) -> None:
        """Handle an update of a resource or a log message of the server."""
        if method == "notifications/resources/updated":
            self._updates.updated(params.get("uri"))
        elif method == "notifications/message":
            self._log(client, params)

    def _log(self, client: Client, params: dict[str, Any]) -> None:
        """Log a message of the server. Pass it to the only running call, at a limited rate."""
        level, text = params.get("level"), str(params.get("data"))
        if not isinstance(level, str):
            return
        self._server.log.write(_LOG_LEVELS.get(level, 40), "", text)
        if len(text) > MAX_PASSED_CHARACTERS or (context := self._calls.running(client)) is None:
            return
        if self._to_clients.allows():
            passed = {name: value for name, value in params.items() if name != "_meta"}  # it is of this connection
            context.send_notification("notifications/message", {**passed, "logger": context.name})


def _text(raw: Mapping[str, Any], member: str) -> str:
    value = raw.get(member)
    if not isinstance(value, str) or not value:
        raise ToolDefinitionError(f"its {member} must be a string")
    return value


def _has_name(argument: object) -> bool:
    return isinstance(argument, Mapping) and isinstance(argument.get("name"), str)


def _variables(template: str) -> list[str]:
    """Return the names of the variables of a URI template (RFC 6570)."""
    lists = [group.split(",") for group in _VARIABLES.findall(template)]
    return list(dict.fromkeys(_MODIFIERS.sub("", name) for names in lists for name in names))


def _completion(result: Mapping[str, Any]) -> Completion | RawResult:
    """Return a valid result unchanged. Of an invalid result, return the values that are strings."""
    completion = result.get("completion")
    values = completion.get("values") if isinstance(completion, Mapping) else None
    listed = values if isinstance(values, list) else []
    texts = [text for text in listed[:MAX_COMPLETION_VALUES] if isinstance(text, str)]
    return RawResult(result) if values == texts else Completion(texts, has_more=len(listed) > len(texts))
