"""What authors' decorators are made of: `tool` for single functions, and options that become fields of definitions.

Nothing is checked here but that there is such an option.
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

_ABSENT = {"execution": "the host serves no tasks, so there is nothing to say about them"}
"""Options that authors may look for, and why they are not there."""


class ToolFunction(Generic[P, R]):
    """A tool that `@tool` made of a function, for as many toolkits and plugins as take it; called, it is the function.

    Attributes:
        definition: the function, and what was said about it.
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
    """Make a tool of a function that belongs to no toolkit; `Toolkit.add` and plugins take what comes of it.

    Written `@tool`, or `@tool(title=..., ...)` with the options of `@kit.tool`. Without a name it is called what those
    who take it call it, else like the function.

    Raises:
        TypeError: there is no such option, or what was given is not what is decorated.
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
                raise TypeError(f"{function!r} is no function: write @tool above one")
            return ToolFunction(as_definition(function)._replace(**fields))

        return make if function is None else make(function)

    @staticmethod
    def deprecated(message: str) -> Callable[[Decorated], Decorated]:
        """Say what to use instead of a tool, above or below the decorator that makes it one; `deprecated=` does too.

        On a plain function it does what `warnings.deprecated` does (PEP 702), which serves as well, but for the
        warning.

        Raises:
            TypeError: there is no message, or what is decorated takes none.
        """
        if not isinstance(message, str):
            raise TypeError(f'{message!r} is no message: write @tool.deprecated("use add instead")')

        def mark(function: Decorated) -> Decorated:
            if isinstance(function, ToolFunction):
                return cast("Decorated", ToolFunction(function.definition._replace(deprecated=message)))
            try:
                setattr(function, "__deprecated__", message)  # noqa: B010 - not an attribute that checkers know
            except AttributeError:
                raise TypeError(f"{function!r} cannot be marked: say deprecated={message!r} as an option") from None
            return function

        return mark


tool = _ToolDecorator()


def as_definition(given: Any) -> ToolDefinition:
    """The definition that somebody gave, as it is, as an object of `@tool`, or as a plain function."""
    if isinstance(given, ToolFunction):
        return given.definition
    return given if isinstance(given, ToolDefinition) else ToolDefinition(given)


def as_definitions(given: tuple[Any, ...]) -> list[ToolDefinition]:
    """What `Toolkit.add` is given.

    Raises:
        TypeError: something of it is no tool.
    """
    if given and isinstance(given[0], str):
        if len(given) != 2 or not _is_tool(given[1]):
            raise TypeError(f"{given[0]!r} is the name of one tool: write kit.add({given[0]!r}, tool)")
        return [as_definition(given[1])._replace(name=given[0])]
    found = []
    for one in given:
        for each in (one,) if _is_single(one) else one:
            if not _is_tool(each):
                raise TypeError(f"{each!r} is no tool: give functions, or what @tool makes of them")
            found.append(as_definition(each))
    return found


def _is_single(given: object) -> bool:
    return _is_tool(given) or isinstance(given, str) or not isinstance(given, Iterable)


def _is_tool(given: object) -> bool:
    return callable(given) or isinstance(given, ToolDefinition)


def check_function(function: object, meant: str) -> None:
    """Notice a text where the function belongs.

    Raises:
        TypeError: it is one.
    """
    if isinstance(function, str):
        raise TypeError(f"{function!r} is no function: write {meant}")


def tool_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a tool as the fields of its definition.

    Raises:
        TypeError: there is no such option.
    """
    fields = fields_of(ToolDefinition, options)
    for name in {"scopes", "requires_secrets", "requires_metadata"} & fields.keys():
        fields[name] = _names(fields[name] or ())
    return fields


def _names(given: Any) -> Any:
    """A tuple; one text is one name, not its letters. What is no list at all is left for the host to refuse."""
    if isinstance(given, str):
        return (given,)
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, Mapping) else given


def fields_of(definition: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What options say, as the fields of a definition; an interface is something said for its extension.

    Raises:
        TypeError: there is no such option.
    """
    fields = dict(options)
    defined = OPTIONS if "extensions" in definition._fields else frozenset[str]()
    known = {*definition._fields, *defined} - {"function", "uri"}
    for name in fields.keys() - known:
        raise TypeError(f"there is no option {name!r}{_why_absent(name, known)}")
    said = fields.get("extensions", EMPTY)
    given = {name: value for name in defined if (value := fields.pop(name, None)) is not None}
    if given and isinstance(said, Mapping):
        fields["extensions"] = {**said, **given}
    return fields


def _why_absent(name: str, known: Iterable[str]) -> str:
    from pegboard.names import nearest

    if name in _ABSENT:
        return f": {_ABSENT[name]}"
    close = nearest(name, known) or next((one for one in sorted(known) if one.startswith(name)), None)
    return f"; did you mean {close!r}?" if close else ""
