"""The table of signatures: functions of tools, and calls of them.

`signatures.json` records the outcomes. `record.py` writes that file; read its diff before you commit it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

NONE: Any = object()
"""A placeholder for a missing argument."""


class Case(NamedTuple):
    """One signature: its key in `signatures.json`, its function with some calls, and the options of `@kit.tool`."""

    name: str
    function: Callable[..., Any]
    calls: tuple[dict[str, Any], ...]
    options: dict[str, Any]


def takes(annotation: Any, *values: Any, name: str = "", default: Any = NONE, **options: Any) -> Case:
    """Define a function with one parameter `a` of this type. It returns the `repr` of the value that arrived."""

    def function(a: Any) -> str:
        """Take it."""
        return repr(a)

    function.__annotations__["a"] = annotation
    function.__defaults__ = () if default is NONE else (default,)
    calls = tuple({} if value is NONE else {"a": value} for value in values)
    return Case(name or _named(annotation), function, calls, options)


def gives(annotation: Any, returned: Any, *, name: str = "") -> Case:
    """Define a function without parameters that returns this value."""

    def function() -> Any:
        """Give it."""
        return returned

    function.__annotations__["return"] = annotation
    return Case(name or f"-> {_named(annotation)}", function, ({},), {})


def signature(function: Callable[..., Any], *calls: dict[str, Any], name: str = "") -> Case:
    """Return the case of a function."""
    return Case(name or function.__name__, function, calls, {"description": "Do it."})


def _named(annotation: Any) -> str:
    is_class = isinstance(annotation, type) and not hasattr(annotation, "__args__")
    name = annotation.__name__ if is_class else str(annotation)
    return name.replace("typing.", "").replace("tests.host.schemas.signatures.types_of_tests.", "")
