"""The recorded body of a class of settings, from which pydantic makes a model later."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from threading import RLock
from types import FunctionType, new_class
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, get_args, get_origin

from pegboard.config.lazy_pydantic import PydanticInAnnotations, Recorded
from pegboard.records import NamedTuple

if TYPE_CHECKING:
    from pydantic import BaseModel

_LIMITS = {"ge", "gt", "le", "lt", "min_length", "max_length", "pattern"}
_OPTIONS = _LIMITS | {"default", "description"}
_MEMBERS = {
    *("__annotations__", "__doc__", "__firstlineno__", "__module__"),
    *("__orig_bases__", "__qualname__", "__static_attributes__"),
}
"""The members with two underscores that a class statement makes."""
_building = RLock()
"""Held while a model is made. Two models of one class would reject each other's objects."""


class DeferredField(NamedTuple):
    """A field of a class that is not a model yet.

    Attributes:
        annotation: its type, without Annotated.
        metadata: the metadata of Annotated, without calls of `Field`.
        limits: the limits in all its calls of `Field`, such as `("ge", 1)`.
        default: its default; `...` if it is required.
        alias: None, because a class with aliases is not deferred.
    """

    annotation: Any
    metadata: tuple[Any, ...]
    limits: tuple[tuple[str, Any], ...]
    default: Any
    alias: None = None


class ClassBody:
    """The body of a class of settings.

    Attributes:
        name: the name of the class.
        members: its members; calls of pydantic are recorded.
        names: the names of its module.
        annotations: the annotation of each field, a string.
        methods: its members without the fields.
        field_validators: the validators of fields, in the order of their definition.
        model_validators: the validators of the whole model.
        made: the model; None if it is not made yet.
    """

    def __init__(self, name: str, members: Mapping[str, Any], names: Mapping[str, Any]) -> None:
        self.name = name
        self.members = members
        self.names = names
        self.annotations: Mapping[str, str] = members.get("__annotations__", {})
        others = {key: one for key, one in members.items() if key not in self.annotations}
        recorded = [one for one in others.values() if isinstance(one, Recorded)]
        self.methods = {key: one.method if isinstance(one, Recorded) else one for key, one in others.items()}
        self.field_validators = [one for one in recorded if one.name == "field_validator"]
        self.model_validators = [one for one in recorded if one.name == "model_validator"]
        self.made: type[BaseModel] | None = None

    def is_deferrable(self) -> bool:
        """Return True if pydantic need not see a field or method before it validates a value."""
        for name, text in self.annotations.items():
            if name.startswith("_") or "ClassVar" in text or "Final" in text:
                return False
        return all(_is_deferrable_member(name, self.members[name]) for name in self.methods)

    def is_readable(self) -> bool:
        """Return True if the fields can be known without pydantic."""
        try:
            return self.fields is not None
        except Exception:  # noqa: BLE001 - code of the class, and its model reports the problem
            return False

    @cached_property
    def fields(self) -> Mapping[str, DeferredField]:
        """The fields of a class that is readable."""
        kinds = self._evaluated(pydantic=PydanticInAnnotations())
        return {name: _field(kind, self.members.get(name, ...)) for name, kind in kinds.items()}

    @property
    def model(self) -> type[BaseModel]:
        """The model, which pickle finds as an attribute of the deferred class."""
        with _building:
            if self.made is None:
                from pegboard.config.plugin_config import PluginConfig

                members = {**self.members, "__qualname__": f"{self.name}.{self.name}"}
                self.made = ClassBody(self.name, members, self.names).build(PluginConfig)
        return self.made

    def build(self, *bases: type, **options: Any) -> type[BaseModel]:
        """Let pydantic make a model with these base classes and options."""
        members = {key: one.result() if isinstance(one, Recorded) else one for key, one in self.members.items()}
        with suppress(NameError):  # pydantic reports a missing name
            members["__annotations__"] = self._evaluated()
        model: type[BaseModel] = new_class(self.name, bases, options, lambda namespace: namespace.update(members))
        return model

    def _evaluated(self, **replaced: Any) -> dict[str, Any]:
        names = {**self.names, **self.methods, **replaced}
        return {name: eval(text, names) for name, text in self.annotations.items()}  # noqa: S307 - code of the class


def _field(annotation: Any, value: Any) -> DeferredField:
    kind, *metadata = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if isinstance(kind, str | ForwardRef):
        raise TypeError("pydantic evaluates an annotation in quotes")
    calls = [one for one in (*metadata, value) if isinstance(one, Recorded)]
    options = [pair for call in calls for pair in call.options.items()]
    if any(name not in _OPTIONS for name, _ in options):
        raise ValueError("only pydantic knows this option")
    if isinstance(value, Recorded):
        value = value.arguments[0] if value.arguments else value.options.get("default", ...)
    marks = tuple(one for one in metadata if not isinstance(one, Recorded))
    return DeferredField(kind, marks, tuple(pair for pair in options if pair[0] in _LIMITS), value)


def _is_deferrable_member(name: str, member: object) -> bool:
    """Return True for a method or a validator that needs only validated values."""
    if name.startswith("__"):
        return name in _MEMBERS
    if isinstance(member, Recorded) and member.options in ({}, {"mode": "after"}):
        method = member.method
        if member.name == "field_validator":
            return isinstance(method, classmethod)
        return isinstance(method, FunctionType) and method.__code__.co_argcount == 1
    return not name.startswith("model_") and isinstance(member, FunctionType | classmethod | staticmethod | property)
