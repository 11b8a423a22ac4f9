"""Messages for the operator about exceptions of plugins."""

from __future__ import annotations

from traceback import walk_tb

from pegboard.errors import PluginError


def failure_text(error: BaseException) -> str:
    """Return an exception as one line without control characters."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - `__str__` is code of the plugin too
        text = ""
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    if isinstance(error, PluginError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def failure_location(error: BaseException, module: str) -> str:
    """Return the file and line in the module at which the import failed. Return "" if the message contains both."""
    if isinstance(error, SyntaxError):
        return ""
    own = module.partition(".")[0]
    names = [(str(frame.f_globals.get("__name__")), frame, line) for frame, line in walk_tb(error.__traceback__)]
    locations = [
        f" ({frame.f_code.co_filename}:{line})" for name, frame, line in names if name.partition(".")[0] == own
    ]
    return locations[-1] if locations else ""
