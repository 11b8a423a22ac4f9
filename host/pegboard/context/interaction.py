"""Questions of a call to its client.

In a session, a question is a request to the client. Without a session, the call ends with its questions, and the client
repeats the call with the answers.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pegboard.context.elicitation import Elicited
from pegboard.context.input_requests import Elicit, ElicitUrl, Messages, QuestionKind, Sample, Sampled, declares
from pegboard.context.rounds import MAX_STEP_RESULTS_BYTES, MAX_TASK_RESULTS_BYTES, Rounds, in_step
from pegboard.errors import ClientCapabilityError, ClientError, InteractionError

if TYPE_CHECKING:
    from pegboard.context import Context
    from pegboard.context.bound_function import HostAccess
    from pegboard.types.calls import Ask, Call, Question

T = TypeVar("T")

ANSWER_SECONDS = 300.0
"""The default time limit for answers of a client in a session, in seconds."""


CANNOT_BE_ASKED = "This tool needs input, but this client cannot be asked."


def pausing(ask: Ask, context: Context) -> Ask:
    """Return `ask`, changed to pause the deadline of a context until the client answers."""

    async def asked(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        context.waits_for_client += 1
        if context.waits_for_client == 1 and context.clock is not None:
            context.clock.pause()
        try:
            return await ask(method, params, **options)
        finally:
            context.waits_for_client -= 1
            if context.waits_for_client == 0 and context.clock is not None:
                context.clock.resume()

    return asked


class Interaction:
    """The connection of one call to its client.

    Args:
        call: the call.
        rounds: the questions of the call in rounds, or None in a session.
        refusal: the reason why the function cannot ask the client, or None if it can.
    """

    def __init__(self, call: Call, rounds: Rounds | None, refusal: str | None) -> None:
        self.call = call
        self.rounds = rounds
        self.refusal = refusal

    def ask(
        self, request: QuestionKind, name: str | None = None, wait: float | None = ANSWER_SECONDS
    ) -> Awaitable[Any]:
        """Send a question and return an awaitable of the answer.

        Raises:
            InteractionError: this function cannot ask, or this client cannot be asked. Raised before any await.
            ClientCapabilityError: the client does not declare the capability. Raised before any await.
            ClientTimeoutError, ClientError: the client did not answer, or answered with an error or an invalid result.
        """
        return self._asked(request, self._question(request), name, wait)

    async def send(self, method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Send any request to the client and return its result.

        Raises:
            InteractionError: the function cannot ask, or there is no session.
        """
        if self.refusal is not None or self.call.ask is None:
            raise InteractionError(CANNOT_BE_ASKED, self.refusal or "there is no session")
        return await self.call.ask(method, params, **options)

    async def ask_all(self, requests: Mapping[str, QuestionKind]) -> dict[str, Any]:
        """Send several questions at once, and return the answers by the names of the questions.

        If one question fails, the others are cancelled.
        """
        questions = {name: self._question(request) for name, request in requests.items()}
        tasks = [
            asyncio.ensure_future(self._asked(requests[name], question, name, ANSWER_SECONDS))
            for name, question in questions.items()
        ]
        try:
            return dict(zip(requests, await asyncio.gather(*tasks), strict=True))
        finally:
            for task in tasks:
                task.cancel()

    def _question(self, request: QuestionKind) -> Question:
        if self.refusal is not None:
            raise InteractionError("This tool asks for input in a way that cannot work.", self.refusal)
        if in_step.get():
            raise InteractionError(
                "This tool asks for input in a way that cannot work.",
                "a function passed to once() cannot ask the client: ask before or after the once() call",
            )
        if self.rounds is None and self.call.ask is None:
            raise InteractionError(CANNOT_BE_ASKED)
        if not declares(self.call.client, request.needs()):
            raise ClientCapabilityError(request.needs())
        return request.question()

    async def _asked(self, request: QuestionKind, question: Question, name: str | None, wait: float | None) -> Any:
        if self.rounds is not None:
            return await self.rounds.ask(question, request.parse, self.call.path, name)
        assert self.call.ask is not None
        answer = await self.call.ask(question.method, question.params, timeout=wait)
        try:
            return request.parse(answer)
        except ValueError as error:
            raise ClientError(f"The client answered {question.method} with an invalid result: {error}") from None


