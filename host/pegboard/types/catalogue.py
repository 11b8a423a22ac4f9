"""What a host lists, as clients see it, and how it introduces itself."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pegboard.types.authorization import ToolRequirements
    from pegboard.types.content import Annotations, Icon
    from pegboard.types.metadata import ToolMetadata

ItemKind: TypeAlias = Literal["tools", "resources", "prompts"]
"""The three things a host lists."""


Gives: TypeAlias = Literal["text", "nothing", "anything"]
"""What a tool gives whose result has no schema."""


class Change(NamedTuple):
    """Something that a host serves is no longer what it was.

    Attributes:
        kind: the list that changed, or "resource" for the content of one resource.
        uri: which resource, where `kind` is "resource".
    """

    kind: Literal["tools", "resources", "prompts", "resource"]
    uri: str | None = None


class ToolAnnotations(NamedTuple):
    """Hints about a tool's behaviour (MCP ToolAnnotations); None leaves a hint out.

    Attributes:
        title: a name for people.
        read_only: the tool changes nothing.
        destructive: what it changes may be lost; meaningful when not read-only.
        idempotent: calling it again with the same arguments changes nothing more.
        open_world: it reaches beyond this host, to the web for example.
        extra: annotations of your own, such as `{"com.example/audited": True}`; JSON, under names that the protocol
            does not have.
    """

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    extra: Mapping[str, Any] = MappingProxyType({})


class Tool(NamedTuple):
    """A tool as clients see it.

    Attributes:
        name: its name on the wire, 1 to 64 characters of `[A-Za-z0-9_-]`.
        description: what it does, for the model.
        input_schema: JSON Schema with an object at its root; 2020-12, or draft-07 where `$schema` says so.
        output_schema: JSON Schema of the structured result, None when the result is text.
        title: a name for people.
        annotations: hints about its behaviour.
        owner: the plugin or toolkit that brought it.
        meta: its `_meta`, None for none.
        icons: pictures that clients may show.
        metadata: what kind of tool it is; hints and `_meta` say it, too.
        version: its own, else its toolkit's or plugin's; None when that has none.
        deprecated: what to use instead; None while it is not deprecated.
        own_name: the last part of its name, as its author gave it.
        gives: what its result is, where that has no schema.
        requires: what it requires beside its arguments, None for nothing.
        owner_description: what its toolkit says of the whole, None for nothing.
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
    metadata: "ToolMetadata | None" = None
    version: str | None = None
    deprecated: str | None = None
    own_name: str = ""
    gives: Gives = "anything"
    requires: "ToolRequirements | None" = None
    owner_description: str | None = None


class Resource(NamedTuple):
    """A resource as clients see it.

    Attributes:
        uri: absolute (RFC 3986).
        name: what it is called.
        title: a name for people.
        description: what it is, for the model.
        mime_type: its media type.
        owner: the plugin or toolkit that brought it.
        meta: its `_meta`, None for none.
        annotations: for whom it is and how much it matters.
        size: of its content, in bytes.
        icons: pictures that clients may show.
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


class ResourceTemplate(NamedTuple):
    """Resources as clients see them whose URIs a template makes (RFC 6570); the rest is as of a `Resource`."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    owner: str = ""
    meta: Mapping[str, Any] | None = None
    annotations: "Annotations | None" = None
    icons: "tuple[Icon, ...]" = ()


class PromptArgument(NamedTuple):
    """What a prompt may be given. On the wire every argument is a string."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class Prompt(NamedTuple):
    """A prompt as clients see it; `meta` is its `_meta`."""

    name: str
    title: str | None = None
    description: str | None = None
    owner: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    meta: Mapping[str, Any] | None = None
    icons: "tuple[Icon, ...]" = ()


class Inventory(NamedTuple):
    """All that a host serves, whoever may use it, as it is at one moment.

    Attributes:
        tools: by name on the wire.
        resources: by URI, and templates by their text.
        prompts: by name.
        methods: the methods of requests that middleware stands around.
        answering: the keys of those `resources` that may answer for a URI; none for a URI of nothing.
    """

    tools: Mapping[str, Tool]
    resources: Mapping[str, Resource | ResourceTemplate]
    prompts: Mapping[str, Prompt]
    methods: frozenset[str]
    answering: Callable[[str], Sequence[str]]


class Identity(NamedTuple):
    """How the host introduces itself (MCP Implementation, and instructions for the model)."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    description: str | None = None
    icons: "tuple[Icon, ...]" = ()
