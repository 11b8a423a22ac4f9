"""Calls over the worker protocol: requests with their headers, and the checks of responses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from benchmarks.http.answers import message_of
from benchmarks.messages import WrongAnswerError

PATH: Final = "/worker/tools/invoke"


class Invocations:
    """Requests to one server, in the form of the Arcade engine.

    Args:
        port: its port.
        authorization: the header `Authorization` of each request.
    """

    def __init__(self, port: int, authorization: str) -> None:
        self._head = (
            f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: benchmarks\r\nAccept: */*\r\n"
            f"Authorization: {authorization}\r\nContent-Type: application/json\r\n"
        )

    def calls(self, tool: str, first: int, count: int) -> list[bytes]:
        """Return calls of a tool that adds numbers, each with different numbers."""
        return [self._post(tool, number) for number in range(first, first + count)]

    def check(self, responses: Sequence[bytes], first: int) -> None:
        """Check that each call has one successful response, with the sum.

        Raises:
            WrongAnswerError: a response is missing or wrong.
        """
        sums = {}
        for raw in responses:
            message = json.loads(message_of(raw))
            if message["success"] is not True:
                raise WrongAnswerError(f"not a success: {raw[:300]!r}")
            sums[message["execution_id"]] = message["output"]["value"]
        if sums != {str(number): number + 7 for number in range(first, first + len(responses))}:
            raise WrongAnswerError("not each call has one answer with its sum")

    def _post(self, tool: str, number: int) -> bytes:
        message = {
            "run_id": "run",
            "execution_id": str(number),
            "created_at": "2026-11-21T00:00:00+00:00",
            "tool": {"name": tool, "toolkit": "Bench"},
            "inputs": {"a": number, "b": 7},
            "context": {"user_id": "ada"},
        }
        body = json.dumps(message, separators=(",", ":")).encode()
        return self._head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
