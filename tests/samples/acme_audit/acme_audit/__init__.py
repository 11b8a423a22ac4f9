"""An audit: a trail of the calls of clients, and tools that only the local user may see."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import Context, MCPError, PluginConfig
from pegboard.plugin import Gate, Middleware, Plugin, ToolDefinition, hookimpl
from pegboard.types import Call, Caller, CallNext, ItemKind, Outcome


class AuditConfig(PluginConfig):
    """`[plugins.acme_audit]`."""

    private: tuple[str, ...] = ()


class Trail(Middleware):
    """Notes every message and how it ended."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        steps = [call.method, *call.path, str(call.params.get("name") or call.params.get("uri") or "")]
        line = " ".join(filter(None, steps))
        self.lines = [*self.lines[-1000:], line]
        try:
            return await call_next(call)
        except MCPError as error:
            self.lines.append(f"{line}: {type(error).__name__}")
            raise


class Private(Gate):
    """Keeps tools from everybody but this machine's user."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return caller.trusted or name not in self.names


class AuditPlugin(Plugin):
    """The trail and a tool that reads it."""

    Config = AuditConfig

    def __init__(self, config: AuditConfig) -> None:
        super().__init__(config)
        self.trail = Trail()

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [self.trail, Private(self.config.private)]

    @hookimpl
    def register_tools(self) -> Iterable[ToolDefinition]:
        async def audit_trail() -> list[str]:
            """Read the trail."""
            return self.trail.lines

        async def audit_nested(context: Context) -> str:
            """Read the trail by another tool."""
            return str(len(await context.tools.call("audit_trail")))

        return [ToolDefinition(audit_trail), ToolDefinition(audit_nested)]
