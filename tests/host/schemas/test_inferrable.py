"""`Inferrable(False)`: clients see which values a model must not choose by itself."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from pegboard import Inferrable
from pegboard.schemas.signature import compile_signature


class Account(BaseModel):
    number: Annotated[str, Inferrable(False)]
    note: str = ""


class Card(TypedDict):
    digits: Annotated[str, Inferrable(False), Field(max_length=4)]


def pay(
    amount: Annotated[float, "how much", Inferrable(False)],
    account: Account,
    card: Card,
    to: Annotated[Account | None, Inferrable(False)] = None,
    renamed: Annotated[int, "class", "the class", Inferrable(False)] = 1,
    free: Annotated[str, Inferrable(True)] = "",
    other: Annotated[str, Inferrable()] = "",
) -> None: ...


SIGNATURE = compile_signature(pay)
PROPERTIES: dict[str, Any] = SIGNATURE.input_schema["properties"]


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("amount", {"type": "number", "description": "how much"}),
        ("to", {"anyOf": [{"$ref": "#/$defs/Account"}, {"type": "null"}], "default": None}),
        ("class", {"type": "integer", "description": "the class", "default": 1}),
    ],
)
def test_a_parameter_that_must_not_be_inferred_says_so_in_its_schema(name: str, rest: dict[str, Any]) -> None:
    assert PROPERTIES[name] == {**rest, "x-inferrable": False}


def test_members_of_models_and_typed_dicts_say_so_too() -> None:
    definitions = SIGNATURE.input_schema["$defs"]
    assert definitions["Account"]["properties"]["number"] == {"type": "string", "x-inferrable": False}
    assert definitions["Card"]["properties"]["digits"] == {"type": "string", "maxLength": 4, "x-inferrable": False}
    assert "x-inferrable" not in definitions["Account"]["properties"]["note"]


def test_what_may_be_inferred_says_nothing() -> None:
    assert PROPERTIES["free"] == PROPERTIES["other"] == {"type": "string", "default": ""}


def test_the_mark_changes_no_value() -> None:
    arguments = {"amount": 1, "account": {"number": "5"}, "card": {"digits": "1"}, "class": 2}
    bound = SIGNATURE.bind(arguments)
    assert (bound["amount"], bound["renamed"], bound["account"]) == (1.0, 2, Account(number="5"))
