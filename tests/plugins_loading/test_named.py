"""What the operator named must load, or the host does not start: exit code 3, and the reasons, each in one line."""

from __future__ import annotations

import subprocess

import pytest

from tests.plugins_loading.broken import HOOKS, IMPORTS, IMPOSTOR, LIFELESS, WEATHER, Broken
from tests.plugins_loading.installed import CANNOT_START, NO_IMPOSTOR, complaints, pegboard, samples

Done = subprocess.CompletedProcess[str]
AUTOLOAD_OFF = f"[host]\nautoload = false\n{NO_IMPOSTOR}\n"


def section(kind: str, name: str) -> str:
    return f"[{kind}s.{name}]\n"


def refused(done: Done) -> list[str]:
    """The reasons for which the host did not start."""
    assert done.returncode == CANNOT_START, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return complaints(done.stderr)


@pytest.fixture(scope="module")
def all_named() -> list[str]:
    """The reasons when everything broken is named at once."""
    config = AUTOLOAD_OFF + "".join(section("toolkit", broken.name) for broken in IMPORTS)
    return refused(pegboard(samples(), "stdio", config=config + "".join(section("plugin", one.name) for one in HOOKS)))


@pytest.mark.parametrize("broken", IMPORTS, ids=lambda broken: broken.name)
def test_a_named_toolkit_that_fails_is_a_reason(broken: Broken, all_named: list[str]) -> None:
    assert all_named.count(broken.line("toolkit")) == 1


@pytest.mark.parametrize("broken", HOOKS, ids=lambda broken: broken.name)
def test_a_named_plugin_that_fails_is_a_reason(broken: Broken, all_named: list[str]) -> None:
    assert all_named.count(broken.line("plugin")) == 1


def test_there_are_no_other_reasons(all_named: list[str]) -> None:
    assert len(all_named) == len(IMPORTS) + len(HOOKS)


@pytest.mark.parametrize("broken", [IMPORTS[0], IMPORTS[-1], HOOKS[0]], ids=lambda broken: broken.name)
def test_one_is_enough(broken: Broken) -> None:
    config = AUTOLOAD_OFF + section("toolkit", broken.name) + section("toolkit", "greeter")
    assert refused(pegboard(samples(), "stdio", config=config)) == [broken.line("toolkit")]


@pytest.mark.parametrize("kind", ["plugin", "toolkit"])
def test_a_life_that_does_not_begin_is_a_reason(kind: str) -> None:
    config = AUTOLOAD_OFF + section(kind, LIFELESS.name)
    assert refused(pegboard(samples(), "stdio", config=config)) == [LIFELESS.line(kind)]


@pytest.mark.parametrize(
    ("host", "env"),
    [
        pytest.param(f'plugins = ["{HOOKS[0].name}"]', {}, id="plugins"),
        pytest.param(f'transports = ["{HOOKS[0].name}"]', {}, id="transports"),
        pytest.param(f'middleware = ["{HOOKS[0].name}"]', {}, id="middleware"),
        pytest.param(f'error_adapters = ["{HOOKS[0].name}"]', {}, id="error_adapters"),
        pytest.param("", {"PEGBOARD__HOST__PLUGINS": f'["{HOOKS[0].name}"]'}, id="a variable"),
    ],
)
def test_every_way_of_naming_a_plugin_counts(host: str, env: dict[str, str]) -> None:
    reasons = refused(pegboard(samples(), "serve", config=f"{AUTOLOAD_OFF}{host}\n", env=env))
    assert reasons == [HOOKS[0].line("plugin")]


def test_what_is_required_is_named_be_it_a_plugin_or_a_toolkit() -> None:
    reasons = refused(pegboard(samples(), "stdio", config=f'{AUTOLOAD_OFF}required = ["{HOOKS[0].name}", "quits"]\n'))
    assert reasons == [HOOKS[0].line("plugin"), HOOKS[0].line("toolkit"), IMPORTS[-1].line("toolkit")]


def test_naming_on_the_command_line_counts() -> None:
    config = f"[host]\n{NO_IMPOSTOR}\n"
    done = pegboard(samples(), "stdio", "--only", f"greeter,{IMPORTS[0].name}", config=config)
    assert refused(done) == [IMPORTS[0].line("toolkit")]


def test_a_glob_on_the_command_line_names_nothing() -> None:
    config = f"[host]\n{NO_IMPOSTOR}\n"
    done = pegboard(samples(), "stdio", "--only", "greeter,absent_lib*", config=config)
    assert done.returncode == 0
    assert complaints(done.stderr) == [IMPORTS[0].line("toolkit")]


# --- wrong settings


def test_wrong_settings_are_told_all_at_once_with_their_lines() -> None:
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
            'hostconfig.toml:10: plugins.shuot: no plugin of this name is installed; did you mean "shout"?',
            f"{redact}:9: plugins.redact.words[1]: expected a string, found the number 5; put it in quotes",
            f"{weather}:5: toolkits.weather.station: is required and missing",
            f"{weather}:6: toolkits.weather.days: expected at most 14, found the number 99",
            f'{weather}:7: toolkits.weather.untis: unknown key; did you mean "units"?',
        ]
    )


def test_settings_for_a_plugin_that_takes_none_are_wrong() -> None:
    (reason,) = refused(pegboard(samples(), "stdio", config=f"{AUTOLOAD_OFF}[plugins.shout]\nvolume = 11\n"))
    assert "acme-polish 2.0.1 (acme_polish:ShoutPlugin), config: hostconfig.toml:5: plugins.shout.volume" in reason


def test_a_missing_setting_of_what_was_only_found_stops_nobody() -> None:
    done = pegboard(samples(), "stdio", "--only", "weathe*", config=f"[host]\n{NO_IMPOSTOR}\n")
    assert done.returncode == 0
    assert complaints(done.stderr)[0] == WEATHER.line("toolkit")


# --- strict and safe


def test_strict_makes_every_failure_a_reason() -> None:
    found = pegboard(samples(), "stdio", "--strict")
    toolkits = [broken.line("toolkit") for broken in (*IMPORTS, *HOOKS, WEATHER)]
    assert sorted(refused(found)) == sorted([*toolkits, IMPOSTOR.line("plugin")])


def test_strict_lets_what_is_well_start() -> None:
    done = pegboard(samples(), "stdio", "--strict", "--only", "greeter,meter", config=f"[host]\n{NO_IMPOSTOR}\n")
    assert (done.returncode, complaints(done.stderr)) == (0, [])


def test_safe_starts_the_built_in_plugins_alone() -> None:
    config = "".join(section("plugin", broken.name) for broken in HOOKS) + "[toolkits.greeter]\n"
    done = pegboard(samples(), "stdio", "--safe", config=config)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    *disabled, last = complaints(done.stderr)
    assert all("--safe starts with the built-in defaults alone" in line for line in disabled)
    assert "no tools are served" in last


@pytest.mark.parametrize("command", [["plugins"], ["list"], ["why", "greeter"]], ids=lambda command: command[0])
def test_looking_works_though_what_is_named_fails(command: list[str]) -> None:
    config = section("plugin", HOOKS[0].name) + section("toolkit", IMPORTS[0].name)
    done = pegboard(samples(), *command, "--only", f"greeter,{IMPORTS[0].name}", config=config)
    assert done.returncode == 0
    assert "greeter" in done.stdout
    assert {HOOKS[0].line("plugin"), IMPORTS[0].line("toolkit")} <= set(complaints(done.stderr))
