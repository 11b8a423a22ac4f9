"""The base class of plugin settings, the marks of settings, and the `[host]` section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

_T = TypeVar("_T")

MIN_KEY_CHARACTERS = 32
"""The minimum length of a key in `state_keys`."""


def _never(value: Any) -> bool:
    return False


class WidensAccess(NamedTuple):
    """Marks a setting that grants more access than its default.

    For example `write: Annotated[bool, WidensAccess("changes files")] = False`. Unless the setting has its default
    value, the host shows it when the host starts and before the user trusts a file.

    Attributes:
        access: the access that the setting grants, in a few words.
        unless: a function that receives the unvalidated value. It returns True if the value grants no additional
            access.
    """

    access: str
    unless: Callable[[Any], bool] = _never


class SharedKeys(NamedTuple):
    """The mark of a setting with secret keys, a tuple of `SecretStr`. Its default is `[host] state_keys`."""


class StoreName(NamedTuple):
    """The mark of a setting that names a store: `session_store: Annotated[str, StoreName(SessionStore)] = "memory"`.

    The host refuses a name that no running plugin offers. `ProtocolContext.store` returns the store of that name.
    `[host] state` is the default of the setting, if its plugin offers a store of the contract.

    Attributes:
        contract: the contract class that the store must implement.
        check: a function that raises `PluginError` if the given number of processes cannot serve with the settings,
            whichever store they name. Its arguments are the settings and the number. It is called as `Store.check`.
    """

    contract: type[Any]
    check: Callable[[Any, int], None] | None = None


def marked_fields(
    model: type[BaseModel], mark: type[_T], *, in_parts: bool = False
) -> Iterator[tuple[str, FieldInfo, _T]]:
    """Yield the name of each field that has a mark, the field and the mark.

    Args:
        model: the class of settings.
        mark: the class of the mark.
        in_parts: True to find also marks of parts of a type, such as that of `Marked` in `Marked | None`, and
            of types that aliases name (PEP 695).
    """
    for name, field in model.model_fields.items():
        for entry in (*field.metadata, *(_metadata_of_parts(field.annotation) if in_parts else ())):
            if isinstance(entry, mark):
                yield name, field, entry


def _metadata_of_parts(annotation: Any, outer: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield the metadata of the parts of a type.

    Args:
        annotation: the type.
        outer: the aliases in which it is. An alias may contain itself.
    """
    alias = get_origin(annotation) or annotation
    parts = get_args(annotation)
    if type(alias).__name__ == "TypeAliasType" and alias not in outer:  # of `typing` or `typing_extensions`
        parts, outer = (*parts, alias.__value__), (*outer, alias)
    for part in parts:
        yield from getattr(part, "__metadata__", ())
        yield from _metadata_of_parts(part, outer)


class PluginConfig(BaseModel):
    """The base class for settings of a plugin or toolkit. Unknown keys are errors. Settings are immutable."""

    # type checkers reject `frozen` as a keyword of the class: subclasses would have to repeat it
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @staticmethod
    def folder_of(info: ValidationInfo) -> Path:
        """Return the base folder of relative paths in a field. For use in a field validator.

        The base is the folder of the configuration file. If the value comes from the environment or the command line,
        or if no file was read, the base is the working directory.
        """
        context = info.context or {}
        folder: Path = context.get("folders", {}).get(info.field_name, context.get("directory", Path()))
        return folder


class ToolkitRights(PluginConfig):
    """The `[host.toolkits.NAME]` section: limits of one toolkit.

    Attributes:
        secrets: names or globs of the secrets that the toolkit may receive. None allows all secrets that its tools
            require.
        providers: names or globs of the providers whose tokens the toolkit may receive. None allows all tokens that its
            tools require.
    """

    secrets: tuple[str, ...] | None = None
    providers: tuple[str, ...] | None = None


