"""Multi round-trip requests (2026-07-28, basic/patterns/mrtr): requests for input as results, and retries with
responses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pegboard.plugin import ProtocolError
from pegboard.types import Call, Caller, InputRequired, Round
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.sealing import Sealer

INPUT_REQUIRED_METHODS = frozenset(("tools/call", "prompts/get", "resources/read"))
"""The methods whose result may require input."""

MAX_STATE_BYTES = 1024 * 1024
"""The largest state that the server sends to a client."""


class RoundTrips:
    """The rounds of one server's calls. The requests carry the state; this object has none.

    Args:
        keys: the keys that encrypt states; see `Sealer`.
        seconds: how long a retry is accepted.
    """

    def __init__(self, keys: Sequence[str], seconds: float) -> None:
        self._keys = keys
        self._seconds = seconds
        self._first = Round(seconds=seconds)

    @cached_property
    def _sealer(self) -> Sealer:
        from pegboard_plugins.protocols.mcp.sealing import Sealer

        return Sealer(self._keys, self._seconds)

    def begin(self, method: str, params: Mapping[str, Any], caller: Caller) -> Round | None:
        """Return the round for a call, or None if its method cannot require input.

        Raises:
            ProtocolError: `requestState` or `inputResponses` is invalid.
        """
        if method not in INPUT_REQUIRED_METHODS:
            return None
        if "requestState" not in params and "inputResponses" not in params:
            return self._first
        return self._resumed(method, params, caller)

    def _resumed(self, method: str, params: Mapping[str, Any], caller: Caller) -> Round:
        responses = params.get("inputResponses", {})
        if type(responses) is not dict or not all(type(answer) is dict for answer in responses.values()):
            raise ProtocolError(INVALID_PARAMS, "params.inputResponses must be an object of objects")
        if "requestState" not in params:
            return self._first._replace(given=responses)
        state = params["requestState"]
        if type(state) is not str:
            raise ProtocolError(INVALID_PARAMS, "params.requestState must be a string")
        try:
            number, questions, answers, results = self._sealer.open(state, _bound_to(method, params, caller))
        except ValueError as error:
            raise ProtocolError(INVALID_PARAMS, f"params.requestState is invalid: {error}") from None
        return Round(number, questions, answers, results, responses, self._seconds)

    def result(self, call: Call, outcome: InputRequired) -> Mapping[str, Any]:
        """Return the `InputRequiredResult`, without the members that all results have.

        Raises:
            ProtocolError: the responses so far are too large for the state.
        """
        following = outcome.next
        kept = [following.number, *map(dict, (following.asked, following.answers, following.results))]
        state = self._sealer.seal(kept, _bound_to(call.method, call.params, call.caller))
        if len(state) > MAX_STATE_BYTES:
            raise ProtocolError(INVALID_PARAMS, "The responses are too large to request more input.")
        questions = {key: question._asdict() for key, question in outcome.questions.items()}
        asked = {"inputRequests": questions} if questions else {}
        return {"resultType": "input_required", **asked, "requestState": state}


def _bound_to(method: str, params: Mapping[str, Any], caller: Caller) -> list[Any]:
    """Return the parts of a request that its retry must repeat: caller, program, method, name and arguments."""
    whose = [caller.issuer, caller.subject, caller.client_id]
    return [whose, method, params.get("name"), params.get("uri"), params.get("arguments") or {}]
