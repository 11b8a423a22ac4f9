"""Classes of settings that become pydantic models on first need.

Importing pydantic takes a quarter of the start of a host, and most settings keep their defaults. A class that is
defined after the import of pydantic is a model at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

from pegboard.records import NamedTuple

if TYPE_CHECKING:
    import pydantic as pydantic  # noqa: PLC0414 - exported again
    from pydantic import BaseModel, ValidationInfo
    from pydantic.fields import FieldInfo

_M = TypeVar("_M", bound="BaseModel")
_T = TypeVar("_T")
_LIMITS = {"ge", "gt", "le", "lt", "min_length", "max_length", "pattern"}


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
    return call.result() if _is_pydantic_imported() else call


def _is_pydantic_imported() -> bool:
    """Return True if models can be defined without another import."""
    return "pydantic" in sys.modules


class _Pydantic:
    """Pydantic, imported when it is needed. `Field` and validators need it when the class becomes a model."""

    def Field(self, default: Any = ..., **options: Any) -> Any:  # noqa: N802 - its name in pydantic
        return _now_or_later(DeferredCall("Field", (default,), options))

    def field_validator(self, *fields: str, **options: Any) -> Any:
        return DeferredCall("field_validator", fields, options).around

    def model_validator(self, **options: Any) -> Any:
        return DeferredCall("model_validator", (), options).around

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("pydantic"), name)


if not TYPE_CHECKING:
    pydantic = _Pydantic()


class DeferredModel(type):
    """The type of a class that is not a model yet. The model is made when one of its attributes is read."""

    _given: dict[str, Any]
    _model: type[BaseModel] | None
    _fields: dict[str, DeferredField]

    def __new__(cls, name: str, bases: tuple[type, ...], given: dict[str, Any]) -> Any:
        """Return a class, or a model if its creation cannot be deferred."""
        if bases and not _is_deferrable(bases, given):
            return _as_model(name, bases, given)
        kept = {key: value for key, value in given.items() if not isinstance(value, DeferredCall)}
        made = super().__new__(cls, name, bases, kept)
        made._given, made._model, made._fields = given, None, {}
        return made

    def __init__(cls, *_: Any) -> None: ...

    @property
    def model(cls) -> type[BaseModel]:
        """The model."""
        if cls._model is None:
            is_base = cls.__bases__ == (object,)
            cls._model = _plugin_config() if is_base else _as_model(cls.__name__, cls.__bases__, cls._given)
        return cls._model

    @property
    def texts(cls) -> Mapping[str, str]:
        """The annotation of each field."""
        texts: Mapping[str, str] = cls._given.get("__annotations__", {})
        return texts

    def field(cls, name: str) -> DeferredField:
        """Return a field with its evaluated annotation."""
        if name not in cls._fields:
            annotation = eval(cls.texts[name], vars(sys.modules[cls.__module__]))  # noqa: S307 - code of the class
            metadata: list[Any] = []
            if get_origin(annotation) is Annotated:
                annotation, *metadata = get_args(annotation)
            cls._fields[name] = DeferredField(annotation, tuple(metadata), cls.default(name))
        return cls._fields[name]

    def default(cls, name: str) -> Any:
        """Return the default of a field, or `...` if it is required."""
        value = cls._given.get(name, ...)
        return value.arguments[0] if isinstance(value, DeferredCall) else value

    def limits(cls, name: str) -> Mapping[str, Any]:
        """Return the options of `Field` for a field, in its Annotated and in its default."""
        calls = (one for one in (*cls.field(name).metadata, cls._given.get(name)) if isinstance(one, DeferredCall))
        return {option: value for one in calls for option, value in one.options.items()}

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
        made = super().__call__()
        vars(made).update({name: cls.default(name) for name in cls.texts}, **values)
        for one in cls._given.values():
            if isinstance(one, DeferredCall) and one.name == "model_validator":
                one.method(made)
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
    """The base class of settings that are not models yet. Settings are immutable."""

    folder_of = staticmethod(folder_of)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"settings are immutable: {name}")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("model_"):
            raise AttributeError(name)
        return getattr(type(self).model.model_construct(**vars(self)), name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class SettingsBase:
    """The base class for settings of a plugin or toolkit. Unknown keys are errors. Settings are immutable."""

    # a class statement replaces this object by a model, or by a class that becomes a model

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        # types of an enclosing function could not be found later
        is_local = sys._getframe(1).f_code.co_name != "<module>"
        return (_plugin_config() if _is_pydantic_imported() or is_local else DeferredSettings,)

    def __getattr__(self, name: str) -> Any:
        return getattr(_plugin_config(), name)

    def __call__(self, **values: Any) -> Any:
        return _plugin_config()(**values)

    def __or__(self, other: Any) -> Any:
        return _plugin_config() | other

    def __instancecheck__(self, instance: Any) -> bool:
        return self.__subclasscheck__(type(instance))

    def __subclasscheck__(self, subclass: type) -> bool:
        is_model = _is_pydantic_imported() and issubclass(subclass, _plugin_config())
        return is_model or DeferredSettings in subclass.__mro__


def _plugin_config() -> type[BaseModel]:
    from pegboard.config.plugin_config import PluginConfig

    return PluginConfig


def _is_deferrable(bases: tuple[type, ...], given: Mapping[str, Any]) -> bool:
    """Return True if a class has only methods and fields that pydantic need not see before a value is validated."""
    fields: Mapping[str, Any] = given.get("__annotations__", {})
    return (
        bases == (DeferredSettings,)
        and "__classcell__" not in given
        and given["__module__"] in sys.modules
        and all(isinstance(text, str) and "ClassVar" not in text and name[0] != "_" for name, text in fields.items())
        and all(_is_simple(one) for name, one in given.items() if name not in fields and name[:2] != "__")
        and all(one.options.keys() <= _LIMITS for one in map(given.get, fields) if isinstance(one, DeferredCall))
        and all(_follows_fields(one) for one in given.values() if isinstance(one, DeferredCall))
    )


def _follows_fields(call: DeferredCall) -> bool:
    """Return False for a validator of a whole model that runs before the validation of its fields."""
    return call.name != "model_validator" or call.options == {"mode": "after"}


def _is_simple(member: object) -> bool:
    return isinstance(member, FunctionType | classmethod | staticmethod | property | DeferredCall)


def _as_model(name: str, bases: tuple[type, ...], given: Mapping[str, Any]) -> type[BaseModel]:
    base = _plugin_config()
    members = {key: one.result() if isinstance(one, DeferredCall) else one for key, one in given.items()}
    if module := sys.modules.get(given["__module__"]):
        names = _Models(vars(module))
        texts: Mapping[str, Any] = given.get("__annotations__", {})
        members["__annotations__"] = {key: _evaluated(text, names) for key, text in texts.items()}
    models = tuple(one.model if isinstance(one, DeferredModel) else one for one in bases)
    metaclass: Any = type(base)
    model: type[BaseModel] = metaclass(name, models, members)
    return model


class _Models(dict[str, Any]):
    """The names of a module, with models in place of deferred classes."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value.model if isinstance(value, DeferredModel) else value


