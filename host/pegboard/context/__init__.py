"""What a function sees of the call it serves: `Context`, the same for tools, resources and prompts on every path."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Generic

from pegboard.context.progress import SENT, Progress
from pegboard.context.requirements import authorization_of, metadata_of, secret_of, secrets_of, user_of
from pegboard.errors import InteractionError
from pegboard.types.callers import Authorization, Caller, Client
from pegboard.types.calls import FIRST_ROUND, Call, OnProgress, RequestId
from pegboard.types.catalogue import Change
from pegboard.types.http import Headers

if TYPE_CHECKING:
    import asyncio

    from pegboard.context.bound_function import BoundFunction, HostAccess, TimeLimit
    from pegboard.context.host_calls import HostCalls, Notifications, Prompts, Resources, Tools
    from pegboard.context.input_requests import InputRequest
    from pegboard.context.interaction import UI, Interaction, Sampling
    from pegboard.context.log import Log
    from pegboard.context.rounds import Rounds
    from pegboard.plugin.base import Catalogue

__all__ = ["Context", "Progress", "current_context"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ConfigT = TypeVar("ConfigT", default=Any)
    StateT = TypeVar("StateT", default=Any)
else:
    from typing import TypeVar

    ConfigT = TypeVar("ConfigT")
    StateT = TypeVar("StateT")

_current: ContextVar[Context] = ContextVar("pegboard.context")


class Context(Generic[ConfigT, StateT]):
    """One call of one tool, resource or prompt.

    `Context[MyConfig]` and `Context[MyConfig, MyState]` give type checkers the types of `config` and `state`.

    Attributes:
        arguments: the arguments as the client sent them.
        cancelled: True after the client cancelled the call; check it in long loops of a sync tool.
        asked: for the host: the questions of the call in rounds, None without any.
        clock: for the host: the time limit of the function, None without one.
        waits_for_client: for the host: the number of unanswered questions. The clock is paused meanwhile.
    """

    __slots__ = (
        "_bound", "_call", "_done", "_progress", "_refusal", "_steps", "_surroundings", "_task",
        "arguments", "asked", "cancelled", "clock", "waits_for_client",
    )  # fmt: skip

    if not TYPE_CHECKING:

        def __class_getitem__(cls, types: Any) -> Any:
            given = types if isinstance(types, tuple) else (types,)
            return super().__class_getitem__((*given, *[Any] * (2 - len(given))))

    def __init__(
        self,
        call: Call,
        bound: BoundFunction,
        arguments: Mapping[str, Any],
        surroundings: HostAccess | None = None,
        task: asyncio.Task[Any] | None = None,
        refusal: str | None = None,
    ) -> None:
        self._call = call
        self._bound = bound
        self._surroundings = surroundings
        self._task = task
        self._refusal = refusal
        self._progress: Progress | None = None
        self._steps: Rounds | None = None
        self._done = False
        self.asked: Rounds | None = None
        self.clock: TimeLimit | None = None
        self.waits_for_client = 0
        self.arguments = arguments
        self.cancelled = False

    # --- the call ---

    @property
    def name(self) -> str:
        """The tool's or prompt's name on the wire, the resource's URI, or its template."""
        return self._bound.name

    @property
    def config(self) -> ConfigT:
        """The toolkit's validated settings, None when it takes none."""
        config: ConfigT = self._bound.owner.config
        return config

    @property
    def state(self) -> StateT:
        """What the toolkit's lifespan yielded, None without one."""
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
    def request_id(self) -> RequestId | None:
        """The protocol's id of the request."""
        return self._call.request_id

    @property
    def session_id(self) -> str | None:
        """The session the request belongs to; None where there are none."""
        return self._call.session_id

    @property
    def client(self) -> Client:
        """The program that asks, as it describes itself."""
        return self._call.client

    @property
    def user_id(self) -> str | None:
        """The user whom the request names, where it may, else the authenticated one, else the operator's, else None.

        It is never a session.
        """
        return user_of(self._bound.owner, self._call)

    @property
    def caller(self) -> Caller:
        """Who is behind the call, as far as the transport can vouch for it."""
        return self._call.caller

    @property
    def auth_info(self) -> Caller | None:
        """Who is authenticated, and what their own token says: for whom and what it is. None where nobody is."""
        caller = self._call.caller
        return caller if caller.subject is not None else None

    @property
    def authorization(self) -> Authorization:
        """The token that the tool requires (`requires_auth`), with the facts about its user.

        The token is "" if the request came with none and its protocol lets it pass.

        Raises:
            ToolDefinitionError: the tool does not declare `requires_auth`.
        """
        return authorization_of(self.name, self._bound.requirements, self._call.supplied)

    def get_auth_token_or_empty(self) -> str:
        """Return the token that the tool requires, "" if it requires none."""
        required = self._bound.requirements
        return "" if required is None or required.authorization is None else self.authorization.token

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`."""
        return self._call.meta

    @property
    def headers(self) -> Headers | None:
        """The fields of the HTTP request that the call came by, but `Authorization`; None where there was none."""
        from pegboard.context.request_headers import RequestHeaders

        return None if self._call.headers is None else RequestHeaders(self._call.headers)

    @property
    def secrets(self) -> Mapping[str, str]:
        """The declared secrets that are set, by name in any case; printed without their values."""
        return secrets_of(self._bound.requirements, self._call.supplied)

    def get_secret(self, name: str) -> str:
        """A secret that the tool declared in `requires_secrets`: the request's own where it brings one.

        Args:
            name: its name, in any case.

        Raises:
            ToolDefinitionError: the tool did not declare it.
        """
        return secret_of(self.name, self._bound.requirements, self._call.supplied, name)

    def get_metadata(self, key: str) -> str:
        """What the tool declared in `requires_metadata`: the request's own, else the caller's, else the operator's.

        Args:
            key: such as "user_id" or a key of `[host] metadata`, in any case.

        Raises:
            ToolDefinitionError: the tool did not declare it.
        """
        return metadata_of(self.name, self._bound.requirements, self._call, key)

    # --- telling the client ---

    @property
    def progress(self) -> Progress:
        """Tells the client how far the call has come, if it asked for that."""
        if self._progress is None:
            own = not (self._done or self._call.path)  # the token is that of the outermost call
            self._progress = Progress(self._call.notify if own else None)
        return self._progress

    @property
    def log(self) -> Log:
        """Tells the client, and the host's log, what is worth telling."""
        from pegboard.context.log import Log

        return Log(None if self._done else self._call.notify, self.name)

    def send_notification(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a notification on the call's own stream; may be awaited, need not be.

        In 2026-07-28 nothing but progress and log messages may be there: the rest is dropped.
        """
        if self._call.notify is not None and not self._done:
            self._call.notify(method, dict(params or {}))
        return SENT

    # --- asking the client ---

    @property
    def _asking(self) -> Interaction:
        from pegboard.context.interaction import Interaction, pausing

        ask = self._call.ask
        # those that this one calls ask by the same way, so that its time stands still for their questions, too
        call = self._call if ask is None else self._call._replace(ask=pausing(ask, self))
        return Interaction(call, self._rounds, self._refusal)

    @property
    def _rounds(self) -> Rounds | None:
        """What questions go through where they are asked in rounds; made with the first that may need it."""
        if self._call.rounds is not None or self._call.round is None or self._refusal is not None:
            return self._call.rounds
        if self.asked is None:
            from pegboard.context.rounds import Rounds

            self.asked = Rounds(self._call.round, self._task)
        return self.asked

    @property
    def ui(self) -> UI:
        """The person in front of the client."""
        from pegboard.context.interaction import UI

        return UI(self._asking)

    @property
    def sampling(self) -> Sampling:
        """The client's model."""
        from pegboard.context.interaction import Sampling

        return Sampling(self._asking)

    async def ask(self, /, **questions: InputRequest) -> dict[str, Any]:
        """Ask several questions at once: `await context.ask(who=Elicit("Who?", str), roots=ListRoots())`.

        Args:
            questions: `Elicit`, `ElicitUrl`, `Sample` and `ListRoots`, by the names of their answers.

        Raises:
            ClientCapabilityError, ClientError, InteractionError: as for each of them alone.
        """
        return await self._asking.ask_all(questions)

    async def send_request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - an answer that comes late is refused to the client
        progress: OnProgress | None = None,
        reset_on_progress: bool = False,
        max_total: float | None = None,
    ) -> dict[str, Any]:
        """Send a request to the client on the call's own stream and wait for its result; in sessions alone.

        Args:
            method: such as "ping".
            params: in the form of the newest revision.
            timeout: how many seconds to wait, None for as long as the call may take.
            progress: told of the progress that the client reports.
            reset_on_progress: each report begins the timeout anew.
            max_total: how many seconds to wait at most, whatever is reported.

        Raises:
            ClientTimeoutError: no answer came in time; the client has been told not to go on.
            ClientError: the client answered with an error.
            InteractionError: there is no session.
        """
        if self._refusal is not None or self._call.ask is None:
            raise InteractionError(
                "This tool needs input that it cannot be given here.", self._refusal or "there is no session"
            )
        from pegboard.context.interaction import pausing

        return await pausing(self._call.ask, self)(
            method,
            dict(params or {}),
            timeout=timeout,
            progress=progress,
            reset_on_progress=reset_on_progress,
            max_total=max_total,
        )

    async def once(self, key: str, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Run a step that must not be repeated, and give its result; when the call is made again, give that result.

        Where questions end a call, it runs again from the top with each answer. No question ends it while a step runs.

        Args:
            key: the step's name, once in a call.
            function: sync or async; sync ones run in the host's threads.
            arguments: its positional arguments.
            keywords: its keyword arguments.

        Returns:
            What it returned, as JSON holds it.

        Raises:
            InteractionError: the key is used twice, or the steps of a call leave more than 64 KiB.
        """
        step = partial(self._step, partial(function, *arguments, **keywords))
        if self._steps is None:
            from pegboard.context.rounds import Rounds

            self._steps = self._rounds or Rounds(FIRST_ROUND)
        return await self._steps.once(key, step, self._call.path)

    async def _step(self, function: Callable[[], Any]) -> Any:
        target = function.func if isinstance(function, partial) else function
        if self._surroundings is None or inspect.iscoroutinefunction(target):
            value = function()
        else:
            value = await self._surroundings.in_thread(function)
        return await value if inspect.isawaitable(value) else value

    # --- using the host ---

    @property
    def _inside(self) -> HostCalls:
        from pegboard.context.host_calls import HostCalls, no_host

        return HostCalls(self._asking, no_host if self._surroundings is None else self._surroundings.dispatch)

    @property
    def tools(self) -> Tools:
        """The host's tools."""
        from pegboard.context.host_calls import Tools

        return Tools(self._inside)

    @property
    def resources(self) -> Resources:
        """The host's resources, and the places that the client lets servers work in."""
        from pegboard.context.host_calls import Resources

        return Resources(self._inside, self._asking)

    @property
    def prompts(self) -> Prompts:
        """The host's prompts."""
        from pegboard.context.host_calls import Prompts

        return Prompts(self._inside)

    @property
    def catalogue(self) -> Catalogue:
        """What the toolkit or plugin of this function serves, to be changed while the host runs.

        Raises:
            InteractionError: the function runs without a host.
        """
        if self._bound.owner.catalogue is None:
            raise InteractionError("This tool uses its host, and there is none.")
        return self._bound.owner.catalogue

    @property
    def notifications(self) -> Notifications:
        """Tells clients that something is no longer what it was."""
        from pegboard.context.host_calls import Notifications

        return Notifications(_nobody if self._surroundings is None else self._surroundings.emit)

    def close(self) -> None:
        """The call has ended: nothing may be sent for it any more."""
        self._done = True
        self._task = None
        if self._progress is not None:
            self._progress.close()


def _nobody(change: Change) -> None:
    """Who is told of a change where there is no host."""


def current_context() -> Context | None:
    """The context of the tool that runs in this task or thread, None outside of one."""
    return _current.get(None)
