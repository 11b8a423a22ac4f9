"""The description of a toolkit in the records of its tools. The worker's tests cover the other fields."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.plugin import PluginError
from tests.host.hosting import make_host


@pytest.mark.parametrize(
    ("given", "shown"), [(None, None), (" ", None), ("  Café:\n    all of it.\n", "Café:\nall of it.")]
)
def test_a_tool_has_the_description_of_its_toolkit(given: str | None, shown: str | None) -> None:
    kit = Toolkit("kit", description=given)
    kit.tool(name="text", description="Do.")(lambda: "")
    assert make_host(kit).load().tools["kit_text"].tool.owner_description == shown


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (5, "its description must be a string, not int"),
        ("a\x1b[31m", r"its description has U\+001B .* at position 1, which is invisible; remove it"),
        ("e\u200b", r"its description has U\+200B \(ZERO WIDTH SPACE\) at position 1"),
    ],
)
async def test_an_invalid_description_of_a_toolkit_is_refused(given: Any, complaint: str) -> None:
    with pytest.raises(PluginError, match=complaint):
        await make_host(Toolkit("kit", description=given)).start()
