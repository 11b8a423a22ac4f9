"""The `Context`: the call that a function serves. Tools, resources and prompts use the same class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Generic

from pegboard.context.progress import SENT, Progress
from pegboard.context.requirements import all_metadata, authorization_of, metadata_of, secret_of, secrets_of, user_of
from pegboard.errors import RetryableToolError
from pegboard.types.callers import Authorization, Caller, Client
from pegboard.types.calls import FIRST_ROUND, Call, OnProgress
from pegboard.types.http import Headers

if TYPE_CHECKING:
    import asyncio

    from pegboard.calls.deadlines import Deadline
    from pegboard.calls.served_item import ServedItem
    from pegboard.context.bound_function import HostAccess
    from pegboard.context.host_calls import Notifications, Prompts, Resources, Tools
    from pegboard.context.input_requests import QuestionKind
    from pegboard.context.interaction import UI, Interaction, Sampling
    from pegboard.context.log import Log
    from pegboard.context.rounds import Rounds
    from pegboard.context.session_data import SessionData
    from pegboard.plugin.base import Catalogue

__all__ = ["Context", "Progress", "current_context"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ConfigT = TypeVar("ConfigT", default=Any)
    StateT = TypeVar("StateT", default=Any)
else:
    from typing import TypeVar

    ConfigT, StateT = TypeVar("ConfigT"), TypeVar("StateT")

_current: ContextVar[Context] = ContextVar("pegboard.context")


class Context(Generic[ConfigT, StateT]):
    """One call of one tool, resource or prompt.

    `Context[MyConfig]` and `Context[MyConfig, MyState]` give type checkers the types of `config` and `state`.

    Attributes:
        arguments: the arguments as the client sent them.
        cancelled: True after the client cancelled the call; check it in long loops of a sync tool.
        asked: for the host: the questions of the call in rounds, or None.
        clock: for the host: the deadline of the function, or None.
        waits_for_client: for the host: the number of unanswered questions. The deadline is paused while it is not 0.
    """

    __slots__ = (
        "_bound", "_call", "_done", "_host", "_progress", "_refusal", "_steps", "_task",
        "arguments", "asked", "cancelled", "clock", "waits_for_client",
    )  # fmt: skip

    if not TYPE_CHECKING:

        def __class_getitem__(cls, types: Any) -> Any:
            parameters = types if isinstance(types, tuple) else (types,)
            return super().__class_getitem__((*parameters, *[Any] * (2 - len(parameters))))

    def __init__(
        self,
        call: Call,
        bound: ServedItem,
        arguments: Mapping[str, Any],
        host_access: HostAccess,
        task: asyncio.Task[Any] | None = None,
        refusal: str | None = None,
    ) -> None:
        self._call = call
        self._bound = bound
        self._host = host_access
        self._task = task
        self._refusal = refusal
        self._progress: Progress | None = None
        self._steps: Rounds | None = None
        self._done = False
        self.asked: Rounds | None = None
        self.clock: Deadline | None = None
        self.waits_for_client: int = 0
        self.arguments = arguments
        self.cancelled: bool = False

    # --- the call ---

    @property
    def name(self) -> str:
        """The tool's or prompt's name on the wire, or the resource's URI or template."""
        return self._bound.name

    @property
    def config(self) -> ConfigT:
        """The validated settings of the toolkit, or None."""
        config: ConfigT = self._bound.owner.config
        return config

    @property
    def state(self) -> StateT:
        """The value that the toolkit's lifespan yielded, or None."""
        state: StateT = self._bound.owner.state
        return state

    @property
    def tool(self) -> str:
        """The tool's name on the wire."""
        return self.name

    @property
    def input(self) -> Mapping[str, Any]:
        """The arguments as the client sent them."""
        return self.arguments

    @property
    def request_id(self) -> str | int | None:
        """The id of the request in its protocol."""
        return self._call.request_id

    @property
    def session_id(self) -> str | None:
        """The id of the session, or None."""
        return self._call.session_id

    @property
    def session(self) -> SessionData:
        """JSON values of the toolkit that last as long as the session: `get`, `set` and `delete`.

        Raises:
            InteractionError: the call has no session.
        """
        from pegboard.context.session_data import SessionData

        return SessionData(self._call.session, self._bound.origin.name)

    @property
    def client(self) -> Client:
        """The client program, as it describes itself."""
        return self._call.client

    @property
    def user_id(self) -> str | None:
        """The user id: from the request if it may name a user, else the caller's, else the operator's, or None."""
        return user_of(self._bound.owner, self._call)

    @property
    def caller(self) -> Caller:
        """The caller with the facts that the transport has authenticated."""
        return self._call.caller

    @property
    def auth_info(self) -> Caller | None:
        """The authenticated caller with the claims of the caller's token, or None for an anonymous caller."""
        caller = self._call.caller
        return caller if caller.subject is not None else None

    @property
    def authorization(self) -> Authorization:
        """The token that the tool requires (`requires_auth`), with facts about the token's user.

        The token is "" if the request has no token and the protocol accepts that.

        Raises:
            ToolDefinitionError: the tool does not declare `requires_auth`.
        """
        return authorization_of(self.name, self._bound.requirements, self._call.supplied)

    def get_auth_token_or_empty(self) -> str:
        """Return the token that the tool requires, or "" if the tool requires no token."""
        return "" if self._bound.requirements.authorization is None else self.authorization.token

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`."""
        return self._call.meta

    @property
    def transport(self) -> str:
        """The transport of the request, such as "stdio" or "http"; "" for a call inside the process."""
        return self._call.transport

    @property
    def headers(self) -> Headers | None:
        """The headers of the HTTP request without credentials, or None for a call over another transport."""
        from pegboard.context.request_headers import RequestHeaders

        return None if self._call.headers is None else RequestHeaders(self._call.headers)

    @property
    def secrets(self) -> Mapping[str, str]:
        """The declared secrets that are set, by case-insensitive name. The repr does not show values."""
        return secrets_of(self._bound.requirements, self._call.supplied)

    def get_secret(self, name: str) -> str:
        """Return a secret that the tool declared in `requires_secrets`. Secrets in the request take precedence.

        Args:
            name: the name of the secret, case-insensitive.

        Raises:
            ToolDefinitionError: the tool did not declare it.
        """
        return secret_of(self.name, self._bound.requirements, self._call.supplied, name)

    @property
    def metadata(self) -> Mapping[str, str]:
        """The declared metadata whose values are known, by case-insensitive key. The repr does not show values."""
        return all_metadata(self._bound.requirements, self._call)

    def get_metadata(self, key: str) -> str:
        """Return metadata that the tool declared in `requires_metadata`: from the request, the caller, or the operator.

        Args:
            key: the key, such as "user_id" or a key of `[host] metadata`, case-insensitive.

        Raises:
            ToolDefinitionError: the tool did not declare it.
        """
        return metadata_of(self.name, self._bound.requirements, self._call, key)

    # --- notifications to the client ---

    @property
    def progress(self) -> Progress:
        """Progress notifications of the call. They are sent only if the client requested progress."""
        if self._progress is None:
            own = not (self._done or self._call.path)  # the progress token belongs to the outermost call
            self._progress = Progress(self._call.notify if own else None)
        return self._progress

    @property
    def log(self) -> Log:
        """Log messages to the client and to the host's log."""
        from pegboard.context.log import Log

        return Log(None if self._done else self._call.notify, self.name)

    def send_notification(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a notification on the call's stream. Awaiting the result is optional.

        In revision 2026-07-28, only progress and log messages are sent. Other notifications are dropped.
        """
        if self._call.notify is not None and not self._done:
            self._call.notify(method, dict(params or {}))
        return SENT

    # --- requests to the client ---

    @property
    def _asking(self) -> Interaction:
        from pegboard.context.interaction import asking_of

        return asking_of(self)

    @property
    def ui(self) -> UI:
        """The user of the client."""
        from pegboard.context.interaction import UI

        return UI(self._asking)

    @property
    def sampling(self) -> Sampling:
        """The client's model."""
        from pegboard.context.interaction import Sampling

        return Sampling(self._asking)

    async def ask(self, /, **questions: QuestionKind) -> dict[str, Any]:
        """Ask several questions at once: `await context.ask(who=Elicit("Who?", str), roots=ListRoots())`.

        Args:
            questions: `Elicit`, `ElicitUrl`, `Sample` and `ListRoots` objects. The answers have the same names.

        Raises:
            ClientCapabilityError, ClientError, InteractionError: as for a single question.
        """
        return await self._asking.ask_all(questions)

    async def send_request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the client is sent a cancellation, too
        progress: OnProgress | None = None,
        reset_on_progress: bool = False,
        max_total: float | None = None,
    ) -> dict[str, Any]:
        """Send a request to the client on the call's stream and wait for the result. The call must have a session.

        Args:
            method: the method, such as "ping".
            params: the parameters, in the form of the newest revision.
            timeout: the seconds to wait, or None to wait as long as the call may take.
            progress: called with each progress notification of the client.
            reset_on_progress: True restarts the timeout at each progress notification.
            max_total: the seconds to wait in total, even if progress restarts the timeout.

        Raises:
            ClientTimeoutError: no response came in time. The host has sent the client a cancellation.
            ClientError: the client responded with an error.
            InteractionError: there is no session.
        """
        options = {"progress": progress, "reset_on_progress": reset_on_progress, "max_total": max_total}
        return await self._asking.send(method, dict(params or {}), timeout=timeout, **options)

    async def once(self, key: str, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Run a step that must not be repeated, and return its result.

        A function that asks the client runs again from its start after each answer. `once` then returns the stored
        result without running the step again. A step cannot ask the client.

        Args:
            key: the step's name, unique in a call.
            function: the step, a sync or async function. A sync function runs in a thread of the host.
            arguments: the positional arguments of the function.
            keywords: the keyword arguments of the function.

        Returns:
            The result of the function, after encoding and decoding as JSON.

        Raises:
            InteractionError: the key is used twice, or the results of a call's steps take more than 64 KiB (in a task
                1 MiB).
        """
        from pegboard.context.interaction import rounds_of, run_step

        step = partial(run_step, self._host, partial(function, *arguments, **keywords))
        if self._steps is None:
            from pegboard.context.rounds import Rounds

            self._steps = rounds_of(self) or Rounds(FIRST_ROUND)
        return await self._steps.once(key, step, self._call.path)

    async def once_only(self, key: str) -> bool:
        """Return True at the first use of a key, and False at later uses, in all processes that share the state.

        A client can repeat a call with the same answers (2026-07-28, basic/patterns/mrtr). A function that must not act
        twice uses a key after its last question, and acts only if this returns True.

        Args:
            key: the key, such as the number of an order. Each toolkit has its own keys. The use is remembered for
                `[plugins.mcp] state_seconds`.

        Raises:
            RetryableToolError: the shared state cannot be reached.
            InteractionError: several workers share no state.
        """
        seconds = (self._call.rounds or self._call.round or FIRST_ROUND).seconds
        try:
            return await self._host.use_key(f"{self._bound.origin.name}/{key}", seconds)
        except ConnectionError as error:
            raise RetryableToolError("The state of this server cannot be reached. Try again later.") from error

    # --- the host ---

    @property
    def tools(self) -> Tools:
        """The host's tools."""
        from pegboard.context.host_calls import Tools

        return Tools(self._asking, self._host.dispatch)

    @property
    def resources(self) -> Resources:
        """The host's resources, and the client's roots."""
        from pegboard.context.host_calls import Resources

        return Resources(self._asking, self._host.dispatch)

    @property
    def prompts(self) -> Prompts:
        """The host's prompts."""
        from pegboard.context.host_calls import Prompts

        return Prompts(self._asking, self._host.dispatch)

    @property
    def catalogue(self) -> Catalogue:
        """The tools, resources and prompts of the toolkit or plugin. They may be changed while the host runs."""
        return self._bound.owner.catalogue

    @property
    def notifications(self) -> Notifications:
        """Notifications of changes, for all clients."""
        from pegboard.context.host_calls import Notifications

        return Notifications(self._host.emit)

    def close(self) -> None:
        """End the call. After that, the context sends nothing to the client."""
        self._done = True
        self._task = None
        if self._progress is not None:
            self._progress.close()


def current_context() -> Context | None:
    """Return the context of the tool that runs in this task or thread, or None outside of a tool."""
    return _current.get(None)
