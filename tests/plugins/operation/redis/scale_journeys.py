"""The clients of the run in `test_scale.py`. Each checks every response, and what may be missing after a kill."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Final, TypeVar, cast

from tests.support.http import Answer, Line, Served
from tests.support.http_mcp import JSON_FIELDS, PATH, Exchanged, Session, Streaming, call, message, mirrored, modern
from tests.support.peer import LIMIT
from tests.support.round_robin import RoundRobin

PATIENCE_SECONDS = 60.0
"""How long a notification, or the refusal of a deleted session, may take."""
RETRY_SECONDS = 0.5
MOST_RESUMES = 20
INTERNAL_ERROR = -32603
CAPABILITIES: Final[dict[str, Any]] = {"elicitation": {}}

logger = logging.getLogger("scale")
T = TypeVar("T")
_numbers = itertools.count(1)


class ServerProcess(Served):
    """A process of the run."""

    is_killed = False
    suspended_until = 0.0
    """A time of the event loop."""

    def kill(self) -> None:
        self.is_killed = True
        self.signal(signal.SIGKILL)

    async def suspend(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.suspended_until = loop.time() + 10 * seconds
        self.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.signal(signal.SIGCONT)
        self.suspended_until = loop.time() + 1


class CutError(Exception):
    """A connection has ended before the response, at a process."""

    def __init__(self, process: ServerProcess | None, reason: object) -> None:
        super().__init__(f"{reason!r} of {process and process.url}")
        self.process = process


class WatchedLine(Line):
    """A connection that knows its process."""

    process: ServerProcess | None

    async def send(self, data: bytes) -> None:
        await self._watch(super().send(data))

    async def head(self) -> Answer:
        return await self._watch(super().head())

    async def answer(self, method: str = "POST") -> Answer:
        return await self._watch(super().answer(method))

    async def chunk(self) -> bytes:
        return await self._watch(super().chunk())

    async def _watch(self, reading: Awaitable[T]) -> T:
        try:
            return await reading
        except (EOFError, ConnectionError) as error:
            raise CutError(self.process, error) from error


class Cluster:
    """The processes as the clients see them, and what the clients have seen.

    Attributes:
        proxy: the way to the processes.
        processes: the processes by their addresses.
        redis_away: Redis does not answer, or has just come back.
        ending: the clients end after their present journeys, also after the first fault.
        counts: the journeys, and the errors that are explained.
        faults: the errors that are not.
        had: effects that must have happened once.
    """

    def __init__(self, proxy: RoundRobin) -> None:
        self.proxy = proxy
        self.processes: dict[tuple[str, int], ServerProcess] = {}
        self.redis_away = False
        self.ending = False
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.had: list[str] = []

    def fault(self, where: str, error: Exception) -> None:
        """Note a fault, which ends the run."""
        self.ending = True
        self.faults.append(f"{where}: {error!r}")
        logger.error("%s: %r", where, error)

    @contextmanager
    def surviving(self) -> Iterator[None]:
        """Count an error of a connection to a process that was killed, and go on after the block."""
        try:
            yield
        except CutError as error:
            if error.process is None or not error.process.is_killed:
                raise
            self.counts["cut by a kill"] += 1

    async def connect(self) -> WatchedLine:
        """Open a connection to the next process."""
        streams = await asyncio.open_connection("127.0.0.1", self.proxy.port, limit=LIMIT)
        line = WatchedLine(*streams)
        address = await self.proxy.reached(streams[1].get_extra_info("sockname")[1])
        line.process = None if address is None else self.processes[address]
        return line


class Traveller:
    """A client with one session at a time, and random choices."""

    session: Session

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self.values: dict[str, set[str]] = {}
        self.news = asyncio.Condition()
        self.heard: set[str] = set()
        self.began = 0.0
        self._streams: list[Streaming] = []
        self.listens = asyncio.Event()  # the stream for changes was opened, and may be lost since
        self._listening: asyncio.Task[None] | None = None

    async def travel(self, pause: float) -> None:
        """Make journeys until the end, then check that the session and its values are there."""
        await self._attempt(Traveller.open)
        while not self.cluster.ending:
            (journey,) = self.chance.choices(list(JOURNEYS), list(JOURNEYS.values()))
            await self._attempt(journey)
            await asyncio.sleep(self.chance.uniform(0, 2 * pause))
        await self._attempt(check_values)
        await self.stop_listening()

    async def _attempt(self, journey: Callable[[Traveller], Awaitable[None]]) -> None:
        self.began = asyncio.get_running_loop().time()
        name = getattr(journey, "__name__", "")
        try:
            with self.cluster.surviving():
                await journey(self)
                self.cluster.counts[name] += 1
        except Exception as error:  # noqa: BLE001 - the run ends when all have ended their journeys
            self.cluster.fault(name, error)
        while self._streams:
            self._streams.pop().abort()

    async def open(self) -> None:
        """Open a session and a stream for changes."""
        self.values.clear()
        self.session = Session(cast(Served, self.cluster), capabilities=CAPABILITIES)
        while not self.session.id:
            with self.cluster.surviving():
                if (await self.session.open()).status == 503:
                    await self.pause_for_redis()
        self._listening = asyncio.create_task(self._listen())

    async def post(self, payload: Any) -> tuple[Exchanged, ServerProcess | None]:
        """Post a message, again while Redis is away. Return the response and the process."""
        while True:
            async with await self.cluster.connect() as line:
                body = json.dumps(payload).encode()
                self.session.conversation.sent(body)
                answer = await line.request("POST", PATH, self.session.fields(), body)
            if answer.status != 503:
                return Exchanged(answer, self.session.conversation), line.process
            await self.pause_for_redis()

    async def text(self, tool: str, **arguments: Any) -> str:
        return text_of((await self.post(call(f"scale_{tool}", arguments)))[0].last)

    async def begin(self, request: dict[str, Any]) -> Streaming:
        """Post a request whose response is a stream, until the end of the present journey."""
        self._streams.append(await self._stream("POST", self.session.fields(), request))
        return self._streams[-1]

    async def resume(self, last: str | None) -> Streaming:
        """Resume a stream after an event, until the end of the present journey."""
        self._streams.append(await self._listen_after(last))
        return self._streams[-1]

    async def _listen_after(self, last: str | None) -> Streaming:
        own = [field for field in self.session.fields() if field not in JSON_FIELDS]
        resumed = [] if last is None else [("Last-Event-ID", last)]
        return await self._stream("GET", [*own, ("Accept", "text/event-stream"), *resumed])

    async def _stream(self, method: str, fields: Any, request: Any = None) -> Streaming:
        session = self.session
        while True:
            body = b"" if request is None else json.dumps(request).encode()
            session.conversation.sent(body)
            async with AsyncExitStack() as without_stream:
                line = await without_stream.enter_async_context(await self.cluster.connect())
                await line.ask(method, PATH, fields, body)
                head = await line.head()
                if head.status == 200:
                    assert head.get("Content-Type") == "text/event-stream", (head, await line.answer())
                    without_stream.pop_all()
                    return Streaming(line, session.conversation, session.seen)
            assert head.status == 503, head
            await self.pause_for_redis()

    async def pause_for_redis(self) -> None:
        assert self.cluster.redis_away, "503 although Redis is there"
        self.cluster.counts["503 without Redis"] += 1
        await asyncio.sleep(RETRY_SECONDS)

    def excuses(self, process: ServerProcess | None) -> bool:
        """Return True if a process has ended, or was suspended during the present journey."""
        return process is not None and (process.is_killed or process.suspended_until > self.began)

    # --- the stream for changes

    async def _listen(self) -> None:
        last: str | None = None
        while True:
            try:
                with self.cluster.surviving():
                    stream = await self._listen_after(last)
                    try:
                        await stream.event()  # it has an id, so that the stream can be continued
                        last = _last_id(stream, last)
                        self.listens.set()
                        while (received := await stream.next()) is not None:
                            last = _last_id(stream, last)
                            await self._hear(received)
                    finally:
                        stream.abort()
            except Exception as error:  # noqa: BLE001 - the run ends when all have ended their journeys
                self.cluster.fault("the stream for changes", error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _hear(self, received: Any) -> None:
        if received["method"] == "notifications/resources/updated":
            async with self.news:
                self.heard.add(received["params"]["uri"])
                self.news.notify_all()

    async def stop_listening(self) -> None:
        self.listens.clear()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait([self._listening])


def text_of(received: Any) -> str:
    assert "result" in received, received
    assert not received["result"].get("isError"), received
    return str(received["result"]["content"][0]["text"])


def new_name(kind: str) -> str:
    """Return a name that no other effect has."""
    return f"{kind}-{next(_numbers)}"


def process_of(stream: Streaming) -> ServerProcess | None:
    return cast(WatchedLine, stream.line).process


async def have_effect(traveller: Traveller) -> None:
    name = new_name("effect")
    assert await traveller.text("effect", name=name) == name
    traveller.cluster.had.append(name)


async def write(traveller: Traveller) -> None:
    """Write a value, and read it at once from the next process."""
    key, value = traveller.chance.choice("abcd"), new_name("value")
    former = traveller.values.setdefault(key, {"nothing"})
    traveller.values[key] = former | {value}  # after a kill, it may be stored or not
    replaced = await traveller.text("put", key=key, value=value)
    assert replaced in traveller.values[key], f"replaced {replaced} instead of {former}"
    traveller.values[key] = {value}
    await _read(traveller, key)


async def _read(traveller: Traveller, key: str) -> None:
    value = await traveller.text("take", key=key)
    assert value in traveller.values[key], f"{key} is {value} instead of {traveller.values[key]}"
    traveller.values[key] = {value}


async def check_values(traveller: Traveller) -> None:
    for key in traveller.values:
        await _read(traveller, key)


async def answer_question(traveller: Traveller) -> None:
    """Answer a question at the next process."""
    name = new_name("answer")
    asking = await traveller.begin(call("scale_ask", {"name": name}))
    question, process = await asking.next(), process_of(asking)
    if question is None or "method" not in question:  # the process was suspended before it could ask
        assert traveller.excuses(process), question
        return
    answer = {"action": "accept", "content": {"value": "open"}}
    posted, _ = await traveller.post({"jsonrpc": "2.0", "id": question["id"], "result": answer})
    result = await asking.next()
    if posted.status == 202 and result is not None and "result" in result and not result["result"].get("isError"):
        assert text_of(result) == f"{name} open"
        traveller.cluster.had.append(name)
    else:
        assert traveller.excuses(process), (posted.status, posted.messages, result)


async def answer_without_session(traveller: Traveller) -> None:
    """Answer a question of 2026-07-28 at the next process."""
    name = new_name("round")
    first = await _ask_modern(traveller, call("scale_ask", {"name": name}))
    (key,) = first["inputRequests"]
    again = call("scale_ask", {"name": name})
    again["params"]["inputResponses"] = {key: {"action": "accept", "content": {"value": "open"}}}
    again["params"]["requestState"] = first["requestState"]
    assert text_of({"result": await _ask_modern(traveller, again)}) == f"{name} open"
    traveller.cluster.had.append(name)


async def _ask_modern(traveller: Traveller, request: dict[str, Any]) -> Any:
    request = modern(request, **{"io.modelcontextprotocol/clientCapabilities": CAPABILITIES})
    async with await traveller.cluster.connect() as line:
        answer = await line.request("POST", PATH, mirrored(request), json.dumps(request).encode())
    assert answer.status == 200, answer
    return json.loads(answer.body)["result"]


async def cancel(traveller: Traveller) -> None:
    """Cancel a call at the next process."""
    name = new_name("cancelled")
    running = await traveller.begin(call("scale_wait", {"name": name}, token=name, id=name))
    first, process = await running.next(), process_of(running)
    if first is None:
        assert traveller.excuses(process)
        return
    params = {"requestId": name}
    posted, _ = await traveller.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    assert posted.status == 202, posted.answer
    rest = [received async for received in running.rest()]
    assert not any("result" in received for received in rest), rest
    if not traveller.excuses(process):
        traveller.cluster.had.append(name)


async def lose_stream(traveller: Traveller) -> None:
    """Lose the stream of a call, and resume it at the next process until its result."""
    name = new_name("steps")
    stream = await traveller.begin(call("scale_steps", {"name": name}, token=name, id=name))
    owner = process_of(stream)
    await stream.next()
    stream.abort()
    last, result = _last_id(stream, None), None
    for _ in range(MOST_RESUMES):
        with traveller.cluster.surviving():
            stream = await traveller.resume(last)
            async for received in stream.rest():
                result = received if "id" in received else None
        last = _last_id(stream, last)
        if result is not None:
            break
    if result is not None and "result" in result:
        assert text_of(result) == name
        traveller.cluster.had.append(name)
    else:
        assert traveller.excuses(owner), result
        assert result is not None
        traveller.cluster.counts["responses lost with their process"] += 1
        assert result["error"]["code"] == INTERNAL_ERROR, result


def _last_id(stream: Streaming, default: str | None) -> str | None:
    return next((event.id for event in reversed(stream.events) if event.id), default)


async def hear_change(traveller: Traveller) -> None:
    """Subscribe at one process, change at another one, and hear of it on the stream of any."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await traveller.listens.wait()
    uri = f"scale://notes/{new_name('note')}"
    posted, _ = await traveller.post(message("resources/subscribe", {"uri": uri}))
    assert posted.result == {}
    posted, process = await traveller.post(call("scale_change", {"uri": uri}))
    assert text_of(posted.last) == uri
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), traveller.news:
            await traveller.news.wait_for(lambda: uri in traveller.heard)
    except TimeoutError:
        assert traveller.excuses(process), f"nobody was told of {uri}"
    traveller.heard.clear()
    posted, _ = await traveller.post(message("resources/unsubscribe", {"uri": uri}))
    assert posted.result == {}


