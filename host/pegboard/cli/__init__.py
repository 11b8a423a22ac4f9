"""The `pegboard` command. Data goes to stdout, talk to stderr; each command's code is loaded when it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

OK: Final = 0
FAILED: Final = 1
"""The tool or the operation failed."""
USAGE: Final = 2
"""The command line is wrong."""
CANNOT_START: Final = 3
"""The host cannot start as configured: configuration or a plugin."""
CANNOT_OPEN: Final = 5
"""A transport could not bind or connect."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. All of them are in the README."""
    from pegboard.cli.parser import build_parser
    from pegboard.errors import ConfigError, MCPError, PluginError, TransportError

    parser = build_parser()
    options = parser.parse_args(argv)
    if options.run is None:
        parser.print_help()
        return OK
    module, function = options.run.split(":")
    try:
        return int(getattr(import_module(module), function)(options))
    except (ConfigError, PluginError) as error:
        return _tell(error, CANNOT_START)
    except TransportError as error:
        return _tell(error, CANNOT_OPEN)
    except MCPError as error:
        return _tell(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has gone, `pegboard list | head` for one; python would complain once more at exit
        sys.stdout = None
        return FAILED


def _tell(error: Exception, code: int) -> int:
    for line in str(error).splitlines():
        print(f"pegboard: {line}", file=sys.stderr)
    return code
