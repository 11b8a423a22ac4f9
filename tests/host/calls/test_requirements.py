"""What a tool requires is looked at before its arguments and before it runs."""

from __future__ import annotations

from pegboard import Context, Toolkit
from tests.host.hosting import failure, make_host


async def test_what_is_required_is_looked_at_first() -> None:
    kit = Toolkit("x")
    ran: list[int] = []

    @kit.tool(requires_secrets=["B", "A"])
    def use(number: int, context: Context) -> None:
        """Use two secrets."""
        ran.append(number)

    async with make_host(kit) as host:
        for arguments in ({"number": 1}, {"number": "wrong"}):
            refused = await failure(host, "x_use", arguments)
            assert refused.error.message == (
                "This tool needs a secret that is not set on the server: A, B. Ask its operator to set it."
            )
    assert ran == []


async def test_a_tool_that_requires_nothing_has_no_requirements() -> None:
    kit = Toolkit("x")

    @kit.tool
    def plain() -> None:
        """Do nothing."""

    async with make_host(kit) as host:
        assert host.assembly.tools["x_plain"].requirements is None
