"""`pegboard evals` with a server that answers as models do."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pegboard_plugins.authoring.evals.model_endpoints import Pace
from tests.plugins.authoring.evals.model_server import ModelServer, Step
from tests.support.command_line import Command
from tests.support.serving import serving

KEY = "sk-canary-5c1d"
SUITE = """
from pegboard_evals import *
import demo_kit

@tool_eval()
def suite():
    suite = EvalSuite("demo", "Call tools.")
    for word in {words}:
        expected = [ExpectedToolCall(demo_kit.echo, {{"text": word}})]
        suite.add_case(word, f"say {{word}}", expected, [BinaryCritic("text", 1)])
    return suite
"""


def echo(text: str) -> list[Any]:
    return [["demo_echo", {"text": text}]]


def write_suite(pegboard: Command, *words: str) -> None:
    pegboard.write(SUITE.format(words=words), "eval_demo.py")


def evals(pegboard: Command, server: ModelServer, *arguments: str, form: str = "openai") -> Any:
    words = ("--model", f"{form}:m", "--endpoint", server.address, "--key", "MODEL_KEY", *arguments)
    return pegboard("evals", *words, env={"MODEL_KEY": KEY})


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("steps", "state", "score"),
    [
        pytest.param([echo("a")], "passed", 1, id="right"),
        pytest.param([echo("b")], "failed", 0.5, id="wrong argument"),
        pytest.param([[["demo_color", {}]]], "failed", 0, id="wrong tool"),
        pytest.param([[]], "failed", 0, id="no tool"),
        pytest.param([echo("a") * 2], "failed", 0, id="two calls in parallel"),
        pytest.param([[["Demo.Echo", {"text": "a"}]]], "passed", 1, id="other separators"),
        pytest.param([429, 503, echo("a")], "passed", 1, id="busy"),
        pytest.param(["garbage", echo("a")], "passed", 1, id="garbage, then an answer"),
        pytest.param(["cut", echo("a")], "passed", 1, id="cut, then an answer"),
        pytest.param([529], "error", None, id="always busy"),
        pytest.param([401], "error", None, id="refused"),
        pytest.param(["endless"], "error", None, id="endless"),
    ],
)
def test_an_answer_is_scored(form: str, steps: list[Step], state: str, score: float | None, pegboard: Command) -> None:
    write_suite(pegboard, "a")
    attempts = 5 if steps == [529] else len(steps)
    with ModelServer({"say a": steps}) as server:
        done = evals(pegboard, server, "--json", form=form)
    (case,) = done.data["cases"]
    assert (case["state"], case["score"], done.code) == (state, score, int(state == "error"))
    assert len(server.requests) == attempts
    assert KEY not in done.out + done.err


def test_invalid_json_of_arguments_is_a_miss(pegboard: Command) -> None:
    write_suite(pegboard, "a")
    with ModelServer({"say a": ["invalid arguments"]}) as server:
        (case,) = evals(pegboard, server, "--json").data["cases"]
    assert (case["state"], case["runs"][0]["calls"]) == ("failed", [{"name": "demo_echo", "args": {}}])


@pytest.mark.parametrize(
    ("form", "path", "header", "tool"),
    [
        ("openai", "/v1/chat/completions", ("Authorization", f"Bearer {KEY}"), ("function", "parameters")),
        ("anthropic", "/v1/messages", ("x-api-key", KEY), (None, "input_schema")),
    ],
)
def test_the_model_gets_the_tools_and_the_messages(
    form: str, path: str, header: tuple[str, str], tool: tuple[str | None, str], pegboard: Command
) -> None:
    text = SUITE.format(words=["a"]).replace('[BinaryCritic("text", 1)])', "additional_messages=EARLIER)")
    call = {"id": "1", "type": "function", "function": {"name": "demo_echo", "arguments": '{"text": "b"}'}}
    earlier = [
        {"role": "user", "content": "say b"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "b"},
    ]
    pegboard.write(f"EARLIER = {earlier!r}\n{text}", "eval_demo.py")
    with ModelServer({}) as server:
        evals(pegboard, server, form=form)
    ((sent_to, headers, body),) = server.requests
    assert (sent_to, headers[header[0]]) == (path, header[1])
    sent = next(item[tool[0]] if tool[0] else item for item in body["tools"] if "demo_echo" in json.dumps(item))
    assert sent["description"].startswith("Say it back.")
    assert sent[tool[1]]["properties"]["text"] == {"type": "string", "description": "what to say"}
    messages = json.dumps(body["messages"])
    assert [messages.count(text) for text in ("say a", "say b", "demo_echo")] == [1, 1, 1]
    if form == "anthropic":
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
        assert body["system"] == "Call tools."
    else:
        assert (body["seed"], body["messages"][0]["content"]) == (42, "Call tools.")


def test_an_interrupted_run_continues_and_is_replayed(pegboard: Command) -> None:
    words = [f"w{number}" for number in range(40)]
    write_suite(pegboard, *words)
    scripts: dict[str, list[Step]] = {f"say {word}": [echo(word)] for word in words}
    scripts["say w7"] = [400]
    with ModelServer(scripts) as server:
        done = evals(pegboard, server, "--answers", "answers.jsonl", "--runs", "2", "--concurrency", "8")
        assert (done.code, len(server.requests)) == (1, 80)
        assert "1 error" in done.err
        scripts["say w7"] = [echo("other")]
        stored = (pegboard.folder / "answers.jsonl").read_text("utf-8").splitlines(keepends=True)
        pegboard.write("".join(stored[:-10]), "answers.jsonl")
        done = evals(pegboard, server, "--answers", "answers.jsonl", "--runs", "2")
        assert (done.code, len(server.requests)) == (0, 92)
        pegboard.write(SUITE.format(words=words).replace("Call tools.", "Call a tool."), "eval_demo.py")
        evals(pegboard, server, "--answers", "answers.jsonl")
        assert len(server.requests) == 132  # the answers belong to another request
    replayed = pegboard("evals", "--replay", "answers.jsonl", "--min-score", "0.99", "--json", "--output", "r.html")
    assert (replayed.code, replayed.data["passed"], replayed.data["failed"]) == (1, 39, 1)
    assert replayed.data["score"] == pytest.approx(79 / 80)
    files = [file for file in Path(pegboard.folder).rglob("*") if file.is_file()]
    assert KEY not in "".join(file.read_text("utf-8", "replace") for file in files)


@pytest.mark.parametrize(
    ("rule", "steps", "state"),
    [
        ("last", ["b", "a", "b"], "failed"),
        ("last", ["b", "b", "a"], "passed"),
        ("majority", ["a", "a", "b"], "passed"),
        ("majority", ["a", "b", "b"], "failed"),
        ("mean", ["a", "a", "b"], "passed"),
        ("mean", ["a", "b", "b"], "failed"),
        ("majority", ["a", "a", ""], "passed"),
        ("mean", ["a", "a", ""], "failed"),
    ],
)
def test_runs_pass_by_a_rule(rule: str, steps: list[str], state: str, pegboard: Command) -> None:
    write_suite(pegboard, "a")
    with ModelServer({"say a": [echo(word) if word else [] for word in steps]}) as server:
        done = evals(pegboard, server, "--runs", "3", "--pass-rule", rule, "--concurrency", "1", "--json")
    assert [case["state"] for case in done.data["cases"]] == [state]


def test_as_many_requests_run_at_a_time_as_the_user_allows(pegboard: Command) -> None:
    write_suite(pegboard, *"abcd")
    with ModelServer({}, together=2) as server:
        evals(pegboard, server, "--concurrency", "2")
        assert (len(server.requests), server.most) == (4, 2)


async def test_requests_are_spread_over_a_minute() -> None:
    loop = asyncio.get_running_loop()
    pace, start = Pace(rate=6000), loop.time()
    await asyncio.gather(pace.turn(), pace.turn(), pace.turn())
    assert loop.time() - start >= 0.02


def test_reports_name_misses_first(pegboard: Command) -> None:
    write_suite(pegboard, "a", "<b>", "c")
    with ModelServer({"say a": [echo("a")], "say <b>": [echo("x|y")], "say c": [[]]}) as server:
        outputs = [word for form in ("txt", "md", "html", "json") for word in ("--output", f"report.{form}")]
        done = evals(pegboard, server, *outputs, "--details")
    text, markdown, page = ((pegboard.folder / f"report.{form}").read_text("utf-8") for form in ("txt", "md", "html"))
    assert [line.split()[-1] for line in done.out.splitlines()[1:4]] == ["c", "<b>", "a"]
    assert 'miss text 0.00/1.00: expected "<b>", got "x|y"' in text
    assert '"x|y"' in done.out
    assert "| failed | 0.500 | openai:m | demo | <b> |" in markdown
    details = re.findall(r'<details class="(\w+)"( open)?', page)
    assert details == [("failed", " open"), ("failed", " open"), ("passed", "")]
    assert "say &lt;b&gt;" in page
    assert "<b>a" not in page
    assert json.loads((pegboard.folder / "report.json").read_text("utf-8"))["failed"] == 2


def test_a_second_suite_or_case_of_one_name_gets_a_number(pegboard: Command) -> None:
    for name in ("eval_1.py", "eval_2.py"):
        pegboard.write(SUITE.format(words=["a", "a"]), name)
    with ModelServer({"say a": [echo("a")]}) as server:
        done = evals(pegboard, server, "--json")
    names = [(case["suite"], case["case"]) for case in done.data["cases"]]
    assert names == [("demo", "a"), ("demo", "a (2)"), ("demo (2)", "a"), ("demo (2)", "a (2)")]


TRACKS = """
import os
from pegboard_evals import *

