"""Tools, resources and prompts as clients list them, and the identity of the host."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pegboard.plugin.definitions import ToolDefinition
    from pegboard.types.authorization import ToolRequirements
    from pegboard.types.content import Annotations, Icon

ItemKind: TypeAlias = Literal["tools", "resources", "prompts"]
"""The kinds of items that a host lists."""


class Change(NamedTuple):
    """A change of a list, or of one resource's content.

    Attributes:
        kind: the list that changed, or "resource" for the content of one resource.
        uri: the URI of the resource, if `kind` is "resource".
    """

    kind: Literal["tools", "resources", "prompts", "resource"]
    uri: str | None = None


class ToolAnnotations(NamedTuple):
    """Hints about a tool's behaviour (MCP ToolAnnotations). A hint that is None is not sent.

    Attributes:
        title: a name for people.
        read_only: the tool changes nothing.
        destructive: the tool may delete or overwrite data. Ignored if it is read-only.
        idempotent: a second call with the same arguments changes nothing more.
        open_world: the tool reaches beyond this host, to the web for example.
        extra: further annotations, such as `{"com.example/audited": True}`: JSON, under names that the protocol does
            not define.
    """

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    extra: Mapping[str, Any] = MappingProxyType({})


class ToolkitInfo(NamedTuple):
    """The toolkit of a definition, if it is not the plugin itself. Construct it by keyword.

    Attributes:
        name: the name of the toolkit.
        description: the description of the toolkit; None for none.
        version: the version of the toolkit; None if unknown.
        prefix: True if names of tools and prompts start with the toolkit's name, False if they are served unchanged.
    """

    name: str
    description: str | None = None
    version: str | None = None
    prefix: bool = True


class Tool(NamedTuple):
    """A tool as clients see it.

    Attributes:
        name: the name on the wire, 1 to 64 characters of `[A-Za-z0-9_-]`.
        description: the description for the model.
        input_schema: JSON Schema with an object at its root: 2020-12, or draft-07 if `$schema` says so.
        output_schema: JSON Schema of the structured result; None if the result is text.
        title: a name for people.
        annotations: hints about its behaviour.
        owner: the name of its plugin or toolkit.
        meta: its `_meta`; None for none.
        icons: icons that clients may show.
        version: the tool's version, or else the version of its toolkit or plugin; None if unknown.
        deprecated: a message that names the replacement; None if the tool is not deprecated.
        requires: its requirements in addition to its arguments; None for none. `authorization` is the required
            `ToolAuthorization` or None, `scopes` are those that the caller's own token must have, `secrets` the names
            of secrets, and `metadata` the keys of metadata.
        owner_description: the description of its toolkit; None for none.
        tags: its labels, sorted. `_meta` repeats them.
        definition: the author's definition with its name, for protocols that describe more than MCP; None if the tool
            has no definition.
        raw: the MCP object whose members protocols list unchanged, except for the members that the other fields and
            the revision define; None for none.
        place: the position among the items of its owner in lists; None for the order of names.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    title: str | None = None
    annotations: ToolAnnotations | None = None
    owner: str = ""
    meta: Mapping[str, Any] | None = None
    icons: "tuple[Icon, ...]" = ()
    version: str | None = None
    deprecated: str | None = None
    requires: "ToolRequirements | None" = None
    owner_description: str | None = None
    tags: tuple[str, ...] = ()
    definition: "ToolDefinition | None" = None
    raw: Mapping[str, Any] | None = None
    place: int | None = None


class Resource(NamedTuple):
    """A resource as clients see it.

    Attributes:
        uri: the absolute URI (RFC 3986).
        name: its name.
        title: a name for people.
        description: the description for the model.
        mime_type: its media type.
        owner: the name of its plugin or toolkit.
        meta: its `_meta`; None for none.
        annotations: its audience and priority.
        size: the size of its content, in bytes.
        icons: icons that clients may show.
        tags: its labels, sorted. `_meta` repeats them.
        raw, place: see `Tool`.
    """

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    owner: str = ""
    meta: Mapping[str, Any] | None = None
    annotations: "Annotations | None" = None
    size: int | None = None
    icons: "tuple[Icon, ...]" = ()
    tags: tuple[str, ...] = ()
    raw: Mapping[str, Any] | None = None
    place: int | None = None


class ResourceTemplate(NamedTuple):
    """Resources whose URIs follow a template (RFC 6570). The other fields are those of a `Resource`."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    owner: str = ""
    meta: Mapping[str, Any] | None = None
    annotations: "Annotations | None" = None
    icons: "tuple[Icon, ...]" = ()
    tags: tuple[str, ...] = ()
    raw: Mapping[str, Any] | None = None
    place: int | None = None


class PromptArgument(NamedTuple):
    """An argument of a prompt. On the wire every argument is a string."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class Prompt(NamedTuple):
    """A prompt as clients see it.

    `meta` is its `_meta`, `tags` are its labels, sorted, and `raw` and `place` are as in `Tool`.
    """

    name: str
    title: str | None = None
    description: str | None = None
    owner: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    meta: Mapping[str, Any] | None = None
    icons: "tuple[Icon, ...]" = ()
    tags: tuple[str, ...] = ()
    raw: Mapping[str, Any] | None = None
    place: int | None = None


class Inventory(NamedTuple):
    """All items that a host serves at one moment, for any caller.

    Attributes:
        tools: tools by name on the wire.
        resources: resources by URI, and templates by URI template.
        prompts: prompts by name.
        methods: the methods of requests that middleware runs around.
        answering: a function that returns the keys of `resources` that match a URI.
        is_complete: False if a plugin, a toolkit or a definition failed. A name that matches nothing may then be right.
    """

    tools: Mapping[str, Tool]
    resources: Mapping[str, Resource | ResourceTemplate]
    prompts: Mapping[str, Prompt]
    methods: frozenset[str]
    answering: Callable[[str], Sequence[str]]
    is_complete: bool = True


class Identity(NamedTuple):
    """The identity of the host (MCP Implementation), and instructions for the model."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    description: str | None = None
    icons: "tuple[Icon, ...]" = ()
