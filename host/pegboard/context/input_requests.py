"""The questions that a call can ask its client: the required capability, the request, and the check of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from pegboard.context.elicitation import Elicited, form_of, form_problem, has_format
from pegboard.errors import InteractionError
from pegboard.types.callers import Client
from pegboard.types.calls import Question


class QuestionKind(Protocol):
    """A kind of question."""

    def needs(self) -> str:
        """Return the capability that the client must declare, such as "elicitation.form"."""

    def question(self) -> Question:
        """Return the question in the form for the client."""

    def parse(self, answer: Any) -> Any:
        """Return the value that the author receives for an answer.

        Raises:
            ValueError: the answer is invalid. The message states the reason.
        """


class Elicit(NamedTuple):
    """A form for the user.

    Attributes:
        message: the reason, for the user. A form must not ask for secrets.
        schema: a pydantic model, dataclass or TypedDict with flat fields, a plain type for a form with one field, or a
            flat JSON Schema; None to ask only for consent.
    """

    message: str
    schema: Any = None

    def needs(self) -> str:
        """Return the capability for forms."""
        return "elicitation.form"

    def question(self) -> Question:
        """Return the question as it is sent. Raise InteractionError if the schema is not a form."""
        params = {"mode": "form", "message": self.message, "requestedSchema": dict(self._form().schema)}
        return Question("elicitation/create", params)

    def parse(self, answer: Any) -> Elicited[Any]:
        """Return the user's choice, and the content in the type of the schema."""
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
    """A page that the user opens, for data that the client must not see (secrets, payments, consent).

    Attributes:
        message: the reason, for the user.
        url: the page, without credentials or personal data.
    """

    message: str
    url: str

    def needs(self) -> str:
        """Return the capability for URLs."""
        return "elicitation.url"

    def question(self) -> Question:
        """Return the question in the form for the client. Raise InteractionError for an invalid URL."""
        url = str(self.url)  # may be a URL object
        if not has_format("uri", url):
            raise InteractionError("This tool asks for input in a way that cannot work.", f"{url!r} is not a URL")
        return Question("elicitation/create", {"mode": "url", "message": self.message, "url": url})

    def parse(self, answer: Any) -> Elicited[None]:
        """Return the user's choice. "accept" means only that the page was opened."""
        return Elicited(_action(answer))


def _action(answer: Any) -> Literal["accept", "decline", "cancel"]:
    action = answer.get("action") if isinstance(answer, Mapping) else None
    if action not in ("accept", "decline", "cancel"):
        raise ValueError("its action must be accept, decline or cancel")
    return action  # type: ignore[no-any-return]


class Sampled(NamedTuple):
    """The answer of the client's model.

    Attributes:
        content: the content blocks, as MCP objects.
        role: usually "assistant".
        model: the model's name.
        stop_reason: the reason, such as "endTurn", "maxTokens" or "toolUse"; None if the client does not name one.
    """

    content: tuple[Mapping[str, Any], ...]
    role: str
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """The text of all blocks."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")


Messages: TypeAlias = str | Sequence[str | Mapping[str, Any]]
"""The messages for a model: one string as the user's message, or a list of strings and MCP SamplingMessage objects."""


class Sample(NamedTuple):
    """A question to the client's model.

    Attributes:
        messages: one string as the user's message, or a list of strings and MCP SamplingMessage objects
            (`role`, `content`).
        max_tokens: the size limit of the answer in tokens.
        system_prompt: the system prompt; the client may change it.
        temperature: the temperature of the model.
        stop_sequences: strings that end the answer.
        model_preferences: the preferred model (MCP ModelPreferences).
        tools: MCP Tool objects that the model may call; requires the client's capability sampling.tools.
        tool_choice: True to force a call (MCP ToolChoice).
        metadata: data for the model's provider.
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
        """Return the capability `sampling`, or `sampling.tools` if the messages or options use tools."""
        with_tools = self.tools is not None or self.tool_choice is not None
        return "sampling.tools" if with_tools or any(_tool_ids(message) for message in self._messages()) else "sampling"

    def question(self) -> Question:
        """Return the question as it is sent. Raise InteractionError for invalid messages."""
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
        """Return the answer of the model."""
        if not isinstance(answer, Mapping):
            raise ValueError("it must be an object")
        blocks = _blocks(answer)
        if not all(_is_block(block) for block in blocks):
            raise ValueError("its content must be content blocks")
        role, model, stop_reason = answer.get("role"), answer.get("model"), answer.get("stopReason")
        if role not in ("user", "assistant") or not isinstance(model, str) or not isinstance(stop_reason, str | None):
            raise ValueError("its role must be user or assistant, its model and stopReason must be strings")
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
    """Return the ids of the tool uses and tool results in a message."""
    named = [block for block in _blocks(message) if isinstance(block, Mapping)]
    ids = {"tool_use": "id", "tool_result": "toolUseId"}
    return [block.get(ids[block["type"]]) for block in named if block.get("type") in ("tool_use", "tool_result")]


def _conversation_fault(messages: list[Mapping[str, Any]]) -> str | None:
    """Return the reason why messages are invalid (client/sampling, message content constraints), else None."""
    used: list[Any] = []
    for number, message in enumerate(messages):
        where = f"message {number + 1} for the model"
        blocks = _blocks(message)
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
    return "the last message for the model uses a tool without its result" if used else None


class Root(NamedTuple):
    """A directory or file in which the client lets servers work.

    Attributes:
        uri: a `file://` URI.
        name: a display name, or None.
    """

    uri: str
    name: str | None = None


class ListRoots(NamedTuple):
    """A question for the client's roots: the directories in which servers may work."""

    def needs(self) -> str:
        """Return the capability `roots`."""
        return "roots"

    def question(self) -> Question:
        """Return the question in the form for the client."""
        return Question("roots/list", {})

    def parse(self, answer: Any) -> list[Root]:
        """Return the client's roots."""
        roots = answer.get("roots") if isinstance(answer, Mapping) else None
        if not isinstance(roots, list) or not all(_is_root(root) for root in roots):
            raise ValueError("its roots must be a list of objects with a uri")
        return [Root(root["uri"], root.get("name")) for root in roots]


def _is_root(root: object) -> bool:
    return isinstance(root, Mapping) and isinstance(root.get("uri"), str) and isinstance(root.get("name"), str | None)


def declares(client: Client, capability: str) -> bool:
    """Return True if a client declares a capability. An empty `elicitation` capability means forms."""
    name, _, detail = capability.partition(".")
    declared = client.capabilities.get(name)
    if not isinstance(declared, Mapping):
        return False
    if capability == "elicitation.form" and not declared.keys() & {"form", "url"}:
        return True
    return not detail or isinstance(declared.get(detail), Mapping)
