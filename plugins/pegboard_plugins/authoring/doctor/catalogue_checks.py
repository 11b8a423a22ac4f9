"""Checks of plugins and of the definitions that are served."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, SecretStr

from pegboard.plugin import CommandContext, Finding, text_problems
from pegboard.types import Tool
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret

_OF_SETTINGS = "config"
"""The stage of problems of settings (`LoadProblem`)."""
_OF_SECRETS = "secrets"
"""The stage of problems with secrets and tokens that are not set."""

SLOW_IMPORT_SECONDS = 0.5
"""The time to load a plugin from which it is reported. Clients wait for the start."""


def check_plugins(command: CommandContext) -> Iterator[Finding]:
    """Report each problem of a plugin or toolkit, apart from its settings and secrets."""
    for problem in command.host.problems:
        if problem.stage not in {_OF_SECRETS, _OF_SETTINGS}:
            yield Finding(problem.level, str(problem), problem=problem)


def check_missing_secrets(command: CommandContext) -> Iterator[Finding]:
    """Report each secret that a tool requires and no store has."""
    for problem in command.host.problems:
        if problem.stage == _OF_SECRETS:
            yield Finding("warning", str(problem))


def check_tokens(command: CommandContext) -> Iterator[Finding]:
    """Report tokens and secrets of authenticators that others can guess."""
    for plugin in command.host.report.plugins:
        if isinstance(plugin.context.config, BaseModel) and plugin.contributions.get("register_authenticators"):
            for key, secret in _secrets(plugin.context.config):
                if is_weak_secret(secret):
                    section = f"[{plugin.origin.kind}s.{plugin.origin.name}]"
                    fix = f"use {SECRET_BYTES} random bytes: python -c 'import secrets; print(secrets.token_urlsafe())'"
                    if key.endswith("client_secret"):
                        fix = "create a new secret at the server that issued it"
                    yield Finding("warning", f"{key} of {section} is weak: others can guess it", fix)


def check_import_times(command: CommandContext) -> Iterator[Finding]:
    """Report each plugin that takes long to load."""
    for plugin in command.host.report.plugins:
        if plugin.import_seconds > SLOW_IMPORT_SECONDS:
            took = f"{plugin.origin} takes {plugin.import_seconds * 1000:.0f} ms to load"
            fix = "import large libraries in the functions that use them, not at the top of the module"
            if plugin.origin.kind == "toolkit":
                fix += "; or run `pegboard lock` and set [plugins.lock] lazy = true, to import it at its first call"
            yield Finding("warning", took, fix)


def check_client_rules(command: CommandContext) -> Iterator[Finding]:
    """Report names and schemas that known clients reject."""
    tools = [bound.tool for bound in command.host.assembly.tools.values()]
    for tool in tools:
        for rule in RULES:
            if problem := rule.broken(tool):
                message = f"{rule.clients} may reject the tool {tool.name}: {problem}"
                yield Finding("warning", message, rule.fix, rule.source)
    for limit in LIMITS:
        if len(tools) > limit.max_tools:
            message = (
                f"{limit.client} accepts {limit.max_tools} tools from all servers; this host alone has {len(tools)}"
            )
            yield Finding("warning", message, "serve fewer tools with --only, or with a profile", limit.source)


def check_hidden_text(command: CommandContext) -> Iterator[Finding]:
    """Report invisible characters in definitions: people do not see them, but models read them."""
    assembly = command.host.assembly
    tools = {f"tool {name}": bound.tool for name, bound in assembly.tools.items()}
    resources = {f"resource {uri}": bound.item for uri, bound in assembly.resources.items()}
    prompts = {f"prompt {name}": bound.item for name, bound in assembly.prompts.items()}
    for label, item in {**tools, **resources, **prompts}.items():
        shown = {name: getattr(item, name, None) for name in ("title", "description", "input_schema", "output_schema")}
        for path, problem in text_problems(shown):
            place = ".".join(map(str, path))
            yield Finding(
                "error", f"{label}: {place} {problem}", "disable the item until its author has removed the characters"
            )


def _secrets(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each secret of a settings model, with its key."""
    if isinstance(value, SecretStr):
        yield key, value.get_secret_value()
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name), f"{key}.{name}".removeprefix("."))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _secrets(inner, f"{key}.{name}")


# --- Names and schemas that clients reject although MCP allows them, each with its documentation or report.

SERVER_NAME = "pegboard"
"""The name that `pegboard configure` gives the server in a client, unless `--name` gives another."""
_COMBINATIONS = ("oneOf", "anyOf", "allOf")


class ClientRule(NamedTuple):
    """A rule of a client.

    Attributes:
        clients: the clients that have the rule.
        source: the documentation or the report of the rule.
        fix: what the author of the tool can do.
        broken: returns the problem of a tool, or None if the tool obeys the rule.
    """

    clients: str
    source: str
    fix: str
    broken: Callable[[Tool], str | None]


class ClientLimit(NamedTuple):
    """The number of tools that a client accepts from all servers together."""

    client: str
    max_tools: int
    source: str


def _too_long(prefix: str, most: int) -> Callable[[Tool], str | None]:
    def broken(tool: Tool) -> str | None:
        length = len(prefix) + len(tool.name)
        return f"its name has {length} characters with {prefix!r}; the limit is {most}" if length > most else None

    return broken


def _root_combination(tool: Tool) -> str | None:
    keywords = [name for name in _COMBINATIONS if name in tool.input_schema]
    return f"its input schema has {', '.join(keywords)} at the top level" if keywords else None


def _array_without_items(tool: Tool) -> str | None:
    ways = [way for way, schema in _subschemas(tool.input_schema, ()) if _lacks_items(schema)]
    places = [".".join(way) or "the input" for way in ways]
    return f"its schema has an array without `items`: {', '.join(places)}" if places else None


def _lacks_items(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type")
    return "array" in ([types] if isinstance(types, str) else types or ()) and "items" not in schema


def _subschemas(schema: Any, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield each schema in a schema, with the names of the properties on its path."""
    if not isinstance(schema, Mapping):
        return
    yield way, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from _subschemas(inner, (*way, name))
    for key in ("items", "additionalProperties"):
        yield from _subschemas(schema.get(key), way)
    for key in _COMBINATIONS:
        for inner in schema.get(key) or ():
            yield from _subschemas(inner, way)


RULES = (
    ClientRule(
        "Claude Code",
        "https://github.com/anthropics/claude-code/issues/2326",
        "shorten the name of the tool, or the name of the server with `pegboard configure claude-code --name`",
        _too_long(f"mcp__{SERVER_NAME}__", 64),
    ),
    ClientRule(
        "Cursor",
        "https://github.com/sparfenyuk/mcp-proxy/issues/45",
        "shorten the name of the tool, or the name of the server with `pegboard configure cursor --name`",
        _too_long(f"{SERVER_NAME}:", 60),
    ),
    ClientRule(
        "clients of models of Anthropic and OpenAI",
        "https://github.com/anthropics/claude-code/issues/40075",
        "declare each alternative as a separate parameter",
        _root_combination,
    ),
    ClientRule(
        "Visual Studio Code",
        "https://github.com/microsoft/vscode/issues/246119",
        "annotate the items of the list, as in list[str]",
        _array_without_items,
    ),
)
LIMITS = (
    ClientLimit("Windsurf", 100, "https://docs.windsurf.com/windsurf/cascade/mcp"),
    ClientLimit("Visual Studio Code", 128, "https://github.com/microsoft/vscode/issues/290356"),
)
