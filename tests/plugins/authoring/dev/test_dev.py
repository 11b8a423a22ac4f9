"""`pegboard dev`: lines of a pipe and of a terminal, saves of the file, and the end of its process."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from pegboard_plugins.authoring.dev.prompt_commands import PromptCommands
from pegboard_plugins.authoring.dev.served_file import FileVersion, ServedFile
from tests.support.command_line import Command, findings_of
from tests.support.typist import Typist

SHOP = '''
import asyncio, os, sys
from typing import Literal

from pydantic import BaseModel

from pegboard import Context, Toolkit

kit = Toolkit("shop")


class Person(BaseModel):
    name: str


@kit.tool
def price(product: Literal["tea", "honey"], amount: int = 1) -> int:
    """Tell the price."""
    return 4 * amount


@kit.tool
async def pack(context: Context, parcels: int) -> str:
    """Pack parcels."""
    context.log.info("begun")
    await context.progress.report(1, 4, "first")
    try:
        await asyncio.sleep(0 if parcels == 1 else 3600)
    except asyncio.CancelledError:
        print("stopped", file=sys.stderr)
        raise
    return "packed"


@kit.tool
async def greet(context: Context) -> str:
    """Ask for a name."""
    answer = await context.ui.elicit("Who are you?", Person)
    return f"Hello {answer.content.name}!"


@kit.tool
def leave() -> str:
    """End the process."""
    os._exit(4)


@kit.resource("notes://today")
def today() -> str:
    """Today's notes."""
    return "cups"
