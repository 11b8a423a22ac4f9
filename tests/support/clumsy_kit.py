"""A toolkit with invalid definitions; only those named `sound` are valid.

Like `fixture_kit.py` it is copied into a distribution, and imports nothing of the tests.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pegboard import ToolAnnotations, Toolkit

WRONG: Any = 5
"""A value of a wrong type."""

TOOLS: dict[str, dict[str, Any]] = {
    "tool_title": {"title": WRONG},
    "tool_description": {"description": WRONG},
    "tool_annotations": {"annotations": WRONG},
    "tool_annotations_title": {"annotations": ToolAnnotations(title=WRONG)},
    "tool_annotations_hint": {"annotations": ToolAnnotations(read_only=WRONG)},
    "tool_secrets": {"requires_secrets": [WRONG]},
    "tool_enabled": {"enabled": WRONG},
}
RESOURCES: dict[str, dict[str, Any]] = {
    "resource_title": {"title": WRONG},
    "resource_description": {"description": WRONG},
    "resource_mime": {"mime_type": WRONG},
}
PROMPTS: dict[str, dict[str, Any]] = {"prompt_title": {"title": WRONG}, "prompt_description": {"description": WRONG}}
NAMES = [*TOOLS, *RESOURCES, *PROMPTS, "tool_bound", "tool_example", "tool_default"]

kit = Toolkit("clumsy")


def sound() -> str:
    """Return a string."""
    return "sound"


kit.tool(sound)
kit.resource("clumsy://sound")(sound)
kit.prompt(name="prompt_sound")(sound)
for name, options in TOOLS.items():
    kit.tool(name=name, **options)(sound)
for name, options in RESOURCES.items():
    kit.resource(f"clumsy://{name}", name=name, **options)(sound)
for name, options in PROMPTS.items():
    kit.prompt(name=name, **options)(sound)


@kit.tool(name=WRONG)
def tool_name() -> str:
    """Have a name that is not a string."""
    return ""


@kit.resource("clumsy://name", name=WRONG)
def resource_name() -> str:
    return ""


@kit.resource(WRONG)
def resource_uri() -> str:
    return ""


@kit.resource("clumsy://ünï")
def resource_uri_characters() -> str:
    return ""


@kit.prompt(name=WRONG)
def prompt_name() -> str:
    """Have a name that is not a string."""
    return ""


@kit.tool
def tool_bound(limit: Annotated[float, Field(ge=float("nan"))]) -> str:
    """Have a limit that JSON cannot express."""
    return ""


@kit.tool
def tool_example(value: Annotated[int, Field(examples=[object()])]) -> str:
    """Have an example that JSON cannot express."""
    return ""


@kit.tool
def tool_default(value: str = "\ud800") -> str:
    """Have a default that UTF-8 cannot express."""
    return ""


for decorator in (kit.tool, kit.resource("clumsy://none"), kit.prompt):
    decorator(WRONG)
