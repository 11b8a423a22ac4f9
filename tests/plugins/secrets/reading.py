"""A toolkit whose tool reads one secret."""

from __future__ import annotations

from pegboard import Context, Toolkit


def reading_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["API_KEY"])
    def read(context: Context) -> str:
        """Read the secret."""
        return context.get_secret("API_KEY")

    return kit
