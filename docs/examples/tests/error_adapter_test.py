"""The rules of error adapters, with a real exception of the library."""

import ftplib
from collections.abc import Iterable

from docs.examples.plugins.error_adapter import FtpErrorsAdapter, FtpErrorsPlugin
from pegboard import ToolRuntimeError, UpstreamError
from pegboard.plugin import ErrorAdapter
from pegboard_testing import ErrorAdapterContract, connect


class TestErrorAdapter(ErrorAdapterContract):
    libraries = ("ftplib",)

    def make(self) -> ErrorAdapter:
        return FtpErrorsAdapter()

    def examples(self) -> Iterable[tuple[Exception, type[ToolRuntimeError]]]:
        yield ftplib.error_perm(f"550 {self.canary}: no such file"), UpstreamError


def test_the_host_accepts_the_plugin() -> None:
    with connect(FtpErrorsPlugin) as client:
        assert client.problems == ()


def test_a_permanent_error_is_not_worth_a_retry() -> None:
    error = FtpErrorsAdapter().from_exception(ftplib.error_perm("553 file name not allowed"))
    assert error is not None
    assert not error.can_retry
