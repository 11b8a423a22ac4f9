"""Requests of 2026-07-28 over Streamable HTTP: each is one POST without a session."""

from __future__ import annotations

import asyncio
import logging
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pegboard_client.client_errors import ConnectionLostError
from pegboard_client.http_endpoint import HttpEndpoint, is_stream
from pegboard_client.http_stream import StreamReading
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming

logger = logging.getLogger("pegboard.client")


class StatelessHttp:
    """Requests without a session.

    Args:
        endpoint: the endpoint.
        incoming: handles the messages of the server.
        revision: the revision that each request names.

    Attributes:
        closed: completed with the reason when the client has closed the channel, or a stream has not reached the server
            several times.
    """

    def __init__(self, endpoint: HttpEndpoint, incoming: Incoming, revision: str) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._revision = revision
        self._endpoint = endpoint
        self._incoming = incoming
        self._mirrored = MirroredHeaders()

    async def exchange(self, flight: InFlight) -> Message:
        """Send a request and return its response. If the wait is cancelled, close the response.

        Raises:
            TransportError: the server cannot be reached, or the connection was lost.
        """
        headers = {
            "MCP-Protocol-Version": self._revision,
            "Mcp-Method": flight.method,
            **self._mirrored.of(flight.method, flight.params),
        }
        async with self._endpoint.open(
            "POST", headers, flight.encoded(), flight, may_log_in=flight.may_log_in
        ) as reply:
            if is_stream(reply):
                reading = StreamReading(self._incoming, self._endpoint.message_bytes, _drop)
                response = await reading.response_in(reply, flight)
                if response is None:
                    raise ConnectionLostError("the stream ended before the response")
            else:
                response = await self._endpoint.whole_message(reply, flight)
        if flight.method == "tools/list":
            self._mirrored.learn(response, begins="cursor" not in flight.params)
        return response

    def notify(self, method: str, params: Message) -> None:
        """Ignore a notification: the revision has none from clients over HTTP."""

    async def tell(self, method: str, params: Message) -> None:
        """Ignore a notification."""

    async def close(self) -> None:
        """Complete `closed`."""
        if not self.closed.done():
            self.closed.set_result("the client has closed the connection")


async def _drop(response: Message) -> None:
    """Drop a response: the revision has no requests from servers over HTTP."""


# --- Headers that repeat parts of a request, so that proxies need not read its body (2026-07-28, request metadata).

_Path: TypeAlias = tuple[str, ...]
_KEY = "x-mcp-header"
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")


class MirroredHeaders:
    """The headers of requests to one server."""

    def __init__(self) -> None:
        self._tools: dict[str, list[tuple[_Path, str]]] = {}
        self._listed: set[str] = set()

    def of(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers that repeat the parameters of a request."""
        member = _NAMED.get(method)
        if member is None:
            return {}
        name = params.get(member)
        if not isinstance(name, str):
            return {}
        headers = {"Mcp-Name": as_header_value(name)}
        if method == "tools/call":
            for path, header in self._tools.get(name, ()):
                value = _at(path, params.get("arguments"))
                if value is not None:
                    headers[f"Mcp-Param-{header}"] = as_header_value(_as_string(value))
        return headers

    def learn(self, response: Message, *, begins: bool) -> None:
        """Read the annotations of listed tools, and remove tools with invalid annotations from the list.

        Tools that are on no page of the list any more are forgotten.

        Args:
            response: a page of the list.
            begins: True for the first page.
        """
        if begins:
            self._listed = set()
        result = response.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if isinstance(tools, list):
            tools[:] = [tool for tool in tools if self._accepts(tool)]
        if isinstance(result, dict) and not result.get("nextCursor"):
            self._tools = {name: self._tools[name] for name in self._tools.keys() & self._listed}

    def _accepts(self, tool: Any) -> bool:
        if not isinstance(tool, dict) or not isinstance(name := tool.get("name"), str):
            return True
        schema = tool.get("inputSchema")
        marks = list(_annotations(schema, ()))
        if len(marks) != _occurrences(schema):
            complaint: str | None = "is not a property that is reachable by properties alone"
        else:
            complaint = _complaint(marks)
        if complaint is not None:
            logger.warning("the tool %.100r is left out: an %s of its schema %s", name, _KEY, complaint)
            return False
        self._tools.pop(name, None)
        if marks:
            self._listed.add(name)
            self._tools[name] = [(path, header) for path, header, _ in marks]
        return True


def as_header_value(text: str) -> str:
    """Return a string as the value of a header: as it is, or in base64."""
    if _PLAIN.fullmatch(text) and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _as_string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _at(path: _Path, value: Any) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str | int) else None


def _annotations(schema: Any, path: _Path) -> Iterator[tuple[_Path, Any, Any]]:
    """Yield the path, the header and the type of each annotated property."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict):
        for name, field in properties.items():
            if isinstance(field, dict):
                if _KEY in field:
                    yield (*path, name), field[_KEY], field.get("type")
                yield from _annotations(field, (*path, name))


def _occurrences(schema: Any) -> int:
    """Return the number of annotations in a schema. Do not count a property that has the same name."""
    count = 0
    rest = [(schema, False)]
    while rest:
        value, names_properties = rest.pop()
        if isinstance(value, dict):
            count += _KEY in value and not names_properties
            rest += [(member, key == "properties" and not names_properties) for key, member in value.items()]
        elif isinstance(value, list):
            rest += [(item, False) for item in value]
    return count


def _complaint(marks: list[tuple[_Path, Any, Any]]) -> str | None:
    seen: set[str] = set()
    for _, header, kind in marks:
        if not isinstance(header, str) or not _TOKEN.fullmatch(header):
            return "is not a name of a header"
        if kind not in ("string", "integer", "boolean"):
            return "has a type other than string, integer or boolean"
        if header.lower() in seen:
            return "occurs twice"
        seen.add(header.lower())
    return None
