"""Functions for Arcade, as functions that pegboard can compile.

The adapted function takes a `HostContext` where the original takes the context of Arcade, and passes pydantic models
to it as dicts.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import UnionType
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

from pydantic import BaseModel, Field
from typing_extensions import TypedDict, is_typeddict

from pegboard import Context as HostContext
from pegboard import TextContent, ToolResult
from pegboard_plugins.compat.arcade.context import Context

_NOTHING = ToolResult({}, structured=True, content=(TextContent("{}"),))
"""The result of a function that has no return type and returns nothing."""


def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the same parameters that pegboard can compile."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function, include_extras=True)
    contexts = {name for name in signature.parameters if _is_context(hints.get(name))}
    models = {name for name in signature.parameters if _holds_model(hints.get(name))}
    types = {name: HostContext if name in contexts else plain_type(hint) for name, hint in hints.items()}
    types.setdefault("return", None)
    is_silent = "return" not in hints

    def prepared(given: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
        arguments = signature.bind(*given, **keywords).arguments
        for name in contexts & arguments.keys():
            if isinstance(arguments[name], HostContext):
                arguments[name] = Context(arguments[name])
        for name in models & arguments.keys():
            arguments[name] = _dumped(arguments[name])
        return arguments

    def answered(value: Any) -> Any:
        return _NOTHING if value is None and is_silent else value

    if inspect.iscoroutinefunction(function):

        async def run(*given: Any, **keywords: Any) -> Any:
            return answered(await function(**prepared(given, keywords)))
    else:

        def run(*given: Any, **keywords: Any) -> Any:  # type: ignore[misc]  # the sync form
            return answered(function(**prepared(given, keywords)))

    update_wrapper(run, function)
    del run.__wrapped__  # type: ignore[attr-defined]  # its annotations are not those of `run`
    parameters = [one.replace(annotation=types.get(name, one.empty)) for name, one in signature.parameters.items()]
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=types["return"]
    )
    run.__annotations__ = types
    return run


def _is_context(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_is_context(part) for part in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, Context | HostContext)


def _holds_model(annotation: Any) -> bool:
    if isinstance(annotation, type) and not get_args(annotation):
        return issubclass(annotation, BaseModel)
    return any(_holds_model(part) for part in get_args(annotation))


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, list):
        return [_dumped(one) for one in value]
    return {key: _dumped(one) for key, one in value.items()} if isinstance(value, dict) else value


# --- TypedDicts


def plain_type(annotation: Any) -> Any:
    """Return a type whose TypedDicts pydantic accepts on each Python, with the docstrings of their fields."""
    if is_typeddict(annotation):
        return _typed_dict(annotation)
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[(plain_type(parts[0]), *parts[1:])]
    if origin in (Union, UnionType):
        return Union[tuple(map(plain_type, parts))]  # noqa: UP007 - the parts are not known here
    if origin in (list, dict, tuple, set, Required, NotRequired):
        return origin[tuple(map(plain_type, parts)) if len(parts) > 1 else plain_type(parts[0])]
    return annotation


def _typed_dict(cls: Any) -> Any:
    """Return a TypedDict of `typing_extensions`. Before Python 3.12, pydantic rejects those of `typing`."""
    notes = {name: note for base in reversed(_bases(cls)) for name, note in _docstrings(base).items()}
    members: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        kind = plain_type(get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint)
        if name in notes:
            kind = Annotated[kind, Field(description=notes[name])]
        members[name] = NotRequired[kind] if name in cls.__optional_keys__ else kind
    return TypedDict(cls.__name__, members)  # type: ignore[operator]


def _bases(cls: Any) -> list[Any]:
    """Return a TypedDict and its bases."""
    found = [cls]
    for one in found:
        found += [base for base in getattr(one, "__orig_bases__", ()) if is_typeddict(base)]
    return found


def _docstrings(cls: Any) -> dict[str, str]:
    """Return the docstrings below the fields of a class, by field."""
    try:
        [node] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    if not isinstance(node, ast.ClassDef):
        return {}
    found = {}
    for field, text in zip(node.body, node.body[1:], strict=False):
        note = getattr(getattr(text, "value", None), "value", None) if isinstance(text, ast.Expr) else None
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(note, str):
            found[field.target.id] = inspect.cleandoc(note)
    return found
