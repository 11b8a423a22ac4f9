"""Toolkit: how people who write tools define them. It holds definitions and no state of a host.

One Toolkit serves every host of a program. Nothing is checked here: definitions are compiled when a host assembles, so
that a wrong one costs that tool alone. What is defined after a host has started reaches the hosts that start after it;
for those that run there is `PluginContext.catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from pegboard.contracts import (
    NOTHING,
    UI_EXTENSION,
    UI_MIME_TYPE,
    UI_SCHEME,
    Lifespan,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    ResourceUi,
    ToolAnnotations,
    ToolDefinition,
    ToolUi,
)
from pegboard.hookspecs import HOST_API, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pegboard.contracts.content import Annotations, Icon
    from pegboard.contracts.plugins import Completer, ErrorAdapter

F = TypeVar("F", bound=Callable[..., Any])


class Toolkit:
    """A named set of tools, resources and prompts.

    Args:
        name: used where the toolkit is not installed; an installed one is known by its entry point's name.
        config: a `PluginConfig` model of the `[toolkits.NAME]` section, given to tools as `context.config`.
        title: a name for people.
        description: one sentence about the whole.
        version: the toolkit's own version; the distribution's when None.
        prefix: False leaves tool names without `<toolkit>_` before them.
    """

    host_api: ClassVar[int] = HOST_API

    def __init__(
        self,
        name: str,
        *,
        config: type[BaseModel] | None = None,
        title: str | None = None,
        description: str | None = None,
        version: str | None = None,
        prefix: bool = True,
    ) -> None:
        self.name = name
        self.Config = config
        self.title = title
        self.description = description
        self.version = version
        self.prefix = prefix
        self._tools: list[ToolDefinition] = []
        self._resources: list[ResourceDefinition] = []
        self._prompts: list[PromptDefinition] = []
        self._lifespan: Callable[[Any], Lifespan] | None = None

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        requires_secrets: Sequence[str] = (),
        inline: bool = False,
        enabled: Callable[[Any], bool] | None = None,
        ui: str | ToolUi | None = None,
        meta: Mapping[str, Any] | None = None,
        extensions: Mapping[str, Any] = NOTHING,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        icons: Sequence[Icon] = (),
        adapters: Sequence[ErrorAdapter] = (),
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        requires_secrets: Sequence[str] = (),
        inline: bool = False,
        enabled: Callable[[Any], bool] | None = None,
        ui: str | ToolUi | None = None,
        meta: Mapping[str, Any] | None = None,
        extensions: Mapping[str, Any] = NOTHING,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        icons: Sequence[Icon] = (),
        adapters: Sequence[ErrorAdapter] = (),
    ) -> Any:
        """Make a tool of a function, which stays as it is and can still be called.

        Sync functions run in the host's threads, async ones on its event loop. A parameter annotated `Context` is
        filled in by the host and no part of the schema.

        Args:
            name: the tool's last part; the function's name when None.
            title: a name for people.
            description: replaces the docstring.
            annotations: hints about its behaviour.
            requires_secrets: names of the secrets it may read with `context.get_secret`.
            inline: a sync function that never blocks, run on the event loop without a thread.
            enabled: given `context.config`, says whether the tool is offered at all.
            input_schema: JSON Schema of the arguments in place of the types, listed as it is (2020-12, or draft-07 by
                `$schema`). The function takes them by name, as `**arguments`, or as one dict.
            output_schema: JSON Schema of the result, likewise.
            ui: the `ui://` resource in which clients show its results, or more about its interface (MCP Apps).
            meta: its `_meta`, with keys such as "com.example/team".
            extensions: what it says for other extensions of the protocol, by their identifiers.
            icons: pictures that clients may show.
            adapters: error adapters of its own, asked before all others about what it raises.
        """
        said = dict(extensions) if ui is None else {**extensions, UI_EXTENSION: ui}
        # one text is one secret, not its letters
        secrets = (requires_secrets,) if isinstance(requires_secrets, str) else tuple(requires_secrets or ())
        more = input_schema, output_schema, icons, adapters
        rest = (name, title, description, annotations, secrets, inline, enabled, meta, said, *more)

        def record(function: F) -> F:
            self._tools.append(ToolDefinition(function, *rest))
            return function

        return record if function is None else record(function)

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        ui: ResourceUi | None = None,
        meta: Mapping[str, Any] | None = None,
        extensions: Mapping[str, Any] = NOTHING,
        annotations: Annotations | None = None,
        size: int | None = None,
        icons: Sequence[Icon] = (),
        completions: Mapping[str, Completer] = NOTHING,
    ) -> Callable[[F], F]:
        """Make a resource of a function; with variables in its URI, as many as there are values.

        The function takes the variables by their names, checked and converted like a tool's arguments, and the Context
        by annotation. It gives text, bytes, what JSON has a form for, `ResourceContents` or a list of them; or None
        where there is nothing. Values hold no slash unless the template says `{+name}`, and never `..`.

        Args:
            uri: an absolute URI (RFC 3986), or a template of such (RFC 6570).
            name: the function's name when None.
            title: a name for people.
            description: replaces the docstring.
            mime_type: that of interfaces for `ui://`, else by what the function gives, when None.
            ui: what an interface needs of the frame it is shown in (MCP Apps, `ui://` alone).
            meta: its `_meta`, with keys such as "com.example/team".
            extensions: what it says for other extensions of the protocol, by their identifiers.
            annotations: for whom it is and how much it matters.
            size: of its content, in bytes.
            icons: pictures that clients may show.
            completions: by variable, its values, or a function as in `completion`.
        """
        said = dict(extensions) if ui is None else {**extensions, UI_EXTENSION: ui}
        if mime_type is None and str(uri).startswith(UI_SCHEME):
            mime_type = UI_MIME_TYPE
        more = (meta, said, annotations, size, icons, completions)

        def record(function: F) -> F:
            self._resources.append(ResourceDefinition(uri, function, name, title, description, mime_type, *more))
            return function

        return record

    @overload
    def prompt(self, function: F, /) -> F: ...

    @overload
    def prompt(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon] = (),
        completions: Mapping[str, Completer] = NOTHING,
    ) -> Callable[[F], F]: ...

    def prompt(
        self,
        function: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon] = (),
        completions: Mapping[str, Completer] = NOTHING,
    ) -> Any:
        """Make a prompt of a function, whose parameters are the prompt's arguments.

        Arguments come as text and are converted to the parameters' types; lists and objects are given as JSON. The
        function gives text of the user, a block of content, a `PromptMessage`, or a list of those.

        Args:
            name: the prompt's last part; the function's name when None.
            title: a name for people.
            description: replaces the docstring.
            meta: its `_meta`, with keys such as "com.example/team".
            icons: pictures that clients may show.
            completions: by argument, its values, or a function as in `completion`.
        """

        def record(function: F) -> F:
            self._prompts.append(PromptDefinition(function, name, title, description, meta, icons, completions))
            return function

        return record if function is None else record(function)

    def completion(self, of: Callable[..., Any], argument: str) -> Callable[[F], F]:
        """Let a function say what an argument of a prompt, or a variable of a template, may be.

        Its first parameter takes what has been typed so far; others take arguments that are chosen already by their
        names, None (or their default) while they are not. It gives a list of texts, or a `Completion`. Arguments of
        types with few values (`Literal`, `Enum`, `bool`) need no such function.

        Args:
            of: the function of the prompt or template, made one of this toolkit's before.
            argument: the argument's or variable's name.

        Raises:
            ToolDefinitionError: the function is neither a prompt nor a template of this toolkit.
        """

        def record(function: F) -> F:
            found = False
            kinds: list[list[Any]] = [self._prompts, self._resources]
            for given in kinds:
                for place, one in enumerate(given):
                    if one.function is of:
                        given[place] = one._replace(completions={**one.completions, argument: function})
                        found = True
            if not found:
                from pegboard.errors import ToolDefinitionError

                raise ToolDefinitionError(f"{of!r} is neither a prompt nor a resource of the toolkit {self.name!r}")
            return function

        return record

    def lifespan(self, function: F) -> F:
        """Run a function around the life of a host: an async generator that yields once, given `context.config`.

        What it yields is the `context.state` of the tools. A function that returns an async context manager does too.
        """
        from inspect import isasyncgenfunction

        self._lifespan = asynccontextmanager(function) if isasyncgenfunction(function) else function
        return function

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        """The hook of the same name."""
        return self._tools

    @hookimpl
    def register_resources(self) -> Iterable[ResourceDefinition]:
        """The hook of the same name."""
        return self._resources

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        """The hook of the same name."""
        return self._prompts

    @hookimpl(specname="lifespan")
    def enter_lifespan(self, context: PluginContext) -> Lifespan:
        """The hook `lifespan`."""
        return nullcontext() if self._lifespan is None else self._lifespan(context.config)
