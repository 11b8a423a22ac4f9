"""Values that functions of the author fill in: how they are created, shared and closed."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import pytest

from pegboard import (
    Context,
    Depends,
    File,
    Host,
    PromptResult,
    ResourceResult,
    RetryableToolError,
    Toolkit,
    ToolResult,
    current_context,
)
from pegboard.types import Failure
from tests.host.hosting import WAIT, call, failure, got, kit_of, make_host, until, value

EVENTS: list[str] = []


@pytest.fixture(autouse=True)
def _no_events() -> None:
    EVENTS.clear()


def on_loop() -> bool:
    """Return True on the thread of the event loop."""
    return threading.current_thread() is threading.main_thread()


def sync() -> str:
    assert not on_loop()
    return "sync"


async def coroutine() -> str:
    assert on_loop()
    return "async"


def generator() -> Iterator[str]:
    assert not on_loop()
    yield "generator"
    EVENTS.append(f"generator closed, in a thread: {not on_loop()}")


async def async_generator() -> AsyncIterator[str]:
    try:
        yield "async generator"
    finally:
        EVENTS.append("async generator closed")


class Client:
    """A dependency that is a class."""

    def __init__(self, word: Annotated[str, Depends(coroutine)], times: int = 2) -> None:
        self.word = word * times


Sync = Annotated[str, Depends(sync)]
FUNCTIONS = pytest.mark.parametrize("mode", ["thread", "async", "inline"])


@FUNCTIONS
@pytest.mark.parametrize("limit", [0, WAIT])
async def test_every_kind_of_function_fills_in_a_parameter_without_schema(mode: str, limit: float) -> None:
    def go(
        number: int,
        one: Sync,
        two: Annotated[str, Depends(coroutine), "ignored"],
        three: Annotated[str, Depends(generator)],
        four: Annotated[str, Depends(async_generator)],
        five: Annotated[Client, Depends(Client)],
    ) -> list[Any]:
        assert on_loop() is (mode != "thread")
        EVENTS.append("run")
        return [number, one, two, three, four, five.word]

    async def on_the_loop(**keywords: Any) -> list[Any]:
        return go(**keywords)

    on_the_loop.__annotations__, on_the_loop.__wrapped__ = go.__annotations__, go  # type: ignore[attr-defined]
    function = on_the_loop if mode == "async" else go
    kit = kit_of(function, name="go", inline=mode == "inline", timeout=None if mode == "inline" else limit)
    async with make_host(kit) as host:
        results = await value(host, "go", {"number": 1})
        assert results == [1, "sync", "async", "generator", "async generator", "asyncasync"]
        assert list(host.assembly.tools["go"].tool.input_schema["properties"]) == ["number"]
        assert "not a parameter" in str((await failure(host, "go", {"number": 1, "one": "mine"})).error)
    assert EVENTS == ["run", "async generator closed", "generator closed, in a thread: True"]


async def test_resources_prompts_and_authored_schemas_have_dependencies() -> None:
    kit = Toolkit("x")

    @kit.resource("x://{word}")
    def read(word: str, one: Sync) -> str:
        """Read."""
        return word + one

    @kit.prompt
    def ask(word: str, one: Sync) -> str:
        """Ask."""
        return word + one

    @kit.tool(input_schema={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]})
    def authored(one: Sync, **arguments: Any) -> str:
        """Return a word."""
        return f"{arguments['word']}{one}"

    async with make_host(kit) as host:
        resource = await got(ResourceResult, host, "resources/read", uri="x://a")
        prompt = await got(PromptResult, host, "prompts/get", name="x_ask", arguments={"word": "a"})
        assert [resource.contents[0].content, prompt.messages[0].content] == ["async"] * 2
        assert await value(host, "x_authored", {"word": "a"}) == "async"
        assert "one is not a parameter" in str((await failure(host, "x_authored", {"word": "a", "one": 1})).error)


async def test_a_call_creates_each_value_once_with_its_context_and_closes_in_reverse_order() -> None:
    async def base(context: Context) -> AsyncIterator[str]:
        assert current_context() is context
        EVENTS.append(f"base of {context.name}")
        yield "base"
        EVENTS.append("base closed")

    def user(base: Annotated[str, Depends(base)]) -> Iterator[str]:
        yield f"user of {base}"
        EVENTS.append("user closed")

    async def go(one: Annotated[str, Depends(user)], two: Annotated[str, Depends(base)]) -> list[str]:
        return [one, two]

    async with make_host(kit_of(go)) as host:
        for _ in range(2):
            assert await value(host, "go") == ["user of base", "base"]
    assert EVENTS == ["base of go", "user closed", "base closed"] * 2


async def test_a_dependency_sees_the_error_of_its_call_and_cannot_hide_it() -> None:
    async def transaction() -> AsyncIterator[None]:
        try:
            yield
        except RetryableToolError as error:
            EVENTS.append(f"rolled back: {error.message}")

    def threaded() -> Iterator[None]:
        try:
            yield
        except RetryableToolError:
            EVENTS.append("thread")

    def go(one: Annotated[None, Depends(transaction)], two: Annotated[None, Depends(threaded)]) -> None:
        raise RetryableToolError("Again.")

    async with make_host(kit_of(go)) as host:
        assert str((await failure(host, "go")).error) == "Again."
    assert EVENTS == ["thread", "rolled back: Again."]


def fails() -> str:
    raise OSError("no connection")


async def never_yields() -> AsyncIterator[str]:
    if "never" in EVENTS:
        yield ""


async def fails_to_close() -> AsyncIterator[str]:
    yield "open"
    raise OSError("no connection")


def refuses() -> str:
    raise RetryableToolError("Not now.")


@pytest.mark.parametrize(
    ("function", "logged", "message"),
    [
        (fails, "raised while creating the dependency 'fails'", "unexpectedly"),
        (never_yields, "raised while creating the dependency 'never_yields'", "unexpectedly"),
        (fails_to_close, "raised while closing the dependency 'fails_to_close'", "unexpectedly"),
        (refuses, "", "Not now."),
    ],
)
async def test_the_log_names_a_dependency_that_fails(
    function: Callable[..., Any], logged: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    def go(opened: Annotated[str, Depends(async_generator)], one: Annotated[str, Depends(function)]) -> str:
        return one

    async with make_host(kit_of(go)) as host:
        assert message in str((await failure(host, "go")).error)
    assert logged in caplog.text
    assert EVENTS == ["async generator closed"]


@pytest.mark.parametrize("end", ["cancelled", "too long"])
async def test_a_call_that_ends_early_closes_its_dependencies(end: str) -> None:
    begun = asyncio.Event()

    async def slow(opened: Annotated[str, Depends(async_generator)]) -> str:
        begun.set()
        return str(await asyncio.Event().wait())

    kit = kit_of(_tool_with(Annotated[str, Depends(slow)]), timeout=0.01 if end == "too long" else 0)
    async with make_host(kit) as host:
        running = asyncio.create_task(call(host, "go"))
        await begun.wait()
        if end == "cancelled":
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        else:
            outcome = await running
            assert isinstance(outcome, Failure)
            assert "took longer" in str(outcome.error)
        assert EVENTS == ["async generator closed"]


async def test_a_sync_function_that_takes_too_long_keeps_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    may_end = threading.Event()

    def block(opened: Annotated[str, Depends(async_generator)]) -> None:
        may_end.wait(WAIT)

    async with make_host(kit_of(block, timeout=0.01)) as host:
        assert "took longer" in str((await failure(host, "block")).error)
        assert EVENTS == ["async generator closed"]
        may_end.set()
    assert "the thread stays busy until it returns" in caplog.text


def _tool_with(annotation: Any) -> Callable[..., Any]:
    def go(one: Any) -> str:
        return str(one)

    go.__annotations__["one"] = annotation
    return go


class Hosted:
    """Dependencies that live as long as the host."""

    def __init__(self) -> None:
        self.may_create = asyncio.Event()
        self.error: BaseException | None = None
        self.created = 0

        async def pool() -> AsyncIterator[int]:
            assert current_context() is None
            task = asyncio.current_task()
            self.created += 1
            await self.may_create.wait()
            if self.error is not None:
                raise self.error
            yield self.created
            EVENTS.append(f"pool closed in its task: {asyncio.current_task() is task}")

        def client(pool: Annotated[int, Depends(pool, scope="host")]) -> Iterator[str]:
            yield f"client {pool}"
            EVENTS.append("client closed")

        self.host: Host = make_host(kit_of(_tool_with(Annotated[str, Depends(client, "host")])))


async def test_a_host_creates_its_values_once_and_closes_them_in_reverse_order() -> None:
    hosted = Hosted()
    for start in (1, 2):
        async with hosted.host as host:
            first, *others = [asyncio.create_task(value(host, "go")) for _ in range(5)]
            await until(lambda start=start: hosted.created == start)  # type: ignore[misc]
            first.cancel()  # the others still get the value
            hosted.may_create.set()
            assert await asyncio.gather(*others) == [f"client {start}"] * 4
            assert EVENTS == []
        assert EVENTS == ["client closed", "pool closed in its task: True"]
        EVENTS.clear()


@pytest.mark.parametrize("error", [OSError("no"), SystemExit(1), asyncio.CancelledError()])
async def test_a_host_creates_a_value_again_after_an_error(error: BaseException) -> None:
    hosted = Hosted()
    hosted.may_create.set()
    async with hosted.host as host:
        hosted.error = error
        assert "unexpectedly" in str((await failure(host, "go")).error)
        hosted.error = None
        assert await value(host, "go") == "client 2"
    assert len(EVENTS) == 2


async def test_a_host_that_stops_gives_up_the_creation_of_a_value() -> None:
    hosted = Hosted()
    async with hosted.host as host:
        running = asyncio.create_task(call(host, "go"))
        await until(lambda: hosted.created == 1)
    assert isinstance(await running, Failure)


async def test_a_generator_resets_its_variable_and_its_file_is_sent_before_it_closes() -> None:
    variable: ContextVar[int] = ContextVar("variable")

    def folder() -> Iterator[Path]:
        token = variable.set(1)
        with TemporaryDirectory() as name:
            yield Path(name)
        variable.reset(token)

    def report(place: Annotated[Path, Depends(folder)]) -> File:
        """Return a file that exists only during the call."""
        (place / "a.txt").write_text("kept", "utf-8")
        return File(place / "a.txt")

    async with make_host(kit_of(report)) as host:
        result = await got(ToolResult, host, "tools/call", name="report")
    assert result.content is not None
    assert result.content[0].resource.content == "kept"  # type: ignore[union-attr]
