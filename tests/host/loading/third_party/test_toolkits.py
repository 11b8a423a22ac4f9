"""A third-party toolkit from its installation to its removal, as a client sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.host.loading.third_party.installed import (
    NO_IMPOSTOR,
    SAMPLES,
    complaints,
    imported_by,
    json_of,
    pegboard,
    samples,
    stdio,
)
from tests.support.environments import built_wheels, executable, install, make_environment, run, uninstall

GREETER = "toolkit_greeter"
ALONE = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n[toolkits.greeter]\n"


# --- what it offers


async def test_tools_have_the_settings_and_the_state_of_their_toolkit() -> None:
    async with stdio(samples(), f'{ALONE}greeting = "Servus"\nloud = true\nmost = 2\n') as wire:
        await wire.initialize()
        listed = await wire.result("tools/list")
        first = await wire.call("greeter_hello", name="Ada")
        await wire.call("greeter_hello", name="Emmy")
        third = await wire.call("greeter_hello", name="Grace")
        guests = await wire.call("greeter_guests")
        loud = await wire.call("greeter_shout")
    assert [tool["name"] for tool in listed["tools"]] == ["greeter_guests", "greeter_hello", "greeter_shout"]
    assert first["content"][0]["text"] == "SERVUS ADA"
    assert third == third | {"content": [{"type": "text", "text": "The guest book is full."}], "isError": True}
    assert json.loads(guests["content"][0]["text"]) == ["Ada", "Emmy"]
    assert loud["content"][0]["text"] == "HEY"
    assert (wire.exit_code, complaints(wire.stderr)) == (0, [])


async def test_a_resource_and_a_prompt_are_served() -> None:
    async with stdio(samples(), ALONE) as wire:
        await wire.initialize()
        (resource,) = (await wire.result("resources/list"))["resources"]
        (content,) = (await wire.result("resources/read", {"uri": resource["uri"]}))["contents"]
        (prompt,) = (await wire.result("prompts/list"))["prompts"]
        messages = (await wire.result("prompts/get", {"name": prompt["name"]}))["messages"]
    assert (resource["uri"], content["text"]) == ("greeter://manners", "# Say hello first\n")
    assert prompt["name"] == "greeter_introduce"
    assert messages == [{"role": "user", "content": {"type": "text", "text": "Who are you?"}}]


async def test_each_start_has_its_own_state() -> None:
    for _ in range(2):
        async with stdio(samples(), ALONE) as wire:
            await wire.initialize()
            await wire.call("greeter_hello", name="Ada")
            guests = await wire.call("greeter_guests")
        assert json.loads(guests["content"][0]["text"]) == ["Ada"]


# --- coming and going


def test_installing_adds_tools_and_uninstalling_removes_them(tmp_path: Path) -> None:
    wheels = built_wheels(SAMPLES / GREETER)
    environment = make_environment(tmp_path / "env", "pegboard", wheels=wheels)
    cwd = tmp_path / "work"
    cwd.mkdir()

    def tools() -> list[str]:
        listed = json.loads(run(executable(environment, "pegboard"), "list", "--json", cwd=cwd))
        return [tool["name"] for tool in listed]

    assert tools() == []
    install(environment, "toolkit-greeter", wheels=wheels)
    assert tools() == ["greeter_guests", "greeter_hello"]
    uninstall(environment, "toolkit-greeter")
    assert tools() == []


@pytest.mark.parametrize(
    "disabled", ['disabled_toolkits = ["greeter"]', 'disabled_toolkits = ["toolkit-greeter:*"]', "autoload = false"]
)
def test_a_disabled_toolkit_is_not_served_and_not_imported(disabled: str) -> None:
    config = f"[host]\n{disabled}\n"
    for command in ("list", "stdio"):
        assert GREETER not in imported_by(samples(), command, config=config)
    assert "greeter_hello" not in pegboard(samples(), "list", config=config).stdout


def test_an_enabled_toolkit_is_imported() -> None:
    assert GREETER in imported_by(samples(), "list", "--only", "greeter")


def test_disabled_tools_are_not_listed_and_others_are() -> None:
    config = f'[host]\n{NO_IMPOSTOR}\nautoload = false\ndisabled_tools = ["Greeter::Hello"]\n[toolkits.greeter]\n'
    assert [tool["name"] for tool in json_of(samples(), "list", config=config)] == ["greeter_guests"]


# --- not imported unless enabled


def marks(folder: Path, *arguments: str, config: str) -> set[str]:
    """Return the imported modules among those that leave a mark."""
    done = pegboard(samples(), *arguments, config=config, env={"ACME_MARKS": str(folder)})
    assert done.returncode == 0, done.stderr
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("command", [["stdio"], ["plugins"], ["why", "telemetry"]], ids=lambda command: command[0])
def test_an_unnamed_plugin_is_not_imported(command: list[str], tmp_path: Path) -> None:
    assert marks(tmp_path, *command, config="") == {"acme_telemetry", "acme_telemetry.meter"}


def test_disabled_toolkits_and_refused_plugins_are_not_imported(tmp_path: Path) -> None:
    assert marks(tmp_path, "stdio", config='[host]\ndisabled_toolkits = ["meter"]\n[plugins.stdio]\n') == set()
    named = '[host]\ndisabled_toolkits = ["meter"]\n[plugins.telemetry]\n'
    assert marks(tmp_path, "stdio", config=named) == {"acme_telemetry"}


# --- names without a match


def test_a_pattern_without_a_match_is_reported_as_a_warning() -> None:
    config = (
        '[host]\nautoload = false\ndisabled_plugins = ["acme-stdio:stdio", "redcat"]\ndisabled_toolkits = ["greter"]\n'
    )
    done = pegboard(samples(), "stdio", config=f"{config}[toolkits.greeter]\n")
    assert done.returncode == 0
    assert complaints(done.stderr) == [
        'hostconfig.toml:3: host.disabled_plugins[1]: "redcat" matches nothing; did you mean "redact"?',
        'hostconfig.toml:4: host.disabled_toolkits[0]: "greter" matches nothing; did you mean "greeter"?',
    ]


@pytest.mark.parametrize(
    ("host", "arguments", "reason"),
    [
        ('plugins = ["redcat"]', [], "host.plugins[0]: no plugin or toolkit with this name is installed"),
        ('required = ["greter"]', [], "host.required[0]: no plugin or toolkit with this name is installed"),
        ('required = ["greeter"]\ndisabled_toolkits = ["greeter"]', [], "'greeter' is required, but disabled by"),
        ("", ["--only", "greter"], "--only: no installed toolkit is called 'greter'; did you mean 'greeter'?"),
    ],
)
def test_an_unknown_name_prevents_the_start(host: str, arguments: list[str], reason: str) -> None:
    done = pegboard(samples(), "stdio", *arguments, config=f"[host]\n{NO_IMPOSTOR}\n{host}\n")
    assert done.returncode == 3
    (line,) = complaints(done.stderr)
    assert reason in line
