"""What plugins are given, and what they contribute."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from pegboard.contracts.callers import NOTHING
from pegboard.contracts.catalogue import Kind, ToolAnnotations

if TYPE_CHECKING:
    import logging

    from pegboard.contracts.authorization import ToolAuthorization
    from pegboard.contracts.content import Annotations, Icon
    from pegboard.contracts.metadata import ToolMetadata
    from pegboard.errors import ToolRuntimeError


Completer: TypeAlias = "Sequence[str] | Callable[..., Any]"
"""What an argument may be: values, of which those are offered that begin as what has been typed, or a function."""


class ToolDefinition(NamedTuple):
    """A function and what its author said about it; checked and compiled when the host assembles.

    Attributes:
        function: sync or async; its signature becomes the input schema, its docstring the description.
        name: the tool's last part; the function's name when None.
        title: a name for people.
        description: replaces the docstring.
        annotations: hints about its behaviour.
        metadata: what kind of tool it is.
        meta: its `_meta`; keys that the protocol has reserved are refused.
        icons: pictures that clients may show.
        version: its own, where it is another than its toolkit's.
        requires_auth: whose token it needs, and what that must allow.
        scopes: what the caller's own token must allow, where the caller is not this machine's user.
        requires_secrets: names of the secrets it may read with `context.get_secret`.
        requires_metadata: keys of what it must know of its user and surroundings, read with `context.get_metadata`.
        strict: arguments have to be of the very types that the signature says; nothing is converted.
        inline: a sync function that never blocks, run on the event loop without a thread.
        timeout: for how many seconds a call may run, 0 for as long as it likes; `[host] tool_timeout` when None.
        max_result: the largest result, in bytes of JSON, 0 for any; `[host] max_result_bytes` when None.
        input_schema: JSON Schema of the arguments in place of what the signature says, listed as it is; 2020-12, or
            draft-07 where `$schema` says so.
        output_schema: JSON Schema of the result, likewise.
        extensions: what it says for extensions of the protocol, by their identifiers; of no account where one is off.
        adapters: its own error adapters, asked before all others.
        enabled: given the plugin's config, says whether the tool is offered at all.
        deprecated: what to use instead.
    """

    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | None = None
    metadata: "ToolMetadata | None" = None
    meta: Mapping[str, Any] | None = None
    icons: "Sequence[Icon]" = ()
    version: str | None = None
    requires_auth: "ToolAuthorization | None" = None
    scopes: tuple[str, ...] = ()
    requires_secrets: tuple[str, ...] = ()
    requires_metadata: tuple[str, ...] = ()
    strict: bool = False
    inline: bool = False
    timeout: float | None = None
    max_result: int | None = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    extensions: Mapping[str, Any] = NOTHING
    adapters: "Sequence[ErrorAdapter]" = ()
    enabled: Callable[[Any], bool] | None = None
    deprecated: str | None = None


class ResourceDefinition(NamedTuple):
    """A URI, or a template of URIs (RFC 6570), and the function that gives what is there.

    The function takes a template's variables by their names, and the Context where a parameter is annotated so. It
    gives text, bytes for anything binary, what JSON has a form for, `ResourceContents`, a list of those, or a
    `ResourceResult`; None says that there is nothing.

    Attributes:
        mime_type: `text/plain` for text, `application/octet-stream` for bytes and `application/json` for the rest when
            None.
        annotations: for whom it is and how much it matters.
        size: of its content, in bytes; not of a template's.
        icons: pictures that clients may show.
        completions: by variable, what it may be: values, or a function that gives them (`Toolkit.completion`).

    The rest is as of a `ToolDefinition`.
    """

    uri: str
    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    meta: Mapping[str, Any] | None = None
    extensions: Mapping[str, Any] = NOTHING
    annotations: "Annotations | None" = None
    size: int | None = None
    icons: "Sequence[Icon]" = ()
    completions: Mapping[str, Completer] = NOTHING


class PromptDefinition(NamedTuple):
    """A function that gives a prompt, and what its author said about it.

    The function's parameters are the prompt's arguments, and the Context where one is annotated so. It gives text of
    the user, a block of content, a `PromptMessage`, a list of those, or a `PromptResult`.

    Attributes:
        completions: by argument, what it may be: values, or a function that gives them (`Toolkit.completion`).

    The rest is as of a `ToolDefinition`.
    """

    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    meta: Mapping[str, Any] | None = None
    icons: "Sequence[Icon]" = ()
    completions: Mapping[str, Completer] = NOTHING


class Command(NamedTuple):
    """A command of `pegboard`.

    Attributes:
        name: what is typed.
        summary: what it does, in one line.
        run: given the options that were typed, gives what is printed, "" for nothing. An `MCPError` ends it with its
            message and the exit code 1.
        arguments: names such as "file" or "--seconds", each with what `argparse.ArgumentParser.add_argument` is told.
        examples: lines that work.
    """

    name: str
    summary: str
    run: Callable[[Any], str]
    arguments: Sequence[tuple[str, Mapping[str, Any]]] = ()
    examples: Sequence[str] = ()


class SecretStore(Protocol):
    """A place that secrets come from.

    It may have a method `hint(name: str) -> str` that tells people how to set a secret there: "in the environment". Its
    attribute `files_read`, if it has one, lists the files that it has read. The host logs them when it starts.
    """

    name: str

    def get(self, name: str) -> str | None:
        """The secret of that name, None when this store has none.

        Asked once, on the event loop: when the host assembles, or when the first tool that needs it is added. One
        that may have to wait gives up by itself.
        """
        ...


class ErrorAdapter(Protocol):
    """Knows the exceptions of some library, and what they mean to the one who called the tool.

    Attributes:
        slug: a short name for logs and for the `service` of an error's `extra`.
    """

    slug: str

    def from_exception(self, error: Exception) -> "ToolRuntimeError | None":
        """The error that an exception of an author's function amounts to, None when it is not one of this library's.

        Its message and its machine-readable fields go to the caller, so they hold no URL with its query, no header and
        no body; those of `developer_message` go to the log.
        """
        ...


class Catalogue(Protocol):
    """A plugin's own tools, resources and prompts, changed while the host runs; from any thread.

    Each call is one change, all of it or nothing: it is seen by every list and call that begins after it, and by none
    that has begun. Until the host has started, what is added is contributed with what the plugin's hooks return, and
    neither `update` nor `remove` has anything to work on. Nothing of it outlives the host.
    """

    def add(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Offer more.

        Args:
            definitions: what to offer; a plain function is a tool, and so is what `@tool` made of one.

        Returns:
            For each its name on the wire, or its URI. What the operator disabled is withheld, and that is no error.

        Raises:
            ToolDefinitionError: one of them is wrong, or what it is called is there already.
        """
        ...

    def update(
        self, *definitions: ToolDefinition | ResourceDefinition | PromptDefinition | Callable[..., Any]
    ) -> tuple[str, ...]:
        """Offer others in the place of the plugin's own of the same names.

        Returns:
            For each its name on the wire, or its URI.

        Raises:
            ToolDefinitionError: one of them is wrong, or the plugin has none of that name.
        """
        ...

    def remove(self, kind: Kind, *names: str) -> None:
        """Offer the plugin's own no more. Calls in flight go on to their end.

        Args:
            kind: "tools", "resources" or "prompts".
            names: names on the wire, as `add` gave them, or the plugin's own names; URIs of resources.

        Raises:
            ToolDefinitionError: the plugin has none of that name.
        """
        ...


