"""Messages for a client's model, and their form in each revision."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.plugin import ClientCapabilityError, ClientError, InteractionError
from pegboard.types import Sample
from pegboard_plugins.mcp.client_request_params import in_revision
from tests.support.schemas import LEGACY, MODERN, check


def text(role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": "x"}}


def use(*ids: str) -> dict[str, Any]:
    """The model uses tools."""
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids],
    }


def result(*ids: str, **more: Any) -> dict[str, Any]:
    """The results of them."""
    return {
        "role": "user",
        "content": [{"type": "tool_result", "toolUseId": one, "content": []} for one in ids],
        **more,
    }


SOUND: list[tuple[Any, str]] = [
    ("x", "sampling"),
    (["x", text("assistant"), "y"], "sampling"),
    ([text(), use("1"), result("1")], "sampling.tools"),
    ([text(), use("1", "2"), result("2", "1"), text("assistant"), text()], "sampling.tools"),
    ([use("1"), {**result("1"), "content": result("1")["content"][0]}], "sampling.tools"),
]


@pytest.mark.parametrize(("messages", "needs"), SOUND, ids=repr)
def test_sound_messages_and_what_they_take(messages: Any, needs: str) -> None:
    sample = Sample(messages)
    assert sample.needs() == needs
    check(MODERN[-1], "CreateMessageRequestParams", sample.question().params)


@pytest.mark.requirement("ASK-20", "ASK-22")
@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{"role": "system", "content": {"type": "text", "text": "x"}}], "its role must be"),
        ([{"role": "user", "content": "x"}], "must be content blocks"),
        ([use("1"), {**result("1"), "content": [*result("1")["content"], {"type": "text", "text": "x"}]}], "nothing"),
        ([use("1"), result("1", role="assistant")], "messages of the user"),
        ([use("1"), text()], "message 2 for the model: each use of a tool is answered"),
        ([use("1", "2"), result("1")], "each use of a tool is answered"),
        ([result("1")], "each use of a tool is answered"),
        ([text(), use("1")], "the last message"),
    ],
    ids=repr,
)
def test_messages_that_no_model_may_be_given(messages: Any, reason: str) -> None:
    with pytest.raises(InteractionError) as caught:
        Sample(messages).question()
    assert reason in str(caught.value.developer_message)


SOUNDS = {"role": "user", "content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}}
PICTURE = {"role": "user", "content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}


NEWEST = LEGACY[-1]


@pytest.mark.parametrize(
    ("messages", "since"),
    [("x", LEGACY[0]), ([PICTURE], LEGACY[0]), ([SOUNDS], "2025-03-26"), ([text(), text()], LEGACY[0])],
)
@pytest.mark.parametrize("revision", LEGACY)
def test_each_revision_is_asked_for_what_it_has(revision: str, messages: Any, since: str) -> None:
    question = Sample(messages).question()
    if revision < since:
        with pytest.raises(ClientError, match="its revision does not support audio"):
            in_revision(question.method, question.params, revision)
    else:
        params = in_revision(question.method, question.params, revision)
        check(
            revision, "CreateMessageRequest", {"method": question.method, "params": params, "jsonrpc": "2.0", "id": 1}
        )


@pytest.mark.parametrize("revision", LEGACY[:-1])
def test_newer_features_are_not_sent_to_older_revisions(revision: str) -> None:
    question = Sample([use("1"), result("1")]).question()
    with pytest.raises(ClientCapabilityError, match=r"sampling\.tools"):
        in_revision(question.method, question.params, revision)
    several = Sample([{**text(), "content": [text()["content"]] * 2}]).question()
    with pytest.raises(ClientError, match="one content block per message"):
        in_revision(several.method, several.params, revision)
    for one in (question, several):
        assert in_revision(one.method, one.params, NEWEST) == one.params
