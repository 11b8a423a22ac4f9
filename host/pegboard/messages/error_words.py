"""The one table of messages about invalid values. A message states the required value, never the actual value.

The table contains every error type of pydantic, every kind of jsonschema-rs, and the few errors that the host finds
itself. Arguments, results, answers of users and settings use the same words. The errors of an author's own validators
keep the author's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

FieldPath: TypeAlias = tuple[str | int, ...]
"""The members and indexes from the root of a JSON value to a field."""

REQUIRED = "is required"
UNKNOWN = "is not a parameter of this tool"
NOT_ALLOWED = "is not allowed"
MAX_LINE_CHARACTERS = 300
"""The length above which the problem of a field is cut off."""
MAX_FORMS = 5
"""The number of forms of a union that a message describes."""

MAX_CHOICES = 20
"""The number of choices that a message lists."""
MAX_PARTS = 100
"""The number of parts of a value that are searched for in an author's message, and removed."""
MIN_REMOVED_CHARACTERS = 3
"""The minimum length of a value that is removed from an author's message."""
AUTHORS_TYPES = ("assertion_error", "value_error")
"""The error types whose message is the author's."""
CHOICE_TYPES = ("literal_error", "enum")
"""The error types of values that are none of the choices."""
TYPES = {
    "string": "string_type",
    "integer": "int_type",
    "number": "float_type",
    "boolean": "bool_type",
    "object": "dict_type",
    "array": "list_type",
    "null": "none_required",
}
"""The error type, by the JSON Schema type that a value must have."""

_LIST = "must be a list"
_OBJECT = "must be an object"
_DATE = "must be a date such as 2026-07-28"
_DATETIME = "must be a date and time such as 2026-07-28T10:30:00Z"
_TIME = "must be a time such as 10:30:00"
_DURATION = "must be a duration such as P1DT2H30M (ISO 8601)"
_DECIMAL = "must be a decimal number"
_COMPLEX = "must be a complex number such as 1+2j"
_FRACTION = "must be a fraction such as 3/4"
_URL = "must be a URL such as https://example.com/path"
_UUID = "must be a UUID such as 01234567-89ab-4def-8123-456789abcdef"
_PATTERN = "must be a regular expression"
_NO_JSON = "must be a value that JSON cannot express"
_FROZEN = "cannot be changed"

