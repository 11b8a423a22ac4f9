"""`pegboard call TOOL key=value key:=json`: a tool call from the shell, processed like calls of clients."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shlex
import sys
from argparse import Namespace
from typing import Any

from pegboard.cli import FAILED, INTERRUPTED, OK
from pegboard.cli.command_failures import failure
from pegboard.cli.host_setup import host_from_options
from pegboard.cli.inspection.tool_lookup import find_tool, plugins_adding_later
from pegboard.cli.output import (
    clear_progress,
    diverted,
    is_interactive,
    print_json,
    print_result,
    print_result_json,
    say,
)
from pegboard.cli.parsing.call_arguments import parse_arguments
from pegboard.errors import (
    AuthorizationRequiredError,
    InteractionError,
    NotFoundError,
    ServerError,
    ToolInputError,
    ToolkitError,
)
from pegboard.host import Host
from pegboard.types.callers import Client
from pegboard.types.calls import Call, Failure, MethodResult, Outcome, RawResult, ToolResult


def run_call(options: Namespace) -> int:
    """Call one tool and print its result."""
    arguments = parse_arguments(options.arguments)
    host = host_from_options(options, ())
    show_progress = options.verbose or (sys.stderr is not None and sys.stderr.isatty())
    try:
        with diverted():
            outcome = asyncio.run(_call(host, options.tool, arguments, show_progress=show_progress))
    except KeyboardInterrupt:
        if host.busy_threads:
            # a function that runs in a thread would keep the process alive
            logging.shutdown()
            os._exit(INTERRUPTED)
        raise
    except SystemExit:
        message = "a task that it started raised SystemExit, which ends the event loop"
        raise ServerError(f"{options.tool} failed: {message}") from None
    finally:
        clear_progress()
    return _print(outcome, options)


async def _call(host: Host, name: str, arguments: dict[str, Any], *, show_progress: bool) -> Outcome:
    async with host:
        gc.enable()
        client, ask = Client("pegboard call", host.identity.version), None
        if is_interactive():
            from pegboard.cli.output.terminal import TERMINAL_CAPABILITIES, Terminal

            client, ask = client._replace(capabilities=TERMINAL_CAPABILITIES), Terminal()
        notify = _notify if show_progress else None

        async def call(name: str) -> Outcome:
            params = {"name": name, "arguments": arguments}
            return await host.dispatch(Call("tools/call", params, client=client, notify=notify, ask=ask))

        try:
            tool = find_tool(host.assembly, name).tool
        except NotFoundError:
            later = plugins_adding_later(host)
            if later and not _is_unknown(outcome := await call(name), host, name):
                return outcome
            await host.dispatch(Call("tools/list"))  # middleware may complete the catalogue before the first list
            tool = find_tool(host.assembly, name, later).tool
        return await call(tool.name)


def _is_unknown(outcome: Outcome, host: Host, name: str) -> bool:
    """Return True if a call failed because the host serves no tool with this exact name."""
    failed = isinstance(outcome, Failure) and isinstance(outcome.error, NotFoundError)
    return failed and name not in host.assembly.tools


def _notify(method: str, params: dict[str, Any]) -> None:
    """Print the progress of the call. The call's log messages are in the host's log."""
    if method == "notifications/progress":
        from pegboard.cli.output.progress_bar import show_progress  # few calls report progress

        show_progress(params)


def _print(outcome: Outcome, options: Namespace) -> int:
    if isinstance(outcome, Failure):
        _print_failure(outcome, options)
        return FAILED
    if isinstance(outcome, MethodResult):  # middleware of a plugin returned it
        print_result_json({"result": outcome.value} if options.json else outcome.value)
        return OK
    if isinstance(outcome, RawResult):
        from pegboard.content.raw_results import as_tool_result

        outcome = as_tool_result(outcome)
    assert isinstance(outcome, ToolResult)
    if outcome.content is not None:
        _print_content(outcome, as_json=options.json)
    elif options.json:
        print_result_json({"result": outcome.value})
    elif isinstance(outcome.value, str):
        print_result(outcome.value)
    elif outcome.value is not None:
        print_result_json(outcome.value)
    return FAILED if outcome.is_error else OK


def _print_content(outcome: ToolResult, *, as_json: bool) -> None:
    from pegboard.cli.output.content_output import as_object, as_text

    blocks = outcome.content or ()
    if as_json:
        content = [as_object(block) for block in blocks]
        print_result_json({"result": outcome.value, "content": content, "is_error": outcome.is_error})
        return
    for block in blocks:
        print_result(as_text(block))


def _print_failure(outcome: Failure, options: Namespace) -> None:
    error = outcome.error
    config = ["--config", str(options.config)] if options.config else []
    if isinstance(error, AuthorizationRequiredError) and error.login_command:
        error = _with_login_command(error, config)
    if options.json:
        detail: dict[str, Any] = {}
        if isinstance(error, ToolkitError):
            detail = error.to_payload()
            del detail["message"], detail["developer_message"], detail["stacktrace"]
        print_json(failure(error.message, FAILED, detail.pop("kind", "FAILED"), **detail, error_id=outcome.error_id))
        return
    from pegboard.context.interaction import CANNOT_BE_ASKED  # most calls succeed

    lines = [error.message or type(error).__name__, getattr(error, "additional_prompt_content", None)]
    if outcome.error_id:
        lines.append(f"error {outcome.error_id}; see the log above")
    if isinstance(error, ToolInputError):
        files = [word for file in options.file for word in ("--file", str(file))]
        only = ["--only", ",".join(options.only)] if options.only else []
        again = shlex.join(["pegboard", "show", *config, *only, *files, options.tool])
        lines.append(f"`{again}` lists the parameters; write other types as key:=json")
    if isinstance(error, InteractionError) and error.message == CANNOT_BE_ASKED and not is_interactive():
        lines.append("call tools that ask questions at a terminal or from an MCP client")
    for line in "\n".join(line for line in lines if line).splitlines():
        say(line)


def _with_login_command(error: AuthorizationRequiredError, config: list[str]) -> AuthorizationRequiredError:
    """Return an error that names the command for the login. The page of the login ends with this process."""
    command = shlex.join(["pegboard", *error.login_command, *config])
    lasting = AuthorizationRequiredError(error.provider, scopes=error.scopes, hint=f"log in with `{command}`")
    lasting.additional_prompt_content = "Call the tool again afterwards."
    return lasting
