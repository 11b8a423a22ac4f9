"""An error adapter for the standard library's `ftplib`, which raises its own exceptions."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import ToolRuntimeError, UpstreamError
from pegboard.plugin import ErrorAdapter, Plugin, hookimpl, instance_of

STATUS = {"530": 401, "550": 404}
"""HTTP statuses that fit codes of FTP (RFC 959). Others become 400: statuses from 500 would invite a retry."""


class FtpErrorsAdapter(ErrorAdapter):
    """Converts permanent errors of an FTP server."""

    slug = "ftp"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """Return the error for the caller. The text of the server stays out of it."""
        if not instance_of(error, "ftplib", "error_perm"):
            return None
        code = str(error)[:3]
        status = STATUS.get(code, 400)
        return UpstreamError(f"The FTP server rejected the request (code {code}).", status_code=status)


class FtpErrorsPlugin(Plugin):
    """Enabled by `[plugins.ftp_errors]`."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        """Return the adapter."""
        return [FtpErrorsAdapter()]
