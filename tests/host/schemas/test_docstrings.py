"""Descriptions of parameters in docstrings, and the description of the function without them."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from pegboard import Context, Toolkit
from pegboard.schemas.docstrings import split_docstring
from pegboard_testing import connect

GOOGLE = "Args:\n    x (int, optional): the x:\n        from 0\n    y: the y\n"
NUMPY = "Parameters\n----------\nx : int, optional\n    the x:\n    from 0\ny\n    the y\n"
SPHINX = ":param int x: the x:\n    from 0\n:type x: int\n:param y: the y\n"
DESCRIBED = {"x": "the x:\nfrom 0", "y": "the y"}


@pytest.mark.parametrize(
    ("sections", "rest"),
    [
        (GOOGLE, ""),
        (f"{GOOGLE}\nReturns:\n  it\n\nRaises:\n  OSError\n\nNote:\n  A.", "Returns:\n  it\n\nNote:\n  A."),
        (NUMPY, ""),
        (f"{NUMPY}\nReturns\n-------\nint\n\nRaises\n------\nOSError\n    never\n", "Returns\n-------\nint"),
        ("Parameters\n----------\nx, y : int\n    both\n\nOther Parameters\n----------------\ny\n    the y\n", ""),
        (SPHINX, ""),
        (f"{SPHINX}:raises OSError: never\n:returns: the z\n\nMore.", ":returns: the z\n\nMore."),
    ],
)  # fmt: skip
def test_sections_about_parameters_and_exceptions_leave_the_description(sections: str, rest: str) -> None:
    description, parameters = split_docstring(f"Do it.\n\nAs follows:\n- well\n\n{sections}", ["x", "y", "z"])
    assert description == f"Do it.\n\nAs follows:\n- well\n\n{rest}".strip()
    assert parameters == (DESCRIBED if "both" not in sections else {"x": "both", "y": "the y"})


OTHER_TEXT = (
    "Do it.\n\nArgs:\n    other: not a parameter",
    "Do it.\n\nArgs:\n    All of them.",
    "Do it.\n\nFor example:\n    x: 1",
    "Args:\n    other: the only text",
    "Raise pay.\n\nRaises:\n    the salary of all. Use with care.",
)
PARAGRAPH = "Delete.\n\nParameters\n----------\nx : int\n    the x\n\nIt cannot be undone."
OTHER_SECTION = "Search.\n\nArgs:\n    x: the x\n\nParameters:\n    foo: a word of the query"
CONTINUED = "Search.\n\nArgs:\n    x: the x\n    of all words\n    y: the y"


@pytest.mark.parametrize(
    ("docstring", "description", "parameters"),
    [
        *((text, text, {}) for text in OTHER_TEXT),
        (PARAGRAPH, "Delete.\n\nIt cannot be undone.", {"x": "the x"}),
        (OTHER_SECTION, "Search.\n\nParameters:\n    foo: a word of the query", {"x": "the x"}),
        (CONTINUED, "Search.", {"x": "the x of all words", "y": "the y"}),
    ],
)
def test_other_text_remains(docstring: str, description: str, parameters: dict[str, str]) -> None:
    assert split_docstring(docstring, ["x", "y"]) == (description, parameters)


class Point(BaseModel):
    """A point."""

    x: int


async def test_tools_and_prompts_list_the_descriptions_unless_annotations_have_them() -> None:
    kit = Toolkit("kit")

    @kit.tool
    @kit.prompt
    def draw(
        context: Context,
        plain: str,
        renamed: Annotated[int, "number", "annotated"] = 0,
        field: str = Field("", description="of the field"),
        *,
        alias: str = Field("", alias="other"),
        point: Point | None = None,
        model: Point | None = None,
    ) -> str:
        """Draw it.

        Args:
            context: the context
            plain: of the docstring
            renamed: ignored
            field: ignored
            alias: of an alias
            point: where
        """
        return plain

    @kit.tool(description="Own.", input_schema={"type": "object", "properties": {"x": {"type": "integer"}}})
    def authored(x: int = 1) -> None:
        """Ignored."""

    expected = {"plain": "of the docstring", "number": "annotated", "field": "of the field", "other": "of an alias"}
    async with connect(kit) as client:
        tool, (prompt,) = await client.tool("draw"), await client.prompts()
        own = await client.tool("authored")
    listed: dict[str, Any] = tool["inputSchema"]["properties"]
    descriptions = {name: about.get("description") for name, about in listed.items()}
    assert descriptions == {**expected, "point": "where", "model": None}
    assert {argument["name"]: argument.get("description") for argument in prompt["arguments"]} == descriptions
    assert (tool["description"], prompt["description"]) == ("Draw it.", "Draw it.")
    assert (own["description"], own["inputSchema"]["properties"]) == ("Own.", {"x": {"type": "integer"}})


def test_the_library_is_imported_only_for_sections_about_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    assert split_docstring("Do it.\n\nReturns:\n    x: it", ["x"])[1] == {}
    with pytest.raises(ImportError):
        split_docstring(GOOGLE, ["x"])
