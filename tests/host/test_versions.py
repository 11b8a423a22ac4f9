"""Versions as authors write them come to one form, or are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.names import normal_version
from pegboard.plugin import PluginError
from tests.host.hosting import make_host


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("1.2.3", "1.2.3"),
        ("v1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("0", "0.0.0"),
        ("v10.20.30", "10.20.30"),
        ("1.2-rc.1", "1.2.0-rc.1"),
        ("1.2.3-alpha-1.0+build.5", "1.2.3-alpha-1.0+build.5"),
        ("1+5", "1.0.0+5"),
    ],
)
def test_a_version_has_three_numbers(given: str, normal: str) -> None:
    assert normal_version(given) == normal
    assert normal_version(normal) == normal


@pytest.mark.parametrize(
    "given",
    ["", "v", "one", "1.2.3.4", "01.2", "1.2.3rc1", "1.2.3-", "1..2", " 1.2", "1.2\n", "V1", "\u0661.2", 1.2, None],
)
def test_what_is_no_version_is_told_with_one_that_is(given: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{given!r} is no version; write it like 1.2.3")):
        normal_version(given)


# --- of toolkits and tools


def work() -> str:
    """Work."""
    return ""


async def test_a_tool_has_its_own_version_or_that_of_its_toolkit() -> None:
    kit, other = Toolkit("x", version="v1.2"), Toolkit("y")
    kit.tool(work)
    kit.tool(name="own", version="3")(work)
    other.tool(work)
    async with make_host(kit, other) as host:
        assert host.problems == ()
        tools = {name: (one.tool.version, one.tool.meta) for name, one in host.assembly.tools.items()}
    assert tools == {
        "x_own": ("3.0.0", {"pegboard/version": "3.0.0"}),
        "x_work": ("1.2.0", None),
        "y_work": (None, None),
    }


async def test_a_wrong_version_costs_the_tool() -> None:
    kit = Toolkit("x")
    kit.tool(version="newest")(work)
    kit.tool(name="sound")(work)
    async with make_host(kit) as host:
        assert list(host.assembly.tools) == ["x_sound"]
        (problem,) = host.problems
    line = f"tool 'work' ({__file__}:{work.__code__.co_firstlineno})"
    assert f"{line}: its version: 'newest' is no version; write it like 1.2.3" in str(problem)


async def test_a_wrong_version_costs_the_toolkit() -> None:
    with pytest.raises(PluginError, match=r"toolkit 'x'.*its version: 'latest' is no version"):
        await make_host(Toolkit("x", version="latest")).start()
