"""What a client answers to what it is asked, whichever line of the SDK it is, and what it was asked and told.

Runs in the client's environment; `types` is the SDK's module of them.
"""

from __future__ import annotations

from typing import Any

VALUES = {"string": "Ann", "integer": 7, "number": 0.5, "boolean": True, "array": ["red"]}


class Answers:
    """The callbacks of a client that answers everything.

    Args:
        types: the SDK's types.
        action: what it does with forms and pages: "accept", "decline", "cancel", or "fail" for an error.
    """

    def __init__(self, types: Any, action: str) -> None:
        self._types = types
        self._action = action
        self.asked: list[Any] = []
        self.logged: list[Any] = []

    def _note(self, kind: str, params: Any) -> dict[str, Any]:
        asked: dict[str, Any] = params.model_dump(mode="json", by_alias=True, exclude_none=True) if params else {}
        self.asked.append([kind, asked])
        return asked

    async def elicit(self, context: Any, params: Any) -> Any:
        """Fill in what a form requires, or open a page."""
        asked = self._note("elicitation/create", params)
        if self._action == "fail":
            return self._types.ErrorData(code=-1, message="nobody is here")
        answer: dict[str, Any] = {"action": self._action}
        if self._action == "accept" and asked.get("mode") != "url":
            schema = asked["requestedSchema"]
            fields = {name: schema["properties"][name] for name in schema.get("required", ())}
            answer["content"] = {name: VALUES[field["type"]] for name, field in fields.items()}
        return self._types.ElicitResult.model_validate(answer)

    async def sample(self, context: Any, params: Any) -> Any:
        """Know a capital, and call a tool where there is one."""
        asked = self._note("sampling/createMessage", params)
        text = {"type": "text", "text": "Paris"}
        answer: dict[str, Any] = {"role": "assistant", "model": "m", "stopReason": "endTurn", "content": text}
        if "tools" not in asked:
            return self._types.CreateMessageResult.model_validate(answer)
        called = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
        answer |= {"content": [text, called], "stopReason": "toolUse"}
        return self._types.CreateMessageResultWithTools.model_validate(answer)

    async def list_roots(self, context: Any) -> Any:
        """Have two places."""
        self._note("roots/list", None)
        roots = [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]
        return self._types.ListRootsResult.model_validate({"roots": roots})

    async def log(self, params: Any) -> None:
        """Note what the server says."""
        self.logged.append(params.data)

    def callbacks(self) -> dict[str, Any]:
        """The arguments of a client that make it answer."""
        tools = self._types.SamplingCapability.model_validate({"tools": {}})
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "sampling_capabilities": tools,
            "list_roots_callback": self.list_roots,
            "logging_callback": self.log,
        }