def _no_secret(name: str) -> None:
    """The secret of that name, where there is no store."""


class PluginContext(NamedTuple):
    """What a hook is told about its own plugin; never the host.

    Attributes:
        name: the plugin's name, that of its entry point.
        config: its validated settings, None when it takes none.
        logger: where it logs.
        catalogue: its own tools, resources and prompts, for changes while the host runs.
        get_secret: a secret of the operator's by its name, None where no store has it, and for those of the host's own;
            for names that the plugin's settings give. Stores may block. None, too, until the host has started.
        directory: the folder of the configuration file in use, where the plugin may look for files that nobody names;
            None without a file.
    """

    name: str
    config: Any
    logger: "logging.Logger"
    catalogue: Catalogue
    get_secret: Callable[[str], str | None] = _no_secret
    directory: str | None = None


class Plugin:
    """Base of plugins written as a class: built once per host, with its validated settings.

    Attributes:
        Config: a `PluginConfig` model of the `[plugins.NAME]` section, None when there are no settings.
        host_api: the version of the hooks it is written for.
    """

    Config: ClassVar[type[Any] | None] = None
    host_api: ClassVar[int] = 1

    def __init__(self, config: Any) -> None:
        self.config = config


Lifespan: TypeAlias = AbstractAsyncContextManager[Any]
