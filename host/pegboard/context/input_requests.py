"""What a call can ask of its client: each kind of question, what it needs of the client, and what an answer is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from pegboard.context.elicitation import Elicited, form_of, form_problem, has_format
from pegboard.errors import InteractionError
from pegboard.types.callers import Client
from pegboard.types.calls import Question


class InputRequest(Protocol):
    """A kind of question."""

    def needs(self) -> str:
        """The client's capability that it takes, such as "elicitation.form"."""
        ...

    def question(self) -> Question:
        """As it is sent."""
        ...

    def parse(self, answer: Any) -> Any:
        """What the author gets.

        Raises:
            ValueError: this is no answer; the text says why.
        """
        ...


class Elicit(NamedTuple):
    """Asks the person to fill in a form.

    Attributes:
        message: why, for the person. A form must not ask for secrets.
        schema: a pydantic model, dataclass or TypedDict with flat fields, a plain type for a form of one field, or a
            flat JSON Schema; None to ask for nothing but consent.
    """

    message: str
    schema: Any = None

    def needs(self) -> str:
        """The capability elicitation, with forms."""
        return "elicitation.form"

    def question(self) -> Question:
        """As it is sent; raises InteractionError for a schema that is no form."""
        params = {"mode": "form", "message": self.message, "requestedSchema": dict(self._form().schema)}
        return Question("elicitation/create", params)

    def parse(self, answer: Any) -> Elicited[Any]:
        """The person's choice, and what was filled in, in the type of the schema."""
        action = _action(answer)
        if action != "accept":
            return Elicited(action)
        form = self._form()
        content = answer.get("content")
        content = {} if content is None else content
        if wrong := form_problem(form.schema, content):
            raise ValueError(wrong)
        return Elicited("accept", form.convert(content))

    def _form(self) -> Any:
        return form_of(_CONSENT if self.schema is None else self.schema)


_CONSENT: dict[str, Any] = {"type": "object", "properties": {}}


class ElicitUrl(NamedTuple):
    """Asks the person to open a page, where what no client may see is entered (secrets, payments, consent).

    Attributes:
        message: why, for the person.
        url: the page; without credentials or personal data.
    """

    message: str
    url: str

    def needs(self) -> str:
        """The capability elicitation, with URLs."""
        return "elicitation.url"

    def question(self) -> Question:
        """As it is sent; raises InteractionError for what is no URL."""
        url = str(self.url)  # a URL object is as good
        if not has_format("uri", url):
            raise InteractionError("This tool asks for input in a way that cannot work.", f"{url!r} is no URL")
        return Question("elicitation/create", {"mode": "url", "message": self.message, "url": url})

    def parse(self, answer: Any) -> Elicited[None]:
        """The person's choice. "accept" says that the page was opened, no more."""
        return Elicited(_action(answer))


def _action(answer: Any) -> Literal["accept", "decline", "cancel"]:
    action = answer.get("action") if isinstance(answer, Mapping) else None
    if action not in ("accept", "decline", "cancel"):
        raise ValueError("its action must be accept, decline or cancel")
    return action  # type: ignore[no-any-return]


