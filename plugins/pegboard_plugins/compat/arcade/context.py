"""`Context`, the context of Arcade, as a view of `HostContext`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard import Authorization, Elicited, Progress, ToolDefinitionError
from pegboard import Context as HostContext
from pegboard_plugins.compat.arcade.host_views import Logs, Notifications, Prompts, Resources, Tools, View
from pegboard_plugins.compat.arcade.types import ToolUseContent
from pegboard_plugins.compat.fastmcp.session import ServerSession


class ToolSecretItem(NamedTuple):
    """A secret that a tool requires."""

    key: str
    value: str


class ToolMetadataItem(NamedTuple):
    """Metadata that a tool requires."""

    key: str
    value: str


class Context:
    """The running call.

    Args:
        context: the call.

    Attributes:
        pegboard: the call, as pegboard has it.
        tools: the tools of the host.
        resources: the resources of the host, and the client's roots.
        prompts: the prompts of the host.
        log: log messages.
        sampling: the client's model.
        ui: the user of the client.
    """

    def __init__(self, context: HostContext) -> None:
        self.pegboard = context
        self.tools = Tools(context)
        self.resources = Resources(context)
        self.prompts = Prompts(context)
        self.log = Logs(context)
        self.sampling = Sampling(context)
        self.ui = UI(context)

    # --- values of the call ---

    @property
    def request_id(self) -> str | None:
        """The id of the request."""
        request_id = self.pegboard.request_id
        return None if request_id is None else str(request_id)

    @property
    def session_id(self) -> str | None:
        """The id of the session; None if the request has none."""
        return self.pegboard.session_id

    @property
    def user_id(self) -> str | None:
        """The user for whom the tool runs; None if unknown."""
        return self.pegboard.user_id

    @property
    def authorization(self) -> Authorization | None:
        """The token that the tool requires; None if the tool requires no token."""
        try:
            return self.pegboard.authorization
        except ToolDefinitionError:
            return None

    def get_auth_token_or_empty(self) -> str:
        """Return the token that the tool requires, or ""."""
        return self.pegboard.get_auth_token_or_empty()

    @property
    def secrets(self) -> list[ToolSecretItem]:
        """The secrets that the tool requires."""
        return [ToolSecretItem(key, value) for key, value in self.pegboard.secrets.items()]

    def get_secret(self, key: str) -> str:
        """Return a secret that the tool requires.

        Raises:
            ValueError: the tool does not require the secret, or the secret is not set.
        """
        try:
            return self.pegboard.get_secret(key)
        except ToolDefinitionError as error:
            raise ValueError(error.message) from error

    @property
    def metadata(self) -> list[ToolMetadataItem]:
        """The metadata that the tool requires."""
        return [ToolMetadataItem(key, value) for key, value in self.pegboard.metadata.items()]

    def get_metadata(self, key: str) -> str:
        """Return metadata that the tool requires.

        Raises:
            ValueError: the tool does not require the metadata, or its value is unknown.
        """
        try:
            return self.pegboard.get_metadata(key)
        except ToolDefinitionError as error:
            raise ValueError(error.message) from error

    # --- the client ---

    @property
    def progress(self) -> Progress:
        """The progress of the call."""
        return self.pegboard.progress

    @property
    def notifications(self) -> Notifications:
        """Notifications that a list has changed."""
        return Notifications(self.pegboard)


class Sampling(View):
    """The client's model."""

    async def create_message(
        self,
        messages: Any,
        system_prompt: str | None = None,
        include_context: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        model_preferences: Any = None,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: dict[str, Any] | None = None,
    ) -> Any:
        """Ask the client's model and return the content of its answer: one block, or a list of blocks.

        Args:
            messages: a string, or a list of strings and SamplingMessage objects.
            system_prompt: the system prompt.
            include_context: has no effect.
            temperature: the temperature of the model.
            max_tokens: the size limit of the answer in tokens; 512 by default.
            model_preferences: the name of a preferred model, a list of names, or ModelPreferences.
            tools: tools that the model may call.
            tool_choice: the choice of a tool by the model.

        Raises:
            ClientCapabilityError: the client offers no model.
        """
        answer = await ServerSession(self._context).create_message(
            [messages] if isinstance(messages, str) else messages,
            max_tokens=max_tokens or 512,
            system_prompt=system_prompt,
            temperature=temperature,
            model_preferences=model_preferences,
            tools=tools,
            tool_choice=tool_choice,
        )
        content = answer.content
        return [_block(part) for part in content] if isinstance(content, list) else _block(content)


class UI(View):
    """The user of the client."""

    async def elicit(
        self,
        message: str,
        schema: Mapping[str, Any] | None = None,
        mode: str | None = None,
        url: str | None = None,
        elicitation_id: str | None = None,
        timeout: float = 300.0,  # noqa: ASYNC109 - the host cancels the question at the client
    ) -> Elicited[Any]:
        """Ask the user to fill in a form, or to open a page.

        Args:
            message: the reason, for the user.
            schema: the JSON Schema of the form; None to ask only for consent.
            mode: "form" or "url".
            url: the page, for the mode "url".
            elicitation_id: has no effect. The host creates the id.
            timeout: the seconds to wait for the answer.

        Raises:
            ValueError: the mode "url" is given a schema or no page.
            ClientCapabilityError: the client cannot show the question.
        """
        if mode != "url":
            answer: Elicited[Any] = await self._context.ui.elicit(message, schema or None, timeout=timeout)
            return answer
        if url is None or schema is not None:
            raise ValueError('the mode "url" requires a url and no schema: remove the schema, or use the mode "form"')
        return await self._context.ui.elicit_url(message, url, timeout=timeout)


def _block(block: Any) -> Any:
    return ToolUseContent(**block.json_object()) if block.type == "tool_use" else block
