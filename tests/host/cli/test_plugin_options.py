"""Options that third-party plugins add to commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard.cli.parsing.parser import parse
from pegboard.loading.plugin_facts import FACTS_FILE
from pegboard.terminal.printing import UsageError
from tests.support.distributions import make_distribution

FACTS = """
[acme.commands.serve]
options = [
  { name = "--acme-size", aliases = ["-s", "--wide"], key = "size", metavar = "SIZE", type = "integer", help = "size" },
  { name = "--acme-fast", key = "speed", value = "fast", help = "hurry" },
  { name = "--port", key = "port", help = "another port" },
  { name = "--acme-narrow", aliases = ["--wide"], key = "narrow", help = "not the size" },
]

[acme.commands.list]
options = [
  { name = "--acme-first", aliases = ["-f"], value = true, run = "acme:first", help = "the first" },
  { name = "--acme-second", aliases = ["-f"], value = true, run = "acme:second", help = "the second" },
  { name = "--no-wait", value = true, run = "acme:third", help = "the third" },
]
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file beside an installed plugin, which is not imported."""
    name = f"acme_{tmp_path.name}"
    files = {f"{name}/__init__.py": "raise SystemExit('imported')", f"{name}/{FACTS_FILE}": FACTS}
    make_distribution(tmp_path, "acme", "1", {"pegboard.plugins": {"acme": f"{name}:Acme"}}, files)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "hostconfig.toml"


def test_options_of_a_named_plugin_set_its_keys(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text("[plugins.acme]\n")
    command = ["--config", str(config), "serve"]
    options = vars(parse([*command, "--acme-size", "9", "--acme-fast", "--port", "80"]))
    assert (options["plugins.acme.size"], options["plugins.acme.speed"]) == (9, "fast")
    assert (options["plugins.http.port"], "plugins.acme.port" in options) == (80, False)
    assert [vars(parse([*command, name, "7"]))["plugins.acme.size"] for name in ("-s", "--wide")] == [7, 7]
    with pytest.raises(SystemExit):
        parse([*command, "--help"])
    assert "--acme-size SIZE" in (shown := capsys.readouterr().out)
    assert "size ([plugins.acme] size)" in shown


@pytest.mark.needs("tool_commands")
def test_an_option_with_a_name_that_is_taken_does_not_take_the_place_of_a_command(config: Path) -> None:
    config.write_text("[plugins.acme]\n")
    options = parse(["--config", str(config), "list", "--no-wait", "-f"])
    assert (options.run, options.no_wait) == ("acme:first", True)


def test_options_of_a_plugin_that_nobody_names_are_unknown(config: Path) -> None:
    config.write_text("[plugins.cache]\n")
    with pytest.raises(UsageError, match="unknown option '--acme-size'"):
        parse(["--config", str(config), "serve", "--acme-size", "9"])
