"""`pegboard operator-token`: the token by which `pegboard serve` recognizes its operator."""

from __future__ import annotations

import os

from pegboard.cli import OK
from pegboard.config.state import path_and_reason
from pegboard.errors import ServerError
from pegboard.plugin.commands import CommandContext
from pegboard.routing.operator_token import operator_token, token_file
from pegboard.terminal.printing import print_json, print_text


def run_operator_token(command: CommandContext) -> int:
    """Print the operator token. Create it if it does not exist.

    Raises:
        ServerError: the token can neither be read nor created.
    """
    try:
        token = operator_token(os.environ)
    except OSError as error:
        reason = path_and_reason(error)
        raise ServerError(f"there is no operator token: {reason}; set PEGBOARD_STATE_DIR to another folder") from error
    if command.options.json:
        print_json({"token": token, "file": token_file(os.environ)})
    else:
        print_text(token)
    return OK
