"""Answers of elicitations, with the class names of FastMCP and the official SDK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

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


ElicitationResult: TypeAlias = AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation


def elicitation_result(answer: Elicited[Any]) -> ElicitationResult[Any]:
    """Return the answer of a user as an object of its class."""
    if answer.action == "accept":
        return AcceptedElicitation(answer.content)
    return DeclinedElicitation() if answer.action == "decline" else CancelledElicitation()
