"""Reloads of a running host: changed, broken, new and removed code and settings."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from pegboard import Context, Host
from pegboard.config import HostConfig
from pegboard.errors import PluginError, ServerError
from pegboard.loading.discovery import Selection, defaults
from pegboard.loading.source_files import toolkits_in
from pegboard.plugin import ToolDefinition
from pegboard.reloading import trial
from pegboard.secrets.redaction import redacted_data
from pegboard.types import Change
from tests.host.hosting import WAIT, call, failure, until, value
from tests.support.distributions import make_distribution

KIT = """
from asyncio import Event
from pegboard import Context, PluginConfig, Toolkit
from {package}.number import NUMBER

class Config(PluginConfig):
    word: str = "one"

kit = Toolkit("{name}", config=Config)
events = []
begun, gate = Event(), Event()

@kit.lifespan
async def life(config):
    events.append("begin")
    yield NUMBER
    events.append("end")

@kit.tool
async def number(context: Context) -> int:
    "Return the number."
    return context.state

@kit.tool
async def word(context: Context) -> str:
    "Return the word."
    return context.config.word

@kit.tool
async def held() -> int:
    "Return the number after a while."
    begun.set()
    await gate.wait()
    return NUMBER
"""


CODE = KIT.format(package="reloaded_alpha", name="alpha")
"""The code of the toolkit `alpha`."""


class Site:
    """A folder of the module path with distributions. Each has one toolkit, whose tool `number` returns 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, version: str = "1.0") -> Path:
        package = f"reloaded_{name}"
        files = {
            f"{package}/__init__.py": KIT.format(package=package, name=name),
            f"{package}/number.py": "NUMBER = 1\n",
        }
        points = {"pegboard.toolkits": {name: f"{package}:kit"}}
        return make_distribution(self.folder, f"toolkit-{name}", version, points, files)

    def write(self, name: str, text: str, file: str = "number.py") -> Path:
        path = self.folder / f"reloaded_{name}" / file
        path.write_text(text)
        return path

    def uninstall(self, name: str) -> None:
        shutil.rmtree(self.folder / f"reloaded_{name}")
        shutil.rmtree(self.folder / f"toolkit_{name}-1.0.dist-info")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.syspath_prepend(tmp_path)
    made = Site(tmp_path)
    made.install("alpha")
    yield made
    _forget_modules()


def _forget_modules() -> None:
    for name in [name for name in sys.modules if name.startswith("reloaded_")]:
        del sys.modules[name]


def host_of(*toolkits: str, settings: Mapping[str, Any] | None = None, **host: Any) -> Host:
    """Return a host of installed toolkits only."""
    section = {"autoload": False, "required": toolkits, "disabled_plugins": ["pegboard:*"], **host}
    return Host({"host": section, **({"toolkits": settings} if settings else {})})


async def outcomes(host: Host, *names: str, **options: Any) -> dict[str, str]:
    """Reload, and return the outcomes by name."""
    return {result.name: result.outcome for result in await host.reload(*names, **options)}


async def test_changed_code_is_served_and_only_changed_lists_are_announced(site: Site) -> None:
    host, seen = host_of("alpha"), list[Change]()
    host.watch(seen.append)
    async with host:
        assert await host.reload() == []
        for number in (2, 3):  # in the same second, with the same size
            site.write("alpha", f"NUMBER = {number}\n")
            assert await outcomes(host) == {"toolkit-alpha 1.0": "reloaded"}
            assert await value(host, "alpha_number") == number
        assert seen == []
        more = "@kit.tool\nasync def more() -> int:\n    'Return 7.'\n    return 7\n"
        site.write("alpha", CODE + more, "__init__.py")
        await host.reload()
        assert (await value(host, "alpha_more"), seen) == (7, [Change("tools")])


async def test_a_running_call_ends_with_the_old_version_and_so_does_its_lifespan(site: Site) -> None:
    async with host_of("alpha") as host:
        import reloaded_alpha as old  # type: ignore[import-not-found]

        running = asyncio.create_task(value(host, "alpha_held"))
        await old.begun.wait()
        site.write("alpha", "NUMBER = 2\n")
        await host.reload()
        assert (await value(host, "alpha_number"), old.events) == (2, ["begin"])
        old.gate.set()
        assert await running == 1
        await until(lambda: old.events == ["begin", "end"])


