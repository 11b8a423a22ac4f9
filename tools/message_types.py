"""Writes `pegboard_messages`, the typed messages of MCP, one module for each revision, from the official JSON schemas.

python -m tools.message_types           write the modules
python -m tools.message_types --check   list the modules that differ, exit 1 if any does

A definition of a schema becomes a `TypedDict` or an alias of the same name. An object inside of a definition becomes a
`TypedDict` named after both, such as `InitializeRequestParams`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.schemas import REVISIONS, definitions
from tools.install import ROOT

FOLDER = ROOT / "plugins" / "pegboard_messages"

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

JSON_SCHEMAS = frozenset(("inputSchema", "outputSchema"))
"""Fields that hold a JSON Schema, which has more keywords than the definition names."""

_MESSAGES = {
    "ResultResponse": "The response to",
    "Result": "The result of",
    "RequestParams": "The parameters of",
    "NotificationParams": "The parameters of",
    "Request": "The request",
    "Notification": "The notification",
}

_HEAD = '''"""The messages of MCP revision {revision} as typed dictionaries, with the names of the official schema.

Type checkers read them. A dictionary literal is checked against its type:

    result: CallToolResult = {example}

A type names the members that the schema names. A message with further members, such as an own key of `_meta`, requires
`typing.cast`. Written by `python -m tools.message_types`.
"""

from __future__ import annotations

from typing import {names}
'''
_EXAMPLES = {True: '{"content": [], "resultType": "complete"}', False: '{"content": []}'}


class Field(NamedTuple):
    """A member of a typed dictionary."""

    name: str
    type: str
    required: bool

    @property
    def annotation(self) -> str:
        """The type, marked where the member is optional."""
        return self.type if self.required else f"NotRequired[{self.type}]"


class Dictionary(NamedTuple):
    """A typed dictionary."""

    name: str
    about: str
    fields: tuple[Field, ...]


class Alias(NamedTuple):
    """A name for another type."""

    name: str
    type: str
    uses: frozenset[str]


class Revision:
    """The types of one revision.

    Args:
        revision: the revision.
        definitions: the definitions of its schema.
    """

    def __init__(self, revision: str, definitions: Mapping[str, Any]) -> None:
        self._revision = revision
        self._definitions = definitions
        self._dictionaries: list[Dictionary] = []
        self._aliases: dict[str, Alias] = {}
        self._uses: set[str] = set()
        for name, schema in sorted(definitions.items()):
            self._define(name, schema)

    def text(self) -> str:
        """Return the source of the module, not yet formatted."""
        blocks = [self._source(record) for record in self._dictionaries]
        functional = [block for block in blocks if not block.startswith("class")]
        blocks = [block for block in blocks if block.startswith("class")]
        blocks += [_alias(alias, quoted) for alias, quoted in self._ordered()] + functional
        body = "\n\n\n".join(blocks)
        typing_names = ("Any", "Literal", "NotRequired", "TypeAlias", "TypedDict")
        names = ", ".join(name for name in typing_names if re.search(rf"\b{name}\b", body))
        head = _HEAD.format(revision=self._revision, names=names, example=_EXAMPLES[self._revision >= "2026"])
        return f"{head}\n\n{body}\n"

    def _source(self, record: Dictionary) -> str:
        if all(field.name.isidentifier() for field in record.fields):
            lines = [f"class {record.name}(TypedDict):", f'    """{record.about}"""', ""]
            return "\n".join([*lines, *[f"    {field.name}: {field.annotation}" for field in record.fields]])
        members = "".join(f'    "{field.name}": {field.annotation!r},\n' for field in record.fields)
        return f'{record.name} = TypedDict(\n    "{record.name}",\n    {{\n{members}    }},\n)\n"""{record.about}"""'

    def _ordered(self) -> Iterator[tuple[Alias, bool]]:
        """Yield each alias behind those that it uses, and True if it uses itself or a later alias."""
        late = {
            record.name
            for record in self._dictionaries
            if not all(field.name.isidentifier() for field in record.fields)
        }
        left, done = dict(self._aliases), set[str]()
        while left:
            ready = [alias for alias in left.values() if not (alias.uses & (left.keys() | late))]
            for alias in ready or list(left.values())[:1]:
                yield alias, not ready
                done.add(alias.name)
                del left[alias.name]

    def _define(self, name: str, schema: Mapping[str, Any]) -> None:
        merged = self._merged(schema)
        if merged.get("properties"):
            self._dictionary(name, merged, _about(name, self._definitions))
            return
        self._uses = set()
        written = self._type(schema, name)
        self._aliases[name] = Alias(name, written, frozenset(self._uses))

    def _dictionary(self, name: str, schema: Mapping[str, Any], about: str) -> None:
        required = schema.get("required", ())
        outer, self._uses = self._uses, set()
        fields = tuple(
            Field(key, self._type(value, name, key), required=key in required)
            for key, value in schema["properties"].items()
        )
        self._uses = outer
        self._dictionaries.append(Dictionary(name, about, fields))

    def _merged(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return a schema with the members of all parts of its `allOf`."""
        if "$ref" in schema or "allOf" not in schema:
            return dict(schema)
        properties: dict[str, Any] = {}
        required: list[str] = []
        for part in schema["allOf"]:
            whole = self._merged(self._definitions[_name(part)] if "$ref" in part else part)
            properties |= whole.get("properties", {})
            required += whole.get("required", ())
        return {"type": "object", "properties": properties, "required": required}

    def _type(self, schema: Mapping[str, Any], owner: str, key: str = "") -> str:
        """Return a schema as a type. An object with members becomes a typed dictionary named after owner and key."""
        if "$ref" in schema:
            self._uses.add(_name(schema))
            return _name(schema)
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(map(json.dumps, values))}]"
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self._type(option, owner, key) for option in schema["anyOf"]))
        merged = self._merged(schema)
        kind = merged.get("type")
        if isinstance(kind, list):
            return " | ".join(SCALARS[name] for name in kind)
        if kind == "array":
            return f"list[{self._type(merged.get('items', {}), owner, key)}]"
        if kind == "object":
            return self._object(merged, owner, key)
        return "Any" if kind is None else SCALARS[kind]

    def _object(self, schema: Mapping[str, Any], owner: str, key: str) -> str:
        further = schema.get("additionalProperties")
        if schema.get("properties") and not (further == {} and "required" not in schema) and key not in JSON_SCHEMAS:
            name = owner + key[:1].upper() + key[1:]
            self._dictionary(name, schema, f"The member `{key}` of `{owner}`.")
            return name
        if isinstance(further, dict) and further and not schema.get("properties"):
            return f"dict[str, {self._type(further, owner, key)}]"
        return "dict[str, Any]"


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _about(name: str, schemas: Mapping[str, Any]) -> str:
    """Return the docstring of a definition."""
    for suffix, words in _MESSAGES.items():
        if name.endswith(suffix):
            for kind in ("Request", "Notification"):
                message = schemas.get(name.removesuffix(suffix) + kind, {})
                method = message.get("properties", {}).get("method", {}).get("const")
                if method is not None:
                    return f"{words} `{method}`."
    return f"The definition `{name}`."


def _alias(alias: Alias, quoted: bool) -> str:
    return f"{alias.name}: TypeAlias = " + (f'"{alias.type}"' if quoted else alias.type)


def path_of(revision: str) -> Path:
    """Return the path of a revision's module."""
    return FOLDER / f"v{revision.replace('-', '_')}.py"


def module_of(revision: str) -> str:
    """Return the formatted source of a revision's module."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--stdin-filename", str(path_of(revision)), "-"]
    source = Revision(revision, definitions(revision)).text()
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def main(arguments: list[str]) -> int:
    """Write the modules, or compare them."""
    stale = [
        revision
        for revision in REVISIONS
        if not path_of(revision).exists() or path_of(revision).read_text("utf-8") != module_of(revision)
    ]
    for revision in stale:
        if "--check" in arguments:
            print(f"{path_of(revision)} is not up to date; run `python -m tools.message_types`", file=sys.stderr)
        else:
            path_of(revision).write_text(module_of(revision), "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
