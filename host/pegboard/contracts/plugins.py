"""What plugins are given, and what they contribute."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from pegboard.contracts.calls import NOTHING, Call, CallNext, Outcome
from pegboard.contracts.catalogue import ToolAnnotations

if TYPE_CHECKING:
    import logging

    from pegboard.errors import ToolRuntimeError


class ToolDefinition(NamedTuple):
    """A function and what its author said about it; checked and compiled when the host assembles.

    Attributes:
        function: sync or async; its signature becomes the input schema, its docstring the description.
        name: the tool's last part; the function's name when None.
        title: a name for people.
        description: replaces the docstring.
        annotations: hints about its behaviour.
        requires_secrets: names of the secrets it may read with `context.get_secret`.
        inline: a sync function that never blocks, run on the event loop without a thread.
        enabled: given the plugin's config, says whether the tool is offered at all.
        input_schema: JSON Schema of the arguments in place of what the signature says, listed as it is; 2020-12, or
            draft-07 where `$schema` says so.
        output_schema: JSON Schema of the result, likewise.
        meta: its `_meta`; keys that the protocol has reserved are refused.
        extensions: what it says for extensions of the protocol, by their identifiers; of no account where one is off.
    """

    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | None = None
    requires_secrets: tuple[str, ...] = ()
    inline: bool = False
    enabled: Callable[[Any], bool] | None = None
    meta: Mapping[str, Any] | None = None
    extensions: Mapping[str, Any] = NOTHING
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None


class ResourceDefinition(NamedTuple):
    """A URI and the function, without parameters, that gives its content (`str`, or `bytes` for anything binary).

    Its `meta` and `extensions` are those of a `ToolDefinition`.
    """

    uri: str
    function: Callable[[], Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    meta: Mapping[str, Any] | None = None
    extensions: Mapping[str, Any] = NOTHING


class PromptDefinition(NamedTuple):
    """A function, without parameters, that gives a prompt: text of the user, or a list of `PromptMessage`."""

    function: Callable[[], Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None


class Middleware(NamedTuple):
    """Code around calls.

    Attributes:
        handle: `async (call, call_next) -> Outcome`; may pass on another call, answer by itself, or change the outcome.
            Typed errors come back from `call_next` as exceptions.
        name: what order lists call it; the plugin's name when None.
        methods: the methods it stands around, all when None.
    """

    handle: Callable[[Call, CallNext], Awaitable[Outcome]]
    name: str | None = None
    methods: frozenset[str] | None = None


class SecretStore(Protocol):
    """A place that secrets come from."""

    name: str

    def get(self, name: str) -> str | None:
        """The secret of that name, None when this store has none. Asked once, when the host assembles."""
        ...


class ErrorAdapter(Protocol):
    """Knows the exceptions of some library, and what they mean to the one who called the tool.

    Attributes:
        slug: a short name for logs and for the `service` of an error's `extra`.
    """

    slug: str

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """The error that an exception of an author's function amounts to, None when it is not one of this library's.

        Its message and its machine-readable fields go to the caller, so they hold no URL with its query, no header and
        no body; those of `developer_message` go to the log.
        """
        ...


class PluginContext(NamedTuple):
    """What a hook is told about its own plugin; never the host.

    Attributes:
        name: the plugin's name, that of its entry point.
        config: its validated settings, None when it takes none.
        logger: where it logs.
    """

    name: str
    config: Any
    logger: logging.Logger


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
