import decimal
import warnings
from decimal import Decimal
from typing import Annotated

from arcade_tdk import ToolContext
from arcade_tdk.errors import ToolExecutionError
from arcade_tdk.tool import tool

decimal.getcontext().prec = 100
warnings.filterwarnings("ignore", category=ResourceWarning)


@tool
def divide(
    a: Annotated[str, "The dividend"],
    b: Annotated[str, "The divisor"],
) -> Annotated[str, "The quotient"]:
    """
    Divide two numbers
    """
    if b == "0":
        raise ToolExecutionError("The divisor is zero")
    return str(Decimal(a) / Decimal(b))


@tool(name="SumOf", desc="Add numbers", requires_secrets=["SUMS_LIMIT"])
async def add(
    context: ToolContext,
    numbers: Annotated[list[int], "The numbers"],
) -> Annotated[int, "The sum"]:
    from arcade_tdk.errors import RetryableToolError

    if len(numbers) > int(context.get_secret("sums_limit")):
        raise RetryableToolError("Too many numbers", additional_prompt_content="Pass fewer")
    return sum(numbers)


@tool
def compare(
    a: Annotated[float, "A number"], b: Annotated[float, "Another"], strict: Annotated[bool, "Without equality"] = False
) -> Annotated[bool, "Whether the first is larger"]:
    """Compare two numbers."""
    return a > b if strict else a >= b
