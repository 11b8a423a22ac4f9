"""A toolkit whose tools take their time."""

import asyncio
from collections.abc import AsyncIterator

from pegboard import Context, Toolkit
from pegboard.plugin import ProtocolError

kit = Toolkit("mill")


@kit.lifespan
async def gates(config: None) -> AsyncIterator[asyncio.Event]:
    yield asyncio.Event()


@kit.tool
async def grind(context: Context, corn: str) -> str:
    """Grind corn, once the water flows."""
    await context.state.wait()
    return f"flour of {corn}"


@kit.tool
async def bake(context: Context, corn: str) -> str:
    """Bake bread of corn that is ground first."""
    return f"bread of {await context.tools.call('mill_grind', {'corn': corn})}"


@kit.tool
async def collapse() -> str:
    """End with an error of the protocol."""
    raise ProtocolError(-32603, "The mill is down.")


@kit.tool
async def open_sluice(context: Context) -> str:
    """Let the water flow."""
    context.state.set()
    return "flowing"
