"""A toolkit with a tool that must not act twice."""

from __future__ import annotations

from secrets import token_hex

from pegboard import Context, Toolkit

kit = Toolkit("pay", prefix=False)


@kit.tool
async def pay(context: Context) -> str:
    """Pay once, although a client may repeat its answer."""
    payment = await context.once("payment", token_hex)
    answer = await context.ui.elicit("Pay?")
    if not answer.accepted:
        return "declined"
    return "paid" if await context.once_only(payment) else "paid before"


@kit.tool
async def order(number: str, context: Context) -> bool:
    """Order once."""
    return await context.once_only(number)


@kit.tool
def balance() -> int:
    """Return the balance."""
    return 7
