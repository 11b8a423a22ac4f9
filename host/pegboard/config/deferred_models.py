"""Classes of settings that become pydantic models on first need.

Importing pydantic takes a quarter of the start of a host, and most settings keep their defaults. A class is deferred if
its module has `from __future__ import annotations`, if pydantic is not imported yet, and if the class has only plain
methods, validators and fields. All other classes are models at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args, get_origin

from pegboard.config.lazy_pydantic import DeferredCall, NamesWithoutPydantic, evaluated, is_pydantic_imported
from pegboard.records import NamedTuple

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationInfo
    from pydantic.fields import FieldInfo

_M = TypeVar("_M", bound="BaseModel")
_T = TypeVar("_T")
_OPTIONS = {"ge", "gt", "le", "lt", "min_length", "max_length", "pattern", "description"}
_MEMBERS = {
    "__annotations__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__orig_bases__",
    "__qualname__",
    "__repr__",
    "__static_attributes__",
}


class DeferredField(NamedTuple):
    """A field of a class that is not a model yet.

    Attributes:
        annotation: its type, without Annotated.
        metadata: the metadata of Annotated.
        default: its default; `...` if it is required.
        alias: None, because a class with aliases is not deferred.
    """

    annotation: Any
    metadata: tuple[Any, ...]
    default: Any
    alias: None = None


class DeferredModel(type):
    """The type of a class that is not a model yet. The model is made when one of its attributes is read."""

    _given: dict[str, Any]
    _model: type[BaseModel] | None
    _fields: dict[str, DeferredField]

    def __new__(cls, name: str, bases: tuple[type, ...], given: dict[str, Any], **options: Any) -> Any:
        """Return a class, or a model if its creation cannot be deferred."""
        if bases and (options or not _is_deferrable(bases, given)):
            return _as_model(name, bases, given, options)
        fields = given.get("__annotations__", {}) if bases else {}
        members = ((key, value) for key, value in given.items() if key not in fields)
        kept = {key: value.method if isinstance(value, DeferredCall) else value for key, value in members}
        made = super().__new__(cls, name, bases, kept)
        made._given, made._model, made._fields = given, None, {}
        return made

    def __init__(cls, *_: Any, **__: Any) -> None: ...

    @property
    def model(cls) -> type[BaseModel]:
        """The model."""
        if cls._model is None:
            is_base = cls.__bases__ == (object,)
            cls._model = _plugin_config() if is_base else _as_model(cls.__name__, cls.__bases__, cls._given, {})
        return cls._model

    @property
    def texts(cls) -> Mapping[str, str]:
        """The annotation of each field."""
        texts: Mapping[str, str] = cls._given.get("__annotations__", {})
        return texts

    def field(cls, name: str) -> DeferredField:
        """Return a field with its evaluated annotation, which stays a string if one of its names is missing."""
        if name not in cls._fields:
            annotation = evaluated(cls.texts[name], NamesWithoutPydantic(vars(sys.modules[cls.__module__])))
            metadata: list[Any] = []
            if get_origin(annotation) is Annotated:
                annotation, *metadata = get_args(annotation)
            cls._fields[name] = DeferredField(annotation, tuple(metadata), cls.default(name))
        return cls._fields[name]

    def default(cls, name: str) -> Any:
        """Return the default of a field, or `...` if it is required. No two settings share it if it is mutable."""
        value = cls._given.get(name, ...)
        if isinstance(value, DeferredCall):
            value = value.options.get("default", value.arguments[0])
        return deepcopy(value)

    def options(cls, name: str) -> Iterator[tuple[str, Any]]:
        """Yield the options of `Field` for a field, in its Annotated and in its default."""
        for one in (*cls.field(name).metadata, cls._given.get(name)):
            if isinstance(one, DeferredCall):
                yield from one.options.items()

    def validators(cls, name: str) -> list[DeferredCall]:
        """Return the validators of a field, in the order of their definition."""
        calls = [one for one in cls._given.values() if isinstance(one, DeferredCall) and one.name == "field_validator"]
        return [one for one in calls if name in one.arguments or "*" in one.arguments]

    def settings(cls, values: Mapping[str, Any]) -> Any:
        """Return settings with these values and the defaults of the other fields.

        Fields are not validated.

        Raises:
            ValueError, AssertionError: a validator of the whole model rejects the settings.
        """
        fields = {name: values[name] if name in values else cls.default(name) for name in cls.texts}
        made = _settings(cls, fields, frozenset(values))
        for one in cls._given.values():
            if isinstance(one, DeferredCall) and one.name == "model_validator":
                made = one.method(made)
        return made

    def __getattr__(cls, name: str) -> Any:
        """Return an attribute of the model."""
        if not name.startswith("model_"):
            raise AttributeError(name)
        return getattr(cls.model, name)

    def __call__(cls, *arguments: Any, **values: Any) -> Any:
        """Return validated settings."""
        return cls.model(*arguments, **values)

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls in type(instance).__mro__ or (cls._model is not None and isinstance(instance, cls._model))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return cls in subclass.__mro__ or (cls._model is not None and issubclass(subclass, cls._model))

    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler(cls.model)


def folder_of(info: ValidationInfo) -> Path:
    """Return the base folder of relative paths in a field; see `PluginConfig.folder_of`."""
    context = info.context or {}
    folder: Path = context.get("folders", {}).get(info.field_name, context.get("directory", Path()))
    return folder


class DeferredSettings(metaclass=DeferredModel):
    """The base class of settings that are not models yet. They work as settings of the model."""

    __slots__ = ("__dict__", "__weakref__", "_fields_set")
    if TYPE_CHECKING:
        _fields_set: frozenset[str]

    folder_of = staticmethod(folder_of)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The model as soon as pydantic is imported, so that `isinstance` finds its base classes."""
        return type(self).model if is_pydantic_imported() else type(self)

    def _validated(self) -> BaseModel:
        """Return the same settings as an object of the model."""
        values = vars(self)
        fields = {name: values[name] for name in type(self).texts}
        return type(self).model.model_construct(set(self._fields_set), **fields)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._validated(), name, value)  # raises the error of pydantic

    def __delattr__(self, name: str) -> None:
        delattr(self._validated(), name)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("model_", "__pydantic_")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._validated(), name)

    def __eq__(self, other: object) -> bool:
        is_deferred = DeferredSettings in type(other).__mro__  # isinstance would compare with the model
        same: bool = self._validated() == (cast("Any", other)._validated() if is_deferred else other)
        return same

    def __hash__(self) -> int:
        return hash(self._validated())

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._validated())

    def __reduce__(self) -> Any:
        return _settings, (type(self), vars(self), self._fields_set)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._shown())})"

    def __str__(self) -> str:
        return " ".join(self._shown())

    def _shown(self) -> Iterator[str]:
        return (f"{name}={vars(self)[name]!r}" for name in type(self).texts)


