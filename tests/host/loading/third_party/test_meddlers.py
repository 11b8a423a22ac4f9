"""Plugins that change the process while they are loaded are reported. Changes are not undone."""

from __future__ import annotations

from tests.host.loading.third_party.installed import NO_IMPOSTOR, complaints, samples, stdio

HOST = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"
GREETER = "[toolkits.greeter]\n"
TOLD = (
    "plugin {name!r} from acme-meddler 0.9.0 (acme_meddler.{name}), "
    "process: it changed the process while it was loaded: "
)


async def test_each_change_is_reported_and_the_client_is_served() -> None:
    environ = {"LC_ALL": "C.UTF-8"}
    async with stdio(samples(), f"{HOST}[plugins.meddler]\n{GREETER}", env=environ) as wire:
        await wire.initialize()
        result = await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    assert result["content"][0]["text"] == "Hello Ada"
    (line,) = complaints(wire.stderr)
    told, _, changes = line.rpartition(": ")
    assert f"{told}: " == TOLD.format(name="meddler")
    assert changes.split(", ") == [
        "the working directory",
        "the locale",
        "sys.stdout",
        "signal handlers",
        "the root logger",
        "the warning filters",
        "the garbage collector",
        "the event loop policy",
        "sys.path",
    ]


async def test_closing_standard_output_is_reported_and_the_client_on_it_is_served() -> None:
    async with stdio(samples(), f"{HOST}[plugins.closer]\n{GREETER}") as wire:
        await wire.initialize()
        result = await wire.call("greeter_hello", name="Ada")
    assert wire.exit_code == 0
    assert result["content"][0]["text"] == "Hello Ada"
    assert complaints(wire.stderr) == [f"{TOLD.format(name='closer')}the standard descriptors"]


async def test_plugins_without_changes_are_not_reported() -> None:
    config = f'{HOST}middleware = ["redact", "shout"]\n[plugins.telemetry]\n{GREETER}[toolkits.meter]\n'
    async with stdio(samples(), config) as wire:
        await wire.initialize()
    assert complaints(wire.stderr) == []
