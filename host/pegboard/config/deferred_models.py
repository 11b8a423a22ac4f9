"""Classes of settings that become pydantic models on first need.

Importing pydantic takes a quarter of the start of a host, and most settings keep their defaults. A class statement with
`PluginConfig` makes a model if pydantic is imported already. Otherwise it makes a deferred class, which keeps its body
(`class_body.py`). Plain values make settings of this class (`plain_values.py`). For other values, and for everything
but attributes and methods of the settings, pydantic makes a model of the body.
"""

from __future__ import annotations
import __future__

import sys
from abc import ABCMeta
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from pegboard.config.class_body import ClassBody, DeferredField
from pegboard.config.lazy_pydantic import is_pydantic_imported

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationInfo
    from pydantic.fields import FieldInfo

_T = TypeVar("_T")


class DeferredModel(ABCMeta):  # as the type of models, so that abstract classes may be bases
    """The type of a class of settings that is not a model yet."""

    __deferred__: ClassBody

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any], **options: Any) -> Any:
        """Return a deferred class, or a model if a part of the class cannot be deferred."""
        if not bases:
            return super().__new__(cls, name, bases, members)
        body = ClassBody(name, members, sys._getframe(1).f_globals)
        is_usual = bases == (DeferredSettings,) and not options and not is_pydantic_imported()
        if is_usual and body.is_deferrable():
            return super().__new__(cls, name, bases, {**body.methods, "__deferred__": body})
        return body.build(*map(model_of, bases), **options)

    def __getattr__(cls, name: str) -> Any:
        if name == cls.__name__:  # pickle finds the model by its qualified name
            return model_of(cls)
        if not name.startswith("model_"):
            raise AttributeError(name)
        return getattr(model_of(cls), name)

    def __call__(cls, *arguments: Any, **values: Any) -> Any:
        """Return validated settings."""
        return model_of(cls)(*arguments, **values)

    def __instancecheck__(cls, instance: Any) -> bool:
        return issubclass(type(instance), cls)

    def __subclasscheck__(cls, subclass: type) -> bool:
        own = {cls, cls.__deferred__.made}
        return not own.isdisjoint(subclass.__mro__)

    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler.generate_schema(model_of(cls))


def _by_model(name: str) -> Any:
    """Return a method that calls the method of an object of the model."""

    def method(self: DeferredSettings, *arguments: Any) -> Any:
        return getattr(self.__model_object__(), name)(*arguments)

    return method


def folder_of(info: ValidationInfo) -> Path:
    """Return the base folder of relative paths in a field; see `PluginConfig.folder_of`."""
    context = info.context or {}
    folder: Path = context.get("folders", {}).get(info.field_name, context.get("directory", Path()))
    return folder


