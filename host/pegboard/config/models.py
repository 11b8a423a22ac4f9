"""The pydantic models of configuration: the base of settings of plugins, and the `[host]` section.

Models are few, since their definition takes most of the time of a start.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


def _never(value: Any) -> bool:
    return False


class WidensAccess(NamedTuple):
    """Marks a setting that gives more access than its default.

    For example `write: Annotated[bool, WidensAccess("changes files")] = False`. The host shows the setting when it
    starts and before it trusts a file, unless the setting has its default value.

    Attributes:
        access: the access that the setting gives, in a few words.
        unless: given a value as it was written, returns True if that value gives no access.
    """

    access: str
    unless: Callable[[Any], bool] = _never


class FromEnvironment(NamedTuple):
    """Names the environment variable of an existing system that sets a setting.

    For example `secret: Annotated[SecretStr | None, FromEnvironment("ACME_SECRET")] = None`. The variable comes before
    the configuration file, and after the setting's own `PEGBOARD__...` variable. An empty value counts as unset. The
    text is the value. For a `bool` it is read as TOML, and for a `SecretStr` the setting refers to the variable.

    Attributes:
        variable: the name of the variable.
    """

    variable: str


class PluginConfig(BaseModel):
    """Base of the settings of a plugin or toolkit. Unknown keys are errors. Settings are immutable."""

    # type checkers reject `frozen` as a keyword of the class: subclasses would have to repeat it
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @staticmethod
    def folder_of(info: ValidationInfo) -> Path:
        """Return the base of relative paths in a field, for the validator of that field.

        It is the folder of the configuration file. For a value from the environment or the command line, and without a
        file, it is the working directory.
        """
        context = info.context or {}
        folder: Path = context.get("folders", {}).get(info.field_name, context.get("directory", Path()))
        return folder


class ToolkitRights(PluginConfig):
    """The `[host.toolkits.NAME]` section: limits of one toolkit.

    Attributes:
        secrets: names or globs of the secrets that the toolkit may receive; None for all that its tools require.
    """

    secrets: tuple[str, ...] | None = None


class HostSection(PluginConfig):
    """The `[host]` section.

    Attributes:
        name: the name of the server for clients.
        version: the version of the server; by default that of pegboard.
        title: a name for people.
        description: one sentence about the server, for people.
        instructions: instructions for models that use the server.
        website_url: a page about the server, http or https.
        icons: icons of the server: addresses (https, http or data), or tables of `src`, `mime_type`, `sizes` such as
            `["48x48"]` and `theme`, "light" or "dark".
        transports: names of the transports to run.
        middleware: names of middleware, outermost first; other middleware runs inside those.
        error_adapters: names of plugins whose error adapters are tried before those of others, in this order. Adapters
            with `fallback` come last.
        token_sources: names of plugins that are asked for the tokens of tools before others, in this order.
        token_seconds: the time limit of one token source for one call.
        secret_stores: names of plugins that are asked for secrets, in this order; replaces the default. Other plugins
            with a store are asked after those.
        plugins: names, or `distribution:name`, of plugins to enable, besides those enabled by default and those with a
            section.
        disabled_plugins: names, globs or `distribution:name` of disabled plugins.
        disabled_toolkits: the same for toolkits.
        disabled_tools: names or globs of disabled tools, in any spelling.
        required: names of plugins and toolkits without which the host does not start. `distribution:name` selects one
            of several with the same name.
        toolkits: limits of toolkits, by name. `[host.toolkits.weather] secrets = ["WEATHER_*"]` names the only secrets
            that the toolkit may receive, by name or glob. A tool that requires another secret is not served. Without a
            limit a toolkit receives each secret that its tools require.
        autoload: enables installed toolkits that the configuration does not name.
        missing_secrets: the treatment of tools whose secret is not set: "warn" serves and logs them, "hide" does not
            serve them, "fail" prevents the start of the host.
        tool_names: the form of tool names on the wire, `github_list_issues` or `Github_ListIssues`.
        page_size: the number of items in one page of a list, 1 to 10,000.
        max_result_bytes: the maximum size of a tool's result, in bytes of JSON, and of a resource's content; 0 for no
            limit. A larger result is an error that asks the model to request less. `max_result` of a tool comes first.
        tool_timeout: the time limit in seconds for the function of a tool, resource, prompt or completion; 0 for no
            limit. The time in which it waits for the client does not count. `timeout` of a tool comes first.
        threads: the number of synchronous tools that may run at once, 1 to 1,000.
        blocked_loop_seconds: the time after which the log names code that blocks the event loop, such as a sync call in
            an async tool; 0 for never.
        grace_seconds: the time that running calls have to finish when `pegboard serve` stops.
        log_level: the lowest level of logged messages.
        user: the user id for tools if the caller is not authenticated.
        metadata: metadata for tools that require it, by key: `user_email = "me@example.com"`. A request to the worker
            may have its own.
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
    disabled_plugins: Annotated[tuple[str, ...], WidensAccess("removes checks that these plugins make")] = ()
    disabled_toolkits: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    toolkits: dict[str, ToolkitRights] = {}
    autoload: bool = True
    missing_secrets: Literal["warn", "hide", "fail"] = "warn"
    tool_names: Literal["snake", "pascal"] = "snake"
    page_size: int = Field(1000, ge=1, le=10_000)
    max_result_bytes: int = Field(10 * 1024 * 1024, ge=0)
    tool_timeout: float = Field(600, ge=0, le=7 * 24 * 3600)
    threads: int = Field(40, ge=1, le=1000)
    blocked_loop_seconds: float = Field(1, ge=0, le=3600)
    grace_seconds: float = Field(10, ge=0, le=3600)
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    user: str | None = None
    metadata: dict[str, str] = {}

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
                raise ValueError(f'"{name}" is named twice')
        return names


def _complaint_of_icon(icon: Any) -> str | None:
    members = ("src", "mime_type", "sizes", "theme")
    if not isinstance(icon, dict):
        return "expected an address or a table"
    if unknown := sorted(icon.keys() - set(members)):
        return f'unknown member "{unknown[0]}"; use {", ".join(members)}'
    if not str(icon.get("src")).startswith(("https://", "http://", "data:")):
        return "expected a src that begins with https://, http:// or data:"
    sizes = icon.get("sizes", [])
    if not isinstance(sizes, list) or not all(isinstance(size, str) for size in sizes):
        return 'expected sizes such as ["48x48"]'
    if not isinstance(icon.get("mime_type", ""), str) or icon.get("theme", "light") not in ("light", "dark"):
        return 'expected a mime_type such as "image/png", and "light" or "dark" for a theme'
    return None
