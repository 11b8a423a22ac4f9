from enum import Enum

from typing_extensions import NotRequired, TypedDict


class Currency(str, Enum):  # noqa: UP042 - as in published toolkits
    EURO = "EUR"
    YEN = "JPY"


class Entry(TypedDict):
    number: int
    """The number of the entry."""

    amount: float
    currency: str
    note: NotRequired[str]
