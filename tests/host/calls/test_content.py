"""Resources, templates, prompts and completion in a host.

`tests/protocol/test_content.py` has the rules of the wire.
"""

from __future__ import annotations

from collections.abc import Callable
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


def failed(outcome: Outcome) -> Failure:
    assert isinstance(outcome, Failure), outcome
    return outcome


def prompt(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


@pytest.mark.parametrize("reverse", [False, True])
async def test_the_most_specific_template_reads_a_uri_in_any_order_of_definitions(reverse: bool) -> None:
    kit = Toolkit("x")
    templates: dict[str, Callable[..., str]] = {
        "x://users/ada": lambda: "ada",
        "x://users/{id}": lambda id: "user",
        "x://{kind}/{id}": lambda kind, id: "kind",
        "x://{+rest}": lambda rest: "rest",
    }
    for uri in sorted(templates, reverse=reverse):
        function = templates[uri]
        function.__annotations__ = dict.fromkeys(function.__code__.co_varnames, str)
        kit.resource(uri, name="n")(function)
    async with make_host(kit) as host:
        found = [await text(host, f"x://{path}") for path in ("users/ada", "users/bob", "dogs/rex", "a/b/c")]
        assert found == ["ada", "user", "kind", "rest"]


async def test_types_distinguish_templates_of_one_form() -> None:
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
        error = failed(await read(host, "x://three")).error
        assert isinstance(error, NotFoundError)
        assert error.data == {"uri": "x://three"}
        assert "word: must be 'one' or 'two'" in error.message


class Settings(PluginConfig):
    greeting: str = "hello"


async def test_resources_prompts_and_completions_have_a_context_like_tools() -> None:
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
    def ask(name: str, context: Context, b: str = "", c: str = "") -> str:
        """Ask."""
        return f"{context.config.greeting} {name} {context.name} {dict(context.arguments)}"

    @kit.completion(ask, "name")
    async def names(typed: str, context: Context, b: str | None, c: str = "none") -> tuple[str, ...]:
        return (f"{typed} {b} {c} {context.config.greeting} {dict(context.arguments)} {context.name}",)

    async with make_host(kit, config={"toolkits": {"x": {"greeting": "moin"}}}) as host:
        outcome = await host.dispatch(Call("resources/read", {"uri": "x://ada"}, request_id=7))
        assert isinstance(outcome, ResourceResult)
        assert outcome.contents[0].content == "moin ada x://{name} {'name': 'ada'} 7"
        assert await text(host, "x://static") == "moin {}"
        assert await said(host, "x_ask", name="5") == "moin 5 x_ask {'name': '5'}"
        bare = await complete(host, prompt("x_ask"), "name", "t")
        chosen = await complete(host, prompt("x_ask"), "name", "t", b="B", u="U")
        assert bare == Completion(("t None none moin {} x_ask",), 1, False)
        assert chosen == Completion(("t B none moin {'b': 'B', 'u': 'U'} x_ask",), 1, False)


async def test_a_typed_error_of_a_resource_or_prompt_keeps_its_type() -> None:
    kit = Toolkit("x")
    errors: dict[str, Exception] = {
        "gone": NotFoundError("It is gone"),
        "own": NotFoundError("Not here", data={"uri": "x://other"}),
        "secret": AuthorizationError("Not for you"),
        "bad": ResourceError("Not in this form"),
        "prompt": PromptError("Not in this form"),
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
        raise errors[name]

    async with make_host(kit) as host:
        for name, error in errors.items():
            for outcome in (await read(host, f"x://{name}"), await get(host, "x_ask", name=name)):
                found = failed(outcome).error
                if name == "accident":
                    assert found.message == "It failed unexpectedly."
                else:
                    assert (type(found), found.message) == (type(error), getattr(error, "message", None))
        for name, uri in (("gone", "x://gone"), ("own", "x://other")):
            found = failed(await read(host, f"x://{name}")).error
            assert isinstance(found, NotFoundError)
            assert found.data == {"uri": uri}


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
        assert not isinstance(failed(await read(host, "x://one")).error, NotFoundError)


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
        ("{name}", {}, one_name, "its URI is not absolute"),
        ("x://{id}", {}, one_name, "its URI has the variable 'id', which its function does not take"),
        ("x://static", {}, two, "its function takes 'name', 'other', and its URI has no variables"),
        ("x://{name}", {"size": 5}, one_name, "a template cannot have a size"),
        ("x://{name}", {"annotations": Annotations(NO_ROLES)}, one_name, "must be 'user' or 'assistant', not 'all'"),
        ("x://{name}", {"icons": [Icon("icon.png")]}, one_name, "src must be an https:, http: or data: URI"),
        ("x://{name}", {"completions": {"name": "abc"}}, one_name, "must be a function or a list of strings"),
        ("x://{name}", {"completions": {"name": lambda a, b: []}}, one_name, "takes 'b', which is not an argument"),
    ],
)
def test_an_invalid_template_is_left_out_with_the_reason(uri: str, options: Any, function: Any, reason: str) -> None:
    kit = Toolkit("x")
    kit.resource(uri, **options)(function)
    host = make_host(kit)
    assert not host.load().resources
    (problem,) = host.problems
    assert reason in str(problem)


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


