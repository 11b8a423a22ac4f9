"""The part of a docstring that is the description of an item."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^(?:(\w[\w -]*):[ \t]*\n(?=[ \t]+\S)|:(?:param|type|raises|returns?|rtype)\b)", re.MULTILINE)
_SECTIONS = frozenset(
    (
        "args", "arguments", "attributes", "example", "examples", "keyword args", "keyword arguments", "note", "notes",
        "other parameters", "parameters", "params", "raises", "references", "return", "returns", "todo", "warning",
        "warnings", "warns", "yield", "yields",
    )
)  # fmt: skip


def before_sections(text: str | None) -> str | None:
    """Return the text before the sections, such as `Args:`. A text with none of the usual sections stays whole."""
    headings = list(_HEADING.finditer(text or ""))
    names = {(heading[1] or "args").lower() for heading in headings}
    return text if text is None or names.isdisjoint(_SECTIONS) else text[: headings[0].start()].rstrip() or None
