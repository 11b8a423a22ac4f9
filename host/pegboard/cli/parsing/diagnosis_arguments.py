"""`doctor`, `cost` and `completion`."""

from __future__ import annotations

from argparse import ArgumentTypeError

from pegboard.cli.parsing.cli_command import CliCommand


def _count(text: str) -> int:
    """Return a number of tokens."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number from 0, not {text!r}")
    return int(text)


_SHELLS = tuple(
    CliCommand(
        shell,
        "commands.completion_command:run_completion",
        f"print the script for {shell}",
        (f"pegboard completion {shell}",),
    )
    for shell in ("bash", "zsh", "fish")
)
COMMANDS = (
    CliCommand(
        "doctor",
        "commands.doctor:run_doctor",
        "check the configuration, plugins, files and clients, and explain each problem",
        ("pegboard doctor", "pegboard doctor --fix", "pegboard doctor --json"),
        (("--fix", {"action": "store_true", "help": "correct file modes and create the state directory"}),),
    ),
    CliCommand(
        "cost",
        "commands.cost:run_cost",
        "estimate the tokens that the tools cost in each request of a model",
        ("pegboard cost", "pegboard cost --only files", "pegboard cost --budget 5000"),
        (("--budget", {"type": _count, "metavar": "TOKENS", "help": "exit with 1 if the tools cost more tokens"}),),
    ),
    CliCommand(
        "completion",
        "",
        "print a script that completes commands, options and tools in a shell",
        ('eval "$(pegboard completion bash)"', "pegboard completion fish | source"),
        group=_SHELLS,
    ),
)
