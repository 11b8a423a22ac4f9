"""The checks of `pegboard doctor`: those of the host, and those that plugins add."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pegboard.cli.command_runs import RunningCommand
from pegboard.cli.diagnosis import catalogue_checks, file_checks, host_checks
from pegboard.cli.parsing.argument_reading import function_named
from pegboard.host import Host
from pegboard.loading.fact_models import Check as CheckFacts
from pegboard.loading.fact_models import PluginFacts
from pegboard.loading.failure_text import failure_text
from pegboard.loading.plugin_facts import facts_of, features_of_commands, own_facts
from pegboard.plugin.base import PluginContext
from pegboard.plugin.commands import Finding
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
)


def all_checks(host: Host, options: Namespace) -> list[Check]:
    """Return the checks of the host, those of features that have only commands, and those of the loaded plugins."""
    of_features = [
        Check(facts.name, partial(_run_added, f"feature {name!r}", None, facts, options))
        for name in sorted(features_of_commands())
        for facts in _declared(own_facts().get(name))
    ]
    of_plugins = [
        Check(facts.name, partial(_run_added, str(plugin.origin), plugin.context, facts, options))
        for plugin in host.report.plugins
        for facts in _declared(facts_of(plugin.origin))
    ]
    return [*CHECKS, *of_features, *of_plugins]


def _declared(facts: PluginFacts | None) -> Iterable[CheckFacts]:
    return facts.commands["doctor"].checks if facts and "doctor" in facts.commands else ()


def _run_added(
    owner: str, plugin: PluginContext | None, check: CheckFacts, options: Namespace, host: Host
) -> Iterator[Finding]:
    context = RunningCommand(options, print_text, plugin.config if plugin else None, plugin, host)
    try:
        yield from function_named(check.run)(context)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failure of the plugin
        yield Finding("error", f"the check {check.name!r} of {owner} failed: {failure_text(error)}")
