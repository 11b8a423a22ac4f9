"""JSON Schemas by authors, checked and compiled once.

The supported dialects are 2020-12 and draft-07. A reference must point into the schema or to a dialect; no documents
are fetched. Regular expressions run in linear time, so look-around and backreferences are not supported. `format` is
not validated, as in 2020-12. This module, and with it jsonschema-rs, is imported when the first schema is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import Any

import jsonschema_rs
from jsonschema_rs import Draft202012Validator, FancyRegexOptions, RegexOptions, ValidationError, Validator

from pegboard.errors import ToolDefinitionError
from pegboard.messages.error_words import FieldPath, line
from pegboard.messages.schema_errors import problems
from pegboard.schemas.subschemas import Effort, Subschema, effort, subschemas

DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
}
DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_SCHEMA_DEPTH = 100
"""The limit of the nesting depth of a schema."""
MAX_VALUES = 50_000
"""The limit of the number of values in a schema."""
MAX_SUBSCHEMAS = 5_000
MAX_SUBSCHEMA_VISITS = 10_000
"""The limit of comparisons of one part of a value with subschemas. Nested unions multiply the number of comparisons."""
MAX_REGEX_BYTES = 1_000_000
"""The size limit of a compiled regular expression."""
_LOOKS = re.compile(r"\(\?<?[=!]|\\(?:[1-9]|k<)")
MAX_EXPLAINED_VISITS = 100_000
"""The work above which problems of a value are not described. Checking if the value fits is always fast."""


class JsonSchema:
    """A valid, compiled schema.

    Attributes:
        schema: the schema as its author wrote it.
    """

    def __init__(self, schema: dict[str, Any], validator: Validator, effort: Effort) -> None:
        self.schema = schema
        self._validator = validator
        self._effort = effort

    def problems(self, value: Any) -> list[tuple[FieldPath, str]]:
        """Return the path and the description of each problem of a JSON value.

        Raises:
            ValueError: the value is not JSON.
        """
        if self._validator.is_valid(value):
            return []
        if self._work(value) > MAX_EXPLAINED_VISITS:
            return [((), "does not fit the schema, and is too large to say where")]
        unsorted = [problem for error in self._validator.iter_errors(value) for problem in problems(error, value)]
        return sorted(unsorted, key=lambda problem: tuple(map(str, problem[0])))

    def _work(self, value: Any) -> int:
        """Return an upper bound of the work to find all errors. A recursive schema may visit a value many times."""
        values, depth = _extent(value)
        return int(values * self._effort.visits * max(1, self._effort.returns) ** depth)


def compile_schema(schema: Any, title: str, refusal: type[ToolDefinitionError]) -> JsonSchema:
    """Check and compile a schema. Messages call the schema `title`.

    Raises:
        ToolDefinitionError: the schema is invalid or exceeds a limit. The error has the class `refusal`.
    """
    try:
        return _compiled(_plain(schema, 0, [0]))
    except _RefusedError as error:
        raise refusal(f"{title}: {error}") from None


class _RefusedError(Exception):
    pass


def _compiled(schema: Any) -> JsonSchema:
    if not isinstance(schema, dict):
        raise _RefusedError("it must be an object")
    named = _dialect(schema)
    schemas = list(subschemas(schema))
    if len(schemas) > MAX_SUBSCHEMAS:
        raise _RefusedError(f"it has {len(schemas)} subschemas, the limit is {MAX_SUBSCHEMAS}")
    for subschema in schemas:
        if "$schema" in subschema.schema:
            _dialect(subschema.schema)
    try:
        validator: Validator = getattr(jsonschema_rs, DIALECTS[named])(
            schema, offline=True, validate_formats=False, pattern_options=_linear()
        )
        for subschema in schemas:
            _check_patterns(subschema)
        work = effort(schema)
    except ValidationError as error:
        raise _RefusedError(_why(error, schema)) from None
    except ValueError as error:
        raise _RefusedError(str(error)) from None
    if work.visits > MAX_SUBSCHEMA_VISITS:
        raise _RefusedError(
            f"it compares one part of a value with up to {work.visits} subschemas, the limit is {MAX_SUBSCHEMA_VISITS}"
        )
    return JsonSchema(schema, validator, work)


def _dialect(schema: Mapping[str, Any]) -> str:
    named = schema.get("$schema", DEFAULT_DIALECT)
    if isinstance(named, str) and named.removesuffix("#") in DIALECTS:
        return named.removesuffix("#")
    raise _RefusedError(f"its dialect {named!r} is not supported: set $schema to {' or '.join(DIALECTS)}")


def _plain(value: Any, depth: int, count: list[int]) -> Any:
    """Return a copy of a JSON value. Later changes of the original do not affect the copy."""
    count[0] += 1
    if depth > MAX_SCHEMA_DEPTH:
        raise _RefusedError(f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels")
    if count[0] > MAX_VALUES:
        raise _RefusedError(f"it has more than {MAX_VALUES} values")
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise _RefusedError(f"it has the member {name!r}, whose name is not a string")
        return {name: _plain(inner, depth + 1, count) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1, count) for inner in value]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise _RefusedError(f"it contains {value!r}, which JSON cannot express")


# --- regular expressions


@cache
def _linear() -> RegexOptions:
    """Return the options for regular expressions that run in linear time."""
    return RegexOptions(size_limit=MAX_REGEX_BYTES, dfa_size_limit=MAX_REGEX_BYTES)


def _check_patterns(subschema: Subschema) -> None:
    pattern, named = subschema.schema.get("pattern"), subschema.schema.get("patternProperties")
    patterns = [*([pattern] if isinstance(pattern, str) else []), *(named if isinstance(named, dict) else [])]
    for text in patterns:
        if complaint := _pattern_complaint(text):
            raise _RefusedError(
                f"{'.'.join(map(str, subschema.path)) or 'the root'}: the pattern {text!r:.100} {complaint}"
            )


def _pattern_complaint(pattern: str) -> str | None:
    if _runs(pattern, _linear()):
        return None
    if not _runs(pattern, FancyRegexOptions()):
        return "is invalid"
    if _LOOKS.search(pattern):
        return "has look-around or backreferences, which may take unlimited time; remove them"
    return "is too large; limit lengths with maxLength"


def _runs(pattern: str, engine: Any) -> bool:
    try:
        Draft202012Validator({"pattern": pattern}, pattern_options=engine)
    except ValueError:
        return False
    return True


def _why(error: ValidationError, schema: dict[str, Any]) -> str:
    """Describe why a schema is invalid."""
    kind = type(error.kind).__name__
    if kind == "Referencing":
        lost = error.message.partition(" is not present")[0]
        return f"a $ref leads out of the schema, and nothing is retrieved: {lost}"
    if kind == "Format":
        pattern = str(error.instance)
        place = ".".join(map(str, error.instance_path))
        return f"{place}: the pattern {pattern!r:.100} {_pattern_complaint(pattern) or 'is invalid'}"
    return "it is not valid in its dialect: " + "; ".join(line(path, text) for path, text in problems(error, schema))


def _extent(value: Any) -> tuple[int, int]:
    """Return the number of values in a JSON value, and its depth."""
    count = depth = 0
    level = [value]
    while level:
        count += len(level)
        depth += 1
        members = [
            container.values() if isinstance(container, dict) else container
            for container in level
            if isinstance(container, dict | list)
        ]
        level = [inner for member in members for inner in member]
    return count, depth
