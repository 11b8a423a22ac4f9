"""`Context`, the context of FastMCP and of the official SDK, as a view of `HostContext`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partialmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple

from pydantic_core import to_jsonable_python

from pegboard import Context as HostContext
from pegboard import PromptResult, current_context
from pegboard_plugins.compat.fastmcp.elicitation import ElicitationResult, answer_type, elicitation_result
from pegboard_plugins.compat.fastmcp.session import ServerSession, preferences
from pegboard_plugins.compat.fastmcp.types import plain

if TYPE_CHECKING:
    from pegboard.types import Headers, Prompt, Resource, Root, Sampled
    from pegboard_plugins.compat.fastmcp.server import FastMCP

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    SessionT = TypeVar("SessionT", default=Any)
    LifespanT = TypeVar("LifespanT", default=Any)
    RequestT = TypeVar("RequestT", default=Any)
else:
    from typing import TypeVar

    SessionT, LifespanT, RequestT = TypeVar("SessionT"), TypeVar("LifespanT"), TypeVar("RequestT")


class RequestContext(NamedTuple):
    """The request of a call.

    Attributes:
        request_id: the id of the request.
        session: the session.
        lifespan_context: the value that the lifespan yielded.
        meta: the request's `_meta`; None if it has none.
    """

    request_id: Any
    session: ServerSession
    lifespan_context: Any
    meta: Any


class ResourcePart(NamedTuple):
    """One part of a resource that a tool reads."""

    content: str | bytes
    mime_type: str | None = None
    meta: Mapping[str, Any] | None = None


class ResourceParts(list[ResourcePart]):
    """The parts of a resource. FastMCP reads them as `contents`, the official SDK iterates over them."""

    @property
    def contents(self) -> list[ResourcePart]:
        """The parts of the resource."""
        return self


class Context(Generic[SessionT, LifespanT, RequestT]):
    """The running call.

    Args:
        context: the call.
        server: the server that serves it.
    """

    if not TYPE_CHECKING:

        def __class_getitem__(cls, types: Any) -> Any:
            parameters = types if isinstance(types, tuple) else (types,)
            return super().__class_getitem__((*parameters, *[Any] * (3 - len(parameters))))

    def __init__(self, context: HostContext, server: FastMCP | None = None) -> None:
        self.pegboard = context
        self._server = server

    # --- the call ---

    @property
    def fastmcp(self) -> FastMCP:
        """The server.

        Raises:
            RuntimeError: the context does not belong to a server of this module.
        """
        if self._server is None:
            raise RuntimeError("this call has no FastMCP server: declare the context as a parameter of the function")
        return self._server

    mcp_server = fastmcp

    @property
    def session(self) -> ServerSession:
        """The session."""
        return ServerSession(self.pegboard)

    @property
    def request_context(self) -> RequestContext:
        """The request."""
        return RequestContext(self.request_id, self.session, self.lifespan_context, self.pegboard.meta or None)

    @property
    def lifespan_context(self) -> Any:
        """The value that the lifespan of the server yielded."""
        return self.pegboard.state

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return str(self.pegboard.request_id)

    @property
    def client_id(self) -> str | None:
        """The OAuth client of the caller; None if unknown."""
        return self.pegboard.caller.client_id

    @property
    def session_id(self) -> str | None:
        """The id of the session; None if the request has none."""
        return self.pegboard.session_id

    @property
    def transport(self) -> Literal["stdio", "streamable-http"]:
        """The transport of the call."""
        return "stdio" if self.pegboard.headers is None else "streamable-http"

    @property
    def headers(self) -> Headers | None:
        """The headers of the HTTP request without credentials; None for other transports."""
        return self.pegboard.headers

    # --- the session ---

    async def get_state(self, key: str) -> Any:
        """Return a value of the session. Return None if the key is unknown."""
        return self.pegboard.session.get(key)

    async def set_state(self, key: str, value: Any, **_: Any) -> None:
        """Set a value of the session. Values such as models and dates are kept in their JSON form."""
        with suppress(ValueError):  # `set` refuses the value
            value = to_jsonable_python(value)
        self.pegboard.session.set(key, value)

    async def delete_state(self, key: str) -> None:
        """Delete a value of the session."""
        self.pegboard.session.delete(key)

    # --- notifications ---

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call."""
        await self.pegboard.progress.report(progress, total, message)

    async def log(
        self, *arguments: Any, level: Any = None, message: Any = None, data: Any = None, extra: Any = None, **_: Any
    ) -> None:
        """Send a log message. FastMCP writes `log(message, level)`, the official SDK writes `log(level, message)`."""
        values = [*arguments, *(value for value in (message, data) if value is not None)]
        if level is None:
            levels = [value for value in values if value in ("debug", "info", "notice", "warning", "error", "critical")]
            level = levels[0] if len(values) > 1 and levels else "info"
            if len(values) > 1:
                values.remove(level)
        await self._send_log(level, values[0], extra=extra)

    async def _send_log(self, level: Any, message: Any, *_: Any, extra: Any = None, **__: Any) -> None:
        await self.pegboard.log.log(level, message if extra is None else {"msg": message, "extra": extra})

    debug = partialmethod(_send_log, "debug")
    info = partialmethod(_send_log, "info")
    warning = partialmethod(_send_log, "warning")
    error = partialmethod(_send_log, "error")
    """Send a log message of a level: `await ctx.info("text")`."""

    async def notify_tools_changed(self) -> None:
        """Notify clients that the list of tools has changed."""
        self.pegboard.notifications.tools.list_changed()

    async def notify_resources_changed(self) -> None:
        """Notify clients that the list of resources has changed."""
        self.pegboard.notifications.resources.list_changed()

    async def notify_prompts_changed(self) -> None:
        """Notify clients that the list of prompts has changed."""
        self.pegboard.notifications.prompts.list_changed()

    async def notify_resource_updated(self, uri: object) -> None:
        """Notify subscribers that the content of a resource has changed."""
        self.pegboard.notifications.resources.updated(str(uri))

    # --- requests to the client ---

    async def elicit(
        self, message: str, schema: Any = None, response_type: Any = None, **_: Any
    ) -> ElicitationResult[Any]:
        """Ask the user to fill in a form.

        Args:
            message: the reason, for the user.
            schema: the type of the answer, as the official SDK calls it.
            response_type: the type of the answer, as FastMCP calls it: choices as for `answer_type`, None for consent.
        """
        kind = answer_type(response_type if schema is None else schema)
        return elicitation_result(await self.pegboard.ui.elicit(message, kind))

    async def elicit_url(self, message: str, url: str, elicitation_id: str | None = None) -> ElicitationResult[Any]:
        """Ask the user to open a page. The host creates the elicitation's id."""
        return elicitation_result(await self.pegboard.ui.elicit_url(message, url))

    async def sample(
        self,
        messages: Any,
        system_prompt: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        model_preferences: Any = None,
        **_: Any,
    ) -> Sampled:
        """Ask the client's model and return its answer. `text` contains the text of all blocks.

        Args:
            messages: a string, or a list of strings and SamplingMessage objects.
            system_prompt: the system prompt.
            temperature: the temperature of the model.
            max_tokens: the size limit of the answer in tokens; 512 by default.
            model_preferences: the name of a preferred model, a list of names, or MCP ModelPreferences.
        """
        return await self.pegboard.sampling.create_message(
            messages if isinstance(messages, str) else [plain(message) for message in messages],
            max_tokens or 512,
            system_prompt=system_prompt,
            temperature=temperature,
            model_preferences=preferences(model_preferences),
        )

    async def list_roots(self) -> Sequence[Root]:
        """Return the client's roots."""
        return await self.pegboard.resources.list_roots()

    # --- the host ---

    async def read_resource(self, uri: object) -> ResourceParts:
        """Return the content of a resource of the host."""
        result = await self.pegboard.resources.read(str(uri))
        return ResourceParts(ResourcePart(part.content, part.mime_type, part.meta) for part in result.contents)

    async def list_resources(self) -> Sequence[Resource]:
        """Return the resources of the host that the caller may read."""
        return await self.pegboard.resources.list()

    async def list_prompts(self) -> Sequence[Prompt]:
        """Return the prompts of the host that the caller may use."""
        return await self.pegboard.prompts.list()

    async def get_prompt(self, name: str, arguments: Mapping[str, Any] | None = None) -> PromptResult:
        """Return the messages of a prompt of the host."""
        return await self.pegboard.prompts.get(name, arguments)


def get_context() -> Context[Any, Any, Any]:
    """Return the context of the running call.

    Raises:
        RuntimeError: no call runs in this task or thread.
    """
    context = current_context()
    if context is None:
        raise RuntimeError("no call is running: use get_context() only inside a tool, resource or prompt")
    return Context(context)
