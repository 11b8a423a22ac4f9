"""`ServerSession`: the session of a running call, with the methods that tools use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import TypeAdapter

from pegboard import Context as HostContext
from pegboard_plugins.compat.fastmcp.types import (
    ContentBlock,
    CreateMessageResult,
    ListRootsResult,
    Object,
    Root,
    plain,
)


class ServerSession:
    """The session of a running call.

    Args:
        context: the call.
    """

    def __init__(self, context: HostContext) -> None:
        self._context = context

    async def create_message(
        self,
        messages: Sequence[Any],
        *,
        max_tokens: int = 512,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        model_preferences: Any = None,
        tools: Sequence[Any] | None = None,
        tool_choice: Any = None,
        **_: Any,
    ) -> CreateMessageResult:
        """Ask the client's model and return its answer.

        Raises:
            ClientCapabilityError: the client offers no model.
        """
        answer = await self._context.sampling.create_message(
            [plain(message) for message in messages],
            max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            metadata=metadata,
            model_preferences=preferences(model_preferences),
            tools=None if tools is None else [plain(tool) for tool in tools],
            tool_choice=None if tool_choice is None else plain(tool_choice),
        )
        blocks = [_block(part) for part in answer.content]
        content = blocks[0] if len(blocks) == 1 else blocks
        return CreateMessageResult(
            role="assistant", content=content, model=answer.model, stop_reason=answer.stop_reason
        )

    async def list_roots(self) -> ListRootsResult:
        """Return the client's roots.

        Raises:
            ClientCapabilityError: the client does not declare roots.
        """
        roots = await self._context.resources.list_roots()
        return ListRootsResult(roots=[Root(uri=root.uri, name=root.name) for root in roots])

    async def send_log_message(self, level: Any, data: Any, logger: str | None = None, **_: Any) -> None:
        """Send a log message to the client."""
        await self._context.log.log(level, data)

    async def send_progress_notification(
        self,
        progress_token: str | int,
        progress: float,
        total: float | None = None,
        message: str | None = None,
        **_: Any,
    ) -> None:
        """Report the progress of the call. The host adds the progress token of the request."""
        await self._context.progress.report(progress, total, message)

    report_progress = send_progress_notification

    async def send_tool_list_changed(self) -> None:
        """Notify clients that the list of tools has changed."""
        self._context.notifications.tools.list_changed()

    async def send_resource_list_changed(self) -> None:
        """Notify clients that the list of resources has changed."""
        self._context.notifications.resources.list_changed()

    async def send_prompt_list_changed(self) -> None:
        """Notify clients that the list of prompts has changed."""
        self._context.notifications.prompts.list_changed()

    async def send_resource_updated(self, uri: object) -> None:
        """Notify subscribers that the content of a resource has changed."""
        self._context.notifications.resources.updated(str(uri))

    async def send_elicit_complete(self, elicitation_id: str) -> None:
        """Notify the client that the page of an elicitation by URL is done."""
        params = {"elicitationId": elicitation_id}
        await self._context.send_notification("notifications/elicitation/complete", params)

    def check_client_capability(self, capability: Any) -> bool:
        """Return True if the client declares the capabilities that are set in a ClientCapabilities object."""
        declared = self._context.client.capabilities
        return all(name in declared for name, value in plain(capability).items() if value is not None)


def preferences(value: Any) -> Mapping[str, Any] | None:
    """Return MCP ModelPreferences: of the name of a model, a list of names, or a ModelPreferences object."""
    if value is None:
        return None
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list):
        return {"hints": [{"name": name.value if isinstance(name, Enum) else name} for name in names]}
    members: Mapping[str, Any] = plain(value)
    return members


def _block(block: Any) -> Any:
    kinds = ("text", "image", "audio")
    return TypeAdapter(ContentBlock).validate_python(block) if block["type"] in kinds else Object(**block)