async def delete(traveller: Traveller) -> None:
    """Delete the session, write to it until each process refuses it, and open another one."""
    await traveller.stop_listening()
    write_again = call("scale_put", {"key": "a", "value": "of a deleted session"})
    refused, is_deleted = 0, False
    async with asyncio.timeout(PATIENCE_SECONDS):
        while refused < len(traveller.cluster.proxy.addresses):
            with traveller.cluster.surviving():
                is_deleted = is_deleted or await _delete(traveller)
                if is_deleted:
                    posted, _ = await traveller.post({**write_again, "id": new_name("late")})
                    assert "result" not in posted.last, "a deleted session was changed"
                    refused = refused + 1 if posted.status == 404 else 0
    await traveller.open()


async def _delete(traveller: Traveller) -> bool:
    async with await traveller.cluster.connect() as line:
        status = (await line.request("DELETE", PATH, traveller.session.fields())).status
    if status == 503:
        await traveller.pause_for_redis()
        return False
    assert status in (204, 404), status  # it may have been deleted before a kill
    return True


JOURNEYS: Final[Mapping[Callable[[Traveller], Awaitable[None]], int]] = {
    have_effect: 3,
    write: 8,
    check_values: 2,
    answer_question: 4,
    answer_without_session: 2,
    cancel: 3,
    lose_stream: 3,
    hear_change: 3,
    delete: 1,
}
