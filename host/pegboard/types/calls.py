"""Calls and their outcomes, independent of protocol and transport."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from pegboard.types.callers import EMPTY, LOCAL, UNKNOWN_CLIENT, Caller, Client, Supplied
from pegboard.types.catalogue import ItemKind, Prompt, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from pegboard.context.rounds import Rounds
    from pegboard.errors import MCPError
    from pegboard.types.content import Content
    from pegboard.types.http import Headers

Notify: TypeAlias = Callable[[str, dict[str, Any]], None]
"""Send a notification (method, params) on the call's stream. Returns immediately. May be called from any thread.

The protocol adds the token to progress notifications. It drops notifications that the client did not request or that
its revision does not define.
"""

OnProgress: TypeAlias = Callable[[float, float | None, str | None], None]
"""Receive the progress of a request to the client: progress, total, message."""


class Ask(Protocol):
    """Send a request to the client on the call's stream and wait for its result."""

    def __call__(
        self,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None = None,
        progress: OnProgress | None = None,
        reset_on_progress: bool = False,
        max_total: float | None = None,
    ) -> Awaitable[dict[str, Any]]:
        """Send a request and return the client's result unchanged.

        Args:
            method: the method, such as "elicitation/create".
            params: the parameters as in the newest revision. The protocol converts them for the client.
            timeout: the seconds to wait; None for no limit except the time limit of the call.
            progress: receives the progress that the client reports.
            reset_on_progress: True to start the timeout again at each report.
            max_total: the maximum number of seconds to wait, whatever is reported.

        Raises:
            ClientTimeoutError: the client did not respond in time. The request was cancelled.
            ClientError: the client responded with an error, or has disconnected.
        """


class Round(NamedTuple):
    """The state of a call that ended with questions and is repeated with the answers. All values are JSON.

    Attributes:
        number: the number of earlier rounds.
        asked: a digest of every earlier question, by its key.
        answers: the client's answers in earlier rounds, by the question's key.
        results: the results of finished steps, by their key.
        given: the client's answers in this round, by the question's key.
        seconds: how long the protocol accepts this state, again and again.
    """

    number: int = 0
    asked: Mapping[str, str] = EMPTY
    answers: Mapping[str, Any] = EMPTY
    results: Mapping[str, Any] = EMPTY
    given: Mapping[str, Any] = EMPTY
    seconds: float = 600


FIRST_ROUND = Round()
"""The state of a call that has not asked a question yet."""


class Question(NamedTuple):
    """A question of a call to its client.

    Attributes:
        method: "elicitation/create", "sampling/createMessage" or "roots/list".
        params: the request's parameters, as in the newest revision.
    """

    method: str
    params: dict[str, Any]


class SessionState(Protocol):
    """The values that tools keep in a session. A protocol stores them before it answers the call."""

    @property
    def data(self) -> Mapping[str, str]:
        """The values as JSON, by toolkit and key such as "shop/cart"."""

    async def load(self) -> None:
        """Read the values, if another process may have changed them. The host calls this before a function.

        Raises:
            MCPError: the values cannot be read, or the session has ended.
        """

    def change(self, name: str, text: str | None) -> None:
        """Set a value, or remove it if the text is None, in any thread. `data` has the change at once."""


