"""Problems that a model found in a section. Each key is reported once, with its location and the nearest valid name.

The last part is for `config show`. A start imports this module only if a section is invalid. No secret is disclosed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from typing import Any, get_args

from pydantic import BaseModel, SecretBytes, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pegboard.config.environment import literal
from pegboard.config.hostconfig import HostConfig
from pegboard.config.problems import ConfigProblem, KeyPath, dotted
from pegboard.config.references import (
    MASK,
    MIN_SECRET_CHARACTERS,
    SecretRef,
    is_secret,
    mask_user_info,
    masked,
    references,
    values_in,
)
from pegboard.config.sources import Source, Sources
from pegboard.messages.argument_errors import ABSENT, place_of, step
from pegboard.messages.error_words import AUTHORS_TYPES, WORDS, words
from pegboard.names import MAX_CORRECTED_NAMES, nearest

_WRONG_KIND = re.compile(
    r"(.+?)_(type|parsing|parsing_size|from_float|from_datetime_inexact|from_date_parsing|attributes_type)"
)
_OUT_OF_RANGE = {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of"}
MAX_SHOWN_VALUE_CHARACTERS = 60
"""The maximum length of a value in a message."""


def explain(
    error: ValidationError,
    model: type[BaseModel],
    data: Mapping[str, Any],
    sources: Sources,
    base: KeyPath,
    hidden: Container[KeyPath] = (),
) -> list[ConfigProblem]:
    """Return one problem for each invalid key, in the order of the model's fields.

    Args:
        error: the model's exception.
        model: the model.
        data: the data that the model validated.
        sources: the sources of the values.
        base: the path of the section.
        hidden: the paths of further secret values. Keys with secret names need not be listed.
    """
    explainer = _Explainer(model, data, sources, base, hidden)
    by_path: dict[KeyPath, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        by_path.setdefault(place_of(detail, data).path, []).append(detail)
    return [
        explainer.problem(way, details)
        for way, details in by_path.items()
        if not (_is_echo(details) and any(other[: len(way)] == way != other for other in by_path))
    ]


class _Explainer:
    def __init__(
        self, model: type[BaseModel], data: Any, sources: Sources, base: KeyPath, hidden: Container[KeyPath]
    ) -> None:
        self.model = model
        self.sources = sources
        self.base = base
        self.hidden = hidden
        self.unknown = 0
        secrets = {str(value) for way, value in values_in(data) if self.is_secret(way)}
        self.secrets = {value for value in secrets if len(value) >= MIN_SECRET_CHARACTERS}

    def is_secret(self, way: KeyPath) -> bool:
        path = (*self.base, *way)
        return path in self.hidden or is_secret(path) or bool({SecretStr, SecretBytes} & set(_types(self.model, way)))

    def problem(self, way: KeyPath, details: list[ErrorDetails]) -> ConfigProblem:
        first, path = details[0], (*self.base, *way)
        if first["type"] == "extra_forbidden":
            self.unknown += 1
            is_compared = self.unknown <= MAX_CORRECTED_NAMES
            close = nearest(str(way[-1]), dict(_fields(_types(self.model, way[:-1])))) if is_compared else None
            return self.sources.problem("unknown key", path, close)
        if first["type"] == "missing":
            return self.sources.problem(WORDS["setting_missing"], path)
        texts = list(dict.fromkeys(map(self.words, details)))
        expected = [word.removeprefix("expected ") for word in texts if word.startswith("expected ")]
        if len(expected) < len(texts):
            return self.sources.problem("; ".join(texts), path)
        value = first["input"]
        if isinstance(value, str) and first["type"] in _OUT_OF_RANGE:
            value = literal(value)  # the text of a variable
        message = f"expected {' or '.join(expected)}, found {_found(value, secret=self.is_secret(way))}"
        if expected == ["a string"] and isinstance(value, int | float):
            message += "; put it in quotes"
        required = [key for key, field in _fields(_types(self.model, way)) if field.is_required()]
        if expected == ["a table"] and required:
            message += f"; write {{ {', '.join(f'{key} = ...' for key in required)} }}"
        return self.sources.problem(message, path, _nearest_choice(details, value))

    def words(self, detail: ErrorDetails) -> str:
        kind = detail["type"]
        context = detail.get("ctx", {})
        if kind in AUTHORS_TYPES:
            return self.masked(str(context["error"])) or "is not valid"
        if kind.endswith("too_short") and context.get("min_length") == 1:
            return WORDS["setting_empty"]
        if kind == "string_pattern_mismatch" and context.get("pattern") == "^/":
            return WORDS["setting_path"]
        text = self.masked(words(detail)).replace("an object", "a table").replace("'", '"')  # as in TOML
        return re.sub(r"^must be ", "expected ", text)

    def masked(self, message: str) -> str:
        """Return the message of a validator on one line, without secrets."""
        for secret in self.secrets:
            message = message.replace(secret, MASK)
        return mask_user_info(" ".join(message.split()))


def _is_echo(details: Iterable[ErrorDetails]) -> bool:
    """Return True if the error of a table or list is only a consequence of errors in its items.

    It may be that the value does not match another branch of a union, or that pydantic did not count invalid items.
    """
    return all(
        isinstance(detail["input"], dict | list)
        and (
            _WRONG_KIND.fullmatch(detail["type"])
            or (detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"])
        )
        for detail in details
    )


def _found(value: Any, *, secret: bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        shown = value[:MAX_SHOWN_VALUE_CHARACTERS] + "…" * (len(value) > MAX_SHOWN_VALUE_CHARACTERS)
        return "text" if secret else f'text "{mask_user_info(shown)}"'
    if isinstance(value, int | float):
        return "a number" if secret else f"the number {value}"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "a table"
    return "a date or time" if isinstance(value, date | time) else f"a value of type {type(value).__name__}"


def _nearest_choice(details: Iterable[ErrorDetails], value: Any) -> str | None:
    choices = [
        choice
        for detail in details
        for choice in re.findall("'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))
    ]
    return nearest(value, choices) if isinstance(value, str) else None


def _types(annotation: Any, way: KeyPath) -> list[Any]:
    """Return all types that the value at a path may have. The keys of a container have the types of its items."""
    here = list(_flat(annotation))
    for part in way:
        fields = [field for name, field in _fields(here) if name == part]
        if fields:  # otherwise the part is a key of a mapping or an index
            here = [inner for field in fields for inner in _flat(field.annotation)]
    return here


def _flat(annotation: Any) -> Iterator[Any]:
    arguments = get_args(annotation)
    if not arguments:
        yield annotation
    for argument in arguments:
        yield from _flat(argument)


def _fields(types: Iterable[Any]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the keys of the models among types, each with its field."""
    for model in types:
        if isinstance(model, type) and issubclass(model, BaseModel):
            for name, field in model.model_fields.items():
                alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
                yield alias or name, field