@pytest.mark.parametrize(
    ("file", "code", "reason"),
    [
        ("number.py", "1 / 0\n", "ZeroDivisionError: division by zero ({path}:1)"),
        ("number.py", "import os; os._exit(3)\n", "its import ended the process with the code 3"),
        ("number.py", "import os; os.kill(os.getpid(), 9)\n", "its import ended the process with signal 9 (SIGKILL)"),
        ("number.py", "raise SystemExit(4)\n", "SystemExit: 4 ({path}:1)"),
        ("__init__.py", "kit = 1\n", "import: the target must be a Plugin subclass, a module with hooks, or a Toolkit"),
        ("__init__.py", CODE.replace("yield NUMBER", "raise OSError('full')\n    yield"), "lifespan: OSError: full"),
    ],
)
async def test_a_broken_version_is_reported_and_undone(site: Site, file: str, code: str, reason: str) -> None:
    async with host_of("alpha") as host:
        path = site.write("alpha", code, file)
        (result,) = await host.reload()
        assert (result.outcome, result.reason) == ("kept", reason.format(path=path))
        assert await value(host, "alpha_number") == 1
        site.write("alpha", CODE, "__init__.py")
        site.write("alpha", "NUMBER = 2\n")
        assert await outcomes(host) == {"toolkit-alpha 1.0": "reloaded"}


