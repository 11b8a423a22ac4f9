"""`pegboard plugins`: the plugins and toolkits, with their state and the reason for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pegboard.cli import OK
from pegboard.cli.host_setup import loaded_host
from pegboard.cli.inspection.secret_report import missing_needs, required_tokens, secrets_as_json
from pegboard.cli.reloads.running_hosts import OutdatedPlugin, outdated_hosts, say_outdated_hosts
from pegboard.host import Host
from pegboard.loading.plugins import PluginChoice
from pegboard.plugin.commands import CommandContext
from pegboard.plugin.origin import Origin
from pegboard.secrets.secret_lookup import granted
from pegboard.terminal.printing import flush, print_json, print_table


def run_plugins(command: CommandContext) -> int:
    """List plugins and toolkits."""
    host = loaded_host(command.options)
    choices = host.report.choices
    if not command.options.json:
        columns = ("name", "kind", "state", "source", "reason")
        details = [_with_source(plugin_detail(host, choice)) for choice in choices]
        print_table([tuple(detail[column] for column in columns) for detail in details])
        flush()  # messages follow the table if both go to the same file
        say_outdated_hosts(host)
        return OK
    outdated = [(pid, plugin) for pid, changed in outdated_hosts(host, os.environ) for plugin in changed]
    removed = list(dict.fromkeys(plugin.origin for _, plugin in outdated if plugin.now is None))
    gone = [PluginChoice(origin, False, "it was removed while a host runs it") for origin in removed]
    rows = [plugin_detail(host, choice) | {"outdated": _processes(outdated, choice.origin)} for choice in choices]
    rows += [
        plugin_detail(host, choice) | {"state": "removed", "outdated": _processes(outdated, choice.origin)}
        for choice in gone
    ]
    print_json(rows)
    return OK


def _processes(outdated: Sequence[tuple[int, OutdatedPlugin]], origin: Origin) -> list[int]:
    """Return the running hosts that have another version of a plugin."""
    return [pid for pid, plugin in outdated if (plugin.now or plugin.origin) == origin]


def _with_source(detail: dict[str, Any]) -> dict[str, Any]:
    source = f"{detail['distribution']} {detail['version']}".strip()
    secrets = ", ".join(secret["name"] + ("" if secret["set"] else " (not set)") for secret in detail["secrets"])
    tokens = ", ".join(token["provider"] for token in detail["tokens"])
    requirements = [f"{noun}: {names}" for noun, names in (("secrets", secrets), ("tokens", tokens)) if names]
    needs = [f"needs {', '.join(detail['needs'])}"] if detail["needs"] else []
    reasons = [detail["reason"], *detail["remarks"], *requirements, *needs]
    return detail | {"source": source, "reason": "; ".join(reasons)}


def plugin_detail(host: Host, choice: PluginChoice) -> dict[str, Any]:
    """Return a plugin as JSON."""
    origin = choice.origin
    loaded = next((plugin for plugin in host.report.plugins if plugin.origin is origin), None)
    return {
        "name": origin.name,
        "kind": origin.kind,
        "state": "off" if not choice.on else "failed" if loaded is None else "on",
        "reason": choice.reason,
        "remarks": loaded.remarks if loaded else [],
        "distribution": origin.distribution,
        "version": origin.version,
        "target": origin.target,
        "tools": [name for name, bound in host.assembly.tools.items() if bound.origin == origin],
        "middleware": [
            {"name": link.name, "place": place, "wraps": link.wraps()}
            for place, link in enumerate(host.assembly.middleware, 1)
            if link.owner == str(origin)
        ],
        "secrets": secrets_as_json(host, origin),
        "may_receive": granted(host.config, origin, "secrets"),
        "tokens": required_tokens(host, origin),
        "may_receive_tokens": granted(host.config, origin, "providers"),
        "needs": missing_needs(host, origin),
        "import_ms": round(loaded.import_seconds * 1000, 1) if loaded else None,
        "problems": [
            {"stage": problem.stage, "level": problem.level, "message": problem.message}
            for problem in host.problems
            if problem.origin is origin or str(origin) in problem.message
        ],
    }
