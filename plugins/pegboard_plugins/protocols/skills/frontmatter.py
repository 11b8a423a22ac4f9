"""The YAML frontmatter of a `SKILL.md` as JSON, by the core schema of YAML 1.2.

The schema has no dates, and no octal numbers that begin with a zero: dates stay as they are written. Values that JSON
cannot have, such as `.nan`, stay as they are written, too. Aliases are refused, because a few lines of them can stand
for gigabytes.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

MAX_CHARACTERS = 64 * 1024
MAX_DEPTH = 32
"""The maximum length of frontmatter."""

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?\r?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TAG = "tag:yaml.org,2002:"
_CORE_SCHEMA = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
)
"""The type, the form and the first characters of plain scalars (YAML 1.2.2, section 10.3.2)."""


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 - the base class has it, too

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias (*name) is not supported: write the value again")
        return super().compose_node(parent, index)


for _name, _form, _first in _CORE_SCHEMA:
    _characters = [*_first, ""] if _name == "null" else [*_first]
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_form})\Z"), _characters)


def read_frontmatter(content: bytes) -> dict[str, Any]:
    """Return the frontmatter of a file.

    Raises:
        ValueError: the file has no valid frontmatter.
    """
    block = _BLOCK.match(content.decode())
    if block is None:
        raise ValueError("it must begin with frontmatter between two lines ---")
    if len(block[0]) > MAX_CHARACTERS:
        raise ValueError(f"its frontmatter is longer than {MAX_CHARACTERS} characters")
    try:
        fields = _value(yaml.compose(block[1] or "", Loader=_Loader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"its frontmatter is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(fields, dict):
        raise ValueError("its frontmatter must have fields, such as `name: refunds`")
    return fields


def _value(node: yaml.Node | None, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"its frontmatter has more than {MAX_DEPTH} levels: use fewer")
    match node:
        case yaml.MappingNode(tag="tag:yaml.org,2002:map"):
            return _object(node, depth)
        case yaml.SequenceNode(tag="tag:yaml.org,2002:seq"):
            return [_value(item, depth + 1) for item in node.value]
        case yaml.ScalarNode() if read := _SCALARS.get(node.tag.removeprefix(_TAG)):
            return read(node.value)
    raise ValueError(f"its frontmatter has a value of the type {node.tag}: use a type of JSON" if node else "no fields")


def _object(node: yaml.MappingNode, depth: int) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in fields:
            raise ValueError(f"line {key.start_mark.line + 2} repeats a key, or has one that is not a text")
        fields[key.value] = _value(value, depth + 1)
    return fields


def _integer(text: str) -> int:
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


_SCALARS: dict[str, Any] = {
    "str": str,
    "null": lambda text: None,
    "bool": lambda text: text.lower() == "true",
    "int": _integer,
    "float": _number,
}
