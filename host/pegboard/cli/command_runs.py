"""One run of a command: its function, with what it needs."""

from __future__ import annotations

import logging
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from pegboard.cli.command_config import load_config, log_warnings
from pegboard.cli.parsing.argument_reading import function_named
from pegboard.cli.parsing.declared_commands import (
    DeclaredCommand,
    added_options,
    declared_checks,
    host_commands,
    host_tables,
    plugin_commands,
)
from pegboard.cli.parsing.parser import described_commands
from pegboard.config.environment import this_worker
from pegboard.errors import ConfigError, MCPError, ServerError
from pegboard.loading.discovery import Selection, choose_plugins, find_plugins, is_built_in
from pegboard.loading.fact_models import CheckFacts
from pegboard.loading.plugin_facts import OWN_DISTRIBUTION, facts_of, features_of_commands, own_facts
from pegboard.loading.plugins import refuse_fatal
from pegboard.messages.error_fields import failure_text
from pegboard.plugin.commands import (
    Check,
    CommandContext,
    CommandDescription,
    ConfigFile,
    Finding,
    HostPlan,
    RequestedSecret,
    RunningWorkers,
)
from pegboard.secrets.redaction import Redactor
from pegboard.terminal.printing import diverted, print_text, say

if TYPE_CHECKING:
    from pegboard.calls.served_item import ServedItem
    from pegboard.host import Host
    from pegboard.plugin.base import PluginContext
    from pegboard.plugin.origin import Origin, PluginKind


class RunningCommand(CommandContext):
    """The context of a command of this process."""

    def host_plan(self) -> HostPlan:
        options, config = self.options, load_config(self.options)
        is_alone = any(vars(options).get(name) for name in ("file", "paths"))
        selection = Selection(tuple(options.only), options.safe, options.strict, autoload=not is_alone)
        installed = find_plugins().origins
        enabled = [choice.origin for choice in choose_plugins(installed, config, selection) if choice.on]
        names, running = (frozenset((origin.kind, origin.name) for origin in group) for group in (installed, enabled))
        return HostPlan(config, names, running)

    def config_file(self) -> ConfigFile:
        from pegboard.cli.commands.config_file import config_file

        return config_file(self.options)

    def command_line(self, *, of_plugins: bool = False) -> CommandDescription:
        commands = dict(host_commands())
        if of_plugins:
            with suppress(ConfigError):
                commands |= plugin_commands(self.options)
        return described_commands(commands.values())

    def new_host(
        self,
        *,
        transports: Sequence[str] | None = (),
        without: Iterable[tuple[PluginKind, str]] = (),
        collect: bool = False,
        hidden_text: bool = False,
        watch: bool = False,
    ) -> Host:
        from pegboard.cli.host_setup import host_from_options
        from pegboard.loading.process_changes import watch_process

        return host_from_options(
            self.options,
            transports,
            collect=collect,
            without=without,
            hidden_text=hidden_text,
            watch=watch_process if watch else nullcontext,
        )

    def checks(self, host: Host, command: str = "doctor") -> Sequence[Check]:
        checks = [self._check("the host", None, host, facts) for facts in declared_checks(host_tables(), command)]
        features = features_of_commands()
        for name in sorted(features):
            feature = own_facts().get(name)
            declared = declared_checks(feature.commands, command) if feature else ()
            checks += [self._check(f"feature {name!r}", None, host, facts) for facts in declared]
        loaded = {id(plugin.origin): plugin for plugin in host.report.plugins}
        for origin in (choice.origin for choice in host.report.choices if choice.on):
            is_told = origin.distribution == OWN_DISTRIBUTION and origin.name in features
            added = None if is_told else facts_of(origin)
            declared = declared_checks(added.commands, command) if added else ()
            if plugin := loaded.get(id(origin)):
                checks += [self._check(str(origin), plugin.context, host, facts) for facts in declared]
            elif command == "doctor":
                checks += [_failed_check(origin, host, facts) for facts in declared]
        return checks

    def _check(self, owner: str, plugin: PluginContext | None, host: Host, facts: CheckFacts) -> Check:
        context = RunningCommand(self.options, print_text, plugin.config if plugin else None, plugin, host)

        def run() -> Iterator[Finding]:
            try:
                yield from function_named(facts.run)(context)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a failure of a plugin
                yield Finding("error", f"the check {facts.name!r} of {owner} failed: {failure_text(error)}")

        return Check(facts.name, run)

    def requested_secrets(self, host: Host) -> Sequence[RequestedSecret]:
        from pegboard.cli.inspection.secret_report import requested_secrets

        return [secret for plugin in host.report.plugins for secret in requested_secrets(host, plugin.origin)]

    def plugin_details(self, host: Host) -> Sequence[Mapping[str, Any]]:
        from pegboard.cli.commands.plugins_command import plugin_detail

        return [plugin_detail(host, choice) for choice in host.report.choices]

    def find_tool(self, host: Host, name: str) -> ServedItem:
        from pegboard.cli.inspection.tool_lookup import find_tool

        return find_tool(host, name)

    def missing_items(self, host: Host, name: str | None = None) -> Mapping[str, Finding]:
        from pegboard.cli.inspection.tool_lookup import let_plugins_add_tools

        return let_plugins_add_tools(host, name, waits=not vars(self.options).get("no_wait"))

    async def list_items(self, host: Host, name: str | None = None) -> Mapping[str, Finding]:
        from pegboard.cli.inspection.tool_lookup import list_items

        return await list_items(host, name, waits=not vars(self.options).get("no_wait"))

    def connect_servers(self) -> None:
        try:
            plan = self.host_plan()
            facts = own_facts().items()
            mounting = {("plugin", name) for name, of in facts if of.mounts and plan.config.section("plugins", name)}
            if mounting & plan.enabled and not vars(self.options).get("no_wait"):
                host = self.new_host(without=[origin for origin in plan.enabled if origin[0] == "toolkit"])
                host.load()
                for finding in self.missing_items(host).values():
                    say(f"warning: {finding.message}")
        except MCPError as error:
            say(f"warning: the servers cannot be connected: {error}")

    def running_server(self) -> tuple[str, str]:
        from pegboard.cli.reloads.running_hosts import running_server

        return running_server(str(load_config(self.options).file or ""), os.environ)

    def running_workers(self) -> RunningWorkers:
        from pegboard.cli.reloads.running_hosts import WorkerRecords

        return WorkerRecords(os.environ)

    def say_outdated_hosts(self, host: Host) -> None:
        from pegboard.cli.reloads.running_hosts import say_outdated_hosts

        say_outdated_hosts(host)


