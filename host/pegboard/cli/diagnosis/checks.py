"""The table of all checks of `pegboard doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pegboard.cli.diagnosis import catalogue_checks, file_checks, host_checks
from pegboard.cli.diagnosis.finding import Finding
from pegboard.host import Host
from pegboard.records import NamedTuple


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
    Check("ports", host_checks.check_ports),
    Check("certificates", host_checks.check_certificates),
    Check("tokens", host_checks.check_tokens),
    Check("operator token", host_checks.check_operator_token),
    Check("stores", host_checks.check_stores),
    Check("state directory", file_checks.check_state_directory),
    Check("file modes", file_checks.check_file_modes),
    Check("clients", file_checks.check_clients),
)
