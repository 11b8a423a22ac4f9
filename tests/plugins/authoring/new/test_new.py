"""`pegboard new`: names, questions, refusals and printed next steps. tests/packaging builds and runs the projects."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from pegboard_plugins.authoring.new.kinds import PLUGINS
from pegboard_plugins.authoring.new.new_command import project_files, project_names
from tests.support.command_line import Command


def written(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def test_a_toolkit_is_written_and_the_next_commands_are_printed(bare: Command) -> None:
    done = bare("new", "toolkit", "weather_map", "--owner", "ada")
    assert (done.code, done.err) == (0, "")
    project = written(bare.folder / "toolkit-weather-map")
    lines = done.out.splitlines()
    assert lines[0] == "wrote toolkit-weather-map/"
    assert [line.strip() for line in lines[1 : lines.index("next:")]] == sorted(project)
    assert "  pegboard call weather_map_greet name=Ada" in lines
    assert 'weather_map = "toolkit_weather_map:kit"' in project["pyproject.toml"]
    assert json.loads(project["server.json"])["name"] == "io.github.ada/toolkit-weather-map"
    assert not re.search(r"OWNER|simple|docs\.examples", "".join(project.values()))


def test_the_output_for_programs_has_the_lines_that_enable_a_plugin(bare: Command) -> None:
    shown = bare("new", "plugin", "pegboard-acme", "--kind", "secret_store", "--json").data
    assert shown["folder"] == str(bare.folder / "pegboard-acme")
    assert shown["files"] == sorted(written(bare.folder / "pegboard-acme"))
    assert shown["settings"] == '[plugins.acme]\nfile = "secrets.json"'
    assert shown["next"][0] == "cd pegboard-acme"


def test_a_terminal_is_asked_for_the_rest(bare: Command) -> None:
    done = bare("new", typed="plugin\n\nacme\n", terminal=(0, 2))
    assert (done.code, "a Unix socket" in done.err, "kind [middleware]: " in done.err) == (0, True, True)
    assert "the input has ended" in bare("new", typed="\x04", terminal=(0, 2)).err
    assert "on_call_tool" in (bare.folder / "pegboard-acme/src/pegboard_acme/__init__.py").read_text()


@pytest.mark.needs("rate_limit")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "toolkit, plugin or server? Write `pegboard new toolkit weather`"),
        ("toolkitt weather", "'toolkitt' is unknown: did you mean 'toolkit'? Write toolkit, plugin or server, as in "),
        ("toolkit", "the name is missing: write `pegboard new toolkit NAME`"),
        ("toolkit Weather!", "'Weather!' is not a valid name: use up to 50 lower-case letters (a-z) and digits, "),
        ("toolkit ../weather", "such as weather\n"),
        ("toolkit 2nd-weather", "such as nd-weather\n"),
        ("toolkit é", "such as weather\n"),
        (f"toolkit {'x' * 51}", "is not a valid name"),
        ("toolkit weather --kind route", "--kind is for plugins"),
        ("toolkit weather --owner a/b", "'a/b' is not a GitHub account"),
        ("plugin acme", "definition-check or command? Write `pegboard new plugin acme --kind middleware`"),
        ("plugin acme --kind rout", "'rout' is unknown: did you mean 'route'? Write "),
        ("plugin rate-limit --kind route", "pegboard has a plugin 'rate_limit' already: choose another name"),
        ("toolkit files", "the toolkit 'files' is installed already, from toolkit-files: choose another name"),
        ("plugin list --kind command", "pegboard has a command 'list' already: choose another name"),
        ("plugin false --kind middleware", "because False has another meaning"),
        (
            "plugin plugin --kind secret-store",
            "'plugin' cannot be the name, because PluginConfig has another meaning: choose another",
        ),
    ],
)
def test_an_invalid_line_is_refused_and_nothing_is_written(line: str, message: str, bare: Command) -> None:
    done = bare("new", *line.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert os.listdir(bare.folder) == ["hostconfig.toml"]


@pytest.mark.parametrize("taken", ["folder", "file", "link"])
def test_nothing_is_overwritten(taken: str, bare: Command) -> None:
    place = bare.folder / "toolkit-weather"
    if taken == "folder":
        place.mkdir()
    elif taken == "file":
        place.touch()
    else:
        place.symlink_to("nowhere")
    done = bare("new", "toolkit", "weather")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pegboard: toolkit-weather exists already: choose another name, or another working directory\n"
    assert not place.is_dir() or not any(place.iterdir())


def test_a_name_may_contain_that_of_the_example() -> None:
    texts = project_files("plugin", PLUGINS["token-source"], project_names("plugin", "acme-two"), "pegboard")
    code = texts["src/pegboard_acme_two/__init__.py"]
    assert 'AuthProvider(id="acme_two", title="Acme two"' in code
    assert "class AcmeTwoTokens(TokenSource):" in code


@pytest.mark.parametrize(
    ("shell", "message"), [("ulimit -f 0", "cannot be written"), ("rmdir ../gone", "cannot be created")]
)
def test_a_project_is_written_as_a_whole_or_not_at_all(shell: str, message: str, bare: Command) -> None:
    (bare.folder / "gone").mkdir()
    line = f"cd gone; {shell}; exec {shlex.join(bare.arguments('new', 'toolkit', 'weather'))}"
    done = bare.run(["sh", "-c", line])
    assert (done.code, done.out, message in done.err) == (1, "", True)
    assert "Traceback" not in done.err
    assert not list(bare.folder.rglob("toolkit-weather"))


@pytest.mark.parametrize("kind", PLUGINS)
def test_no_name_of_an_example_remains(kind: str) -> None:
    texts = project_files("plugin", PLUGINS[kind], project_names("plugin", "my-own"), "pegboard")
    assert f'description = "My own: a plugin for pegboard ({kind})."' in texts["pyproject.toml"]
    text = "".join(texts.values())
    word = PLUGINS[kind].word
    old = "".join(part.capitalize() for part in word.split("_"))
    assert not re.search(rf'\b{old}(?:\b|[A-Z])|"{word}"|plugins\.{word}|docs\.examples', text)
    assert "[plugins.my_own" in texts["hostconfig.example.toml"]
    own = re.findall(r"^class (\w+)", texts["src/pegboard_my_own/__init__.py"], re.M)
    assert [name for name in own if not name.startswith("MyOwn")] == []
