"""Reports of toolkits that are new since the last start. Installing a package is enough to run its code.

The state directory keeps the names and versions of toolkits for each Python environment. The first start of an
environment reports an untested platform, but no toolkits. Nothing is reported without a writable state directory.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from pegboard.config.state import StateFiles
from pegboard.host import Host
from pegboard.loading.discovery import untested_platform
from pegboard.plugin.origin import Origin
from pegboard.wire.codec import decode, encode

TOOLKITS_FILE = "toolkits.json"
MAX_ENVIRONMENTS = 32
"""The maximum number of recorded environments. The environment that changed least recently is removed first."""

logger = logging.getLogger("pegboard")

Seen = dict[str, list[str]]
"""The distribution and version of each toolkit, by its name."""


def report_new_toolkits(host: Host, environ: Mapping[str, str]) -> None:
    """Log each installed toolkit that runs for the first time in this environment, and record it."""
    try:
        before = _read(environ).get(sys.prefix)
        if before == _remembered(host, before):
            return
        with StateFiles(environ).lock(TOOLKITS_FILE) as locked:
            if not locked:
                return  # another host that starts now reports them
            kept = _read(environ)
            before = kept.pop(sys.prefix, None)
            kept[sys.prefix] = _remembered(host, before)
            StateFiles(environ).write(TOOLKITS_FILE, encode(dict([*kept.items()][-MAX_ENVIRONMENTS:])))
    except OSError as error:
        logger.debug("new toolkits are not reported: %s", error)
        return
    if before is not None:
        _report(host, before)
    elif problem := untested_platform():
        logger.warning(problem)


def _read(environ: Mapping[str, str]) -> dict[str, Seen]:
    """Return the recorded environments. Records of another form are ignored."""
    try:
        kept: Any = decode(StateFiles(environ).read(TOOLKITS_FILE, secret=False) or b"{}")
    except ValueError:
        return {}
    return {
        key: seen
        for key, seen in (kept.items() if isinstance(kept, dict) else ())
        if isinstance(seen, dict) and all(isinstance(entry, list) and len(entry) == 2 for entry in seen.values())
    }


def _remembered(host: Host, before: Seen | None) -> Seen:
    """Return the installed toolkits that ran at some start. At the first start, return all installed toolkits."""
    running = {id(origin) for origin in _installed(host.report.plugins)}
    result: Seen = {}
    for origin in _installed(host.report.choices):
        if before is None or id(origin) in running:
            result[origin.name] = [origin.distribution, origin.version]
        elif origin.name in before:
            result.setdefault(origin.name, before[origin.name])
    return result


def _installed(records: Iterable[Any]) -> list[Origin]:
    return [each.origin for each in records if each.origin.kind == "toolkit" and each.origin.entry_point is not None]


def _report(host: Host, before: Seen) -> None:
    for origin in _installed(host.report.plugins):
        distribution, version = before.get(origin.name, ("", ""))
        if distribution != origin.distribution:
            logger.warning(
                "%s is new since the last start; its code runs with your rights%s; "
                '[host] disabled_toolkits = ["%s"] disables it',
                *(origin, _secrets(host, origin), origin.name),
            )
        elif version != origin.version:
            logger.info("%s has a different version than at the last start (%s)", origin, version)


def _secrets(host: Host, origin: Origin) -> str:
    from pegboard.cli.inspection.secret_report import requested_secrets

    names = dict.fromkeys(secret.name for secret in requested_secrets(host, origin))
    return f" and receives the secrets {', '.join(names)}" if names else ""
