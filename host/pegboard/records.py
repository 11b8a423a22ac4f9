"""The base class of records, which is created faster than `typing.NamedTuple`.

`typing.NamedTuple` compiles each annotation that is a string. A start creates a hundred records with a thousand fields.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - exported again
else:
    _KEPT_OUT = {"__module__", "__qualname__", "__annotations__", "__orig_bases__"}

    class _RecordType(type):
        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            types = namespace.get("__annotations__", {})
            defaults = [namespace[field] for field in types if field in namespace]
            record = namedtuple(name, types, defaults=defaults, module=namespace["__module__"])  # noqa: PYI024
            record.__annotations__ = types
            for key, value in namespace.items():
                if key not in types and key not in _KEPT_OUT:
                    setattr(record, key, value)
            return record

    class NamedTuple(metaclass=_RecordType):
        """The base class of a record. It works as `typing.NamedTuple`, but cannot be generic."""
