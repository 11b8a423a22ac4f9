"""`pegboard evals`: ask models, score their tool calls, and report."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeAlias, cast

from pegboard.errors import MCPError
from pegboard.plugin import CommandContext
from pegboard.terminal import UsageError, print_json, print_lines, print_table, say
from pegboard_evals import EvalCase, EvalError, EvalSuite, MCPToolDefinition, SuiteFunction, shown_tool
from pegboard_plugins.authoring.evals.answers import Answer, Job, Key, ask_models, read_answers
from pegboard_plugins.authoring.evals.capture import captured_suite
from pegboard_plugins.authoring.evals.comparison import ComparisonOutput, compared, comparison_table, suggestions
from pegboard_plugins.authoring.evals.model_endpoints import ADDRESSES, KEYS, Model
from pegboard_plugins.authoring.evals.report import (
    Report,
    ReportOutput,
    details,
    make_report,
    misses_first,
    rendered,
    summary,
    table,
    track_table,
)
from pegboard_plugins.servers.other_servers.other_server import use_server
from pegboard_plugins.servers.other_servers.server_items import lists_of
from pegboard_plugins.support.suite_files import suite_files

Offered = Mapping[str, Mapping[str, Sequence[MCPToolDefinition]]]
"""The tools that the model gets, by suite and track."""
Tools = tuple[list[MCPToolDefinition], Mapping[str, Callable[..., Any]]]
"""The tools of the command, and the functions of those that are Python functions."""
EvalsOutput: TypeAlias = ReportOutput | ComparisonOutput


def run_evals(command: CommandContext) -> int:
    """Run suites. Return 1 below `--min-score`, and if a model does not answer."""
    options = command.options
    suggests = options.suites[:1] == ["suggest"]  # as it was written: `./suggest` is a folder
    if options.compare:
        return _compare(options)
    if options.capture and options.capture.exists():
        raise MCPError(f"{options.capture} exists: name another file for the suite")
    known = read_answers(options.replay or options.answers) if _exists(options) else {}
    suites = load_suites([*map(Path, options.suites[suggests:])] or [Path()])
    served, functions = _tools(command)
    try:
        offered = {suite.name: suite.bind(served, functions) for suite in suites}
    except EvalError as error:
        raise MCPError(str(error)) from None
    jobs = [*_replayed(suites, offered, known)] if options.replay else [*_new_jobs(command, suites, offered)]
    answers = dict(known) if options.replay else _asked(options, jobs, known)
    if options.capture:
        return _capture(options, jobs, answers)
    report = make_report(jobs, answers, options.pass_rule, context=options.include_context)
    _print(options, report, offered if suggests else {})
    return 1 if report["error"] or _is_below(options, report) else 0


def _exists(options: Namespace) -> bool:
    if options.replay and not options.replay.is_file():
        raise MCPError(f"there is no file {options.replay}: --answers FILE stores the answers of a run")
    return bool(options.replay or (options.answers and options.answers.is_file()))


def _tools(command: CommandContext) -> Tools:
    """Return the tools of the server with `--url` or `--stdio`, else those of the host with its mounted servers."""
    if command.options.url or command.options.stdio:
        lists = use_server(command, lambda client: lists_of(client, "tools"))
        return [shown_tool(tool) for tool in lists.get("tools", [])], {}
    missing = [finding.message for finding in command.missing_items(command.host).values() if finding.level == "error"]
    if missing:
        raise MCPError(f"{'; '.join(missing)}: correct the mounted servers, or leave them out with --only")
    tools = [bound.tool for bound in command.host.assembly.tools.values()]
    functions = {tool.name: tool.definition.function for tool in tools if tool.definition is not None}
    shown = [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools]
    return [*map(shown_tool, shown)], functions


def _new_jobs(command: CommandContext, suites: Sequence[EvalSuite], offered: Offered) -> Iterator[Job]:
    for model in _models(command):
        for suite in suites:
            for case in suite.cases:
                for run in range(int(command.options.runs)):
                    yield Job(suite.name, case, offered[suite.name][case.track], model, run)


def _replayed(suites: Sequence[EvalSuite], offered: Offered, known: Mapping[Key, Answer]) -> Iterator[Job]:
    """Yield the runs that a file of answers has. Each case must have one."""
    for suite in suites:
        for case in suite.cases:
            keys = sorted(key for key in known if key[1:3] == (suite.name, case.name))
            if not keys:
                raise MCPError(f"the file has no answer for the case {case.name!r}: run it with --answers FILE first")
            tools = offered[suite.name][case.track]
            yield from (Job(suite.name, case, tools, model, run) for model, _, _, run in keys)


def _models(command: CommandContext) -> Iterator[Model]:
    options = command.options
    if not options.model:
        raise UsageError("name a model, such as --model openai:NAME, or --replay FILE", program="pegboard evals")
    for form, names in (model.split(":", 1) for model in options.model):
        secret = options.key or (None if options.endpoint else KEYS[form])
        key = command.host.assembly.secrets.get(secret) if secret else None
        if secret and not key:
            raise MCPError(command.host.assembly.secrets.missing(secret))
        yield from (Model(form, name, options.endpoint or ADDRESSES[form], key) for name in names.split(","))


def _asked(options: Namespace, jobs: Sequence[Job], known: Mapping[Key, Answer]) -> dict[Key, Answer]:
    limits = {"concurrency": int(options.concurrency), "rate": int(options.rate), "seed": options.seed}
    return asyncio.run(ask_models(jobs, known, options.answers, limits))


# --- output


def _print(options: Namespace, report: Report, suggested: Offered) -> None:
    """Write and print a report, with suggestions about these tools."""
    for file in map(Path, options.output):
        for ending in [file.suffix] if file.suffix else [".txt", ".md", ".html", ".json"]:
            text = rendered(report, ending[1:], only_failed=options.only_failed)
            file.with_suffix(ending).write_text(text, "utf-8")
    if options.json:
        print_json(ReportOutput(**report, ok=not (report["error"] or _is_below(options, report))))
        return
    cases = misses_first(report, only_failed=options.only_failed)
    print_table([*table(cases)])
    if tracks := track_table(report):
        print_lines([""])
        print_table(tracks)
    for case in cases:
        if options.details or case["state"] == "error":
            print_lines(["", case["case"], *(f"  {line}" for line in details(case))])
        if suggested and case["state"] != "passed":
            print_lines(suggestions(case, suggested[case["suite"]][case["track"]]))
    say(summary(report))
    if _is_below(options, report):
        ways = "--details shows the misses, and `pegboard evals suggest` the words to change"
        say(f"the score is below {options.min_score}: {ways}")


def _is_below(options: Namespace, report: Report) -> bool:
    return options.min_score is not None and report["score"] < float(options.min_score)


def _capture(options: Namespace, jobs: Sequence[Job], answers: Mapping[Key, Answer]) -> int:
    options.capture.write_text(captured_suite(jobs, answers, context=options.include_context), "utf-8")
    errors = sorted({answer.error for answer in answers.values() if answer.error})
    for error in errors:
        say(error)
    say(f"{options.capture} has the calls: check each, because the model may be wrong")
    return 1 if errors else 0


def _compare(options: Namespace) -> int:
    """Print the differences between two reports. Return 1 if the second is below `--min-score`."""
    if len(options.compare) != 2:
        raise UsageError("--compare takes two reports in JSON", program="pegboard evals")
    before, after = map(_read_report, options.compare)
    rows = [*compared(before, after)]
    if options.json:
        print_json(ComparisonOutput(ok=not _is_below(options, after), rows=rows))
    else:
        print_table([*comparison_table(rows)])
    return 1 if _is_below(options, after) else 0


def _read_report(file: Path) -> Report:
    try:
        report = json.loads(file.read_text("utf-8"))
        if isinstance(report, dict) and report.get("version") == 1 and isinstance(report["cases"], list):
            return cast(Report, report)  # of this version
    except (OSError, LookupError, ValueError):
        pass
    raise MCPError(f"{file} is no report: `pegboard evals --output {file.stem}.json` writes one")


# --- arguments


def checked_argument(pattern: str, form: str, text: str) -> str:
    """Return an argument that matches a pattern."""
    if not re.fullmatch(pattern, text):
        raise ArgumentTypeError(f"{text!r} is not {form}")
    return text


count_argument = partial(checked_argument, r"[1-9]\d*", "a whole number from 1")
model_argument = partial(
    checked_argument, r"(openai|anthropic):[^,\s]+(,[^,\s]+)*", "a model: write openai:NAME or anthropic:NAME"
)
output_argument = partial(
    checked_argument,
    r"(.*/)?[^/.]+|.+\.(txt|md|html|json)",
    "a report: end it with .txt, .md, .html or .json, or without an ending to write all",
)
rule_argument = partial(checked_argument, "last|mean|majority", "a rule: write last, mean or majority")
score_argument = partial(checked_argument, r"0|1(\.0+)?|0?\.\d+", "a score from 0 to 1")
seed_argument = partial(checked_argument, r"constant|random|\d+", "a seed: write constant, random or a number")


# --- Suites in Python files, and messages in text files.

SYSTEM_MESSAGE = "You are a helpful assistant. Use the tools to answer."
"""The system message for messages of a text file."""


def load_suites(paths: Sequence[Path]) -> list[EvalSuite]:
    """Return the suites of files, and of the files `eval_*.py` in folders. Each line of a .txt file is a case.

    Further suites and cases with the same name get a number.

    Raises:
        MCPError: a file does not exist, fails or has no suite.
    """
    suites = [suite for path in paths for file in _files(path) for suite in _suites_in(file)]
    if not suites:
        raise MCPError("there are no suites: name a file or a folder with files eval_*.py")
    _number(suites)
    for suite in suites:
        _number(suite.cases)
    return suites


def _number(items: Sequence[EvalSuite] | Sequence[EvalCase]) -> None:
    """Add a number to each name that an earlier item has."""
    names: Counter[str] = Counter()
    for item in items:
        names[item.name] += 1
        if names[item.name] > 1:
            item.name = f"{item.name} ({names[item.name]})"


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from suite_files(path)
    else:
        raise MCPError(f"there is no file {path}: correct the path")


def _suites_in(file: Path) -> list[EvalSuite]:
    if file.suffix == ".txt":
        suite = EvalSuite(file.stem, SYSTEM_MESSAGE)
        for number, line in enumerate(filter(str.strip, file.read_text("utf-8").splitlines()), 1):
            suite.add_case(f"{file.stem} {number}", line.strip())
        return [suite]
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise MCPError(f"{file} is no Python file: name a file that ends with .py, or messages in a .txt file")
    module = module_from_spec(spec)
    folder = file.resolve().parent
    before = [*sys.path]
    sys.path[:] = [str(folder), *before, str(folder.parent)]  # a suite may import its neighbours, also as `evals.name`
    try:
        spec.loader.exec_module(module)
        functions = [value for value in vars(module).values() if isinstance(value, SuiteFunction)]
        suites = [asyncio.run(function.suite()) for function in functions]
    except (Exception, SystemExit) as error:
        advice = "; import from pegboard_evals instead" if "arcade_evals" in str(error) else ""
        raise MCPError(f"{file} failed: {type(error).__name__}: {error}{advice}") from error
    finally:
        sys.path[:] = before
    if not suites:
        raise MCPError(f"{file} has no suite: decorate a function that returns one with @tool_eval()")
    return suites
