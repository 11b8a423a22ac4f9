"""The rules of definition checks (`pegboard.plugin.DefinitionCheck`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial

from pegboard.plugin.definition_checks import CheckedDefinition, DefinitionCheck
from pegboard.types.catalogue import Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolAnnotations
from pegboard_testing.contracts.contract import Contract, rule, start_daemon

THREADS = 4

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_MOUNTED = {"name": "contract_mounted", "inputSchema": {"type": "object"}}
_ITEMS = (
    CheckedDefinition("tools", "contract_tool", Tool("contract_tool", "A tool.", _SCHEMA), "toolkit:contract"),
    CheckedDefinition("tools", "contract_bare", Tool("contract_bare", "", {}), "plugin:contract"),
    CheckedDefinition(
        "tools",
        "contract_mounted",
        Tool("contract_mounted", "", {"type": "object"}, annotations=ToolAnnotations(), raw=_MOUNTED),
        "plugin:upstreams/contract",
    ),
    CheckedDefinition("resources", "contract://a", Resource("contract://a", "a"), "toolkit:contract", "contract", "1"),
    CheckedDefinition("resources", "contract://{a}", ResourceTemplate("contract://{a}", "a"), "toolkit:contract"),
    CheckedDefinition("prompts", "contract_bare", Prompt("contract_bare"), "toolkit:contract"),
    CheckedDefinition(
        "prompts", "contract_prompt", Prompt("contract_prompt", arguments=(PromptArgument("a"),)), "toolkit:contract"
    ),
)
"""An item of each kind, with and without what its author may leave out."""


class DefinitionCheckContract(Contract[DefinitionCheck]):
    """The rules of a check of definitions."""

    @abstractmethod
    def rejected(self) -> Sequence[CheckedDefinition]:
        """Return definitions that the check rejects."""

    def accepted(self) -> Sequence[CheckedDefinition]:
        """Return definitions that the check accepts."""
        return ()

    @rule
    async def test_a_rejection_has_a_reason(self, check: DefinitionCheck) -> None:
        """The operator reads the reason in the log and in `pegboard why`."""
        for definition in self.rejected():
            reason = check.rejection(definition)
            assert reason is not None, f"it accepts {definition.name}"
            assert reason.strip(), f"the reason for {definition.name} is empty"
            assert "\n" not in reason, f"the reason for {definition.name} has several lines"

    @rule
    async def test_an_accepted_definition_has_no_reason(self, check: DefinitionCheck) -> None:
        """None alone means that the host serves the item."""
        for definition in self.accepted():
            reason = check.rejection(definition)
            assert reason is None, f"it rejects {definition.name}: {reason!r}"

    @rule
    async def test_every_kind_of_item_has_a_result(self, check: DefinitionCheck) -> None:
        """Tools, resources, templates and prompts are checked, and those of mounted servers. A fault hides an item."""
        for definition in self._definitions():
            reason = check.rejection(definition)
            assert isinstance(reason, str | None), f"for {definition.name} of {definition.kind} it returned {reason!r}"

    @rule
    async def test_the_result_depends_on_the_definition_alone(self, check: DefinitionCheck) -> None:
        """The host checks an item again after each change, in any order."""
        definitions = [*self._definitions()]
        forwards = _rejections(check, definitions)
        backwards = _rejections(check, definitions[::-1])[::-1]
        for definition, first, second in zip(definitions, forwards, backwards, strict=True):
            assert first == second, f"for {definition.name} it returned {first!r}, then {second!r}"

    @rule
    def test_it_runs_in_any_thread(self, check: DefinitionCheck) -> None:
        """Plugins change their items in any thread, also several at once."""
        definitions = [*self._definitions()]
        here = _rejections(check, definitions)
        elsewhere = [start_daemon(partial(_rejections, check, definitions)) for _ in range(THREADS)]
        for rejections in elsewhere:
            assert rejections.result() == here, "in another thread it has other results"

    @rule
    async def test_its_files_are_paths(self, check: DefinitionCheck) -> None:
        """A reload loads the plugin again if one of the files has changed."""
        _rejections(check, self._definitions())
        files = check.files_read
        assert not isinstance(files, str), f"files_read is the string {files!r}, not a sequence of paths"
        assert all(isinstance(file, str) for file in files), f"files_read is {files!r}: write paths as strings"

    def _definitions(self) -> Iterable[CheckedDefinition]:
        return (*_ITEMS, *self.rejected(), *self.accepted())


def _rejections(check: DefinitionCheck, definitions: Iterable[CheckedDefinition]) -> list[str | None]:
    return [check.rejection(definition) for definition in definitions]
