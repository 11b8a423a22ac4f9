"""A form of any flat model is valid MCP and takes the model's values."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter, create_model

from pegboard.context.elicitation import form_of, form_problem
from tests.support.schemas import MODERN, check

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True).filter(lambda name: not hasattr(BaseModel, name))
WORDS = st.lists(TEXTS, min_size=1, max_size=4, unique=True).map(tuple)
WHOLE = st.integers(-(10**20), 10**20)
TIMES = st.datetimes(timezones=st.one_of(st.none(), st.just(UTC)))


def enum_of(words: tuple[str, ...]) -> Any:
    return Enum("Words", {f"m{number}": word for number, word in enumerate(words)})


def bounded(limits: tuple[int, int]) -> Any:
    return Annotated[int, Field(ge=min(limits), le=max(limits))], st.integers(min(limits), max(limits))


TYPES: st.SearchStrategy[tuple[Any, st.SearchStrategy[Any]]] = st.one_of(
    st.just((str, TEXTS)),
    st.just((float, st.floats(allow_nan=False, allow_infinity=False, width=32))),
    st.just((bool, st.booleans())),
    st.just((date, st.dates())),
    st.just((datetime, TIMES)),
    st.just((AnyUrl, st.just(AnyUrl("https://x.example/a?b=c")))),
    st.tuples(WHOLE, WHOLE).map(bounded),
    WORDS.map(lambda words: (Literal[words], st.sampled_from(words))),
    WORDS.map(lambda words: (list[Literal[words]], st.lists(st.sampled_from(words), max_size=3))),  # type: ignore[valid-type]
    WORDS.map(lambda words: ((kind := enum_of(words)), st.sampled_from(list(kind)))),
)


@st.composite
def models(draw: st.DrawFn) -> tuple[type[BaseModel], dict[str, Any]]:
    """Return a flat model, and values for its fields, some of which may be left out."""
    fields: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name in draw(st.lists(NAMES, max_size=5, unique=True)):
        kind, of_kind = draw(TYPES)
        shape = draw(st.sampled_from(["needed", "default", "optional", "nullable"]))
        default = {"default": draw(of_kind), "optional": None}.get(shape, ...)
        fields[name] = (kind | None if shape in ("optional", "nullable") else kind, default)
        if shape == "needed" or draw(st.booleans()):
            values[name] = draw(of_kind)
    config = ConfigDict(extra=draw(st.sampled_from(["ignore", "forbid", "allow"])))
    return create_model("Model", __config__=config, **fields), values


@settings(max_examples=50)
@given(models())
def test_a_form_of_any_flat_model_takes_the_values_of_the_model(made: tuple[type[BaseModel], dict[str, Any]]) -> None:
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
