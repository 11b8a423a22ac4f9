"""Checks that the type of each contribution matches the hook's return annotation in `hookspecs.py`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from inspect import isabstract
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pegboard.authoring import ToolFunction
from pegboard.errors import PluginError
from pegboard.middleware.method_signatures import as_middleware, middleware_problem
from pegboard.plugin.middleware import Middleware


def checked_contributions(spec: Callable[..., Any], results: list[Any]) -> list[Any]:
    """Return the contributions of one plugin to one hook.

    Convert functions decorated with `@tool` to their definitions, and plain middleware functions to `Middleware`.

    Args:
        spec: the specification of the hook.
        results: the result of each implementation that returned something other than None.

    Raises:
        PluginError: the hook does not accept a result.
    """
    hook = spec.__name__
    types, many = contribution_types(spec)
    for result in results:
        if inspect.iscoroutine(result):
            result.close()
            raise PluginError(f"{hook!r} is async; hooks are plain functions that return contributions")
    items = [item for result in results for item in _items(hook, result)] if many else results or [None]
    if Middleware in types:
        items = [as_middleware(item) for item in items]
    for item in items:
        if complaint := _complaint(item, types):
            raise PluginError(f"{hook!r} returned {complaint}")
    return [item.definition if isinstance(item, ToolFunction) else item for item in items]


@cache
def contribution_types(spec: Callable[..., Any]) -> tuple[tuple[type, ...], bool]:
    """Return the types of which a contribution must have one, as the hook's return annotation names them.

    The second value is True if the hook returns an iterable of contributions, False if it returns one contribution.
    """
    annotation = get_type_hints(spec, localns=_PublicNames())["return"]
    origin: Any = get_origin(annotation)
    many = origin is Iterable
    named = get_args(annotation)[0] if many else annotation
    types = get_args(named) if get_origin(named) in (Union, UnionType) else (named,)
    return tuple(get_origin(expected) or expected for expected in types), many


class _PublicNames(dict[str, Any]):
    """The public names of pegboard, to resolve annotations. `hookspecs.py` does not import them at run time."""

    def __missing__(self, name: str) -> Any:
        for package in map(import_module, ("pegboard.plugin", "pegboard.types", "pegboard")):
            if name in package.__all__:
                return getattr(package, name)
        raise KeyError(name)


def _items(hook: str, result: object) -> list[Any]:
    is_record = isinstance(result, tuple) and type(result) is not tuple
    if is_record or not isinstance(result, Iterable) or isinstance(result, str | bytes | Mapping):
        raise PluginError(f"{hook!r} returned one {type(result).__name__}, not a list of contributions")
    return list(result)


def _complaint(item: object, types: tuple[type, ...]) -> str | None:
    if type(item) in types and not isinstance(item, Middleware):
        return None
    kind = type(item).__name__
    if inspect.isclass(item):
        return f"the class {item.__name__}, not an instance of it"
    complaints = [_unlike(item, expected) for expected in types]
    if all(complaints):
        names = " or ".join(expected.__name__ for expected in types)
        return f"{kind}, {complaints[0] if len(types) == 1 else f'not {names}'}"
    return middleware_problem(item) if isinstance(item, Middleware) else None


def _unlike(item: object, accepted: type) -> str | None:
    """Describe why an object is not of a type. Return None if it is."""
    if not isinstance(item, accepted):
        return f"which does not derive from {accepted.__name__}" if isabstract(accepted) else f"not {accepted.__name__}"
    if not isabstract(accepted):
        return None
    attributes = inspect.get_annotations(accepted)
    if lacking := [name for name in attributes if not hasattr(item, name)]:
        return f"which lacks {', '.join(lacking)}"
    for name, annotation in attributes.items():
        if annotation in (str, "str") and not isinstance(getattr(item, name), str):
            return f"whose {name} must be a string"
    return None
