"""Third-party toolkits and middleware as a client sees them, from their installation to their removal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.host.loading.third_party.installed import NO_IMPOSTOR, SAMPLES, complaints, pegboard, samples, stdio
from tests.support.environments import built_wheels, executable, install, make_environment, run, uninstall

GREETER = "toolkit_greeter"
HOST = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"
ALONE = f"{HOST}[toolkits.greeter]\n"


async def test_tools_resources_and_prompts_have_the_settings_and_the_state_of_their_toolkit() -> None:
    for _ in range(2):
        async with stdio(samples(), f'{ALONE}greeting = "Servus"\nloud = true\nmost = 2\n') as wire:
            await wire.initialize()
            listed = await wire.result("tools/list")
            first = await wire.call("greeter_hello", name="Ada")
            await wire.call("greeter_hello", name="Emmy")
            third = await wire.call("greeter_hello", name="Grace")
            guests = await wire.call("greeter_guests")
            (content,) = (await wire.result("resources/read", {"uri": "greeter://manners"}))["contents"]
            messages = (await wire.result("prompts/get", {"name": "greeter_introduce"}))["messages"]
        assert [tool["name"] for tool in listed["tools"]] == ["greeter_guests", "greeter_hello", "greeter_shout"]
        assert first["content"][0]["text"] == "SERVUS ADA"
        assert third == third | {"content": [{"type": "text", "text": "The guest book is full."}], "isError": True}
        assert json.loads(guests["content"][0]["text"]) == ["Ada", "Emmy"], "each start has its own state"
        assert content["text"] == "# Say hello first\n"
        assert messages == [{"role": "user", "content": {"type": "text", "text": "Who are you?"}}]
        assert (wire.exit_code, complaints(wire.stderr)) == (0, [])


@pytest.mark.needs("tool_commands")
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


@pytest.mark.needs("why")
@pytest.mark.parametrize(
    ("command", "config", "marks"),
    [
        ("stdio", "", {"acme_telemetry", "acme_telemetry.meter"}),
        ("why telemetry", "", {"acme_telemetry", "acme_telemetry.meter"}),
        ("stdio", '[host]\ndisabled_toolkits = ["meter"]\n[plugins.stdio]\n', set()),
        ("stdio", '[host]\ndisabled_toolkits = ["meter"]\n[plugins.telemetry]\n', {"acme_telemetry"}),
    ],
)
def test_unnamed_disabled_and_refused_plugins_are_not_imported(
    command: str, config: str, marks: set[str], tmp_path: Path
) -> None:
    done = pegboard(samples(), *command.split(), config=config, env={"ACME_MARKS": str(tmp_path)})
    assert done.code == 0, done.err
    assert {path.name for path in tmp_path.iterdir()} == marks


def test_a_pattern_without_a_match_is_reported_as_a_warning() -> None:
    host = 'disabled_plugins = ["acme-stdio:stdio", "redcat"]\ndisabled_toolkits = ["greter"]\n'
    done = pegboard(samples(), "stdio", config=f"[host]\nautoload = false\n{host}[toolkits.greeter]\n")
    assert done.code == 0
    assert complaints(done.err) == [
        'hostconfig.toml:3: host.disabled_plugins[1]: "redcat" matches nothing; did you mean "redact"?',
        'hostconfig.toml:4: host.disabled_toolkits[0]: "greter" matches nothing; did you mean "greeter"?',
    ]


def test_a_required_toolkit_that_is_disabled_prevents_the_start() -> None:
    config = f'[host]\n{NO_IMPOSTOR}\nrequired = ["greeter"]\ndisabled_toolkits = ["greeter"]\n'
    done = pegboard(samples(), "stdio", config=config)
    (line,) = complaints(done.err)
    assert (done.code, "'greeter' is required, but disabled by" in line) == (3, True)
