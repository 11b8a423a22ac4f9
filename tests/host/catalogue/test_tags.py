"""Tags: what is served by `disabled_tags` and `enabled_tags`, and the reasons."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.plugin import PromptDefinition, ResourceDefinition
from tests.host.hosting import make_host, work


def make_kit() -> Toolkit:
    kit = Toolkit("kit")

    def named(name: str) -> str:
        return name

    kit.tool(name="plain")(work)
    kit.tool(name="both", tags=["b:Two", "one", "one"])(work)
    kit.resource("kit://one", tags="one")(work)
    kit.resource("kit://{name}", tags=("two",))(named)
    kit.prompt(name="one", tags=["one"])(work)
    return kit


def served(host: Host) -> list[str]:
    assembly = host.load()
    return [*assembly.tools, *assembly.resources, *assembly.prompts]


def test_tags_are_sorted_once_each() -> None:
    assembly = make_host(make_kit()).load()
    assert assembly.tools["kit_both"].tool.tags == ("b:Two", "one")
    assert [bound.item.tags for bound in assembly.resources.values()] == [("one",), ("two",)]
    assert assembly.prompts["kit_one"].item.tags == ("one",)
    assert assembly.tools["kit_plain"].tool.meta is None


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"disabled_tags": ["one"]}, ["kit_plain", "kit://{name}"]),
        ({"disabled_tags": ["b:*", "t?o"]}, ["kit_plain", "kit://one", "kit_one"]),
        ({"enabled_tags": ["*two", "*Two"]}, ["kit_both", "kit://{name}"]),
        ({"enabled_tags": ["one"], "disabled_tags": ["b:Two"]}, ["kit://one", "kit_one"]),
    ],
)
def test_filters_select_tools_resources_and_prompts(filters: dict[str, Any], left: list[str]) -> None:
    host = make_host(make_kit(), **filters)
    assert served(host) == left
    assert host.problems == ()
    everything = {*served(make_host(make_kit()))}
    assert {item.name for item in host.assembly.unserved} == everything - {*left}
    assert all(any(name in item.reason for name in filters) for item in host.assembly.unserved)


@pytest.mark.parametrize("kind", ["resources", "prompts"])
async def test_a_filtered_item_can_be_updated_and_removed_at_run_time(kind: Any) -> None:
    made: Any = ResourceDefinition("x://one", work) if kind == "resources" else PromptDefinition(work)
    async with make_host(disabled_tags=["off"]) as host:
        (name,) = host.catalogue.add(made)
        host.catalogue.update(made._replace(tags=["off"]))
        assert [item[:2] for item in host.assembly.unserved] == [(kind, name)]
        assert not getattr(host.assembly, kind)
        host.catalogue.remove(kind, name)
        assert host.assembly.unserved == ()
