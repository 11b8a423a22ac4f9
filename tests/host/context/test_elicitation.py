"""Forms: the types that a form can have, the values that authors receive, and refusals with their reasons."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator
from typing_extensions import TypedDict

from pegboard.context.elicitation import form_of, form_problem
from pegboard.errors import InteractionError
from tests.support.schemas import MODERN, check

TEXT = {"type": "string"}


def answered(kind: Any, content: dict[str, Any]) -> Any:
    """Return the value that the author receives for valid content."""
    form = form_of(kind)
    assert form_problem(form.schema, content) is None
    return form.convert(content)


def sent_schema(kind: Any) -> dict[str, Any]:
    schema = dict(form_of(kind).schema)
    check(MODERN[-1], "ElicitRequestFormParams", {"message": "x", "requestedSchema": schema})
    return schema


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Size(enum.StrEnum):
    S = "small"
    L = "large"


class Name(RootModel[str]):
    pass


Titled = Annotated[Literal["eur"], Field(title="Euro")] | Annotated[Literal["chf"], Field(title="Swiss franc")]
EURO = [{"const": "eur", "title": "Euro"}, {"const": "chf", "title": "Swiss franc"}]
INSTANT = datetime(2026, 7, 28, 1, 2, 3, 500000, tzinfo=UTC)

TYPES: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (int, {"type": "integer"}, 3.0, 3),
    (datetime, TEXT | {"format": "date-time"}, "2026-07-28t01:02:03.5z", INSTANT),
    (Name, TEXT, "Ann", Name("Ann")),
    (Annotated[str, Field(max_length=3, examples=["x"])], TEXT | {"maxLength": 3}, "abc", "abc"),
    (Annotated[str, Field(json_schema_extra={"format": "email"})], TEXT | {"format": "email"}, "a@b.c", "a@b.c"),
    (Annotated[int, Field(gt=1, lt=5)], {"type": "integer", "minimum": 2, "maximum": 4}, 4, 4),
    (Colour, TEXT | {"enum": ["red", "green"]}, "green", Colour.GREEN),
    (Titled, TEXT | {"oneOf": EURO}, "chf", "chf"),
    (
        Annotated[list[Colour], Field(min_length=1, max_length=2)],
        {"type": "array", "items": TEXT | {"enum": ["red", "green"]}, "minItems": 1, "maxItems": 2},
        ["red"],
        [Colour.RED],
    ),
]


@pytest.mark.requirement("ASK-02")
@pytest.mark.parametrize(("kind", "sent", "answer", "value"), TYPES, ids=lambda value: str(value)[:40])
def test_every_type_is_sent_as_a_form_has_it_and_comes_back_as_itself(
    kind: Any, sent: dict[str, Any], answer: Any, value: Any
) -> None:
    field = sent_schema(kind)["properties"]["value"]
    assert {name: value for name, value in field.items() if name != "title"} == sent
    got = answered(kind, {"value": answer})
    assert (got, type(got)) == (value, type(value))


class Person(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    nick: str | None
    mail: Annotated[str, Field(alias="e-mail", title="E-mail")]
    status: Colour = Colour.RED
    sizes: set[Size] = {Size.S}
    born: date = date(2000, 1, 2)
    seen: datetime | None = None

    @field_validator("name")
    @classmethod
    def not_empty(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("say who you are")
        return value


def test_a_model_has_its_fields_defaults_aliases_and_validators() -> None:
    schema = sent_schema(Person)
    assert schema["required"] == ["name", "e-mail"]
    defaults = {name: member["default"] for name, member in schema["properties"].items() if "default" in member}
    assert defaults == {"status": "red", "sizes": ["small"], "born": "2000-01-02"}
    assert schema["properties"]["e-mail"]["title"] == "E-mail"
    person = answered(Person, {"name": "Ann", "e-mail": "a@b", "unasked": 1})
    assert (person.name, person.nick, person.mail, person.sizes) == ("Ann", None, "a@b", {Size.S})
    with pytest.raises(ValueError, match=r"^name: .*say who you are$"):
        form_of(Person).convert({"name": " ", "e-mail": "a@b"})


class Nested(BaseModel):
    home: Person


@dataclass
class Trip:
    to: str
    back: bool = False


class Choice(TypedDict):
    colour: Colour


def test_dataclasses_typed_dicts_and_schemas_are_forms() -> None:
    assert answered(Trip, {"to": "Bern"}) == Trip("Bern")
    assert answered(Choice, {"colour": "red"}) == {"colour": Colour.RED}
    assert answered(schema_of({"type": "integer"}), {"value": 1, "b": 2}) == {"value": 1, "b": 2}


def schema_of(field: Any) -> Any:
    return {"type": "object", "properties": {"value": field}}


@pytest.mark.requirement("ASK-29")
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Nested, "field 'home': its type is 'object'"),
        (Any, "field 'value': it must have one simple type"),
        (Literal[1, 2], "'enum' is not possible for a field of type integer"),
        (Annotated[str, Field(pattern="a+")], "'pattern'"),
        (dict[str, int], "field names are not fixed"),
        (5, "5 is not a type"),
        ({"type": "object", "properties": {}, "required": [["a"]]}, "fields that are not in"),
        (schema_of("string"), "field 'value': it must be an object"),
        (schema_of(TEXT | {"format": "uuid"}), "the format 'uuid'"),
        (schema_of(TEXT | {"enum": ["a", 1]}), "its choices must be strings"),
        (schema_of(TEXT | {"enum": ["a"], "enumNames": ["A", "B"]}), "differ in length"),
        (schema_of(TEXT | {"enum": ["a"], "default": "b"}), "its default must be one of a"),
        (schema_of({"type": "number", "maximum": float("inf")}), "its maximum must be a number"),
        (schema_of({"type": "array", "items": {"anyOf": [{"const": "a"}]}}), "its items must be choices"),
    ],
    ids=str,
)
def test_a_type_or_schema_that_cannot_be_a_form_is_refused(kind: Any, reason: str) -> None:
    with pytest.raises(InteractionError) as caught:
        form_of(kind)
    assert reason in str(caught.value.developer_message)


@pytest.mark.requirement("ASK-08")
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        (TEXT, ["", "x", "\x00"], [None, 1, True, [], {}]),
        (TEXT | {"minLength": 2, "maxLength": 3}, ["ab", "日本語"], ["a", "abcd"]),
        (TEXT | {"format": "email"}, ["a@b", "ä@ü.example"], ["a", "@", "a@", "@b", "a@b@c", "a b@c"]),
        (TEXT | {"format": "uri"}, ["https://x.example/?q#f", "urn:x", "mailto:a@b"], ["", "x", "//x", "a b:c", ":x"]),
        (
            TEXT | {"format": "date"},
            ["2026-07-28", "2024-02-29"],
            ["2026-02-29", "20260728", "2026-W31-2", "2026-07-28T00:00:00Z", "\u0662026-07-28"],
        ),
        (
            TEXT | {"format": "date-time"},
            ["2026-07-28T01:02:03Z", "2026-07-28T01:02:03.123456789+02:00", "2026-07-28T01:02"],
            ["2026-07-28", "2026-07-28T25:00:00Z", "20260728T010203Z", "now", "2026-W31-2T00:00"],
        ),
        (TEXT | {"enum": ["a", "b"]}, ["a"], ["c", "", None, ["a"], 0]),
        (TEXT | {"oneOf": EURO}, ["eur"], ["Euro", "usd"]),
        ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
        ({"type": "integer"}, [0, -1, 2.0, 10**400], [True, 1.5, "1", None, float("nan"), float("inf")]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [0, 1, 0.5], [-0.1, 1.1, 10**400, False, "1"]),
        (
            {"type": "array", "items": TEXT | {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
            [["a"], ["b", "a"]],
            [[], ["a", "b", "a"], ["c"], "a", {"a": 1}, [["a"]], [None], None],
        ),
    ],
    ids=str,
)
def test_which_values_fit_a_field(field: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    def fits(value: Any) -> bool:
        return form_problem(schema_of(field), {"value": value}) is None

    assert [value for value in good if not fits(value)] == []
    assert [value for value in bad if fits(value)] == []


@pytest.mark.requirement("ASK-08")
def test_content_is_an_object_with_the_required_fields() -> None:
    contents: list[Any] = [None, [], "x", 5]
    for content in contents:
        assert form_problem({"type": "object", "properties": {}}, content) == "the content must be an object"
    assert form_problem(form_of(Person).schema, {"name": "Ann"}) == "e-mail is missing"
