"""Definitions of tools, resources and prompts, as plugins and toolkits contribute them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import ToolAnnotations

if TYPE_CHECKING:
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.content import Annotations, Icon
    from pegboard.types.metadata import ToolMetadata


CompletionSource: TypeAlias = "Sequence[str] | Callable[..., Any]"
"""Completions of an argument: values, of which those with the typed prefix are offered, or a function."""


class ToolDefinition(NamedTuple):
    """A function with the options of its author. The host checks and compiles it. Construct it by keyword.

    Attributes:
        function: a sync or async function. Its signature becomes the input schema, its docstring the description.
        name: the last part of the tool's name; the function's name when None.
        title: a name for people.
        description: replaces the docstring.
        annotations: hints about its behaviour.
        metadata: the services that it uses, and its effects.
        meta: its `_meta`. Keys that the protocol reserves are refused.
        icons: icons that clients may show.
        version: its own version, if it differs from its toolkit's.
        requires_auth: the provider of the token that it needs, and the token's scopes.
        scopes: scopes that the caller's own token must have. The operator needs none.
        requires_secrets: names of the secrets that it may read with `context.get_secret`.
        requires_metadata: keys of metadata that it reads with `context.get_metadata`.
        strict: True to require arguments of exactly the annotated types; nothing is converted.
        inline: True for a sync function that never blocks; it runs on the event loop without a thread.
        timeout: the time limit of a call in seconds, 0 for none; `[host] tool_timeout` when None.
        max_result: the maximum size of the result in bytes of JSON, 0 for no limit; `[host] max_result_bytes` when
            None.
        input_schema: JSON Schema of the arguments instead of the signature, listed unchanged: 2020-12, or draft-07 if
            `$schema` says so.
        output_schema: JSON Schema of the result, likewise.
        extensions: values for extensions of the protocol, by their identifiers or options. They are ignored if the
            extension is off.
        adapters: its own error adapters, asked before all others.
        enabled: a function of the plugin's config; the tool is served only if it returns True.
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
    extensions: Mapping[str, Any] = EMPTY
    adapters: "Sequence[ErrorAdapter]" = ()
    enabled: Callable[[Any], bool] | None = None
    deprecated: str | None = None


class ResourceDefinition(NamedTuple):
    """A URI, or a template of URIs (RFC 6570), and the function that returns the content. Construct it by keyword.

    The function takes the template's variables by name, and the Context as a parameter annotated `Context`. It returns
    a string, bytes, a JSON-ready value, `ResourceContents`, a list of those, or a `ResourceResult`; None if there is no
    such resource. The attributes that are not listed here are those of a `ToolDefinition`.

    Attributes:
        mime_type: the media type. When None, an extension may define it; else `text/plain` for strings,
            `application/octet-stream` for bytes and `application/json` for other values.
        annotations: its audience and priority.
        size: the size of its content, in bytes. A template has none.
        icons: icons that clients may show.
        completions: by variable, its values, or a function that returns them (`Toolkit.completion`).
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


class PromptDefinition(NamedTuple):
    """A function that returns a prompt, with the options of its author. Construct it by keyword.

    The function's parameters are the prompt's arguments, and a parameter annotated `Context` is the Context. It returns
    a string (a message of the user), a block of content, a `PromptMessage`, a list of those, or a `PromptResult`. The
    attributes that are not listed here are those of a `ToolDefinition`.

    Attributes:
        completions: by argument, its values, or a function that returns them (`Toolkit.completion`).
    """

    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    meta: Mapping[str, Any] | None = None
    icons: "Sequence[Icon]" = ()
    completions: Mapping[str, CompletionSource] = EMPTY
