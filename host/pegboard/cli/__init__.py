"""The `pegboard` command. Data goes to stdout, messages to stderr. The code of a command is imported when it runs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from pegboard.module_path import leave_out_working_directory

if TYPE_CHECKING:
    from pegboard.errors import MCPError

OK: Final = 0
FAILED: Final = 1
"""The tool or the operation failed."""
USAGE: Final = 2
"""The command line is invalid."""
CANNOT_START: Final = 3
"""The configuration or a plugin prevents the start of the host."""
CANNOT_OPEN: Final = 5
"""A transport could not bind or connect."""
INTERRUPTED: Final = 130
"""Ctrl-C ended the command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. docs/command-line.md lists the exit codes."""
    leave_out_working_directory()
    return exit_code_of(partial(_run_command, argv), sys.argv[1:] if argv is None else argv)


def exit_code_of(run: Callable[[], int], words: Sequence[str] = ()) -> int:
    """Run a function and return its exit code. Report its errors in the form that the command line requests."""
    from pegboard.terminal.standard_streams import open_closed_descriptors, write_utf_8

    open_closed_descriptors()
    if os.name == "nt":
        write_utf_8(sys.stdout, sys.stderr)
    from pegboard.errors import MCPError
    from pegboard.terminal.printing import flush

    try:
        code = _without_collections(run)
        flush()
        return code
    except MCPError as error:
        return _reported(error, words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return FAILED
    finally:
        _give_up_error()


def _reported(error: MCPError, words: Sequence[str]) -> int:
    from pegboard.cli.command_failures import report_error
    from pegboard.terminal.printing import OutputError, flush

    has_output = not isinstance(error, OutputError)
    if not has_output:
        _give_up_output()
    try:
        code = report_error(error, words if has_output else ())
        flush()
    except (OutputError, BrokenPipeError):
        _give_up_output()
        return FAILED
    return code


def _without_collections(run: Callable[[], int]) -> int:
    # objects made while loading stay: a collection would cost a tenth of every start
    gc.disable()
    try:
        return run()
    finally:
        gc.enable()


def _run_command(argv: Sequence[str] | None) -> int:
    from pegboard.cli.parsing.parser import parse

    try:
        options = parse(argv)
    except SystemExit as leaving:  # argparse has printed the error or the help
        return int(leaving.code or OK)
    if options.command is None and options.version:
        from pegboard.loading.discovery import own_version
        from pegboard.terminal.printing import print_json, print_text

        print_json({"version": own_version()}) if options.json else print_text(f"pegboard {own_version()}")
        return OK
    if options.command is None:
        from pegboard.cli.commands.status import run_status

        return run_status(options)
    from pegboard.cli.command_runs import run_command

    return run_command(options)


def _give_up_output() -> None:
    """Redirect stdout to the null device after its reader has closed, as in `pegboard list | head`."""
    _lead_nowhere(sys.stdout.fileno())


def _give_up_error() -> None:
    """Flush stderr. Drop the rest if that fails, as on a full disk: otherwise Python would exit with 120."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            _lead_nowhere(sys.stderr.fileno())
        except ValueError:
            pass  # closed


def _lead_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
