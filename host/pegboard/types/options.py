"""The options of `Toolkit`'s decorators, for type checkers.

The lists in docs/tools.md are generated from here: the meaning of each option, and an example in its last line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from pegboard.plugin.definitions import CompletionSource
    from pegboard.plugin.error_adapters import ErrorAdapter
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.catalogue import ToolAnnotations
    from pegboard.types.content import Annotations, Icon
    from pegboard.types.metadata import ResourceUi, ToolMetadata, ToolUi
    from pegboard.types.parameters import ArgumentChange


class CommonOptions(TypedDict, total=False):
    """The options that tools, resources and prompts share.

    Attributes:
        name: the last part of the name; the function's name when left out.
            `name="roll_dice"`
        title: a name for people.
            `title="Roll some dice"`
        description: replaces the docstring.
            `description="Rolls dice and returns the result of each."`
        meta: the `_meta` for clients.
            `meta={"com.example/team": "games"}`
        icons: icons that clients may show.
            `icons=[Icon("https://example.com/dice.png", mime_type="image/png")]`
        tags: labels by which configuration and clients select items.
            `tags=["games"]`
    """

    name: str | None
    title: str | None
    description: str | None
    meta: Mapping[str, Any] | None
    icons: Sequence[Icon]
    tags: Sequence[str]


class ToolOptions(CommonOptions, total=False):
    """The options of `@kit.tool`.

    Attributes:
        annotations: hints about its behaviour, for clients.
            `annotations=ToolAnnotations(read_only=True)`
        metadata: the services that the tool uses, its effects, and extras.
            `metadata=ToolMetadata(behavior=Behavior(["read"], read_only=True))`
        version: its own version, if it differs from its toolkit's.
            `version="1.4.0"`
        requires_auth: the provider of the token that it needs, and the token's scopes.
            `requires_auth=GitHub(scopes=["repo"])`
        scopes: scopes that the caller's own token must have. The operator needs none.
            `scopes=["dice"]`
        requires_secrets: names of the secrets that it may read with `context.get_secret`.
            `requires_secrets=["DICE_KEY"]`
        requires_metadata: metadata that it reads with `context.get_metadata`: `user_id`, or a key of `[host] metadata`.
            `requires_metadata=["user_email"]`
        strict: True to require arguments of exactly the types of the schema.
            `strict=True`
        inline: True for a sync function that never blocks; it runs on the event loop without a thread.
            `inline=True`
        timeout: the time limit of a call in seconds, 0 for none; `[host] tool_timeout` when left out.
            `timeout=30`
        task: "optional" or "required": clients that support [tasks](tasks.md) run it as a task.
            `task="optional"`
        task_timeout: the time limit of a task in seconds, 0 for none; one hour when left out.
            `task_timeout=600`
        task_asks: names of the questions that it asks before the task begins.
            `task_asks=["confirm"]`
        max_result: the maximum size of the result in bytes of JSON, 0 for no limit; `[host] max_result_bytes` when left
            out.
            `max_result=100_000`
        input_schema: [JSON Schema](schemas.md) of the arguments instead of the types.
            `input_schema={"type": "object", "properties": {"sides": {"type": "integer"}}}`
        output_schema: JSON Schema of the result.
            `output_schema={"type": "array", "items": {"type": "integer"}}`
        ui: the `ui://` resource in which clients show its results, or a `ToolUi` (MCP Apps).
            `ui="ui://dice/table.html"`
        extensions: values for other extensions of the protocol, by their identifiers.
            `extensions={"com.example/audit": {"level": 2}}`
        adapters: its own error adapters, asked before all others about exceptions of the tool.
            `adapters=[DiceErrors()]`
        enabled: a function of `context.config`; the tool is served only if it returns True.
            `enabled=lambda config: config.write`
        deprecated: what to use instead.
            `deprecated="use throw_dice instead"`
        arguments: changes of single arguments, by name: fixed values, other names and descriptions.
            `arguments={"sides": ArgumentChange(value=20)}`
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
    task: Literal["optional", "required"] | None
    task_timeout: float
    task_asks: Sequence[str]
    max_result: int | None
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    ui: str | ToolUi | None
    extensions: Mapping[str, Any]
    adapters: Sequence[ErrorAdapter]
    enabled: Callable[[Any], bool] | None
    deprecated: str | None
    arguments: Mapping[str, ArgumentChange]


class ResourceOptions(CommonOptions, total=False):
    """The options of `@kit.resource`, in addition to the URI.

    Attributes:
        mime_type: the media type. When left out, an extension may define it, as for `ui://`; else the type of the
            returned value decides.
            `mime_type="text/markdown"`
        annotations: its audience and priority.
            `annotations=Annotations(audience=["user"], priority=0.5)`
        size: the size of its content, in bytes.
            `size=4096`
        max_result: the maximum size of its content in bytes, 0 for no limit; `[host] max_result_bytes` when left out.
            `max_result=100_000`
        completions: by variable of a template, its values, or a function as in `Toolkit.completion`.
            `completions={"game": ["chess", "go"]}`
        ui: the requirements of an interface for its frame (MCP Apps, `ui://` only).
            `ui=ResourceUi(connect_domains=["https://api.example.com"])`
        extensions: values for other extensions of the protocol, by their identifiers.
            `extensions={"com.example/audit": {"level": 2}}`
    """

    mime_type: str | None
    annotations: Annotations | None
    size: int | None
    max_result: int | None
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
