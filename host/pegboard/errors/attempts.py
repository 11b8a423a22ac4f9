"""Calls of authors' functions during the start of the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pegboard.errors.definition import ToolDefinitionError

T = TypeVar("T")


def attempt(make: Callable[..., T], *arguments: Any) -> T:
    """Call an author's function and return its result.

    Raises:
        ToolDefinitionError: the function raised an exception other than KeyboardInterrupt.
    """
    try:
        return make(*arguments)
    except ToolDefinitionError:
        raise
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise ToolDefinitionError(f"{type(error).__name__}: {text}".rstrip(": ")) from error
