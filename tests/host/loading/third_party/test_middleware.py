"""Third-party middleware runs if it is named, in the order of the operator."""

from __future__ import annotations

import pytest

from tests.host.loading.third_party.installed import NO_IMPOSTOR, complaints, pegboard, samples, stdio

PLUGINS = '[plugins.redact]\nwords = ["Ada"]\n[plugins.shout]\n[toolkits.greeter]\n'


def config(order: str, plugins: str = PLUGINS) -> str:
    return f"[host]\nautoload = false\n{NO_IMPOSTOR}\n{order}\n{plugins}"


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ('middleware = ["shout", "redact"]', "HELLO [REDACTED]"),
        ('middleware = ["redact", "shout"]', "HELLO ADA"),
        ('middleware = ["shout"]', "HELLO [REDACTED]"),
        ("", "HELLO ADA"),
    ],
    ids=["redacted, then shouted", "shouted, then redacted", "the listed one is outside", "in the order of names"],
)
async def test_the_operator_sets_the_order(order: str, text: str) -> None:
    async with stdio(samples(), config(order)) as wire:
        await wire.initialize()
        result = await wire.call("greeter_hello", name="Ada")
    assert result["content"][0]["text"] == text
    assert complaints(wire.stderr) == []


async def test_a_list_enables_it() -> None:
    async with stdio(samples(), config('middleware = ["shout"]', "[toolkits.greeter]\n")) as wire:
        await wire.initialize()
        result = await wire.call("greeter_hello", name="Ada")
    assert result["content"][0]["text"] == "HELLO ADA"


async def test_it_runs_around_its_methods_and_lets_errors_pass() -> None:
    async with stdio(samples(), config("", PLUGINS + "most = 1\n")) as wire:
        await wire.initialize()
        (prompt,) = (await wire.result("prompts/list"))["prompts"]
        await wire.call("greeter_hello", name="Ada")
        full = await wire.call("greeter_hello", name="Emmy")
    assert prompt["title"] == "Introduce"
    assert full["content"][0]["text"] == "The guest book is full."


def test_an_unknown_name_in_the_list_prevents_the_start() -> None:
    done = pegboard(samples(), "stdio", config=config('middleware = ["shuot"]'))
    assert done.returncode == 3
    (line,) = complaints(done.stderr)
    assert "middleware" in line
    assert "'shuot'" in line
    assert '"shout"' in line
