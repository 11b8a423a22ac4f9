"""`pegboard new`: a new toolkit, plugin or server, as a distribution with tests. Existing files stay as they are."""

from __future__ import annotations

import builtins
import json
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from importlib.resources import files
from keyword import kwlist
from pathlib import Path
from string import Template
from typing import NamedTuple

import importlib_metadata
from typing_extensions import TypedDict

from pegboard import MCPError
from pegboard.plugin import CommandContext
from pegboard.terminal import UsageError, nearest, print_json, print_lines
from pegboard_plugins.authoring.new.kinds import DEFAULT_KIND, PLUGINS, PREFIXES, SERVER, SORTS, TOOLKIT, ProjectKind

_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")


class ProjectOutput(TypedDict):
    """The output of `pegboard new`."""

    folder: str
    files: list[str]
    settings: str
    next: list[str]


class NewProjectError(MCPError):
    """The project cannot be written."""


def run_new(command: CommandContext) -> int:
    """Write a project into a new folder, and print the next commands.

    Raises:
        NewProjectError: the folder exists or cannot be written.
    """
    options = command.options
    try:
        sort, typed, kind = _wanted(options)
        names = project_names(sort, typed)
        _refuse_taken_names(sort, options.kind, names, command)
        if options.owner and not _OWNER.fullmatch(options.owner):
            raise ValueError(f"{options.owner!r} is not a GitHub account: write it as in https://github.com/ACCOUNT")
        texts = project_files(sort, kind, names, _requirement(), options.owner or "")
    except ValueError as error:
        raise UsageError(str(error)) from None
    _write(Path(names.distribution), texts)
    enabling = settings(kind, names)
    commands = list(_next_commands(sort, kind, names))
    if options.json:
        folder = str(Path(names.distribution).resolve())
        print_json(ProjectOutput(folder=folder, files=sorted(texts), settings=enabling, next=commands))
    else:
        print_lines(_report(names, texts, enabling, commands))
    return 0


def _wanted(options: Namespace) -> tuple[str, str, ProjectKind]:
    """Return the sort, the name and the kind from the command line, or from answers at a terminal."""
    asks = not options.json and os.isatty(0) and os.isatty(2)
    sort = options.sort or (asks and _ask("project", SORTS, "toolkit")) or ""
    if sort not in SORTS:
        raise ValueError(_unknown(sort, SORTS, "pegboard new toolkit weather"))
    if sort != "plugin" and options.kind:
        raise ValueError(
            f"--kind is for plugins: leave it out, or write `pegboard new plugin NAME --kind {options.kind}`"
        )
    if sort == "plugin":
        about = {name: kind.summary for name, kind in PLUGINS.items()}
        options.kind = (options.kind or (asks and _ask("kind", about, DEFAULT_KIND)) or "").replace("_", "-")
        if options.kind not in PLUGINS:
            raise ValueError(_unknown(options.kind, PLUGINS, "pegboard new plugin acme --kind middleware"))
    name = options.name or (asks and _ask("name", {}, ""))
    if not name:
        raise ValueError(f"the name is missing: write `pegboard new {sort} NAME`")
    return sort, name, PLUGINS[options.kind] if sort == "plugin" else TOOLKIT if sort == "toolkit" else SERVER


def _unknown(value: str, choices: Iterable[str], example: str) -> str:
    *most, last = choices
    choice = f"{', '.join(most)} or {last}"
    if not value:
        return f"{choice}? Write `{example}`"
    close = nearest(value, [*most, last])
    hint = f"did you mean {close!r}? Write" if close else "write"
    return f"{value!r} is unknown: {hint} {choice}, as in `{example}`"


def _ask(label: str, choices: Mapping[str, str], default: str) -> str:
    """Ask at the terminal. An empty line is the default."""
    width = max(map(len, choices), default=0)
    lines = [f"  {name:{width}}  {summary}" for name, summary in choices.items()]
    sys.stderr.write("\n".join([*lines, f"{label} [{default}]: " if default else f"{label}: "]))
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise ValueError("the input has ended: write the project and its name, as in `pegboard new toolkit weather`")
    return line.strip() or default


def _refuse_taken_names(sort: str, kind: str | None, names: ProjectNames, command: CommandContext) -> None:
    """Raise ValueError if such a toolkit is installed, or if pegboard has a plugin or a command of that name."""
    if sort == "plugin" and "pegboard" in _distributions("pegboard.plugins", names.entry):
        raise ValueError(f"pegboard has a plugin {names.entry!r} already: choose another name")
    if sort == "toolkit" and (taken := _distributions("pegboard.toolkits", names.entry)):
        raise ValueError(f"the toolkit {names.entry!r} is installed already, from {taken[0]}: choose another name")
    if kind == "command" and names.dashed in command.command_line().commands:
        raise ValueError(f"pegboard has a command {names.dashed!r} already: choose another name")


