"""One call: who asks, what for, and what it comes to. The same whatever protocol and transport it came by."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from pegboard.types.callers import EMPTY, LOCAL, UNKNOWN_CLIENT, Caller, Client, Supplied
from pegboard.types.catalogue import Prompt, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from pegboard.context.rounds import Rounds
    from pegboard.errors import MCPError
    from pegboard.types.content import Content
    from pegboard.types.http import Headers

RequestId: TypeAlias = str | int
"""A JSON-RPC request id as MCP allows it: a string or an integer, never null."""

Notify: TypeAlias = Callable[[str, dict[str, Any]], None]
"""Sends a notification (method, params) on the call's own stream; returns at once, and may be called in any thread.

Progress goes without its token, which the protocol adds; what the client's revision or its wishes rule out is dropped.
"""

OnProgress: TypeAlias = Callable[[float, float | None, str | None], None]
"""Told how far the client is with a request: progress, total, message."""


class Ask(Protocol):
    """Sends a request to the client on the call's own stream and waits for its result."""

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
        """Ask, and give the result as the client sent it.

        Args:
            method: such as "elicitation/create".
            params: in the form of the newest revision; the protocol puts them into the client's.
            timeout: how many seconds to wait, None for as long as the call may take.
            progress: told of the progress that the client reports.
            reset_on_progress: each report begins the timeout anew.
            max_total: how many seconds to wait at most, whatever is reported.

        Raises:
            ClientTimeoutError: no answer came in time; the client has been told not to go on.
            ClientError: the client answered with an error, or is gone.
        """
        ...


class Round(NamedTuple):
    """What is known of a call that ended with questions before, and is made again; JSON throughout.

    Attributes:
        number: how many rounds there were before.
        asked: a digest of every question so far, by its key.
        answers: what the client answered in earlier rounds, by the question's key.
        results: what finished steps gave, by their key.
        given: what the client answers now, by the question's key.
    """

    number: int = 0
    asked: Mapping[str, str] = EMPTY
    answers: Mapping[str, Any] = EMPTY
    results: Mapping[str, Any] = EMPTY
    given: Mapping[str, Any] = EMPTY


FIRST_ROUND = Round()
"""Of a call that asked nothing yet."""


class Question(NamedTuple):
    """Something a call wants to know of its client.

    Attributes:
        method: "elicitation/create", "sampling/createMessage" or "roots/list".
        params: the request's parameters, in the form of the newest revision.
    """

    method: str
    params: dict[str, Any]


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
        ask: how to ask the client while the call runs, None where that is impossible.
        round: what was asked and answered before, where a question ends a call and its answer comes with the next
            (2026-07-28); None elsewhere.
        rounds: the questions of the call that made this one, None where none did.
        headers: the fields of the HTTP request it came by, None where there was none.
        path: the tools that called this one, outermost first.
        supplied: secrets, metadata and a token that the request brings for its tool, None when it brings none.
        peer: where it came from, such as an address, for logs; "" where nobody knows.
    """

    method: str
    params: Mapping[str, Any] = EMPTY
    caller: Caller = LOCAL
    client: Client = UNKNOWN_CLIENT
    request_id: RequestId | None = None
    session_id: str | None = None
    notify: Notify | None = None
    ask: Ask | None = None
    round: Round | None = None
    rounds: "Rounds | None" = None
    headers: "Headers | None" = None
    path: tuple[str, ...] = ()
    supplied: Supplied | None = None
    peer: str = ""

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`, empty when it has none."""
        return meta if isinstance(meta := self.params.get("_meta"), dict) else EMPTY

    def allows(self, scopes: Iterable[str]) -> bool:
        """Whether it may do what needs these scopes; who may say for whom a call is has a token for all of it."""
        return self.supplied is not None or self.caller.allows(scopes)


CONTENT_TYPES: set[type[Any]] = set()
"""The types of `Content`; none until they are loaded, as there can be no content before."""


class ToolResult(NamedTuple):
    """What a tool gave. A tool may return one itself, to say more than a plain value can.

    Attributes:
        value: any JSON-ready value; text where the tool returns text. With `content` it is the structured content, and
            of no account unless `structured` is true.
        structured: `value` follows the tool's output schema and is sent as structured content too.
        content: what the model is given, in place of `value` as text; None for that.
        is_error: the call failed, and the content tells the model why.
        meta: the result's `_meta`, None for none.
    """

    value: Any = None
    structured: bool = False
    content: "tuple[Content, ...] | None" = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None


