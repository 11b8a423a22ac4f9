"""What authors can say of a tool, a resource or a prompt: the options of `Toolkit`'s decorators, for type checkers.

The tables in docs/tools.md are written from here: each option's meaning, and in its last line an example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from pegboard.plugin.definitions import CompletionSource
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.catalogue import ToolAnnotations
    from pegboard.types.content import Annotations, Icon
    from pegboard.types.metadata import ToolMetadata
    from pegboard.types.ui import ResourceUi, ToolUi


class CommonOptions(TypedDict, total=False):
    """What can be said of all three.

    Attributes:
        name: the last part of its name; the function's name when left out.
            `name="roll_dice"`
        title: a name for people.
            `title="Roll some dice"`
        description: replaces the docstring.
            `description="Rolls dice and gives what each shows."`
        meta: its `_meta`, for clients: keys of your own, or of a vendor.
            `meta={"com.example/team": "games"}`
        icons: pictures that clients may show.
            `icons=[Icon("https://example.com/dice.png", mime_type="image/png")]`
    """

    name: str | None
    title: str | None
    description: str | None
    meta: Mapping[str, Any] | None
    icons: Sequence[Icon]


class ToolOptions(CommonOptions, total=False):
    """The options of `@kit.tool`.

    Attributes:
        annotations: hints about its behaviour, for clients.
            `annotations=ToolAnnotations(read_only=True)`
        metadata: what kind of tool it is: the services it works on, what it does there, and extras of your own. The
            hints that `annotations` leaves out come from here.
            `metadata=ToolMetadata(behavior=Behavior(["read"], read_only=True))`
        version: its own, where it is another than its toolkit's.
            `version="1.4.0"`
        requires_auth: whose token it needs, and what that must allow.
            `requires_auth=GitHub(scopes=["repo"])`
        scopes: what the caller's own token must allow, where the caller is not this machine's user.
            `scopes=["dice"]`
        requires_secrets: names of the secrets it may read with `context.get_secret`.
            `requires_secrets=["DICE_KEY"]`
        requires_metadata: what it must know of its user and surroundings, read with `context.get_metadata`: `user_id`,
            or a key of `[host] metadata`.
            `requires_metadata=["user_email"]`
        strict: arguments have to be of the very types that the signature says; nothing is converted.
            `strict=True`
        inline: a sync function that never blocks, run on the event loop without a thread.
            `inline=True`
        timeout: for how many seconds a call may run, 0 for as long as it likes; `[host] tool_timeout` when left out.
            What is inline cannot have one.
            `timeout=30`
        max_result: the largest result, in bytes of JSON, 0 for any; `[host] max_result_bytes` when left out.
            `max_result=100_000`
        input_schema: JSON Schema of the arguments in place of the types, listed as it is (2020-12, or draft-07 by
            `$schema`). The function takes them by name, as `**arguments`, or as one dict.
            `input_schema={"type": "object", "properties": {"sides": {"type": "integer"}}}`
        output_schema: JSON Schema of the result, likewise.
            `output_schema={"type": "array", "items": {"type": "integer"}}`
        ui: the `ui://` resource in which clients show its results, or more about its interface (MCP Apps).
            `ui="ui://dice/table.html"`
        extensions: what it says for other extensions of the protocol, by their identifiers.
            `extensions={"com.example/audit": {"level": 2}}`
        adapters: error adapters of its own, asked before all others about what it raises.
            `adapters=[DiceErrors()]`
        enabled: given `context.config`, says whether the tool is offered at all.
            `enabled=lambda config: config.write`
        deprecated: what to use instead. Clients read it before the description, and whoever calls the tool is told.
            `deprecated="use throw_dice instead"`
    """

    annotations: ToolAnnotations | None
    metadata: ToolMetadata | None
    version: str | None
    requires_auth: ToolAuthorization | None
    scopes: Sequence[str]
    requires_secrets: Sequence[str]
    requires_metadata: Sequence[str]
    strict: bool
    inline: bool
    timeout: float | None
    max_result: int | None
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    ui: str | ToolUi | None
    extensions: Mapping[str, Any]
    adapters: Sequence[ErrorAdapter]
    enabled: Callable[[Any], bool] | None
    deprecated: str | None


class ResourceOptions(CommonOptions, total=False):
    """The options of `@kit.resource`, beside the URI.

    Attributes:
        mime_type: that of interfaces for `ui://`, else by what the function gives, when left out.
            `mime_type="text/markdown"`
        annotations: for whom it is and how much it matters.
            `annotations=Annotations(audience=["user"], priority=0.5)`
        size: of its content, in bytes.
            `size=4096`
        completions: by variable of a template, its values, or a function as in `Toolkit.completion`.
            `completions={"game": ["chess", "go"]}`
        ui: what an interface needs of the frame it is shown in (MCP Apps, `ui://` alone).
            `ui=ResourceUi(connect_domains=["https://api.example.com"])`
        extensions: what it says for other extensions of the protocol, by their identifiers.
            `extensions={"com.example/audit": {"level": 2}}`
    """

    mime_type: str | None
    annotations: Annotations | None
    size: int | None
    completions: Mapping[str, CompletionSource]
    ui: ResourceUi | None
    extensions: Mapping[str, Any]


class PromptOptions(CommonOptions, total=False):
    """The options of `@kit.prompt`.

    Attributes:
        completions: by argument, its values, or a function as in `Toolkit.completion`.
            `completions={"game": ["chess", "go"]}`
    """

    completions: Mapping[str, CompletionSource]
