"""Toolkit: how people who write tools define them. It holds definitions and no state of a host.

One Toolkit serves every host of a program. Nothing is checked here: definitions are compiled when a host assembles, so
that a wrong one costs that tool alone. What is defined after a host has started reaches the hosts that start after it;
for those that run there is `PluginContext.catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Unpack, overload

from pegboard.authoring import Decorated, as_definition, as_definitions, check_function, fields_of, tool_fields
from pegboard.hookspecs import HOST_API, hookimpl
from pegboard.plugin.base import Lifespan, PluginContext
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pegboard.types.options import PromptOptions, ResourceOptions, ToolOptions

ToolSource: TypeAlias = "Callable[..., Any] | ToolDefinition"
"""What can be added to a toolkit as a tool."""


class ToolkitBase:
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
        given: object = name  # type checkers are not asked by everybody
        if not isinstance(given, str) or not given.strip():
            raise TypeError(f'{name!r} is no name for a toolkit; write one: Toolkit("files")')
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
    def tool(self, function: Decorated, /) -> Decorated: ...

    @overload
    def tool(self, /, **options: Unpack[ToolOptions]) -> Callable[[Decorated], Decorated]: ...

    def tool(self, function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Make a tool of a function, which stays as it is and can still be called.

        Sync functions run in the host's threads, async ones on its event loop. A parameter annotated `Context` is
        filled in by the host and no part of the schema.

        Args:
            function: the function, where no option is given.
            options: those of `ToolOptions`.

        Raises:
            TypeError: there is no such option, or what was given is not what is decorated.
        """
        if not isinstance(self, ToolkitBase):
            raise TypeError("Toolkit is a class: make an object of it, kit = Toolkit(...), and write @kit.tool")
        check_function(function, "@kit.tool(name=...)")
        fields = tool_fields(options)

        def record(function: Decorated) -> Decorated:
            self._tools.append(as_definition(function)._replace(**fields))
            return function

        return record if function is None else record(function)

    @overload
    def add(self, name: str, tool: ToolSource, /) -> None: ...

    @overload
    def add(self, /, *tools: ToolSource | Iterable[ToolSource]) -> None: ...

    def add(self, /, *given: Any) -> None:
        """Take tools that belong to no toolkit: what `@tool` made of functions, or functions as they are.

        `kit.add(add, subtract)` and `kit.add([add, subtract])` take them under their own names, `kit.add("plus", add)`
        under another. Several toolkits may have the same one, and a toolkit may have it under several names.

        Raises:
            TypeError: something of it is no tool.
        """
        self._tools += as_definitions(given)

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[Decorated], Decorated]:
        """Make a resource of a function; with variables in its URI, as many as there are values.

        The function takes the variables by their names, checked and converted like a tool's arguments, and the Context
        by annotation. It gives text, bytes, what JSON has a form for, `ResourceContents` or a list of them; or None
        where there is nothing. Values hold no slash unless the template says `{+name}`, and never `..`.

        Args:
            uri: an absolute URI (RFC 3986), or a template of such (RFC 6570).
            options: those of `ResourceOptions`.

        Raises:
            TypeError: there is no such option, or what was given is not what is decorated.
        """
        if callable(uri):
            raise TypeError('a resource has a URI: write @kit.resource("docs://readme")')
        fields = fields_of(ResourceDefinition, options)

        def record(function: Decorated) -> Decorated:
            self._resources.append(ResourceDefinition(uri, function, **fields))
            return function

        return record

    @overload
    def prompt(self, function: Decorated, /) -> Decorated: ...

    @overload
    def prompt(self, /, **options: Unpack[PromptOptions]) -> Callable[[Decorated], Decorated]: ...

    def prompt(self, function: Callable[..., Any] | None = None, /, **options: Unpack[PromptOptions]) -> Any:
        """Make a prompt of a function, whose parameters are the prompt's arguments.

        Arguments come as text and are converted to the parameters' types; lists and objects are given as JSON. The
        function gives text of the user, a block of content, a `PromptMessage`, or a list of those.

        Args:
            function: the function, where no option is given.
            options: those of `PromptOptions`.

        Raises:
            TypeError: there is no such option, or what was given is not what is decorated.
        """
        check_function(function, "@kit.prompt(name=...)")
        fields = fields_of(PromptDefinition, options)

        def record(function: Decorated) -> Decorated:
            self._prompts.append(PromptDefinition(function, **fields))
            return function

        return record if function is None else record(function)

    def completion(self, of: Callable[..., Any], argument: str) -> Callable[[Decorated], Decorated]:
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

        def record(function: Decorated) -> Decorated:
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

    def lifespan(self, function: Decorated) -> Decorated:
        """Run a function around the life of a host: an async generator that yields once, given `context.config`.

        What it yields is the `context.state` of the tools. A function that returns an async context manager does too.

        Raises:
            TypeError: it is a generator that is not async.
        """
        from inspect import isasyncgenfunction, isgeneratorfunction

        if isgeneratorfunction(function):
            raise TypeError(f"a lifespan is an async generator: write `async def {function.__name__}`")
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
