"""`pegboard call`: arguments, printed results, exit codes, and questions at a terminal."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess

import pytest

from tests.support.command_line import Command
from tests.support.demo_kit import EVIL
from tests.support.peer import WAIT
from tests.support.typist import heed_interrupts
from tests.support.without_posix import COMMAND


def test_arguments_are_strings_or_json(pegboard: Command) -> None:
    done = pegboard("call", "demo_shape", "value=x=y:=z", "items:=[1, 2]")
    assert (done.code, done.data, done.err) == (0, {"value": "x=y:=z", "items": [1, 2]}, "")


@pytest.mark.parametrize("line", ["call --file near.py near_low 'text=a b'", "show --file near.py near_low"])
def test_a_file_in_place_of_a_tool_is_refused_with_the_right_line(line: str, bare: Command) -> None:
    done = bare(*shlex.split(line.replace("--file ", "")))
    assert (done.code, f"'near.py' is a file: write `pegboard {line}`" in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a"], "'a' is not an argument: write key=value for a string, key:=json for JSON"),
        (["a:=NaN"], "'a:=NaN': the value of 'a' is not JSON"),
        (["a=1", "a:=2"], "the argument 'a' is given twice"),
        (["a=\udcff"], "is not UTF-8"),
    ],
)
def test_a_wrong_argument_is_usage(texts: list[str], message: str, pegboard: Command) -> None:
    done = pegboard("call", "demo_echo", *texts)
    assert (done.code, done.out, message in done.err) == (2, "", True), done.err


@pytest.mark.parametrize(
    ("line", "out", "data"),
    [("Demo::Echo text=日本", "日本\n", "日本"), ("demo_nothing", "", None)],
)
def test_the_result_is_printed_as_text_or_json(line: str, out: str, data: object, pegboard: Command) -> None:
    assert pegboard("call", *line.split()) == (0, out, "")
    assert pegboard("call", *line.split(), "--json").data == {"result": data}


def test_content_is_text_and_binary_content_is_counted(pegboard: Command) -> None:
    done = pegboard("call", "demo_mixed")
    shown = ["one", "[image: image/png, 3 bytes]", "The y: x://y", "[x://y: x/y, 3 bytes]"]
    assert (done.code, done.out) == (1, ""), "the result says that it failed"
    assert done.err.splitlines() == [f"pegboard: {line}" for line in shown]
    data = pegboard("call", "demo_mixed", "--json").data
    assert data["is_error"] is True
    assert data["content"] == [
        {"type": "text", "text": "one"},
        {"type": "image", "data": "eHl6", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "x://y", "name": "y", "title": "The y"},
        {"type": "resource", "resource": {"uri": "x://y", "blob": "eHl6", "mimeType": "x/y"}},
    ]


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        ("demo_write", ["the tool demo_write is not served: switched off by the settings of demo"]),
        ("demo_again", ["Too early.", "Try it later."]),
        ("again", ["there is no tool 'again'; did you mean 'demo_again'? Tools of a file need --file FILE"]),
        (
            "demo_order",
            [
                "This tool needs input, but this client cannot be asked.",
                "call tools that ask questions at a terminal or from an MCP client",
            ],
        ),
    ],
)
def test_a_failure_is_told(line: str, messages: list[str], pegboard: Command) -> None:
    done = pegboard("call", line)
    assert (done.code, done.out, done.err.splitlines()) == (1, "", [f"pegboard: {text}" for text in messages])


def test_a_name_without_its_toolkit_is_found_in_a_file(bare: Command) -> None:
    bare.write("from pegboard import tool\n@tool\ndef low() -> str:\n    'Whisper.'\n    return 'psst'\n", "near.py")
    done = bare("call", "low", "--file", "near.py")
    assert done.err == "pegboard: there is no tool 'low'; did you mean 'near_low'?\n"


REFUSED = """
from pegboard import Toolkit
kit = Toolkit("shop")

@kit.tool
def find(ctx) -> str:
    'Find.'

@kit.tool(name="sell")
def sell() -> str:
    'Sell.'

