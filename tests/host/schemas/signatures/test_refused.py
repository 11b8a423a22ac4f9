"""Each definition that cannot be served costs itself, and its author reads which it is, where it stands and why."""

from __future__ import annotations

import linecache
import logging
import re
import sys
import typing
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.plugin import ToolDefinition
from tests.host.hosting import make_host
from tests.host.schemas.signatures import refused
from tests.host.schemas.signatures.refused import REFUSED, Refused

NOWHERE = (iter, 5)
"""What stands in no file."""


def fine(a: int) -> int:
    """Take a number."""
    return a


def name_of(case: Refused) -> str:
    return getattr(case.function, "__name__", type(case.function).__name__)


async def problems(function: Any, caplog: pytest.LogCaptureFixture) -> list[str]:
    kit = Toolkit("kit")
    kit.tool(fine)
    kit._tools.append(ToolDefinition(function, name="tool", description="Do it."))
    with caplog.at_level(logging.CRITICAL):
        async with make_host(kit) as host:
            assert "kit_fine" in host.assembly.tools
            return [problem.message for problem in host.problems]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{name_of(case)} {REFUSED.index(case)}")
async def test_a_definition_is_refused_with_its_place_and_its_reason(
    case: Refused, caplog: pytest.LogCaptureFixture
) -> None:
    (message,) = await problems(case.function, caplog)
    if case.function in NOWHERE:
        assert message == f"tool 'tool': {case.reason}; it is not served"
        return
    told = re.fullmatch(r"tool 'tool' \((.*):([0-9]+)\): (.*); it is not served", message)
    assert told is not None, message
    assert told[1] == refused.__file__
    assert told[3] == case.reason
    assert re.search(r"def |class |lambda|@classmethod", linecache.getline(refused.__file__, int(told[2])))


def test_reasons_are_one_line_in_plain_words() -> None:
    for case in REFUSED:
        assert not re.search(r"\n|https?:|Pydantic|core_schema|validator", case.reason)


class Spelt(typing.TypedDict):
    x: int


async def test_a_typed_dict_of_typing_says_what_to_write_where_it_cannot_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def function(a: Spelt) -> int:
        return a["x"]

    found = await problems(function, caplog)
    if sys.version_info >= (3, 12):
        assert found == []
    else:
        assert "parameter 'a': Please use `typing_extensions.TypedDict` instead of `typing.TypedDict`" in found[0]
