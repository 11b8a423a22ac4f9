"""The definitions of a mounted server's items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pegboard import Context, ToolDefinitionError
from pegboard.plugin import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types import RawResult, ToolkitInfo

if TYPE_CHECKING:
    from pegboard_plugins.upstreams.upstream_lists import RawItem, RawKind
    from pegboard_plugins.upstreams.upstream_server import UpstreamServer


class Mounted:
    """The items of one server, as definitions.

    Args:
        server: the server.
    """

    def __init__(self, server: UpstreamServer) -> None:
        self._server = server

    def definition(self, kind: RawKind, raw: RawItem) -> ToolDefinition | ResourceDefinition | PromptDefinition:
        """Return the definition of an item.

        Raises:
            ToolDefinitionError: the item cannot be served.
        """
        if kind != "tools":
            raise ToolDefinitionError(f"{kind} of mounted servers are not served")
        server, own = self._server, raw["name"]

        async def call(arguments: dict[str, Any], context: Context) -> RawResult:
            async with server.use(context) as client:
                return RawResult(await client.call(own, arguments, meta=server.meta(context)))

        name = server.config.shown_name(server.name, own)
        return ToolDefinition(call, name=name, toolkit=ToolkitInfo(name=server.name, prefix=False), raw=raw)

    async def close(self) -> None:
        """End what calls have left open."""
