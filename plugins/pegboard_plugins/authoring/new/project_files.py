"""The files of a new project, made from the templates."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from keyword import kwlist
from string import Template

from pegboard_plugins.authoring.new.kinds import PLUGINS, ProjectKind
from pegboard_plugins.authoring.new.project_names import ProjectNames

SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
"""The schema of `server.json`: https://modelcontextprotocol.io/registry/package-types has its rules."""
FACTS_FILE = "pegboard_plugin.toml"
VERSION = "0.1.0"
"""The version of a new project."""
UNKNOWN_OWNER = "OWNER"

_ENTRIES = {
    "toolkit": """\
[project.scripts]
$distribution = "$package:kit.run"

[project.entry-points."pegboard.toolkits"]
$entry = "$package:kit"
""",
    "plugin": """\
[project.entry-points."pegboard.plugins"]
$entry = "$package:${pascal}Plugin"
""",
    "server": """\
[project.scripts]
$distribution = "$package:main"
""",
}


def project_files(
    sort: str, kind: ProjectKind, names: ProjectNames, requirement: str, owner: str = ""
) -> dict[str, str]:
    """Return the text of each file of a project, by its path.

    Args:
        sort: "toolkit", "plugin" or "server".
        kind: the kind.
        names: the names.
        requirement: the requirement of pegboard, such as `pegboard>=0.1,<0.2`.
        owner: the GitHub account or organization, or "" if it is unknown.

    Raises:
        ValueError: a class of the project would have the name of a class of pegboard or Python.
    """
    account = owner or UNKNOWN_OWNER
    values = {
        **names._asdict(),
        "about": f"{kind.summary}.",
        "settings": settings(kind, names),
        "requirement": requirement,
        "version": VERSION,
        "owner_note": "" if owner else f": replace `{UNKNOWN_OWNER}` in both files",
        "registry": f"io.github.{account}/{names.distribution}",
        "entries": Template(_ENTRIES[sort]).substitute(names._asdict()).rstrip(),
    }
    values["publication"] = _filled("publication", values)
    contents = {
        "README.md": _filled(f"readme_{sort}", values),
        "pyproject.toml": _filled("pyproject", values),
        ".gitignore": _filled("gitignore", values),
        ".github/workflows/tests.yml": _filled("workflow", values),
        f"src/{names.package}/__init__.py": _code(kind, names),
        f"src/{names.package}/py.typed": "",
        f"tests/test_{names.entry}.py": _tests(kind, names),
    }
    if kind is PLUGINS["command"]:
        contents[f"src/{names.package}/{FACTS_FILE}"] = _facts(kind, names)
    if sort == "plugin":
        return contents | {"hostconfig.example.toml": values["settings"] + "\n"}
    return contents | {"server.json": _server_json(values)}


def settings(kind: ProjectKind, names: ProjectNames) -> str:
    """Return the lines of `hostconfig.toml` that enable a plugin."""
    return kind.settings.replace("NAME", names.entry)


def _template(name: str) -> str:
    return files("pegboard_plugins.authoring.new").joinpath("templates", f"{name}.txt").read_text("utf-8")


def _filled(name: str, values: Mapping[str, str]) -> str:
    return Template(_template(name)).substitute(values)


def _code(kind: ProjectKind, names: ProjectNames) -> str:
    """Return the code of an example under new names. A server in one file becomes a package."""
    text = _renamed(_template(kind.example), kind, names)
    text = re.sub(r"\n\nif __name__ == .*", "", text, flags=re.S)
    if "\n$ pegboard" in text:
        text = re.sub(r'\A""".*?"""', f'"""{names.title}: {kind.summary}."""', text, flags=re.S)
    return text


def _tests(kind: ProjectKind, names: ProjectNames) -> str:
    """Return the tests of an example under new names. The import of the package is in a block of its own."""
    text = _renamed(_template(f"{kind.example}_test"), kind, names)
    before, imported, after = re.split(r"^from docs\.examples\S+ (import .*\n)", text, maxsplit=1, flags=re.M)
    text = before + after
    (*_, last) = re.finditer(r"^(?:from|import) .*\n", text, re.M)
    return f"{text[: last.end()]}\nfrom {names.package} {imported}{text[last.end() :]}"


def _facts(kind: ProjectKind, names: ProjectNames) -> str:
    """Return the declaration of the example's command under new names."""
    text = _renamed(_template("command_facts"), kind, names)
    text = text.replace(f"[{kind.word}.commands.{kind.word}]", f"[{names.entry}.commands.{names.dashed}]")
    text = text.replace(f"[{kind.word}.commands", f"[{names.entry}.commands")
    return re.sub(r"docs\.examples\.plugins\.\w+", names.package, text)


def _renamed(text: str, kind: ProjectKind, names: ProjectNames) -> str:
    """Return code with the names of the project in place of those of the example."""
    old = "".join(word.capitalize() for word in kind.word.split("_"))
    pattern = rf"\b{old}(?=[A-Z]|\b)(\w*)"
    renamed = {names.pascal + rest for rest in re.findall(pattern, text)}
    used = {*re.findall(r"\w+", re.sub(pattern, "", text)), *kwlist, *dir(builtins)}
    if clash := sorted(used & renamed):
        raise ValueError(f"{names.dashed!r} cannot be the name, because {clash[0]} has another meaning: choose another")
    text = re.sub(
        rf'"{old}"|{pattern}', lambda match: f'"{names.title}"' if match[1] is None else names.pascal + match[1], text
    )
    typed = names.dashed if kind.example == "command" else names.entry
    text = re.sub(rf'(?<="){kind.word}(?=")|(?<=pegboard ){kind.word}\b', typed, text)
    return re.sub(rf"(?<=plugins\.){kind.word}\b", names.entry, text)


def _server_json(values: Mapping[str, str]) -> str:
    """Return the description of the server for the MCP registry."""
    package = {
        "registryType": "pypi",
        "identifier": values["distribution"],
        "version": values["version"],
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    description = {
        "$schema": SERVER_SCHEMA,
        "name": values["registry"],
        "title": values["title"],
        "description": values["about"][0].upper() + values["about"][1:],
        "version": values["version"],
        "packages": [package],
    }
    return json.dumps(description, indent=2) + "\n"
