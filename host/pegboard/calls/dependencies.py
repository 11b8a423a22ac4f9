"""The values of a function's dependencies: created before the function, closed in reverse order after it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, contextmanager
from functools import partial
from types import CoroutineType, TracebackType
from typing import Any

from pegboard.calls.media_results import reading_of
from pegboard.calls.served_item import Function
from pegboard.context import Context, current_context
from pegboard.context.bound_function import HostAccess
from pegboard.schemas.dependencies import Dependency, compile_dependency
from pegboard.types.parameters import Depends


def with_dependencies(function: Function, dependencies: Mapping[str, Dependency]) -> Function:
    """Return a function that creates the dependencies, runs the author's function, and closes the dependencies."""

    async def run(**keywords: Any) -> Any:
        context = current_context()
        assert context is not None
        async with AsyncExitStack() as stack:
            values = _CallValues(context, context._host, stack)
            for parameter, dependency in dependencies.items():
                keywords[parameter] = await values.of(dependency)
            value = await _returned(function, keywords, context._host, context.name)
            # a file may exist only as long as a dependency
            reading = reading_of(value, context._bound, context._host.in_thread)
            return value if reading is None else await reading

    return Function(run, "async", function.is_sync)


async def _returned(function: Function, keywords: Mapping[str, Any], host: HostAccess, name: str) -> Any:
    if function.mode == "thread":
        value = await host.in_thread(partial(function.function, **keywords), name)
    else:
        value = function.function(**keywords)
    return await value if isinstance(value, CoroutineType) else value


class _CallValues:
    """The values of one call. The value of each function is created once.

    Args:
        context: the call.
        host: the host of the call.
        stack: closes the values at the end of the call.
    """

    def __init__(self, context: Context, host: HostAccess, stack: AsyncExitStack) -> None:
        self._context = context
        self._host = host
        self._stack = stack
        self._known: dict[Callable[..., Any], Any] = {}

    async def of(self, dependency: Dependency) -> Any:
        """Return the value of a dependency."""
        dependency = _overridden(dependency, self._host)
        function = dependency.function
        if dependency.scope == "host":
            return await _host_value(dependency, self._host)
        if function not in self._known:
            keywords = {parameter: await self.of(need) for parameter, need in dependency.needs.items()}
            if dependency.context is not None:
                keywords[dependency.context] = self._context
            self._known[function] = await _created(dependency, keywords, self._host, self._stack)
        return self._known[function]


def _overridden(dependency: Dependency, host: HostAccess) -> Dependency:
    """Return the dependency that a test puts in the place of another, or the dependency itself."""
    override = host.overrides.get(dependency.function) if host.overrides else None
    if override is None:
        return dependency
    return compile_dependency(Depends(override, scope=dependency.scope))


async def _created(dependency: Dependency, keywords: Mapping[str, Any], host: HostAccess, stack: AsyncExitStack) -> Any:
    """Run the function of a dependency and return the value. `stack` closes the value of a generator."""
    create, kind, name = dependency.create, dependency.kind, dependency.name
    with _noted("creating", dependency):
        if kind == "async":
            return await create(**keywords)
        if kind == "sync":
            value = await host.in_thread(partial(create, **keywords), name)
            return await value if isinstance(value, CoroutineType) else value
        manager = create(**keywords)
        if kind == "generator":
            manager = _InThread(manager, host, name)
        value = await manager.__aenter__()
    stack.push_async_exit(partial(_closed, dependency, manager))
    return value


class _InThread(AbstractAsyncContextManager[Any]):
    """A context manager that is entered and left in threads of the host."""

    def __init__(self, manager: AbstractContextManager[Any], host: HostAccess, name: str) -> None:
        self._manager = manager
        self._host = host
        self._name = name
        self._variables = contextvars.copy_context()  # for entering and leaving: a variable can then be reset

    async def __aenter__(self) -> Any:
        return await self._host.in_thread(partial(self._variables.run, self._manager.__enter__), self._name)

    async def __aexit__(self, *error: Any) -> None:  # noqa: PYI036 - as below
        leave = partial(self._variables.run, self._manager.__exit__, *error)
        await self._host.in_thread(leave, self._name)


async def _closed(dependency: Dependency, manager: AbstractAsyncContextManager[Any], *error: Any) -> bool:
    """Close a value. The generator sees the call's exception, but cannot suppress the exception."""
    with _noted("closing", dependency):
        await manager.__aexit__(*error)
    return False


@contextmanager
def _noted(what: str, dependency: Dependency) -> Iterator[None]:
    """Add the name of a dependency to the exceptions of its function, for the log."""
    try:
        yield
    except Exception as error:
        note = f"raised while {what} the dependency {dependency.name!r}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise


# --- values that live as long as the host


async def _host_value(dependency: Dependency, host: HostAccess) -> Any:
    """Return the value of a dependency that lives as long as the host. Create it on first use."""
    keywords = {
        parameter: await _host_value(_overridden(need, host), host) for parameter, need in dependency.needs.items()
    }
    kept = host.values.get(dependency.function)
    if kept is None:
        kept = _HostValue(dependency, keywords, host)
    return await asyncio.shield(kept.value)


class _HostValue(AbstractAsyncContextManager["_HostValue"]):
    """A value that lives as long as the host. A separate task creates and closes the value.

    Calls that need the value wait for it. The end of such a call does not end the creation. If the creation fails, the
    calls that wait for it fail, and the next call tries again.
    """

    def __init__(self, dependency: Dependency, keywords: Mapping[str, Any], host: HostAccess) -> None:
        loop = asyncio.get_running_loop()
        self.value: asyncio.Future[Any] = loop.create_future()
        self._closing = asyncio.Event()
        self._dependency = dependency
        self._host = host
        self._entry = (f"the dependency {dependency.name!r}", self)
        host.values[dependency.function] = self
        host.entered.append(self._entry)
        # without the variables of this call, because the value outlives the call
        self._task = loop.create_task(self._live(keywords), context=contextvars.Context())

    async def _live(self, keywords: Mapping[str, Any]) -> None:
        try:
            async with AsyncExitStack() as stack:
                self.value.set_result(await _created(self._dependency, keywords, self._host, stack))
                await self._closing.wait()
        except BaseException as error:
            if self.value.done():
                raise
            self.value.set_exception(error)
            self.value.exception()  # the calls may have ended
            self._forget()

    def _forget(self) -> None:
        self._host.values.pop(self._dependency.function, None)
        if self._entry in self._host.entered:
            self._host.entered.remove(self._entry)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._forget()
        if not self.value.done():
            self._task.cancel()
        self._closing.set()
        await self._task
