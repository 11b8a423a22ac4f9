"""A closed route policy that replaces an authenticator that is configured but disabled.

A glob, a variable or `--safe` may disable an authenticator by accident. Without it the MCP endpoint would be open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegboard.config import HostConfig
from pegboard.hookspecs import register_authenticators
from pegboard.loading.discovery import WILD, Selection, is_built_in
from pegboard.loading.plugin_facts import facts_of
from pegboard.loading.plugins import LoadedPlugin, LoadProblem, PluginChoice, contributions_of
from pegboard.names import Patterns
from pegboard.plugin.routes import DEFAULT_POLICY, Authenticator
from pegboard.types.callers import Caller
from pegboard.types.http import Request, Response


class ClosedPolicy(Authenticator):
    """An authenticator that replaces disabled authenticators and admits only the operator.

    Args:
        names: the disabled plugins.
    """

    policy = DEFAULT_POLICY

    def __init__(self, names: Iterable[str]) -> None:
        message = (
            f"This is closed because an authenticator is disabled: {', '.join(names)}. Its operator can enable it.\n"
        )
        self._refusal = Response(403, message.encode(), "text/plain")

    async def authenticate(self, request: Request) -> Caller | Response:
        return request.caller if request.caller.trusted else self._refusal


def disabled_authenticators(
    choices: Iterable[PluginChoice], config: HostConfig, selection: Selection
) -> list[PluginChoice]:
    """Return the configured plugins that may authenticate MCP callers and are disabled, but not by their exact names.

    A disabled plugin is not imported, so any third-party plugin may be an authenticator.
    """
    return [
        choice
        for choice in choices
        if choice.origin.kind == "plugin"
        and not (choice.on or choice.refused)
        and _is_configured(choice, config)
        and _may_authenticate(choice)
        and (selection.safe or _by_accident(choice, config))
    ]


def closed_problems(choices: Iterable[PluginChoice]) -> list[LoadProblem]:
    """Return a warning for each disabled authenticator."""
    effect = f"it may authenticate callers of the policy {DEFAULT_POLICY!r}, which does not open without it"
    fix = "to open it, remove the plugin's section or list its exact name in [host] disabled_plugins of the file"
    return [
        LoadProblem("find", f"{choice.reason}; {effect}; {fix}", choice.origin, level="warning") for choice in choices
    ]


def is_unguarded(plugins: Sequence[LoadedPlugin]) -> bool:
    """Return True if no running plugin authenticates MCP callers."""
    return not any(
        authenticator.policy == DEFAULT_POLICY
        for _, authenticator in contributions_of(plugins, register_authenticators)
    )


def _is_configured(choice: PluginChoice, config: HostConfig) -> bool:
    name = choice.origin.name
    listed = name in config.host.plugins or name in config.host.required
    return listed or config.source(("plugins", name)).by_operator or choice.origin.entry_point is None


def _may_authenticate(choice: PluginChoice) -> bool:
    if choice.origin.entry_point is None:
        return hasattr(choice.origin.given, "register_authenticators")
    facts = facts_of(choice.origin)
    return DEFAULT_POLICY in facts.policies if facts else not is_built_in(choice.origin)


def _by_accident(choice: PluginChoice, config: HostConfig) -> bool:
    """Return True if a variable disables the plugin, or if only globs disable it."""
    origin = choice.origin
    names = [
        text for text in config.host.disabled_plugins if Patterns([text]).match_plugin(origin.name, origin.distribution)
    ]
    by_variable = config.source(("host", "disabled_plugins")).kind == "environment"
    return bool(names) and (by_variable or all(set(text) & WILD for text in names))
