"""`pydantic` for modules with settings. The body of a class uses fields and validators without its import."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pegboard.records import NamedTuple

if TYPE_CHECKING:
    import pydantic as pydantic  # noqa: PLC0414 - exported again

_RECORDED = ("Field", "field_validator", "model_validator")


class Recorded(NamedTuple):
    """A call of `Field` or of a decorator in the body of a class, which is made with pydantic later.

    Attributes:
        name: the name of the function.
        arguments: its arguments.
        options: its keyword arguments.
        method: the decorated method.
    """

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    method: Any = None

    def __call__(self, method: Any) -> Recorded:
        """Decorate a method."""
        return self._replace(method=method)

    def result(self) -> Any:
        """Make the call."""
        result = getattr(import_module("pydantic"), self.name)(*self.arguments, **self.options)
        return result if self.method is None else result(self.method)


def _record(name: str, *arguments: Any, **options: Any) -> Recorded:
    return Recorded(name, arguments, options)


def is_pydantic_imported() -> bool:
    """Return True if models can be defined without another import."""
    return "pydantic" in sys.modules


class _Pydantic:
    def __getattr__(self, name: str) -> Any:
        """Return a name of pydantic, or a function that records a call in the body of a class."""
        if name in _RECORDED and not is_pydantic_imported() and "__qualname__" in sys._getframe(1).f_locals:
            return partial(_record, name)
        return getattr(import_module("pydantic"), name)


class PydanticInAnnotations:
    """Stands for pydantic while annotations are evaluated before its import."""

    def __getattr__(self, name: str) -> Any:
        """Return the function that records a field, or an empty class in place of a type."""
        return partial(_record, name) if name == "Field" else type(name, (), {})


if not TYPE_CHECKING:
    pydantic = _Pydantic()
