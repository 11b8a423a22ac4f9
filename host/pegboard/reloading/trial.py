"""The trial import of changed code in a child process.

Code that exits, hangs or crashes on import ends the child only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from pegboard.loading.source_files import run_file
from pegboard.messages.error_fields import failure_location, failure_text

MAX_TRIAL_SECONDS = 30.0
"""The time limit of the import in seconds."""

_CHILD = """\
import json, os, sys
request = json.loads(sys.argv[1])
sys.path[:] = request["path"]
from pegboard.reloading.trial import answer
answer(request)
os._exit(0)  # threads that the code has started do not matter
"""


class Trials:
    """Tries imports in child processes, one after the other."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._is_over = False

    def end(self) -> None:
        """End the running trial, and try nothing more. Any thread may call this."""
        self._is_over = True
        if self._child is not None:
            self._child.kill()

    def try_import(self, modules: Sequence[str], files: Sequence[Path]) -> str:
        """Import modules and run files in a child process. Return the problem, or "" if there is none."""
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder, "result")
            names = {"modules": [*modules], "files": [str(file) for file in files]}
            request = {"path": sys.path, **names, "result": str(result)}
            problem = self._run([sys.executable, "-B", "-P", "-c", _CHILD, json.dumps(request)])
            return result.read_text("utf-8") if result.is_file() else problem

    def _run(self, command: Sequence[str]) -> str:
        """Run a child process. Return the problem of a process that writes no result."""
        nothing = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing) as child:  # noqa: S603 - this Python
            self._child = child
            if self._is_over:
                child.kill()
            try:
                code = child.wait(MAX_TRIAL_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                return f"its import did not end within {MAX_TRIAL_SECONDS:g} s"
        if self._is_over:
            return "the reload was interrupted"
        return f"its import ended the process with {f'the code {code}' if code >= 0 else _signal_text(-code)}"


def _signal_text(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:  # Python does not know the signals of all systems
        return f"signal {number}"


def answer(request: dict[str, Any]) -> None:
    """Import what a request names, in the child process, and write the problem to the file of the result."""
    problem = ""
    _end_with_host()
    try:
        for module in request["modules"]:
            try:
                import_module(module)
            except BaseException as error:
                problem = f"{described(error)}{failure_location(error, module)}"
                raise
        for file in request["files"]:
            run_file(Path(file))
    except BaseException as error:  # noqa: BLE001 - the code under trial may raise anything
        problem = problem or described(error.__cause__ if isinstance(error.__cause__, SyntaxError) else error)
    Path(request["result"]).write_text(problem, "utf-8")


def _end_with_host() -> None:
    """End this process when the host ends and closes the standard input. Give the code under trial an empty input."""
    host = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)

    def wait() -> None:
        os.read(host, 1)
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def described(error: BaseException) -> str:
    """Return an exception as one line. For a syntax error the line has the whole path of the file."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} ({error.filename}:{error.lineno})"
    return failure_text(error)
