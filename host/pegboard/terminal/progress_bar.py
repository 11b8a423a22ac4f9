"""Progress on standard error: a bar that each step draws again at a terminal, otherwise a line for each step."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from shutil import get_terminal_size
from typing import Any

from pegboard.terminal import printing as output

BAR_CHARACTERS = 24

_is_drawn = False


def show_progress(params: Mapping[str, Any]) -> None:
    """Show the parameters of a progress notification."""
    if _can_draw():
        _draw(bar_text(params, get_terminal_size().columns - 1))
        return
    total = f" of {params['total']}" if "total" in params else ""
    output.say(f"{params.get('progress')}{total} {_message(params)}".rstrip())


def show_status(text: str) -> None:
    """Show at a terminal why the command waits."""
    if _can_draw():
        _draw(text[: get_terminal_size().columns - 1])


def clear() -> None:
    """Erase the bar, so that other output can take its line."""
    global _is_drawn  # noqa: PLW0603
    if _is_drawn:
        _is_drawn = False
        with suppress(OSError, ValueError):
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _can_draw() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _draw(text: str) -> None:
    global _is_drawn  # noqa: PLW0603 - a terminal has one line for the bar
    with suppress(OSError, ValueError):
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        _is_drawn = True


def bar_text(params: Mapping[str, Any], columns: int) -> str:
    """Return a bar, the share and the message, or only the count if the total is unknown."""
    progress, total = params.get("progress"), params.get("total")
    if isinstance(progress, int | float) and isinstance(total, int | float) and total > 0:
        share = min(max(progress / total, 0), 1)
        full = round(share * BAR_CHARACTERS)
        text = f"[{'#' * full}{'.' * (BAR_CHARACTERS - full)}] {share:4.0%}"
    else:
        text = str(progress)
    return f"{text} {_message(params)}".rstrip()[:columns]


def _message(params: Mapping[str, Any]) -> str:
    return output.printable(" ".join(str(params.get("message", "")).split()))
