"""Properties of rounds: no state and no answers cause an internal error, a hang or a lost response."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegboard import Host
from pegboard.types import LOCAL
from tests.support.asks_kit import kit
from tests.support.mcp_rounds import ABLE, accept
from tests.support.memory_line import MemoryLine, request
from tests.support.peer import modern_meta

FEW = settings(max_examples=25, deadline=None)
ANN = {"question-1": accept(value="Ann")}


class Exchanges:
    """A running host, and one request after another to it."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.host = Host({"host": {"autoload": False}}, toolkits={"asks": kit})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its response, which is the only message of the host."""
        return self._runner.run(self._request(method, params))

    async def _request(self, method: str, params: dict[str, Any]) -> Any:
        line = MemoryLine([request(1, method, **params, _meta=modern_meta(capabilities=ABLE))], expected=1)
        await self.host.serve(line, line.incoming(), caller=LOCAL)
        (answer,) = line.sent
        return answer


@pytest.fixture(scope="module")
def exchanges() -> Iterator[Exchanges]:
    """A host that all examples share."""
    with asyncio.Runner() as runner:
        exchanges = Exchanges(runner)
        runner.run(exchanges.host.start())
        yield exchanges
        runner.run(exchanges.host.stop())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["question-1", "question-2", "who", "capital", "where", "asks_name-1/question-1"])
ANSWERS = st.one_of(
    JSON,
    st.just(accept(value="Ann")),
    st.fixed_dictionaries({"action": st.sampled_from(["accept", "decline"]) | JSON}, optional={"content": JSON}),
    st.fixed_dictionaries({"roots": st.lists(st.fixed_dictionaries({"uri": st.text(max_size=5) | JSON}))}),
    st.fixed_dictionaries({"role": st.just("user"), "model": JSON, "content": JSON | st.lists(JSON, max_size=2)}),
)
RESPONSES = st.dictionaries(KEYS | st.text(max_size=5), ANSWERS, max_size=4) | JSON
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("tools/call", {"name": f"asks_{tool}"}) for tool in ("name", "person", "careless", "at_once", "in_turn")),
    ("prompts/get", {"name": "asks_welcome"}),
    ("resources/read", {"uri": "asks://cards/7"}),
]


@pytest.mark.requirement("ROUND-15")
@FEW
@given(st.sampled_from(CALLS), RESPONSES, st.booleans())
@example(CALLS[0], {"question-1": {"action": "accept", "content": {"value": "\ud800"}}}, True)
@example(CALLS[1], {"question-1": accept(name="x", age=10**400)}, True)
def test_any_answers_yield_a_question_a_result_or_an_error_of_the_client(
    exchanges: Exchanges, call: tuple[str, dict[str, Any]], responses: Any, retried: bool
) -> None:
    method, params = call
    params = {**params, "inputResponses": responses}
    if retried:
        params["requestState"] = exchanges.request(*call)["result"]["requestState"]
    answer = exchanges.request(method, params)
    if "error" in answer:
        assert answer["error"]["code"] in (-32602, -32700)
    else:
        assert answer["result"]["resultType"] in ("complete", "input_required")
        assert not answer["result"].get("isError"), answer
        assert "never go out" not in json.dumps(answer)
    if isinstance(responses, dict) and not all(isinstance(one, dict) for one in responses.values()):
        assert "error" in answer


@pytest.mark.requirement("ROUND-07")
@FEW
@given(st.integers(0, 200), st.integers(0, 4), st.text("ABCabc019-_=+/.v \n\x00é", max_size=4))
def test_a_state_that_was_changed_is_refused(exchanges: Exchanges, place: int, removed: int, added: str) -> None:
    method, params = CALLS[0]
    state = exchanges.request(method, params)["result"]["requestState"]
    changed = state[:place] + added + state[place + removed :]
    answer = exchanges.request(method, {**params, "requestState": changed, "inputResponses": ANN})
    if changed == state:
        assert answer["result"]["content"][0]["text"] == "Hello, Ann"
    else:
        assert answer["error"]["code"] == -32602
