"""A named plugin that fails prevents the start: exit code 3, and one line for each failure."""

from __future__ import annotations

import subprocess

import pytest

from tests.host.loading.third_party.broken import HOOKS, IMPORTS, IMPOSTOR, LIFELESS, WEATHER, Broken
from tests.host.loading.third_party.installed import CANNOT_START, NO_IMPOSTOR, complaints, pegboard, samples

Done = subprocess.CompletedProcess[str]
AUTOLOAD_OFF = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"


def section(kind: str, name: str) -> str:
    return f"[{kind}s.{name}]\n"


def refused(done: Done) -> list[str]:
    """Return the reasons why the host did not start."""
    assert done.returncode == CANNOT_START, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return complaints(done.stderr)


def test_each_named_plugin_that_fails_is_reported() -> None:
    config = AUTOLOAD_OFF + "".join(section("toolkit", broken.name) for broken in IMPORTS)
    config += "".join(section("plugin", broken.name) for broken in HOOKS)
    expected = [*(one.line("toolkit") for one in IMPORTS), *(one.line("plugin") for one in HOOKS)]
    assert sorted(refused(pegboard(samples(), "stdio", config=config))) == sorted(expected)


@pytest.mark.parametrize(
    ("broken", "kind"), [(IMPORTS[-1], "toolkit"), (LIFELESS, "plugin"), (LIFELESS, "toolkit")], ids=str
)
def test_one_failure_is_enough(broken: Broken, kind: str) -> None:
    config = AUTOLOAD_OFF + section(kind, broken.name) + section("toolkit", "greeter")
    assert refused(pegboard(samples(), "stdio", config=config)) == [broken.line(kind)]


@pytest.mark.parametrize(
    ("host", "env"),
    [
        pytest.param(f'error_adapters = ["{HOOKS[0].name}"]', {}, id="a list"),
        pytest.param("", {"PEGBOARD__HOST__PLUGINS": f'["{HOOKS[0].name}"]'}, id="a variable"),
    ],
)
def test_a_list_or_a_variable_names_a_plugin(host: str, env: dict[str, str]) -> None:
    reasons = refused(pegboard(samples(), "serve", config=f"{AUTOLOAD_OFF}{host}\n", env=env))
    assert reasons == [HOOKS[0].line("plugin")]


def test_required_plugins_and_toolkits_are_named() -> None:
    reasons = refused(pegboard(samples(), "stdio", config=f'{AUTOLOAD_OFF}required = ["{HOOKS[0].name}", "quits"]\n'))
    assert reasons == [HOOKS[0].line("plugin"), HOOKS[0].line("toolkit"), IMPORTS[-1].line("toolkit")]


def test_only_names_a_toolkit() -> None:
    config = f"[host]\n{NO_IMPOSTOR}\n"
    done = pegboard(samples(), "stdio", "--only", f"greeter,{IMPORTS[0].name}", config=config)
    assert refused(done) == [IMPORTS[0].line("toolkit")]


def test_a_glob_of_only_names_nothing() -> None:
    config = f"[host]\n{NO_IMPOSTOR}\n"
    done = pegboard(samples(), "stdio", "--only", "greeter,absent_lib*", config=config)
    assert done.returncode == 0
    assert complaints(done.stderr) == [IMPORTS[0].line("toolkit")]


# --- wrong settings


def test_all_invalid_settings_are_reported_with_their_lines() -> None:
    config = f"""{AUTOLOAD_OFF}
[toolkits.weather]
days = 99
untis = "metric"
[plugins.redact]
words = ["a", 5]
[plugins.shuot]
"""
    weather = "toolkit 'weather' from toolkit-weather 3.1.4 (toolkit_weather:kit), config: hostconfig.toml"
    redact = "plugin 'redact' from acme-polish 2.0.1 (acme_polish:RedactPlugin), config: hostconfig.toml"
    assert sorted(refused(pegboard(samples(), "stdio", config=config))) == sorted(
        [
            'hostconfig.toml:10: plugins.shuot: no plugin with this name is installed; did you mean "shout"?',
            f"{redact}:9: plugins.redact.words[1]: expected a string, found the number 5; put it in quotes",
            f"{weather}:5: toolkits.weather.station: is required and missing",
            f"{weather}:6: toolkits.weather.days: expected at most 14, found the number 99",
            f'{weather}:7: toolkits.weather.untis: unknown key; did you mean "units"?',
        ]
    )


def test_settings_of_a_plugin_without_settings_are_invalid() -> None:
    (reason,) = refused(pegboard(samples(), "stdio", config=f"{AUTOLOAD_OFF}[plugins.shout]\nvolume = 11\n"))
    assert "acme-polish 2.0.1 (acme_polish:ShoutPlugin), config: hostconfig.toml:5: plugins.shout.volume" in reason


def test_a_missing_setting_of_an_unnamed_toolkit_does_not_prevent_the_start() -> None:
    done = pegboard(samples(), "stdio", "--only", "weathe*", config=f"[host]\n{NO_IMPOSTOR}\n")
    assert done.returncode == 0
    assert complaints(done.stderr)[0] == WEATHER.line("toolkit")


# --- strict and safe


def test_strict_makes_every_failure_fatal() -> None:
    found = pegboard(samples(), "stdio", "--strict")
    toolkits = [broken.line("toolkit") for broken in (*IMPORTS, *HOOKS, WEATHER)]
    assert sorted(refused(found)) == sorted([*toolkits, IMPOSTOR.line("plugin")])


def test_strict_starts_without_failures() -> None:
    done = pegboard(samples(), "stdio", "--strict", "--only", "greeter,meter", config=f"[host]\n{NO_IMPOSTOR}\n")
    assert (done.returncode, complaints(done.stderr)) == (0, [])


def test_safe_starts_only_built_in_plugins() -> None:
    config = "".join(section("plugin", broken.name) for broken in HOOKS) + "[toolkits.greeter]\n"
    done = pegboard(samples(), "stdio", "--safe", config=config)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    *disabled, last = complaints(done.stderr)
    assert all("--safe starts with the built-in defaults alone" in line for line in disabled)
    assert "no tools are served" in last


@pytest.mark.parametrize("command", [["plugins"], ["list"], ["why", "greeter"]], ids=lambda command: command[0])
def test_commands_that_list_work_though_a_named_plugin_fails(command: list[str]) -> None:
    config = section("plugin", HOOKS[0].name) + section("toolkit", IMPORTS[0].name)
    done = pegboard(samples(), *command, "--only", f"greeter,{IMPORTS[0].name}", config=config)
    assert done.returncode == 0
    assert "greeter" in done.stdout
    assert {HOOKS[0].line("plugin"), IMPORTS[0].line("toolkit")} <= set(complaints(done.stderr))
