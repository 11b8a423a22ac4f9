"""A toolkit with invalid definitions; only those named `sound` are valid.

Like `fixture_kit.py` it is copied into a distribution, and imports nothing of the tests.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pegboard import ToolAnnotations, Toolkit

WRONG: Any = 5
"""Where a text, a flag or a function belongs."""

kit = Toolkit("clumsy")


@kit.tool
def sound() -> str:
    """Do nothing wrong."""
    return "sound"


@kit.tool(title=WRONG)
def tool_title() -> str:
    """Have a title that is not a string."""
    return ""


@kit.tool(description=WRONG)
def tool_description() -> str:
    return ""


@kit.tool(name=WRONG)
def tool_name() -> str:
    """Have a name that is not a string."""
    return ""


@kit.tool(annotations=WRONG)
def tool_annotations() -> str:
    """Have annotations that are none."""
    return ""


@kit.tool(annotations=ToolAnnotations(title=WRONG))
def tool_annotations_title() -> str:
    """Have a title in the annotations that is not a string."""
    return ""


@kit.tool(annotations=ToolAnnotations(read_only=WRONG))
def tool_annotations_hint() -> str:
    """Have a hint that is neither true nor false."""
    return ""


@kit.tool(requires_secrets=[WRONG])
def tool_secrets() -> str:
    """Need a secret whose name is not a string."""
    return ""


@kit.tool(enabled=WRONG)
def tool_enabled() -> str:
    """Have a switch that cannot be asked."""
    return ""


@kit.tool
def tool_bound(limit: Annotated[float, Field(ge=float("nan"))]) -> str:
    """Have a limit that JSON has no form for."""
    return ""


@kit.tool
def tool_example(value: Annotated[int, Field(examples=[object()])]) -> str:
    """Have an example that JSON has no form for."""
    return ""


@kit.tool
def tool_default(value: str = "\ud800") -> str:
    """Have a default that UTF-8 has no form for."""
    return ""


@kit.resource("clumsy://sound")
def resource_sound() -> str:
    return "sound"


@kit.resource("clumsy://name", name=WRONG)
def resource_name() -> str:
    return ""


@kit.resource("clumsy://title", title=WRONG)
def resource_title() -> str:
    return ""


@kit.resource("clumsy://description", description=WRONG)
def resource_description() -> str:
    return ""


@kit.resource("clumsy://mime", mime_type=WRONG)
def resource_mime() -> str:
    return ""


@kit.resource(WRONG)
def resource_uri() -> str:
    return ""


@kit.resource("clumsy://ünï")
def resource_uri_characters() -> str:
    return ""


@kit.prompt
def prompt_sound() -> str:
    """Do nothing wrong."""
    return "sound"


@kit.prompt(title=WRONG)
def prompt_title() -> str:
    """Have a title that is not a string."""
    return ""


@kit.prompt(description=WRONG)
def prompt_description() -> str:
    return ""


@kit.prompt(name=WRONG)
def prompt_name() -> str:
    """Have a name that is not a string."""
    return ""


for decorator in (kit.tool, kit.resource("clumsy://none"), kit.prompt):
    decorator(WRONG)
