"""`pegboard config check`, `config show` and `config schema`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.cli import CANNOT_START, OK
from pegboard.cli.command_config import ignored_settings, load_config
from pegboard.cli.serving.access_settings import by_section, known_models
from pegboard.config.explain import ConfigView, config_show
from pegboard.config.file_schema import file_schema
from pegboard.config.problems import dotted, leaves, toml_key, toml_value
from pegboard.host import Host
from pegboard.loading.plugins import SECTION_OF_KIND
from pegboard.plugin.commands import CommandContext
from pegboard.terminal.failures import problem_fields
from pegboard.terminal.printing import diverted, print_json, print_lines, say, tool_count


def run_config_check(command: CommandContext) -> int:
    """Load all enabled plugins and print every problem. Succeed if `pegboard serve` would start."""
    host = _loaded(command)
    findings = _problems(host)
    findings += [_finding("warning", problem, fatal=False) for problem in ignored_settings(host.config, os.environ)]
    if not any(finding["fatal"] for finding in findings):
        findings += [
            _finding(finding.level, finding.problem or finding.message, fatal=finding.level == "error")
            for check in command.checks(host, "config check")
            for finding in check.run()
        ]
    wrong = any(finding["fatal"] for finding in findings)
    on = {
        section: [plugin.origin.name for plugin in host.report.plugins if plugin.origin.kind == kind]
        for kind, section in SECTION_OF_KIND.items()
    }
    if command.options.json:
        file = str(host.config.file) if host.config.file else None
        print_json({"ok": not wrong, "file": file, "problems": findings, **on, "tools": len(host.assembly.tools)})
        return CANNOT_START if wrong else OK
    for finding in findings:
        say(f"{finding['level']}: {finding['message']}")
    if wrong:
        return CANNOT_START
    parts = "; ".join(f"{kind}: {', '.join(names) or 'none'}" for kind, names in on.items())
    read = host.config.file or "no file, the defaults apply"
    print_lines([f"ok: {read}; {parts}; {tool_count(len(host.assembly.tools))}"])
    return OK


def run_config_show(command: CommandContext) -> int:
    """Print the settings in effect and their sources. Invalid settings are reported and ignored."""
    host = _loaded(command)
    findings = _problems(host)
    for finding in findings:
        say(f"{finding['level']}: {finding['message']}")
    settings = by_section((plugin.origin, plugin.context.config) for plugin in host.report.plugins)
    view = config_show(host.config, settings)
    if command.options.json:
        sources = {key: str(source) for key, source in view.sources.items()}
        print_json({"file": view.file, "values": view.values, "sources": sources})
    else:
        print_lines(_toml_lines(view))
    return CANNOT_START if any(finding["fatal"] for finding in findings) else OK


def run_config_schema(command: CommandContext) -> int:
    """Print the JSON Schema of `hostconfig.toml` with the sections of installed plugins and toolkits."""
    print_json(file_schema(known_models(load_config(command.options, collect=True))))
    return OK


def _loaded(command: CommandContext) -> Host:
    host = command.new_host(transports=None, collect=True)
    with diverted():
        host.load()
    return host


# --- problems


def _problems(host: Host) -> list[dict[str, Any]]:
    """Return the problems of the configuration, and of plugins and toolkits."""
    of_plugins = [_finding(problem.level, problem, fatal=problem.fatal) for problem in host.problems]
    return [*(_finding("error", problem, fatal=True) for problem in host.config.problems), *of_plugins]


def _finding(level: str, problem: object, *, fatal: bool) -> dict[str, Any]:
    return {"level": level, "fatal": fatal, **problem_fields(problem, str(problem))}


# --- settings


def _toml_lines(view: ConfigView) -> Iterator[str]:
    """Yield the lines of a TOML document with these settings. A setting without a value is a comment."""
    yield f"# {view.file or 'no file, the defaults apply'}"
    for header, table in _tables(view.values):
        yield from ("", f"[{header}]")
        keys = [(dotted(path), value) for path, value in leaves(table)]
        lines = [(key, value, str(view.sources.get(f"{header}.{key}", ""))) for key, value in keys]
        texts = [f"# {key} is not set" if value is None else f"{key} = {toml_value(value)}" for key, value, _ in lines]
        width = min(max(map(len, texts), default=0), _MAX_COLUMN_CHARACTERS)
        for text, (_, _, source) in zip(texts, lines, strict=True):
            yield f"{text.ljust(width)}  # {source}" if source else text


_MAX_COLUMN_CHARACTERS = 60


def _tables(values: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "host", values["host"]
    for section in SECTION_OF_KIND.values():
        for name, table in values[section].items():
            yield f"{section}.{toml_key(name)}", table
