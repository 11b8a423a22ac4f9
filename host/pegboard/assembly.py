"""Everything the plugins contributed, put together once and frozen: the catalogue and who gave what.

A wrong definition costs that definition; a name that two claim is served by neither.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pegboard.config import HostConfig
from pegboard.contracts import (
    Middleware,
    Prompt,
    Resource,
    Route,
    SecretStore,
    StreamProtocol,
    Tool,
    ToolDefinition,
    Transport,
)
from pegboard.errors import ToolDefinitionError
from pegboard.execute import BoundPrompt, BoundResource, BoundTool, Function
from pegboard.names import Patterns, check_wire_name, nearest, spellings, wire_name
from pegboard.plugins import Loaded, Origin, Problem
from pegboard.signature import compile_signature

MAX_SCHEMA_BYTES = 256 * 1024
"""The largest input or output schema that is served, as JSON."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
T = TypeVar("T")


class Withheld(NamedTuple):
    """A tool that exists and is not served, and why."""

    name: str
    owner: str
    reason: str


class Assembly(NamedTuple):
    """What a host serves.

    Attributes:
        tools: by wire name, in the order of names.
        routes: by path, then by method.
        forms: for each tool, every spelling of its name, normalised.
    """

    tools: Mapping[str, BoundTool]
    resources: Mapping[str, tuple[Resource, BoundResource]]
    prompts: Mapping[str, tuple[Prompt, BoundPrompt]]
    forms: Mapping[str, frozenset[str]]
    middleware: tuple[Middleware, ...]
    transports: Mapping[str, Transport]
    protocols: tuple[StreamProtocol, ...]
    routes: Mapping[str, Mapping[str, Route]]
    withheld: tuple[Withheld, ...]
    problems: tuple[Problem, ...]


def assemble(config: HostConfig, plugins: Sequence[Loaded]) -> Assembly:
    """Put together what the plugins contributed. Nothing that an author got wrong raises; it becomes a `Problem`."""
    assembler = _Assembler(config, plugins)
    tools = assembler.tools()
    resources = assembler.resources()
    prompts = assembler.prompts()
    assembler.report_unmatched()
    return Assembly(
        tools={name: tool for name, (tool, _) in tools.items()},
        resources=resources,
        prompts=prompts,
        forms={name: forms for name, (_, forms) in tools.items()},
        middleware=assembler.middleware(),
        transports=assembler.transports(),
        protocols=tuple(protocol for plugin in plugins for protocol in plugin.protocols),
        routes=assembler.routes(),
        withheld=tuple(assembler.withheld),
        problems=tuple(assembler.problems),
    )