def _settings(kind: Any, values: Mapping[str, Any], fields_set: frozenset[str]) -> Any:
    made = object.__new__(kind)
    object.__setattr__(made, "_fields_set", fields_set)
    vars(made).update(values)
    return made


class SettingsBase:
    """The base class for settings of a plugin or toolkit. Unknown keys are errors. Settings are immutable.

    A module with `from __future__ import annotations` may use `from pegboard.plugin import pydantic` and
    `pydantic.Field`, `pydantic.field_validator` and `pydantic.model_validator`, instead of importing pydantic. The host
    then imports pydantic only for values that need it, and starts faster. The settings work in the same way.
    """

    # a class statement replaces this object by a model, or by a class that becomes a model

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        # types of an enclosing function could not be found later
        is_local = sys._getframe(1).f_code.co_name != "<module>"
        return (_plugin_config() if is_pydantic_imported() or is_local else DeferredSettings,)

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


def _is_deferrable(bases: tuple[type, ...], given: Mapping[str, Any]) -> bool:
    """Return True if a class has only methods and fields that pydantic need not see before a value is validated."""
    fields: Mapping[str, Any] = given.get("__annotations__", {})
    return (
        not is_pydantic_imported()
        and bases == (DeferredSettings,)
        and given["__module__"] in sys.modules
        and all(isinstance(text, str) and not _is_constant(text) and name[0] != "_" for name, text in fields.items())
        and all(_is_simple(name, member) for name, member in given.items() if name not in fields)
        and all(one.options.keys() <= _OPTIONS for one in map(given.get, fields) if isinstance(one, DeferredCall))
    )


