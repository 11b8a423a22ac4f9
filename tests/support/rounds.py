"""A client of 2026-07-28 for hosts in the process of the test: answers questions and repeats the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pegboard import Host
from pegboard.plugin import decode, encode
from pegboard.types import Call, Client, InputRequired, Outcome, Question, Round
from pegboard.types.calls import FIRST_ROUND

ABLE = Client("test", "1", "2026-07-28", {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})

Answer = Callable[[str, Question], Any]
"""Given a question's key and the question, the client's answer."""

MAX_ROUNDS = 30


def accept(**content: Any) -> dict[str, Any]:
    """The answer of a person who fills in a form."""
    return {"action": "accept", "content": content}


class Rounds:
    """Makes one call, round after round.

    Attributes:
        asked: for each round, the questions by their keys.
    """

    def __init__(self, host: Host, name: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> None:
        self._host = host
        self._fields = {"method": "tools/call", "params": {"name": name, "arguments": dict(arguments or {})}} | fields
        self.asked: list[dict[str, Question]] = []
        self.round = FIRST_ROUND

    async def step(self, given: Mapping[str, Any] | None = None) -> Outcome:
        before = self.round._replace(given=dict(given or {}))
        call = Call(**{"client": ABLE, **self._fields}, round=before)
        outcome = await self._host.dispatch(call)
        if isinstance(outcome, InputRequired):
            self.asked.append(dict(outcome.questions))
            self.round = Round(*decode(encode(outcome.next[:4])))  # as it comes back from the client
        return outcome

    async def finish(self, answer: Answer) -> Outcome:
        """Every round to the end of the call."""
        outcome = await self.step()
        for _ in range(MAX_ROUNDS):
            if not isinstance(outcome, InputRequired):
                return outcome
            outcome = await self.step({key: answer(key, question) for key, question in outcome.questions.items()})
        raise AssertionError(f"no end after {MAX_ROUNDS} rounds")
