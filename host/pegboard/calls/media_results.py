"""`Image`, `Audio` and `File` in the results of functions. A thread of the host reads the files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from pegboard.calls.result_size import TooLarge, log_too_large
from pegboard.calls.served_item import ServedItem
from pegboard.content.rules import ContentError
from pegboard.errors import ResultTooLargeError, ToolOutputError
from pegboard.media import Media, MediaTooLarge
from pegboard.types.calls import PromptMessage, PromptResult, ToolResult
from pegboard.types.content import Content

_HOLDERS = (Media, ToolResult, PromptMessage, PromptResult)
"""The types of items that are or contain `Media`."""


def reading_of(
    value: Any, bound: ServedItem, in_thread: Callable[..., Awaitable[Any]]
) -> Coroutine[Any, Any, Any] | None:
    """Return a coroutine that reads the files in the value of a function. Return None if there are none.

    The coroutine returns the value with content blocks in place of `Image`, `Audio` and `File`.

    Args:
        value: the value.
        bound: the tool, resource or prompt.
        in_thread: calls a function in a thread, with a name for the log.
    """
    files: list[Media] = []

    def collect(media: Media) -> Media:
        files.append(media)
        return media

    _replaced(value, collect)
    return _read(value, files, bound, in_thread) if files else None


async def _read(value: Any, files: Sequence[Media], bound: ServedItem, in_thread: Callable[..., Awaitable[Any]]) -> Any:
    """Read the files in a value. Return the value with content blocks in place of the files.

    Raises:
        ToolOutputError: a file cannot be read, or its media type is unknown. The message does not contain the path.
        ResultTooLargeError: the files exceed the size limit of the result.
    """
    try:
        blocks = await in_thread(partial(_blocks, files, bound.max_result_bytes), bound.name)
    except MediaTooLarge as error:
        log_too_large(bound.name, TooLarge(error.size), bound.max_result_bytes)
        raise ResultTooLargeError(bound.max_result_bytes, lambda _: None, is_structured=False) from None
    except (OSError, ContentError) as error:
        raise ToolOutputError("The tool returned a file that cannot be sent.", str(error)) from error
    following = iter(blocks)
    return _replaced(value, lambda _: next(following))


def _replaced(value: Any, replace: Callable[[Media], Any], *, is_item: bool = False) -> Any:
    """Return a value with each `Media` replaced: the value itself, its items or members.

    Lists and dicts without `Media` are not copied.
    """
    kind = type(value)
    if isinstance(value, Media):
        return replace(value)
    if isinstance(value, (ToolResult, PromptMessage)):
        return value._replace(content=_replaced(value.content, replace))
    if kind is PromptResult:
        return value._replace(messages=_replaced(value.messages, replace))
    if is_item or kind not in (list, tuple, dict):
        return value
    if not any(isinstance(item, _HOLDERS) for item in (value.values() if kind is dict else value)):
        return value
    if kind is dict:
        return {name: _replaced(member, replace, is_item=True) for name, member in value.items()}
    return kind(_replaced(item, replace, is_item=True) for item in value)


def _blocks(files: Sequence[Media], limit: int) -> list[Content]:
    """Read the files, and return the content blocks. The limit of their base64 form is `limit`, 0 for no limit."""
    blocks: list[Content] = []
    left = limit // 4 * 3 if limit else None
    for media in files:
        data = media.load(left)
        left = None if left is None else left - len(data)
        blocks.append(media.block(data))
    return blocks
