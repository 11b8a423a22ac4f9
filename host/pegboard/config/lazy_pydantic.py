"""Pydantic for classes of settings, imported when a class becomes a model.

Annotations are evaluated with the names of the module of their class, as pydantic does. Values of settings are not
evaluated.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pydantic as pydantic  # noqa: PLC0414 - exported again

_FUTURE_ANNOTATIONS = 0x1000000
"""The flag of code after `from __future__ import annotations`."""


class DeferredCall:
    """A call of a function of pydantic, which is made when the class becomes a model.

    Args:
        name: "Field", "field_validator" or "model_validator".
        arguments: its arguments.
        options: its keyword arguments.
        method: the decorated method.
    """

    def __init__(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any], method: Any = None) -> None:
        self.arguments = arguments
        self.options = options
        self.name = name
        self.method = method

    def around(self, method: Any) -> Any:
        """Return the call with the method that it decorates."""
        return _now_or_later(DeferredCall(self.name, self.arguments, self.options, method))

    def result(self) -> Any:
        """Make the call."""
        result = getattr(import_module("pydantic"), self.name)(*self.arguments, **self.options)
        return result if self.method is None else result(self.method)


def _now_or_later(call: DeferredCall) -> Any:
    return call.result() if is_pydantic_imported() else call


def is_pydantic_imported() -> bool:
    """Return True if models can be defined without another import."""
    return "pydantic" in sys.modules


class _Pydantic:
    """Pydantic, imported when it is needed. `Field` and validators need it when the class becomes a model."""

    def Field(self, default: Any = ..., **options: Any) -> Any:  # noqa: N802 - its name in pydantic
        call = DeferredCall("Field", (default,), options)
        # pydantic, not this module, reads fields in annotations that are not strings and in names of a module
        return _now_or_later(call) if _is_class_body(sys._getframe(1)) else call.result()

    def field_validator(self, *fields: str, **options: Any) -> Any:
        return DeferredCall("field_validator", fields, options).around

    def model_validator(self, **options: Any) -> Any:
        return DeferredCall("model_validator", (), options).around

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("pydantic"), name)


if not TYPE_CHECKING:
    pydantic = _Pydantic()


class _StandIn:
    """A type of pydantic in an annotation that is evaluated before pydantic is imported."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return super().__new__(cls)

    def __class_getitem__(cls, _: Any) -> Any:
        return cls


class _Types:
    """Stands for pydantic in such an annotation."""

    def Field(self, default: Any = ..., **options: Any) -> DeferredCall:  # noqa: N802 - its name in pydantic
        return DeferredCall("Field", (default,), options)

    def __getattr__(self, name: str) -> Any:
        return type(name, (_StandIn,), {})


class NamesWithoutPydantic(dict[str, Any]):
    """The names of a module, without pydantic."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return _Types() if value is pydantic else value


def _is_class_body(frame: FrameType) -> bool:
    """Return True for the body of a class whose annotations are strings."""
    return bool(frame.f_code.co_flags & _FUTURE_ANNOTATIONS) and "__qualname__" in frame.f_locals


def evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    """Return the value of an annotation, or the annotation if one of its names is missing."""
    try:
        return eval(annotation, {}, names) if isinstance(annotation, str) else annotation  # noqa: S307 - code of the class
    except NameError:  # pydantic reports it
        return annotation
