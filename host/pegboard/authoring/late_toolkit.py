"""`LateToolkit`: a toolkit that is served by its definitions before the host imports it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.plugin.definition_checks import CheckedDefinition
from pegboard.plugin.definitions import KINDS, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.catalogue import ItemKind

Rejections: TypeAlias = Mapping[tuple[ItemKind, str], str]
"""The reasons why items are not served, by kind and name on the wire."""


class LateToolkit(ToolkitBase):
    """A toolkit that a `ToolkitLoader` returns to import it later. Until then the host lists its definitions.

    Args:
        name: the name of the toolkit.
        definitions: the definitions under their names on the wire, with `raw`. Their functions are not called if the
            loader imports the toolkit before each call.
        rejection: a function that receives each item of the imported toolkit. It returns the reason why the host must
            not serve the item, or None.
        settings_schema: the JSON Schema of the toolkit's settings; None if the toolkit has no settings. An empty schema
            accepts all settings.
        description: the description of the toolkit.
        version: the version of the toolkit.

    Attributes:
        finish: a function that imports the toolkit, serves its items in place of the definitions, and returns the
            rejected ones. It blocks: call it in a thread, once at a time. If the toolkit fails, it raises
            `PluginError` and may be called again. The host sets it while it serves the definitions. Otherwise it is
            None.
    """

    finish: Callable[[], Rejections] | None = None

    def __init__(
        self,
        name: str,
        definitions: Iterable[ToolDefinition | ResourceDefinition | PromptDefinition],
        rejection: Callable[[CheckedDefinition], str | None],
        *,
        settings_schema: Mapping[str, Any] | None = None,
        description: str | None = None,
        version: str | None = None,
    ) -> None:
        super().__init__(name, description=description, version=version, prefix=False)
        self.rejection = rejection
        self.settings_schema = settings_schema
        by_kind: dict[ItemKind, list[Any]] = {
            "tools": self._tools,
            "resources": self._resources,
            "prompts": self._prompts,
        }
        for definition in definitions:
            by_kind[KINDS[type(definition)]].append(definition)
