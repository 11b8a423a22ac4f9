"""What a client of a test is given, with short ways to what a test wants of it. Plain data."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from pegboard.types.callers import EMPTY

Block = Mapping[str, Any]
"""One block of content, as MCP has it."""


class ToolFailed(AssertionError):
    """A test wanted the value of a call that failed; where the tool raised by accident, that is its cause.

    Attributes:
        result: what the call gave.
    """

    def __init__(self, result: CallResult) -> None:
        super().__init__(f"{result.name} failed: {result.text}")
        self.result = result


class CallError:
    """How a tool failed, for programs.

    Attributes:
        message: what the model is told.
        kind: the value of the `pegboard.ErrorKind`, "" where the result does not say.
        can_retry: whether the model may try again.
        status_code: the HTTP status of the service, None without one.
        retry_after_ms: how long to wait before, None when nobody says.
        error_id: finds the full story in the log, None when there is no more to tell.
        detail: all that the result says of it to programs.
        cause: what the function raised, where it was not on purpose.
    """

    def __init__(self, message: str, detail: Mapping[str, Any], cause: BaseException | None) -> None:
        self.message = message
        self.kind: str = detail.get("kind", "")
        self.can_retry: bool = detail.get("canRetry", False)
        self.status_code: int | None = detail.get("statusCode")
        self.retry_after_ms: int | None = detail.get("retryAfterMs")
        self.error_id: str | None = detail.get("errorId")
        self.detail = detail
        self.cause = cause

    def __repr__(self) -> str:
        return f"<CallError {self.kind} {self.message!r}>"


class CallResult:
    """What a call of a tool came to.

    Attributes:
        name: the tool's name on the wire.
        raw: the CallToolResult as it came.
        is_error: whether the call failed.
        content: its blocks of content.
        meta: its `_meta`.
    """

    def __init__(self, name: str, raw: Mapping[str, Any], cause: BaseException | None = None) -> None:
        self.name = name
        self.raw = raw
        self.is_error: bool = raw.get("isError", False)
        self.content: tuple[Block, ...] = tuple(raw.get("content", ()))
        self.meta: Mapping[str, Any] = raw.get("_meta", EMPTY)
        self._cause = cause

    @property
    def text(self) -> str:
        """All text of its content, block by block."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def structured(self) -> Any:
        """The structured content, None without.

        Raises:
            ToolFailed: the call failed.
        """
        if self.is_error:
            raise ToolFailed(self) from self._cause
        return self.raw.get("structuredContent")

    @property
    def value(self) -> Any:
        """What the tool returned, as JSON: the structured content, else the text, None for neither.

        Raises:
            ToolFailed: the call failed.
        """
        structured = self.structured
        if "structuredContent" in self.raw:
            return structured
        return self.text if self.content else None

    @property
    def error(self) -> CallError:
        """How it failed.

        Raises:
            AssertionError: it did not.
        """
        if not self.is_error:
            raise AssertionError(f"{self.name} was to fail, and gave {self.value!r}")
        return CallError(self.text, self.meta.get("pegboard/error", EMPTY), self._cause)

    def __repr__(self) -> str:
        return f"<CallResult {self.name} {'failed: ' if self.is_error else ''}{self.text!r}>"


class ReadResult:
    """What a resource holds.

    Attributes:
        raw: the ReadResourceResult as it came.
        contents: its parts.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.contents: tuple[Block, ...] = tuple(raw["contents"])

    @property
    def text(self) -> str:
        """The text of all parts, one after the other."""
        return "".join(part.get("text", "") for part in self.contents)

    @property
    def data(self) -> bytes:
        """The bytes of all parts, one after the other; of text, its UTF-8."""
        return b"".join(
            b64decode(part["blob"]) if "blob" in part else part.get("text", "").encode() for part in self.contents
        )

    def __repr__(self) -> str:
        return f"<ReadResult {[part['uri'] for part in self.contents]}>"


class PromptGiven:
    """The messages of a prompt.

    Attributes:
        raw: the GetPromptResult as it came.
        messages: each with its `role` and its block of `content`.
        description: what it says of itself.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.messages: tuple[Block, ...] = tuple(raw["messages"])
        self.description: str | None = raw.get("description")

    @property
    def text(self) -> str:
        """All text, message by message."""
        blocks = [message["content"] for message in self.messages]
        return "\n".join(block["text"] for block in blocks if block["type"] == "text")

    def __repr__(self) -> str:
        return f"<PromptGiven {self.text!r}>"
