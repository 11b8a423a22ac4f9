"""Conversion of settings to TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def toml_key(name: str) -> str:
    """Return a key, in quotes if TOML requires them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a value on one line (TOML 1.0)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(_char(char) for char in value) + '"'
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(name)} = {toml_value(item)}" for name, item in value.items() if item is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return str(value)


def _char(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
