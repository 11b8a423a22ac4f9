"""A failed `pegboard call`: its error is printed once, with advice for the user of the command."""

from __future__ import annotations

import logging
import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pegboard import (
    AuthorizationRequiredError,
    FatalToolError,
    MCPError,
    ToolInputError,
    ToolkitError,
    current_context,
)
from pegboard.errors import InteractionError
from pegboard.plugin import redacted
from pegboard.terminal import failure_fields, is_interactive, print_json, say
from pegboard.types import Failure

_OF_SECRETS = "secrets"
"""The stage of problems with secrets and tokens that are not set (`LoadProblem`)."""
_CANNOT_BE_ASKED = "this client cannot be asked"
"""In the message of a tool that has a question, if no one can answer it."""

logger = logging.getLogger("pegboard")


class CallLog(logging.Filter):
    """Holds the log records of a call until its outcome is known. Reports of missing secrets are dropped.

    A held record contains its text, because the token of a call is masked only during the call. Other problems of the
    host are printed as every command prints them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: list[logging.LogRecord] = []
        logger.addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        problem: Any = record.args[0] if isinstance(record.args, tuple) and record.args else None
        if (stage := getattr(problem, "stage", None)) is not None:
            if stage != _OF_SECRETS:
                say(f"{problem.level}: {problem}")
            return False
        if getattr(record, "call", None) is None and current_context() is None:
            return True
        record.msg, record.args = redacted(record.getMessage()), ()
        if record.exc_info:
            formatter = logging.getLogger().handlers[0].formatter or logging.Formatter()
            record.exc_text = redacted(formatter.formatException(record.exc_info))
        self._held.append(record)
        return False

    def release(self, *, is_told: bool) -> list[logging.LogRecord]:
        """Stop holding records. Return the records if the failure shows them, otherwise log them."""
        logger.removeFilter(self)
        if is_told:
            return self._held
        for record in self._held:
            logger.handle(record)
        return []


def config_options(options: Namespace) -> list[str]:
    """Return the option that makes another command read the configuration file of this command."""
    return ["--config", str(options.config)] if options.config else []


def print_failure(
    outcome: Failure,
    options: Namespace,
    records: Sequence[logging.LogRecord],
    missing: Mapping[str, str],
    forms: Iterable[str],
) -> None:
    """Print the error of a call. For an error that is masked for callers, also print its log records.

    Args:
        outcome: the failure.
        options: the options of the command line.
        records: the log records of the call that were not logged.
        missing: the secrets that the tool requires and that are not set, each with advice to set it.
        forms: how to write arguments that were given member by member.
    """
    more = [] if isinstance(outcome.error, ToolkitError) else [record.getMessage() for record in records]
    config = config_options(options)
    error = _missing_secrets(missing) if missing else _for_command(outcome.error, config)
    if options.json:
        _print_fields(error, outcome.error_id)
        return
    traces = "\n".join(record.exc_text for record in records if record.exc_text)
    lines = [error.message or type(error).__name__]
    if isinstance(error, ToolInputError):
        lines += [f"write the members as JSON: {form}" for form in forms]
    lines += _advice(error, options, config)
    if options.verbose and outcome.error_id:
        lines.append(f"error {outcome.error_id}; see the log above")
    elif (detail := getattr(error, "developer_message", None)) and detail not in traces.splitlines():
        lines.append(detail)
    for line in "\n".join([*lines, *more, traces]).splitlines():
        say(line)


def _print_fields(error: MCPError, error_id: str | None) -> None:
    detail: dict[str, Any] = {}
    if isinstance(error, ToolkitError):
        detail = error.to_payload()
        del detail["message"], detail["developer_message"], detail["stacktrace"]
    print_json(failure_fields(error.message, 1, detail.pop("kind", "FAILED"), **detail, error_id=error_id))


def _advice(error: MCPError, options: Namespace, config: Iterable[str]) -> Iterator[str]:
    if text := getattr(error, "additional_prompt_content", None):
        yield text
    if isinstance(error, AuthorizationRequiredError) and error.hint not in error.message:
        yield error.hint
    if isinstance(error, ToolInputError):
        files = [word for file in options.file for word in ("--file", str(file))]
        only = ["--only", ",".join(options.only)] if options.only else []
        again = shlex.join(["pegboard", "show", *config, *only, *files, options.tool])
        yield f"`{again}` lists the parameters; write other types as key:=json"
    if isinstance(error, InteractionError) and _CANNOT_BE_ASKED in error.message and not is_interactive():
        yield "call tools that ask questions at a terminal or from an MCP client"


def _for_command(error: MCPError, config: Sequence[str]) -> MCPError:
    """Return an error with advice for the user of a command. The original advice is for a model and for clients."""
    if isinstance(error, AuthorizationRequiredError):
        if error.login_command:  # the page of the login ends with this process
            command = shlex.join(["pegboard", *error.login_command, *config])
            error = AuthorizationRequiredError(error.provider, scopes=error.scopes, hint=f"log in with `{command}`")
        if error.status == "failed":  # the detail is the reason
            error.additional_prompt_content = "Try again later."
        else:
            error.additional_prompt_content, error.developer_message = "Call the tool again afterwards.", None
    return error


def _missing_secrets(missing: Mapping[str, str]) -> FatalToolError:
    advice = dict.fromkeys(f"{text[0].upper()}{text[1:]}." for text in missing.values())
    return FatalToolError(" ".join([f"This tool needs a secret that is not set: {', '.join(missing)}.", *advice]))