kit.tool(name="sell")(sell)
kit.tool(name="lend")(sell)
"""


def test_a_refused_tool_takes_one_line_with_a_near_place(bare: Command) -> None:
    bare.write(REFUSED, "shop.py")
    refused, twice, message = bare("call", "--file", "shop.py", "shop_find").err.splitlines()
    reason = "parameter 'ctx' has no type annotation: add `: Context`"
    at = "pegboard: error: toolkit 'shop', assemble: tool"
    assert refused == f"{at} 'find' (shop.py:5): {reason}; it is not served"
    assert twice.startswith(f"{at} 'shop_sell' is claimed 2 times")
    assert message == f"pegboard: the tool shop_find is not served: {reason}"
    message = bare("call", "--file", "shop.py", "shop_sell").err.splitlines()[-1]
    assert message == "pegboard: the tool shop_sell is not served: several tools have this name"


def test_the_hint_for_questions_is_not_given_to_tools_with_session_data(pegboard: Command) -> None:
    errors = pegboard("call", "demo_visits").err
    assert "This tool keeps data in a session." in errors
    assert "questions" not in errors


def test_invalid_arguments_are_named(pegboard: Command) -> None:
    done = pegboard("call", "demo_add", "a=x", "c=1", "--only", "demo,math")
    first, second, third, fourth = done.err.splitlines()
    assert (done.code, done.out, first) == (1, "", "pegboard: Invalid arguments:")
    assert second.startswith("pegboard: a: must be an integer")
    assert third == "pegboard: c is not a parameter of this tool"
    assert "`pegboard show --only demo,math demo_add`" in fourth


MODEL = """
from pydantic import BaseModel
from pegboard import Toolkit
kit = Toolkit("till")
class Order(BaseModel):
    amount: int
    note: str = ""

@kit.tool
def pay(order: Order) -> int:
    'Pay.'
    return order.amount
"""


def test_members_of_an_object_are_written_as_json(bare: Command) -> None:
    bare.write(MODEL, "till.py")
    line = ("call", "--file", "till.py", "till_pay")
    advice = """pegboard: write the members as JSON: order:='{"amount": ..., "note": ...}'"""
    assert advice in bare(*line, "order.amount=10", "order.note=x").err.splitlines()
    assert "as JSON: " not in bare(*line, "ordr.amount=10").err
    assert bare(*line, 'order:={"amount": 10}').out == "10\n"


def test_an_error_is_printed_once_with_the_authors_code_alone(pegboard: Command) -> None:
    done = pegboard("call", "demo_crash")
    assert (done.code, done.out) == (1, "")
    first, head, *frames, last = done.err.splitlines()
    assert (first, head) == ("pegboard: It failed unexpectedly.", "pegboard: Traceback (most recent call last):")
    assert last.startswith("pegboard: RuntimeError: canary")
    assert [line for line in frames if "File" in line and "demo_kit.py" not in line] == []
    log = pegboard("call", "demo_crash", "-v").err
    assert log.count(log.split()[-5].rstrip(";")) == 2, "the error id leads to the log"


TOKENS = """
from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import Plugin, TokenSource, hookimpl

class Tokens(TokenSource):
    async def token(self, request):
        return Authorization("canary-of-the-source")

class TokensPlugin(Plugin):
    @hookimpl
    def register_token_sources(self):
        return [Tokens()]
"""
LEAK = """
import logging
from pegboard import Context, tool
from pegboard_plugins.auth.auth_providers import GitHub
logging.basicConfig()

@tool(requires_auth=GitHub())
def low(context: Context) -> str:
    'Fail.'
    raise ValueError(context.get_auth_token_or_empty())
"""


@pytest.mark.needs("auth")
@pytest.mark.parametrize("option", [[], ["-v"], ["--json"]])
def test_a_token_is_masked_in_a_traceback_even_if_the_file_configures_logging(option: list[str], bare: Command) -> None:
    bare.write(LEAK, "leak.py")
    bare.install("tokens", TOKENS, group="pegboard.plugins", target="TokensPlugin")
    bare.configure(sections="[plugins.tokens]")
    done = bare("call", "--file", "leak.py", "leak_low", *option, env={"GITHUB_TOKEN": None})
    assert "ValueError: **********\n" in done.err
    assert "canary" not in done.out + done.err


@pytest.mark.needs("auth")
def test_the_hint_of_a_token_source_is_shown(bare: Command) -> None:
    bare.write(LEAK, "leak.py")
    failure = 'raise AuthorizationRequiredError("acme", status="failed", hint="renew the certificate")'
    source = TOKENS.replace('return Authorization("canary-of-the-source")', failure)
    bare.install("tokens", source, group="pegboard.plugins", target="TokensPlugin")
    bare.configure(sections="[plugins.tokens]")
    done = bare("call", "--file", "leak.py", "leak_low", env={"GITHUB_TOKEN": None})
    message = "pegboard: Authorization required: this tool needs a token of acme, and none could be obtained just now."
    assert done.err.splitlines() == [message, "pegboard: Try again later.", "pegboard: renew the certificate"]


STAMP = """
from pegboard import ToolResult
from pegboard.plugin import Middleware, Plugin, hookimpl

class Stamp(Middleware):
    async def on_call_tool(self, call, call_next):
        return ToolResult(7)

class StampPlugin(Plugin):
    @hookimpl
    def register_middleware(self):
        return [Stamp()]