class DeferredSettings(metaclass=DeferredModel):
    """The base of deferred classes. Their objects have plain values, and work as objects of the model."""

    __slots__ = ("__dict__", "__given__", "__weakref__")
    if TYPE_CHECKING:
        __given__: frozenset[str]

    folder_of = staticmethod(folder_of)

    __eq__ = _by_model("__eq__")
    __hash__ = _by_model("__hash__")
    __iter__ = _by_model("__iter__")
    __repr__ = _by_model("__repr__")
    __str__ = _by_model("__str__")
    __setattr__ = _by_model("__setattr__")  # raises the error of pydantic
    __delattr__ = _by_model("__delattr__")
    __reduce_ex__ = _by_model("__reduce_ex__")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("model_", "__pydantic_")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.__model_object__(), name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The model as soon as pydantic is imported, so that `isinstance` finds its base classes."""
        return model_of(type(self)) if is_pydantic_imported() else type(self)

    def __model_object__(self) -> BaseModel:
        """Return the same settings as an object of the model."""
        fields = {name: vars(self)[name] for name in type(self).__deferred__.annotations}
        settings: BaseModel = model_of(type(self)).model_construct(set(self.__given__), **fields)
        return settings


class SettingsBase:
    """The base class for settings of a plugin or toolkit. Unknown keys are errors. Settings are immutable.

    A module with `from __future__ import annotations` may use `from pegboard.plugin import pydantic` and
    `pydantic.Field`, `pydantic.field_validator` and `pydantic.model_validator`, instead of importing pydantic. The host
    then imports pydantic only for values that need it, and starts faster. The settings work in the same way, with four
    exceptions. `issubclass(Config, pydantic.BaseModel)` is False. A validator that rejects a value runs twice. Methods
    that pydantic has deprecated, such as `dict`, may be missing. A mistake in the class may be reported late, when a
    value needs pydantic.
    """

    # a class statement replaces this object by a model or by the base of deferred classes

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        code = sys._getframe(1).f_code
        has_strings = code.co_flags & __future__.annotations.compiler_flag  # as annotations
        # types of an enclosing function could not be found later
        is_deferrable = has_strings and code.co_name == "<module>" and not is_pydantic_imported()
        return (DeferredSettings if is_deferrable else _plugin_config(),)

    def __getattr__(self, name: str) -> Any:
        return getattr(_plugin_config(), name)

    def __call__(self, **values: Any) -> Any:
        return _plugin_config()(**values)

    def __or__(self, other: Any) -> Any:
        return _plugin_config() | other

    def __instancecheck__(self, instance: Any) -> bool:
        return self.__subclasscheck__(type(instance))

    def __subclasscheck__(self, subclass: type) -> bool:
        is_model = is_pydantic_imported() and issubclass(subclass, _plugin_config())
        return is_model or DeferredSettings in subclass.__mro__


def _plugin_config() -> type[BaseModel]:
    from pegboard.config.plugin_config import PluginConfig

    return PluginConfig


def deferred_settings(settings: type, values: Mapping[str, Any], given: Iterable[str]) -> Any:
    """Return an object of a deferred class.

    Args:
        settings: the class.
        values: the valid value of each field.
        given: the fields whose values are not defaults.
    """
    made: Any = object.__new__(settings)
    object.__setattr__(made, "__given__", frozenset(given))
    vars(made).update(values)
    return made


def deferred_body(settings: Any) -> ClassBody | None:
    """Return the body of a deferred class whose fields are known without pydantic, or None."""
    body = settings.__deferred__ if isinstance(settings, DeferredModel) else None
    return body if body is not None and body.is_readable() else None


def model_of(settings: Any) -> Any:
    """Return the model of a deferred class. Other classes are returned unchanged."""
    if settings is DeferredSettings:
        return _plugin_config()
    return settings.__deferred__.model if isinstance(settings, DeferredModel) else settings


def is_model(value: object) -> bool:
    """Return True for a model, for a deferred class and for the base class of settings."""
    if isinstance(value, DeferredModel | SettingsBase):
        return True
    return is_pydantic_imported() and isinstance(value, type) and issubclass(value, sys.modules["pydantic"].BaseModel)


def marked_fields(
    model: type[BaseModel], mark: type[_T], *, in_parts: bool = False
) -> Iterator[tuple[str, FieldInfo | DeferredField, _T]]:
    """Yield the name of each field that has a mark, the field and the mark.

    Args:
        model: the class of settings.
        mark: the class of the mark.
        in_parts: True to find also marks of parts of a type, such as that of `Marked` in `Marked | None`, and
            of types that aliases name (PEP 695).
    """
    body = deferred_body(model)
    fields: Mapping[str, Any] = model.model_fields if body is None else body.fields
    for name, field in fields.items():
        for one in (*field.metadata, *(_metadata_of_parts(field.annotation) if in_parts else ())):
            if isinstance(one, mark):
                yield name, field, one


def _metadata_of_parts(annotation: Any, outer: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield the metadata of the parts of a type.

    Args:
        annotation: the type.
        outer: the aliases in which it is. An alias may contain itself.
    """
    alias = get_origin(annotation) or annotation
    parts = get_args(annotation)
    if type(alias).__name__ == "TypeAliasType" and alias not in outer:  # of `typing` or `typing_extensions`
        parts, outer = (*parts, alias.__value__), (*outer, alias)
    for part in parts:
        yield from getattr(part, "__metadata__", ())
        yield from _metadata_of_parts(part, outer)
