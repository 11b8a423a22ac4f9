"""The settings of `[plugins.stdio]`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pegboard import PluginConfig


class StdioConfig(PluginConfig):
    """The settings `[plugins.stdio]`.

    Attributes:
        max_message_bytes: the largest incoming message, in bytes. A larger one is answered with an error.
        after_eof: the fate of calls in flight when the client closes standard input. "drop" cancels them, because
            clients expect no output afterwards. "finish" answers them first, for input from a pipe or file.
    """

    max_message_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    after_eof: Literal["drop", "finish"] = "drop"