"""


def test_a_masked_error_is_printed_with_its_record_in_the_log(bare: Command) -> None:
    code = "from pegboard import tool\n@tool\ndef low() -> dict[str, int]:\n    'Count.'\n    return {}\n"
    bare.write(code, "near.py")
    bare.install("stamp", STAMP, group="pegboard.plugins", target="StampPlugin")
    bare.configure(sections="[plugins.stamp]")
    first, second = bare("call", "--file", "near.py", "near_low").err.splitlines()
    assert first == "pegboard: Internal error"
    pattern = "pegboard: error [0-9a-f]{8} in tools/call 'near_low': .*'stamp'.* returned a ToolResult that is not .*"
    assert re.fullmatch(pattern, second)


@pytest.mark.needs("auth")
def test_the_advice_on_a_missing_secret_or_token_fits_a_command(bare: Command) -> None:
    bare.write(
        "from pegboard import tool\nfrom pegboard_plugins.auth.auth_providers import GitHub\n"
        "@tool(requires_auth=GitHub())\ndef issues() -> str:\n    'List.'\n    return ''\n"
        "@tool(requires_secrets=['PIN'])\ndef pay() -> str:\n    'Pay.'\n    return ''\n",
        "bank.py",
    )
    done = bare("call", "--file", "bank.py", "bank_pay")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("pegboard: This tool needs a secret that is not set: PIN. Set PIN in the environment, ")
    assert done.err.endswith(" or with `pegboard secret set PIN`.\n")
    first, second = bare("call", "--file", "bank.py", "bank_issues", env={"GITHUB_TOKEN": None}).err.splitlines()
    assert first.startswith("pegboard: Authorization required: this tool needs a token of GitHub")
    assert second == "pegboard: Call the tool again afterwards."


@pytest.mark.parametrize(
    ("disabled", "advice"),
    [
        (["secrets_dotenv", "secrets_files"], "Set PIN in the environment."),
        (["secrets_*"], "No secret store runs: enable one."),
    ],
)
def test_only_a_store_that_can_set_a_secret_is_advised(bare: Command, disabled: list[str], advice: str) -> None:
    bare.write("from pegboard import tool\n@tool(requires_secrets=['PIN'])\ndef pay() -> str:\n    'Pay.'\n", "bank.py")
    bare.configure(f"disabled_plugins = {disabled}")
    unset = bare("call", "--file", "bank.py", "bank_pay").err
    assert unset == f"pegboard: This tool needs a secret that is not set: PIN. {advice}\n"


def test_control_characters_are_escaped_at_a_terminal_only(pegboard: Command) -> None:
    assert pegboard("call", "demo_evil").out == f"{EVIL}\n"
    shown = pegboard("call", "demo_evil", terminal=(1,)).err
    assert not set(shown) & set("\x1b\x07\u202e\u200b\U000e0041\x9b")
    assert "\\x1b[31mred" in shown
    assert "é 日本" in shown


def test_ctrl_c_ends_a_call_whose_thread_goes_on(pegboard: Command) -> None:
    process = subprocess.Popen(
        pegboard.arguments("call", "demo_block", "-v"),
        cwd=pegboard.folder,
        env=pegboard.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - it calls only `signal`
    )
    assert process.stderr is not None
    with process:
        try:
            next(line for line in process.stderr if b"blocking" in line)
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT) == 130
        finally:
            process.kill()
        assert b"Traceback" not in process.stderr.read()


ORDER = {"name": "Ada", "cups": 2, "size": "l", "extras": ["milk", "sugar"], "warm": True, "note": None}


@pytest.mark.parametrize(
    ("tool", "typed", "result", "shown"),
    [
        (
            "demo_order",
            "A\nAda\nmany\n2\nLarge\nmilk, sugar\nperhaps\nyes\n\nyes\n",
            {"action": "accept", "order": ORDER},
            [
                "pegboard: What will it be?",
                "pegboard:   error: forged",
                "Name: for the cup: ",
                "pegboard: name is too short",
                "Cups [a whole number] [1]: ",
                "[s (Small)|l (Large)] [s]: ",
                "[milk|sugar, several with commas]",
                "Warm [yes or no]: ",
                "pegboard: warm must be true or false",
                "Send this? [yes or no]: ",
            ],
        ),
        ("demo_order", "Ada\n\n\n\nn\n\nno\n", {"action": "decline", "order": None}, []),
        ("demo_order", "Ada\n\x04", {"action": "cancel", "order": None}, []),
        ("demo_both", "yes\nno\n", ["accept", "decline"], ["https://pay.example/1", "Did you open it?", "Sure?"]),
    ],
)
def test_questions_at_a_terminal(tool: str, typed: str, result: object, shown: list[str], pegboard: Command) -> None:
    done = pegboard("call", tool, typed=typed, terminal=(0, 2))
    assert (done.code, done.data) == (0, result)
    places = [done.err.find(words) for words in shown]
    assert -1 not in places
    assert places == sorted(places)


def test_questions_are_asked_where_the_event_loop_cannot_watch_a_terminal(pegboard: Command) -> None:
    done = pegboard.run([*COMMAND, "call", "demo_both"], typed="yes\nno\n", terminal=(0, 2))
    assert (done.code, done.data) == (0, ["accept", "decline"]), done.err
