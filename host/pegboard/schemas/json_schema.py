"""JSON Schemas that authors write themselves: checked once, compiled once, and held against values at each call.

Two dialects are known, 2020-12 and draft-07. Nothing is ever retrieved: a reference leads to somewhere in the schema or
to one of the dialects. Regular expressions run in time linear to the text, so those that look around or back cannot be
had. `format` is an annotation, as 2020-12 has it. jsonschema-rs is imported with the first schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from pegboard.errors import ToolDefinitionError
from pegboard.messages.field_lines import FieldPath, line
from pegboard.messages.schema_errors import problems
from pegboard.schemas.subschemas import Effort, Subschema, effort, subschemas

if TYPE_CHECKING:
    from jsonschema_rs import RegexOptions, ValidationError, Validator

DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
}
DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_SCHEMA_DEPTH = 100
"""How deep a schema's objects and lists may be nested."""
MAX_VALUES = 50_000
"""How many values a schema may hold."""
MAX_SUBSCHEMAS = 5_000
MAX_SUBSCHEMA_VISITS = 10_000
"""With how many subschemas one part of a value may be compared: forms of forms of forms multiply."""
MAX_REGEX_BYTES = 1_000_000
"""Of a compiled regular expression."""
_LOOKS = re.compile(r"\(\?<?[=!]|\\(?:[1-9]|k<)")
MAX_EXPLAINED_VISITS = 100_000
"""How much work it may be to say what is wrong with a value; whether anything is, is always little."""


class JsonSchema:
    """A schema that is sound, and compiled.

    Attributes:
        schema: as its author wrote it.
    """

    __slots__ = ("_effort", "_validator", "schema")

    def __init__(self, schema: dict[str, Any], validator: Validator, effort: Effort) -> None:
        self.schema = schema
        self._validator = validator
        self._effort = effort

    def problems(self, value: Any) -> list[tuple[FieldPath, str]]:
        """What is wrong with a JSON value, where and what; empty when it fits.

        Raises:
            ValueError: it is no JSON value.
        """
        if self._validator.is_valid(value):
            return []
        if self._work(value) > MAX_EXPLAINED_VISITS:
            return [((), "does not fit the schema, and is too large to say where")]
        found = [problem for error in self._validator.iter_errors(value) for problem in problems(error, value)]
        return sorted(found, key=lambda problem: tuple(map(str, problem[0])))

    def _work(self, value: Any) -> int:
        """A bound for the work of finding every error: what recurs in several ways is looked at again and again."""
        values, depth = _extent(value)
        return int(values * self._effort.visits * max(1, self._effort.returns) ** depth)


def compile_schema(schema: Any, what: str, refusal: type[ToolDefinitionError]) -> JsonSchema:
    """Check and compile a schema, called `what` in messages.

    Raises:
        ToolDefinitionError: of the type `refusal`: it is not sound, or asks for more than is granted.
    """
    try:
        return _compiled(_plain(schema, 0, [0]))
    except _RefusedError as error:
        raise refusal(f"{what}: {error}") from None


class _RefusedError(Exception):
    pass


def _compiled(schema: Any) -> JsonSchema:
    if not isinstance(schema, dict):
        raise _RefusedError("it is not an object")
    import jsonschema_rs

    named = _dialect(schema)
    found = list(subschemas(schema))
    if len(found) > MAX_SUBSCHEMAS:
        raise _RefusedError(f"it has {len(found)} subschemas, the limit is {MAX_SUBSCHEMAS}")
    for one in found:
        if "$schema" in one.schema:
            _dialect(one.schema)
    try:
        validator: Validator = getattr(jsonschema_rs, DIALECTS[named])(
            schema, offline=True, validate_formats=False, pattern_options=_linear()
        )
        for one in found:
            _check_patterns(one)
        work = effort(schema)
    except jsonschema_rs.ValidationError as error:
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
    raise _RefusedError(f"its dialect {named!r} is not served; $schema may name {' or '.join(DIALECTS)}")


def _plain(value: Any, depth: int, count: list[int]) -> Any:
    """A copy of a JSON value, so that nobody changes it any more."""
    count[0] += 1
    if depth > MAX_SCHEMA_DEPTH:
        raise _RefusedError(f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels")
    if count[0] > MAX_VALUES:
        raise _RefusedError(f"it holds more than {MAX_VALUES} values")
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise _RefusedError(f"it has the member {name!r}, whose name is not text")
        return {name: _plain(inner, depth + 1, count) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1, count) for inner in value]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise _RefusedError(f"it holds {value!r}, which JSON lacks")


# --- regular expressions


@cache
def _linear() -> RegexOptions:
    """An engine that runs in time linear to the text."""
    from jsonschema_rs import RegexOptions

    return RegexOptions(size_limit=MAX_REGEX_BYTES, dfa_size_limit=MAX_REGEX_BYTES)


def _check_patterns(one: Subschema) -> None:
    pattern, named = one.schema.get("pattern"), one.schema.get("patternProperties")
    patterns = [*([pattern] if isinstance(pattern, str) else []), *(named if isinstance(named, dict) else [])]
    for text in patterns:
        if complaint := _pattern_complaint(text):
            raise _RefusedError(f"{'.'.join(map(str, one.path)) or 'the root'}: the pattern {text!r:.100} {complaint}")


def _pattern_complaint(pattern: str) -> str | None:
    from jsonschema_rs import FancyRegexOptions

    if _runs(pattern, _linear()):
        return None
    if not _runs(pattern, FancyRegexOptions()):
        return "is not sound"
    if _LOOKS.search(pattern):
        return "looks around or back, which takes time without limits; say it without"
    return "is too large; bound lengths with maxLength"


def _runs(pattern: str, engine: Any) -> bool:
    from jsonschema_rs import Draft202012Validator

    try:
        Draft202012Validator({"pattern": pattern}, pattern_options=engine)
    except ValueError:
        return False
    return True


def _why(error: ValidationError, schema: dict[str, Any]) -> str:
    """What is wrong with a schema itself."""
    kind = type(error.kind).__name__
    if kind == "Referencing":
        lost = error.message.partition(" is not present")[0]
        return f"a $ref leads nowhere in the schema, and nothing is retrieved: {lost}"
    if kind == "Format":
        pattern = str(error.instance)
        place = ".".join(map(str, error.instance_path))
        return f"{place}: the pattern {pattern!r:.100} {_pattern_complaint(pattern) or 'is not sound'}"
    return "it is not valid in its dialect: " + "; ".join(line(path, text) for path, text in problems(error, schema))


def _extent(value: Any) -> tuple[int, int]:
    """How many values a JSON value holds, itself included, and how deep it is."""
    count = depth = 0
    level = [value]
    while level:
        count += len(level)
        depth += 1
        members = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [inner for one in members for inner in one]
    return count, depth
