"""`[plugins.tool_packages]` serves the toolkits of named distributions, with or without entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegboard import Host
from pegboard.plugin import PluginError
from tests.support.distributions import make_distribution

pytestmark = pytest.mark.needs("arcade_toolkits")
KIT = (
    "from pegboard import Toolkit\nkit = Toolkit('kit')\n@kit.tool\ndef say() -> str:\n    '''Say.'''\n    return ''\n"
)
TOOL = "from pegboard_plugins.compat.arcade import tool\n@tool\ndef {name}() -> str:\n    '''Say.'''\n    return ''\n"
TRAP = "raise SystemExit('this module was imported')\n"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the module path with three distributions."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    entry = {"pegboard.toolkits": {"spoken": "acme_speech:kit"}}
    make_distribution(tmp_path, "toolkit-speech", "2", entry, {"acme_speech.py": KIT})
    packaged = {
        "arcade_words/__init__.py": "", "arcade_words/tools/a.py": TOOL.format(name="up"),
        "arcade_words/tools/b.py": "from arcade_words.tools.a import up\n" + TOOL.format(name="down"),
        "arcade_words/helper.py": TRAP, "arcade_words/test_tools.py": TOOL.format(name="test") + TRAP,
    }  # fmt: skip
    make_distribution(tmp_path, "arcade_words", "1.5", {}, packaged)
    make_distribution(tmp_path, "empty", "1", {}, {"empty.py": "import pegboard\n"})
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def host_of(*names: str) -> Host:
    return Host({"host": {"autoload": False, "transports": []}, "plugins": {"tool_packages": {"names": names}}})


@pytest.mark.needs("auth", "compat")
@pytest.mark.parametrize(
    ("names", "served"),
    [
        (["speech"], {"spoken_say"}),
        (["Toolkit_Speech", "speech"], {"spoken_say"}),
        (["words"], {"words_up", "words_down"}),
        (["arcade-words", "speech"], {"words_up", "words_down", "spoken_say"}),
        ([], set()),
    ],
)
def test_distributions_are_found_by_their_names(names: list[str], served: set[str]) -> None:
    host = host_of(*names)
    assert set(host.load().tools) == served
    assert host.problems == ()
    sources = {str(plugin.origin) for plugin in host.report.plugins if plugin.origin.kind == "toolkit"}
    assert sources <= {"toolkit 'spoken' from toolkit-speech 2", "toolkit 'words' from arcade_words 1.5"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrods", "no distribution wrods or toolkit-wrods or arcade-wrods is installed"),
        ("", "no distribution"),
        ("empty", "the distribution empty defines no tools"),
    ],
)
async def test_a_distribution_without_tools_prevents_the_start(name: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        await host_of(name).start()
