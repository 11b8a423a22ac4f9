"""The checks of `pegboard doctor`: those of the host, and those that plugins add."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pegboard.cli.diagnosis import catalogue_checks, file_checks, host_checks
from pegboard.cli.parsing.argument_reading import function_named
from pegboard.host import Host
from pegboard.loading.fact_models import Check as CheckFacts
from pegboard.loading.failure_text import failure_text
from pegboard.loading.plugin_facts import facts_of
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.commands import CommandContext, Finding
from pegboard.records import NamedTuple
from pegboard.terminal.printing import print_text


class Check(NamedTuple):
    """A check: its name, and the function that yields its findings."""

    name: str
    run: Callable[[Host], Iterator[Finding]]


CHECKS = (
    Check("configuration", host_checks.check_configuration),
    Check("environment", host_checks.check_environment),
    Check("plugins", catalogue_checks.check_plugins),
    Check("secrets", catalogue_checks.check_missing_secrets),
    Check("import times", catalogue_checks.check_import_times),
    Check("clients' rules", catalogue_checks.check_client_rules),
    Check("docstrings", catalogue_checks.check_docstrings),
    Check("hidden text", catalogue_checks.check_hidden_text),
    Check("transports", host_checks.check_transports),
    Check("tokens", host_checks.check_tokens),
    Check("operator token", host_checks.check_operator_token),
    Check("stores", host_checks.check_stores),
    Check("state directory", file_checks.check_state_directory),
    Check("file modes", file_checks.check_file_modes),
    Check("clients", file_checks.check_clients),
)


def all_checks(host: Host, options: Namespace) -> list[Check]:
    """Return the checks of the host, then those of the loaded plugins."""
    added = [
        Check(facts.name, partial(_run_of_plugin, plugin, facts, options))
        for plugin in host.report.plugins
        for facts in _declared(plugin)
    ]
    return [*CHECKS, *added]


def _declared(plugin: LoadedPlugin) -> Iterable[CheckFacts]:
    facts = facts_of(plugin.origin)
    return facts.commands["doctor"].checks if facts and "doctor" in facts.commands else ()


def _run_of_plugin(plugin: LoadedPlugin, check: CheckFacts, options: Namespace, host: Host) -> Iterator[Finding]:
    context = CommandContext(options, print_text, plugin.context.config, plugin.context, host)
    try:
        yield from function_named(check.run)(context)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failure of the plugin
        yield Finding("error", f"the check {check.name!r} of {plugin.origin} failed: {failure_text(error)}")
