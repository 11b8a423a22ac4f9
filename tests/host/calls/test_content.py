"""Resources, templates, prompts and completion in a host: what is served, by whom, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import repeat
from typing import Annotated, Any, Literal

import pytest

from pegboard import (
    Annotations,
    AuthorizationError,
    Completion,
    Context,
    Host,
    Icon,
    NotFoundError,
    PluginConfig,
    PromptError,
    PromptResult,
    ResourceError,
    ResourceResult,
    ToolDefinitionError,
    ToolExecutionError,
    Toolkit,
    current_context,
)
from pegboard.plugin import ProtocolError
from pegboard.types import Call, Failure, Outcome
from tests.host.hosting import make_host


async def read(host: Host, uri: str) -> Outcome:
    return await host.dispatch(Call("resources/read", {"uri": uri}))


async def text(host: Host, uri: str) -> str | bytes:
    outcome = await read(host, uri)
    assert isinstance(outcome, ResourceResult), outcome
    return outcome.contents[0].content


async def get(host: Host, name: str, /, **arguments: str) -> Outcome:
    return await host.dispatch(Call("prompts/get", {"name": name, "arguments": arguments}))


async def said(host: Host, name: str, /, **arguments: str) -> Any:
    outcome = await get(host, name, **arguments)
    assert isinstance(outcome, PromptResult), outcome
    return outcome.messages[0].content


async def complete(host: Host, reference: dict[str, str], name: str, value: str = "", **chosen: str) -> Outcome:
    argument = {"name": name, "value": value}
    params = {"ref": reference, "argument": argument, "context": {"arguments": chosen}}
    return await host.dispatch(Call("completion/complete", params))


async def values(host: Host, reference: dict[str, str], name: str, value: str = "", **chosen: str) -> Sequence[str]:
    outcome = await complete(host, reference, name, value, **chosen)
    assert isinstance(outcome, Completion), outcome
    return outcome.values


def prompt(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


def template(uri: str) -> dict[str, str]:
    return {"type": "ref/resource", "uri": uri}


def problem(add: Callable[[Toolkit], Any]) -> str:
    """The one problem of a kit."""
    kit = Toolkit("x")
    add(kit)
    host = make_host(kit)
    host.load()
    assert not host.assembly.resources
    assert not host.assembly.prompts
    (found,) = host.problems
    return str(found)


async def test_one_uri_is_read_by_what_fixes_most_of_it_whatever_the_order_of_definitions() -> None:
    kits = []
    uris = ["x://users/ada", "x://users/{id}", "x://{kind}/{id}", "x://{+rest}"]
    for order in (uris, uris[::-1]):
        kit = Toolkit("x")
        for uri in order:
            names = {"id", "kind", "rest"} & set(uri.replace("{", " ").replace("}", " ").replace("+", "").split())
            function = eval(f"lambda {', '.join(sorted(names))}: {uri!r}")
            function.__annotations__ = dict.fromkeys(names, str)
            kit.resource(uri, name="n")(function)
        kits.append(kit)
    for kit in kits:
        async with make_host(kit) as host:
            asked = ["x://users/ada", "x://users/bob", "x://dogs/rex", "x://a/b/c"]
            assert [await text(host, uri) for uri in asked] == uris


async def test_types_tell_templates_of_one_form_apart() -> None:
    kit = Toolkit("x")

    @kit.resource("x://{number}")
    def by_number(number: int) -> str:
        return f"number {number + 1}"

    @kit.resource("x://{word}")
    def by_word(word: Literal["one", "two"]) -> str:
        return f"word {word}"

    async with make_host(kit) as host:
        assert await text(host, "x://1") == "number 2"
        assert await text(host, "x://one") == "word one"
        outcome = await read(host, "x://three")
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, NotFoundError)
        assert outcome.error.data == {"uri": "x://three"}
        assert "word: must be 'one' or 'two'" in outcome.error.message


class Settings(PluginConfig):
    greeting: str = "hello"


async def test_a_resource_and_a_prompt_see_their_context_like_a_tool() -> None:
    kit = Toolkit("x", config=Settings)

    @kit.resource("x://{name}", name="greeting")
    async def resource(name: str, context: Context) -> str:
        assert current_context() is context
        return f"{context.config.greeting} {name} {context.name} {dict(context.arguments)} {context.request_id}"

    @kit.resource("x://static", name="still")
    def static(context: Context | None = None) -> str:
        assert context is not None
        return f"{context.config.greeting} {dict(context.arguments)}"

    @kit.prompt
    def ask(name: str, context: Context) -> str:
        """Ask."""
        return f"{context.config.greeting} {name} {context.name} {dict(context.arguments)}"

    async with make_host(kit, config={"toolkits": {"x": {"greeting": "moin"}}}) as host:
        outcome = await host.dispatch(Call("resources/read", {"uri": "x://ada"}, request_id=7))
        assert isinstance(outcome, ResourceResult)
        assert outcome.contents[0].content == "moin ada x://{name} {'name': 'ada'} 7"
        assert await text(host, "x://static") == "moin {}"
        assert await said(host, "x_ask", name="5") == "moin 5 x_ask {'name': '5'}"


async def test_a_typed_error_of_a_handler_keeps_its_type() -> None:
    kit = Toolkit("x")
    errors: dict[str, Exception] = {
        "gone": NotFoundError("It is gone"),
        "own": NotFoundError("Not here", data={"uri": "x://other"}),
        "secret": AuthorizationError("Not for you"),
        "bad": ResourceError("Not in this form"),
        "tool": ToolExecutionError("Later"),
        "protocol": ProtocolError(-32099, "Own code"),
        "accident": RuntimeError("canary"),
    }

    @kit.resource("x://{name}")
    def resource(name: str) -> str:
        raise errors[name]

    @kit.prompt
    async def ask(name: str) -> str:
        """Ask."""
        raise PromptError("Not in this form") if name == "bad" else errors[name]

    async with make_host(kit) as host:
        for name, error in errors.items():
            for outcome in (await read(host, f"x://{name}"), await get(host, "x_ask", name=name)):
                assert isinstance(outcome, Failure)
                if name == "accident":
                    assert outcome.error.message == "It failed unexpectedly."
                else:
                    assert outcome.error.message == error.args[0] if name != "protocol" else "Own code"
                    assert type(outcome.error) in (type(error), PromptError)
        gone, own = [(await read(host, f"x://{name}")) for name in ("gone", "own")]
        assert isinstance(gone, Failure)
        assert isinstance(gone.error, NotFoundError)
        assert gone.error.data == {"uri": "x://gone"}
        assert isinstance(own, Failure)
        assert isinstance(own.error, NotFoundError)
        assert own.error.data == {"uri": "x://other"}


async def test_wrong_arguments_of_a_nested_call_are_no_missing_resource() -> None:
    kit = Toolkit("x")

    @kit.tool
    def add(a: int) -> int:
        """Add."""
        return a

    @kit.resource("x://{name}")
    async def resource(name: str, context: Context) -> Any:
        return await context.tools.call("x_add", {"a": name})

    async with make_host(kit) as host:
        assert await text(host, "x://1") == "1"
        outcome = await read(host, "x://one")
    assert isinstance(outcome, Failure)
    assert not isinstance(outcome.error, NotFoundError)


NO_ROLES: Any = ["all"]


def one_name(name: str) -> str:
    """Of a name."""
    return name


def two(name: str, other: int) -> str:
    """Of two."""
    return name * other


@pytest.mark.parametrize(
    ("uri", "options", "function", "reason"),
    [
        ("x://{a}-{b}", {}, two, "its URI template cannot be served: {a} and {b} are ambiguous: separate them"),
        ("x://{name", {}, one_name, "its URI template cannot be served: invalid character '{' at position 5"),
        ("{name}", {}, one_name, "its URI is not absolute"),
        ("x://{id}", {}, one_name, "its URI has the variable 'id', which its function does not take"),
        ("x://static", {}, two, "its function takes 'name', 'other', and its URI has no variables"),
        ("x://{name}", {"size": 5}, one_name, "a template cannot have a size"),
        (
            "x://{name}",
            {"annotations": Annotations(NO_ROLES)},
            one_name,
            "its annotations.audience: must be 'user' or 'assistant', not 'all'",
        ),
        (
            "x://{name}",
            {"icons": [Icon("icon.png")]},
            one_name,
            "its icons: src must be an https:, http: or data: URI, not 'icon.png'",
        ),
        ("x://{name}", {"completions": {"name": "abc"}}, one_name, "must be a function or a list of strings"),
        ("x://{name}", {"completions": {"name": lambda a, b: []}}, one_name, "takes 'b', which is not an argument"),
    ],
)
def test_a_wrong_template_costs_itself_and_says_why(uri: str, options: Any, function: Any, reason: str) -> None:
    assert reason in problem(lambda kit: kit.resource(uri, **options)(function))


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


async def test_texts_become_what_the_types_of_parameters_say() -> None:
    kit = Toolkit("x")
    seen: list[Any] = []

    @kit.prompt
    def ask(
        number: int,
        ratio: float | None = None,
        flags: set[str] | None = None,
        table: dict[str, list[int]] | None = None,
        size: Size = Size.SMALL,
        step: Literal[1, 2] = 1,
        either: str | list[str] = "",
        anything: Any = None,
        renamed: Annotated[str, "from", "where from"] = "",
    ) -> str:
        """Ask."""
        seen.extend([number, ratio, flags, table, size, step, either, anything, renamed])
        return "asked"

    arguments = {
        "number": "7", "ratio": "0.5", "flags": '["a", "a"]', "table": '{"a": [1]}', "size": "2", "step": "2",
        "either": '["x"]', "anything": "5", "from": "here",
    }  # fmt: skip
    async with make_host(kit) as host:
        assert await said(host, "x_ask", **arguments) == "asked"
    assert seen == [7, 0.5, {"a"}, {"a": [1]}, Size.LARGE, 2, '["x"]', "5", "here"]


async def test_completion_for_those_who_are_defined_before_and_for_no_other() -> None:
    kit = Toolkit("x")
    kit.prompt(one_name)
    kit.resource("x://{name}")(one_name)

    @kit.completion(one_name, "name")
    def names(typed: str) -> list[str]:
        return [typed + "!"]

    with pytest.raises(ToolDefinitionError, match="neither a prompt nor a resource of the toolkit 'x'"):
        kit.completion(two, "name")(names)
    assert names("callable still") == ["callable still!"]
    async with make_host(kit) as host:
        assert host.offers("completions")
        for reference in (prompt("x_one_name"), template("x://{name}")):
            assert await values(host, reference, "name", "a") == ("a!",)


async def test_a_function_is_given_what_it_asks_for() -> None:
    kit = Toolkit("x", config=Settings)

    @kit.prompt
    def ask(a: str, b: str = "", c: str = "") -> str:
        """Ask."""
        return a

    @kit.completion(ask, "a")
    async def of_a(typed: str, context: Context, b: str | None, c: str = "none") -> tuple[str, ...]:
        return (f"{typed} {b} {c} {context.config.greeting} {dict(context.arguments)} {context.name}",)

    async with make_host(kit) as host:
        assert await values(host, prompt("x_ask"), "a", "t") == ("t None none hello {} x_ask",)
        chosen = await values(host, prompt("x_ask"), "a", "t", b="B", c="C", unknown="U")
        assert chosen == ("t B C hello {'b': 'B', 'c': 'C', 'unknown': 'U'} x_ask",)


@pytest.mark.requirement("COMP-02")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a"] * 101, Completion(("a",) * 100, 101, True)),
        ((one for one in "ab"), Completion(("a", "b"), 2, False)),
        (repeat("a"), Completion(("a",) * 100, None, True)),
        (Completion(["a"], total=5), Completion(("a",), 5, True)),
        (Completion(["a"] * 200, total=300), Completion(("a",) * 100, 300, True)),
    ],
)
async def test_a_hundred_values_at_most_with_how_many_there_are(given: Any, expected: Completion) -> None:
    kit = Toolkit("x")
    kit.prompt(name="p", completions={"name": lambda typed: given})(one_name)
    async with make_host(kit) as host:
        assert await complete(host, prompt("x_p"), "name") == expected


@pytest.mark.parametrize("given", ["abc", 5, [1], {"a": 1}, b"abc", Completion([1])], ids=repr)  # type: ignore[list-item]
async def test_a_completion_without_strings_is_masked(given: Any) -> None:
    kit = Toolkit("x")
    kit.prompt(name="p", completions={"name": lambda typed: given})(one_name)
    async with make_host(kit) as host:
        outcome = await complete(host, prompt("x_p"), "name")
    assert isinstance(outcome, Failure)
    assert outcome.error.message == "It failed unexpectedly."
    assert outcome.error_id


async def test_types_of_few_values_complete_themselves() -> None:
    kit = Toolkit("x")

    @kit.prompt
    def ask(
        size: Size = Size.SMALL,
        word: Literal["zebra", "ant"] | None = None,
        flag: bool = False,
        mixed: Literal["x"] | int = 1,
        one: Literal["only"] = "only",
    ) -> str:
        """Ask."""
        return str(size)

    async with make_host(kit) as host:
        found = [await values(host, prompt("x_ask"), name) for name in ("size", "word", "flag", "mixed", "one")]
    assert found == [("1", "2"), ("zebra", "ant"), ("true", "false"), (), ("only",)]
