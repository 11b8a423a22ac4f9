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
    extensions: Mapping[str, Any] = EMPTY
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
    extensions: Mapping[str, Any] = EMPTY
    annotations: "Annotations | None" = None
    size: int | None = None
    icons: "Sequence[Icon]" = ()
    completions: Mapping[str, CompletionSource] = EMPTY


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
    completions: Mapping[str, CompletionSource] = EMPTY
