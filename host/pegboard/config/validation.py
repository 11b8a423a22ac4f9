"""Data checked against pydantic models. Problems are put into words by `explain.py`, imported only for a problem."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pegboard.config.problems import ConfigProblem, KeyPath
from pegboard.config.sources import Sources

_M = TypeVar("_M", bound=BaseModel)

_NOT_TEXT = {"string_type", "path_type", "url_type", "literal_error", "enum", "bytes_type"}
"""The errors of pydantic that say: this had to be text."""


def validate(
    model: type[_M],
    data: dict[str, Any],
    sources: Sources,
    path: KeyPath,
    context: Mapping[str, Any],
    hidden: Container[KeyPath] = (),
) -> _M | list[ConfigProblem]:
    """Data as a model, or all that is wrong with it, each with its place.

    A value of the environment that reads as a number, say, and must be text, is taken as text.
    """
    if not data and _takes_defaults_as_they_are(model):
        return model.model_construct()
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        again = _with_raw_text(data, error, sources, path)
        if again is not None:
            return validate(model, again, sources, path, context, hidden)
        from pegboard.config.explain import explain

        return explain(error, model, data, sources, path, hidden)


def _takes_defaults_as_they_are(model: type[BaseModel]) -> bool:
    """Whether validating nothing gives the bare defaults: then what validates, milliseconds' work, is never built."""
    decorators = model.__pydantic_decorators__
    return not (
        decorators.model_validators
        or decorators.root_validators
        or model.__pydantic_custom_init__
        or model.model_config.get("validate_default")
        or any(field.is_required() or field.validate_default for field in model.model_fields.values())
    )


def _with_raw_text(
    data: dict[str, Any], error: ValidationError, sources: Sources, path: KeyPath
) -> dict[str, Any] | None:
    """The data with the texts of variables where text was wanted and something else was read; None: no such case."""
    changed = None
    for one in error.errors(include_url=False):
        loc = one["loc"]
        if one["type"] in _NOT_TEXT and not isinstance(one["input"], str):
            ways = (loc[:end] for end in range(len(loc), 0, -1))  # the end of it may name the branch of a union
            if way := next((way for way in ways if sources.raw((*path, *way)) is not None), None):
                changed = _replace(changed or data, way, sources.raw((*path, *way)))
    return changed


def _replace(value: Any, path: KeyPath, new: Any) -> Any:
    """A copy of nested dicts with one value replaced."""
    if not path:
        return new
    return {**value, path[0]: _replace(value.get(path[0]), path[1:], new)}
