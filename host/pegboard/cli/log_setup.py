"""The log of the process: to standard error or a file, as text or JSON, as the section of a built-in plugin configures.

The facts of this plugin set `log`. Only servers use its section. Commands that a user runs log text to standard error:
warnings and errors, or what the command line asks for.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from time import monotonic
from typing import Any

from pegboard.config import HostConfig
from pegboard.config.references import resolve
from pegboard.errors import ConfigError
from pegboard.loading.plugin_facts import own_facts
from pegboard.runtime.log_lines import JsonFormatter, MessageFormatter, TextFormatter
from pegboard.secrets.redaction import redact_logs
from pegboard.terminal import printing as output
from pegboard.terminal.blocking_descriptor import BlockingDescriptor
from pegboard.terminal.printing import clear_progress
from pegboard.types.reloads import ReloadResult

logger = logging.getLogger("pegboard")

ACCESS = "pegboard.access"
"""The logger of HTTP requests. Servers use it if its level is set."""
_BY_SECTION = "pegboard"
"""The name of the handler that follows the section of the log."""


def set_up_logging(config: HostConfig, verbose: int, *, serving: bool, safe: bool = False) -> None:
    """Set up logging without secrets.

    A command logs warnings and errors. `[host] log_level` may allow fewer, and the command line more.

    Args:
        config: the configuration.
        verbose: how often `-v` was given.
        serving: True for a server, which follows the section of the log and every `[host] log_level`.
        safe: True to ignore this section.

    Raises:
        ConfigError: the log file cannot be written.
    """
    level = {0: _level(config, serving=serving), 1: "INFO"}.get(verbose, "DEBUG")
    handler = _handler_by_section(config) if serving and not safe else LogHandler()
    if handler.formatter is None:
        handler.setFormatter(TextFormatter() if serving or verbose else MessageFormatter())
    logging.basicConfig(level=level, handlers=[handler])
    redact_logs(logging.getLogger().handlers)  # a file of tools may have configured logging before
    threading.excepthook = _log_end_of_thread
    sys.unraisablehook = _log_unraisable
    if serving:  # warnings may contain data of callers
        warnings.showwarning = _log_warning


def check_log(before: HostConfig, now: HostConfig) -> None:
    """Check the changed section of the log before a reload.

    Raises:
        ConfigError: the log file cannot be written.
    """
    if _settings(before) != _settings(now) and _current_handler() is not None:
        _open_handler(now).close()


def change_log(before: HostConfig, now: HostConfig, results: Iterable[ReloadResult]) -> None:
    """Apply a changed `[host] log_level` after a reload, unless `-v` has set another level.

    Apply the section of the log if the reload has changed it, unless the server ignores the section.
    """
    root, old = logging.getLogger(), _current_handler()
    if logging.getLevelName(root.level) == _level(before, serving=True):
        root.setLevel(_level(now, serving=True))
    plugin, _ = _settings(now)
    if old is None or f"plugin {plugin}" not in [result.name for result in results if result.is_applied]:
        return
    logging.getLogger(ACCESS).setLevel(logging.NOTSET)
    handler = _handler_by_section(now)
    redact_logs([handler])
    root.handlers = [handler if other is old else other for other in root.handlers]  # no record is lost in between
    old.close()


def _current_handler() -> logging.Handler | None:
    """Return the handler that follows the section of the log, or None without one."""
    return next((handler for handler in logging.getLogger().handlers if handler.name == _BY_SECTION), None)


def _level(config: HostConfig, *, serving: bool) -> str:
    level = config.host.log_level.upper()
    is_for_servers = level in ("DEBUG", "INFO") and config.source("host.log_level").kind != "command line"
    return "WARNING" if is_for_servers and not serving else level


def _settings(config: HostConfig) -> tuple[str, Mapping[str, Any]]:
    """Return the plugin of the log, and its section. The plugin validates it when it loads."""
    plugin = next((name for name, facts in own_facts().items() if facts.log), "")
    if config.disabled_plugins.match_plugin(plugin, "pegboard"):
        return plugin, {}
    return plugin, dict(resolve(config.section("plugins", plugin)))


def _handler_by_section(config: HostConfig) -> logging.Handler:
    """Return the handler that the section of the log describes, and apply its other settings."""
    _, settings = _settings(config)
    as_json = settings.get("format") == "json"
    handler = _open_handler(config)
    handler.name = _BY_SECTION
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    output.send_messages_to(_say_in_log if as_json and not isinstance(handler, LogFile) else None)
    if settings.get("access") is True:
        logging.getLogger(ACCESS).setLevel(logging.INFO)
    return handler


def _open_handler(config: HostConfig) -> logging.Handler:
    plugin, settings = _settings(config)
    file = settings.get("file")
    if not isinstance(file, str) or not file:
        return LogHandler()
    key = "plugins", plugin, "file"
    elsewhere = config.source(key).kind in ("environment", "command line")
    path = (config.working_directory if elsewhere else config.directory) / Path(file).expanduser()
    try:
        return LogFile(path)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}; choose another file"
        raise ConfigError([config.problem(message, key)]) from error


class LogFile(logging.FileHandler):
    """Appends records to a file. New files have mode 0600. Several processes may share one file.

    If the file is moved or removed, for example by logrotate, it is created again. A record that cannot be written is
    dropped, and the first loss is reported on stderr.

    Args:
        path: the path of the file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._failing = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            stream = self._current()
            stream.write(f"{self.format(record)}\n")
            stream.flush()
            self._failing = False
        except OSError as error:
            if not self._failing:
                self._failing = True
                output.say(f"the log file cannot be written, and records are lost: {error.strerror or error}")
        except Exception:  # noqa: BLE001 - whatever a record holds, logging stops nothing
            self.handleError(record)

    def _current(self) -> TextIOWrapper:
        """Return the open file. Open it again if its path no longer refers to it."""
        stream = self.stream or self._open()
        with suppress(FileNotFoundError, ValueError):  # its last record was lost, and it closed
            if os.path.samestat(os.stat(self.baseFilename), os.fstat(stream.fileno())):
                self.stream = stream
                return stream
        stream.close()
        self.stream = self._open()
        return self.stream

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", errors="backslashreplace", opener=_open_privately)


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)  # a pipe without reader must not block


