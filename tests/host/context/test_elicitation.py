"""Forms: every type that can be asked for and how it comes back, and what is refused, with the field and the reason."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, RootModel, field_validator
from typing_extensions import NotRequired, TypedDict

from pegboard.context.elicitation import form_of, form_problem
from pegboard.errors import InteractionError
from tests.support.schemas import MODERN, check


def answered(kind: Any, content: dict[str, Any]) -> Any:
    """Return the value that the author receives for valid content."""
    form = form_of(kind)
    assert form_problem(form.schema, content) is None
    return form.convert(content)


def field_of(kind: Any, name: str = "value") -> Any:
    """The field of a form as it is sent, without the title that pydantic makes of its name; the form must be sound."""
    schema = dict(form_of(kind).schema)
    check(MODERN[-1], "ElicitRequestFormParams", {"message": "x", "requestedSchema": schema})
    found = dict(schema["properties"][name])
    found.pop("title", None)
    return found


def why(kind: Any) -> str:
    """Why something is no form."""
    with pytest.raises(InteractionError) as caught:
        form_of(kind)
    return str(caught.value.developer_message)


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Only(enum.Enum):
    ONE = "one"


class Size(enum.StrEnum):
    S = "small"
    L = "large"


class Name(RootModel[str]):
    pass


Titled = Annotated[Literal["eur"], Field(title="Euro")] | Annotated[Literal["chf"], Field(title="Swiss franc")]
EURO = [{"const": "eur", "title": "Euro"}, {"const": "chf", "title": "Swiss franc"}]

TYPES: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (str, {"type": "string"}, "x", "x"),
    (int, {"type": "integer"}, 3.0, 3),
    (int, {"type": "integer"}, 10**400, 10**400),
    (float, {"type": "number"}, 1, 1.0),
    (date, {"type": "string", "format": "date"}, "2026-07-28", date(2026, 7, 28)),
    (
        datetime,
        {"type": "string", "format": "date-time"},
        "2026-07-28t01:02:03.5z",
        datetime(2026, 7, 28, 1, 2, 3, 500000, tzinfo=UTC),
    ),
    (AnyUrl, {"type": "string", "format": "uri", "minLength": 1}, "https://x.example/", AnyUrl("https://x.example/")),
    (Name, {"type": "string"}, "Ann", Name("Ann")),
    (
        Annotated[str, Field(min_length=1, max_length=3)],
        {"type": "string", "minLength": 1, "maxLength": 3},
        "abc",
        "abc",
    ),
    (Annotated[str, Field(description="why", examples=["x"])], {"type": "string", "description": "why"}, "x", "x"),
    (
        Annotated[str, Field(json_schema_extra={"format": "email"})],
        {"type": "string", "format": "email"},
        "a@b.example",
        "a@b.example",
    ),
    (Annotated[int, Field(gt=1, lt=5)], {"type": "integer", "minimum": 2, "maximum": 4}, 4, 4),
    (Optional[int], {"type": "integer"}, 3, 3),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
    (Colour, {"type": "string", "enum": ["red", "green"]}, "green", Colour.GREEN),
    (Titled, {"type": "string", "oneOf": EURO}, "chf", "chf"),
    (list[Literal["a", "b"]], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, ["b"], ["b"]),
    (list[Titled], {"type": "array", "items": {"anyOf": EURO}}, ["eur", "chf"], ["eur", "chf"]),
    (
        Annotated[list[Only], Field(min_length=1, max_length=2)],
        {"type": "array", "items": {"type": "string", "enum": ["one"]}, "minItems": 1, "maxItems": 2},
        ["one"],
        [Only.ONE],
    ),
]


@pytest.mark.requirement("ASK-02")
@pytest.mark.parametrize(("kind", "sent", "given", "value"), TYPES, ids=lambda one: str(one)[:40])
def test_every_type_is_sent_as_a_form_has_it_and_comes_back_as_itself(
    kind: Any, sent: dict[str, Any], given: Any, value: Any
) -> None:
    assert field_of(kind) == sent
    got = answered(kind, {"value": given})
    assert got == value
    assert type(got) is type(value)


class Person(BaseModel):
    """A model with a default of every kind."""

    model_config = ConfigDict(extra="ignore")

    name: str
    nick: str | None
    mail: Annotated[str, Field(alias="e-mail", title="E-mail")]
    age: int = 30
    score: float = 95.5
    status: Colour = Colour.RED
    sizes: set[Size] = {Size.S}
    born: date = date(2000, 1, 2)
    seen: datetime | None = None
    verified: bool = True

    @field_validator("name")
    @classmethod
    def not_empty(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("say who you are")
        return value


def test_a_model_s_fields_defaults_and_aliases() -> None:
    schema = form_of(Person).schema
    assert schema["required"] == ["name", "e-mail"]
    defaults = {name: one.get("default") for name, one in schema["properties"].items()}
    assert defaults == {
        "name": None,
        "nick": None,
        "e-mail": None,
        "age": 30,
        "score": 95.5,
        "status": "red",
        "sizes": ["small"],
        "born": "2000-01-02",
        "seen": None,
        "verified": True,
    }
    assert schema["properties"]["e-mail"]["title"] == "E-mail"
    check(MODERN[-1], "ElicitRequestFormParams", {"message": "x", "requestedSchema": dict(schema)})
    person = answered(Person, {"name": "Ann", "e-mail": "a@b", "unasked": 1})
    assert (person.name, person.nick, person.mail, person.sizes) == ("Ann", None, "a@b", {Size.S})


def test_an_answer_that_the_authors_validator_rejects_is_invalid() -> None:
    with pytest.raises(ValueError, match=r"^name: .*say who you are$"):
        form_of(Person).convert({"name": " ", "e-mail": "a@b"})


@dataclass
class Trip:
    to: str
    stops: list[Size] = field(default_factory=list)


class Choice(TypedDict):
    colour: Colour
    note: NotRequired[str]


@pytest.mark.parametrize(
    ("kind", "content", "value"),
    [
        (Trip, {"to": "Bern", "stops": ["small"]}, Trip("Bern", [Size.S])),
        (Choice, {"colour": "red", "note": "n"}, {"colour": Colour.RED, "note": "n"}),
        (int | None, {}, None),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
    ],
    ids=str,
)
def test_dataclasses_typed_dicts_schemas_and_what_may_be_left_out(kind: Any, content: Any, value: Any) -> None:
    assert answered(kind, content) == value


class Nested(BaseModel):
    home: Person


class Again(BaseModel):
    again: Again | None = None


class Endless(RootModel[list["Endless"]]):
    pass


class Pages(BaseModel):
    tags: list[str]


@pytest.mark.requirement("ASK-29")
@pytest.mark.parametrize(
    ("kind", "field", "reason"),
    [
        (Nested, "home", "its type is 'object'"),
        (Pages, "tags", "its items must be choices"),
        (list[int], "value", "its items must be choices"),
        (Any, "value", "must have one simple type"),
        (Decimal, "value", "must have one simple type"),
        (Literal[1, 2], "value", "'enum' is not possible for a field of type integer"),
        (None, "value", "its type is 'null'"),
        (UUID, "value", "the format 'uuid'"),
        (Annotated[str, Field(pattern="a+")], "value", "'pattern'"),
        (Annotated[float, Field(gt=0)], "value", "'exclusiveMinimum'"),
        (Annotated[int, Field(multiple_of=3)], "value", "'multipleOf'"),
    ],
    ids=str,
)
def test_a_type_that_no_form_can_hold_is_refused_by_its_field(kind: Any, field: str, reason: str) -> None:
    complaint = why(kind)
    assert f"field {field!r}: " in complaint
    assert reason in complaint


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (dict[str, int], "field names are not fixed"),
        (5, "5 is not a type"),
        (Callable, "is not a type"),
        (Annotated[int, Field(gt=1.5)], "is not a type"),
        (Annotated[str, []], None),
        ({}, "not an object"),
        ({"type": "object", "properties": {}, "required": [["a"]]}, "fields that are not in"),
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_a_form_is_rejected(kind: Any, reason: str | None) -> None:
    if reason is None:
        assert field_of(kind) == {"type": "string"}
    else:
        assert reason in why(kind)


TEXT = {"type": "string"}


@pytest.mark.requirement("ASK-29")
@pytest.mark.parametrize(
    ("one", "reason"),
    [
        ("string", "it must be an object"),
        ({"type": "object"}, "its type is 'object'"),
        (TEXT | {"title": 5}, "its title must be a string"),
        (TEXT | {"minLength": "3"}, "its minLength must be an integer"),
        (TEXT | {"format": "uuid"}, "the format 'uuid'"),
        (TEXT | {"enum": []}, "its choices must be strings"),
        (TEXT | {"enum": ["a", 1]}, "its choices must be strings"),
        (TEXT | {"enum": ["a"], "enumNames": ["A", "B"]}, "differ in length"),
        (TEXT | {"oneOf": [{"const": "a", "title": 1}]}, "its choices must be strings"),
        (TEXT | {"enum": ["a"], "default": "b"}, "its default must be one of a"),
        (TEXT | {"format": "date", "default": "soon"}, "its default must be a date"),
        ({"type": "number", "maximum": float("inf")}, "its maximum must be a number"),
        ({"type": "boolean", "enum": [True]}, "'enum' is not possible"),
        ({"type": "array"}, "its items must be choices"),
        ({"type": "array", "items": {"anyOf": [{"const": "a"}]}}, "its items must be choices"),
    ],
    ids=str,
)
def test_a_field_of_a_schema_that_is_none_of_a_form(one: Any, reason: str) -> None:
    complaint = why({"type": "object", "properties": {"one": one}})
    assert "field 'one': " in complaint
    assert reason in complaint


def wrong(one: dict[str, Any], value: Any) -> str | None:
    return form_problem({"type": "object", "properties": {"one": one}}, {"one": value})


@pytest.mark.requirement("ASK-08")
@pytest.mark.parametrize(
    ("one", "good", "bad"),
    [
        (TEXT, ["", "x", "\x00"], [None, 1, True, [], {}]),
        (TEXT | {"minLength": 2, "maxLength": 3}, ["ab", "日本語"], ["a", "abcd"]),
        (TEXT | {"format": "email"}, ["a@b", "ä@ü.example"], ["a", "@", "a@", "@b", "a@b@c", "a b@c"]),
        (TEXT | {"format": "uri"}, ["https://x.example/?q#f", "urn:x", "mailto:a@b"], ["", "x", "//x", "a b:c", ":x"]),
        (
            TEXT | {"format": "date"},
            ["2026-07-28", "2024-02-29"],
            ["2026-02-29", "20260728", "2026-W31-2", "2026-07-28T00:00:00Z", "28.7.2026", "\u0662026-07-28"],
        ),
        (
            TEXT | {"format": "date-time"},
            ["2026-07-28T01:02:03Z", "2026-07-28T01:02:03.123456789+02:00", "2026-07-28t01:02:03z", "2026-07-28T01:02"],
            ["2026-07-28", "2026-07-28T25:00:00Z", "20260728T010203Z", "now", "2026-W31-2T00:00"],
        ),
        (TEXT | {"enum": ["a", "b"]}, ["a"], ["c", "", None, ["a"], 0]),
        (TEXT | {"oneOf": EURO}, ["eur"], ["Euro", "usd"]),
        ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
        ({"type": "integer"}, [0, -1, 2.0, 10**400], [True, 1.5, "1", None, float("nan"), float("inf")]),
        ({"type": "number"}, [0, 1.5, 10**400], [False, "1", None, float("-inf")]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [0, 1, 0.5], [-0.1, 1.1, 10**400, -(10**400)]),
        (
            {"type": "array", "items": TEXT | {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
            [["a"], ["b", "a"]],
            [[], ["a", "b", "a"], ["c"], "a", {"a": 1}, [["a"]], [None], None],
        ),
        ({"type": "array", "items": {"anyOf": EURO}}, [[], ["eur"]], [["Euro"]]),
    ],
    ids=str,
)
def test_which_values_fit_a_field(one: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert [wrong(one, value) for value in good] == [None] * len(good)
    assert [value for value in bad if wrong(one, value) is None] == []


@pytest.mark.requirement("ASK-08")
@pytest.mark.parametrize("content", [None, [], "x", 5])
def test_content_that_is_no_object_fits_nothing(content: Any) -> None:
    assert form_problem({"type": "object", "properties": {}}, content) == "the content must be an object"


@pytest.mark.requirement("ASK-08")
def test_a_required_field_must_be_present() -> None:
    assert form_problem(form_of(Trip).schema, {"stops": []}) == "to is missing"