class HostSection(PluginConfig):
    """The `[host]` section.

    Attributes:
        name: the name of the server, as clients see it.
        version: the version of the server; by default that of pegboard.
        title: a name for people.
        description: one sentence about the server, for people.
        instructions: instructions about the whole server, which clients may pass to the model.
        website_url: a page about the server, http or https.
        icons: icons of the server, such as `["https://example.com/icon.png"]`. Each is a URL (https, http or data), or
            a table with `src`, `mime_type`, `sizes` such as `["48x48"]`, and `theme` ("light" or "dark").
        transports: names of the transports to run. This list and the next four lists enable the plugins that they
            name.
        middleware: names of middleware, outermost first. Other middleware runs inside it.
        error_adapters: names of plugins whose error adapters are tried first, in this order. Adapters with `fallback`
            are tried last.
        token_sources: names of plugins whose token sources are called first, in this order. `static_tokens` is enabled
            by default: the token of github is the secret GITHUB_TOKEN.
        token_seconds: the time limit of one token source for one call.
        secret_stores: names of plugins whose secret stores are read first, in this order; those of other plugins
            follow. The list replaces the default. `secrets_keyring` is another built-in store.
        plugins: names, or `distribution:name`, of more plugins to enable. Default plugins, and plugins with a section
            or in another list, need no entry.
        disabled_plugins: names, globs or `distribution:name` of plugins that are not imported.
        disabled_toolkits: names, globs or `distribution:name` of disabled toolkits.
        disabled_tools: names or globs of disabled tools, in any spelling: "github_delete_*", "Github::DeleteFile",
            "Github.DeleteFile" or "GITHUB_DELETE_FILE".
        disabled_tags: tags, or globs of tags, of disabled tools, resources and prompts.
        enabled_tags: tags, or globs of tags. If set, tools, resources and prompts without any of these tags are
            disabled.
        tools: changes of tools, by name in any spelling: `[host.tools.github_search]` with `name` (the last part of
            the name), `title`, `description`, `tags` and `arguments`. Each argument is a table with `name`,
            `description`, `value` (a fixed value that clients cannot see) or `hidden = true`.
        required: names of plugins and toolkits without which the host does not start; `distribution:name` selects one
            of several plugins with the same name.
        toolkits: limits of toolkits, by name: `[host.toolkits.weather]` with `secrets = ["WEATHER_*"]` and `providers =
            ["github"]`, the secrets and the providers of tokens that the toolkit may receive. A tool that requires
            others is not served.
        autoload: True to enable installed toolkits that the configuration does not name. With False, a toolkit needs a
            section `[toolkits.NAME]`, or an entry in `required`.
        missing_secrets: the effect of a missing secret: "warn" logs a warning and serves the tool, but does not list it
            over stdio, "hide" does not serve the tool, "fail" prevents the start of the host.
        tool_names: the form of tool names on the wire, `github_list_issues` or `Github_ListIssues`.
        schema_references: "inline" replaces references in the schemas of types by definitions, for clients that do not
            read `$ref`. Recursive definitions, schemas by authors, and schemas that would more than double in size keep
            their references. "keep" keeps all.
        page_size: the number of items in one page of a list, 1 to 10,000.
        max_result_bytes: the maximum size of a result of a tool, in bytes of JSON, and of the content of a resource; 0
            for no limit. A larger result becomes an error. The `max_result` of a tool takes precedence.
        tool_timeout: the time limit in seconds for the function of a tool, resource, prompt or completion; 0 for no
            limit. The time that the client takes to answer does not count. The `timeout` of a tool takes precedence.
        threads: the number of synchronous tools that may run at once, 1 to 1,000.
        blocked_loop_seconds: the time after which code that blocks the event loop is logged, such as a sync call in an
            async tool; 0 for never.
        grace_seconds: the time that running calls have to finish, and clients to read the responses, when `pegboard
            serve` stops.
        log_level: the least severe level that servers log: "debug", "info", "warning" or "error". Other commands log
            nothing below "warning".
        reload: True to reload toolkits and settings when their files change.
        state: the plugin whose stores several processes share, such as "redis": the default of every setting that names
            a store.
        state_keys: the keys that encrypt data in stores outside of the process, and messages between processes. `state`
            requires them. They are the default of the keys of plugins. The first key encrypts, all decrypt. All
            processes need the same keys. A key has at least 32 random characters, such as the output of `openssl rand
            -base64 32`.
        user: the user id for tools if the caller is not authenticated.
        metadata: metadata for tools that require it, the same for all callers: `user_email = "me@example.com"`.
            Metadata in a request to the worker takes precedence.
    """

    name: str = Field("pegboard", min_length=1)
    version: str | None = Field(None, min_length=1)
    title: str | None = None
    description: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    icons: tuple[Any, ...] = ()
    transports: tuple[str, ...] = ()
    middleware: tuple[str, ...] = ()
    error_adapters: tuple[str, ...] = ()
    token_sources: tuple[str, ...] = ()
    token_seconds: float = Field(10, gt=0, le=600)
    secret_stores: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    disabled_plugins: Annotated[
        tuple[str, ...], WidensAccess("turns off these plugins, with any checks that they make")
    ] = ()
    disabled_toolkits: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()
    disabled_tags: tuple[str, ...] = ()
    enabled_tags: tuple[str, ...] = ()
    tools: dict[str, Any] = Field({})
    required: tuple[str, ...] = ()
    toolkits: dict[str, ToolkitRights] = Field({})
    autoload: bool = True
    missing_secrets: Literal["warn", "hide", "fail"] = "warn"
    tool_names: Literal["snake", "pascal"] = "snake"
    schema_references: Literal["inline", "keep"] = "inline"
    page_size: int = Field(1000, ge=1, le=10_000)
    max_result_bytes: int = Field(10 * 1024 * 1024, ge=0)
    tool_timeout: float = Field(600, ge=0, le=7 * 24 * 3600)
    threads: int = Field(40, ge=1, le=1000)
    blocked_loop_seconds: float = Field(1, ge=0, le=3600)
    grace_seconds: float = Field(10, ge=0, le=3600)
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    reload: bool = False
    state: str | None = None
    state_keys: tuple[SecretStr, ...] = ()
    user: str | None = None
    metadata: dict[str, str] = Field({})

    @field_validator("state_keys")
    @classmethod
    def _are_long(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(key.get_secret_value()) < MIN_KEY_CHARACTERS for key in keys):
            raise ValueError(
                f"a key is shorter than {MIN_KEY_CHARACTERS} characters: create one with `openssl rand -base64 32`"
            )
        return keys

    @field_validator("website_url")
    @classmethod
    def _is_web_address(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("https://", "http://")):
            raise ValueError("expected an address that begins with https:// or http://")
        return url

    @field_validator("icons")
    @classmethod
    def _are_pictures(cls, icons: tuple[Any, ...]) -> tuple[Any, ...]:
        for place, icon in enumerate(icons, 1):
            if complaint := _complaint_of_icon({"src": icon} if isinstance(icon, str) else icon):
                raise ValueError(f"icon {place}: {complaint}")
        return icons

    @field_validator("transports", "middleware", "error_adapters", "token_sources", "secret_stores")
    @classmethod
    def _names_each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for place, name in enumerate(names):
            if name in names[:place]:
                raise ValueError(f'"{name}" is named twice: remove one')
        return names


def _complaint_of_icon(icon: Any) -> str | None:
    members = ("src", "mime_type", "sizes", "theme")
    if not isinstance(icon, dict):
        return "expected an address or a table"
    if unknown := sorted(icon.keys() - set(members)):
        return f'unknown member "{unknown[0]}": use {", ".join(members)}'
    if not str(icon.get("src")).startswith(("https://", "http://", "data:")):
        return "expected a src that begins with https://, http:// or data:"
    sizes = icon.get("sizes", [])
    if not isinstance(sizes, list) or not all(isinstance(size, str) for size in sizes):
        return 'expected sizes such as ["48x48"]'
    if not isinstance(icon.get("mime_type", ""), str) or icon.get("theme", "light") not in ("light", "dark"):
        return 'expected a mime_type such as "image/png", and "light" or "dark" for a theme'
    return None
