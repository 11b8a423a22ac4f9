"""A toolkit whose tools use every option of a definition; none of them does anything.

Like `fixture_kit.py` it is copied into a distribution, and imports nothing of the tests.
"""

from __future__ import annotations

from typing import Any

from pegboard import (
    Behavior,
    Classification,
    Context,
    Operation,
    ServiceDomain,
    Toolkit,
    ToolMetadata,
    tool,
)

kit = Toolkit("options", version="v2")

VENDORS: dict[str, Any] = {
    "openai/outputTemplate": "ui://widget/page.html",
    "com.example/team": {"name": "pigeons", "lead": None, "members": [1, 2.5, True]},
}


@kit.tool(
    metadata=ToolMetadata(
        Classification([ServiceDomain.EMAIL, "pigeon_post"]),
        Behavior([Operation.DELETE], read_only=False, destructive=True, idempotent=True),
        {"idp": "entraID", "nested": {"levels": (1, 2)}},
    ),
    meta=VENDORS,
)
def classified() -> str:
    """Say all there is to say about its kind."""
    return "classified"


@tool(title="Anywhere")
@kit.tool(version="1.4", meta={"com.example/own": 1})
def versioned() -> str:
    """Have an own version."""
    return "versioned"


@kit.tool(deprecated="use somewhere instead")
def deprecated_by_option() -> str:
    """Be old."""
    return "old"


@kit.tool
@tool.deprecated("use somewhere instead")
async def deprecated_by_decorator(context: Context) -> str:
    """Be old."""
    context.log.warning("its own words")
    return "old"
