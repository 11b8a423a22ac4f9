"""The log of the process as OpenTelemetry log records, with secrets masked."""

from __future__ import annotations

import logging

from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider

from pegboard.plugin import redact_logs
from pegboard_plugins.operation.opentelemetry.call_spans import failed_context

_SEVERITIES = {
    logging.DEBUG: SeverityNumber.DEBUG,
    logging.INFO: SeverityNumber.INFO,
    logging.WARNING: SeverityNumber.WARN,
    logging.ERROR: SeverityNumber.ERROR,
    logging.CRITICAL: SeverityNumber.FATAL,
}
_OF_EXPORTERS = ("opentelemetry", "urllib3", "requests", "pegboard.plugins.opentelemetry")
"""The loggers whose records are not exported, because an export causes them."""


class LogExport(logging.Handler):
    """A handler that exports records. A record of a request carries the ids of its span.

    Args:
        provider: the provider of the SDK.
    """

    def __init__(self, provider: LoggerProvider) -> None:
        super().__init__()
        self._provider = provider
        redact_logs([self])

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for records that an export causes."""
        return not any(record.name == name or record.name.startswith(f"{name}.") for name in _OF_EXPORTERS)

    def emit(self, record: logging.LogRecord) -> None:
        """Export a record. Never raise."""
        try:
            self._provider.get_logger(record.name).emit(
                timestamp=int(record.created * 1e9),
                context=failed_context(getattr(record, "call", None)),
                severity_number=_SEVERITIES.get(record.levelno // 10 * 10, SeverityNumber.UNSPECIFIED),
                severity_text=record.levelname,
                body=self.format(record),
            )
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)
