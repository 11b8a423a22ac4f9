"""Details of failed tool calls in their error messages, for debugging. Off unless the operator accepts the leak.

No other module sends messages written for the log to callers.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Annotated

from pegboard import PluginConfig, ToolkitError
from pegboard.plugin import Middleware, Plugin, WidensAccess, as_failure, hookimpl, redacted
from pegboard.types import Call, CallNext, Outcome

logger = logging.getLogger("pegboard.debug_errors")

ACKNOWLEDGEMENT = "yes-i-accept-leaking-internals-to-the-agent"
"""The only value that enables a setting."""
VARIABLES = {
    "developer_message": "ARCADE_DEBUG_EXPOSE_DEVELOPER_MESSAGE_IN_TOOL_ERROR_RESPONSES",
    "stacktrace": "ARCADE_DEBUG_EXPOSE_STACKTRACE_IN_TOOL_ERROR_RESPONSES",
}
"""The environment variable of each setting."""
_LOOPBACK = frozenset(("127.0.0.1", "::1"))
_PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-real-ip")
_OFF = ("", "0", "false", "no", "off")


class DebugErrorsConfig(PluginConfig):
    """`[plugins.debug_errors]`.

    Attributes:
        developer_message: `yes-i-accept-leaking-internals-to-the-agent` adds the developer message of a tool's error to
            its text.
        stacktrace: the same for the stack trace.
        mask_details: false adds the developer message for callers over stdio and from loopback addresses, such as
            clients behind a proxy on this machine that hides their addresses.
    """

    developer_message: Annotated[
        str,
        WidensAccess("shows internals to callers"),
    ] = ""
    stacktrace: Annotated[
        str,
        WidensAccess("shows internals to callers"),
    ] = ""
    mask_details: Annotated[
        bool,
        WidensAccess("shows internals to callers on this machine", unless=bool),
    ] = True


class DebugErrorsPlugin(Plugin):
    """The plugin. It registers middleware if a setting is enabled."""

    Config = DebugErrorsConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware, or nothing if all settings are disabled."""
        exposed = DebugErrors(
            developer_message=self._is_on("developer_message"),
            stacktrace=self._is_on("stacktrace"),
            local=not self.config.mask_details,
        )
        return [exposed] if exposed.developer_message or exposed.stacktrace or exposed.local else []

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Warn about enabled settings and invalid values when the host starts."""
        for setting, variable in VARIABLES.items():
            if self._is_on(setting):
                logger.warning("%s is on: models are shown internals of tools, such as exceptions and paths", variable)
            elif getattr(self.config, setting).strip().casefold() not in _OFF:
                logger.warning("%s is not on: its value must be %s", variable, ACKNOWLEDGEMENT)
        if not self.config.mask_details:
            logger.warning("mask_details is false: models of callers on this machine are shown internals of tools")
        yield

    def _is_on(self, setting: str) -> bool:
        return bool(getattr(self.config, setting).strip() == ACKNOWLEDGEMENT)


class DebugErrors(Middleware):
    """Middleware that adds details to the errors of tools.

    Args:
        developer_message: add the developer message of the error.
        stacktrace: add the stack trace of the error's cause.
        local: add the developer message for callers on this machine.
    """

    outermost = True

    def __init__(self, *, developer_message: bool, stacktrace: bool, local: bool = False) -> None:
        self.developer_message = developer_message
        self.stacktrace = stacktrace
        self.local = local

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Return a typed error as a failure with the error's details."""
        try:
            return await call_next(call)
        except ToolkitError as error:
            failure = as_failure(call, error)
            if not isinstance(failure.error, ToolkitError):
                return failure
            return failure._replace(debug=self.details(error, local=self.local and _is_local(call)))

    def details(self, error: ToolkitError, *, local: bool = False) -> str | None:
        """Return the details of an error with secrets masked, or None for an error without details."""
        parts = []
        if (self.developer_message or local) and error.developer_message:
            parts.append(f"[DEBUG] developer_message: {error.developer_message}")
        if self.stacktrace:
            trace = error.to_payload(stacktrace=True)["stacktrace"]
            unavailable = " unavailable (tool error payload did not include one)"
            parts.append(f"[DEBUG] stacktrace:{unavailable if trace is None else chr(10) + trace.rstrip()}")
        return redacted("\n\n".join(parts)) or None


def _is_local(call: Call) -> bool:
    """Return True for the operator without HTTP, and for a loopback address that hides no client of a proxy."""
    if call.headers is None:
        return call.caller.trusted
    forwarded = any(call.headers.get(name) is not None for name in _PROXY_HEADERS)
    return call.peer in _LOOPBACK and not forwarded
