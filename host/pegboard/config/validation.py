"""Validation of data with pydantic models. `explain.py` is imported only if data is invalid."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from pegboard.config.problems import ConfigProblem, KeyPath
from pegboard.config.sources import Sources

_M = TypeVar("_M", bound=BaseModel)

_NOT_TEXT = {"string_type", "path_type", "url_type", "literal_error", "enum", "bytes_type"}
"""The pydantic errors of values that must be strings."""
_AS_TEXT = ("environment", "command line")
"""The kinds of sources whose values are text without a type."""
_QUOTED = "expected true or false, without quotes"


def validate(
    model: type[_M],
    data: dict[str, Any],
    sources: Sources,
    path: KeyPath,
    context: Mapping[str, Any],
    hidden: Container[KeyPath] = (),
) -> _M | list[ConfigProblem]:
    """Validate data. Return an object of the model, or the problems.

    If the model requires a string, the original string of a variable is used, even if it could be parsed as a number.
    """
    load_pydantic_plugins()
    try:
        checked = model.model_validate(data, context=context)
    except ValidationError as error:
        again = _with_raw_text(data, error, sources, path)
        if again is not None:
            return validate(model, again, sources, path, context, hidden)
        from pegboard.config.explain import explain

        return explain(error, model, data, sources, path, hidden)
    misread = [((*path, *way), problem) for way, problem in _misread(checked, data)]
    wrong = [
        sources.problem(problem, place)
        for place, problem in misread
        if problem != _QUOTED or (place not in hidden and sources.source(place).kind not in _AS_TEXT)
    ]
    return wrong or checked


@cache
def load_pydantic_plugins() -> None:
    """Let pydantic load its plugins before the host builds its first model.

    Pydantic reads the entry points of all distributions together. If the metadata of one is damaged, the first model
    fails, and later models are built without plugins.
    """
    with suppress(Exception):
        TypeAdapter(int)


def _misread(checked: Any, data: Any, way: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield the paths of strings that the model accepted as booleans, such as "no", and of booleans as numbers."""
    if isinstance(data, str) and isinstance(checked, bool):
        yield way, _QUOTED
    elif isinstance(data, bool) and isinstance(checked, int | float) and not isinstance(checked, bool):
        yield way, f"expected a number, found {str(data).lower()}"
    elif isinstance(data, Mapping):
        for key, item in data.items():
            if isinstance(item, str | bool | Mapping):
                below = checked.get(key) if isinstance(checked, Mapping) else getattr(checked, str(key), None)
                yield from _misread(below, item, (*way, key))


def _with_raw_text(
    data: dict[str, Any], error: ValidationError, sources: Sources, path: KeyPath
) -> dict[str, Any] | None:
    """Return the data with the original strings of variables that must be strings, or None if nothing changes."""
    changed = None
    for detail in error.errors(include_url=False):
        loc = detail["loc"]
        if detail["type"] in _NOT_TEXT and not isinstance(detail["input"], str):
            ways = (loc[:end] for end in range(len(loc), 0, -1))  # its end may name a branch of a union
            if way := next((way for way in ways if sources.raw((*path, *way)) is not None), None):
                changed = _replace(changed or data, way, sources.raw((*path, *way)))
    return changed


def _replace(value: Any, path: KeyPath, new: Any) -> Any:
    """Return a copy of nested dicts in which one value is replaced."""
    if not path:
        return new
    return {**value, path[0]: _replace(value.get(path[0]), path[1:], new)}
