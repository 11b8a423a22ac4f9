"""A plugin whose tools change what the plugin offers, while the host runs.

It is copied into a distribution that the process under test finds, and runs where `[host] plugins` names `growing`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pegboard import ResourceContents, ResourceResult
from pegboard.plugin import Plugin, PluginContext, PromptDefinition, ResourceDefinition, ToolDefinition, hookimpl

Kind = Literal["tools", "resources", "prompts"]


class GrowingPlugin(Plugin):
    """The tools `grow` and `shrink`."""

    @hookimpl
    def register_tools(self, context: PluginContext) -> Iterable[ToolDefinition]:
        catalogue = context.catalogue

        def grow(kind: Kind, names: list[str], secret: str = "", scope: str = "") -> list[str]:
            """Offer something under each of these names, all at once."""
            return list(catalogue.add(*(definition(kind, name, secret, scope) for name in names)))

        async def shrink(kind: Kind, names: list[str]) -> None:
            """Offer these no more, all at once."""
            catalogue.remove(kind, *names)

        return [ToolDefinition(grow), ToolDefinition(shrink)]


def definition(
    kind: Kind, name: str, secret: str, scope: str
) -> ToolDefinition | ResourceDefinition | PromptDefinition:
    """Something of a kind; a tool may need a secret, or a scope of its caller."""

    def say() -> str:
        """Say the name."""
        return name

    def say_for_all() -> ResourceResult:
        """Say the name, for everybody to keep for a while."""
        return ResourceResult((ResourceContents(name, name),), ttl_ms=5000, public=True)

    if kind == "resources":
        return ResourceDefinition(name, say_for_all if name.endswith("kept") else say, name="say")
    if kind == "prompts":
        return PromptDefinition(say, name=name)
    return ToolDefinition(
        say, name=name, requires_secrets=(secret,) if secret else (), scopes=(scope,) if scope else ()
    )
