"""`pegboard doctor`: checks of the configuration, the plugins, and all that a server needs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

from importlib_metadata import version

from pegboard.cli import CANNOT_START, OK
from pegboard.cli.diagnosis.checks import Check, all_checks
from pegboard.cli.diagnosis.finding import finding_fields
from pegboard.cli.host_setup import host_from_options
from pegboard.host import Host
from pegboard.loading.process_changes import watch_process
from pegboard.plugin.commands import CommandContext, Finding
from pegboard.terminal.fitted_lines import fitted
from pegboard.terminal.printing import diverted, print_json, print_lines


def run_doctor(command: CommandContext) -> int:
    """Run all checks and print what they have found. Nothing is sent over the network to other machines.

    The exit code is 3 if a check has found an error, and 0 for warnings.
    """
    host = host_from_options(command.options, collect=True, watch=watch_process)
    with diverted():
        host.load()
        checks = all_checks(host, command.options)
        found = [(check, finding) for check in checks for finding in check.run(host)]
    fixed = [_repaired(finding) if command.options.fix and finding.repair else "" for _, finding in found]
    left = [finding for (_, finding), done in zip(found, fixed, strict=True) if not done]
    code = CANNOT_START if any(finding.level == "error" for finding in left) else OK
    if command.options.json:
        rows = [
            {"check": check.name, **finding_fields(finding), "fixable": finding.repair is not None, "fixed": done}
            for (check, finding), done in zip(found, fixed, strict=True)
        ]
        file = str(host.config.file) if host.config.file else None
        print_json({"ok": code == OK, "file": file, "versions": _versions(host), "findings": rows})
    else:
        print_lines(_report(host, checks, found, fixed))
    return code


def _repaired(finding: Finding) -> str:
    """Fix a problem. Return a sentence about the change, or "" if it failed."""
    assert finding.repair is not None
    try:
        return finding.repair()
    except OSError:
        return ""


def _versions(host: Host) -> dict[str, str]:
    plugins = {one.origin.distribution: one.origin.version for one in host.report.plugins if one.origin.distribution}
    return {"python": platform.python_version(), "platform": sys.platform, **plugins, "pegboard": version("pegboard")}


def _report(host: Host, checks: list[Check], found: list[tuple[Check, Finding]], fixed: list[str]) -> Iterator[str]:
    yield ", ".join(f"{name} {number}" for name, number in _versions(host).items())
    done = dict(zip((id(finding) for _, finding in found), fixed, strict=True))
    for check in checks:
        findings = [finding for owner, finding in found if owner is check]
        if not findings:
            yield f"ok       {check.name}"
        for finding in findings:
            yield from fitted(f"{'fixed' if done[id(finding)] else finding.level:8} {check.name}: {finding.message}", 9)
            for advice in _advice(finding, done[id(finding)]):
                yield from fitted(f"         {advice}", 9)
    if any(finding.repair and not done[id(finding)] for _, finding in found):
        yield from fitted("`pegboard doctor --fix` corrects file modes and creates the state directory")


def _advice(finding: Finding, done: str) -> Iterator[str]:
    if done or finding.fix:
        yield done or finding.fix
    if finding.source:
        yield f"see {finding.source}"
