"""The requests of a client to one HTTP server in one era, with their headers and their session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from benchmarks.http.answers import Answer, message_of
from benchmarks.http.client import Connection
from benchmarks.messages import MODERN, additions, check_additions, handshake, request, result_of

PATH: Final = "/mcp"


class Conversation:
    """Requests of one era to one server. The constructor initializes a session, if the era has sessions.

    Args:
        connection: the connection for the initialization. Requests may use other connections.
        era: the era.
        authorization: the header `Authorization` of each request; "" for none.
    """

    def __init__(self, connection: Connection, era: str, authorization: str = "") -> None:
        self._era = era
        self._address = f"127.0.0.1:{connection.port}"
        self._authorization = f"Authorization: {authorization}\r\n" if authorization else ""
        self._session = ""
        if era != MODERN:
            initialize, initialized = handshake()
            answer = Answer.read(connection.exchange(self._post(initialize)))
            result_of(answer.message)
            self._session = f"Mcp-Session-Id: {answer.session}\r\n" if answer.session else ""
            message_of(connection.exchange(self._post(initialized)), 202)

    def request(self, request_id: int, method: str, params: dict[str, Any]) -> bytes:
        """Return a request."""
        return self._post(request(self._era, request_id, method, params), method, params.get("name"))

    def calls(self, tool: str, first: int, count: int) -> list[bytes]:
        """Return calls of a tool that adds numbers, each with different numbers."""
        messages = additions(self._era, tool, first, count)
        return [self._post(message, "tools/call", tool) for message in messages]

    def check(self, responses: Sequence[bytes], first: int) -> None:
        """Check that each call has one successful response, with the sum.

        Raises:
            WrongAnswerError: a response is missing or wrong.
        """
        check_additions([message_of(raw) for raw in responses], first, len(responses))

    def stream(self) -> bytes:
        """Return the request that opens the stream of a session."""
        return self._head("GET", "text/event-stream") + b"\r\n"

    def _post(self, line: bytes, method: str | None = None, name: str | None = None) -> bytes:
        body = line.rstrip(b"\n")
        head = self._head("POST", "application/json, text/event-stream")
        mirrored = ""
        if self._era == MODERN:
            mirrored = f"Mcp-Method: {method}\r\n" + (f"Mcp-Name: {name}\r\n" if name else "")
        return head + f"Content-Type: application/json\r\n{mirrored}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def _head(self, method: str, accept: str) -> bytes:
        return (
            f"{method} {PATH} HTTP/1.1\r\nHost: {self._address}\r\nUser-Agent: benchmarks\r\nAccept: {accept}\r\n"
            f"MCP-Protocol-Version: {self._era}\r\n{self._authorization}{self._session}"
        ).encode()