class Sampled(NamedTuple):
    """What the client's model said.

    Attributes:
        content: the content blocks, as MCP objects.
        role: "assistant", mostly.
        model: the model's name.
        stop_reason: why it stopped, such as "endTurn", "maxTokens" or "toolUse"; None where the client does not say.
    """

    content: tuple[Mapping[str, Any], ...]
    role: str
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """All text of it."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")


Messages: TypeAlias = str | Sequence[str | Mapping[str, Any]]
"""What a model is given: text of the user, or a list of such and of MCP SamplingMessage objects."""


class Sample(NamedTuple):
    """Asks the client's model.

    Attributes:
        messages: text of the user, or a list of texts and MCP SamplingMessage objects (`role`, `content`).
        max_tokens: how long the answer may become.
        system_prompt: what the model is told first; the client may change it.
        temperature: how freely the model chooses.
        stop_sequences: texts at which it stops.
        model_preferences: which model is wanted (MCP ModelPreferences).
        tools: MCP Tool objects that the model may call; needs the client's capability sampling.tools.
        tool_choice: whether it must (MCP ToolChoice).
        metadata: for the model's provider.
    """

    messages: Messages
    max_tokens: int = 1000
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: Sequence[str] | None = None
    model_preferences: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] | None = None
    tool_choice: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None

    def needs(self) -> str:
        """The capability sampling, and that with tools where there are some, or were."""
        with_tools = self.tools is not None or self.tool_choice is not None
        return "sampling.tools" if with_tools or any(_tool_ids(one) for one in self._messages()) else "sampling"

    def question(self) -> Question:
        """As it is sent; raises InteractionError for messages that no model may be given."""
        messages = self._messages()
        if wrong := _conversation_fault(messages):
            raise InteractionError("This tool asks for input in a way that cannot work.", wrong)
        optional = {
            "systemPrompt": self.system_prompt,
            "temperature": self.temperature,
            "stopSequences": self.stop_sequences,
            "modelPreferences": self.model_preferences,
            "tools": self.tools,
            "toolChoice": self.tool_choice,
            "metadata": self.metadata,
        }
        params = {"messages": messages, "maxTokens": self.max_tokens}
        return Question(
            "sampling/createMessage", params | {name: value for name, value in optional.items() if value is not None}
        )

    def _messages(self) -> list[Mapping[str, Any]]:
        messages = [self.messages] if isinstance(self.messages, str) else self.messages
        return [_message(message) for message in messages]

    def parse(self, answer: Any) -> Sampled:
        """What the model said."""
        if not isinstance(answer, Mapping):
            raise ValueError("it must be an object")
        blocks = _blocks(answer)
        if not all(_is_block(block) for block in blocks):
            raise ValueError("its content must be content blocks")
        role, model, stop_reason = answer.get("role"), answer.get("model"), answer.get("stopReason")
        if role not in ("user", "assistant") or not isinstance(model, str) or not isinstance(stop_reason, str | None):
            raise ValueError("its role must be user or assistant, its model and stopReason text")
        return Sampled(tuple(blocks), role, model, stop_reason)


def _is_block(block: object) -> bool:
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)


def _message(message: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(message, str):
        return message
    return {"role": "user", "content": {"type": "text", "text": message}}


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [content]


def _tool_ids(message: Mapping[str, Any]) -> list[Any]:
    """The uses of tools in a message, or those that it gives the results of."""
    named = [block for block in _blocks(message) if isinstance(block, Mapping)]
    ids = {"tool_use": "id", "tool_result": "toolUseId"}
    return [block.get(ids[block["type"]]) for block in named if block.get("type") in ("tool_use", "tool_result")]


def _conversation_fault(messages: list[Mapping[str, Any]]) -> str | None:
    """What is wrong with messages (client/sampling, message content constraints), None when they are sound."""
    used: list[Any] = []
    for number, message in enumerate(messages):
        where, blocks = f"message {number + 1} for the model", _blocks(message)
        if message.get("role") not in ("user", "assistant"):
            return f"{where}: its role must be user or assistant"
        if not all(_is_block(block) for block in blocks):
            return f"{where}: its content must be content blocks"
        kinds = {block["type"] for block in blocks}
        results = _tool_ids(message) if "tool_result" in kinds else []
        if results and (kinds != {"tool_result"} or message["role"] != "user"):
            return f"{where}: results of tools are messages of the user, with nothing else in them"
        if sorted(map(str, results)) != sorted(map(str, used)):
            return f"{where}: each use of a tool is answered by the next message, and nothing else is"
        used = _tool_ids(message) if "tool_use" in kinds else []
    return "the last message for the model uses a tool, and there is no result of it" if used else None


class Root(NamedTuple):
    """A place that the client lets servers work in.

    Attributes:
        uri: a `file://` URI.
        name: a name for people, None where the client gives none.
    """

    uri: str
    name: str | None = None


class ListRoots(NamedTuple):
    """Asks the client where servers may work."""

    def needs(self) -> str:
        """The capability roots."""
        return "roots"

    def question(self) -> Question:
        """As it is sent."""
        return Question("roots/list", {})

    def parse(self, answer: Any) -> list[Root]:
        """The places."""
        roots = answer.get("roots") if isinstance(answer, Mapping) else None
        if not isinstance(roots, list) or not all(_is_root(root) for root in roots):
            raise ValueError("its roots must be a list of objects with a uri")
        return [Root(root["uri"], root.get("name")) for root in roots]


def _is_root(root: object) -> bool:
    return isinstance(root, Mapping) and isinstance(root.get("uri"), str) and isinstance(root.get("name"), str | None)


def declares(client: Client, capability: str) -> bool:
    """Whether a client declares a capability. One that says no more than `elicitation` means forms."""
    name, _, detail = capability.partition(".")
    declared = client.capabilities.get(name)
    if not isinstance(declared, Mapping):
        return False
    if capability == "elicitation.form" and not declared.keys() & {"form", "url"}:
        return True
    return not detail or isinstance(declared.get(detail), Mapping)
