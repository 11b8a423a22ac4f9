"""A tool calls others for the same caller, with the same checks and middleware as anybody's call.

$ pegboard call --file tool_chaining.py shop_total basket:='{"apple": 2, "pear": 1}'
7
$ pegboard call --file tool_chaining.py shop_total basket:='{"fig": 1}'
pegboard: There is no fig here.
"""

from typing import Annotated

from pegboard import Context, ToolExecutionError, Toolkit

PRICES = {"apple": 2, "pear": 3}

kit = Toolkit("shop")


@kit.tool
def price(fruit: str) -> int:
    """Say what a fruit costs."""
    if fruit not in PRICES:
        raise ToolExecutionError(f"There is no {fruit} here.")
    return PRICES[fruit]


@kit.tool
async def total(basket: Annotated[dict[str, int], "how many of each fruit"], context: Context) -> int:
    """Say what a basket of fruit costs."""
    return sum([count * await context.tools.call("shop_price", {"fruit": fruit}) for fruit, count in basket.items()])


if __name__ == "__main__":
    kit.run()
