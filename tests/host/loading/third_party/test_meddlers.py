"""Plugins that change the process while they are loaded: `pegboard doctor` reports them. Changes are not undone."""

from __future__ import annotations

import pytest

from tests.host.loading.third_party.installed import NO_IMPOSTOR, complaints, pegboard, samples, stdio

HOST = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"
GREETER = "[toolkits.greeter]\n"
CHANGES = {
    "meddler": [
        "the working directory",
        "the locale",
        "sys.stdout",
        "signal handlers",
        "the root logger",
        "the warning filters",
        "the garbage collector",
        "the event loop policy",
        "sys.path",
    ],
    "closer": ["the standard descriptors"],
    "telemetry": [],
}


@pytest.mark.needs("doctor")
@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_reported_with_its_plugin(name: str) -> None:
    config = f"{HOST}[plugins.{name}]\n{GREETER}"
    done = pegboard(samples(), "doctor", "--json", config=config, env={"LC_ALL": "C.UTF-8"})
    changed = [finding["message"] for finding in done.data["findings"] if "changed the process" in finding["message"]]
    start = f"plugin {name!r} from acme-meddler 0.9.0 (acme_meddler.{name}), process: it changed the process while"
    assert changed == ([f"{start} it was loaded: {', '.join(CHANGES[name])}"] if CHANGES[name] else [])


@pytest.mark.parametrize("name", ["meddler", "closer"])
async def test_a_host_serves_its_client_in_a_changed_process(name: str) -> None:
    async with stdio(samples(), f"{HOST}[plugins.{name}]\n{GREETER}") as wire:
        await wire.initialize()
        result = await wire.call("greeter_hello", name="Ada")
    assert (wire.exit_code, complaints(wire.stderr)) == (0, [])
    assert result["content"][0]["text"] == "Hello Ada"
    assert "changed the process" not in wire.stderr  # only `doctor` and tests compare it
