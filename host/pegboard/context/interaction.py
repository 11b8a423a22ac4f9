"""How a call asks its client: at once, in a session, or by ending with the question and being called again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from pegboard.context.elicitation import Elicited
from pegboard.context.input_requests import Elicit, ElicitUrl, InputRequest, Messages, Sample, Sampled, declares
from pegboard.context.rounds import in_step
from pegboard.errors import ClientCapabilityError, ClientError, InteractionError

if TYPE_CHECKING:
    from pegboard.context.bound_function import TimeLimit
    from pegboard.context.rounds import Rounds
    from pegboard.types.calls import Ask, Call, Question

T = TypeVar("T")

ANSWER_SECONDS = 300.0
"""For how many seconds a session's client may take to answer, unless the author says otherwise."""


class _TimedContext(Protocol):
    """A context, as far as the time of its function goes."""

    clock: TimeLimit | None
    waits_for_client: int


def pausing(ask: Ask, context: _TimedContext) -> Ask:
    """The same way to the client, on which the time of a function stands still until there is an answer."""

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
    """The way of one call to its client.

    Args:
        call: the call.
        rounds: its questions, where they are asked in rounds.
        refusal: why its function cannot ask at all, None when it can.
    """

    __slots__ = ("call", "refusal", "rounds")

    def __init__(self, call: Call, rounds: Rounds | None, refusal: str | None) -> None:
        self.call = call
        self.rounds = rounds
        self.refusal = refusal

    def ask(
        self, request: InputRequest, name: str | None = None, wait: float | None = ANSWER_SECONDS
    ) -> Awaitable[Any]:
        """Ask, and give the answer.

        Raises:
            InteractionError: this function, or this caller, cannot be asked for it; at once, without an await.
            ClientCapabilityError: the client does not declare what it takes; at once.
            ClientTimeoutError, ClientError: the client gave no answer, an error, or something that is no answer.
        """
        return self._asked(request, self._question(request), name, wait)

    async def ask_all(self, requests: Mapping[str, InputRequest]) -> dict[str, Any]:
        """Ask several questions at once, each by a name; the answers by the same names.

        When one fails, the others are taken back.
        """
        questions = {name: self._question(request) for name, request in requests.items()}
        asked = [
            asyncio.ensure_future(self._asked(requests[name], question, name, ANSWER_SECONDS))
            for name, question in questions.items()
        ]
        try:
            return dict(zip(requests, await asyncio.gather(*asked), strict=True))
        finally:
            for one in asked:
                one.cancel()

    def _question(self, request: InputRequest) -> Question:
        if self.refusal is not None:
            raise InteractionError("This tool asks for input in a way that cannot work.", self.refusal)
        if in_step.get():
            raise InteractionError(
                "This tool asks for input in a way that cannot work.", "a step of once asks; ask before it or after it"
            )
        if self.rounds is None and self.call.ask is None:
            raise InteractionError("This tool needs input that it cannot be given here: nobody can be asked.")
        if not declares(self.call.client, request.needs()):
            raise ClientCapabilityError(request.needs())
        return request.question()

    async def _asked(self, request: InputRequest, question: Question, name: str | None, wait: float | None) -> Any:
        if self.rounds is not None:
            return await self.rounds.ask(question, request.parse, self.call.path, name)
        assert self.call.ask is not None
        answer = await self.call.ask(question.method, question.params, timeout=wait)
        try:
            return request.parse(answer)
        except ValueError as error:
            raise ClientError(
                f"The client answered {question.method} with something that is no answer: {error}"
            ) from None


class UI:
    """The person in front of the client."""

    __slots__ = ("_asking",)

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
        """Ask the person to fill in a form.

        Args:
            message: why, for the person. A form must not ask for secrets; use `elicit_url` for those.
            schema: a pydantic model, dataclass or TypedDict with flat fields, a plain type for a form of one field, or
                a flat JSON Schema; None to ask for nothing but consent.
            name: tells this question from others that are asked side by side.
            timeout: how many seconds to wait, where the client answers while the call runs.

        Raises:
            ClientCapabilityError: the client cannot show forms.
            ClientError: it gave an error, nothing in time (ClientTimeoutError), or what does not fit the form.
            InteractionError: this function cannot ask, or the schema is no form.
        """
        return self._asking.ask(Elicit(message, schema), name, timeout)

    def elicit_url(
        self, message: str, url: str, *, name: str | None = None, timeout: float | None = ANSWER_SECONDS
    ) -> Awaitable[Elicited[None]]:
        """Ask the person to open a page, for what no client may see: secrets, payments, consent of a third party.

        "accept" says that it was opened; what happened there is between the page and the server.

        Args:
            message: why, for the person.
            url: the page; without credentials or personal data in it.
            name: tells this question from others that are asked side by side.
            timeout: how many seconds to wait, where the client answers while the call runs.

        Raises:
            ClientCapabilityError: the client cannot open pages.
            ClientError, InteractionError: as for `elicit`.
        """
        return self._asking.ask(ElicitUrl(message, url), name, timeout)


class Sampling:
    """The client's model."""

    __slots__ = ("_asking",)

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
        """Ask the client's model; the person may see and change what is asked and answered.

        Args:
            messages: text of the user, or a list of texts and MCP SamplingMessage objects (`role`, `content`).
            max_tokens: how long the answer may become.
            system_prompt: what the model is told first.
            temperature: how freely it chooses.
            stop_sequences: texts at which it stops.
            model_preferences: which model is wanted (MCP ModelPreferences).
            tools: MCP Tool objects that it may call.
            tool_choice: whether it must (MCP ToolChoice).
            metadata: for the model's provider.
            name: tells this question from others that are asked side by side.
            timeout: how many seconds to wait, where the client answers while the call runs.

        Raises:
            ClientCapabilityError: the client offers no model, or none that calls tools.
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