WORDS: Mapping[str, str] = {
    "arguments_type": "must be a list or an object of arguments",
    "assertion_error": "is not valid",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "bytes_invalid_encoding": "must be encoded as {encoding}",
    "bytes_too_long": "must have at most {max_length} {max_length:bytes}",
    "bytes_too_short": "must have at least {min_length} {min_length:bytes}",
    "bytes_type": "must be a string",
    "callable_type": _NO_JSON,
    "complex_str_parsing": _COMPLEX,
    "complex_type": _COMPLEX,
    "counter_type": _OBJECT,
    "dataclass_exact_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "date_from_datetime_inexact": "must be a date such as 2026-07-28, without a time",
    "date_from_datetime_parsing": _DATE,
    "date_future": "must be in the future",
    "date_parsing": _DATE,
    "date_past": "must be in the past",
    "date_type": _DATE,
    "datetime_from_date_parsing": _DATETIME,
    "datetime_future": "must be in the future",
    "datetime_object_invalid": _DATETIME,
    "datetime_parsing": _DATETIME,
    "datetime_past": "must be in the past",
    "datetime_type": _DATETIME,
    "decimal_max_digits": "must have at most {max_digits} {max_digits:digits}",
    "decimal_max_places": "must have at most {decimal_places} {decimal_places:digits} after the point",
    "decimal_parsing": _DECIMAL,
    "decimal_type": _DECIMAL,
    "decimal_whole_digits": "must have at most {whole_digits} {whole_digits:digits} before the point",
    "default_factory_not_called": "depends on fields that are not valid",
    "deque_type": _LIST,
    "dict_type": _OBJECT,
    "ellipsis_error": _NO_JSON,
    "enum": "must be {expected}",
    "extra_forbidden": NOT_ALLOWED,
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "fraction_parsing": _FRACTION,
    "fraction_type": _FRACTION,
    "frozen_dict_type": _OBJECT,
    "frozen_field": _FROZEN,
    "frozen_instance": _FROZEN,
    "frozen_set_type": _LIST,
    "get_attribute_error": "is not of the expected form",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be an integer without a fraction",
    "int_parsing": "must be an integer",
    "int_parsing_size": "must be an integer, and has too many digits",
    "int_type": "must be an integer",
    "invalid_key": "has a member whose name is not a string",
    "is_instance_of": _NO_JSON,
    "is_subclass_of": _NO_JSON,
    "iterable_type": _LIST,
    "iteration_error": _LIST,
    "json_invalid": "must be JSON in a string",
    "json_type": "must be JSON in a string",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": _LIST,
    "literal_error": "must be {expected}",
    "mapping_type": _OBJECT,
    "missing": REQUIRED,
    "missing_argument": REQUIRED,
    "missing_keyword_only_argument": REQUIRED,
    "missing_positional_only_argument": REQUIRED,
    "missing_sentinel_error": _NO_JSON,
    "model_attributes_type": _OBJECT,
    "model_type": _OBJECT,
    "multiple_argument_values": "must be given only once",
    "multiple_of": "must be a multiple of {multiple_of}",
    "named_tuple_type": "must be a list, or an object",
    "needs_python_object": _NO_JSON,
    "no_such_attribute": "has no member of this name",
    "none_required": "must be null",
    "ordered_dict_type": _OBJECT,
    "recursion_depth_exceeded": "is nested too deeply",
    "recursion_loop": "must not contain itself",
    "set_item_not_hashable": "must not contain lists or objects",
    "set_type": _LIST,
    "string_not_ascii": "must have only ASCII characters",
    "string_pattern_mismatch": "must match the regular expression {pattern}",
    "string_too_long": "must have at most {max_length} {max_length:characters}",
    "string_too_short": "must have at least {min_length} {min_length:characters}",
    "string_type": "must be a string",
    "string_unicode": "must be a string of whole characters",
    "time_delta_parsing": _DURATION,
    "time_delta_type": _DURATION,
    "time_parsing": _TIME,
    "time_type": _TIME,
    "timezone_aware": "must have an offset from UTC, such as Z or +02:00",
    "timezone_naive": "must not have an offset from UTC",
    "timezone_offset": "must have an offset from UTC of {tz_expected} seconds",
    "too_long": "must have at most {max_length} {max_length:items}",
    "too_short": "must have at least {min_length} {min_length:items}",
    "tuple_type": _LIST,
    "unexpected_keyword_argument": NOT_ALLOWED,
    "unexpected_positional_argument": NOT_ALLOWED,
    "union_tag_invalid": "must have {discriminator} as one of {expected_tags}",
    "union_tag_not_found": "must have the member {discriminator}",
    "url_parsing": _URL,
    "url_scheme": "must be a URL that begins with {expected_schemes}",
    "url_syntax_violation": _URL,
    "url_too_long": "must have at most {max_length} {max_length:characters}",
    "url_type": _URL,
    "uuid_parsing": _UUID,
    "uuid_type": _UUID,
    "uuid_version": "must be a UUID of version {expected_version}",
    "value_error": "is not valid",
    # raised by pydantic in Python; only messages that repeat values or mention Python
    "base64_decode": "must be Base64",
    "byte_size": "must be a size such as 10MB",
    "byte_size_unit": "must be a size such as 10MB",
    "import_error": "must be the name of something that can be imported",
    "ip_any_address": "must be an IPv4 or IPv6 address",
    "ip_any_interface": "must be an IPv4 or IPv6 interface such as 192.0.2.1/24",
    "ip_any_network": "must be an IPv4 or IPv6 network such as 192.0.2.0/24",
    "ip_v4_address": "must be an IPv4 address such as 192.0.2.1",
    "ip_v4_interface": "must be an IPv4 interface such as 192.0.2.1/24",
    "ip_v4_network": "must be an IPv4 network such as 192.0.2.0/24",
    "ip_v6_address": "must be an IPv6 address such as 2001:db8::1",
    "ip_v6_interface": "must be an IPv6 interface such as 2001:db8::1/64",
    "ip_v6_network": "must be an IPv6 network such as 2001:db8::/64",
    "not_operation_failed": "is not valid",
    "path_type": "must be a path",
    "pattern_bytes_type": _PATTERN,
    "pattern_regex": _PATTERN,
    "pattern_str_type": _PATTERN,
    "pattern_type": _PATTERN,
    "predicate_failed": "is not valid",
    "sequence_str": _LIST,
    "zoneinfo_str": "must be the name of a time zone such as Europe/Lisbon",
    "zoneinfo_type": "must be the name of a time zone such as Europe/Lisbon",
    # kinds of jsonschema-rs
    "AdditionalItems": "must have at most {limit} {limit:items}",
    "AnyOf": "fits none of the forms that are allowed",
    "BacktrackLimitExceeded": "cannot be checked against its pattern",
    "Constant": "must be {expected_value}",
    "Contains": "must contain an item of the required form",
    "Enum": "must be one of {options}",
    "ExclusiveMaximum": "must be less than {limit}",
    "ExclusiveMinimum": "must be greater than {limit}",
    "FalseSchema": NOT_ALLOWED,
    "MaxItems": "must have at most {limit} {limit:items}",
    "MaxLength": "must have at most {limit} {limit:characters}",
    "MaxProperties": "must have at most {limit} {limit:members}",
    "Maximum": "must be at most {limit}",
    "MinItems": "must have at least {limit} {limit:items}",
    "MinLength": "must have at least {limit} {limit:characters}",
    "MinProperties": "must have at least {limit} {limit:members}",
    "Minimum": "must be at least {limit}",
    "MultipleOf": "must be a multiple of {multiple_of}",
    "Not": "is of a form that is excluded",
    "OneOfMultipleValid": "must fit only one of the forms that are allowed",
    "Pattern": "must match the regular expression {pattern}",
    "UnevaluatedItems": "has items that are not allowed",
    "UniqueItems": "must not contain the same item twice",
    # booleans in place of numbers
    "boolean_excluded": "must not be {value}",
    "boolean_as_integer": "must be an integer, not true or false",
    "boolean_as_number": "must be a number, not true or false",
    # answers of users
    "answer_count": "has too few or too many entries",
    "answer_format": "must be a {format}",
    "answer_length": "is too short or too long",
    "answer_list": "must be a list of {options}",
    "answer_range": "is out of range",
    # settings
    "setting_empty": "must not be empty",
    "setting_missing": "is required and missing",
    "setting_path": 'must begin with "/"',
}
"""The wording by the type of the error."""

