"""Rounds of questions: a call ends with its questions, and the client repeats it with the answers.

In each round the function runs again from its start. Questions of earlier rounds return their stored answers, so that
the function reaches its next question or its end (MCP 2026-07-28, multi round-trip requests). This module is
independent of protocols, and does not encrypt the stored answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from hashlib import sha256
from typing import Any, NoReturn, TypeVar

from pegboard.errors import InteractionError, MCPError, ProtocolError
from pegboard.types.calls import InputRequired, Question, Round
from pegboard.wire.codec import decode, encode
from pegboard.wire.meta_keys import INVALID_PARAMS

MAX_ROUNDS = 20
"""The largest number of rounds of one call."""

MAX_STEP_RESULTS_BYTES = 64 * 1024
"""The size limit of the results of all steps of one call, in bytes of JSON."""

MAX_TASK_RESULTS_BYTES = 1024 * 1024
"""This limit in a task, whose results a store keeps."""

T = TypeVar("T")
in_step: ContextVar[bool] = ContextVar("pegboard.in_step", default=False)
"""True in a step of `once` and in the tasks and threads that the step starts. They cannot ask questions."""
CallPath = tuple[str, ...]


class Rounds:
    """The questions and answers of one call.

    A round ends in the same way as `asyncio.timeout`: by cancelling the task of the call. The cancellation happens in
    the next turn of the event loop, so that simultaneous questions are sent together. It is undone when the call ends.

    Args:
        before: the state of the earlier rounds, with the client's new answers. An answer to a question that was not
            asked before is used only if the author named the question. A stored answer is never replaced.
        task: the task of the call, or None if the call cannot ask in rounds.
        max_bytes: the size limit of the results of all steps, in bytes of JSON.

    Attributes:
        seconds: how long the protocol accepts the state of a round.
        ended: True if the round is over. All tasks that wait for answers are then cancelled.
    """

    def __init__(
        self, before: Round, task: asyncio.Task[Any] | None = None, max_bytes: int = MAX_STEP_RESULTS_BYTES
    ) -> None:
        self._max_bytes = max_bytes
        self._number = before.number
        self.seconds: float = before.seconds
        self._asked = dict(before.asked)
        self._given = before.given
        self._answers = {key: before.given[key] for key in before.asked if key in before.given} | dict(before.answers)
        self._results = dict(before.results)
        self._kept = len(encode(self._results)) if self._results else 0
        self._seen: set[str] = set()
        self._counts: Counter[CallPath] = Counter()
        self._open: dict[str, Question] = {}
        self._waiting: list[asyncio.Future[Any]] = []
        self._steps = 0
        self._task = task
        self._cancelled_before = task.cancelling() if task is not None else 0
        self._handle: asyncio.Handle | None = None
        self.ended: bool = False
        self._fault: MCPError | None = None

    # --- for functions ---

    def nested(self, path: CallPath, name: str) -> CallPath:
        """Return a path for a nested call of the call at `path`. Each round returns the same path."""
        return (*path, self._count((*path, name), name))

    async def ask(self, question: Question, parse: Callable[[Any], T], path: CallPath, name: str | None) -> T:
        """Return the client's answer. Without an answer, end the round.

        Args:
            question: the question.
            parse: converts an answer. Raises ValueError with the reason if an answer is invalid.
            path: the path of the call that asks.
            name: the author's name for the question. A question without a name is identified by its position.

        Raises:
            InteractionError: an earlier round asked a different question here, the name is used twice, or the call
                exceeds the limit of rounds.
            ProtocolError: the answer is invalid for this question.
        """
        await self._refuse_late()
        key = self._key(question, path, name)
        if name is not None and key in self._given:
            self._answers.setdefault(key, self._given[key])
        if key in self._answers:
            # a turn of the loop keeps simultaneous questions in their order
            await asyncio.sleep(0)
            try:
                return parse(self._answers[key])
            except ValueError as error:
                self._fault = ProtocolError(INVALID_PARAMS, f"params.inputResponses: {key}: {error}")
                raise self._fault from None
        if self._number >= MAX_ROUNDS:
            raise self._wrong(f"the function asked in more than {MAX_ROUNDS} rounds")
        self._open[key] = question
        waiting: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self._end_soon()
        return await waiting

    async def pause(self) -> NoReturn:
        """End the round without a new question. The client repeats the call, and its earlier answers stay."""
        await self._refuse_late()
        waiting: asyncio.Future[NoReturn] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self._end_soon()
        await waiting

    async def once(self, key: str, step: Callable[[], Awaitable[Any]], path: CallPath) -> Any:
        """Run a step in its first round, and return its result after encoding and decoding as JSON.

        Later rounds return the stored result. No round ends while a step runs.

        Raises:
            InteractionError: the key is used twice, or the results are too large, or not JSON.
        """
        await self._refuse_late()
        place = "/".join((*path, key))
        self._claim(f"once:{place}", f"two steps have the key {key!r}")
        if place in self._results:
            await asyncio.sleep(0)
            return self._results[place]
        self._steps += 1
        token = in_step.set(True)
        try:
            value = await step()
        finally:
            in_step.reset(token)
            self._steps -= 1
            if self._waiting:
                self._end_soon()
        try:
            encoded = encode(value)
        except TypeError as error:
            raise self._wrong(f"the step {key!r} returned a value that is not JSON: {error}") from error
        self._kept += len(encoded)
        if self._kept > self._max_bytes:
            raise self._wrong(f"the results of all steps exceed {self._max_bytes} bytes")
        self._results[place] = decode(encoded)
        return self._results[place]

    async def _refuse_late(self) -> None:
        if self.ended:
            await asyncio.sleep(0)  # a function that catches this and asks again must not block other tasks
            raise asyncio.CancelledError

    def _key(self, question: Question, path: CallPath, name: str | None) -> str:
        key = "/".join((*path, name or self._count(path, "question")))
        self._claim(key, f"two questions have the name {name!r}")
        digest = sha256(encode([question.method, question.params])).hexdigest()[:16]
        if name is None and self._asked.get(key, digest) != digest:
            raise self._wrong(
                "it asks a different question than before: ask the same questions in every round, "
                "and give each question a name if several are asked at once"
            )
        self._asked[key] = digest
        return key

    def _claim(self, key: str, complaint: str) -> None:
        if key in self._seen:
            raise self._wrong(complaint)
        self._seen.add(key)

    def _count(self, path: CallPath, name: str) -> str:
        self._counts[path] += 1
        return f"{name}-{self._counts[path]}"

    def _wrong(self, what: str) -> InteractionError:
        fault = InteractionError("This tool asks for input in a way that cannot work.", what)
        self._fault = fault
        return fault

    # --- the end of a round ---

    def _end_soon(self) -> None:
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self._handle = None
        if self._steps:
            return
        self.ended = True
        if self._task is not None:
            self._task.cancel()
        for waiting in self._waiting:
            waiting.cancel()

    def conclude(self, value: Any, error: BaseException | None = None) -> Any:
        """Return the result of the call after its function has ended: the value, or an `InputRequired`.

        Raises:
            InteractionError: the function asked, and then returned or raised without waiting for the answer.
            BaseException: the error in a question or an answer, or else the exception of the function.
        """
        ours = self.ended and self._task is not None and self._task.uncancel() <= self._cancelled_before
        self.close()
        cancelled = isinstance(error, asyncio.CancelledError)
        if error is not None and cancelled and not ours:
            raise error
        if self._fault is not None:
            raise self._fault
        if cancelled:
            number = self._number + bool(self._open)  # a pause asks nothing
            return InputRequired(self._open, Round(number, self._asked, self._answers, self._results))
        if self._open:
            raise _went_on("returned" if error is None else f"raised {type(error).__name__}") from error
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """Cancel all tasks that still wait for an answer."""
        self._task = None
        self.ended = True
        if self._handle is not None:
            self._handle.cancel()
        for waiting in self._waiting:
            waiting.cancel()


def _went_on(how: str) -> InteractionError:
    return InteractionError(
        "This tool asked for input and continued without the answer. Its author must fix that.",
        f"it asked its client, and {how} without waiting for the answer",
    )