class UI:
    """The user of the client."""

    def __init__(self, asking: Interaction) -> None:
        self._asking = asking

    @overload
    def elicit(
        self, message: str, schema: type[T], *, name: str | None = None, timeout: float | None = ANSWER_SECONDS
    ) -> Awaitable[Elicited[T]]: ...
    @overload
    def elicit(
        self,
        message: str,
        schema: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        timeout: float | None = ANSWER_SECONDS,
    ) -> Awaitable[Elicited[dict[str, Any]]]: ...
    @overload
    def elicit(
        self, message: str, schema: Any, *, name: str | None = None, timeout: float | None = ANSWER_SECONDS
    ) -> Awaitable[Elicited[Any]]: ...
    def elicit(
        self, message: str, schema: Any = None, *, name: str | None = None, timeout: float | None = ANSWER_SECONDS
    ) -> Awaitable[Elicited[Any]]:
        """Ask the user to fill in a form.

        Args:
            message: the reason, for the user. A form must not ask for secrets; use `elicit_url` for those.
            schema: a pydantic model, dataclass or TypedDict with flat fields, a plain type for a form with one field,
                or a flat JSON Schema; None to ask only for consent.
            name: distinguishes this question from others that are asked at the same time.
            timeout: the seconds to wait for the answer. Applies only in a session.

        Raises:
            ClientCapabilityError: the client cannot show forms.
            ClientError: the client responded with an error, too late (ClientTimeoutError), or with invalid content.
            InteractionError: the function cannot ask, or the schema is not a form.
        """
        return self._asking.ask(Elicit(message, schema), name, timeout)

    def elicit_url(
        self, message: str, url: str, *, name: str | None = None, timeout: float | None = ANSWER_SECONDS
    ) -> Awaitable[Elicited[None]]:
        """Ask the user to open a page, for data that the client must not see: secrets, payments, consent.

        "accept" means only that the page was opened. The client does not learn the data that the user enters there.

        Args:
            message: the reason, for the user.
            url: the page, without credentials or personal data.
            name: distinguishes this question from others that are asked at the same time.
            timeout: the seconds to wait for the answer. Applies only in a session.

        Raises:
            ClientCapabilityError: the client cannot open pages.
            ClientError, InteractionError: as for `elicit`.
        """
        return self._asking.ask(ElicitUrl(message, url), name, timeout)


class Sampling:
    """The client's model."""

    def __init__(self, asking: Interaction) -> None:
        self._asking = asking

    def create_message(
        self,
        messages: Messages,
        max_tokens: int = 1000,
        *,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        model_preferences: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        name: str | None = None,
        timeout: float | None = ANSWER_SECONDS,
    ) -> Awaitable[Sampled]:
        """Ask the client's model. The user may see and change the question and the answer.

        Args:
            messages: one string as the user's message, or a list of strings and MCP SamplingMessage objects
                (`role`, `content`).
            max_tokens: the size limit of the answer in tokens.
            system_prompt: the system prompt.
            temperature: the temperature of the model.
            stop_sequences: strings that end the answer.
            model_preferences: the preferred model (MCP ModelPreferences).
            tools: MCP Tool objects that the model may call.
            tool_choice: True to force a call (MCP ToolChoice).
            metadata: data for the model's provider.
            name: distinguishes this question from others that are asked at the same time.
            timeout: the seconds to wait for the answer. Applies only in a session.

        Raises:
            ClientCapabilityError: the client offers no model, or no model that calls tools.
            ClientError, InteractionError: as for `UI.elicit`.
        """
        sample = Sample(
            messages,
            max_tokens,
            system_prompt,
            temperature,
            stop_sequences,
            model_preferences,
            tools,
            tool_choice,
            metadata,
        )
        return self._asking.ask(sample, name, timeout)


# --- The means to ask the client: its connection, the rounds, and steps.


def asking_of(context: Context) -> Interaction:
    """Return the connection of a context to its client."""
    call = context._call
    if call.ask is not None:
        # nested calls ask through it, too, so that their questions pause this function's clock
        call = call._replace(ask=pausing(call.ask, context))
    return Interaction(call, rounds_of(context), context._refusal)


def rounds_of(context: Context) -> Rounds | None:
    """Return the questions of the call in rounds, created by the first context that may ask the client."""
    call = context._call
    if call.rounds is not None or call.round is None or context._refusal is not None:
        return call.rounds
    if context.asked is None:
        limit = MAX_TASK_RESULTS_BYTES if call.runs_task else MAX_STEP_RESULTS_BYTES
        context.asked = Rounds(call.round, context._task, limit)
    return context.asked


async def run_step(host: HostAccess, function: Callable[[], Any]) -> Any:
    """Run a step of `Context.once`: a sync function in a thread of the host."""
    target = function.func if isinstance(function, partial) else function
    if inspect.iscoroutinefunction(target):
        value = function()
    else:
        value = await host.in_thread(function)
    return await value if inspect.isawaitable(value) else value