'''
BROKEN = "\nx = (\n"
MORE = '\n\n@kit.tool\ndef close() -> str:\n    """Close."""\n    return "closed"\n'


def test_lines_of_a_pipe_print_results(bare: Command) -> None:
    bare.write(SHOP, "shop.py")
    lines = [
        "shop_price product=tea amount:=3",
        "Shop.Price product=honey",
        "call shop_pack parcels:=1",
        "notes://today",
        "show shop_price",
        "shop_price product=milk",
        "prize",
        "call",
        "shop_price product",
        '"',
        "shop_leave",
        "shop_price product=tea",
    ]
    done = bare("dev", "shop.py", typed="\n".join(lines))
    shown = "shop_price\n\nTell the price.\n\n  product  tea|honey  required\n  amount   integer    =1\n"
    refused = "Invalid arguments:\nproduct: must be 'tea' or 'honey'\n"
    assert (done.code, done.out) == (1, f"12\n4\npacked\ncups\n{shown}{refused}4\n")
    messages = [line.removeprefix("pegboard: ") for line in done.err.splitlines()]
    assert messages == [
        "shop.py serves 4 tools, and each save reloads it; `help` shows the commands, and Ctrl-D ends",
        "info: begun",
        "the server has no tool, resource or resource template 'prize'; did you mean 'shop_price'?",
        "write a name: [call] NAME key=value ...",
        "'product' is not an argument: write key=value for a string, key:=json for JSON",
        "No closing quotation: add the missing quotation mark",
        "the process that runs the file ended during the call; it is started again",
        "shop.py is reloaded",
    ]
    assert bare("dev", "shop.py", typed="help\nshop_price product=tea").code == 0


def test_each_line_prints_one_line_of_json(bare: Command) -> None:
    bare.write(SHOP, "shop.py")
    lines = ["list", "shop_price product=tea", "prize", '"', "shop_leave", "show shop_pack", "help"]
    done = bare("dev", "shop.py", "--json", typed="\n".join(lines))
    results = [json.loads(line) for line in done.out.splitlines()]
    assert ["error" in result for result in results] == [False, False, True, True, True, False, False]
    assert [result["error"]["exit_code"] for result in results if "error" in result] == [1, 1, 1]
    assert results[1]["structuredContent"] == {"result": 4}


def test_an_error_of_a_tool_shows_the_frames_of_its_author(bare: Command) -> None:
    bare.write(SHOP.replace("return 4 * amount", "raise OSError('no tea')"), "shop.py")
    lines = bare("dev", "shop.py", typed="shop_price product=tea").err.splitlines()
    assert re.fullmatch(r"pegboard: error: error \w+ in tools/call 'shop_price': OSError: no tea", lines[1])
    assert [line.strip() for line in lines[2:]] == [
        "pegboard: Traceback (most recent call last):",
        f'pegboard:   File "{bare.folder / "shop.py"}", line 19, in price',
        "pegboard:     raise OSError('no tea')",
        "pegboard: OSError: no tea",
    ]
    assert "threads.py" in bare("dev", "shop.py", "-vv", typed="shop_price product=tea").err


def test_a_docstring_with_an_unknown_parameter_is_a_warning(bare: Command) -> None:
    docstring = '"""Tell the price.\n\n    Args:\n        produkt: tea\n    """'
    bare.write(SHOP.replace('"""Tell the price."""', docstring), "shop.py")
    problem = "its docstring describes 'produkt', which is not a parameter"
    first, _ = bare("dev", "shop.py", typed="shop_price product=tea").err.splitlines()
    assert re.fullmatch(
        rf"pegboard: warning: tool 'price' \(.*shop\.py:\d+\): {problem}; did you mean 'product'\?", first
    )
    (finding,) = findings_of(bare, "docstrings", "--file", "shop.py")
    assert problem in finding["message"]
    assert (finding["level"], finding["fix"]) == ("warning", "did you mean 'product'?")


def test_wrong_arguments_lead_to_the_parameters(bare: Command) -> None:
    bare.write(SHOP, "shop.py")
    done = bare("dev", "shop.py", "--json", typed="shop_price product=tea amount=x\n")
    assert done.data["isError"] is True
    assert "`show shop_price` lists the parameters; write other types as key:=json" in done.err


def test_a_file_that_does_not_exist_is_an_error(bare: Command) -> None:
    assert bare("dev", "shop.py") == (3, "", "pegboard: there is no file shop.py: correct the path\n")


@pytest.fixture
def user(bare: Command) -> Iterator[Typist]:
    bare.write(SHOP, "shop.py")
    with Typist(bare.arguments("dev", "shop.py"), bare.folder, bare.environment({"TERM": "xterm"})) as user:
        user.sees("dev> ")
        yield user


def test_a_terminal_completes_asks_and_shows_progress(user: Typist) -> None:
    user.types("shop_pr\tpro\tte\t\n")
    assert user.sees("dev> ").splitlines()[1:-1] == ["4"]
    user.types("shop_pack parcels:=1\n")
    assert "[######..................]  25% first" in user.sees("packed")
    user.sees("dev> ")
    user.types("shop_greet\n")
    user.sees("Who are you?\n  Name: ")
    user.types("Ada\n")
    user.sees("[yes or no]: ")
    user.types("yes\n")
    user.sees("Hello Ada!")
    user.sees("dev> ")
    user.types("\x04")
    assert user.process.wait() == 0


def test_ctrl_c_cancels_a_call_and_discards_a_line(user: Typist) -> None:
    user.types("shop_pack parcels:=2\n")
    user.sees("first")
    user.interrupts()
    seen = user.sees("cancelled")
    seen += "" if "stopped" in seen else user.sees("stopped")  # the tool and the prompt print at the same time
    if "dev> " not in seen:
        user.sees("dev> ")
    user.types("shop_leave")
    user.sees("shop_leave")
    user.interrupts()
    user.types("\n")  # while readline handles a character, it notices a signal at the next one
    user.types("shop_price product=tea\n")
    assert "started again" not in user.sees("4\ndev> ")


def test_a_save_reloads_and_a_broken_one_keeps_the_last_version(user: Typist, bare: Command) -> None:
    user.types("shop_cl")
    bare.write(SHOP + BROKEN, "shop.py")
    assert "shop.py: SyntaxError: '(' was never closed (shop.py, line 53)" in user.sees(
        "the last working version stays"
    )
    user.sees("dev> shop_cl")
    bare.write(SHOP.replace("Tell the price", "Price it") + MORE, "shop.py")
    user.sees("shop.py is reloaded: added shop_close; changed shop_price")
    user.sees("dev> shop_cl")
    user.types("\t\n")
    user.sees("closed\ndev> ")


def test_a_file_that_is_broken_at_the_start_can_be_corrected(bare: Command) -> None:
    bare.write(BROKEN, "shop.py")
    with Typist(bare.arguments("dev", "shop.py"), bare.folder, bare.environment()) as user:
        user.sees("line 2)")
        user.sees("there is no working version yet; correct shop.py and save it")
        user.sees("dev> ")
        user.types("list\n")
        user.sees("there is no working version yet; correct the file and save it")
        bare.write(SHOP, "shop.py")
        user.sees("shop.py serves 4 tools")


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ([], "sh", ["show ", "shop_add "]),
        (["call"], "sh", ["shop_add "]),
        (["show"], "", ["shop_add ", "greet "]),
        (["show", "shop_add"], "", []),
        (["shop_add"], "", ["name=", "count:=", "size=s ", "size=m "]),
        (["call", "shop_add"], "size=m", ["size=m "]),
        (["greet"], "", ["person="]),
        (["none"], "", []),
    ],
)
def test_completions(before: list[str], text: str, expected: list[str]) -> None:
    sizes = {"name": {"type": "string"}, "count": {"type": "integer"}, "size": {"enum": ["s", "m"]}}
    lists: dict[str, list[dict[str, Any]]] = {
        "tools": [{"name": "shop_add", "inputSchema": {"properties": sizes}}],
        "prompts": [{"name": "greet", "arguments": [{"name": "person"}]}],
    }
    options = Namespace(path=Path("shop.py"), json=False, verbose=0)
    served = ServedFile(options, None, {})
    assert PromptCommands(served, options).completions([], "li") == ["list "]
    served.version = FileVersion(cast(Any, None), lists, AsyncExitStack())
    assert PromptCommands(served, options).completions(before, text) == expected