# --- The current configuration for `config show`: every value with its source. Secrets are masked.


@dataclass(frozen=True, slots=True)
class ConfigView:
    """The values of a configuration, and their sources.

    Attributes:
        values: "host", "plugins" and "toolkits" as nested, JSON-ready tables. References are `{"env": NAME}`. Secrets
            are masked.
        sources: the source of each value by its dotted key, in the order of `values`. A list is one value.
        file: the configuration file, or None if no file was read.
    """

    values: Mapping[str, Any]
    sources: Mapping[str, Source]
    file: str | None


def config_show(config: HostConfig, settings: Mapping[str, Mapping[str, BaseModel | None]]) -> ConfigView:
    """Return the current configuration.

    Args:
        config: the configuration.
        settings: the validated settings of running plugins, `{"plugins": {name: model}, "toolkits": ...}`. Their
            defaults are shown too.
    """
    values: dict[str, Any] = {"host": masked(config.host.model_dump(), ("host",))}
    for kind, sections in (("plugins", config.plugins), ("toolkits", config.toolkits)):
        models = settings.get(kind, {})
        names = sorted({*sections, *(name for name, model in models.items() if model is not None)})
        values[kind] = {name: _section((kind, name), sections.get(name, {}), models.get(name)) for name in names}
    sources = {dotted(path): config.source(path) for path in _shown_paths(values)}
    return ConfigView(values, sources, str(config.file) if config.file else None)


def _section(path: KeyPath, section: Mapping[str, Any], model: BaseModel | None) -> Any:
    if model is None:
        return masked(section, path)
    dump = model.model_dump(mode="json", by_alias=True, fallback=str)
    for way, ref in references(section):
        _put(dump, way, ref)
    return masked(dump, path)


def _put(value: Any, way: KeyPath, ref: SecretRef) -> None:
    """Replace the value of a reference by the reference, unless the model changed the structure of its values."""
    for part in way[:-1]:
        value = step(value, part)
    if step(value, way[-1]) is not ABSENT:
        value[way[-1]] = ref


def _shown_paths(value: Mapping[str, Any], path: KeyPath = ()) -> Iterator[KeyPath]:
    for key, item in value.items():
        if isinstance(item, Mapping) and item and not (len(path) >= 2 and item.keys() == {"env"}):
            yield from _shown_paths(item, (*path, key))
        elif len(path) >= 1:
            yield (*path, key)
