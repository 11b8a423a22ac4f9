"""Resources, templates, prompts and completion in a host.

`tests/protocol/test_content.py` has the rules of the wire.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import pytest

from pegboard import (
    Completion,
    Context,
    Host,
    NotFoundError,
    PluginConfig,
    PromptResult,
    ResourceResult,
    Toolkit,
    current_context,
)
from pegboard.types import Call, Failure, Outcome
from tests.host.hosting import got, make_host


async def text(host: Host, uri: str) -> str | bytes:
    outcome = await host.dispatch(Call("resources/read", {"uri": uri}, request_id=7))
    assert isinstance(outcome, ResourceResult), outcome
    return outcome.contents[0].content


async def complete(host: Host, prompt: str, name: str, value: str = "", **chosen: str) -> Outcome:
    reference, argument = {"type": "ref/prompt", "name": prompt}, {"name": name, "value": value}
    params = {"ref": reference, "argument": argument, "context": {"arguments": chosen}}
    return await host.dispatch(Call("completion/complete", params))


class Settings(PluginConfig):
    greeting: str = "hello"


async def test_resources_prompts_and_completions_have_a_context_like_tools() -> None:
    kit = Toolkit("x", config=Settings)

    @kit.resource("x://{name}", name="greeting")
    async def resource(name: str, context: Context) -> str:
        assert current_context() is context
        return f"{context.config.greeting} {name} {context.name} {dict(context.arguments)} {context.request_id}"

    @kit.prompt
    def ask(name: str, context: Context, b: str = "", c: str = "") -> str:
        """Ask."""
        return f"{context.config.greeting} {name} {context.name} {dict(context.arguments)}"

    @kit.completion(ask, "name")
    async def names(typed: str, context: Context, b: str | None, c: str = "none") -> tuple[str, ...]:
        return (f"{typed} {b} {c} {context.config.greeting} {dict(context.arguments)} {context.name}",)

    async with make_host(kit, config={"toolkits": {"x": {"greeting": "moin"}}}) as host:
        assert await text(host, "x://ada") == "moin ada x://{name} {'name': 'ada'} 7"
        prompt = await got(PromptResult, host, "prompts/get", name="x_ask", arguments={"name": "5"})
        assert prompt.messages[0].content == "moin 5 x_ask {'name': '5'}"
        bare = await complete(host, "x_ask", "name", "t")
        chosen = await complete(host, "x_ask", "name", "t", b="B", u="U")
        assert bare == Completion(("t None none moin {} x_ask",), 1, False)
        assert chosen == Completion(("t B none moin {'b': 'B', 'u': 'U'} x_ask",), 1, False)


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
        failed = await got(Failure, host, "resources/read", uri="x://one")
    assert not isinstance(failed.error, NotFoundError)


def one_name(name: str) -> str:
    """Of a name."""
    return name


@pytest.mark.requirement("COMP-02")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (repeat("a"), Completion(("a",) * 100, None, True)),
        (Completion(["a"] * 200, total=300), Completion(("a",) * 100, 300, True)),
    ],
)
async def test_a_completion_has_at_most_a_hundred_values_and_their_number(values: Any, expected: Completion) -> None:
    kit = Toolkit("x")
    kit.prompt(name="p", completions={"name": lambda typed: values})(one_name)
    async with make_host(kit) as host:
        assert await complete(host, "x_p", "name") == expected
