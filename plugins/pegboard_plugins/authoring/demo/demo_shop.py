"""The server of `pegboard demo`, as the text of a file that the user can keep."""

SHOP = '''\
from typing import Literal

from pegboard import Context, Toolkit

kit = Toolkit("shop")
PRICES = {"honey": 9, "tea": 4}


@kit.tool
def price(product: Literal["honey", "tea"], amount: int = 1) -> int:
    """Tell the price of a product."""
    return PRICES[product] * amount


@kit.tool
async def order(context: Context, product: Literal["honey", "tea"]) -> str:
    """Order a product, after asking for a name."""
    name = await context.ui.elicit("A name for the parcel?", str)
    return f"{product} for {name.content}" if name.accepted else "no order"


@kit.tool
async def pack(context: Context, parcels: int) -> str:
    """Pack parcels."""
    for parcel in range(parcels):
        context.progress.report(parcel + 1, total=parcels, message=f"parcel {parcel + 1} is packed")
    return f"{parcels} parcels are ready"


@kit.tool
def stock() -> int:
    """Count the products in stock."""
    raise ConnectionError("cannot connect to postgres://shop:s3cret@db.internal/stock")
'''
