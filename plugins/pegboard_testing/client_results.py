"""Results as a test's client receives them, with shortcuts to their content."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from pegboard.types.callers import EMPTY

Block = Mapping[str, Any]
"""One block of content, as in MCP."""


class ToolFailed(AssertionError):
    """A test read the value of a failed call. An unexpected exception of the tool is its cause.

    Attributes:
        result: the result of the call.
    """

    def __init__(self, result: CallResult) -> None:
        super().__init__(f"{result.name} failed: {result.text}")
        self.result = result


class CallError:
    """The error of a failed call, for programs.

    Attributes:
        message: the message to the model.
        kind: the value of the `pegboard.ErrorKind`, or "" if the result has none.
        can_retry: True if the model may try again.
        status_code: the HTTP status of the service, or None without one.
        retry_after_ms: how long to wait before a retry, None if unknown.
        error_id: the id of the entry in the log, or None without an entry.
        detail: all fields of the result about the error.
        cause: the exception of the function, if it was unexpected.
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
    """The result of a tool call.

    Attributes:
        name: the tool's name on the wire.
        raw: the CallToolResult as it was received.
        is_error: True if the call failed.
        content: its blocks of content.
        meta: its `_meta`.
    """

    def __init__(
        self,
        name: str,
        raw: Mapping[str, Any],
        cause: BaseException | None = None,
        output_schema: Mapping[str, Any] | None = None,
        revision: str = "",
    ) -> None:
        self.name = name
        self.raw = raw
        self.is_error: bool = raw.get("isError", False)
        self.content: tuple[Block, ...] = tuple(raw.get("content", ()))
        self.meta: Mapping[str, Any] = raw.get("_meta", EMPTY)
        self._cause = cause
        self._output_schema = output_schema
        self._revision = revision

    @property
    def text(self) -> str:
        """All text of its content, block by block."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def structured(self) -> Any:
        """The structured content, or None if the result has none.

        Raises:
            ToolFailed: the call failed.
        """
        if self.is_error:
            raise ToolFailed(self) from self._cause
        return self.raw.get("structuredContent")

    @property
    def value(self) -> Any:
        """The return value of the tool as JSON, the same in every revision; None without content.

        Raises:
            ToolFailed: the call failed.
        """
        structured, schema = self.structured, self._output_schema
        is_object = schema is None or schema.get("type") == "object"
        if "structuredContent" in self.raw:
            # sessions send values that are not objects as the member of an object
            return structured if is_object or self._revision >= "2026-07-28" else structured["result"]
        if not self.content:
            return None
        return self.text if schema is None or schema.get("type") == "string" else _read(self.text)

    @property
    def error(self) -> CallError:
        """The error of the call.

        Raises:
            AssertionError: the call succeeded.
        """
        if not self.is_error:
            raise AssertionError(f"{self.name} succeeded and returned {self.value!r}, but the test expects an error")
        return CallError(self.text, self.meta.get("pegboard/error", EMPTY), self._cause)

    def __repr__(self) -> str:
        return f"<CallResult {self.name} {'failed: ' if self.is_error else ''}{self.text!r}>"


def _read(text: str) -> Any:
    """Return the JSON value that a text expresses, or else the text. Early revisions send every value as text."""
    try:
        return from_json(text)
    except ValueError:
        return text


class ReadResult:
    """The contents of a resource.

    Attributes:
        raw: the ReadResourceResult as it was received.
        contents: its parts.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.contents: tuple[Block, ...] = tuple(raw["contents"])

    @property
    def text(self) -> str:
        """The text of all parts."""
        return "".join(part.get("text", "") for part in self.contents)

    @property
    def data(self) -> bytes:
        """The bytes of all parts; text as UTF-8."""
        return b"".join(
            b64decode(part["blob"]) if "blob" in part else part.get("text", "").encode() for part in self.contents
        )

    def __repr__(self) -> str:
        return f"<ReadResult {[part['uri'] for part in self.contents]}>"


class PromptGiven:
    """The messages of a prompt.

    Attributes:
        raw: the GetPromptResult as it was received.
        messages: the messages, each with `role` and `content`.
        description: the description of the prompt.
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