async def test_an_import_that_hangs_ends_with_the_time_limit(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MAX_TRIAL_SECONDS", 0.5)
    async with host_of("alpha") as host:
        site.write("alpha", "from threading import Event; Event().wait()\n")
        (result,) = await host.reload()
        assert (result.outcome, result.reason) == ("kept", "its import did not end within 0.5 s")


async def test_installed_upgraded_and_removed_distributions_are_detected(site: Site) -> None:
    host = host_of("alpha", autoload=True, disabled_toolkits=["files", "github", "math"], required=[])
    async with host:
        site.install("beta")
        shutil.rmtree(site.folder / "toolkit_alpha-1.0.dist-info")
        site.install("alpha", "1.1")
        assert await outcomes(host) == {"toolkit-alpha 1.1": "reloaded", "toolkit-beta 1.0": "added"}
        assert await value(host, "beta_number") == 1
        site.uninstall("beta")
        assert await outcomes(host) == {"toolkit-beta 1.0": "removed"}
        assert "beta_number" not in host.assembly.tools


IN_C = """
import sys, types
NUMBER = 1
fast = sys.modules[__name__ + ".fast"] = types.ModuleType(__name__ + ".fast")
fast.__file__ = __file__ + ".abi3.so"
"""
SHARED = """
import sys, types
NUMBER = 1
other = sys.modules["reloaded_other"] = types.ModuleType("reloaded_other")
other.seen = sys.modules[__name__]
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (IN_C, "reloaded_alpha.number.fast is a module in C"),
        (SHARED, "the module reloaded_other has imported reloaded_alpha.number"),
    ],
)
async def test_some_code_needs_a_restart(site: Site, code: str, reason: str) -> None:
    site.write("alpha", code)
    async with host_of("alpha") as host:
        (result,) = await host.reload("alpha")
        assert (result.outcome, result.reason) == ("restart needed", reason)


async def test_a_named_toolkit_is_reloaded_without_a_change(site: Site) -> None:
    async with host_of("alpha") as host:
        assert await outcomes(host, "alpha") == {"toolkit-alpha 1.0": "reloaded"}
        with pytest.raises(PluginError, match="'alfa'; did you mean 'alpha'"):
            await host.reload("alfa")
    with pytest.raises(ServerError, match="not started"):
        await host.reload()


async def test_settings_are_applied_and_keys_of_the_process_need_a_restart(site: Site) -> None:
    async with host_of("alpha") as host:
        config = host_of("alpha", settings={"alpha": {"word": "b"}}, threads=7, disabled_tools=["alpha_number"]).config
        assert await outcomes(host, config=config) == {
            "host.disabled_tools": "reloaded",
            "host.threads": "restart needed",
            "toolkit-alpha 1.0": "reloaded",
        }
        assert (await value(host, "alpha_word"), "alpha_number" in host.assembly.tools) == ("b", False)
        wrong = host_of("alpha", settings={"alpha": {"wort": "x"}}).config
        results = [(await host.reload(config=wrong))[-1] for _ in range(2)]
        assert [result.outcome for result in results] == ["kept", "kept"]
        assert ("wort" in results[1].reason, await value(host, "alpha_word")) == (True, "b")


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        ('tool_names = "pascal"', "host.tool_names (c.toml:3): reloaded"),
        ('disabled_tools = ["x"]', "host.disabled_tools (c.toml:3): reloaded"),
        ('[host.tools.x]\ndescription = "New."', "host.tools.x.description (c.toml:4): reloaded"),
        ("threads = 7", "host.threads (c.toml:3): restart needed"),
        ("tool_timeout = 7", "host.tool_timeout (c.toml:3): reloaded"),
        ('log_level = "debug"', "host.log_level (c.toml:3): reloaded"),
        ("[plugins.cache]", "plugin cache: added"),
        (
            "[plugins.cache]\n[toolkits.odd]\nx = 1",
            "the configuration: kept: c.toml:4: toolkits.odd: no toolkit with this name is installed",
        ),
        (
            "[plugins.http]\nport = 8001",
            "plugin http: restart needed: plugins.http.port (c.toml:4): a running host cannot replace a transport",
        ),
        ("[plugins.http]\nnmae = 1", "plugin http: kept: c.toml:4: plugins.http.nmae: unknown key"),
    ],
)
async def test_results_name_the_key_the_file_and_the_line(
    lines: str, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def x() -> int:
        """Return 1."""
        return 1

    def config(text: str) -> HostConfig:
        Path("c.toml").write_text(f"[host]\nautoload = false\n{text}\n")
        return HostConfig.load(Path("c.toml"), environ={}, defaults=defaults())

    monkeypatch.chdir(tmp_path)
    host = Host(config(""))
    host.catalogue.add(x)
    async with host:
        assert [*map(str, await host.reload(config=config(lines)))] == [result]


async def test_a_new_time_limit_applies_to_the_next_call(site: Site) -> None:
    async with host_of("alpha") as host:
        await host.reload(config=host_of("alpha", tool_timeout=0.01).config)
        assert "0.01 seconds" in str((await failure(host, "alpha_held")).error)


async def test_changes_at_run_time_outlive_a_reload(site: Site) -> None:
    async def added() -> int:
        """Return 5."""
        return 5

    async with host_of("alpha") as host:
        host.catalogue.add(added)
        (own,) = [plugin for plugin in host.report.plugins if plugin.origin.name == "alpha"]
        own.context.catalogue.remove("tools", "word")
        config = host_of("alpha", disabled_tags=["none"]).config
        assert await outcomes(host, config=config) == {"host.disabled_tags": "reloaded"}
        assert await value(host, "added") == 5
        assert [*host.assembly.tools] == ["added", "alpha_held", "alpha_number"]


@pytest.mark.parametrize(
    ("moment", "setting", "served"),
    [("_bound", {"disabled_tools": ["added"]}, False), ("_changed", {"disabled_tags": ["none"]}, True)],
)
async def test_a_change_at_run_time_and_a_reload_at_once_are_both_applied(
    site: Site, monkeypatch: pytest.MonkeyPatch, moment: str, setting: dict[str, Any], served: bool
) -> None:
    async def added() -> int:
        """Return 5."""
        return 5

    async with host_of("alpha") as host:
        config, loop, registry = host_of("alpha", **setting).config, asyncio.get_running_loop(), host._registry
        step = getattr(registry, moment)

        def then_reload(*arguments: Any) -> Any:
            setattr(registry, moment, step)
            done = step(*arguments)
            asyncio.run_coroutine_threadsafe(host.reload(config=config), loop).result(WAIT)
            return done

        monkeypatch.setattr(registry, moment, then_reload)
        await asyncio.to_thread(host.catalogue.add, added)
        assert host.config.host == config.host
        assert ("added" in host.assembly.tools) == served


async def test_files_of_the_command_line_are_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "reloaded_beside.py").write_text("NUMBER = 1\n")
    file = tmp_path / "reloaded_file.py"
    file.write_text(
        "from pegboard import tool\nfrom reloaded_beside import NUMBER\n"
        "@tool\nasync def number() -> int:\n    'Return it.'\n    return NUMBER\n"
    )
    config = {"host": {"autoload": False, "disabled_plugins": ["pegboard:*"]}}
    async with Host(config, toolkits=toolkits_in([file]), selection=Selection(files=(file,))) as host:
        (tmp_path / "reloaded_beside.py").write_text("NUMBER = 2\n")
        assert await outcomes(host) == {str(file): "reloaded"}
        assert await value(host, "reloaded_file_number") == 2
        file.write_text("1 +\n")
        (result,) = await host.reload()
        assert (result.outcome, result.reason) == ("kept", f"SyntaxError: invalid syntax ({file}:1)")
        assert await value(host, "reloaded_file_number") == 2
    _forget_modules()


async def test_calls_continue_while_a_toolkit_is_edited(site: Site) -> None:
    async with host_of("alpha") as host:
        done = asyncio.Event()

        async def client() -> int:
            count = 0
            while not done.is_set():
                assert type(await call(host, "alpha_number")).__name__ == "ToolResult"
                count += 1
                await asyncio.sleep(0.001)  # an event loop that never rests slows the thread of the reload 50 times
            return count

        async with asyncio.TaskGroup() as group:  # a time limit that ends a client ends the test
            clients = [group.create_task(client()) for _ in range(5)]
            for number in range(3):
                site.write("alpha", f"NUMBER = {number}\n")
                await host.reload()
            done.set()
        assert min(task.result() for task in clients) > 0


def guarded(token: str | None) -> HostConfig:
    plugins = {"auth_token": {"token": token}} if token else {}
    return HostConfig.of({"host": {"autoload": False}, "plugins": plugins})


@pytest.mark.needs("auth")
async def test_an_open_address_stays_guarded_and_new_secrets_are_masked() -> None:
    old, new = token_hex(32), token_hex(32)
    async with Host(guarded(old)) as host:
        host.for_transports.opened("tcp://192.0.2.1:1", policy="mcp")
        (result,) = await host.reload(config=guarded(None))
        assert (result.outcome, "other machines can reach tcp://192.0.2.1:1" in result.reason) == ("kept", True)
        assert len(host.assembly.authenticators) == 1
        (result,) = await host.reload(config=guarded(new))
        assert (result.outcome, redacted_data(new)) == ("reloaded", "**********")


async def test_a_changed_file_of_secrets_is_read_again(tmp_path: Path) -> None:
    async def key(context: Context) -> str:
        """Return the first four characters of the key."""
        return context.get_secret("LONG_KEY")[:4]

    file = tmp_path / ".env"
    file.write_text("LONG_KEY=old-0123456789\n")
    file.chmod(0o600)
    host = Host(HostConfig.of({"host": {"autoload": False}}, defaults=defaults(), directory=tmp_path))
    host.catalogue.add(ToolDefinition(key, requires_secrets=("LONG_KEY",)))
    async with host:
        assert (await value(host, "key"), await host.reload()) == ("old-", [])
        file.write_text("LONG_KEY=new-0123456789\n")
        assert await outcomes(host) == {"plugin secrets_dotenv": "reloaded"}
        assert (await value(host, "key"), redacted_data("new-0123456789")) == ("new-", "**********")


class Unprintable:
    """An object like those of lazy imports, which raise any exception."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


async def test_objects_of_other_modules_and_threads_of_the_code_hinder_no_reload(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "lazy", Unprintable(), raising=False)
    async with host_of("alpha") as host:
        waits = "if sys.argv[0] == '-c': Thread(target=Event().wait).start()"  # in the trial only
        site.write("alpha", f"import sys\nfrom threading import Event, Thread\nNUMBER = 2\n{waits}\n")
        assert await outcomes(host) == {"toolkit-alpha 1.0": "reloaded"}
