"""`Image`, `Audio` and `File` in the results of functions. A thread of the host reads the files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any

from pegboard.calls.result_size import TooLarge, log_too_large
from pegboard.content.rules import ContentError
from pegboard.context.bound_function import BoundFunction
from pegboard.errors import ResultTooLargeError, ToolOutputError
from pegboard.media import Media, MediaTooLarge
from pegboard.types.calls import PromptMessage, PromptResult, ToolResult
from pegboard.types.content import Content

InThread = Callable[[Callable[[], Any], str], Awaitable[Any]]

_HOLDERS = (Media, ToolResult, PromptMessage, PromptResult)
"""The types of items that are or contain `Media`."""


async def with_media(value: Any, bound: BoundFunction, in_thread: InThread) -> Any:
    """Return the value of a function with content blocks in place of `Image`, `Audio` and `File`.

    Args:
        value: the value.
        bound: the tool, resource or prompt.
        in_thread: calls a function in a thread, with a name for the log.

    Raises:
        ToolOutputError: a file cannot be read, or its media type is unknown. The message does not contain the path.
        ResultTooLargeError: the files exceed the size limit of the result.
    """
    found = list(_media_of(value))
    if not found:
        return value
    try:
        blocks = await in_thread(partial(_blocks, found, bound.max_result_bytes), bound.name)
    except MediaTooLarge as error:
        log_too_large(bound.name, TooLarge(error.size), bound.max_result_bytes)
        raise ResultTooLargeError(bound.max_result_bytes, lambda _: None, is_structured=False) from None
    except (OSError, ContentError) as error:
        raise ToolOutputError("The tool returned a file that cannot be sent.", str(error)) from error
    following = iter(blocks)
    return _mapped(value, lambda _: next(following))


def _media_of(value: Any, *, is_item: bool = False) -> Iterator[Media]:
    """Yield each `Media` that `_mapped` replaces, in its order. Large values are not copied."""
    kind = type(value)
    if isinstance(value, Media):
        yield value
    elif kind is ToolResult or kind is PromptMessage:
        yield from _media_of(value.content)
    elif kind is PromptResult:
        yield from _media_of(value.messages)
    elif not is_item and (kind is list or kind is tuple or kind is dict):
        for one in value.values() if kind is dict else value:
            if isinstance(one, _HOLDERS):
                yield from _media_of(one, is_item=True)


def _mapped(value: Any, change: Callable[[Media], Any], *, is_item: bool = False) -> Any:
    """Return a value with each `Media` replaced by the result of `change`: the value itself, its items or members."""
    if isinstance(value, Media):
        return change(value)
    kind = type(value)
    if kind is ToolResult or kind is PromptMessage:
        return value._replace(content=_mapped(value.content, change))
    if kind is PromptResult:
        return value._replace(messages=_mapped(value.messages, change))
    if is_item:
        return value
    if kind is list or kind is tuple:
        return kind(_mapped(one, change, is_item=True) for one in value)
    if kind is dict:
        return {name: _mapped(one, change, is_item=True) for name, one in value.items()}
    return value


def _blocks(found: Sequence[Media], limit: int) -> list[Content]:
    """Read the files, and return the content blocks. The limit of their base64 form is `limit`, 0 for no limit."""
    blocks: list[Content] = []
    left = limit // 4 * 3 if limit else None
    for media in found:
        data = media.load(left)
        left = None if left is None else left - len(data)
        blocks.append(media.block(data))
    return blocks
