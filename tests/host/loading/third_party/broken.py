"""The expected report for each broken sample."""

from __future__ import annotations

from typing import NamedTuple


class Broken(NamedTuple):
    """An entry point that cannot be loaded: its source and target, the stage at which it fails, and the cause."""

    name: str
    source: str
    target: str
    stage: str
    cause: str

    def line(self, kind: str) -> str:
        """Return the line that reports it."""
        return f"{kind} {self.name!r} from {self.source} ({self.target}), {self.stage}: {self.cause}"


def _imports(name: str, cause: str, target: str | None = None) -> Broken:
    return Broken(name, "broken-imports 0.0.1", target or f"broken_imports.{name}:kit", "import", cause)


def _hooks(name: str, stage: str, cause: str, target: str | None = None) -> Broken:
    words = "".join(part.capitalize() for part in name.split("_"))
    return Broken(name, "broken-hooks 0.0.2", target or f"broken_hooks:{words}", stage, cause)


IMPORTS = (
    _imports("absent_library", "ModuleNotFoundError: No module named 'library_that_nobody_has' (absent_library.py:3)"),
    _imports(
        "absent_module", "ModuleNotFoundError: No module named 'broken_imports.nowhere'", "broken_imports.nowhere:kit"
    ),
    _imports(
        "absent_object", "AttributeError: module 'broken_imports' has no attribute 'nothing'", "broken_imports:nothing"
    ),
    _imports("falls_over", "Catastrophe: in the first line and in the second (falls_over.py:12)"),
    _imports(
        "from_the_future",
        "the plugin requires host API 99, this host has 1: upgrade pegboard",
        "broken_imports.from_the_future:FuturePlugin",
    ),
    _imports(
        "half_written",
        "SyntaxError: '(' was never closed (broken_imports_half_written.py, line 3)",
        "broken_imports_half_written:kit",
    ),
    _imports(
        "no_plugin", "the target must be a Plugin subclass, a module with hooks, or a Toolkit", "broken_imports:kit"
    ),
    _imports("quits", "SystemExit: 0 (quits.py:8)"),
)
"""Toolkits whose target cannot be imported."""

HOOKS = (
    _hooks("asynchronous", "hooks", "'register_tools' is async; hooks are plain functions that return contributions"),
    _hooks("crashing", "contribute", "RuntimeError: the cable is missing"),
    _hooks(
        "misspelt",
        "hooks",
        "unknown hook 'regsiter_tools'; did you mean 'register_tools'?",
        target="broken_hooks.misspelt",
    ),
    _hooks("quitting", "contribute", "SystemExit: I quit"),
    _hooks("unbuildable", "create", "FileNotFoundError: no such model file"),
    _hooks("unmarked", "hooks", "'register_tools' is the name of a hook, but the function lacks the marker @hookimpl"),
    _hooks("wrapping", "hooks", "'register_tools' is a wrapper; hooks of pegboard cannot be wrapped"),
)
"""Plugins with a fault in or around their hooks. Each is also installed as a toolkit, which is enabled."""

LIFELESS = _hooks("lifeless", "lifespan", "ConnectionError: the database is away")
"""The same, but it fails only when the host starts."""

WEATHER = Broken(
    "weather",
    "toolkit-weather 3.1.4",
    "toolkit_weather:kit",
    "config",
    "toolkits.weather.station: is required and missing",
)
"""A toolkit that lacks a required setting."""

IMPOSTOR = Broken(
    "stdio",
    "acme-stdio 6.6.6",
    "acme_stdio:Impostor",
    "find",
    "it has the name of a built-in plugin, so it is refused; rename it",
)
"""A third-party plugin with the name of a built-in plugin."""

SLOPPY = {
    "tool 'undocumented'": "it has no description; write a docstring for the model",
    "resource 'no scheme'": "its URI is not absolute, such as docs://readme (RFC 3986)",
    "prompt 'questions'": "parameter 'topics' accepts any number of arguments: declare each argument",
}
"""Some of the invalid definitions of toolkit-sloppy, and their causes."""