@tool_eval()
async def suite():
    suite = EvalSuite("talk", "Call tools.")
    await suite.add_mcp_stdio_server({command!r}, track="program")
    await suite.add_mcp_server({url!r}, headers={{"Authorization": "Bearer {key}"}}, track="URL")
    await suite.add_arcade_gateway("team", base_url={base!r}, arcade_api_key="{key}", track="gateway")
    for word in "ab":
        case = suite.add_comparative_case(word, f"say {{word}}")
        for track in suite.get_tracks()[:3 if word == "a" else 2]:
            case.for_track(track, [ExpectedMCPToolCall("far_echo", {{"text": word}})], [BinaryCritic("text", 1)])
    return suite
"""


@pytest.mark.needs("auth_token")
def test_tracks_with_the_tools_of_servers_are_compared(pegboard: Command) -> None:
    pegboard.write(FAR, "far.py")
    pegboard.configure(sections=f'[plugins.auth_token]\ntoken = "{KEY * 3}"\n[plugins.mcp]\npath = "/mcp/team"')
    scripts: dict[str, list[Step]] = {"say a": [[["far_echo", {"text": "a"}]]], "say b": [echo("b")]}
    line = pegboard.arguments("serve", "far.py", "--port", "0")
    with ModelServer(scripts) as server, serving(line, pegboard.folder, pegboard.environment()) as far:
        command = pegboard.arguments("stdio", "far.py")
        text = TRACKS.format(command=command, url=far.url, base=far.url.removesuffix("/mcp/team"), key=KEY * 3)
        pegboard.write(text, "eval_talk.py")
        outputs = [word for form in ("md", "html") for word in ("-o", f"report.{form}")]
        done = evals(pegboard, server, *outputs)
        captured = evals(pegboard, server, "--capture", "eval_new.py")
        pegboard.folder.joinpath("eval_talk.py").unlink()
        again = evals(pegboard, server, "--json")
    assert [tool["function"]["name"] for tool in server.requests[0][2]["tools"]] == ["far_echo"]
    assert [line.split() for line in done.out.splitlines()[-3:]] == [
        ["openai:m", "talk", "a", "1.000", "passed", "1.000", "passed", "1.000", "passed"],
        ["openai:m", "talk", "b", "0.000", "failed", "0.000", "failed", "-"],
        ["mean", "0.500", "0.500", "1.000"],
    ]
    assert "| openai:m | talk | b | 0.000 failed | 0.000 failed | - |" in (pegboard.folder / "report.md").read_text()
    assert '<td data-name="gateway">1.000 passed</td>' in (pegboard.folder / "report.html").read_text()
    assert (captured.code, again.data["passed"]) == (0, 5)
    assert {case["track"] for case in again.data["cases"]} == {"program", "URL", "gateway"}


def test_the_options_of_the_original_are_known(pegboard: Command) -> None:
    write_suite(pegboard, "a")
    with ModelServer({"say a": [echo("a"), []]}) as server:
        line = "-p openai:m,n -n 2 -c 1 -o report -d -f --multi-run-pass-rule majority --include-context"
        words = ("--endpoint", server.address, "--key", "MODEL_KEY", *line.split())
        done = pegboard("evals", *words, env={"MODEL_KEY": KEY})
    assert sorted(body["model"] for _, _, body in server.requests) == ["m", "m", "n", "n"]
    assert [path.suffix for path in sorted(pegboard.folder.glob("report.*"))] == [".html", ".json", ".md", ".txt"]
    assert 'context: {"role": "system", "content": "Call tools."}' in done.out
    report = json.loads((pegboard.folder / "report.json").read_text("utf-8"))
    assert [case["context"][0]["content"] for case in report["cases"]] == ["Call tools.", "Call tools."]


def test_only_failed_leaves_out_the_others(pegboard: Command) -> None:
    write_suite(pegboard, "a", "b")
    with ModelServer({"say a": [echo("a")], "say b": [[]]}) as server:
        done = evals(pegboard, server, "--only-failed")
    assert [line.split()[-1] for line in done.out.splitlines()] == ["CASE", "b"]


def test_captured_calls_are_a_suite_that_passes(pegboard: Command) -> None:
    pegboard.write("say a\n\nsay nothing\n", "messages.txt")
    with ModelServer({"say a": [echo('it\'s "a"')]}) as server:
        done = evals(pegboard, server, "messages.txt", "--capture", "eval_new.py", "--include-context")
        assert done.code == 0
        assert "system_message='You are a helpful" in (pegboard.folder / "eval_new.py").read_text()
        again = evals(pegboard, server, "messages.txt", "--capture", "eval_new.py")
        assert len(server.requests) == 2
        done = evals(pegboard, server, "--json")
    assert (again.code, "eval_new.py exists" in again.err) == (1, True)
    assert [(case["state"], case["expected"]) for case in done.data["cases"]] == [
        ("passed", [{"name": "demo_echo", "args": {"text": 'it\'s "a"'}}]),
        ("passed", []),
    ]


def test_a_stored_answer_writes_no_code_and_no_markdown(pegboard: Command) -> None:
    write_suite(pegboard, "a")
    with ModelServer({"say a": [[["x\n\n# heading", {}]]]}) as server:
        evals(pegboard, server, "--answers", "answers.jsonl", "--output", "report.md")
    assert "\n# heading" not in (pegboard.folder / "report.md").read_text()
    stored = (pegboard.folder / "answers.jsonl").read_text().replace("openai:m", 'openai:m\\"\\"\\"\\nraise SystemExit')
    pegboard.write(stored, "answers.jsonl")
    done = pegboard("evals", "--replay", "answers.jsonl", "--capture", "eval_new.py")
    assert done.code == 0, done.err
    assert "\nraise" not in (pegboard.folder / "eval_new.py").read_text()


def test_a_stored_answer_may_contain_a_line_separator(pegboard: Command) -> None:
    write_suite(pegboard, "a")
    with ModelServer({"say a": [echo("a\u2028b")]}) as server:
        asked = evals(pegboard, server, "--answers", "answers.jsonl", "--json")
    assert pegboard("evals", "--replay", "answers.jsonl", "--json").data == asked.data


def test_a_suite_imports_neighbours_but_shadows_no_library(pegboard: Command) -> None:
    pegboard.write("raise SystemExit('shadowed')", "colorsys.py")
    pegboard.folder.joinpath("suites").mkdir()
    pegboard.write("WORD = 'a'", "suites/words.py")
    pegboard.write(f"import colorsys\nfrom words import WORD\n{SUITE.format(words=['a'])}", "suites/eval_demo.py")
    with ModelServer({"say a": [echo("a")]}) as server:
        done = evals(pegboard, server, "suites/eval_demo.py", "--json")
    assert done.data["passed"] == 1, done.err


def report(*scores: list[float], model: str = "m") -> str:
    cases = [
        {"model": model, "suite": "s", "case": f"c{place}", "runs": [{"score": score} for score in runs]}
        for place, runs in enumerate(scores)
    ]
    return json.dumps({"version": 1, "score": 0.5, "cases": cases})


def test_two_reports_are_compared(bare: Command) -> None:
    bare.write(report([1.0, 1.0], [0.5, 0.7], [0.2, 0.2]), "before.json")
    bare.write(report([0.0, 0.5], [0.5, 0.7], model="other"), "after.json")
    done = bare("evals", "--compare", "before.json", "after.json", "--min-score", "0.6")
    changes = [line.split("  ")[-1].strip() for line in done.out.splitlines()[1:]]
    assert changes == ["-1.240 to -0.260", "-", "-0.656 to -0.094"]
    assert done.code == 1
    assert bare("evals", "--compare", "before.json", "after.json").code == 0
    bare.write("{}", "after.json")
    assert "after.json is no report" in bare("evals", "--compare", "before.json", "after.json").err


def test_a_model_is_compared_with_itself_if_one_report_has_several(bare: Command) -> None:
    bare.write(report([0.5]), "before.json")
    one, other = json.loads(report([1.0])), json.loads(report([0.0], model="other"))
    bare.write(json.dumps({**one, "cases": one["cases"] + other["cases"]}), "after.json")
    rows = bare("evals", "--compare", "before.json", "after.json", "--json").data["rows"]
    assert [row["change"] for row in rows] == [0.5, None, 0.5]


def test_confused_tools_are_named_with_their_words(pegboard: Command) -> None:
    tools = [
        {"name": "find", "description": "Search files by their names.\nFast."},
        {"name": "grep", "description": "Search lines of files."},
    ]
    (pegboard.folder / "suggest").mkdir()
    pegboard.write(
        "from pegboard_evals import *\n@tool_eval()\nasync def suite():\n"
        f"    suite = EvalSuite('own', 'Search.').add_tool_definitions({tools!r})\n"
        "    suite.add_case('a', 'search names', [ExpectedMCPToolCall('find')])\n"
        "    suite.add_case('b', 'fast names', [ExpectedMCPToolCall('find')])\n    return suite\n",
        "suggest/eval_own.py",
    )
    with ModelServer({"search names": [[["grep", {}]]]}) as server:
        done = evals(pegboard, server, "suggest", "suggest")
        of_folder = evals(pegboard, server, "./suggest")
    assert of_folder.out.splitlines() == done.out.splitlines()[:3]
    assert done.out.splitlines()[3:] == [
        "a: expected find, called grep",
        "  shared words: files, search",
        "  find: Search files by their names.",
        "  grep: Search lines of files.",
        "b: expected find, called no other tool",
        "  shared words: fast, names",
        "  find: Search files by their names.",
        "  find: Fast.",
        "  message: fast names",
    ]


@pytest.mark.parametrize(
    ("text", "arguments", "message", "code"),
    [
        ("", ["--model", "gpt"], "write openai:NAME or anthropic:NAME", 2),
        ("", ["--model", "openai:m,"], "write openai:NAME or anthropic:NAME", 2),
        ("", [], "there are no suites", 1),
        ("x = 1", ["--model", "openai:m", "--endpoint", "http://x"], "eval_x.py has no suite", 1),
        ("import arcade_evals", ["--model", "openai:m"], "import from pegboard_evals instead", 1),
        ("1 / 0", ["--model", "openai:m", "--endpoint", "http://x"], "eval_x.py failed: ZeroDivisionError", 1),
        (SUITE.format(words=["a"]), [], "name a model", 2),
        (SUITE.format(words=["a"]), ["--model", "openai:m"], "the secret OPENAI_API_KEY is not set", 1),
        (SUITE.format(words=["a"]), ["--replay", "none"], "there is no file none", 1),
        (SUITE.replace("demo_kit.echo", "print").format(words=["a"]), [], "expects the function print", 1),
        (SUITE.format(words=["a"]), ["--output", "x.pdf"], "end it with .txt, .md, .html or .json", 2),
        ("", ["--runs", "0"], "'0' is not a whole number from 1", 2),
        ("", ["--min-score", "2"], "'2' is not a score from 0 to 1", 2),
        (SUITE.format(words=["a"]), ["--replay", "eval_x.py"], "is no answer of a model", 1),
    ],
)
def test_a_mistake_has_one_clear_message(
    text: str, arguments: list[str], message: str, code: int, pegboard: Command
) -> None:
    if text:
        pegboard.write(text, "eval_x.py")
    done = pegboard("evals", *arguments, env={"OPENAI_API_KEY": None})
    assert message in done.err
    assert (done.code, "Traceback" in done.err) == (code, False)


FAR = """
from pegboard import Toolkit
kit = Toolkit("far")
@kit.tool
def echo(text: str, loud: bool = False) -> str:
    '''Say it.'''
    return text