def _failed_check(origin: Origin, host: Host, facts: CheckFacts) -> Check:
    """Return a check that only tells why it cannot run: its plugin has failed."""
    reasons = [problem.message for problem in host.problems if problem.origin is origin]
    message = f"it did not run, because {origin} failed: {'; '.join(reasons)}"
    return Check(facts.name, lambda: [Finding("warning", message)])


def run_command(options: Namespace) -> int:
    """Run the command that the parsed options name, and return its exit code.

    Raises:
        ConfigError: the configuration is invalid or not trusted.
        PluginError: the plugin of the command failed.
        MCPError: the command failed.
    """
    command: DeclaredCommand = options.command
    try:
        code = _code_by_setting(command, options)
        return int(function_named(options.run)(command_context(command, options)) if code is None else code)
    except (MCPError, BrokenPipeError):
        raise
    except Exception as error:
        logging.getLogger("pegboard").debug("the command %s failed", command.name, exc_info=True)
        raise ServerError(f"the command {command.name!r} failed: {failure_text(error)}") from None


def _code_by_setting(command: DeclaredCommand, options: Namespace) -> int | None:
    """Run the function of a built-in plugin that replaces a command if a setting is set.

    Return its exit code. Return None without such a function, in a worker process, or if the command must run.
    """
    added = [option for option in added_options(command.name) if option.argument.run and option.argument.key]
    if not added or this_worker() is not None:
        return None
    config = load_config(options, collect=True)
    for plugin, argument in added:
        if argument.run and config.section("plugins", plugin).get(argument.key or "") is not None:
            origin = next(origin for origin in find_plugins().origins if origin.name == plugin and is_built_in(origin))
            context = _context_with_settings(origin, options, serving=command.name == "serve")
            code: int | None = function_named(argument.run)(context)
            return code
    return None


def command_context(command: DeclaredCommand, options: Namespace) -> CommandContext:
    """Return what a command needs. A command that needs nothing imports no part of the host."""
    if options.needs == "host":
        from pegboard.cli.host_setup import loaded_host

        host = loaded_host(options, ())
        plugin = plugin_context(command.plugin, host) if command.plugin else None
        return RunningCommand(options, print_text, plugin.config if plugin else None, plugin, host)
    if options.needs == "configuration" and command.origin is not None:
        return _context_with_settings(command.origin, options)
    return RunningCommand(options, print_text)


def _context_with_settings(origin: Origin, options: Namespace, *, serving: bool = False) -> CommandContext:
    """Return the context of a command that needs the settings of its plugin."""
    from pegboard.cli.log_setup import set_up_logging
    from pegboard.loading.loader import settings_of

    config = load_config(options)
    set_up_logging(config, options.verbose, serving=serving, safe=options.safe)
    if not serving:  # the command that follows logs them
        log_warnings(config, serving=False)
    with diverted():
        settings = settings_of(origin, config)
    return RunningCommand(options, print_text, settings)


def plugin_context(name: str, host: Host) -> PluginContext | None:
    """Return the context of a plugin, or None if it is not enabled.

    Raises:
        ConfigError, PluginError: the plugin failed.
    """
    for plugin in host.report.plugins:
        if plugin.origin.kind == "plugin" and plugin.origin.name == name:
            return plugin.context
    refuse_fatal([problem for problem in host.problems if problem.origin and problem.origin.name == name], Redactor())
    return None
