"""Sections against their models. What is wrong is put into words by `explain.py`, which only then is imported."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pydantic import BaseModel, ValidationError

from pegboard.config.problems import ConfigProblem, KeyPath, dotted, in_order
from pegboard.config.references import references, resolve

if TYPE_CHECKING:
    from pegboard.config.hostconfig import HostConfig, Kind, ListName
    from pegboard.config.sources import Sources

M = TypeVar("M", bound=BaseModel)

_NOT_TEXT = {"string_type", "path_type", "url_type", "literal_error", "enum", "bytes_type"}
"""The errors of pydantic that say: this had to be text."""


@overload
def validate_section(config: HostConfig, kind: Kind, name: str, model: type[M]) -> M | list[ConfigProblem]: ...
@overload
def validate_section(config: HostConfig, kind: Kind, name: str, model: None) -> list[ConfigProblem] | None: ...
def validate_section(
    config: HostConfig, kind: Kind, name: str, model: type[BaseModel] | None
) -> BaseModel | list[ConfigProblem] | None:
    """A plugin's or toolkit's settings as its own model, or all that is wrong with them.

    References `{ env = "NAME" }` are replaced by the variables' values; one that is missing or empty is a problem.
    Validators find the base of relative paths with `PluginConfig.folder_of`.

    Args:
        config: the configuration.
        kind: "plugins" or "toolkits".
        name: the plugin's or toolkit's name; without a section the model's defaults hold.
        model: its model; None when it takes no settings, and then None is what a section without keys gives.
    """
    section, path = config.section(kind, name), (kind, name)
    if model is None:
        return [config.problem("takes no settings", (*path, key)) for key in section] or None
    refs = dict(references(section, path))
    missing = {place: ref for place, ref in refs.items() if ref.value is None}
    problems = [
        config.problem(f'the environment variable "{ref.env}" is missing or empty', place)
        for place, ref in missing.items()
    ]
    checked = check(model, resolve(section), config.sources, path, _folders(config, path, section), refs)
    if isinstance(checked, list):
        # what is said of a table around such a place may be due to it alone
        unset = {dotted(place[:end]) for place in missing for end in range(len(path), len(place) + 1)}
        problems += [problem for problem in checked if problem.key not in unset]
    return in_order(problems) or checked


def _folders(config: HostConfig, path: KeyPath, section: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the folder of relative paths, and the keys that are given elsewhere and count from another one."""
    elsewhere = (key for key in section if config.source((*path, key)).kind in ("environment", "command line"))
    return {"directory": config.directory, "folders": dict.fromkeys(elsewhere, config.working_directory)}


def unknown_sections(config: HostConfig, kind: Kind, known: Iterable[str]) -> list[ConfigProblem]:
    """A problem for every section of this kind that the operator wrote and whose name is none of those known."""
    from pegboard.names import nearest

    known = set(known)
    sections = config.plugins if kind == "plugins" else config.toolkits
    return [
        config.problem(f"no {kind[:-1]} of this name is installed", (kind, name), nearest(name, known))
        for name in sections
        if name not in known and config.source((kind, name)).by_operator
    ]


def unmatched_patterns(
    config: HostConfig, key: ListName, unmatched: Iterable[str], forms: Iterable[str]
) -> list[ConfigProblem]:
    """A problem for every pattern of a disabling list that names nothing.

    Args:
        config: the configuration.
        key: the list.
        unmatched: those of its patterns, as `Patterns.unmatched` or `Patterns.unmatched_plugins` gives them.
        forms: names there are, for suggestions.
    """
    from pegboard.names import nearest

    patterns = getattr(config.host, key)
    forms = tuple(forms)
    return [
        config.problem(f'"{text}" matches nothing', ("host", key, patterns.index(text)), nearest(text, forms))
        for text in unmatched
    ]


def check(
    model: type[M],
    data: dict[str, Any],
    sources: Sources,
    path: KeyPath,
    context: Mapping[str, Any],
    hidden: Container[KeyPath] = (),
) -> M | list[ConfigProblem]:
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
            return check(model, again, sources, path, context, hidden)
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


def locate(sources: Sources, message: str, path: KeyPath, suggestion: str | None = None) -> ConfigProblem:
    """A problem with a key, at the place where the key, or else the table around it, was given."""
    source = sources.around(path)
    place = None if source.file or not source.by_operator else str(source)
    return ConfigProblem(message, dotted(path), source.file, source.line, suggestion, place=place)


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