async def test_strings_are_converted_to_the_types_of_parameters() -> None:
    kit = Toolkit("x")
    seen: list[Any] = []

    @kit.prompt
    def ask(
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
        seen.extend([ratio, flags, table, size, step, either, anything, renamed])
        return "asked"

    arguments = {
        "ratio": "0.5", "flags": '["a", "a"]', "table": '{"a": [1]}', "size": "2", "step": "2",
        "either": '["x"]', "anything": "5", "from": "here",
    }  # fmt: skip
    async with make_host(kit) as host:
        assert await said(host, "x_ask", **arguments) == "asked"
    assert seen == [0.5, {"a"}, {"a": [1]}, Size.LARGE, 2, '["x"]', "5", "here"]


async def test_completion_is_for_functions_that_are_defined_before() -> None:
    kit = Toolkit("x")
    kit.prompt(one_name)
    kit.resource("x://{name}")(one_name)

    @kit.completion(one_name, "name")
    def names(typed: str) -> list[str]:
        return [typed + "!"]

    with pytest.raises(ToolDefinitionError, match="neither a prompt nor a resource of the toolkit 'x'"):
        kit.completion(two, "name")(names)
    async with make_host(kit) as host:
        for reference in (prompt("x_one_name"), {"type": "ref/resource", "uri": "x://{name}"}):
            assert await complete(host, reference, "name", "a") == Completion(("a!",), 1, False)


async def completion_of(given: Any) -> Outcome:
    kit = Toolkit("x")
    kit.prompt(name="p", completions={"name": lambda typed: given})(one_name)
    async with make_host(kit) as host:
        return await complete(host, prompt("x_p"), "name")


@pytest.mark.requirement("COMP-02")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a"] * 101, Completion(("a",) * 100, 101, True)),
        (repeat("a"), Completion(("a",) * 100, None, True)),
        (Completion(["a"], total=5), Completion(("a",), 5, True)),
        (Completion(["a"] * 200, total=300), Completion(("a",) * 100, 300, True)),
    ],
)
async def test_a_completion_has_at_most_a_hundred_values_and_their_number(given: Any, expected: Completion) -> None:
    assert await completion_of(given) == expected


@pytest.mark.parametrize("given", ["abc", 5, [1], {"a": 1}, Completion([1])], ids=repr)  # type: ignore[list-item]
async def test_a_completion_without_strings_is_masked(given: Any) -> None:
    outcome = failed(await completion_of(given))
    assert outcome.error.message == "It failed unexpectedly."
    assert outcome.error_id
