"""`pegboard stdio` and `pegboard serve`: a host from its start to the end of the process.

Only this module and `process` decide about signals, the garbage collector and the end of the process.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shlex
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.cli import OK
from pegboard.cli.host_setup import NO_TRANSPORT, config_again, host_from_options, skip_untrusted
from pegboard.cli.serving.access_settings import access_of, files_read, settings_line, third_party_line
from pegboard.cli.serving.new_toolkits import report_new_toolkits
from pegboard.cli.serving.process import (
    end_process,
    has_new_threads,
    reload_on_signals,
    run_to_end,
    stop_at_end_of_input,
    stop_on_signals,
)
from pegboard.config.environment import this_worker
from pegboard.config.state import path_and_reason
from pegboard.errors import ConfigError, MCPError, PluginError
from pegboard.host import Host
from pegboard.plugin.commands import CommandContext
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.routing.operator_token import operator_token, token_file
from pegboard.routing.router import endpoint_of
from pegboard.runtime.supervisor import chosen_transports
from pegboard.terminal.printing import say, tool_count
from pegboard.terminal.standard_streams import OutputDiversion

if TYPE_CHECKING:
    from pegboard.cli.reloads.reload_requests import ReloadRequests
    from pegboard.config import HostConfig

LoopFactory = Callable[[], asyncio.AbstractEventLoop]

MAX_NAMED = 5
"""The maximum number of toolkits, tools or paths that a line names."""
STDIO_GRACE_SECONDS = 1.0
"""How long calls in flight may run after SIGTERM. Clients over stdio kill the process after 2 seconds."""
STDIO_STOP_SECONDS = 0.5
"""How long lifespans may take to end. Clients over stdio do not wait longer."""
STOP_SECONDS = 5.0
"""How long lifespans may take to end in other hosts, for example to send telemetry."""

_KEPT_BYTES = 4 * 2**20
"""The size of a block that is allocated and freed at the start. It takes no memory, because it is not written.

glibc then keeps freed blocks of up to this size, 8 MiB in all, for later calls (mallopt(3), M_MMAP_THRESHOLD). Without
this, it returns the blocks of each large result to the kernel, which clears pages for the next result.
"""


def run_stdio(command: CommandContext) -> int:
    """Serve one client over standard input and output."""
    make = partial(host_from_options, command.options, ["stdio"], serving=True, on_untrusted=skip_untrusted)
    read_config = partial(config_again, command.options, ["stdio"])
    return serve_stdio(make, read_config, _warn_author) if command.options.paths else serve_stdio(make, read_config)


def _warn_author(host: Host) -> None:
    """Log mistakes in docstrings. The author of a file serves it alone, as `pegboard dev` does."""
    from pegboard.cli.inspection.host_checks import docstring_findings

    for finding in docstring_findings(host):
        logging.getLogger("pegboard").warning("%s; %s", finding.message, finding.fix)


def run_serve(command: CommandContext) -> int:
    """Serve by the configured transports."""
    return serve(host_from_options(command.options, serving=True), partial(config_again, command.options))


def serve_stdio(
    make: Callable[[], Host],
    read_config: Callable[[], HostConfig] | None = None,
    started: Callable[[Host], None] = lambda _: None,
) -> int:
    """Make a host and serve one client over standard input and output. Other code cannot write to the client.

    Args:
        make: returns the host.
        read_config: reads the configuration again, for reloads. None if the host cannot reload.
        started: called with the host after its start.
    """
    output = OutputDiversion()
    output.divert()
    host = make()
    # the service manager of a client over stdio does not wait for this process
    manager = ServiceManager({})
    reloads = _reload_requests(host, read_config, manager)
    return _run(_serve(host, STDIO_GRACE_SECONDS, output, manager, reloads, started))


def serve(host: Host, read_config: Callable[[], HostConfig] | None = None) -> int:
    """Serve by the transports of a host's configuration. `read_config` is as for `serve_stdio`."""
    if not host.config.host.transports:
        raise ConfigError([NO_TRANSPORT])
    manager = ServiceManager(os.environ)
    reloads = _reload_requests(host, read_config, manager)
    host.for_transports.on_opened = partial(_announce, host, _admit_operator(host), manager, reloads)
    # standard streams gain nothing from uvloop, and its import delays the start
    loop = None if "stdio" in host.config.host.transports else _fast_loop()
    return _run(_serve(host, host.config.host.grace_seconds, OutputDiversion(), manager, reloads), loop)


def _admit_operator(host: Host) -> str | None:
    """Let the host recognize the operator token. Return its file, or None with a warning if there is no token."""
    try:
        host.admit_operator(operator_token(os.environ))
    except OSError as error:
        why = "set PEGBOARD_STATE_DIR to a writable folder"
        logging.getLogger("pegboard").warning("there is no operator token: %s; %s", path_and_reason(error), why)
        return None
    return token_file(os.environ)


