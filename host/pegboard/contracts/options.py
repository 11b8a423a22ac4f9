"""What authors can say of a tool, a resource or a prompt: the options of `Toolkit`'s decorators, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from pegboard.contracts.apps import ResourceUi, ToolUi
    from pegboard.contracts.catalogue import ToolAnnotations
    from pegboard.contracts.content import Annotations, Icon
    from pegboard.contracts.metadata import ToolMetadata
    from pegboard.contracts.plugins import Completer, ErrorAdapter


class Options(TypedDict, total=False):
    """What can be said of all three.

    Attributes:
        name: the last part of its name; the function's name when left out.
        title: a name for people.
        description: replaces the docstring.
        meta: its `_meta`, with keys such as "com.example/team".
        icons: pictures that clients may show.
    """

    name: str | None
    title: str | None
    description: str | None
    meta: Mapping[str, Any] | None
    icons: Sequence[Icon]


class ToolOptions(Options, total=False):
    """The options of `@kit.tool`.

    Attributes:
        annotations: hints about its behaviour.
        metadata: what kind of tool it is: the services it works on, what it does there, and extras of your own. The
            hints that `annotations` leaves out come from here.
        requires_secrets: names of the secrets it may read with `context.get_secret`.
        inline: a sync function that never blocks, run on the event loop without a thread.
        input_schema: JSON Schema of the arguments in place of the types, listed as it is (2020-12, or draft-07 by
            `$schema`). The function takes them by name, as `**arguments`, or as one dict.
        output_schema: JSON Schema of the result, likewise.
        ui: the `ui://` resource in which clients show its results, or more about its interface (MCP Apps).
        extensions: what it says for other extensions of the protocol, by their identifiers.
        adapters: error adapters of its own, asked before all others about what it raises.
        enabled: given `context.config`, says whether the tool is offered at all.
    """

    annotations: ToolAnnotations | None
    metadata: ToolMetadata | None
    requires_secrets: Sequence[str]
    inline: bool
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    ui: str | ToolUi | None
    extensions: Mapping[str, Any]
    adapters: Sequence[ErrorAdapter]
    enabled: Callable[[Any], bool] | None


class ResourceOptions(Options, total=False):
    """The options of `@kit.resource`, beside the URI.

    Attributes:
        mime_type: that of interfaces for `ui://`, else by what the function gives, when left out.
        annotations: for whom it is and how much it matters.
        size: of its content, in bytes.
        completions: by variable of a template, its values, or a function as in `Toolkit.completion`.
        ui: what an interface needs of the frame it is shown in (MCP Apps, `ui://` alone).
        extensions: what it says for other extensions of the protocol, by their identifiers.
    """

    mime_type: str | None
    annotations: Annotations | None
    size: int | None
    completions: Mapping[str, Completer]
    ui: ResourceUi | None
    extensions: Mapping[str, Any]


class PromptOptions(Options, total=False):
    """The options of `@kit.prompt`.

    Attributes:
        completions: by argument, its values, or a function as in `Toolkit.completion`.
    """

    completions: Mapping[str, Completer]
