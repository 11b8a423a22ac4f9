"""`ToolkitBase`: the definitions of a toolkit's author. It has no state of a host.

One toolkit serves every host of a program. A host checks the definitions when it starts, so that an invalid definition
disables only that item. Definitions that are added later reach only hosts that start later; a running host is changed
through `PluginContext.catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import asynccontextmanager, nullcontext
from inspect import isasyncgenfunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Unpack, overload

from pegboard.authoring import Decorated, as_definition, as_definitions, check_function, fields_of, tool_fields
from pegboard.hookspecs import HOST_API, hookimpl
from pegboard.plugin.base import Lifespan, PluginContext
from pegboard.plugin.definitions import ContentFolder, PromptDefinition, ResourceDefinition, ToolDefinition

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pegboard.types.options import PromptOptions, ResourceOptions, ToolOptions

ToolSource: TypeAlias = "Callable[..., Any] | ToolDefinition"
"""The types of objects that `Toolkit.add` accepts as a tool."""


class ToolkitBase:
    """A named set of tools, resources and prompts.

    Args:
        name: the name of a toolkit that is not installed. An installed toolkit has the name of its entry point.
        config: a `PluginConfig` model of the `[toolkits.NAME]` section, available to tools as `context.config`.
        title: a name for people.
        description: a sentence about the toolkit.
        version: the toolkit's version; the distribution's when None.
        prefix: False for tool names without `<toolkit>_`.
        instructions: instructions for the model, if the toolkit is served alone.
        skills: the folder of the toolkit's skills, which are folders with a `SKILL.md`. A relative path begins at the
            folder of the file that has the toolkit.

    Attributes:
        is_mounted: True if another toolkit serves its items. A file that has both serves only the other toolkit.
        source_folder: the folder of the file that the command line names; None for a toolkit from elsewhere.
    """

    host_api: ClassVar[int] = HOST_API
    is_mounted: bool = False
    source_folder: str | None = None

    def __init__(
        self,
        name: str,
        *,
        config: type[BaseModel] | None = None,
        title: str | None = None,
        description: str | None = None,
        version: str | None = None,
        prefix: bool = True,
        instructions: str | None = None,
        skills: str | None = None,
    ) -> None:
        value: object = name  # type checkers are optional
        if not isinstance(value, str) or not value.strip():
            raise TypeError(f'{name!r} is not a valid toolkit name: write Toolkit("files")')
        self.name = name
        self.Config = config
        self.title = title
        self.description = description
        self.version = version
        self.prefix = prefix
        self.instructions = instructions
        self._folders = [] if skills is None else [ContentFolder("skills", skills)]
        self._tools: list[ToolDefinition] = []
        self._resources: list[ResourceDefinition] = []
        self._prompts: list[PromptDefinition] = []
        self._lifespan: Callable[[Any], Lifespan] | None = None

    @overload
    def tool(self, function: Decorated, /) -> Decorated: ...

    @overload
    def tool(self, /, **options: Unpack[ToolOptions]) -> Callable[[Decorated], Decorated]: ...

    def tool(self, function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Turn a function into a tool. The function itself stays unchanged.

        Sync functions run in the host's threads, async functions on its event loop. The host fills in a parameter
        annotated `Context`, which is not part of the schema.

        Args:
            function: the function, if there are no options.
            options: the options of `ToolOptions`.

        Raises:
            TypeError: an option does not exist, or the decorated object is not a function.
        """
        if not isinstance(self, ToolkitBase):
            raise TypeError("Toolkit is a class: create an object, kit = Toolkit(...), and write @kit.tool")
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
        """Add tools that belong to no toolkit: results of `@tool`, or functions.

        `kit.add(add, subtract)` and `kit.add([add, subtract])` add them under their own names, `kit.add("plus", add)`
        under another. A tool may be in several toolkits, and in one toolkit under several names.

        Raises:
            TypeError: an argument is not a tool.
        """
        self._tools += as_definitions(given)

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[Decorated], Decorated]:
        """Turn a function into a resource, or into a template if the URI has variables.

        The function takes the variables by name, converted like a tool's arguments, and the Context by annotation. It
        returns a string, bytes, a JSON-ready value, `ResourceContents` or a list of them; None if there is no such
        resource. Values contain no slash unless the template says `{+name}`, and never `..`.

        Args:
            uri: an absolute URI (RFC 3986), or a template of URIs (RFC 6570).
            options: the options of `ResourceOptions`.

        Raises:
            TypeError: an option does not exist, or the URI is missing.
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
        """Turn a function into a prompt. Its parameters are the prompt's arguments.

        Clients send arguments as strings. The host converts them to the annotated types; lists and objects are sent as
        JSON. The function returns a string (a message of the user), a block of content, a `PromptMessage`, or a list of
        those.

        Args:
            function: the function, if there are no options.
            options: the options of `PromptOptions`.

        Raises:
            TypeError: an option does not exist, or the decorated object is not a function.
        """
        check_function(function, "@kit.prompt(name=...)")
        fields = fields_of(PromptDefinition, options)

        def record(function: Decorated) -> Decorated:
            self._prompts.append(PromptDefinition(function, **fields))
            return function

        return record if function is None else record(function)

    def completion(self, of: Callable[..., Any], argument: str) -> Callable[[Decorated], Decorated]:
        """Let a function complete an argument of a prompt, or a variable of a template.

        Its first parameter takes the typed text. Other parameters take other arguments by name: None, or their default,
        until the user has chosen them. It returns a list of strings, or a `Completion`. Arguments of types with few
        values (`Literal`, `Enum`, `bool`) need no such function.

        Args:
            of: the function of a prompt or template of this toolkit.
            argument: the name of the argument or variable.

        Raises:
            ToolDefinitionError: the function is not a prompt or template of this toolkit.
        """

        def record(function: Decorated) -> Decorated:
            kinds: list[list[Any]] = [self._prompts, self._resources]
            places = [(own, place) for own in kinds for place, each in enumerate(own) if each.function is of]
            if not places:
                from pegboard.errors import ToolDefinitionError

                raise ToolDefinitionError(f"{of!r} is neither a prompt nor a resource of the toolkit {self.name!r}")
            for own, place in places:
                completions = {**own[place].completions, argument: function}
                own[place] = own[place]._replace(completions=completions)
            return function

        return record

    def lifespan(self, function: Decorated) -> Decorated:
        """Run an async generator around the life of a host. It receives `context.config` and yields once.

        The yielded value is the `context.state` of the tools. A function that returns an async context manager works
        too.

        Raises:
            TypeError: the function is a sync generator.
        """
        if isgeneratorfunction(function):
            raise TypeError(f"a lifespan is an async generator: write `async def {function.__name__}`")
        self._lifespan = asynccontextmanager(function) if isasyncgenfunction(function) else function
        return function

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        """Implement the hook `register_tools`."""
        return self._tools

    @hookimpl
    def register_resources(self) -> Iterable[ResourceDefinition]:
        """Implement the hook `register_resources`."""
        return self._resources

    @hookimpl
    def register_prompts(self) -> Iterable[PromptDefinition]:
        """Implement the hook `register_prompts`."""
        return self._prompts

    @hookimpl
    def register_folders(self) -> Iterable[ContentFolder]:
        """Implement the hook `register_folders`."""
        return self._folders

    @hookimpl(specname="lifespan")
    def enter_lifespan(self, context: PluginContext) -> Lifespan:
        """Implement the hook `lifespan`."""
        return nullcontext() if self._lifespan is None else self._lifespan(context.config)
