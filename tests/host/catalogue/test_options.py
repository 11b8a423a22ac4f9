"""Invalid options and icons. The message names the definition, its place and the option."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.errors import ConfigError
from pegboard.plugin import PluginError
from tests.host.hosting import make_host, work
from tools.reference import options

LABELS = {"ToolOptions": "tool 'work'", "ResourceOptions": "resource 'x://work'", "PromptOptions": "prompt 'work'"}


def decorate(kit: Toolkit, kind: str, **option: Any) -> None:
    decorators: dict[str, Any] = {
        "ToolOptions": kit.tool,
        "PromptOptions": kit.prompt,
        "ResourceOptions": partial(kit.resource, "x://work"),
    }
    decorators[kind](**option)(work)


@pytest.mark.parametrize("kind", LABELS)
def test_an_invalid_value_disables_only_its_definition(kind: str) -> None:
    for name in (option.name for option in options(kind) if option.name != "ui"):  # an extension checks that option
        kit = Toolkit("x")
        decorate(kit, kind, **{name: [object()]})
        kit.tool(name="sound")(work)
        assembly = make_host(kit).load()
        assert [*assembly.tools, *assembly.resources, *assembly.prompts] == ["x_sound"]
        (problem,) = assembly.problems
        place = f"{LABELS[kind]} ({work.__code__.co_filename}:{work.__code__.co_firstlineno}): "
        _, separator, complaint = str(problem).partition(place)
        assert separator, str(problem)
        assert re.search(name.rstrip("s").removeprefix("requires_"), complaint.replace(" ", "_"))


@pytest.mark.parametrize("name", ["requires_secrets", "scopes"])
@pytest.mark.parametrize("value", ["ONE", {"ONE"}])
def test_a_single_name_is_a_list_of_one(name: str, value: Any) -> None:
    kit = Toolkit("x")
    kit.tool(**{name: value})(work)
    (definition,) = kit.register_tools()
    assert getattr(definition, name) == ("ONE",)


async def test_the_description_of_a_toolkit_is_cleaned_and_must_be_visible() -> None:
    kit = Toolkit("kit", description="  Café:\n    all of it.\n")
    kit.tool(work)
    assert make_host(kit).load().tools["kit_work"].tool.owner_description == "Café:\nall of it."
    wrong: Any = 5
    for text, complaint in ((wrong, "must be a string, not int"), ("a\x1b[31m", r"has U\+001B .* at position 1")):
        with pytest.raises(PluginError, match=f"its description {complaint}"):
            await make_host(Toolkit("kit", description=text)).start()


MOON = {"src": "data:image/png;base64,AA==", "mime_type": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}


@pytest.mark.parametrize(
    ("icon", "why"),
    [
        ("file:///icon.png", "expected a src that begins with"),
        ({**MOON, "src": 5, "x": 1}, 'unknown member "x": use src, mime_type, sizes, theme'),
        ({**MOON, "theme": "blue"}, '"light" or "dark"'),
    ],
)
def test_an_invalid_icon_is_refused(icon: Any, why: str) -> None:
    with pytest.raises(ConfigError, match="icon 2: ") as caught:
        Host({"host": {"icons": ["https://x.example/i", icon]}})
    assert why in str(caught.value)
