"""Signatures of scalars: numbers, strings, choices and limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional, Union

import annotated_types as at
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NegativeInt,
    PositiveFloat,
    PositiveInt,
    StrictInt,
    StrictStr,
    StringConstraints,
    conint,
    constr,
)

from tests.host.schemas.signatures import types_of_tests as t
from tests.host.schemas.signatures.table import NONE, takes

CASES = [
    takes(str, "x", "", 5, None, ["x"]),
    takes(int, 4, 2**70, 4.0, "4", "x", 4.5, True, None),
    takes(float, 1.5, 3, "1.5", "x", "nan", False),
    takes(bool, True, "true", "no", 1, 0, 2, "perhaps"),
    takes(None, None, 0),
    takes(Any, None, {"a": [1, True]}),
    takes(object, [1]),
    takes(t.UserId, 5, "x"),
    takes(t.Tags, ["a"], "a"),
    takes(t.T, "x"),
    takes(t.Number, 5, "x"),
    takes(t.IntOrStr, 5, "5", []),
    # strict, for the whole tool
    takes(int, 4, "4", 4.0, True, strict=True, name="int, strict"),
    takes(float, 4, "4", strict=True, name="float, strict"),
    takes(bool, True, 1, "true", strict=True, name="bool, strict"),
    takes(t.Color, "red", "green", strict=True, name="Enum, strict"),
    takes(tuple[int, ...], [1], ["1"], strict=True, name="tuple, strict"),
    takes(Literal["a", 1], 1, "1", strict=True, name="Literal, strict"),
    takes(StrictInt, 4, "4", name="StrictInt"),
    takes(StrictStr | None, "4", 4, name="StrictStr"),
    # limits
    takes(Annotated[int, Field(ge=1, le=5)], 5, 0, 6, name="ge, le"),
    takes(Annotated[float, Field(gt=0, lt=1)], 0.5, 0, 1, name="gt, lt"),
    takes(Annotated[int, Field(multiple_of=5)], 10, 7, name="multiple_of"),
    takes(Annotated[int, at.Interval(ge=1, lt=3)], 2, 3, name="Interval"),
    takes(Annotated[int, at.Ge(2)], 2, 1, name="Ge"),
    takes(Annotated[str, at.Len(2, 3)], "ab", "a", "abcd", name="Len"),
    takes(at.LowerCase[str], "ab", "Ab", name="LowerCase"),
    takes(Annotated[int, at.Predicate(lambda value: value != 3)], 2, 3, name="Predicate"),
    takes(PositiveInt, 1, 0, name="PositiveInt"),
    takes(NegativeInt, -1, 0, name="NegativeInt"),
    takes(PositiveFloat, 0.1, 0, name="PositiveFloat"),
    takes(conint(gt=1), 2, 1, name="conint"),
    takes(constr(min_length=1), "a", "", name="constr"),
    takes(Annotated[str, Field(min_length=1, max_length=2)], "a", "", "abc", name="length"),
    takes(Annotated[str, Field(pattern="^[a-z]+$")], "a", "A", name="pattern"),
    takes(Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True)], " a ", name="changed text"),
    takes(Annotated[int | None, Field(ge=1)], None, 1, 0, name="limited or None"),
    takes(Annotated[int, AfterValidator(lambda value: value + 1)], 1, "x", name="AfterValidator"),
    takes(Annotated[int, BeforeValidator(lambda value: value or 0)], 1, None, name="BeforeValidator"),
    takes(Annotated[Annotated[int, Field(ge=1)], Field(le=2)], 2, 0, 3, name="Annotated twice"),
    # what is said about it
    takes(Annotated[str, "what it is"], "x", name="described"),
    takes(Annotated[str, Field(description="what it is", title="It", examples=["x"])], "x", name="told"),
    takes(Annotated[str, Field(json_schema_extra={"x-team": "games"})], "x", name="extra"),
    takes(Annotated[int, Field(deprecated=True)], 1, name="deprecated"),
    # literals
    takes(Literal["a", "b"], "b", "c", 1),
    takes(Literal["one"], "one", "two"),
    takes(Literal[1, 2], 2, 2.0, 3, True),
    takes(Literal["a", 1, True, None], "a", 1, True, None, "b"),  # noqa: PYI061
    takes(Literal[t.Unit.FOOT], "ft", "m"),
    takes(Literal["a", "b"] | None, "b", None, "c"),
    # enums
    takes(t.Color, "red", "RED", 1),
    takes(t.Mixed, 1, "two", "one"),
    takes(t.Level, 2, "2", 3, True),
    takes(t.Unit, "ft", "x"),
    takes(t.Suit, "H", "HEARTS"),
    takes(t.Ratio, 0.5, 1, 2),
    takes(t.Right, 1, 5, 0, 8, "READ"),
    takes(t.Mode, 3, 4, "X"),
    takes(t.Auto, 2, 3),
    takes(t.Single, "only", "x"),
    takes(t.Color, NONE, name="Enum by default", default=t.Color.BLUE),
    # optional
    takes(Optional[int], 1, None, "x"),
    takes(str | None, "x", None, 1),
    takes(Union[int, None, str], 1, "1", None, []),
    takes(int | str, 1, "1", None),
    takes(float | bool, 1.5, True, "x"),
    takes(int | float, 1, 1.5),
    takes(Annotated[int | None, "how many"], None, NONE, name="optional with a default", default=None),
    takes(int | None, NONE, None, name="Optional of another default", default=3),
]
