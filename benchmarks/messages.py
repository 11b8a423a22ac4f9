"""The messages of a client in both eras, and the checks of responses. The module is independent of processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
ERAS: Final = (LEGACY, MODERN)

_CLIENT = {"name": "benchmarks", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": _CLIENT,
}


class WrongAnswerError(Exception):
    """The response of a server is wrong."""


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def request(era: str, request_id: int, method: str, params: dict[str, Any]) -> bytes:
    """Return a request of an era, with its line break."""
    if era == MODERN:
        params = {**params, "_meta": _META}
    return _line({"id": request_id, "method": method, "params": params})


def handshake() -> tuple[bytes, bytes]:
    """Return the request that opens a session, and the notification after its response."""
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}
    return _line({"id": 0, "method": "initialize", "params": params}), _line({"method": "notifications/initialized"})


def additions(era: str, tool: str, first: int, count: int) -> list[bytes]:
    """Return calls of a tool that adds numbers, each with different numbers."""
    return [
        request(era, number, "tools/call", {"name": tool, "arguments": {"a": number, "b": 7}})
        for number in range(first, first + count)
    ]


def check_additions(answers: Sequence[bytes], first: int, count: int) -> None:
    """Check that each call has one response, with the sum.

    Raises:
        WrongAnswerError: a response is missing or wrong.
    """
    missing = set(range(first, first + count))
    for line in answers:
        message = result_of(line)
        number, result = message["id"], message["result"]
        if number not in missing:
            raise WrongAnswerError(f"answered twice, or never asked: {line[:300]!r}")
        missing.discard(number)
        if result.get("isError") or result["content"][0]["text"] != str(number + 7):
            raise WrongAnswerError(f"not the sum: {line[:300]!r}")
    if missing:
        raise WrongAnswerError(f"{len(missing)} calls were not answered")


def result_of(line: bytes) -> dict[str, Any]:
    """Return a decoded response with a result.

    Raises:
        WrongAnswerError: the message is no such response.
    """
    message: dict[str, Any] = json.loads(line)
    if "result" not in message:
        raise WrongAnswerError(f"not a result: {line[:300]!r}")
    return message
