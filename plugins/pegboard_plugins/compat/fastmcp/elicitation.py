"""Answers of elicitations, with the class names of FastMCP and the official SDK."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import Field

from pegboard import Elicited

T = TypeVar("T")


@dataclass
class AcceptedElicitation(Generic[T]):
    """The user filled in the form.

    Attributes:
        data: the content of the form, in the type of the schema.
    """

    data: T
    action: Literal["accept"] = "accept"


@dataclass
class DeclinedElicitation:
    """The user refused."""

    action: Literal["decline"] = "decline"
    data: None = None


@dataclass
class CancelledElicitation:
    """The user closed the form without a choice."""

    action: Literal["cancel"] = "cancel"
    data: None = None


def answer_type(kind: Any) -> Any:
    """Return the type of an answer.

    Args:
        kind: a type, a list of choices, or a dict of choices with their titles. In a list, the user may make several.
    """
    if isinstance(kind, dict):
        titled: Any = (
            Annotated[Literal[value], Field(title=about.get("title", value))] for value, about in kind.items()
        )
        return reduce(or_, titled)
    if not isinstance(kind, list):
        return kind
    several: Any = list
    return several[answer_type(kind[0])] if kind and isinstance(kind[0], list | dict) else Literal[tuple(kind)]


ElicitationResult: TypeAlias = AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation


def elicitation_result(answer: Elicited[Any]) -> ElicitationResult[Any]:
    """Return the answer of a user as an object of its class."""
    if answer.action == "accept":
        return AcceptedElicitation(answer.content)
    return DeclinedElicitation() if answer.action == "decline" else CancelledElicitation()
