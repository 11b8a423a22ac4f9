"""`pegboard call`: what is sent, what is printed, and the exit code."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from pegboard.cli.call import parse_arguments
from tests.cli.conftest import WAIT, Command
from tests.cli.demo_kit import CANARY, EVIL

# --- arguments


@pytest.mark.parametrize(
    ("texts", "arguments"),
    [
        ([], {}),
        (["a=x"], {"a": "x"}),
        (["a="], {"a": ""}),
        (["a=1"], {"a": "1"}),
        (["a=x=y"], {"a": "x=y"}),
        (["a= x "], {"a": " x "}),
        (["a:=1"], {"a": 1}),
        (["a:=[1, null]", 'b:={"c": true}'], {"a": [1, None], "b": {"c": True}}),
        (['a:="x"'], {"a": "x"}),
        (["new-name=x", "ü=é日本"], {"new-name": "x", "ü": "é日本"}),
        (["a::=1"], {"a:": 1}),
        (["a=x:=y"], {"a": "x:=y"}),
        (["a:=18446744073709551616"], {"a": 2**64}),
    ],
)
def test_arguments_are_text_or_json(texts: list[str], arguments: dict[str, object]) -> None:
    assert parse_arguments(texts) == arguments


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a"], "'a' is no argument; write key=value for text, key:=json for anything else"),
        (["=x"], "'=x' is no argument"),
        ([":=1"], "':=1' is no argument"),
        (["a:=x"], "'a:=x': the value of 'a' is not JSON"),
        (["a:="], "'a:=': the value of 'a' is not JSON"),
        (["a:=NaN"], "is not JSON"),
        (["a:=[1,]"], "is not JSON"),
        (["a=1", "a=2"], "the argument 'a' is given twice"),
        (["a=1", "a:=2"], "the argument 'a' is given twice"),
        (["a=\udcff"], "is not UTF-8"),
    ],
)
def test_what_is_no_argument_is_said(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        parse_arguments(texts)
    assert message in str(caught.value)


# --- results


def test_text_is_printed_as_it_is(pegboard: Command) -> None:
    assert pegboard("call", "demo_echo", "text=hello é 日本") == (0, "hello é 日本\n", "")


def test_anything_else_is_printed_as_json(pegboard: Command) -> None:
    done = pegboard("call", "demo_shape", 'value:={"a": [1, null, "é"]}', "items:=[1, 2]")
    assert (done.code, done.err) == (0, "")
    assert done.data == {"value": {"a": [1, None, "é"]}, "items": [1, 2]}
    assert pegboard("call", "demo_add", "a:=1", "b=41").out == "42\n"


def test_nothing_is_printed_for_nothing(pegboard: Command) -> None:
    assert pegboard("call", "demo_nothing") == (0, "", "")


@pytest.mark.parametrize(("arguments", "result"), [(["demo_echo", "text=x"], "x"), (["demo_nothing"], None)])
def test_json_holds_the_result(arguments: list[str], result: object, pegboard: Command) -> None:
    assert pegboard("call", *arguments, "--json").data == {"result": result}


def test_what_json_lacks_is_printed_as_valid_json(pegboard: Command) -> None:
    done = pegboard("call", "demo_odd", "--json")
    assert done.code == 0
    found = json.loads(done.out, parse_constant=pytest.fail)
    assert found == {"result": {"half": "\ufffd", "nan": None}}


@pytest.mark.parametrize("name", ["demo_echo", "Demo.Echo", "Demo::Echo", "DEMO_ECHO", "demo.echo"])
def test_a_tool_is_found_in_any_spelling(name: str, pegboard: Command) -> None:
    assert pegboard("call", name, "text=x").out == "x\n"


def test_settings_of_the_file_hold(pegboard: Command) -> None:
    pegboard.configure(sections='[toolkits.demo]\nword = "moin"')
    assert pegboard("call", "demo_greet").out == "moin\n"


# --- failures


def test_a_wrong_command_line_is_usage(pegboard: Command) -> None:
    done = pegboard("call", "demo_echo", "text")
    assert (done.code, done.out) == (2, "")
    assert "'text' is no argument" in done.err


def test_an_unknown_tool_is_told_with_the_nearest(pegboard: Command) -> None:
    done = pegboard("call", "demo_ecko")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pegboard: there is no tool 'demo_ecko'; did you mean 'demo_echo'?\n"


def test_a_tool_that_is_switched_off_is_told_as_such(pegboard: Command) -> None:
    done = pegboard("call", "demo_write")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pegboard: the tool demo_write is not served: switched off by the settings of demo\n"


def test_arguments_that_do_not_fit_are_told_with_where_to_look(pegboard: Command) -> None:
    done = pegboard("call", "demo_add", "a=x", "c=1")
    assert (done.code, done.out) == (1, "")
    lines = done.err.splitlines()
    assert lines[0] == "pegboard: Invalid arguments:"
    assert lines[1].startswith("pegboard: a: must be an integer")
    assert lines[2] == "pegboard: c is not a parameter of this tool"
    assert "`pegboard show demo_add`" in lines[3]


def test_a_tool_that_asks_for_another_try_says_what_to_do(pegboard: Command) -> None:
    done = pegboard("call", "demo_again")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pegboard: Too early.\npegboard: Try it later.\n"


def test_an_error_without_words_is_told_by_its_class(pegboard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mute.py"
    lines = [
        "from pegboard import RetryableToolError, Toolkit",
        "kit = Toolkit('mute')",
        "@kit.tool",
        "def fail() -> None:",
        "    'Fail.'",
        "    raise RetryableToolError",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    done = pegboard("call", "--file", str(file), "mute_fail")
    assert (done.code, done.err) == (1, "pegboard: RetryableToolError\n")


def test_a_crash_is_told_by_its_id_and_the_log_has_the_story(pegboard: Command) -> None:
    done = pegboard("call", "demo_crash")
    assert (done.code, done.out) == (1, "")
    assert "pegboard: It failed unexpectedly." in done.err
    assert "RuntimeError: canary" in done.err
    told = done.err.splitlines()[-1]
    assert CANARY not in told
    error_id = told.split()[2].rstrip(";")
    assert done.err.count(error_id) == 2


def test_a_failure_as_json_is_data_without_what_is_for_the_log(pegboard: Command) -> None:
    done = pegboard("call", "demo_again", "--json")
    assert done.code == 1
    error = done.data["error"]
    assert (error["message"], error["kind"], error["retry_after_ms"]) == ("Too early.", "TOOL_RUNTIME_RETRY", 50)
    refused = pegboard("call", "demo_refuse", "--json")
    assert refused.data["error"]["message"] == "It cannot be done."
    assert refused.data["error"]["error_id"] in refused.err
    assert CANARY not in refused.out
    assert "developer_message" not in refused.data["error"]


def test_a_missing_secret_is_told(pegboard: Command) -> None:
    done = pegboard("call", "demo_secret", env={"DEMO_KEY": ""})
    assert (done.code, done.out) == (1, "")
    assert "DEMO_KEY" in done.err
    assert pegboard("call", "demo_secret").out == "5\n"


# --- what happens meanwhile


def test_progress_goes_to_stderr_when_more_is_asked_for(pegboard: Command) -> None:
    done = pegboard("call", "demo_count", "-v")
    assert (done.code, done.out) == (0, "counted\n")
    talk = [line for line in done.err.splitlines() if line.startswith("pegboard: ")]
    assert talk == ["pegboard: 1 of 3 step 1", "pegboard: 2 of 3 step 2", "pegboard: 3 of 3 step 3"]
    assert pegboard("call", "demo_count").err == ""


def test_progress_is_shown_on_a_terminal(pegboard: Command) -> None:
    leader, follower = pty.openpty()
    try:
        done = subprocess.run(
            pegboard.arguments("call", "demo_count"),
            cwd=pegboard.folder,
            env=pegboard.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=follower,
            timeout=WAIT,
            check=True,
        )
        assert done.stdout == b"counted\n"
        assert b"pegboard: 3 of 3 step 3" in os.read(leader, 65536)
    finally:
        os.close(follower)
        os.close(leader)


def test_what_a_tool_logs_is_shown_by_the_log_alone(pegboard: Command) -> None:
    done = pegboard("call", "demo_tell", "-v")
    assert (done.code, done.out) == (0, "told\n")
    assert "INFO pegboard.tools.demo_tell [caller=operator]: Half way." in done.err
    assert "WARNING pegboard.tools.demo_tell [caller=operator]: Slow disk." in done.err
    assert not [line for line in done.err.splitlines() if line.startswith("pegboard: ")]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_a_tool_prints_is_no_data(options: tuple[str, ...], pegboard: Command) -> None:
    done = pegboard("call", "demo_chat", *options)
    assert done.code == 0
    assert done.out == "data\n" if not options else done.data == {"result": "data"}
    assert "chatter of print" in done.err
    assert "chatter of descriptor 1" in done.err


def test_text_for_a_program_is_left_alone_and_text_for_a_terminal_is_made_harmless(pegboard: Command) -> None:
    assert pegboard("call", "demo_evil").out == f"{EVIL}\n"
    leader, follower = pty.openpty()
    try:
        subprocess.run(
            pegboard.arguments("call", "demo_evil"),
            cwd=pegboard.folder,
            env=pegboard.environment(),
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=subprocess.PIPE,
            timeout=WAIT,
            check=True,
        )
        shown = os.read(leader, 65536).decode()
    finally:
        os.close(follower)
        os.close(leader)
    assert not set(shown) & set("\x1b\x07\u202e\u200b\U000e0041\x9b")
    assert "\\x1b[31mred" in shown
    assert "é 日本" in shown


def test_ctrl_c_ends_a_call_even_if_its_thread_goes_on(pegboard: Command) -> None:
    process = subprocess.Popen(
        pegboard.arguments("call", "demo_block", "-v"),
        cwd=pegboard.folder,
        env=pegboard.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # a job in the background of a shell ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread runs here
    )
    assert process.stderr is not None
    with process:
        try:
            for line in process.stderr:
                if b"blocking" in line:
                    process.send_signal(signal.SIGINT)
                    break
            assert process.wait(WAIT) == 130
        finally:
            process.kill()
        rest = process.stderr.read()
    assert b"Traceback" not in rest


# --- asking


def in_terminal(pegboard: Command, typed: str, *arguments: str) -> tuple[int, str, str]:
    """The exit code, standard output, and what a terminal showed in which these lines were typed."""
    leader, follower = pty.openpty()
    try:
        os.write(leader, typed.encode())
        done = subprocess.run(
            pegboard.arguments("call", *arguments),
            cwd=pegboard.folder,
            env=pegboard.environment(),
            stdin=follower,
            stdout=subprocess.PIPE,
            stderr=follower,
            timeout=WAIT,
            check=False,
        )
        return done.returncode, done.stdout.decode(), os.read(leader, 65536).decode()
    finally:
        os.close(follower)
        os.close(leader)


ORDERED = {"name": "Ada", "cups": 2, "size": "l", "extras": ["milk", "sugar"], "warm": True, "note": None}


def test_a_form_is_filled_in_at_the_terminal(pegboard: Command) -> None:
    code, out, shown = in_terminal(pegboard, "Ada\n2\nLarge\nmilk, sugar\nyes\n\nyes\n", "demo_order")
    assert (code, json.loads(out)) == (0, {"action": "accept", "order": ORDERED})
    for words in (
        "pegboard: What will it be?",
        "pegboard:   error: forged",
        "Name: for the cup: ",
        "Cups [a whole number] [1]: ",
        "[s (Small)|l (Large)] [s]: ",
        "[milk|sugar, several with commas]",
        "Warm [yes or no]: ",
        "Send this? [yes or no]: ",
    ):
        assert words in shown


def test_what_does_not_fit_is_asked_again_and_defaults_hold(pegboard: Command) -> None:
    code, out, shown = in_terminal(pegboard, "A\nAda\nmany\n12\n\n\n\nperhaps\nno\nhot\nmaybe\ny\n", "demo_order")
    wanted = {"name": "Ada", "cups": 1, "size": "s", "extras": [], "warm": False, "note": "hot"}
    assert (code, json.loads(out)) == (0, {"action": "accept", "order": wanted})
    for words in ("name is too short", "cups must be a number", "cups is out of range", "warm must be true or false"):
        assert f"pegboard: {words}" in shown


@pytest.mark.parametrize(
    ("typed", "action"), [("Ada\n\n\n\nn\n\nno\n", "decline"), ("\x04", "cancel"), ("Ada\n\x04", "cancel")]
)
def test_a_form_is_declined_or_cancelled(typed: str, action: str, pegboard: Command) -> None:
    code, out, _ = in_terminal(pegboard, typed, "demo_order")
    assert (code, json.loads(out)) == (0, {"action": action, "order": None})


def test_several_questions_are_asked_one_after_the_other(pegboard: Command) -> None:
    code, out, shown = in_terminal(pegboard, "yes\nno\n", "demo_both")
    assert (code, json.loads(out)) == (0, ["accept", "decline"])
    assert shown.index("https://pay.example/1") < shown.index("Did you open it?") < shown.index("Sure?")


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("demo_idea", "This needs a client with the capability sampling"),
        ("demo_poll", "A terminal has no answer to com.example/poll."),
    ],
)
def test_a_terminal_has_no_model_and_knows_no_extension(tool: str, words: str, pegboard: Command) -> None:
    code, out, shown = in_terminal(pegboard, "", tool)
    assert (code, out) == (1, "")
    assert words in shown


def test_where_nobody_can_be_asked_it_is_said(pegboard: Command) -> None:
    done = pegboard("call", "demo_order")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "pegboard: This tool needs input that it cannot be given here: nobody can be asked.",
        "pegboard: tools that ask are called in a terminal, or by an MCP client",
    ]
