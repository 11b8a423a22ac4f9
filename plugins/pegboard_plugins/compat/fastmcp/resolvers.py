"""Parameters that a function of the author fills in: `Annotated[T, Resolve(function)]` (version 2 of the SDK)."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

from pegboard import Context as HostContext
from pegboard_plugins.compat.adapting import called, is_of_class, presented
from pegboard_plugins.compat.fastmcp.context import Context
from pegboard_plugins.compat.fastmcp.elicitation import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
)
from pegboard_plugins.compat.fastmcp.exceptions import ToolError

T = TypeVar("T")

_CONTEXT = "_context"
"""The parameter for the Context, if the function has none."""
_OUTCOMES = (AcceptedElicitation, DeclinedElicitation, CancelledElicitation)


class Resolve(NamedTuple):
    """Mark a parameter that is the result of a function.

    Attributes:
        function: the function. It takes arguments of the tool by name, the Context, and resolved parameters.
    """

    function: Callable[..., Any]


class Elicit(Generic[T]):
    """A question to the user, as the result of a resolver.

    Args:
        message: the reason, for the user.
        schema: the type of the answer.
    """

    def __init__(self, message: str, schema: type[T]) -> None:
        self.message = message
        self.schema = schema


class Sample:
    """A question to the client's model, as the result of a resolver, with the options of `create_message`."""

    def __init__(self, messages: Sequence[Any], **options: Any) -> None:
        self.messages = messages
        self.options = options


class ListRoots:
    """A request for the client's roots, as the result of a resolver."""


def resolve_of(annotation: Any) -> Resolve | None:
    """Return the resolver of a parameter, or None if the caller sets it."""
    extras = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((extra for extra in extras if isinstance(extra, Resolve)), None)


def with_resolvers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function without the parameters that resolvers fill in. Without resolvers, return it unchanged."""
    if not inspect.isroutine(function):
        return function
    hints = typing.get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    resolved = {name: hints[name] for name in signature.parameters if resolve_of(hints.get(name)) is not None}
    if not resolved:
        return function
    parameters = [parameter for name, parameter in signature.parameters.items() if name not in resolved]
    own = next(
        (parameter.name for parameter in parameters if is_of_class(hints.get(parameter.name), Context, HostContext)),
        None,
    )
    if own is None:
        parameters.append(inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=Context))

    async def run(**keywords: Any) -> Any:
        context = keywords.pop(_CONTEXT) if own is None else keywords[own]
        resolver = Resolver(context, keywords)
        values = {name: await resolver.value(annotation) for name, annotation in resolved.items()}
        return await called(function, **keywords, **values)

    typed = [parameter.replace(annotation=hints.get(parameter.name, parameter.annotation)) for parameter in parameters]
    result = hints.get("return", signature.return_annotation)
    return presented(run, function, signature.replace(parameters=typed, return_annotation=result))


class Resolver:
    """The resolved parameters of one call. Each function runs once.

    Args:
        context: the call.
        arguments: the arguments of the tool.
    """

    def __init__(self, context: Context[Any, Any, Any], arguments: Mapping[str, Any]) -> None:
        self._context = context
        self._arguments = arguments
        self._known: dict[Callable[..., Any], Any] = {}

    async def value(self, annotation: Any) -> Any:
        """Return the value of a resolved parameter.

        Raises:
            ToolError: the user declined, and the parameter does not accept that.
        """
        resolve = resolve_of(annotation)
        assert resolve is not None
        function = resolve.function
        if function not in self._known:
            self._known[function] = await self._run(function)
        outcome = self._known[function]
        if _accepts_outcome(annotation):
            return outcome if isinstance(outcome, _OUTCOMES) else AcceptedElicitation(outcome)
        if not isinstance(outcome, _OUTCOMES):
            return outcome
        if not isinstance(outcome, AcceptedElicitation):
            raise ToolError(f"The user did not answer: {outcome.action}.")
        return outcome.data

    async def _run(self, function: Callable[..., Any]) -> Any:
        hints = typing.get_type_hints(function, include_extras=True)
        arguments: dict[str, Any] = {}
        for name in inspect.signature(function).parameters:
            annotation = hints.get(name)
            if is_of_class(annotation, Context, HostContext):
                arguments[name] = self._context
            elif resolve_of(annotation) is not None:
                arguments[name] = await self.value(annotation)
            elif name in self._arguments:
                arguments[name] = self._arguments[name]
        return await self._answer(await called(function, **arguments))

    async def _answer(self, value: Any) -> Any:
        if isinstance(value, Elicit):
            return await self._context.elicit(value.message, value.schema)
        if isinstance(value, Sample):
            return await self._context.session.create_message(value.messages, **value.options)
        return await self._context.session.list_roots() if isinstance(value, ListRoots) else value


def _accepts_outcome(annotation: Any) -> bool:
    inner = get_args(annotation)[0]
    kinds = get_args(inner) if get_origin(inner) in (Union, UnionType) else (inner,)
    return any((get_origin(kind) or kind) in _OUTCOMES for kind in kinds)