"""


@pytest.mark.parametrize("is_mounted", [pytest.param(True, marks=pytest.mark.needs("upstreams")), False])
def test_the_tools_of_another_server_are_used(is_mounted: bool, pegboard: Command) -> None:
    pegboard.write(FAR, "far.py")
    suite = SUITE.replace("ExpectedToolCall(demo_kit.echo", "ExpectedMCPToolCall('far.echo'").replace("demo_kit", "sys")
    pegboard.write(suite.format(words=["a"]), "eval_far.py")
    command, *arguments = pegboard.arguments("stdio", "far.py")
    mount = f"[plugins.upstreams.servers.far]\ncommand = {command!r}\nargs = {arguments}\nprefix = false\n"
    pegboard.configure(sections=mount if is_mounted else "", off=["demo"])
    options = [] if is_mounted else ["--stdio", " ".join([command, *arguments])]
    with ModelServer({"say a": [[["far_echo", {"text": "a"}]]]}) as server:
        done = evals(pegboard, server, *options, "--json")
    assert [tool["function"]["name"] for tool in server.requests[0][2]["tools"]] == ["far_echo"]
    (case,) = done.data["cases"]
    (run,) = case["runs"]
    assert case["state"] == "passed"
    assert case["expected"] == run["calls"] == [{"name": "far_echo", "args": {"text": "a", "loud": False}}]