def _distributions(group: str, name: str) -> list[str]:
    """Return the distributions with an entry point."""
    entries = importlib_metadata.entry_points(group=group, name=name)
    return [entry.dist.name for entry in entries if entry.dist is not None]


def _requirement() -> str:
    """Return the requirement of this version of pegboard and later compatible versions."""
    try:
        match = re.match(r"(\d+)\.(\d+)", importlib_metadata.version("pegboard"))
    except importlib_metadata.PackageNotFoundError:
        match = None
    if not match:
        return "pegboard"
    major, minor = int(match[1]), int(match[2])
    return f"pegboard>={major}.{minor},<{f'0.{minor + 1}' if major == 0 else major + 1}"


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    try:
        folder.mkdir()
    except FileExistsError:
        raise NewProjectError(f"{folder} exists already: choose another name, or another working directory") from None
    except OSError as error:
        raise NewProjectError(f"{folder} cannot be created: {error.strerror}") from error
    try:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8", newline="\n")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NewProjectError(f"{folder} cannot be written: {error.strerror}") from error


def _next_commands(sort: str, kind: ProjectKind, names: ProjectNames) -> Iterable[str]:
    yield f"cd {names.distribution}"
    yield "pip install -e . pytest"
    yield "python -m pytest"
    if sort == "toolkit":
        yield f"pegboard call {names.entry}_greet name=Ada"
        yield f"pegboard configure claude-code --only {names.entry}"
    elif sort == "plugin":
        command = f"{names.dashed} Ada" if kind is PLUGINS["command"] else f"why {names.entry}"
        yield f"pegboard {command} --config hostconfig.example.toml"
    else:
        yield f"{names.distribution} http"


def _report(names: ProjectNames, texts: Iterable[str], enabling: str, commands: Iterable[str]) -> Iterable[str]:
    yield f"wrote {names.distribution}/"
    yield from (f"  {name}" for name in sorted(texts))
    yield "next:"
    yield from (f"  {command}" for command in commands)
    if enabling:
        yield "a host enables the plugin by these lines of its hostconfig.toml:"
        yield from (f"  {line}".rstrip() for line in enabling.splitlines())


# --- The files of a new project, made from the templates.

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
        "about": _about(kind),
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


def _about(kind: ProjectKind) -> str:
    """Return a description to publish. It says nothing of the example, which the author replaces."""
    names = [name for name, each in PLUGINS.items() if each is kind]
    return f"a plugin for pegboard ({names[0]})." if names else f"{kind.summary}."


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


# --- The names of a new project, made from the name that the user types.

MAX_PROJECT_NAME_CHARACTERS = 50

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


class ProjectNames(NamedTuple):
    """The names of a project.

    Attributes:
        dashed: the name that the user typed, without a prefix: `weather-map`.
        distribution: the name for installers, and of the folder: `toolkit-weather-map`.
        package: the name for imports: `toolkit_weather_map`.
        entry: the name of the plugin or toolkit: `weather_map`.
        pascal: the beginning of the names of classes: `WeatherMap`.
        title: the name for people: `Weather map`.
    """

    dashed: str
    distribution: str
    package: str
    entry: str
    pascal: str
    title: str


def project_names(sort: str, typed: str) -> ProjectNames:
    """Return the names of a toolkit, plugin or server. The name may begin with the prefix of the distribution.

    Raises:
        ValueError: the name is invalid.
    """
    prefix = PREFIXES[sort]
    name = typed.replace("_", "-").removeprefix(prefix)
    if not _NAME.fullmatch(name) or len(name) > MAX_PROJECT_NAME_CHARACTERS:
        raise ValueError(f"{typed!r} is not a valid name: {_hint(typed)}")
    entry = name.replace("-", "_")
    distribution = f"{prefix}{name}"
    return ProjectNames(
        dashed=name,
        distribution=distribution,
        package=distribution.replace("-", "_"),
        entry=entry,
        pascal="".join(word.capitalize() for word in name.split("-")),
        title=name.replace("-", " ").capitalize(),
    )


def _hint(typed: str) -> str:
    rule = f"use up to {MAX_PROJECT_NAME_CHARACTERS} lower-case letters (a-z) and digits, with - between words"
    close = re.sub(r"[^a-z0-9]+", "-", typed.lower()).lstrip("-0123456789")[:MAX_PROJECT_NAME_CHARACTERS].rstrip("-")
    return f"{rule}, such as {close or 'weather'}"
