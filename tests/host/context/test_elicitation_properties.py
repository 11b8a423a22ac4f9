"""Forms of any flat model: one that MCP has, which takes what the model takes. No schema and no answer is a crash."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter, create_model

from pegboard.context.elicitation import form_of, form_problem
from pegboard.errors import InteractionError
from tests.support.schemas import MODERN, check

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not hasattr(BaseModel, name) and not name.startswith("model_")
)
WORDS = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
WHOLE = st.integers(-(10**20), 10**20)
REAL = st.floats(allow_nan=False, allow_infinity=False, width=32)
TIMES = st.datetimes(timezones=st.one_of(st.none(), st.just(UTC)))

Typed = tuple[Any, st.SearchStrategy[Any]]
"""A type, and the values of it as a model gives them."""


def _enum(words: list[str]) -> Any:
    return Enum("Words", {f"m{number}": word for number, word in enumerate(words)})


def _bounded(low: Any, high: Any, kind: type, values: st.SearchStrategy[Any]) -> Typed:
    low, high = sorted((low, high))
    return Annotated[kind, Field(ge=low, le=high)], values.filter(lambda value: low <= value <= high)


def _choice(words: list[str]) -> Any:
    return Literal[tuple(words)]


def _several(words: list[str]) -> Typed:
    kind: Any = _choice(words)
    return list[kind], st.lists(st.sampled_from(words), max_size=3)


TYPES: st.SearchStrategy[Typed] = st.one_of(
    st.just((str, TEXTS)),
    st.just((int, WHOLE)),
    st.just((float, REAL)),
    st.just((bool, st.booleans())),
    st.just((date, st.dates())),
    st.just((datetime, TIMES)),
    st.just((AnyUrl, st.just(AnyUrl("https://x.example/a?b=c")))),
    st.builds(lambda most: (Annotated[str, Field(max_length=most)], TEXTS.map(lambda t: t[:most])), st.integers(0, 9)),
    st.builds(_bounded, WHOLE, WHOLE, st.just(int), st.just(WHOLE)),
    st.builds(_bounded, st.just(-1.5), REAL.filter(lambda x: x > 0), st.just(float), st.just(st.floats(-1.5, 0))),
    WORDS.map(lambda words: (_choice(words), st.sampled_from(words))),
    WORDS.map(lambda words: ((kind := _enum(words)), st.sampled_from(list(kind)))),
    WORDS.map(_several),
)


@st.composite
def models(draw: st.DrawFn) -> tuple[type[BaseModel], dict[str, Any]]:
    """A flat model, and values for its fields, some of which may be left out."""
    fields: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name in draw(st.lists(NAMES, max_size=5, unique=True)):
        kind, of_kind = draw(TYPES)
        shape = draw(st.sampled_from(["needed", "default", "optional", "nullable"]))
        fields[name] = {
            "needed": (kind, ...),
            "default": (kind, draw(of_kind)),
            "optional": (kind | None, None),
            "nullable": (kind | None, ...),
        }[shape]
        if shape == "needed" or draw(st.booleans()):
            values[name] = draw(of_kind)
    config = ConfigDict(extra=draw(st.sampled_from(["ignore", "forbid", "allow"])))
    return create_model("Model", __config__=config, **fields), values


@given(models())
def test_a_form_of_any_flat_model_takes_what_the_model_takes(made: tuple[type[BaseModel], dict[str, Any]]) -> None:
    model, values = made
    form = form_of(model)
    check(MODERN[-1], "ElicitRequestFormParams", {"message": "x", "requestedSchema": dict(form.schema)})
    content = {name: TypeAdapter(type(value)).dump_python(value, mode="json") for name, value in values.items()}
    content = json.loads(json.dumps(content))
    assert form_problem(form.schema, content) is None
    got = form.convert(content)
    assert isinstance(got, model)
    for name, field in model.model_fields.items():
        expected = values[name] if name in values else None if field.is_required() else field.default
        assert getattr(got, name) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


KEYWORDS = """
type title description default minLength maxLength minimum maximum minItems maxItems format enum enumNames oneOf items
anyOf const required properties string number integer boolean array object email uri date a
"""
WORDS_OF_SCHEMAS = st.sampled_from(KEYWORDS.split())
SCHEMAS = st.recursive(
    WORDS_OF_SCHEMAS | st.integers(-2, 5) | st.floats() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS_OF_SCHEMAS, inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "integer", "boolean", "array"])},
    optional={
        "title": st.text(max_size=3) | SCHEMAS,
        "default": JSON,
        "minLength": st.integers(0, 3) | SCHEMAS,
        "maximum": st.integers(0, 3) | SCHEMAS,
        "format": st.sampled_from(["email", "date", "x"]) | SCHEMAS,
        "enum": st.lists(st.sampled_from(["a", "b"])) | SCHEMAS,
        "enumNames": st.lists(st.sampled_from(["A", "B"])) | SCHEMAS,
        "oneOf": st.lists(st.fixed_dictionaries({"const": st.just("a"), "title": st.just("A")})) | SCHEMAS,
        "items": st.just({"type": "string", "enum": ["a"]}) | SCHEMAS,
    },
)


@pytest.mark.requirement("ASK-29")
@given(st.dictionaries(st.text(max_size=3), FIELDS | SCHEMAS, max_size=3), SCHEMAS, JSON)
def test_any_schema_is_a_form_that_mcp_has_or_is_refused(properties: Any, required: Any, content: Any) -> None:
    schema = {"type": "object", "properties": properties, "required": required}
    try:
        form = form_of(schema)
    except InteractionError:
        return
    check(MODERN[-1], "ElicitRequestFormParams", {"message": "x", "requestedSchema": dict(form.schema)})
    assert form_problem(form.schema, content) is None or isinstance(form_problem(form.schema, content), str)
