"""The examples do what they say: every command that they show, and their features as a client sees them."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard_testing import connect, decline
from tests.docs.pages import pegboard
from tests.support.forks import forks
from tools.install import ROOT

EXAMPLES = ROOT / "docs" / "examples"
FILES = sorted(path.name for path in EXAMPLES.glob("*.py"))


def client_of(name: str, **options: Any) -> connect:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return connect(module.kit, **options)


def test_each_example_is_a_server_and_the_page_lists_it() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| \[(\S+)\]\(\1\) \|", page, re.M)) == FILES
    for name in FILES:
        done = pegboard("list", "--file", name, cwd=EXAMPLES)
        assert (done.code, "error" in done.err) == (0, False), done.err
        assert "kit.run(" in (EXAMPLES / name).read_text("utf-8")


def test_the_commands_of_each_example_print_the_shown_output(tmp_path: Path) -> None:
    for name in FILES:
        shown = (EXAMPLES / name).read_text("utf-8").split('"""')[1]
        for command, printed in re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", shown, re.M):
            env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **dict(re.findall(r"^(\w+)=(\S+) ", command))}
            _, *arguments = shlex.split(re.sub(r"^\w+=\S+ ", "", command))
            done = forks().run(arguments, EXAMPLES, env, merged=True)
            assert [line.strip() for line in done.out.splitlines()] == printed.splitlines(), command


FILLED = {"name": "Ada", "day": "2026-07-28", "people": 3}
BOOKED = "3 people, 2026-07-28, Ada"
TOKENS = {"static_tokens": {"tokens": {"github": "abc"}}}
CALLS: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("tool_chaining", "total", {"basket": {"apple": 1, "pear": 2}}, {}, "8"),
    ("dependencies", "find", {"text": "milk"}, {}, "[]"),
    ("sampling", "summarise", {"text": "Long, long ago."}, {"answers": ["In short."]}, "In short."),
    ("sampling", "summarise", {"text": "Long, long ago."}, {"capabilities": {}}, "Long, long ago."),
    ("elicitation_form", "book", {"restaurant": "Roma"}, {"answers": [FILLED, True]}, f"{BOOKED}: confirmed"),
    ("elicitation_url", "connect", {}, {"answers": [True]}, "The page was opened."),
    ("elicitation_url", "connect", {}, {"answers": [decline()]}, "The account is not connected."),
    ("api_key", "measure", {}, {"secrets": {"WEATHER_KEY": "abc"}}, "measured with a key of 3 characters"),
    ("api_key", "measure", {}, {}, "WEATHER_KEY"),
    ("authorization", "add", {"name": "a/b"}, {"plugins": TOKENS}, "starred a/b with a token of 3 characters"),
    ("authorization", "add", {"name": "a/b"}, {}, "this tool needs a token of GitHub that allows public_repo"),
]


@pytest.mark.parametrize(("name", "tool", "arguments", "options", "text"), CALLS)
async def test_calls(name: str, tool: str, arguments: dict[str, Any], options: dict[str, Any], text: str) -> None:
    async with client_of(name, **options) as client:
        done = await client.call(tool, arguments)
        assert text in done.text if done.is_error else text == done.text


async def test_resources_and_prompts() -> None:
    async with client_of("resources") as client:
        assert (await client.read("library://titles")).text == '["emma","moby-dick"]'
        assert (await client.read("book://moby-dick")).text == "Call me Ishmael."
        assert (await client.complete("book://{title}", "title", "e")).values == ("emma",)
    async with client_of("prompts") as client:
        answer = await client.prompt("review", code="x = 1", strict="true")
        assert answer.text == "Review this python code. Spare nothing.\n\nx = 1"
        roles = [message["role"] for message in (await client.prompt("interview", topic="bees")).messages]
        assert roles == ["user", "assistant"]
        assert (await client.complete("review", "language", "r")).values == ("rust",)
