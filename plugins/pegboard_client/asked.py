"""Questions of a server to its client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias


class Asked(NamedTuple):
    """A question of the server, as the client receives it.

    Attributes:
        method: "elicitation/create", "sampling/createMessage" or "roots/list".
        params: the parameters of the request.
        key: the key of the answer in 2026-07-28, as the server named it; "" in sessions.
    """

    method: str
    params: Mapping[str, Any]
    key: str = ""

    @property
    def kind(self) -> Literal["form", "url", "sampling", "roots"]:
        """The kind of question."""
        if self.method == "elicitation/create":
            return "url" if self.params.get("mode") == "url" else "form"
        return "roots" if self.method == "roots/list" else "sampling"

    @property
    def message(self) -> str:
        """The message to the user or the model; "" for roots. For sampling, the text of the last message."""
        if self.kind == "sampling":
            content = self.params["messages"][-1]["content"]
            blocks = content if isinstance(content, list) else [content]
            return "\n".join(block["text"] for block in blocks if block["type"] == "text")
        text: str = self.params.get("message", "")
        return text

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schemas of a form's fields, by name."""
        properties: Mapping[str, Any] = self.params.get("requestedSchema", {}).get("properties", {})
        return properties

    def __str__(self) -> str:
        fields = f" ({', '.join(self.fields)})" if self.fields else ""
        return f"{self.kind} {self.message!r}{fields}"


QuestionHandler: TypeAlias = Callable[[Asked], Awaitable[Mapping[str, Any]]]
"""Returns the result for a question. A `ProtocolError` refuses the question."""

CAPABILITY_OF = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
"""The methods of questions, each with the capability that a client declares for it."""

ANSWERED_BY_ASK: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
"""The capabilities of a client that has a function for questions."""
