"""Cuts the operations that the tools use out of GitHub's OpenAPI description, so that the tests can check against them.

    npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
    python toolkits/github/tests/openapi/cut.py package [OPERATION ...]

It writes `description.json` and `LICENSE` beside this file: the operations that `description.json` has already and
those of the command line, whatever they refer to, and all of it as GitHub has it, but for the prose. The same package
gives the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = Path("generated/api.github.com.json")

ALWAYS = ("#/components/schemas/basic-error", "#/components/schemas/validation-error")
"""What errors look like that GitHub does not describe for each operation anew."""

PROSE = frozenset(
    {"description", "externalDocs", "summary", "tags", "x-github", "x-github-breaking-changes", "x-octokit"}
)
NAMES = frozenset({"properties", "patternProperties", "schemas", "examples", "parameters", "responses", "headers"})
"""Members whose own members carry names that may read like prose, and are not."""
VALUES = frozenset({"example", "default", "enum", "value", "required"})
"""Members that hold data and are kept as they are."""


def resolve(description: dict[str, Any], reference: str) -> Any:
    """What a reference such as `#/components/schemas/issue` stands for."""
    node: Any = description
    for name in reference.removeprefix("#/").split("/"):
        node = node[name.replace("~1", "/").replace("~0", "~")]
    return node


def without_prose(node: Any, *, names: bool = False) -> Any:
    """Leave out what is for people; `names` says that the members of this object are not keywords."""
    if isinstance(node, list):
        return [without_prose(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if not names and key in VALUES:
            kept[key] = value
        elif names or key not in PROSE:
            kept[key] = without_prose(value, names=not names and key in NAMES and isinstance(value, dict))
    return kept


def references(node: Any) -> set[str]:
    """Every reference below a node."""
    if isinstance(node, list):
        return set().union(*map(references, node))
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#/") else set()
    return own.union(*map(references, node.values()))


def operations(description: dict[str, Any]) -> set[str]:
    """The ids of all operations."""
    return {operation["operationId"] for methods in description["paths"].values() for operation in methods.values()}


def cut(description: dict[str, Any], wanted_operations: set[str]) -> dict[str, Any]:
    """The operations and what they refer to, directly or not."""
    paths: dict[str, Any] = {}
    missing = set(wanted_operations)
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and operation.get("operationId") in missing:
                missing.remove(operation["operationId"])
                paths.setdefault(path, {})[method] = without_prose(operation)
    if missing:
        raise SystemExit(f"the description has no operation {', '.join(sorted(missing))}")
    components: dict[str, Any] = {}
    seen: set[str] = set()
    wanted = references(paths) | set(ALWAYS)
    while wanted:
        reference = wanted.pop()
        seen.add(reference)
        _, _, kind, name = reference.split("/")
        part = without_prose(resolve(description, reference))
        components.setdefault(kind, {})[name] = part
        wanted |= references(part) - seen
    return {"openapi": description["openapi"], "info": description["info"], "paths": paths, "components": components}


def text(description: dict[str, Any]) -> str:
    """The form in which it is kept."""
    return json.dumps(description, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main(package: Path, *added: str) -> None:
    """Cut, from an unpacked `@octokit/openapi`."""
    data = (package / SOURCE).read_bytes()
    about = json.loads((package / "package.json").read_text())
    known = operations(json.loads((HERE / "description.json").read_text(encoding="utf-8")))
    result = cut(json.loads(data), known | set(added))
    result["info"]["x-cut-from"] = {
        "package": about["name"],
        "version": about["version"],
        "file": str(SOURCE),
        "sha256": hashlib.sha256(data).hexdigest(),
        "license": about["license"],
    }
    (HERE / "description.json").write_text(text(result), encoding="utf-8")
    shutil.copyfile(package / "LICENSE", HERE / "LICENSE")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
