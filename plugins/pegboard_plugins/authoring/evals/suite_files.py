"""Suites in Python files, and messages in text files."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from pegboard.errors import MCPError
from pegboard_evals import EvalCase, EvalSuite, SuiteFunction
from pegboard_plugins.support.suite_files import suite_files

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
