"""The toolkit, the types of its numbers, and their precision."""

from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Annotated, Any, TypeVar

from pydantic import Field

from pegboard import RetryableToolError, ToolAnnotations, Toolkit

F = TypeVar("F", bound=Callable[..., Any])

MAX_DIGITS = 1000
"""The maximum number of digits of an exact result."""
DIGITS = 50
"""The number of significant digits of an inexact result, such as 1/3."""

Number = Annotated[Decimal, Field(allow_inf_nan=False)]
"""A decimal. Numbers in strings keep every digit."""

_FAULTS = [DivisionByZero, InvalidOperation, Overflow]
_EXACT = Context(prec=MAX_DIGITS, traps=[*_FAULTS, Inexact])

kit = Toolkit(
    "math",
    title="Arithmetic",
    description="Arithmetic with exact decimals, whole numbers, statistics and trigonometry.",
)


def calculates(title: str) -> Callable[[F], F]:
    """Register a short calculation as a tool that runs without a thread."""
    annotations = ToolAnnotations(read_only=True, idempotent=True, open_world=False)
    return kit.tool(title=title, annotations=annotations, inline=True)


def exactly(operation: Callable[[Context], Decimal]) -> Decimal:
    """Return the exact result of an operation.

    Raises:
        RetryableToolError: the result has too many digits, or does not exist.
    """
    return _told(operation, _EXACT)


def rounded(operation: Callable[[Context], Decimal], digits: int = DIGITS) -> Decimal:
    """Return the result of an operation, rounded to a number of significant digits.

    Raises:
        RetryableToolError: the result does not exist.
    """
    return _told(operation, Context(prec=digits, traps=_FAULTS))


def _told(operation: Callable[[Context], Decimal], context: Context) -> Decimal:
    try:
        return _plain(operation(context))
    except DecimalException as error:
        raise RetryableToolError(_WORDS[type(error)]) from None


_WORDS: dict[type[DecimalException], str] = {
    DivisionByZero: "Division by zero is undefined: use another divisor or base.",
    InvalidOperation: "The result is undefined or not a real number: use other arguments.",
    Overflow: "The result is too large: use smaller numbers.",
    Inexact: f"The exact result has more than {MAX_DIGITS:,} digits: use shorter numbers.",
}


def _plain(number: Decimal) -> Decimal:
    """Return the number without trailing zeros and exponent: 3 instead of 3.00 or 3E+0."""
    if not number:
        return Decimal(0)
    stripped = number.normalize(_EXACT)
    exponent = stripped.as_tuple().exponent
    assert isinstance(exponent, int)  # infinity and NaN are refused earlier
    return stripped.quantize(Decimal(1), context=_EXACT) if 0 < exponent <= DIGITS else stripped
