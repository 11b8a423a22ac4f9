"""Tools, resources, templates and prompts bound to one host: those that it serves, and those that it does not."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pegboard.context.requirements import NO_REQUIREMENTS, Requirements
from pegboard.types.callers import EMPTY

if TYPE_CHECKING:
    from pegboard.authorization.providers import MissingToken
    from pegboard.calls.completion import BoundCompleter
    from pegboard.context import Context
    from pegboard.context.bound_function import PluginData
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.plugin.origin import Origin
    from pegboard.schemas.signature import Signature
    from pegboard.types.calls import Call
    from pegboard.types.catalogue import ItemKind, Tool
    from pegboard.uris.matching import Matcher

Mode = Literal["async", "inline", "thread"]
"""The ways to run a function: awaited, called on the event loop, or called in a thread of the host."""

SINGULAR: dict[ItemKind, str] = {"resources": "resource", "tools": "tool", "prompts": "prompt"}
"""The kinds in the order of binding. Resources come first because tools may refer to them."""


class Function(NamedTuple):
    """An author's function and the way to run it.

    Attributes:
        function: the function, or an async function that runs it with its dependencies.
        mode: the way to run `function`.
        is_sync: True if the author's function is sync. Such a function cannot ask the client.
    """

    function: Callable[..., Any]
    mode: Mode
    is_sync: bool = False

    @classmethod
    def of(cls, function: Callable[..., Any], *, inline: bool = False) -> Function:
        """Return an author's function with the way to run it: async, inline or in a thread."""
        target = function if inspect.isroutine(function) else getattr(type(function), "__call__", function)  # noqa: B004
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(target):
            return cls(function, "async")
        return cls(function, "inline" if inline else "thread", is_sync=True)


class CallWarning:
    """Warns the client at each call of a tool, and writes the warning to the host's log once.

    Args:
        name: the name of the tool.
        text: the warning.
    """

    __slots__ = ("_logged", "_name", "_text")

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._logged = False

    def warn(self, call: Call) -> None:
        """Send the warning to the client of a call. Log the warning at the first call."""
        if not self._logged:
            self._logged = True
            logging.getLogger(f"pegboard.tools.{self._name}").warning("%s", self._text)
        if call.notify is not None:
            params = {"level": "warning", "logger": self._name, "data": self._text}
            call.notify("notifications/message", params)


class ServedItem(NamedTuple):
    """A tool, resource, template or prompt with everything that one host knows about it.

    Attributes:
        kind: the kind of the item. Templates are resources.
        name: the name on the wire, the URI, or the URI template.
        item: the `Tool`, `Resource`, `ResourceTemplate` or `Prompt` as clients see it.
        function, signature: the author's function.
        origin: the origin of its plugin.
        owner: the data of its plugin.
        requirements: the secrets, tokens, scopes and metadata that a call requires.
        missing_token: the required token, if the host neither has it nor can obtain it.
        adapters: the error adapters, in the order in which they are tried.
        timeout: the time limit of each function in seconds; 0 for no limit.
        task_timeout: the time limit of its function in a task in seconds; 0 for no limit.
        max_result_bytes: the size limit of a result; 0 for no limit.
        warning: the warning for callers of a tool, or None.
        forms: the normalized spellings of a tool's name.
        where: the file and line of its function, or of the operator's changes, for messages.
        completers: the completers of the arguments of a prompt, or of the variables of a template.
        parsed: the arguments of a prompt that clients send as JSON in a string, because they are lists or objects.
        matcher: the matcher for the URIs of a template, or None.
        uri_parameter: the parameter that receives the URI of a resource of another server, or None.
        subscribed: called when a client subscribes to a URI; None to call nothing.
    """

    kind: ItemKind
    name: str
    item: Any
    function: Function
    signature: Signature
    origin: Origin
    owner: PluginData
    requirements: Requirements = NO_REQUIREMENTS
    missing_token: MissingToken | None = None
    adapters: tuple[ErrorAdapter, ...] = ()
    timeout: float = 0
    task_timeout: float = 0
    max_result_bytes: int = 0
    warning: CallWarning | None = None
    forms: frozenset[str] = frozenset()
    where: str = ""
    completers: Mapping[str, BoundCompleter] = EMPTY
    parsed: frozenset[str] = frozenset()
    matcher: Matcher | None = None
    uri_parameter: str | None = None
    subscribed: Callable[[str, Context], None] | None = None

    @property
    def tool(self) -> Tool:
        """The tool as clients see it."""
        tool: Tool = self.item
        return tool

    @property
    def missing(self) -> tuple[str, ...]:
        """The required secrets that are not set."""
        return tuple(name for name, value in self.requirements.secrets.items() if not value)

    @property
    def repeatable(self) -> bool:
        """True if repeating a call has no further effect: the author says so, or it is not a tool."""
        hints = self.tool.annotations if self.kind == "tools" else None
        return self.kind != "tools" or (hints is not None and bool(hints.read_only or hints.idempotent))


class Unserved(NamedTuple):
    """A tool, resource or prompt that exists but is not served.

    Attributes:
        kind: the kind of the item.
        name: its name on the wire, or its URI.
        owner: the name of its plugin.
        reason: the reason why it is not served.
        is_rejected: True if a check of a plugin or a limit of its toolkit rejected it. The operator is told then.
        forms: the normalized spellings of a tool's name.
    """

    kind: ItemKind
    name: str
    owner: str
    reason: str
    is_rejected: bool = False
    forms: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{SINGULAR[self.kind]} {self.name!r} is not served: {self.reason}"
