"""Messages for a client's model, and their form in each revision."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import ClientCapabilityError, ClientError
from pegboard.errors import InteractionError
from pegboard.types import Sample
from pegboard_plugins.protocols.mcp.client_requests import in_revision
from tests.support.schemas import LEGACY, MODERN, check

ASSISTANT: dict[str, Any] = {"role": "assistant", "content": {"type": "text", "text": "x"}}
TEXT: dict[str, Any] = {"role": "user", "content": {"type": "text", "text": "x"}}
AUDIO = {"role": "user", "content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}}
IMAGE = {"role": "user", "content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}


def use(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": use_id, "name": "look", "input": {}} for use_id in ids]
    return {"role": "assistant", "content": blocks}


def result(*ids: str, role: str = "user", more: Any = ()) -> dict[str, Any]:
    blocks = [{"type": "tool_result", "toolUseId": use_id, "content": []} for use_id in ids]
    return {"role": role, "content": [*blocks, *more]}


@pytest.mark.parametrize(
    ("messages", "needs"),
    [
        (["x", ASSISTANT, "y"], "sampling"),
        ([TEXT, use("1", "2"), result("2", "1"), ASSISTANT, TEXT], "sampling.tools"),
        ([use("1"), {**TEXT, "content": result("1")["content"][0]}], "sampling.tools"),
    ],
    ids=repr,
)
def test_valid_messages_and_the_capability_that_they_require(messages: Any, needs: str) -> None:
    sample = Sample(messages)
    assert sample.needs() == needs
    check(MODERN[-1], "CreateMessageRequestParams", sample.question().params)


@pytest.mark.requirement("ASK-20", "ASK-22")
@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{**TEXT, "role": "system"}], "its role must be"),
        ([{"role": "user", "content": "x"}], "must be content blocks"),
        ([use("1"), result("1", more=[TEXT["content"]])], "nothing"),
        ([use("1"), result("1", role="assistant")], "messages of the user"),
        ([use("1"), TEXT], "message 2 for the model: each use of a tool is answered"),
        ([use("1", "2"), result("1")], "each use of a tool is answered"),
        ([result("1")], "each use of a tool is answered"),
        ([TEXT, use("1")], "the last message"),
    ],
    ids=repr,
)
def test_invalid_messages_are_refused(messages: Any, reason: str) -> None:
    with pytest.raises(InteractionError) as caught:
        Sample(messages).question()
    assert reason in str(caught.value.developer_message)


@pytest.mark.parametrize("revision", LEGACY)
def test_each_revision_is_asked_for_the_features_that_it_has(revision: str) -> None:
    def check_request(messages: Any) -> Any:
        question = Sample(messages).question()
        params = in_revision(question.method, question.params, revision)
        request = {"method": question.method, "params": params, "jsonrpc": "2.0", "id": 1}
        check(revision, "CreateMessageRequest", request)
        return params == question.params

    for messages in ("x", [IMAGE], [TEXT, TEXT]):
        check_request(messages)
    if revision >= "2025-03-26":
        check_request([AUDIO])
    else:
        with pytest.raises(ClientError, match="client's revision does not support audio"):
            check_request([AUDIO])
    tools, several = [use("1"), result("1")], [{**TEXT, "content": [TEXT["content"]] * 2}]
    if revision == LEGACY[-1]:
        assert check_request(tools)
        assert check_request(several)
    else:
        with pytest.raises(ClientCapabilityError, match=r"sampling\.tools"):
            check_request(tools)
        with pytest.raises(ClientError, match="one content block per sampling message"):
            check_request(several)
