"""`pegboard secret`: values are stored, listed by name, and never printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import Command
from tests.support.typist import Typist

WEATHER = '''
from pegboard import Context, Toolkit
kit = Toolkit("weather")
@kit.tool(requires_secrets=["WEATHER_KEY"])
def forecast(context: Context) -> str:
    """Tell the weather."""
    return f"key of {len(context.get_secret('weather_key'))} characters"
'''
DAMAGED = """
from pegboard.plugin import Plugin, SecretStore, hookimpl
class Damaged(SecretStore):
    name = "damaged"
    def get(self, name):
        raise OSError("its file is damaged")
class DamagedPlugin(Plugin):
    @hookimpl
    def register_secret_stores(self):
        return [Damaged()]
"""
VALUE = "hidden 'value' \\ #1"


@pytest.fixture
def weather(bare: Command) -> Command:
    bare.install("weather", WEATHER)
    return bare


def test_a_secret_is_set_used_listed_and_removed(weather: Command) -> None:
    (row,) = weather("secret", "list", "--json").data
    assert row == {"name": "WEATHER_KEY", "set": False, "used_by": ["weather"], "store": None}
    file = weather.folder / ".env"
    file.write_text("# mine\nexport OTHER = 'x'   # kept\n")
    done = weather("secret", "set", "WEATHER_KEY", typed=f"{VALUE}\n")
    assert (done.code, done.out) == (0, f"WEATHER_KEY is set in {file}\n")
    assert file.read_text().startswith("# mine\nexport OTHER = 'x'   # kept\n")
    assert weather("call", "weather_forecast").out == f"key of {len(VALUE)} characters\n"
    listed = weather("secret", "list")
    assert listed.out.splitlines()[1].split() == ["WEATHER_KEY", "set", "secrets_dotenv", "weather"]
    shadowed = weather("secret", "set", "WEATHER_KEY", typed="b", env={"WEATHER_KEY": "a"})
    assert "secrets_env also has WEATHER_KEY and takes precedence" in shadowed.err
    removed = weather("secret", "unset", "WEATHER_KEY")
    assert (removed.code, removed.out) == (0, "WEATHER_KEY is removed from secrets_dotenv\n")
    assert file.read_text() == "# mine\nexport OTHER = 'x'   # kept\n"
    assert weather("secret", "unset", "WEATHER_KEY").code == 1
    assert not [done for done in (done, listed, shadowed, removed) if "hidden" in done.out + done.err]


def test_a_secret_is_set_in_the_spelling_of_its_tool(weather: Command) -> None:
    assert weather("secret", "set", "weather_key", typed="x").out.startswith("WEATHER_KEY is set in ")
    assert weather("secret", "set", "other_key", typed="x").out.startswith("other_key is set in ")


def test_a_store_that_fails_is_reported(weather: Command) -> None:
    weather.install("damaged", DAMAGED, group="pegboard.plugins", target="DamagedPlugin")
    weather.configure(host='secret_stores = ["damaged", "secrets_env"]')
    done = weather("secret", "list", env={"WEATHER_KEY": "x"})
    assert done.out.splitlines()[1].split() == ["WEATHER_KEY", "set", "secrets_env", "weather"]
    assert done.err.endswith("the secret store 'damaged' failed to look up WEATHER_KEY: OSError: its file is damaged\n")


def test_a_file_that_others_can_read_is_reported(weather: Command) -> None:
    file = weather.folder / ".env"
    file.touch(0o644)
    done = weather("secret", "set", "WEATHER_KEY", typed="x")
    assert (done.code, done.err) == (0, f"pegboard: other users can read {file}: run chmod 600 {file}\n")
    file.chmod(0o600)
    assert weather("secret", "set", "WEATHER_KEY", typed="y").err == ""


def test_a_new_file_belongs_to_its_owner_and_another_store_is_selected(weather: Command) -> None:
    weather("secret", "set", "WEATHER_KEY", typed="x")
    assert (weather.folder / ".env").stat().st_mode & 0o777 == 0o600
    (weather.folder / "keys").mkdir()
    weather.configure(sections='[plugins.secrets_files]\ndirectory = "keys"')
    assert weather("secret", "set", "WEATHER_KEY", "--store", "secrets_files", typed="y\n").code == 0
    assert (weather.folder / "keys" / "WEATHER_KEY").read_text() == "y"
    removed = weather("secret", "unset", "WEATHER_KEY", "--json").data
    assert removed == {"name": "WEATHER_KEY", "removed_from": ["secrets_dotenv", "secrets_files"], "left_in": []}


def test_a_terminal_does_not_show_the_value(weather: Command) -> None:
    command = weather.arguments("secret", "set", "WEATHER_KEY")
    with Typist(command, weather.folder, weather.environment()) as user:
        shown = user.sees("not shown")
        user.types("typed-secret\n")
        shown += user.sees("is set in")
        assert user.process.wait() == 0
    assert "typed-secret" not in shown
    assert "typed-secret" in Path(weather.folder, ".env").read_text()


def test_the_advice_fits_stores_that_cannot_be_changed(weather: Command) -> None:
    weather.configure(host='secret_stores = ["secrets_env"]')
    advice = "pegboard: the secret WEATHER_KEY is not set: set it in the environment\n"
    assert weather("secret", "list").err == advice


@pytest.mark.parametrize(
    ("arguments", "typed", "code", "problem"),
    [
        (["K=hidden"], "", 2, "leave out the value"),
        (["PEGBOARD_X"], "hidden", 2, "reserved for the host"),
        (["K"], "\n", 1, "the value is empty"),
        (["K-1"], "hidden", 1, "letters, digits and _ only"),
        (["K", "--store", "secrets_env"], "hidden", 1, "stores that can be changed: secrets_dotenv, secrets_files"),
        (["K", "--store", "secrets_files"], "hidden", 1, "name one in [plugins.secrets_files] directory"),
    ],
)
def test_a_refusal_has_one_clear_message_without_the_value(
    weather: Command, arguments: list[str], typed: str, code: int, problem: str
) -> None:
    done = weather("secret", "set", *arguments, typed=typed)
    assert (done.code, problem in done.err, "hidden" in done.err.replace("K=hidden", "")) == (code, True, False), done
    assert not (weather.folder / ".env").exists()
