"""Messages of prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic_core import to_json

from pegboard import PromptMessage, PromptResult
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.results import as_block, is_content
from pegboard_plugins.compat.fastmcp.tools import Tool

__all__ = ["AssistantMessage", "Message", "Prompt", "PromptResult", "UserMessage", "prompt_result"]

__getattr__ = missing_names(__name__)


class Message:
    """A message of a prompt. Content other than strings and blocks is converted to JSON.

    Args:
        content: a string, a content block, or any JSON-ready value.
        role: the author of the message.
    """

    def __init__(self, content: Any, role: Literal["user", "assistant"] = "user") -> None:
        self.content = content
        self.role = role


class UserMessage(Message):
    """A message of the user."""


class AssistantMessage(Message):
    """A message of the assistant."""

    def __init__(self, content: Any, role: Literal["user", "assistant"] = "assistant") -> None:
        super().__init__(content, role)


class Prompt(Tool):
    """A prompt, for `FastMCP.add_prompt`, with the options of `FastMCP.prompt`."""


def prompt_result(value: Any) -> Any:
    """Return the result of a prompt's function in a form that pegboard serves."""
    if isinstance(value, PromptResult):
        return value._replace(messages=tuple(_messages(value.messages)))
    return _messages(value)


def _messages(value: Any) -> list[Any]:
    several = value if isinstance(value, list | tuple) else [value]
    return [_message(message) for message in several]


def _message(value: Any) -> Any:
    if isinstance(value, PromptMessage) or (isinstance(value, Mapping) and "role" in value):
        return value
    if isinstance(value, Message) or (hasattr(value, "role") and hasattr(value, "content")):
        return PromptMessage(_content(value.content), value.role)
    return PromptMessage(_content(value))


def _content(value: Any) -> Any:
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if is_content(value):
        return as_block(value)
    return {"type": "text", "text": to_json(value, fallback=str).decode()}
