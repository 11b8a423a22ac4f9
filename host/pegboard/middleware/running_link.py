"""The run of one middleware method in one call."""

from __future__ import annotations

from pegboard.types.calls import Call, CallNext, Failure, Outcome, RawResult, ToolResult


class MiddlewareFault(Exception):
    """A middleware broke a rule or raised an untyped exception. The error is masked.

    Args:
        developer_message: the name of the middleware, and its fault.
    """

    def __init__(self, developer_message: str) -> None:
        super().__init__(developer_message)
        self.developer_message = developer_message


class RunningLink:
    """A middleware method that runs in one call.

    Args:
        blame: the name of the middleware, for the log.
        call_next: the rest of the chain.
        call: the call.

    Attributes:
        given: the last outcome of `call_next`, or None before the first.
        raised: the last exception of `call_next`.
        inside: True while the middleware waits for `call_next`. That time does not count for the middleware.
    """

    __slots__ = ("_call_next", "blame", "call", "given", "inside", "raised")

    def __init__(self, blame: str, call_next: CallNext, call: Call) -> None:
        self.blame = blame
        self.call = call
        self._call_next = call_next
        self.inside = False
        self.given: Outcome | None = None
        self.raised: BaseException | None = None

    async def call_next(self, call: Call) -> Outcome:
        """Run the rest of the chain."""
        if self.given is not None:
            self._refuse_again()
        if type(call) is not Call:
            raise MiddlewareFault(f"{self.blame} called call_next with {type(call).__name__}: pass a Call")
        self.inside = True
        try:
            outcome = await self._call_next(call)
        except BaseException as error:
            self.raised = error
            self.inside = False
            raise
        self.inside = False
        if self.given is not None:
            self._refuse_again()  # it was called several times at once
        self.given = outcome
        return outcome

    def _refuse_again(self) -> None:
        if not _failed(self.given):
            raise MiddlewareFault(f"{self.blame} called call_next again after a success: repeat only calls that failed")


def _failed(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Failure) or (isinstance(outcome, ToolResult | RawResult) and outcome.is_error)
