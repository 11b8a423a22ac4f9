"""The size limit of a result: exact for results that are encoded, and early for results that are surely too large."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic_core import to_json, to_jsonable_python
from typing_extensions import TypedDict

from pegboard import Toolkit
from pegboard.calls.result_size import TooLarge, within
from pegboard.errors import ToolOutputError
from pegboard.types import Call, Failure
from pegboard.wire import codec
from pegboard.wire.codec import encode
from tests.host.hosting import failure, kit_of, make_host, value

NUMBERS = [number / 3 for number in range(90_000)]


class Holder(TypedDict):
    numbers: list[float]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    text: str = ""
    inside: Any = None


class Hiding(BaseModel):
    shown: str = "x"
    excluded: Any = Field(default=None, exclude=True)

    @cached_property
    def cached(self) -> Any:
        return self.excluded


@dataclass(slots=True)
class Slotted:
    inside: Any


@dataclass
class Tabled:
    inside: Any
    table: ClassVar[Any] = "x" * 100


class Job:
    inside: Any


JOB = Job()


def members_of_job(inside: Any) -> dict[str, Any]:
    """Return the members of an object that lives on. Python 3.13 keeps them in the object."""
    JOB.inside = inside
    return vars(JOB)


@pytest.mark.parametrize(
    ("annotation", "result", "most"),
    [
        (list[float], NUMBERS, len(encode(NUMBERS))),
        (Holder, {"numbers": NUMBERS}, len(encode(NUMBERS)) + 100),
        (Any, NUMBERS, len(encode(NUMBERS))),
    ],
    ids=["list", "dict", "any"],
)
async def test_a_result_that_is_too_large_is_encoded_once(
    monkeypatch: pytest.MonkeyPatch, annotation: Any, result: Any, most: int
) -> None:
    sizes: list[int] = []

    def measured(*values: Any, **options: Any) -> bytes:
        written = to_json(*values, **options)
        sizes.append(len(written))
        return written

    async def numbers() -> Any:
        """Return more numbers than the limit allows."""
        return result

    numbers.__annotations__["return"] = annotation
    async with make_host(kit_of(numbers, max_result=1_000_000)) as host:
        monkeypatch.setattr(codec, "to_json", measured)
        assert "too large" in str((await failure(host, "numbers")).error)
    assert 0 < sum(sizes) <= most


def plain(value: Any, is_json: bool) -> Any:
    return to_jsonable_python(value, inf_nan_mode="constants", bytes_mode="base64")


def never(value: Any, is_json: bool) -> Any:
    raise AssertionError("it is converted or encoded")


def shared(depth: int) -> list[Any]:
    """Return a few lists whose JSON has 10 to the power of `depth` items."""
    layer: list[Any] = [1] * 10
    for _ in range(depth - 1):
        layer = [layer] * 10
    return layer


FITTING: dict[str, Any] = {
    "beyond ASCII": "é€😀" * 30,
    "control characters": "\x00" * 30,
    "bytes": b"x" * 100,
    "numbers": [-1.2345678901234567e-300, 2**64] * 8,
    "numbers of many digits": [10**100] * 8,
    "nested": {"k" * 500: {"l" * 500: ["c", None, True]}},
    "names that are not strings": {1: 2, "k" * 50: 3},
    "model": Open.model_validate({"text": "x" * 90, "more": 5}),
    "dataclass": Slotted(date(2026, 1, 1)),
    "class variable": Tabled(1),
    "root models": [RootModel[int](1)] * 30,
}


@pytest.mark.parametrize("name", FITTING)
def test_the_limit_is_exact(name: str) -> None:
    result = plain(FITTING[name], is_json=False)
    size = len(encode(result))
    assert within(size, FITTING[name], plain) == result
    with pytest.raises(TooLarge):
        within(size - 1, FITTING[name], plain)


LARGE: dict[str, Any] = {
    "bytes": b"x" * 1001,
    "shared texts": ["x" * 501] * 2,
    "members": {str(number): 1 for number in range(501)},
    "range": {"range": range(10**12)},
    "a quintillion items": shared(18),
    "extra members": Open.model_validate({"more": [1] * 501}),
    "dataclass": Slotted(["x" * 1001]),
    "mapping": MappingProxyType({"a": "x" * 1001}),
    "shared names": {"rows": [None, {"x" * 50: 1}] * 50},
}


@pytest.mark.parametrize("name", LARGE)
def test_a_huge_value_is_not_even_converted(name: str) -> None:
    with pytest.raises(TooLarge) as refused:
        within(1000, LARGE[name], never)
    assert refused.value.size > 1000


async def generating() -> Any:
    yield 1


@pytest.mark.parametrize(
    "hide",
    [
        pytest.param(lambda it: {"a": [{"b": (it,)}]}, id="containers"),
        pytest.param(lambda it: Open.model_validate({"more": it}), id="extra"),
        pytest.param(lambda it: Slotted([it]), id="dataclass"),
        pytest.param(lambda it: MappingProxyType({"a": it}), id="mapping"),
        pytest.param(members_of_job, id="members"),
        pytest.param(lambda it: [None, [], members_of_job(it)], id="members inside"),
        pytest.param(lambda it: [members_of_job(it), {1: 2, 3: 4}], id="members beside other names"),
        pytest.param(lambda it: [*({1: 2} for _ in range(100)), members_of_job(it)], id="members beside many"),
    ],
)
def test_an_iterator_is_found_in_any_place(hide: Any) -> None:
    for iterator in (itertools.count(), (n for n in [1]), generating()):
        with pytest.raises(ToolOutputError, match="iterator"):
            within(2000, hide(iterator), never)


@pytest.mark.parametrize("hidden", ["x" * 1000, itertools.count()], ids=["large", "iterator"])
def test_members_of_models_that_are_not_sent_do_not_count(hidden: Any) -> None:
    model = Hiding(excluded=hidden)
    assert model.cached is hidden
    assert within(20, [model], plain) == [{"shown": "x"}]


def test_each_member_of_many_objects_is_examined() -> None:
    rows: list[Any] = [{"a": number, "b": "x", "c": None} for number in range(1000)]
    with pytest.raises(TooLarge):
        within(15_000, [*rows, {"a": 1, "b": "x" * 10_000, "c": None}], never)
    with pytest.raises(TooLarge):
        within(15_000, [*rows, {"a": 1, "b": "x", "c": "x" * 10_000}], never)
    with pytest.raises(ToolOutputError, match="iterator"):
        within(15_000, [*rows, {"a": 1, "b": "x", "c": itertools.count()}], never)


def test_a_list_that_contains_itself_comes_to_an_end() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="Circular"):
        within(10_000, endless, plain)


@pytest.mark.parametrize(
    ("own", "allowed"), [(None, 1000), (100, 100), (5000, 5000), (0, 20_000)], ids=["the host's", "less", "more", "any"]
)
async def test_a_tools_own_limit_comes_first(own: int | None, allowed: int, caplog: pytest.LogCaptureFixture) -> None:
    def give(size: int) -> str:
        return "x" * (size - 2)  # two quotation marks

    async with make_host(kit_of(give, max_result=own), max_result_bytes=1000) as host:
        assert len(await value(host, "give", {"size": allowed})) == allowed - 2
        if own != 0:
            refused = await failure(host, "give", {"size": allowed + 1})
            assert f"more than {allowed:,} bytes" in refused.error.message
            assert "the result of give is too large" in caplog.text


async def test_resources_and_prompts_have_the_limit_too(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("x")
    kit.resource("docs://large", name="large")(lambda: b"x" * 2000)
    kit.prompt(name="long", description="Say much.")(lambda: "x" * 2000)
    calls = [Call("resources/read", {"uri": "docs://large"}), Call("prompts/get", {"name": "x_long"})]
    for limit, refused in ((1000, True), (10_000, False), (0, False)):
        async with make_host(kit, max_result_bytes=limit) as host:
            for call, name in zip(calls, ("docs://large", "x_long"), strict=True):
                caplog.clear()
                outcome = await host.dispatch(call)
                assert isinstance(outcome, Failure) is refused
                assert (f"the result of {name} is too large" in caplog.text) is refused
                if isinstance(outcome, Failure):
                    assert "too large: it has more than 1,000 bytes" in outcome.error.message
