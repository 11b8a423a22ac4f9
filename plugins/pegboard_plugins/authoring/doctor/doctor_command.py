"""`pegboard doctor`: checks of the configuration, the plugins, and all that a server needs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from importlib_metadata import version
from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import Host
from pegboard.plugin import CommandContext, Finding
from pegboard.terminal import ProblemFields, diverted, fitted, print_json, print_lines, problem_fields

CANNOT_START = 3
"""The exit code if a check has found an error."""


class DoctorFinding(ProblemFields):
    """A problem that `pegboard doctor` has found, or a fact. `fixed` is what `--fix` has done, or "" for nothing."""

    check: str
    level: Literal["error", "warning", "ok"]
    fix: str
    source: str
    fixable: bool
    fixed: str


class DoctorOutput(TypedDict):
    """The output of `pegboard doctor`."""

    ok: bool
    file: str | None
    versions: dict[str, str]
    findings: list[DoctorFinding]


def run_doctor(command: CommandContext) -> int:
    """Run all checks and print what they have found. Only mounted servers and issuers are asked.

    The exit code is 3 if a check has found an error, 1 if only items of a server are missing, and 0 for warnings.
    """
    host = command.new_host(transports=None, collect=True, watch=True)
    with diverted():
        host.load()
        missing = [*command.missing_items(host).values()]
        results = [_Result(check.name, [*check.run()]) for check in command.checks(host)]
    if missing:
        results.append(_Result("available items", missing))
    findings = [finding for result in results for finding in result.findings]
    fixed = {id(finding): _repaired(finding) for finding in findings if command.options.fix and finding.repair}
    errors = [finding for finding in findings if finding.level == "error" and not fixed.get(id(finding))]
    is_ok = not errors
    if command.options.json:
        rows = [_row(result.check, finding, fixed) for result in results for finding in result.findings]
        file = str(host.config.file) if host.config.file else None
        print_json(DoctorOutput(ok=is_ok, file=file, versions=_versions(host), findings=rows))
    else:
        print_lines(_report(host, results, fixed))
    return 0 if is_ok else 1 if all(error in missing for error in errors) else CANNOT_START


class _Result(NamedTuple):
    """The findings of a check."""

    check: str
    findings: list[Finding]


def _row(check: str, finding: Finding, fixed: Mapping[int, str]) -> DoctorFinding:
    """Return a finding as JSON."""
    return {
        "check": check,
        "level": finding.level,
        **problem_fields(finding.problem or finding.message, finding.message),
        "fix": finding.fix,
        "source": finding.source,
        "fixable": finding.repair is not None,
        "fixed": fixed.get(id(finding), ""),
    }


def _repaired(finding: Finding) -> str:
    """Fix a problem. Return a sentence about the change, or "" if it failed."""
    assert finding.repair is not None
    try:
        return finding.repair()
    except OSError:
        return ""


def _versions(host: Host) -> dict[str, str]:
    origins = [plugin.origin for plugin in host.report.plugins]
    plugins = {origin.distribution: origin.version for origin in origins if origin.distribution}
    return {"python": platform.python_version(), "platform": sys.platform, **plugins, "pegboard": version("pegboard")}


def _report(host: Host, results: list[_Result], fixed: Mapping[int, str]) -> Iterator[str]:
    yield ", ".join(f"{name} {number}" for name, number in _versions(host).items())
    for check, findings in results:
        if not findings:
            yield f"ok       {check}"
        for finding in findings:
            done = fixed.get(id(finding), "")
            yield from fitted(f"{'fixed' if done else finding.level:8} {check}: {finding.message}", 9)
            for advice in _advice(finding, done):
                yield from fitted(f"         {advice}", 9)
    if any(finding.repair and not fixed.get(id(finding)) for result in results for finding in result.findings):
        yield from fitted("`pegboard doctor --fix` corrects file modes and creates the state directory")


def _advice(finding: Finding, done: str) -> Iterator[str]:
    if done or finding.fix:
        yield done or finding.fix
    if finding.source:
        yield f"see {finding.source}"