def _log_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    logging.getLogger("py.warnings").warning("%s: %s (%s:%s)", category.__name__, message, filename, lineno)


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_type is SystemExit or ended.exc_value is None:
        return  # as Python does
    name = "a thread" if ended.thread is None else f"the thread {ended.thread.name!r}"
    logger.error("%s ended by an exception", name, exc_info=(ended.exc_type, ended.exc_value, ended.exc_traceback))


def _log_unraisable(ignored: sys.UnraisableHookArgs) -> None:
    if ignored.exc_value is None:
        return
    error = (ignored.exc_type, ignored.exc_value, ignored.exc_traceback)
    logger.error("%s %r", ignored.err_msg or "exception ignored in", ignored.object, exc_info=error)


def _say_in_log(text: str, level: int) -> None:
    logger = logging.getLogger("pegboard.cli")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    logger.log(level, "%s", text)


WAIT_SECONDS = 1.0
"""How long a record waits for the reader of standard error. After a timeout, later records do not wait."""
MAX_WRITE_BYTES = 4096
"""Bytes that a pipe which is ready accepts without blocking (POSIX: PIPE_BUF)."""


class LogHandler(logging.StreamHandler):  # type: ignore[type-arg]  # it is generic in type stubs only
    """A log handler on standard error that neither raises nor blocks.

    A record is lost if the disk is full, the stream is closed, or its reader is gone or does not read for
    `WAIT_SECONDS`. The number of lost records is written before the next record.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._left_out = 0
        self._descriptor: BlockingDescriptor | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or drop it."""
        clear_progress()
        if self.stream is not sys.__stderr__ or self.stream is None or self._is_console():
            super().emit(record)
            return
        try:
            text = f"{self.format(record)}\n"
        except Exception:  # noqa: BLE001 - `handleError` reports the faults of the record's author
            self.handleError(record)
            return
        if self._left_out:
            text = f"{self.format(_told(self._left_out))}\n{text}"
        self._left_out = 0 if self._write(text.encode(errors="backslashreplace")) else self._left_out + 1

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name in `logging`
        with suppress(Exception):
            super().handleError(record)

    def flush(self) -> None:
        """Flush the stream. Wait until the last record is written, at most `WAIT_SECONDS`."""
        super().flush()
        if self._descriptor is not None:
            self._descriptor.wait(WAIT_SECONDS)

    def _write(self, data: bytes) -> bool:
        """Write bytes to file descriptor 2. Return False if the reader did not accept all bytes in time."""
        seconds = 0 if self._left_out else WAIT_SECONDS
        with suppress(OSError, ValueError):
            super().flush()
            if hasattr(select, "poll"):
                return _write_in_time(data, monotonic() + seconds)
            if self._descriptor is None:
                self._descriptor = BlockingDescriptor(2)
            return self._descriptor.write(data, seconds)
        return True

    def _is_console(self) -> bool:
        """Return True for a Windows console: its stream converts UTF-8, and its window accepts data at once."""
        return not hasattr(select, "poll") and self.stream.isatty()


def _write_in_time(data: bytes, until: float) -> bool:
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    while data:
        if not poll.poll(max(0, until - monotonic()) * 1000):
            return False
        data = data[os.write(2, data[:MAX_WRITE_BYTES]) :]
    return True


def _told(count: int) -> logging.LogRecord:
    message = "%d log records were dropped because standard error was not read"
    return logging.LogRecord("pegboard.cli", logging.WARNING, __file__, 0, message, (count,), None)