KINDS: Mapping[type[Any], str] = {
    kind: WORDS[name].removeprefix("must be ")
    for kind, name in (
        (type(None), "none_required"), (int, "int_type"), (float, "float_type"), (str, "string_type"),
        (list, "list_type"), (dict, "dict_type"),
    )
} | {bool: "a boolean"}  # fmt: skip
"""The kind of a JSON value in words, by its type in Python."""

_CONSTANTS = re.compile(r"(?:(?<=^)|(?<=, )|(?<= or ))(True|False|None)(?=$|, | or )")
"""Constants as pydantic writes them among choices."""
_MEMBERS = re.compile(r"<[\w.]+: (('[^']*')|[^>]*)>")
"""The members of an enum, as pydantic writes them among choices: `<Unit.FOOT: 'ft'>`."""
_OTHER_TYPE_ERRORS = frozenset(("bool_parsing", "float_parsing", "int_parsing", "none_required", "sequence_str"))


def line(path: Sequence[str | int], text: str) -> str:
    """Return a problem as one line."""
    where = ".".join(map(str, path))
    if not where:
        return text
    return f"{where} {text}" if text.startswith((REQUIRED, UNKNOWN, NOT_ALLOWED)) else f"{where}: {text}"


def hinted(text: str, hint: str) -> str:
    """Return a problem with a hint. A long problem is cut off before the hint."""
    return text[: MAX_LINE_CHARACTERS - len(hint)] + hint if hint else text


def alternatives(forms: Iterable[str]) -> str:
    """Return the problems of all forms of a union as one string. Equal problems are listed once."""
    texts = list(dict.fromkeys(forms))
    more = f", or {len(texts) - MAX_FORMS} other forms" if len(texts) > MAX_FORMS else ""
    return ", or: ".join(texts[:MAX_FORMS]) + more


def is_type_error(kind: str) -> bool:
    """Return True for the error types of values of another type."""
    return kind.endswith("_type") or kind in _OTHER_TYPE_ERRORS


def words(detail: Mapping[str, Any]) -> str:
    """Return a description of the problem that a model can act on.

    Args:
        detail: an error of `ValidationError.errors()`, or its type and context (`ctx`).
    """
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind in AUTHORS_TYPES and (message := str(context.get("error", ""))):
        return _without(message, detail.get("input"))
    is_text = kind in ("too_long", "too_short") and isinstance(detail.get("input"), str)  # such as a `SecretStr`
    text = WORDS.get(f"string_{kind}" if is_text else kind)
    if text is None:
        return _without(detail["msg"], detail.get("input"))
    try:
        return text.format_map({name: _Counted(_legible(name, value)) for name, value in context.items()})
    except KeyError:  # an author may raise pydantic's errors without their context
        return "is not valid"


class _Counted(str):
    """A value of a context. `{limit:items}` formats the value with a noun in singular or plural."""

    __slots__ = ()

    def __format__(self, noun: str) -> str:
        return noun.removesuffix("s") if noun and self == "1" else noun or str(self)


def _legible(name: str, value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    if name != "expected":
        return text
    text = _CONSTANTS.sub(lambda match: {"True": "true", "False": "false", "None": "null"}[match[1]], text)
    text = _MEMBERS.sub(r"\1", text)
    choices = text.split(", ")
    if len(choices) <= MAX_CHOICES:
        return text
    return ", ".join(choices[:MAX_CHOICES]) + f" or one of {len(choices) + 1 - MAX_CHOICES} more"


def _without(message: str, value: Any) -> str:
    """Return an author's message without the value and its parts, which may be secret."""
    shown = {text for part in islice(_parts(value), MAX_PARTS) for text in (str(part), repr(part))}
    for text in sorted(shown, key=len, reverse=True):
        if len(text) >= MIN_REMOVED_CHARACTERS:
            message = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "the value", message)
    return message


def _parts(value: Any) -> Iterator[Any]:
    """Yield a JSON value and all values inside it, without the names of members."""
    if isinstance(value, Mapping | list):
        yield value
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _parts(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value