def _is_constant(annotation: str) -> bool:
    return "ClassVar" in annotation or "Final" in annotation


def _is_simple(name: str, member: object) -> bool:
    """Return True for a validator or method that pydantic does not call, and no method of this module needs."""
    if name.startswith("__"):
        return name in _MEMBERS
    if isinstance(member, DeferredCall):
        return member.name == "field_validator" or _is_after_fields(member)
    is_free = not hasattr(DeferredModel, name) and not name.startswith("model_")
    return is_free and isinstance(member, FunctionType | classmethod | staticmethod | property)


def _is_after_fields(call: DeferredCall) -> bool:
    """Return True for a validator of the whole model that needs only the validated settings."""
    method = call.method
    return call.options == {"mode": "after"} and isinstance(method, FunctionType) and method.__code__.co_argcount == 1


def _as_model(
    name: str, bases: tuple[type, ...], given: Mapping[str, Any], options: Mapping[str, Any]
) -> type[BaseModel]:
    base = _plugin_config()
    members = {key: one.result() if isinstance(one, DeferredCall) else one for key, one in given.items()}
    if module := sys.modules.get(given["__module__"]):
        names = _Models(vars(module))
        texts: Mapping[str, Any] = given.get("__annotations__", {})
        members["__annotations__"] = {key: evaluated(text, names) for key, text in texts.items()}
    models = tuple(one.model if isinstance(one, DeferredModel) else one for one in bases)
    metaclass: Any = type(base)
    model: type[BaseModel] = metaclass(name, models, members, **options)
    return model


class _Models(dict[str, Any]):
    """The names of a module, with models in place of deferred classes."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value.model if isinstance(value, DeferredModel) else value


def deferred(model: Any) -> DeferredModel | None:
    """Return a class that is not a model yet, or None for a model."""
    return model if isinstance(model, DeferredModel) else None


def model_of(settings: type[_M]) -> type[_M]:
    """Return the model of a class of settings."""
    found: Any = deferred(settings)
    return settings if found is None else found.model


def is_model(value: object) -> bool:
    """Return True for a model, for a class that is not a model yet, and for the base class of settings."""
    if deferred(value) is not None or isinstance(value, SettingsBase):
        return True
    return is_pydantic_imported() and isinstance(value, type) and issubclass(value, sys.modules["pydantic"].BaseModel)


def constructed(model: type[_M], values: Mapping[str, Any]) -> _M:
    """Return settings with these values, which are not validated, and the defaults of the other fields.

    Raises:
        ValueError, AssertionError: a validator of the whole model rejects the settings.
    """
    found = deferred(model)
    settings: _M = model.model_construct(**values) if found is None else found.settings(values)
    return settings


def marked_fields(model: type[BaseModel], mark: type[_T]) -> Iterator[tuple[str, FieldInfo | DeferredField, _T]]:
    """Yield the name of each field that has a mark, the field and the mark."""
    if (found := deferred(model)) is None:
        fields: Iterable[tuple[str, Any]] = model.model_fields.items()
    else:
        fields = ((name, found.field(name)) for name in found.texts)
    for name, field in fields:
        for one in field.metadata:
            if isinstance(one, mark):
                yield name, field, one
