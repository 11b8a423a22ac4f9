"""An invalid definition disables only its tool. The message names the tool, its place and the problem."""

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
"""Objects that are not defined in a file."""


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
async def test_a_definition_is_rejected_with_its_place_and_its_reason(
    case: Refused, caplog: pytest.LogCaptureFixture
) -> None:
    (message,) = await problems(case.function, caplog)
    if case.function in NOWHERE:
        assert message == f"tool 'tool': {case.reason}; it is not served"
        return
    found = re.fullmatch(r"tool 'tool' \((.*):([0-9]+)\): (.*); it is not served", message)
    assert found is not None, message
    assert found[1] == refused.__file__
    assert found[3] == case.reason
    assert re.search(r"def |class |lambda|@classmethod", linecache.getline(refused.__file__, int(found[2])))


def test_reasons_are_one_line_without_names_of_libraries() -> None:
    for case in REFUSED:
        assert not re.search(r"\n|https?:|Pydantic|core_schema|validator", case.reason)


class Spelt(typing.TypedDict):
    x: int


async def test_a_typed_dict_of_typing_needs_python_312(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def function(a: Spelt) -> int:
        return a["x"]

    found = await problems(function, caplog)
    if sys.version_info >= (3, 12):
        assert found == []
    else:
        assert "parameter 'a': Please use `typing_extensions.TypedDict` instead of `typing.TypedDict`" in found[0]
