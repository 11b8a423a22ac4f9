"""`pegboard token`: makes a token to try the worker protocol."""

from __future__ import annotations

import logging
from argparse import ArgumentTypeError

from pegboard import ToolError
from pegboard.plugin import CommandContext, encode
from pegboard_plugins.protocols.worker.jwt_authenticator import create_token
from pegboard_plugins.protocols.worker.settings import NOT_SERVED
from pegboard_plugins.support.secret_strength import is_weak_secret

MAX_TOKEN_SECONDS = 366 * 24 * 3600
"""The longest lifetime of a token."""

logger = logging.getLogger("pegboard.plugins.worker")


def seconds(text: str) -> int:
    """Return a lifetime on the command line."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 0 < number <= MAX_TOKEN_SECONDS:
        raise ArgumentTypeError(f"expected a whole number from 1 to {MAX_TOKEN_SECONDS}, found {text!r}")
    return number


def run_token(command: CommandContext) -> int:
    """Print a token that is signed with the secret of the worker."""
    options = command.options
    if not command.settings.secret:
        raise ToolError(f"a token cannot be signed: {NOT_SERVED}")
    secret = command.settings.secret.get_secret_value()
    if is_weak_secret(secret):
        logger.warning("the secret is weak: set a random one, because others can guess it and create tokens")
    token = create_token(secret, options.seconds)
    command.print(encode({"token": token, "expires_in": options.seconds}).decode() if options.json else token)
    return 0