class _Assembler:
    def __init__(self, config: HostConfig, plugins: Sequence[Loaded]) -> None:
        self.config = config
        self.plugins = plugins
        self.problems: list[Problem] = []
        self.withheld: list[Withheld] = []
        self.disabled = Patterns(config.host.disabled_tools)
        self.known_forms: set[str] = set()
        self.stores: list[SecretStore] = [store for plugin in plugins for store in plugin.stores]

    def problem(self, origin: Origin, message: str, *, level: Any = "error", fatal: bool = False) -> None:
        self.problems.append(Problem("assemble", message, origin, fatal=fatal, level=level))

    # --- tools ---

    def tools(self) -> dict[str, tuple[BoundTool, frozenset[str]]]:
        return self.unique("tool", self.compiled_tools())

    def compiled_tools(self) -> Iterator[tuple[str, Origin, tuple[BoundTool, frozenset[str]]]]:
        for plugin in self.plugins:
            for definition in plugin.tools:
                own = definition.name or _name(definition.function)
                name = self.wire_name(plugin, own)
                forms = spellings(*self.name_parts(plugin, own))
                self.known_forms |= forms
                try:
                    if reason := self.why_withheld(plugin, definition, forms):
                        self.withheld.append(Withheld(name, plugin.origin.name, reason))
                        continue
                    yield name, plugin.origin, (self.compile(plugin, definition, name), forms)
                except ToolDefinitionError as error:
                    self.problem(plugin.origin, f"tool {own!r}{_place(definition.function)}: {error}; it is not served")

    def name_parts(self, plugin: Loaded, own: str) -> tuple[str, str]:
        prefixed = getattr(plugin.instance, "prefix", False)  # a Toolkit's own wish
        return (plugin.origin.name if prefixed else "", own)

    def wire_name(self, plugin: Loaded, own: str) -> str:
        toolkit, tool = self.name_parts(plugin, own)
        return wire_name(toolkit, tool, self.config.host.tool_names, prefix=bool(toolkit))

    def why_withheld(self, plugin: Loaded, definition: ToolDefinition, forms: frozenset[str]) -> str | None:
        if self.disabled.match(forms):
            return "disabled by [host] disabled_tools"
        try:
            if definition.enabled is not None and not definition.enabled(plugin.context.config):
                return f"switched off by the settings of {plugin.origin.name}"
        except Exception as error:
            raise ToolDefinitionError(f"`enabled` raised {type(error).__name__}: {error}") from error
        missing = [name for name in definition.requires_secrets if not self.secret(name)]
        if missing and self.config.host.missing_secrets == "hide":
            return f"needs a secret that is not set: {', '.join(missing)}"
        return None

    def compile(self, plugin: Loaded, definition: ToolDefinition, name: str) -> BoundTool:
        if complaint := check_wire_name(name):
            raise ToolDefinitionError(f"its name on the wire, {name!r}, is no good: {complaint}")
        description = _description(definition.description, definition.function)
        if not description:
            raise ToolDefinitionError("it has no description; write a docstring that tells a model what it does")
        signature = compile_signature(definition.function)
        for schema in (signature.input_schema, signature.output_schema):
            _check_size(schema)
        title = definition.title or (definition.annotations.title if definition.annotations else None)
        tool = Tool(
            name,
            description,
            signature.input_schema,
            signature.output_schema,
            title,
            definition.annotations,
            plugin.origin.name,
        )
        secrets = {key: self.secret(key) for key in definition.requires_secrets}
        self.report_missing(plugin, name, [key for key, value in secrets.items() if not value])
        return BoundTool(
            tool,
            Function.of(definition.function, inline=definition.inline),
            signature,
            plugin.context.config,
            plugin.state,
            secrets,
            self.config.host.user,
        )

    def secret(self, name: str) -> str | None:
        """The first store's that has it; an empty secret is a missing one."""
        return next((value for store in self.stores if (value := store.get(name))), None)

    def report_missing(self, plugin: Loaded, tool: str, missing: list[str]) -> None:
        policy = self.config.host.missing_secrets
        for name in missing:
            message = f"tool {tool!r} needs the secret {name}, which is not set; set it in the environment or in .env"
            self.problem(
                plugin.origin, message, level="error" if policy == "fail" else "warning", fatal=policy == "fail"
            )

    # --- resources and prompts ---

    def resources(self) -> dict[str, tuple[Resource, BoundResource]]:
        return self.unique("resource", self.compiled_resources())

    def compiled_resources(self) -> Iterator[tuple[str, Origin, tuple[Resource, BoundResource]]]:
        for plugin in self.plugins:
            for one in plugin.resources:
                complaint = (
                    None if _URI.fullmatch(one.uri) else "its URI is not absolute, such as docs://readme (RFC 3986)"
                )
                if complaint := complaint or _parameters(one.function):
                    self.problem(
                        plugin.origin, f"resource {one.uri!r}{_place(one.function)}: {complaint}; it is not served"
                    )
                    continue
                name = one.name or _name(one.function)
                resource = Resource(
                    one.uri,
                    name,
                    one.title,
                    _description(one.description, one.function),
                    one.mime_type,
                    plugin.origin.name,
                )
                yield (
                    one.uri,
                    plugin.origin,
                    (resource, BoundResource(one.uri, Function.of(one.function), one.mime_type)),
                )

    def prompts(self) -> dict[str, tuple[Prompt, BoundPrompt]]:
        return self.unique("prompt", self.compiled_prompts())

    def compiled_prompts(self) -> Iterator[tuple[str, Origin, tuple[Prompt, BoundPrompt]]]:
        for plugin in self.plugins:
            for one in plugin.prompts:
                name = self.wire_name(plugin, one.name or _name(one.function))
                description = _description(one.description, one.function)
                complaint = check_wire_name(name) or _parameters(one.function)
                if complaint := complaint or (None if description else "it has no description; write a docstring"):
                    self.problem(plugin.origin, f"prompt {name!r}{_place(one.function)}: {complaint}; it is not served")
                    continue
                prompt = Prompt(name, one.title, description, plugin.origin.name)
                yield name, plugin.origin, (prompt, BoundPrompt(description, Function.of(one.function)))

    # --- order and uniqueness ---

    def unique(self, what: str, items: Iterable[tuple[str, Origin, T]]) -> dict[str, T]:
        """In the order of names, without those that are claimed twice."""
        claimed: dict[str, list[tuple[Origin, T]]] = {}
        for name, origin, item in items:
            claimed.setdefault(name, []).append((origin, item))
        for name, claims in claimed.items():
            if len(claims) > 1:
                owners = " and ".join(str(origin) for origin, _ in claims)
                self.problem(claims[0][0], f"{what} {name!r} is claimed by {owners}; neither is served")
        return {name: claims[0][1] for name, claims in sorted(claimed.items()) if len(claims) == 1}

    def middleware(self) -> tuple[Middleware, ...]:
        named = [
            item._replace(name=item.name or plugin.origin.name) for plugin in self.plugins for item in plugin.middleware
        ]
        order = {name: place for place, name in enumerate(self.config.host.middleware)}
        return tuple(sorted(named, key=lambda item: (order.get(item.name or "", len(order)), item.name or "")))

    def transports(self) -> dict[str, Transport]:
        return self.unique(
            "transport", ((item.name, plugin.origin, item) for plugin in self.plugins for item in plugin.transports)
        )

    def routes(self) -> dict[str, dict[str, Route]]:
        owned = [(plugin.origin, route) for plugin in self.plugins for route in plugin.routes]
        paths: dict[str, dict[str, Route]] = {}
        for route in self.unique(
            "route", ((f"{one.method} {one.path}", origin, one) for origin, one in owned)
        ).values():
            paths.setdefault(route.path, {})[route.method] = route
        return paths

    def report_unmatched(self) -> None:
        for pattern in self.disabled.unmatched(self.known_forms):
            close = nearest(pattern, self.known_forms)
            hint = f"; the nearest tool is {close!r}" if close else ""
            self.problems.append(
                Problem("config", f"[host] disabled_tools: {pattern!r} matches no tool{hint}", level="warning")
            )


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _place(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""


def _description(given: str | None, function: Callable[..., Any]) -> str | None:
    if given is not None:
        return given.strip()
    return inspect.getdoc(function) if inspect.isroutine(function) else inspect.getdoc(type(function))


def _parameters(function: Callable[..., Any]) -> str | None:
    return "its function takes parameters; content is fixed" if inspect.signature(function).parameters else None


def _check_size(schema: Mapping[str, Any] | None) -> None:
    if schema is not None:
        from pydantic_core import to_json

        size = len(to_json(schema))
        if size > MAX_SCHEMA_BYTES:
            raise ToolDefinitionError(f"its schema has {size} bytes, the limit is {MAX_SCHEMA_BYTES}")