class Call(NamedTuple):
    """One request, independent of protocol and transport.

    Attributes:
        method: an MCP method name such as "tools/call".
        params: the parameters, as decoded JSON, including `_meta`.
        caller: the caller. Without it, the call runs as the operator.
        client: the client program.
        request_id: the protocol's id of the request; None if it has none.
        session_id: the session of the request; None if it has none. It does not prove an identity.
        notify: sends notifications to the client while the call runs; None if that is impossible.
        ask: sends requests to the client while the call runs; None if that is impossible.
        round: the state of earlier rounds, if questions end the call and the next call contains the answers
            (2026-07-28); None in sessions.
        session: the values that tools keep in the session; None without a session. `data` has them as JSON, by toolkit
            and key such as "shop/cart". The host awaits `load()` before a function, and calls `change(name, text)` to
            set a value, or with None to remove it, in any thread. The protocol stores them before it answers the call.
        rounds: the questions of the outer call if a tool makes this call, else None.
        headers: the header fields of the HTTP request; None without HTTP.
        path: the tools that lead to this call, outermost first.
        supplied: secrets, metadata and a token that the request brings for its tool; None for none.
        peer: the address of the client, for logs; "" if unknown.
        serves: a function that returns True if the client of the call can use an item: its kind, and its name, URI or
            URI template; None if the client can use all items. Lists have only these items, and calls of others are
            refused. The host keeps the lists of each function: its answers depend on the catalogue alone.
        transport: the transport of the request, such as "stdio" or "http"; "task" in a task (`runs_task`); "" for a
            call inside the process.
    """

    method: str
    params: Mapping[str, Any] = EMPTY
    caller: Caller = LOCAL
    client: Client = UNKNOWN_CLIENT
    request_id: str | int | None = None
    session_id: str | None = None
    notify: Notify | None = None
    ask: Ask | None = None
    round: Round | None = None
    session: SessionState | None = None
    rounds: "Rounds | None" = None
    headers: "Headers | None" = None
    path: tuple[str, ...] = ()
    supplied: Supplied | None = None
    peer: str = ""
    serves: Callable[[ItemKind, str], bool] | None = None
    transport: str = ""

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`; empty if it has none."""
        return meta if isinstance(meta := self.params.get("_meta"), dict) else EMPTY

    @property
    def runs_task(self) -> bool:
        """True for the call that runs a tool in a task, but not for the calls that this tool makes."""
        return self.transport == "task" and not self.path

    def allows(self, scopes: Iterable[str]) -> bool:
        """Return True if the caller has these scopes, or if the request brings values for its tool (`supplied`)."""
        return self.supplied is not None or self.caller.allows(scopes)


CONTENT_TYPES: set[type[Any]] = set()
"""The types of `Content`; empty until the module of content blocks is imported."""

MEDIA_TYPES: set[type[Any]] = set()
"""The types of files that become content; empty until the module of `Image`, `Audio` and `File` is imported."""


class ToolResult(NamedTuple):
    """The result of a tool. A tool may return a `ToolResult` to set `_meta`, content blocks or an error.

    Attributes:
        value: a JSON-ready value; a string if the tool returns text. With `content` it is the structured content, and
            is ignored unless `structured` is True.
        structured: True if `value` follows the tool's output schema. It is then sent as structured content too.
        content: the content for the model; None for `value` as text. `pegboard.plugin.with_text` adds text to both.
            `encode` writes a block as an array of its fields without their names. No function writes blocks as JSON
            objects, so a protocol of your own writes their members itself.
        is_error: True if the call failed. The content tells the model why.
        meta: the result's `_meta`; None for none.
    """

    value: Any = None
    structured: bool = False
    content: "tuple[Content, ...] | None" = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None

    @property
    def json(self) -> bytes | None:
        """The JSON of the value, if the host has encoded an object or an array. A protocol may send it unchanged.

        Copies that `_replace` makes have None.
        """
        return None

    def with_meta(self, meta: Mapping[str, Any]) -> "ToolResult":
        """Return a copy with more entries in its `_meta`."""
        return self._replace(meta={**(self.meta or {}), **meta})


class RawResult(NamedTuple):
    """A result in MCP's own form, which a tool, resource or prompt received from another server.

    The host checks only its size. Protocols send its members unchanged, also unknown ones, except for members and types
    of content that the client's revision does not have.

    Attributes:
        value: the members of the result, JSON-ready, in the form of the newest revision.
    """

    value: Mapping[str, Any]

    @property
    def is_error(self) -> bool:
        """True if the result of a tool says that the call failed."""
        return self.value.get("isError") is True

    def with_meta(self, meta: Mapping[str, Any]) -> "RawResult":
        """Return a copy with more entries in its `_meta`."""
        own = self.value.get("_meta")
        return RawResult({**self.value, "_meta": {**(own if isinstance(own, dict) else {}), **meta}})


class ResourceContents(NamedTuple):
    """One part of the content of a resource.

    Attributes:
        uri: the absolute URI of this part (RFC 3986). It may be below the URI that was read.
        content: a string, or bytes for binary content.
        mime_type: the media type; None if unknown.
        meta: its `_meta`; None for none.
    """

    uri: str
    content: str | bytes
    mime_type: str | None = None
    meta: Mapping[str, Any] | None = None


class ResourceResult(NamedTuple):
    """The content of a resource. A resource may return a `ResourceResult` to set `_meta` and caching.

    Attributes:
        contents: the parts.
        meta: the result's `_meta`.
        ttl_ms: how long clients may cache the content, in milliseconds.
        public: True if the content is the same for every caller and may be cached for all.
    """

    contents: tuple[ResourceContents, ...]
    meta: Mapping[str, Any] | None = None
    ttl_ms: int = 0
    public: bool = False


class PromptMessage(NamedTuple):
    """One message of a prompt: a string or one block of content."""

    content: "str | Content"
    role: Literal["user", "assistant"] = "user"


class PromptResult(NamedTuple):
    """The messages of a prompt. A prompt may return a `PromptResult` to add a description."""

    messages: tuple[PromptMessage, ...]
    description: str | None = None
    meta: Mapping[str, Any] | None = None


class Completion(NamedTuple):
    """The values that complete an argument.

    Attributes:
        values: the best values. The host sends the first 100.
        total: the number of all values; None if unknown.
        has_more: True if there are more values.
    """

    values: Sequence[str]
    total: int | None = None
    has_more: bool = False


class Listing:
    """One page of a list. Pages are compared by identity, so that protocols can cache their encoded form.

    Args:
        kind: the kind of items; "templates" for resource templates.
        items: the items of the page, sorted by name.
        next_cursor: the cursor of the next page; None on the last page.
        private: True if other callers may see another list, so that it must not be cached for all. All pages of a list
            have the same value.
        max_ttl_ms: how long clients may cache the page, in milliseconds, if this is shorter than the time in the
            settings of the protocol; None for that time.
    """

    __slots__ = ("__weakref__", "items", "kind", "max_ttl_ms", "next_cursor", "private")

    def __init__(
        self,
        kind: Literal["tools", "resources", "templates", "prompts"],
        items: tuple[Tool | Resource | ResourceTemplate | Prompt, ...],
        next_cursor: str | None = None,
        *,
        private: bool = False,
        max_ttl_ms: int | None = None,
    ) -> None:
        self.kind = kind
        self.items = items
        self.next_cursor = next_cursor
        self.private = private
        self.max_ttl_ms = max_ttl_ms


class MethodResult(NamedTuple):
    """The result of a method that a plugin adds. Middleware may respond to any call with a `MethodResult`.

    Attributes:
        value: the members of the result, JSON-ready, without `resultType`. They may include `_meta`.
        result_type: "complete", or a type that an extension defines (`Extension.result_types`). Only clients that
            declare the extension may receive it.
    """

    value: Mapping[str, Any] = EMPTY
    result_type: str = "complete"


class EmbeddedOutcome(NamedTuple):
    """The outcome of a call as a member of a `MethodResult`: its result or its error.

    Attributes:
        method: the method of the call.
        outcome: the outcome. A `Failure` is encoded as an error. For "tools/call", a `Failure` with a `ToolError` is
            encoded as a result.
    """

    method: str
    outcome: "Outcome"


class Failure(NamedTuple):
    """The outcome of a call that raised an exception.

    Attributes:
        error: the typed error. Unexpected exceptions are replaced by a masked error. A protocol may send its message;
            of a `ToolkitError` also `kind`, `can_retry`, `status_code`, `retry_after_ms`, `additional_prompt_content`
            and `extra` without `endpoint`; of a `ProtocolError` also `code` and `data`. Never send
            `developer_message`, `to_payload()` or causes.
        error_id: the id of the log record with the details; None if nothing was logged.
        debug: details that the operator configured to be shown with the message; None for none.
    """

    error: "MCPError"
    error_id: str | None = None
    debug: str | None = None


class InputRequired(NamedTuple):
    """The outcome of a call that needs answers. The client repeats it with answers (2026-07-28, multi round-trips).

    Attributes:
        questions: the questions, by the key of the answer.
        next: the state of the next round, without the client's answers.
    """

    questions: Mapping[str, Question]
    next: Round


Outcome: TypeAlias = (
    ToolResult
    | RawResult
    | ResourceResult
    | PromptResult
    | Completion
    | Listing
    | MethodResult
    | InputRequired
    | Failure
)
CallNext: TypeAlias = Callable[[Call], Awaitable[Outcome]]