def _evaluated(annotation: Any, names: _Models) -> Any:
    try:
        return eval(annotation, {}, names) if isinstance(annotation, str) else annotation  # noqa: S307 - code of the class
    except NameError:  # pydantic reports it
        return annotation


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
    return _is_pydantic_imported() and isinstance(value, type) and issubclass(value, pydantic.BaseModel)


def constructed(model: type[_M], values: Mapping[str, Any]) -> _M:
    """Return settings with these values, which are not validated, and the defaults of the other fields.

    Raises:
        ValueError, AssertionError: a validator of the whole model rejects the settings.
    """
    found = deferred(model)
    settings: _M = model.model_construct(**values) if found is None else found.settings(values)
    return settings


def field_of(model: type[BaseModel], name: str) -> FieldInfo | DeferredField | None:
    """Return a field by its name, or None."""
    if (found := deferred(model)) is None:
        return model.model_fields.get(name)
    return found.field(name) if name in found.texts else None


def marked_fields(model: type[BaseModel], mark: type[_T]) -> Iterator[tuple[str, FieldInfo | DeferredField, _T]]:
    """Yield the name of each field that has a mark, the field and the mark."""
    if (found := deferred(model)) is None:
        fields: Iterable[tuple[str, Any]] = model.model_fields.items()
    else:
        # types of pydantic are not marks, and their evaluation imports pydantic
        texts = (name for name, text in found.texts.items() if "pydantic." not in text or mark.__name__ in text)
        fields = ((name, found.field(name)) for name in texts)
    for name, field in fields:
        for one in field.metadata:
            if isinstance(one, mark):
                yield name, field, one
