"""Paths of members of a JSON object, for people."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

MemberPath: TypeAlias = tuple[str | int, ...]


def member_path(path: MemberPath) -> str:
    """Return a path such as `inputSchema.required[0]`, with quotes around names that are not plain words."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part if re.fullmatch(r'[A-Za-z0-9_-]+', part) else json.dumps(part, ensure_ascii=False)}"
    return text.removeprefix(".")
