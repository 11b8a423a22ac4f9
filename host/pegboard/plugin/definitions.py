"""Definitions of tools, resources, prompts and folders, as plugins and toolkits contribute them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import ItemKind, ToolAnnotations, ToolkitInfo

if TYPE_CHECKING:
    from pegboard.context import Context
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.content import Annotations, Icon
    from pegboard.types.metadata import ToolMetadata
    from pegboard.types.parameters import ArgumentChange


CompletionSource: TypeAlias = "Sequence[str] | Callable[..., Any]"
"""Completions of an argument: a function, or values. Values that start with the typed string are offered."""


class ToolDefinition(NamedTuple):
    """A function with the options of its author. The host checks and compiles it. Construct it by keyword.

    Attributes:
        function: a sync or async function. Its signature becomes the input schema, its docstring the description.
        name: the last part of the tool's name. If None, the function's name.
        title: a name for people.
        description: replaces the docstring.
        annotations: hints about the tool's behaviour.
        metadata: the services that the tool uses, and its effects.
        meta: the tool's `_meta`. Keys that the protocol reserves are refused.
        icons: icons that clients may show.
        version: the tool's version, if it differs from the toolkit's version.
        requires_auth: the provider and scopes of the token that the tool requires.
        scopes: scopes that the caller's own token must have. The operator needs no scopes.
        requires_secrets: names of the secrets that the tool may read with `context.get_secret`.
        requires_metadata: keys of metadata that the tool reads with `context.get_metadata`.
        strict: True to require arguments of exactly the annotated types; nothing is converted.
        inline: True for a sync function that never blocks. It runs on the event loop, without a thread.
        timeout: the time limit of a call in seconds, 0 for no limit. If None, `[host] tool_timeout`.
        task: "optional" or "required" for a tool that runs as a task if the client supports tasks; None for neither.
        task_timeout: the time limit of a task in seconds, 0 for no limit; also of calls of a tool that requires tasks.
        task_asks: names of questions that are asked before the task is created.
        max_result: the maximum size of the result in bytes of JSON, 0 for no limit. If None, `[host] max_result_bytes`.
        input_schema: JSON Schema of the arguments instead of the signature, listed unchanged: 2020-12, or draft-07 if
            `$schema` says so.
        output_schema: JSON Schema of the result, listed unchanged.
        extensions: values for extensions of the protocol, by identifier or option. Values for disabled extensions are
            ignored.
        adapters: the tool's own error adapters, called before all others.
        enabled: a function that receives the plugin's settings. The tool is served only if the function returns True.
        deprecated: a message that names the replacement; None if the tool is not deprecated.
        tags: labels by which configuration and clients select items.
        arguments: changes of arguments, by the names of the arguments.
        toolkit: the toolkit of the tool, if it is not the plugin.
        raw: the tool as another server lists it, an MCP Tool object. Clients receive its members unchanged, except for
            the name, for members that their revision lacks, and for members that other attributes replace. The host
            validates neither arguments nor results. The function receives the arguments as one dict, and a Context. It
            returns a `RawResult`, or a value like other functions.
        place: the position among the items of the toolkit in lists; None for the order of names.
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
    extensions: Mapping[str, Any] = EMPTY
    adapters: "Sequence[ErrorAdapter]" = ()
    enabled: Callable[[Any], bool] | None = None
    deprecated: str | None = None
    tags: Sequence[str] = ()
    arguments: "Mapping[str, ArgumentChange]" = EMPTY
    toolkit: ToolkitInfo | None = None
    raw: Mapping[str, Any] | None = None
    place: int | None = None
    task: str | None = None
    task_timeout: float = 3600
    task_asks: tuple[str, ...] = ()


class ResourceDefinition(NamedTuple):
    """A URI, or a template of URIs (RFC 6570), and the function that returns the content. Construct it by keyword.

    The function receives the template's variables by name. A parameter annotated `Context` receives the Context. The
    function returns a string, bytes, a JSON-ready value, `ResourceContents`, a list of these types, or a
    `ResourceResult`. It returns None if the resource does not exist. The other attributes are described in
    `ToolDefinition`.

    Attributes:
        mime_type: the media type. When None, an extension may define it; else `text/plain` for strings,
            `application/octet-stream` for bytes and `application/json` for other values.
        max_result: the maximum size of the content in bytes, 0 for no limit. If None, `[host] max_result_bytes`.
        annotations: the audience and priority of the content.
        size: the size of the content in bytes. Not allowed for a template.
        icons: icons that clients may show.
        completions: for each variable, its values, or a function that returns the values (`Toolkit.completion`).
        raw: the resource or template as another server lists it. The function receives the URI, and a Context. It
            returns a `RawResult`, or a value like other functions.
        subscribed: a function that the host calls on its event loop when a client subscribes to a URI, once for each
            client. It must not block. Announce changes with `context.notifications.resources.updated(uri)`.
    """

    uri: str
    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    meta: Mapping[str, Any] | None = None
    extensions: Mapping[str, Any] = EMPTY
    annotations: "Annotations | None" = None
    size: int | None = None
    icons: "Sequence[Icon]" = ()
    completions: Mapping[str, CompletionSource] = EMPTY
    tags: Sequence[str] = ()
    max_result: int | None = None
    toolkit: ToolkitInfo | None = None
    raw: Mapping[str, Any] | None = None
    place: int | None = None
    subscribed: "Callable[[str, Context], None] | None" = None


class PromptDefinition(NamedTuple):
    """A function that returns a prompt, with the options of its author. Construct it by keyword.

    The function's parameters are the prompt's arguments. A parameter annotated `Context` receives the Context. The
    function returns a string (a message of the user), a content block, a `PromptMessage`, a list of these types, or a
    `PromptResult`. The other attributes are described in `ToolDefinition`.

    Attributes:
        completions: for each argument, its values, or a function that returns the values (`Toolkit.completion`).
        raw: the prompt as another server lists it. The function receives the arguments as one dict, and a Context. It
            returns a `RawResult`, or a value like other functions.
    """

    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    meta: Mapping[str, Any] | None = None
    icons: "Sequence[Icon]" = ()
    completions: Mapping[str, CompletionSource] = EMPTY
    tags: Sequence[str] = ()
    toolkit: ToolkitInfo | None = None
    raw: Mapping[str, Any] | None = None
    place: int | None = None


class ContentFolder(NamedTuple):
    """A folder of files of one kind.

    Attributes:
        kind: the kind of files, such as "skills".
        path: the path of the folder. A relative path begins at the folder of the file that has the toolkit or plugin.
            `PluginContext.folders` returns absolute paths.
        toolkit: the toolkit or plugin that ships the folder. The host sets it.
    """

    kind: str
    path: str
    toolkit: ToolkitInfo | None = None


KINDS: Mapping[type[Any], ItemKind] = {
    ToolDefinition: "tools",
    ResourceDefinition: "resources",
    PromptDefinition: "prompts",
}
"""The kind of items for each class of definitions."""
