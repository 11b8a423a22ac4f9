"""The decorator `tool`, and the conversion of decorator options to definitions.

Only the names of options are checked here. The host checks their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Unpack, cast, overload

from pegboard.plugin.definitions import ToolDefinition
from pegboard.types.callers import EMPTY

if TYPE_CHECKING:
    from pegboard.types.options import ToolOptions

P = ParamSpec("P")
R = TypeVar("R")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

OPTIONS = frozenset(("ui",))
"""The options of tools and resources that extensions define (`Extension.option`)."""

PLUGIN_FIELDS = frozenset(("toolkit", "raw", "place", "subscribed"))
"""The fields of definitions that only plugins set."""


class ToolFunction(Generic[P, R]):
    """A tool that `@tool` created from a function. Toolkits and plugins may add it. Calling it calls the function.

    Attributes:
        definition: the function with its options.
    """

    def __init__(self, definition: ToolDefinition) -> None:
        update_wrapper(self, definition.function)
        self.definition = definition

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        result: R = self.definition.function(*arguments, **keywords)
        return result

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        function = self.definition.function
        bind = getattr(function, "__get__", None)
        if instance is None or bind is None or isinstance(function, partial):  # 3.13 warns that partials will bind
            return self
        return ToolFunction(self.definition._replace(function=bind(instance, owner)))

    def __repr__(self) -> str:
        return f"<tool {self.definition.name or getattr(self, '__name__', self.definition.function)!r}>"


class _ToolDecorator:
    """Turn a function into a tool that belongs to no toolkit, for `Toolkit.add` and plugins.

    Write `@tool`, or `@tool(title=..., ...)` with the options of `@kit.tool`. Without the option `name`, the tool has
    the name under which it is added, else the function's name.

    Raises:
        TypeError: an option does not exist, or the decorated object is not a function.
    """

    @overload
    def __call__(self, function: Callable[P, R], /) -> ToolFunction[P, R]: ...

    @overload
    def __call__(self, /, **options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], ToolFunction[P, R]]: ...

    def __call__(self, function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        check_function(function, "@tool(name=...)")
        fields = tool_fields(options)

        def make(function: Callable[..., Any]) -> ToolFunction[..., Any]:
            if not callable(function):
                raise TypeError(f"{function!r} is not a function: write @tool above a function")
            return ToolFunction(as_definition(function)._replace(**fields))

        return make if function is None else make(function)

    @staticmethod
    def deprecated(message: str) -> Callable[[Decorated], Decorated]:
        """Mark a tool as deprecated, above or below its decorator. The option `deprecated=` does the same.

        `warnings.deprecated` (PEP 702) on a plain function works too, and warns in addition.

        Args:
            message: a message that names the replacement.

        Raises:
            TypeError: the message is not a string, or the decorated object cannot be marked as deprecated.
        """
        if not isinstance(message, str):
            raise TypeError(f'{message!r} is not a message: write @tool.deprecated("use add instead")')

        def mark(function: Decorated) -> Decorated:
            if isinstance(function, ToolFunction):
                return cast("Decorated", ToolFunction(function.definition._replace(deprecated=message)))
            try:
                setattr(function, "__deprecated__", message)  # noqa: B010 - type checkers do not know it
            except AttributeError:
                raise TypeError(
                    f"{function!r} cannot be marked as deprecated: use the option deprecated={message!r}"
                ) from None
            return function

        return mark


tool = _ToolDecorator()


def as_definition(item: Any) -> ToolDefinition:
    """Return the definition of a function or of a result of `@tool`. Return a definition unchanged."""
    if isinstance(item, ToolFunction):
        return item.definition
    return item if isinstance(item, ToolDefinition) else ToolDefinition(item)


def as_definitions(items: tuple[Any, ...]) -> list[ToolDefinition]:
    """Return the definitions of the arguments of `Toolkit.add`.

    Raises:
        TypeError: an argument is not a tool.
    """
    if items and isinstance(items[0], str):
        if len(items) != 2 or not _is_tool(items[1]):
            raise TypeError(f"{items[0]!r} is the name of one tool: write kit.add({items[0]!r}, tool)")
        return [as_definition(items[1])._replace(name=items[0])]
    definitions = []
    for entry in items:
        for item in (entry,) if _is_single(entry) else entry:
            if not _is_tool(item):
                raise TypeError(f"{item!r} is not a tool: pass functions or results of @tool")
            definitions.append(as_definition(item))
    return definitions


def _is_single(item: object) -> bool:
    return _is_tool(item) or isinstance(item, str) or not isinstance(item, Iterable)


def _is_tool(item: object) -> bool:
    return callable(item) or isinstance(item, ToolDefinition)


def check_function(function: object, meant: str) -> None:
    """Raise an error if a string was passed instead of a function.

    Raises:
        TypeError: the object is a string.
    """
    if isinstance(function, str):
        raise TypeError(f"{function!r} is not a function: write {meant}")


def tool_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a tool as fields of its definition.

    Raises:
        TypeError: an option does not exist.
    """
    fields = fields_of(ToolDefinition, options)
    for name in {"scopes", "requires_secrets", "requires_metadata", "task_asks"} & fields.keys():
        fields[name] = _names(fields[name] or ())
    return fields


def _names(value: Any) -> Any:
    """Return a tuple of names. A single string is one name. Return other types unchanged; the host rejects these."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else value


def fields_of(definition: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as fields of a definition. Options of extensions become members of `extensions`.

    Raises:
        TypeError: an option does not exist.
    """
    fields = dict(options)
    defined = OPTIONS if "extensions" in definition._fields else frozenset[str]()
    allowed = {*definition._fields, *defined} - {"function", "uri", *PLUGIN_FIELDS}
    if unknown := sorted(fields.keys() - allowed):
        from pegboard.authoring.absent_options import advice_on

        raise TypeError(f"there is no option {unknown[0]!r}{advice_on(unknown[0], allowed)}")
    extensions = fields.get("extensions", EMPTY)
    values = {name: value for name in defined if (value := fields.pop(name, None)) is not None}
    if values and isinstance(extensions, Mapping):
        fields["extensions"] = {**extensions, **values}
    if "tags" in fields:
        fields["tags"] = _names(fields["tags"] or ())
    return fields
