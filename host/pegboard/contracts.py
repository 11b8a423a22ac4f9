"""What plugins, protocols and the host exchange: immutable records and small protocols.

Nothing here does anything, and nothing here knows MCP's wire format or any transport. Records are named tuples, which
take a tenth of a frozen dataclass's time to define, at every start, and a third to make, at every call. Treat them as
records all the same: name their fields, and change one with `record._replace(...)`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    import logging

    from pegboard.errors import MCPError

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The empty mapping that absent parameters and capabilities share."""

RequestId: TypeAlias = str | int
"""A JSON-RPC request id as MCP allows it: a string or an integer, never null."""

Kind: TypeAlias = Literal["tools", "resources", "prompts"]
"""The three things a host lists."""

# --- who is asking ---


class Caller(NamedTuple):
    """The person or program behind a call, as far as the transport can vouch for it.

    Attributes:
        subject: a stable id of the authenticated user, None when nobody is authenticated.
    """

    subject: str | None = None


ANONYMOUS = Caller()


class Client(NamedTuple):
    """The program that speaks to us, as it describes itself; never a basis for trust.

    Attributes:
        name: its own name, "" when it gave none.
        version: its own version, "" when it gave none.
        revision: the protocol revision this call is served in, such as "2025-11-25".
        capabilities: what it says it can do (MCP ClientCapabilities).
    """

    name: str = ""
    version: str = ""
    revision: str = ""
    capabilities: Mapping[str, Any] = NOTHING


UNKNOWN_CLIENT = Client()

Notify: TypeAlias = Callable[[str, dict[str, Any]], None]
"""Sends a notification (method, params) on the call's own stream; returns at once."""


class Call(NamedTuple):
    """One request, the same whatever protocol and transport it came by.

    Attributes:
        method: an MCP method name such as "tools/call".
        params: its parameters, as decoded JSON.
        caller: who is behind it.
        client: which program sent it.
        request_id: the protocol's id of the request, None where there is none.
        session_id: the session it belongs to, None where there is none; not a proof of identity.
        notify: how to reach the client while the call runs, None where that is impossible.
    """

    method: str
    params: Mapping[str, Any] = NOTHING
    caller: Caller = ANONYMOUS
    client: Client = UNKNOWN_CLIENT
    request_id: RequestId | None = None
    session_id: str | None = None
    notify: Notify | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`, empty when it has none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else NOTHING


# --- what there is ---


class ToolAnnotations(NamedTuple):
    """Hints about a tool's behaviour (MCP ToolAnnotations); None leaves a hint out.

    Attributes:
        title: a name for people.
        read_only: the tool changes nothing.
        destructive: what it changes may be lost; meaningful when not read-only.
        idempotent: calling it again with the same arguments changes nothing more.
        open_world: it reaches beyond this host, to the web for example.
    """

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class Tool(NamedTuple):
    """A tool as clients see it.

    Attributes:
        name: its name on the wire, 1 to 64 characters of `[A-Za-z0-9_-]`.
        description: what it does, for the model.
        input_schema: JSON Schema 2020-12 with an object at its root.
        output_schema: JSON Schema 2020-12 of the structured result, None when the result is text.
        title: a name for people.
        annotations: hints about its behaviour.
        owner: the plugin or toolkit that brought it.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    title: str | None = None
    annotations: ToolAnnotations | None = None
    owner: str = ""


class Resource(NamedTuple):
    """A resource as clients see it. `uri` is absolute (RFC 3986)."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    owner: str = ""


class Prompt(NamedTuple):
    """A prompt as clients see it."""

    name: str
    title: str | None = None
    description: str | None = None
    owner: str = ""


class Identity(NamedTuple):
    """How the host introduces itself (MCP Implementation, and instructions for the model)."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None
    website_url: str | None = None


# --- what a call comes to ---


class ToolResult(NamedTuple):
    """What a tool gave.

    Attributes:
        value: any JSON-ready value; text where the tool returns text.
        structured: `value` follows the tool's output schema and is sent as structured content too.
    """

    value: Any
    structured: bool = False


class ResourceResult(NamedTuple):
    """What a resource holds: text, or bytes for anything binary."""

    uri: str
    content: str | bytes
    mime_type: str | None = None


class PromptMessage(NamedTuple):
    """One message of a prompt."""

    text: str
    role: Literal["user", "assistant"] = "user"


class PromptResult(NamedTuple):
    """The messages of a prompt."""

    messages: tuple[PromptMessage, ...]
    description: str | None = None


class Listing:
    """One page of a list. Compared by identity, so that protocols may keep what they encoded of it.

    Args:
        kind: what is listed; "templates" for resource templates.
        items: the page, in the order of names.
        next_cursor: where the next page begins, None on the last.
    """

    __slots__ = ("items", "kind", "next_cursor")

    def __init__(
        self,
        kind: Literal["tools", "resources", "templates", "prompts"],
        items: tuple[Tool | Resource | Prompt, ...],
        next_cursor: str | None = None,
    ) -> None:
        self.kind = kind
        self.items = items
        self.next_cursor = next_cursor


class Failure(NamedTuple):
    """What a call came to that raised: an error fit for strangers.

    Attributes:
        error: the typed error; anything unexpected has been replaced by a masked one.
        error_id: finds the full story in the log, None when there is no more to tell.
    """

    error: MCPError
    error_id: str | None = None


Outcome: TypeAlias = ToolResult | ResourceResult | PromptResult | Listing | Failure
CallNext: TypeAlias = Callable[[Call], Awaitable[Outcome]]


# --- what plugins contribute ---


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
    """

    function: Callable[..., Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | None = None
    requires_secrets: tuple[str, ...] = ()
    inline: bool = False
    enabled: Callable[[Any], bool] | None = None


class ResourceDefinition(NamedTuple):
    """A URI and the function, without parameters, that gives its content (`str`, or `bytes` for anything binary)."""

    uri: str
    function: Callable[[], Any]
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None


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


class Connection(Protocol):
    """A peer's message stream, as a transport sees it.

    Attributes:
        peer: who is at the other end, for logs.
        caller: who that is, for the tools.
    """

    peer: str
    caller: Caller

    def send(self, message: bytes) -> None:
        """Queue one JSON-RPC message; framing is the transport's. Never blocks; a closed connection drops it."""

    async def drain(self) -> None:
        """Wait until the peer has taken enough of what was queued for more to be sent."""

    async def close(self) -> None:
        """End the connection."""


Serve: TypeAlias = Callable[[Connection, AsyncIterable[bytes]], Awaitable[None]]
"""Answers the messages of one connection; returns when they end, having cancelled what was still running."""


class Transport(Protocol):
    """Brings connections to the host."""

    name: str

    async def run(self, serve: Serve) -> None:
        """Open the channel and serve its connections, until cancelled or until its input ends.

        Raises:
            TransportError: the channel cannot be opened; the message tells the operator why.
        """


class ProtocolHost(Protocol):
    """The host as a protocol sees it."""

    @property
    def identity(self) -> Identity:
        """How the host introduces itself."""
        ...

    def offers(self, kind: Kind) -> bool:
        """Whether there is anything of that kind to list."""
        ...

    def dispatch(self, call: Call) -> Awaitable[Outcome]:
        """Run one call through middleware to its end. Never raises, but for `asyncio.CancelledError`."""
        ...


class StreamProtocol(Protocol):
    """Speaks a protocol of messages over a connection."""

    name: str

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], host: ProtocolHost) -> None:
        """Answer every message until they end; then cancel what is still running."""


# --- what plugins are given ---


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
