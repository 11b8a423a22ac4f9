"""What an author gets wrong costs that definition alone: rule 4 of the design's section 3, E-9, clients.md 20."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support import clumsy_kit
from tests.support.pool import CONFIG, make_site
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRONG = [name for name in vars(clumsy_kit) if re.match(r"(tool|resource|prompt)_(?!sound)", name)]


@dataclass(frozen=True)
class Served:
    """What came of the toolkit, and what the operator was told."""

    tools: list[dict[str, Any]]
    resources: list[dict[str, Any]]
    prompts: list[dict[str, Any]]
    told: str


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A host with the clumsy toolkit; that its lists fit the schemas is the recorder's to see."""
    site: Path = make_site(tmp_path_factory.mktemp("clumsy"), {"clumsy": clumsy_kit})
    async with Wire(config=CONFIG, site=site) as wire:
        await wire.initialize()
        tools, resources, prompts = [
            (await wire.result(f"{kind}/list"))[kind] for kind in ("tools", "resources", "prompts")
        ]
        await wire.result("tools/list", modern=True)
        await wire.close()
        yield Served(tools, resources, prompts, wire.stderr)


async def test_what_is_sound_is_served(served: Served) -> None:
    assert "clumsy_sound" in [tool["name"] for tool in served.tools]
    assert "clumsy://sound" in [resource["uri"] for resource in served.resources]
    assert "clumsy_prompt_sound" in [prompt["name"] for prompt in served.prompts]


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_is_left_out_and_named(served: Served, name: str) -> None:
    """The operator finds the definition in one line: by its name or its place in the file."""
    listed = [*served.tools, *served.resources, *served.prompts]
    assert name not in [item["name"].removeprefix("clumsy_") for item in listed]
    place = f"{Path(clumsy_kit.__file__).name}:{getattr(clumsy_kit, name).__code__.co_firstlineno}"
    assert [line for line in served.told.splitlines() if re.search(rf"\b{name}\b", line) or place in line]


@pytest.mark.requirement("TOOL-01")
async def test_nothing_but_what_is_sound_is_served(served: Served) -> None:
    """What is no function at all has no name to look for."""
    assert [tool["name"] for tool in served.tools] == ["clumsy_sound"]
    assert [resource["uri"] for resource in served.resources] == ["clumsy://sound"]
    assert [prompt["name"] for prompt in served.prompts] == ["clumsy_prompt_sound"]
    assert "Traceback" not in served.told
