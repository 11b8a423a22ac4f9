"""The check of `pegboard doctor` for logins."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from pegboard.plugin import CommandContext, Finding
from pegboard_plugins.auth.vault.login_flows import login_flows
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.vault_source import login_problem


def check_logins(command: CommandContext) -> Iterator[Finding]:
    """Report each provider whose token a tool requires, and at which the operator has no usable login.

    The vault that several machines share is not asked, and callers may log in themselves.
    """
    settings: VaultConfig = command.settings
    if settings.store is not None or settings.callers is not None:
        return
    flows, reported = login_flows(settings), set[str]()
    options = ["--config", str(command.options.config)] if command.options.config else []
    for bound in command.host.assembly.tools.values():
        token = bound.requirements.authorization
        if not token or token.name not in settings.providers:
            continue
        if (problem := asyncio.run(login_problem(flows, token, options))) and problem not in reported:
            reported.add(problem)
            fix = "the command also tells whether the provider can be reached"
            yield Finding("warning", f"{bound.name} requires a token of {token.name}; {problem}", fix)
