"""The page about what changes while the host runs: its code is run, its table holds what there is."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from pegboard import Host, ResourceResult, ToolResult
from pegboard.plugin import Catalogue
from pegboard.types import Call, Failure, Listing
from tests.docs.pages import Page
from tests.support.environments import run

PAGE = Page("docs/dynamic-tools.md")


def test_the_program_runs_and_hears_of_its_changes(tmp_path: Path) -> None:
    PAGE.write(tmp_path)
    said = run(sys.executable, tmp_path / "changing.py", cwd=tmp_path)
    assert "Good evening" in said
    assert said.endswith("3 changes\n")


async def test_a_note_is_a_resource_until_it_is_forgotten() -> None:
    settings = {"host": {"autoload": False, "disabled_plugins": ["pegboard:*"]}}
    async with Host(settings, plugins={"notes": PAGE.module("notes.py").NotesPlugin}) as host:
        note = {"title": "To do: all", "text": "Everything."}
        written = await host.dispatch(Call("tools/call", {"name": "write_note", "arguments": note}))
        assert written == ToolResult("note:///To%20do%3A%20all")
        uri = {"uri": written.value}
        read = await host.dispatch(Call("resources/read", uri))
        assert isinstance(read, ResourceResult)
        assert "Everything." in str(read)
        await host.dispatch(Call("tools/call", {"name": "forget_note", "arguments": uri}))
        assert isinstance(await host.dispatch(Call("resources/read", uri)), Failure)
        listing = await host.dispatch(Call("resources/list", {}))
        assert isinstance(listing, Listing)
        assert listing.items == ()


def test_the_table_has_every_method_and_its_parameters() -> None:
    shown = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE, re.M))
    public = {
        name: one for name, one in vars(Catalogue).items() if not name.startswith("_") and inspect.isfunction(one)
    }
    assert shown == {
        name: ", ".join(str(one).partition(":")[0] for one in list(inspect.signature(method).parameters.values())[1:])
        for name, method in public.items()
    }
