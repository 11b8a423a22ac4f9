"""The base class of records, which is created faster and takes less memory than `typing.NamedTuple`.

`typing.NamedTuple` compiles each annotation that is a string, and gives each class its own copy of the common methods.
A start creates a hundred records with a thousand fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FunctionType
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - exported again
    from typing import Self
else:
    from collections import _tuplegetter

    class _Record(tuple):
        """The methods of all records."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            return tuple.__new__(cls, values)

        def _replace(self, /, **changes: Any) -> Self:
            values, fields = list(self), self._fields
            for name, value in changes.items():
                if name not in fields:
                    raise TypeError(f"{type(self).__name__} has no field {name}")
                values[fields.index(name)] = value
            return tuple.__new__(type(self), values)

        __replace__ = _replace

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._asdict().items())})"

    class _RecordType(type):
        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            getters = {field: _tuplegetter(place, None) for place, field in enumerate(fields)}
            names = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
            new = _constructor(name, fields, defaults)
            return type(name, (_Record,), namespace | getters | names | {"__new__": new})

    def _constructor(name: str, fields: tuple[str, ...], defaults: dict[str, Any]) -> FunctionType:
        """Return a `__new__` whose parameters are the fields. One function for all records would be much slower."""
        listed = "".join(f"{field}, " for field in fields)
        code = f"lambda _cls, {listed}: _new(_cls, ({listed}))"
        new: FunctionType = eval(code, {"_new": tuple.__new__, "__builtins__": {}})  # noqa: S307 - names of fields
        new.__defaults__ = tuple(defaults.values())
        new.__name__ = "__new__"
        new.__qualname__ = f"{name}.__new__"
        return new

    class NamedTuple(metaclass=_RecordType):
        """The base class of a record. It works as `typing.NamedTuple`, but cannot be generic."""
