"""What docs/types.md says of types is so, row by row."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import re
import typing
from collections import deque
from collections.abc import Mapping, Sequence
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel
from typing_extensions import TypedDict

from pegboard import Toolkit
from pegboard_testing import connect
from tests.docs.pages import Page

PAGE = Page("docs/types.md")
TABLE = PAGE.partition("<!-- types -->")[2].partition("<!-- end -->")[0]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Size(TypedDict):
    width: int


class Spot(NamedTuple):
    x: int


@dataclasses.dataclass
class Crate:
    x: int


class Point(BaseModel):
    x: int


NAMES: dict[str, Any] = {
    **vars(typing), "deque": deque, "Mapping": Mapping, "Sequence": Sequence, "Decimal": Decimal, "Path": Path,
    "IPv4Address": IPv4Address, "UUID": UUID, "AnyUrl": AnyUrl, "date": datetime.date,
    "datetime": datetime.datetime, "time": datetime.time, "timedelta": datetime.timedelta, "Color": Color,
    "Right": Right, "Size": Size, "Spot": Spot, "Crate": Crate, "Point": Point,
}  # fmt: skip


def rows() -> list[tuple[str, str, str, str]]:
    parsed = []
    for line in TABLE.splitlines()[3:]:
        types, *rest = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        schema, sent, arrives = (cell.strip("`") for cell in rest)
        parsed += [(annotation, schema, sent, arrives) for annotation in re.findall(r"`([^`]+)`", types)]
    return [row for row in parsed if row[0] not in ("Enum", "Flag", "TypedDict", "NamedTuple")]


def test_the_table_has_many_rows() -> None:
    assert len(rows()) > 35


@pytest.mark.parametrize(("kind", "schema", "sent", "arrives"), rows(), ids=[row[0] for row in rows()])
async def test_a_row_of_the_table(kind: str, schema: str, sent: str, arrives: str) -> None:
    def tool(a: Any) -> str:
        """Take it."""
        return repr(a)

    tool.__annotations__["a"] = eval(kind, dict(NAMES))
    kit = Toolkit("kit")
    kit.tool(tool)
    async with connect(kit) as client:
        listed = (await client.tool("tool"))["inputSchema"]
        served = listed["properties"]["a"]
        assert served == json.loads(schema)
        assert (await client.call("tool", {"a": json.loads(sent)})).value == arrives


async def test_the_example_and_what_it_tells() -> None:
    async with connect(PAGE.module("trips.py", "trips").kit) as client:
        result = await client.call("book", city="Porto", day="2026-07-28", passengers=[{"name": "Ada"}])
        assert result.value == {"Ada": "Porto, Tuesday, window"}
        card = (await client.tool("book"))["inputSchema"]["properties"]["card"]
        assert (card["x-inferrable"], card["description"]) == (False, "the last four digits")
        wrong = {"city": "Porto", "day": "soon", "passengers": [{"name": None}], "seat": "isle", "to": 1, "card": 1}
        message = PAGE.partition("<!-- told -->\n```\n")[2].partition("\n```")[0]
        assert (await client.call("book", wrong)).text == message


async def test_the_docstring_describes_the_parameters() -> None:
    async with connect(PAGE.module("fares.py", "fares").kit) as client:
        tool = await client.tool("fare")
    assert tool["description"] == "Calculate a fare.\n\nReturns:\n    The fare in francs."
    described = {name: member["description"] for name, member in tool["inputSchema"]["properties"].items()}
    assert described == {"distance": "the distance in kilometres", "day_return": "True for both ways on one day"}
