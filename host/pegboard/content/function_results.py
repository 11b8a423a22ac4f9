"""The conversion of functions' results to results of tools, prompts and resources, independent of the revision."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from pegboard.content.rules import (
    ContentError,
    check_contents,
    check_meta,
    check_role,
    check_string,
    checked,
    is_block,
    members,
    of_object,
)
from pegboard.errors import ToolOutputError
from pegboard.types.calls import (
    Outcome,
    PromptMessage,
    PromptResult,
    RawResult,
    ResourceContents,
    ResourceResult,
    ToolResult,
)
from pegboard.types.content import AudioContent, Content, EmbeddedResource, ImageContent, TextContent
from pegboard.wire.codec import encode, json_value, with_base64


def tool_result(value: object, plain: Callable[[Any], Any], *, is_free: bool) -> ToolResult | None:
    """Return the result of a tool that returned content or an MCP CallToolResult, or None for other values.

    Args:
        value: the value that the tool returned.
        plain: converts a value to JSON and checks it against the tool's declared result type.
        is_free: True if the tool declares no result type.

    Raises:
        ToolOutputError: the content is invalid, or replaces the declared result.
    """
    try:
        result = _tool_result(value, is_free=is_free)
    except ContentError as error:
        raise ToolOutputError("The tool returned content that cannot be sent.", str(error)) from None
    if result is None or is_free:
        return result and result._replace(value=plain(result.value))
    if result.structured or (isinstance(value, ToolResult) and value.value is not None):
        return result._replace(value=plain(result.value), structured=True)
    if result.is_error:
        return result
    if type(value) is dict:
        return None
    advice = "annotate the result as content, `list[str | ImageContent]` for example, or return a ToolResult"
    raise ToolOutputError("The tool returned content in place of its declared result.", advice)


def _tool_result(value: object, *, is_free: bool) -> ToolResult | None:
    if isinstance(value, ToolResult):
        content = None if value.content is None else tuple(map(checked, _several(value.content, "content")))
        check_meta(value.meta)
        return value._replace(content=content, is_error=bool(value.is_error))
    if type(value) is not dict and is_block(value):
        return ToolResult(content=(checked(value),))
    if isinstance(value, list | tuple):
        return ToolResult(content=tuple(map(_block, value)))
    if type(value) is not dict:
        return None
    if members := [member for member in value.values() if type(member) is not dict and is_block(member)]:
        rest = {name: member for name, member in value.items() if type(member) is dict or not is_block(member)}
        text = (_text(rest),) if rest else ()
        return ToolResult(rest, structured=not is_free, content=(*text, *map(checked, members)))
    if not value.keys() <= {"content", "structuredContent", "isError", "_meta"}:
        return None
    content, is_error = value.get("content"), value.get("isError", False)
    if type(content) is not list or not all(is_block(item) for item in content):
        return None
    if not isinstance(is_error, bool):
        raise ContentError(f"isError: must be true or false, not {is_error!r}")
    check_meta(value.get("_meta"))
    structured = "structuredContent" in value
    blocks = tuple(map(checked, content))
    return ToolResult(value.get("structuredContent"), structured, blocks, is_error, value.get("_meta"))


def _block(item: Any) -> Content:
    """Return an item of a list as a content block. Items that are not content become text."""
    return checked(item) if isinstance(item, str) or is_block(item) else _text(item)


def _text(value: object) -> TextContent:
    """Return a value as text: JSON, without quotes around a string such as bytes in base64."""
    try:
        plain = json_value(value)
        return TextContent(plain if isinstance(plain, str) else encode(plain).decode())
    except (TypeError, ValueError) as error:
        raise ContentError(f"JSON cannot express {type(value).__name__}: {json_problem(error)}") from None


def json_problem(error: Exception) -> str:
    """Return why JSON cannot express a value, for the log."""
    if "pegboard.media." not in str(error):
        return str(error)
    return "it contains a file inside another value. Return the file as an item of a list or a member of a dict"


def prompt_result(value: object, description: str | None) -> PromptResult:
    """Convert the result of a prompt's function to messages.

    Raises:
        ContentError: a message is invalid.
    """
    if isinstance(value, PromptResult):
        check_meta(value.meta)
        check_string(value.description, "description", optional=True)
        messages = tuple(map(_message, _several(value.messages, "messages")))
        return PromptResult(messages, value.description or description, value.meta)
    if not isinstance(value, list | tuple) or isinstance(value, PromptMessage) or is_block(value):
        value = (value,)
    return PromptResult(tuple(map(_message, value)), description)


def _message(item: object) -> PromptMessage:
    if type(item) is dict and "role" in item:
        item = PromptMessage(**members(item, "message", {"role": "role", "content": "content"}, {}))
    if not isinstance(item, PromptMessage):
        return PromptMessage(item if isinstance(item, str) else checked(item))
    check_role(item.role)
    return item if isinstance(item.content, str) else item._replace(content=checked(item.content))


def resource_result(value: object, uri: str, mime_type: str | None) -> ResourceResult:
    """Convert the result of a resource's function to resource contents.

    Args:
        value: the value that the function returned.
        uri: the URI that was read.
        mime_type: the declared media type.

    Raises:
        ContentError, TypeError: the contents are invalid, or the value is not JSON.
    """
    if isinstance(value, ResourceResult):
        check_meta(value.meta)
        if type(value.ttl_ms) is not int or value.ttl_ms < 0:
            raise ContentError(f"ttl_ms: must be a number of milliseconds, not {value.ttl_ms!r}")
        if not isinstance(value.public, bool):
            raise ContentError(f"public: must be true or false, not {value.public!r}")
        parts = _several(value.contents, "contents")
        return value._replace(contents=tuple(_part(part, uri, mime_type) for part in parts))
    if isinstance(value, ResourceContents | str | bytes | bytearray | memoryview):
        return ResourceResult((_part(value, uri, mime_type),))
    if isinstance(value, EmbeddedResource):
        return ResourceResult((check_contents(value.resource._replace(uri=uri)),))
    if isinstance(value, ImageContent | AudioContent) and isinstance(value.data, bytes):
        return ResourceResult((check_contents(ResourceContents(uri, value.data, value.mime_type)),))
    if isinstance(value, Iterator | AsyncIterator):
        raise ContentError("an iterator may be endless; return a list")
    if isinstance(value, list | tuple) and any(isinstance(part, ResourceContents) for part in value):
        return ResourceResult(tuple(_part(part, uri, mime_type) for part in value))
    return ResourceResult(
        (ResourceContents(uri, encode(with_base64(value)).decode(), mime_type or "application/json"),)
    )


def _part(part: object, uri: str, mime_type: str | None) -> ResourceContents:
    if isinstance(part, ResourceContents):
        return check_contents(part, "contents")
    if isinstance(part, str):
        return ResourceContents(uri, part, mime_type or "text/plain")
    if isinstance(part, bytes | bytearray | memoryview):
        return ResourceContents(uri, bytes(part), mime_type or "application/octet-stream")
    raise ContentError(f"contents: must be ResourceContents, str or bytes, not {type(part).__name__}")


def _several(items: object, where: str) -> Sequence[Any]:
    if not isinstance(items, list | tuple) or is_block(items) or isinstance(items, PromptMessage | ResourceContents):
        raise ContentError(f"{where}: must be a list, not {type(items).__name__}")
    return items


# --- Results of tools in MCP's own form, for consumers that know only the host's types.


def as_tool_result(result: RawResult) -> ToolResult:
    """Return the raw result of a tool as a `ToolResult`. Blocks that the host cannot read become JSON as text.

    Without structured content, the value is the text, if all blocks are text.
    """
    value = result.value
    content, meta = value.get("content"), value.get("_meta")
    blocks = tuple(map(_parsed_block, content if isinstance(content, list) else []))
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    return ToolResult(
        value=value.get("structuredContent", "\n".join(texts) if len(texts) == len(blocks) else None),
        structured="structuredContent" in value,
        content=blocks,
        is_error=result.is_error,
        meta=meta if isinstance(meta, dict) else None,
    )


def with_text(outcome: Outcome, text: str) -> Outcome:
    """Return the result of a tool with one more text block. Return other outcomes unchanged.

    Clients still receive all that they received without it. Results of mounted servers have no other change.
    """
    if isinstance(outcome, RawResult) and isinstance(content := outcome.value.get("content"), list):
        return RawResult({**outcome.value, "content": [*content, {"type": "text", "text": text}]})
    if isinstance(outcome, ToolResult):
        return outcome._replace(content=(*shown_content(outcome), TextContent(text)))
    return outcome


def shown_content(result: ToolResult) -> tuple[Content, ...]:
    """Return the content of a result, with the value as text if protocols add this text to the content."""
    blocks = result.content or ()
    is_added = result.value is not None or result.structured
    if result.content is not None:
        has_text = any(isinstance(block, TextContent) for block in blocks)
        is_added = result.structured and result.value != {} and not has_text
    return (*blocks, _text(result.value)) if is_added else blocks


def _parsed_block(block: Any) -> Content:
    try:
        if isinstance(block, dict):
            return of_object(block)
    except (ContentError, TypeError):
        pass
    return TextContent(encode(block).decode())