class ResourceContents(NamedTuple):
    """One part of what a resource holds.

    Attributes:
        uri: of this part, absolute (RFC 3986); it may lie below the URI that was read.
        content: text, or bytes for anything binary.
        mime_type: its media type, None when nobody knows.
        meta: its `_meta`, None for none.
    """

    uri: str
    content: str | bytes
    mime_type: str | None = None
    meta: Mapping[str, Any] | None = None


class ResourceResult(NamedTuple):
    """What a resource holds, part by part. A resource may return one itself, to say more than a plain value can.

    Attributes:
        contents: the parts.
        meta: its `_meta`.
        ttl_ms: for how long clients may keep it, in milliseconds.
        public: it is the same for every caller, so that what one was given may be kept for others.
    """

    contents: tuple[ResourceContents, ...]
    meta: Mapping[str, Any] | None = None
    ttl_ms: int = 0
    public: bool = False


class PromptMessage(NamedTuple):
    """One message of a prompt: text, or one block of content."""

    content: "str | Content"
    role: Literal["user", "assistant"] = "user"


class PromptResult(NamedTuple):
    """The messages of a prompt. A prompt may return one itself, to describe what it gives."""

    messages: tuple[PromptMessage, ...]
    description: str | None = None
    meta: Mapping[str, Any] | None = None


class Completion(NamedTuple):
    """What an argument may be, as far as it has been typed.

    Attributes:
        values: the best 100 at most; more are cut off.
        total: how many there are, None when nobody knows.
        has_more: there are more than are given.
    """

    values: Sequence[str]
    total: int | None = None
    has_more: bool = False


class Listing:
    """One page of a list. Compared by identity, so that protocols may keep what they encoded of it.

    Args:
        kind: what is listed; "templates" for resource templates.
        items: the page, in the order of names.
        next_cursor: where the next page begins, None on the last.
        private: others may see another list, so that nobody may keep it for them; alike on all pages of a list.
    """

    __slots__ = ("__weakref__", "items", "kind", "next_cursor", "private")

    def __init__(
        self,
        kind: Literal["tools", "resources", "templates", "prompts"],
        items: tuple[Tool | Resource | ResourceTemplate | Prompt, ...],
        next_cursor: str | None = None,
        *,
        private: bool = False,
    ) -> None:
        self.kind = kind
        self.items = items
        self.next_cursor = next_cursor
        self.private = private


class MethodResult(NamedTuple):
    """What a method gave that is none of the host's own kinds; middleware may end any call with one.

    Attributes:
        value: the members of the result, JSON-ready, without `resultType`. `_meta` may be among them.
        result_type: "complete", or a kind that an extension defines (`Extension.result_types`), which only clients
            that declare the extension may be given.
    """

    value: Mapping[str, Any] = EMPTY
    result_type: str = "complete"


class EmbeddedOutcome(NamedTuple):
    """An outcome as a member of a `MethodResult`: what the call itself
    would have been answered with, its result or its error.

    Attributes:
        method: the method whose outcome it is.
        outcome: what came of it. A `Failure` is an error, but one of a `ToolError` in "tools/call", which is a result.
    """

    method: str
    outcome: "Outcome"


class Failure(NamedTuple):
    """What a call came to that raised.

    Attributes:
        error: the typed error, fit for strangers; a masked one in the place of anything unexpected.
        error_id: finds the full story in the log, None when there is no more to tell.
        debug: what the operator shows of it beside its message, for debugging; None for nothing.
    """

    error: "MCPError"
    error_id: str | None = None
    debug: str | None = None


class InputRequired(NamedTuple):
    """What a call came to that must know more: the client answers, and calls again (2026-07-28, multi round-trips).

    Attributes:
        questions: what it must know, by the key under which the answer is expected.
        next: the round that the next call begins with, but for what the client gives.
    """

    questions: Mapping[str, Question]
    next: Round


Outcome: TypeAlias = (
    ToolResult | ResourceResult | PromptResult | Completion | Listing | MethodResult | InputRequired | Failure
)
CallNext: TypeAlias = Callable[[Call], Awaitable[Outcome]]
