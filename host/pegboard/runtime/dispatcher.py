"""The dispatch of calls to the methods of the current assembly. Every protocol enters here."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.calls.failures import as_failure, is_cancelled, run_again
from pegboard.catalogue.extensions import check_result
from pegboard.errors import NotFoundError, ProtocolError, RepeatCallError
from pegboard.middleware.gate import require_served
from pegboard.plugin.methods import Contributions
from pegboard.runtime.call_counter import CallCounter
from pegboard.types.calls import Call, CallNext, Failure, MethodResult, Outcome
from pegboard.wire.meta_keys import METHOD_NOT_FOUND


class Dispatcher:
    """Runs calls. `publish` replaces the methods. Calls in flight continue with the earlier methods.

    Args:
        blocked_loop_seconds: the time in seconds after which code that blocks the loop is logged; 0 for never.

    Attributes:
        calls: the counter of the calls in flight.
        methods: the methods by name, each wrapped in its middleware.
    """

    def __init__(self, blocked_loop_seconds: float) -> None:
        self.calls = CallCounter(blocked_loop_seconds, Dispatcher.dispatch)
        self.methods: Mapping[str, CallNext] = {}
        self._contributed = Contributions()
        self._list_tools: CallNext

    def publish(self, methods: Mapping[str, CallNext], contributed: Contributions, list_tools: CallNext) -> None:
        """Run the methods of a new assembly from now on."""
        self.methods = methods
        self._contributed = contributed
        self._list_tools = list_tools

    async def dispatch(self, call: Call) -> Outcome:
        """Run one call through middleware and return its outcome. Never raises, except for `asyncio.CancelledError`.

        An exception becomes an outcome outside all middleware. An unexpected exception is masked, and logged under its
        id.
        """
        handler = self.methods.get(call.method)
        if handler is None:
            return Failure(ProtocolError(METHOD_NOT_FOUND, f"Method not found: {call.method}"))
        epoch = self.calls.begin()
        try:
            if call.serves is not None:
                require_served(call)
            outcome = await handler(call)
            return check_result(call, outcome, self._contributed) if type(outcome) is MethodResult else outcome
        except BaseException as error:
            if is_cancelled(error, call.rounds):
                self.calls.note_cancelled(call)
                raise
            if isinstance(error, RepeatCallError):
                return await run_again(self.methods[call.method], call)
            if isinstance(error, NotFoundError) and call.method == "tools/call":
                from pegboard.catalogue.similar_tools import with_similar_tool  # most calls are of known tools

                error = await with_similar_tool(error, call, self._list_tools)
            return as_failure(call, error)
        finally:
            self.calls.end(epoch)