def _fast_loop() -> LoopFactory | None:
    """Return the factory of uvloop's event loops if the extra `fast` is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _announce(
    host: Host,
    token_file: str | None,
    manager: ServiceManager,
    reloads: ReloadRequests | None,
    address: str,
    tools: Sequence[str],
) -> None:
    """Print the address of the host, its toolkits and the next step. Let other commands find the address."""
    is_url = address.startswith(("http://", "https://"))
    is_http = is_url or (address.startswith("unix:") and "http" in host.config.host.transports)
    endpoint = endpoint_of(host.assembly.routes) if is_http else ""
    url = f"{address}{endpoint}" if is_url else address
    name = f"{host.identity.name} {host.identity.version}"
    served = f"serves {_served_tools(host, tools)} at {url}"
    if reloads is not None and is_url and endpoint:
        reloads.record.url = url
        reloads.record.write(None)
    manager.ready(served)
    if this_worker() is not None:
        return  # the process that has started it prints this
    say(f"{name} {served}")
    if is_http:
        _say_how_to_call(host, address, endpoint, token_file)


def _say_how_to_call(host: Host, address: str, endpoint: str, token_file: str | None) -> None:
    """Print who can call which tools at an HTTP address, and the next step."""
    policies = {path: {route.auth for route in on.values()} for path, on in host.assembly.routes.items()}
    if token_file is not None and any(DEFAULT_POLICY in served for served in policies.values()):
        closed: dict[str, list[str]] = {}
        for name, reason in host.assembly.operator_only.items():
            closed.setdefault(reason, []).append(name)
        for reason, names in closed.items():
            say(f"operator only, as each {reason}: {len(names)} ({_some(names)})")
        if closed:
            say(f"to call them: send `Authorization: Bearer $(pegboard operator-token)`; the token is in {token_file}")
    if not endpoint:
        paths = sorted(path for path, served in policies.items() if served != {"public"})
        say("MCP is not served there" + (f"; the paths are {_some(paths)}" if paths else ""))
    elif not address.startswith("unix:"):
        say(f"next: give that URL to an MCP client, or try: curl {address}/healthz   (Ctrl-C ends)")
    else:
        path = shlex.quote(address.removeprefix("unix:"))
        say(f"next: MCP is at {endpoint} of that socket; try: curl --unix-socket {path} http://localhost/healthz")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")


def _served_tools(host: Host, tools: Sequence[str]) -> str:
    """Return the number of tools and their toolkits, with the toolkits that have no tools yet."""
    owners = sorted({host.assembly.tools[name].tool.owner for name in tools})
    awaited: list[str] = []
    for plugin in host.report.plugins:
        with suppress(PluginError):
            awaited += plugin.unavailable()
    if not tools and not awaited:
        awaited = host.report.adding_later()
    later = _some(awaited)
    if not tools and awaited:
        return f"the tools of {later} as soon as they are available"
    count = tool_count(len(tools))
    return f"{count} ({', '.join(owners) or 'no toolkit'})" + (f", and later those of {later}," if later else "")


def _log_access(host: Host) -> None:
    """Log the files that were read, third-party plugins and the settings that widen access, in one line."""
    logger, parts = logging.getLogger("pegboard"), [f"started with {', '.join(files_read(host))}"]
    if plugins := third_party_line(host):
        parts.append(f"third-party plugins: {plugins}")
    if settings := access_of(host):
        parts.append(f"settings to review: {settings_line(settings)}")
    if len(parts) > 1:
        logger.warning("%s", "; ".join(parts))
    else:
        logger.info("%s; no setting widens access", parts[0])


def _run(serving: Coroutine[Any, Any, int], loop: LoopFactory | None = None) -> int:
    """Run a host until it stops. Return the exit code."""
    with asyncio.Runner(loop_factory=loop) as runner:
        return run_to_end(runner.get_loop(), serving)


def _settle_memory() -> None:
    bytes(_KEPT_BYTES)
    gc.freeze()  # later collections skip the objects of the start
    gc.enable()


async def _serve(
    host: Host,
    grace: float,
    output: OutputDiversion,
    manager: ServiceManager,
    reloads: ReloadRequests | None,
    started: Callable[[Host], None] = lambda _: None,
) -> int:
    # SIGHUP means that the client over stdio or the terminal is gone; a service reloads
    threads = set(threading.enumerate())
    by_stdio = "stdio" in host.config.host.transports
    ends_on_hang_up = by_stdio or os.isatty(0) or os.isatty(2)
    stopping = stop_on_signals(and_on_hang_up=ends_on_hang_up)
    if this_worker() is not None:
        stop_at_end_of_input(stopping)
    if reloads is not None:
        reload_on_signals(reloads.request, and_on_hang_up=not ends_on_hang_up)
    if not await _start(host, stopping):
        return OK
    for report in (_log_access, partial(report_new_toolkits, environ=os.environ), started):
        report(host)
    _settle_memory()
    if by_stdio:
        # descriptor 1 never leads to the client again, so that late output cannot reach it
        host.for_transports.standard_output = output.divert()
        output.restore_stream()
    serving = asyncio.create_task(host.run())
    code, rest = OK, 0.0
    try:
        await (_first if reloads is None else reloads.run_until)((serving, stopping))
        manager.stopping()
        if stopping.done():
            rest = await _drain(host, serving, grace, stopping.result())
        else:
            serving.result()
    except MCPError as error:
        from pegboard.cli.command_failures import report_error  # most servers end without an error

        code = report_error(error)
    finally:
        stopping.cancel()
        serving.cancel()
        seconds = STDIO_STOP_SECONDS if by_stdio else STOP_SECONDS
        await asyncio.wait((serving,), timeout=rest + seconds)
        output.divert()
        await _stop(host, seconds)
    if len(asyncio.all_tasks()) > 1 or has_new_threads(threads):
        # a function in a thread or a task that ignores its cancellation would keep the process alive
        end_process(code)
    return code


async def _drain(host: Host, serving: asyncio.Task[None], grace: float, number: int) -> float:
    """Let running calls end after a signal. Return the rest of the grace period, for responses that are being sent.

    After SIGTERM, wait first while proxies and clients notice the end, for as long as the transports say.
    """
    transports = chosen_transports(host.assembly.transports, host.config.host.transports)
    seconds = max(transport.drain_seconds for transport in transports)
    if seconds and number == signal.SIGTERM:
        host.announce_stop()
        await asyncio.wait((serving,), timeout=seconds)
    await host.drain(grace)
    return await host.for_transports.wait_stopping() - asyncio.get_running_loop().time()


async def _first(ends: Sequence[asyncio.Future[Any]]) -> None:
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)


def _reload_requests(
    host: Host, read_config: Callable[[], HostConfig] | None, manager: ServiceManager
) -> ReloadRequests | None:
    """Return the reloads of a host, or None if it cannot reload. A client over stdio starts its host again instead."""
    by_stdio = "stdio" in host.config.host.transports
    if read_config is None and host.config.host.reload:
        text = "[host] reload has no effect in a program: run `pegboard serve FILE --reload`"
        logging.getLogger("pegboard").warning("%s", text)
    if read_config is None or (by_stdio and not host.config.host.reload):
        return None
    from pegboard.cli.reloads.reload_requests import ReloadRequests

    return ReloadRequests(host, read_config, announced=not by_stdio, reloaded=manager.reloaded)


async def _start(host: Host, stopping: asyncio.Future[int]) -> bool:
    """Start the host. Return False if a signal ended the start; lifespans that were entered are then closed."""
    starting = asyncio.create_task(host.start())
    await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
    if stopping.done():
        starting.cancel()
    try:
        await starting
    except asyncio.CancelledError:
        if not stopping.done():
            raise
        return False
    return True


async def _stop(host: Host, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await host.stop()
    except TimeoutError:
        logging.getLogger("pegboard").warning("a lifespan did not end within %s s", seconds)


# --- Messages to the service manager that started this process (`sd_notify`): ready, alive, stopping.


class ServiceManager:
    """The service manager that listens at the socket `NOTIFY_SOCKET`. Messages that it does not accept are dropped.

    Args:
        environ: the environment variables. Without the socket, nothing is sent.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        address, microseconds = environ.get("NOTIFY_SOCKET", ""), environ.get("WATCHDOG_USEC", "")
        is_watched = microseconds.isdecimal() and environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._address = {"/": address, "@": f"\0{address[1:]}"}.get(address[:1], "")
        self._watchdog_seconds = int(microseconds) / 1_000_000 if self._address and is_watched else None
        self._is_ready = False

    def ready(self, status: str) -> None:
        """Report that the host serves, with a line for `systemctl status`. From now on report that it is alive."""
        self._send(f"READY=1\nSTATUS={status}\nMAINPID={os.getpid()}")
        if self._watchdog_seconds is not None and not self._is_ready:
            self._alive(self._watchdog_seconds / 2)
        self._is_ready = True

    def reloaded(self) -> None:
        """Report that a reload has ended."""
        self._send(f"READY=1\nMAINPID={os.getpid()}")

    def stopping(self) -> None:
        """Report that the host stops."""
        self._send("STOPPING=1")

    def _alive(self, seconds: float) -> None:
        """Report at intervals that the event loop runs."""
        self._send("WATCHDOG=1")
        asyncio.get_running_loop().call_later(seconds, self._alive, seconds)

    def _send(self, message: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)
